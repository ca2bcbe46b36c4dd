"""The native search: the door for plain problems, and what it says where there is no solution."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    IKMeta,
    IKStatus,
    PinRobot,
    RotationAbsolute,
    ToleratedPose,
    Transformation,
    UnsupportedError,
)
from knuckle.ik import jacobian_method, native_search
from knuckle.ik.native_method import native_method
from knuckle.ik.reach import reach_of
from knuckle.robot import native

from . import samples

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")


@pytest.fixture
def arm() -> PinRobot:
    return samples.load("sevenr_arm")


def test_plain_problems_take_the_door_and_others_do_not(arm: PinRobot) -> None:
    target, q = arm.fk(arm.random_configuration(1)), arm.random_configuration(2)
    for form in (target, target.homogeneous, ToleratedPose(target)):
        result = native_search.fast(arm, form, q, 1, 1000, None)
        assert result is not None and result.success
        np.testing.assert_array_equal(result.q, arm.ik(form, q_init=q, rng=1).q)
    skewed = target.homogeneous.copy()
    skewed[0, 0] += 1e-3
    outside = q + 7.0
    for arguments in [
        (skewed, q, 1, 1000, None),
        (target.homogeneous.astype(np.float32), q, 1, 1000, None),
        (target, outside, 1, 1000, None),
        (target, q.tolist(), 1, 1000, None),
        (target, np.where(np.arange(7) == 3, np.nan, q), 1, 1000, None),
        (target, q, "seed", 1000, None),
        (target, q, -1, 1000, None),
        (target, q, 1, 0, None),
        (target, q, 1, 1000, CartesianSphere(1e-3)),  # any rotation
        (target, q, 1, 1000, CartesianSphere((0.05, 0.1)) + RotationAbsolute(0.1)),  # not the pose itself
    ]:
        assert native_search.fast(arm, *arguments) is None


def test_out_of_reach_gives_the_closest_position_at_once(arm: PinRobot) -> None:
    reach = reach_of(arm, arm.tcp)
    assert reach is not None
    rng = np.random.default_rng(5)
    distances = []
    for _ in range(50):
        direction = rng.normal(size=3)
        direction[2] = abs(direction[2])  # where the arm can stretch
        direction /= np.linalg.norm(direction)
        target = Transformation.from_rpy(rng.uniform(-3, 3, 3), reach.center + (reach.radius + 0.3) * direction)
        result = arm.ik(target, q_init=arm.random_configuration(rng), rng=1)
        assert result.status is IKStatus.UNREACHABLE
        assert "at least 0.3 m out of reach" in result.message
        assert arm.q_in_joint_limits(result.q)
        assert result.iterations <= 1000
        off = arm.fk(result.q).distance(target)
        assert (result.position_error, result.rotation_error) == pytest.approx((off.translation, off.rotation))
        distances.append(result.position_error)
    assert np.min(distances) >= 0.3 - 1e-9
    assert np.median(distances) < 0.305


def test_a_solution_beyond_a_limit_is_told_from_none(arm: PinRobot) -> None:
    narrow = arm.with_limits(position={name: (-0.3, 0.3) for name in arm.joints})
    beyond = arm.fk([0.2, 0.6, 0.1, -0.7, 0.1, 0.5, 0.1])
    result = narrow.ik(beyond, rng=1)
    assert result.status is IKStatus.LIMITS
    assert "joint" in result.message and "beyond the limits" in result.message
    assert narrow.q_in_joint_limits(result.q) and result.iterations <= 1000
    inside = narrow.ik(narrow.fk(narrow.random_configuration(3)), rng=1)
    assert inside.success


@pytest.mark.parametrize("budget", [1, 2, 7, 50, 333])
def test_the_budget_is_kept_and_the_best_is_returned(arm: PinRobot, budget: int) -> None:
    rng = np.random.default_rng(budget)
    for _ in range(20):
        target, q = arm.fk(arm.random_configuration(rng)), arm.random_configuration(rng)
        result = arm.ik(target, q_init=q, rng=3, max_iter=budget)
        assert result.iterations <= budget
        assert arm.q_in_joint_limits(result.q)
        if not result:
            assert result.status in (IKStatus.OUT_OF_BUDGET, IKStatus.STALLED, IKStatus.LIMITS)
            assert result.message
        again = arm.ik(target, q_init=q, rng=3, max_iter=budget)
        np.testing.assert_array_equal(result.q, again.q)


def test_a_pose_of_the_wrong_handed_arm_ends_soon(arm: PinRobot) -> None:
    """Within the ball of reach, but with no solution: behind the base, through the floor of the joint limits."""
    narrow = arm.with_limits(position={"joint4": (-0.2, 0.2)})
    close = Transformation.from_translation(np.add(reach_of(arm, arm.tcp).center, [0.05, 0.0, 0.0]))
    result = narrow.ik(close, rng=1, max_iter=20_000)
    assert result.iterations <= 20_000
    assert not result and result.status in (IKStatus.LIMITS, IKStatus.STALLED, IKStatus.OUT_OF_BUDGET)


def test_options_of_the_seed_reach_the_kernel(arm: PinRobot) -> None:
    target, q = arm.fk(arm.random_configuration(1)), arm.random_configuration(2)
    for options in (
        {"damp": 1e-3},
        {"step_size": 0.5},
        {"eps": 1e-9},
        {"weight_translation": 1.0, "weight_rotation": 0.5 / np.pi},
        {"check_self_collisions": False},
        {"alpha_average": 0.1},
    ):
        result = arm.ik(target, ik_method="jacobian_cpp", q_init=q, rng=1, **options)
        assert result, options
        if "eps" in options:
            assert max(result.position_error, result.rotation_error) <= 1e-9
    alone = arm.ik(target, ik_method="jacobian_cpp", q_init=q, rng=1, allow_inner_restart=False, max_iter=30)
    assert alone.iterations <= 30
    slow = arm.ik(target, ik_method="jacobian_cpp", q_init=q, rng=1, step_size=0.1)
    assert slow.iterations > arm.ik(target, ik_method="jacobian_cpp", q_init=q, rng=1).iterations
    position = arm.ik(target, ik_method="jacobian_cpp", q_init=q, rng=1, error_term_mask=[1, 1, 1, 0, 0, 0])
    assert position and position.position_error <= 1e-5
    turn = [0, 0, 0, 1, 1, 0]
    single = arm.ik(
        target, ik_method="jacobian_cpp", q_init=q, rng=1, tcp_or_world_frame="tcp", error_term_mask=turn
    )  # left to the method "jacobian"
    assert single


def test_masked_axes_of_the_world_are_met(arm: PinRobot) -> None:
    target, q = arm.fk(arm.random_configuration(1)), arm.random_configuration(2)
    result = arm.ik(
        target,
        ik_method="jacobian_cpp",
        q_init=q,
        rng=1,
        tcp_or_world_frame="world",
        error_term_mask=[1, 0, 1, 0, 0, 0],
    )
    assert result
    off = arm.fk(result.q).translation - target.translation
    assert np.abs(off[[0, 2]]).max() <= 1e-5 < abs(off[1])


def test_what_the_kernel_does_not_cover_is_refused_with_the_remedy() -> None:
    quadruped = PinRobot.from_urdf(samples.path_of("quadruped"), tcp="fl_foot")
    foot = ToleratedPose(quadruped.fk())
    with pytest.raises(UnsupportedError, match="ik_method='jacobian'"):
        native_method(quadruped, foot, quadruped.q, IKMeta())
    assert jacobian_method is not None and quadruped.ik(foot, rng=1).method == "jacobian"


def test_changed_robots_are_seen(arm: PinRobot) -> None:
    robot = PinRobot.from_urdf(samples.path_of("sevenr_arm"))
    target = robot.fk(robot.random_configuration(1))
    assert robot.ik(target, rng=1)
    robot.set_base_placement(Transformation.from_rpy([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]))
    moved = robot.fk(robot.random_configuration(1))
    result = robot.ik(moved, rng=1)
    assert result and robot.fk(result.q).distance(moved).translation <= 1e-5
    assert robot.ik(target, rng=1).status is IKStatus.UNREACHABLE
    robot.add_frame("tip", robot.tcp, Transformation.from_translation([0.0, 0.0, 0.1]))
    robot.tcp = "tip"
    result = robot.ik(moved, rng=1)
    assert result and robot.fk(result.q, frame="tip").distance(moved).translation <= 1e-5


def test_a_sweep_of_tolerances_does_not_fill_the_memory(arm: PinRobot) -> None:
    robot = PinRobot.from_urdf(samples.path_of("sevenr_arm"))
    target = robot.fk(robot.random_configuration(1))
    for i in range(300):
        assert robot.ik(target, rng=1, tolerance=CartesianSphere(1e-5 * (i + 1)) + RotationAbsolute(1e-3))
    assert len(robot.native_chain(robot.tcp).solvers) <= 110
