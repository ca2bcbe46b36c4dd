"""Where inverse kinematics ends: joint limits, singular poses, and targets out of reach."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import PinRobot, ToleratedPose, Transformation
from knuckle.ik import IKStatus
from knuckle.ik.reach import extent, reach_of
from knuckle.robot import CartesianBox, CartesianCylinder, CartesianSphere, RotationAbsolute

from .ik_cases import ALL_METHODS, EVERY, arm, inside, methods_for, position_only, real_arm
from .samples import path_of


def beyond_limits(name: str, joint: int, excess: float, seed: int):
    """A target whose solutions the given joint can only reach beyond its limit."""
    robot = arm(name)
    q = 0.5 * robot.random_configuration(seed)
    q[joint] = robot.joint_limits[1, joint] + excess
    return robot, robot.fk(q)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_target_beyond_a_limit_is_no_success_and_the_status_says_why(method: str) -> None:
    robot, target = beyond_limits("scara", 2, 0.05, 0)
    answer = robot.ik(target, ik_method=method, rng=0)
    assert answer.status is IKStatus.LIMITS, answer
    assert robot.joints[2] in answer.message
    assert inside(robot, answer.q)
    assert answer.position_error == pytest.approx(0.05, abs=5e-3)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_limits_are_the_reason_in_one_attempt_too(method: str) -> None:
    robot, target = beyond_limits("scara", 2, 0.05, 0)
    start = 0.5 * robot.random_configuration(0)
    start[2] = 0.15
    answer = robot.ik(target, ik_method=method, q_init=start, allow_random_restart=False)
    assert answer.status is IKStatus.LIMITS, answer
    assert inside(robot, answer.q)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_solutions_at_a_limit_are_found(method: str) -> None:
    robot = arm("sevenr_arm")
    rng = np.random.default_rng(0)
    for seed in range(8):
        q = robot.random_configuration(rng)
        for joint in rng.choice(7, 2, replace=False):
            q[joint] = robot.joint_limits[rng.integers(2), joint]
        answer = robot.ik(robot.fk(q), ik_method=method, rng=seed, max_iter=3000)
        assert answer, answer
        assert inside(robot, answer.q)


def test_a_joint_with_turns_to_spare_takes_the_turn_nearest_to_the_start() -> None:
    robot = real_arm("ur5")
    assert (robot.joint_limits[1] - robot.joint_limits[0] >= 2 * np.pi).all()
    rng = np.random.default_rng(0)
    for method in methods_for(robot):
        for seed in range(6):
            start = robot.random_configuration(rng)
            target = robot.fk(robot.clip_to_limits(start + rng.uniform(-0.1, 0.1, 6)))
            answer = robot.ik(target, ik_method=method, q_init=start, rng=seed)
            assert answer
            assert inside(robot, answer.q)
            room = np.minimum(start - robot.joint_limits[0], robot.joint_limits[1] - start) > np.pi
            assert (np.abs(answer.q - start)[room] <= np.pi + 1e-9).all()


@pytest.mark.parametrize("method", methods_for(arm("pan_tilt_continuous")))
def test_continuous_joints_are_one_angle_and_go_the_short_way(method: str) -> None:
    robot = arm("pan_tilt_continuous")
    assert robot.nq == 2
    for pan in (3.0, -3.1, 9.3, 100.0):
        start = np.array([pan, 0.2])
        target = robot.fk([pan + 0.3, 0.1])
        answer = robot.ik(target, ik_method=method, q_init=start, rng=0)
        assert answer
        np.testing.assert_allclose(robot.difference([pan + 0.3, 0.1], answer.q), 0.0, atol=1e-3)
        assert np.abs(answer.q - start).max() < np.pi


@pytest.mark.parametrize("method", ALL_METHODS)
def test_an_exactly_straight_arm_is_solved_or_stalls_within_its_budget(method: str) -> None:
    for name in ("planar_2r", "planar_3r", "sixr_arm", "sevenr_arm"):
        robot = arm(name)
        straight = robot.clip_to_limits(np.zeros(robot.nq))
        for start in (straight, robot.random_configuration(0)):
            answer = robot.ik(robot.fk(straight), ik_method=method, q_init=start, rng=0)
            assert answer.iterations <= 1000  # the default budget
            assert answer.success or answer.status is IKStatus.STALLED
            assert answer.position_error < 1e-2
    robot = arm("planar_2r")
    inwards = Transformation.from_translation([-0.2, 0, 0]) @ robot.fk([0.0, 0.0])
    answer = robot.ik(ToleratedPose(inwards, position_only()), ik_method=method, q_init=[0.0, 0.0], rng=0)
    assert answer, "no gradient points along a straight arm: restarts must help"


@pytest.mark.parametrize("kind", ["damped_ls_inverse", "pseudo_inverse", "transpose"])
def test_singular_starts_do_no_harm(kind: str) -> None:
    robot = arm("sevenr_arm")
    start = np.zeros(7)
    rng = np.random.default_rng(0)
    for seed in range(5):
        target = robot.fk(robot.random_configuration(rng))
        answer = robot.ik(target, ik_method="jacobian", q_init=start, rng=seed, kind=kind)
        assert np.isfinite(answer.q).all()
        assert inside(robot, answer.q)
        assert answer or kind == "transpose"


@pytest.mark.parametrize("method", [None, *ALL_METHODS])
@pytest.mark.parametrize("name, reach", [("sevenr_arm", 0.94), ("sixr_arm", 0.90 + 0.05)])
def test_what_is_out_of_reach_is_proven_so_and_the_nearest_pose_returned(
    name: str, reach: float, method: str | None
) -> None:
    robot = arm(name)
    target = Transformation.from_rpy([0, 1.2, 0], translation=[2.0, 0.3, 0.4])
    answer = robot.ik(ToleratedPose(target, position_only()), ik_method=method, rng=0)
    assert answer.iterations <= 1000
    assert answer.status is IKStatus.UNREACHABLE
    assert not answer
    assert "out of reach" in answer.message
    assert inside(robot, answer.q)
    first = robot.fk(robot.q, frame=robot.joints[0]).translation
    assert answer.position_error >= np.linalg.norm(target.translation - first) - reach - 1.0
    best = min(np.linalg.norm(robot.fk(q).translation - target.translation) for q in
               [robot.random_configuration(seed) for seed in range(300)])  # fmt: skip
    assert answer.position_error <= best


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_little_out_of_reach_ends_at_the_nearest_pose(method: str) -> None:
    robot = arm("planar_2r")
    target = Transformation.from_rpy([0, -0.5, 0], translation=[1.2 * np.cos(0.5), 0, 1.2 * np.sin(0.5)])
    answer = robot.ik(ToleratedPose(target, position_only()), ik_method=method, q_init=[0.3, 0.4], rng=0)
    assert answer.status is IKStatus.UNREACHABLE
    assert answer.position_error == pytest.approx(0.3, abs=2e-3)


def test_reach_is_the_length_of_the_stretched_arm() -> None:
    for name, length in (("planar_2r", 0.9), ("planar_3r", 0.9)):
        found = reach_of(arm(name), "tool")
        assert found is not None
        assert found.radius == pytest.approx(length, abs=1e-9)
    assert reach_of(arm("sevenr_arm"), "tool").radius == pytest.approx(0.34 + 0.38 + 0.36 + 0.20, abs=0.35)
    assert reach_of(arm("quadruped", "fl_foot"), "fl_foot") is None


@pytest.mark.parametrize("name, tcp", [case for case in EVERY if case[0] != "quadruped"])
def test_no_configuration_leaves_the_reach(name: str, tcp: str | None) -> None:
    robot = arm(name, tcp)
    found = reach_of(robot, robot.tcp)
    assert found is not None or name == "gripper"
    for seed in range(200):
        if found is not None:
            away = np.linalg.norm(robot.fk(robot.random_configuration(seed)).translation - found.center)
            assert away <= found.radius + 1e-9


def test_reach_moves_with_the_base() -> None:
    robot = PinRobot.from_urdf(path_of("planar_2r"))
    before = reach_of(robot, "tool")
    robot.set_base_placement(Transformation.from_translation([1, 2, 3]))
    after = reach_of(robot, "tool")
    np.testing.assert_allclose(after.center - before.center, [1, 2, 3], atol=1e-12)


def test_a_tolerance_may_bring_a_far_target_within_reach() -> None:
    assert extent(CartesianSphere(0.3) + RotationAbsolute(0.1)) == pytest.approx(0.3)
    assert extent(CartesianBox([-1, 0, 0], [2, 0.5, 0])) == pytest.approx(np.hypot(2, 0.5))
    assert extent(CartesianCylinder(r=3.0, z=4.0)) == pytest.approx(5.0)
    assert extent(RotationAbsolute(0.1)) == np.inf
    robot = arm("planar_2r")
    target = Transformation.from_translation([1.2, 0.0, 0.0])
    assert robot.ik(ToleratedPose(target, CartesianSphere(0.31)), rng=0, q_init=[0.5, -0.5])
    assert robot.ik(ToleratedPose(target, CartesianSphere(0.29)), rng=0).status is IKStatus.UNREACHABLE


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_pose_that_cannot_be_turned_to_stalls_with_its_residual(method: str) -> None:
    robot = arm("scara")
    target = robot.fk(robot.random_configuration(0)) @ Transformation.from_rpy([0.3, 0, 0])
    answer = robot.ik(target, ik_method=method, rng=0)
    assert answer.status in (IKStatus.STALLED, IKStatus.OUT_OF_BUDGET)
    assert answer.rotation_error > 0.1
    assert answer.message
