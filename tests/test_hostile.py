"""Cases that once crashed, lied or depended on what they must not depend on, each with its whole kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    DescriptionError,
    IKStatus,
    InputError,
    KnuckleError,
    PinRobot,
    RotationAbsolute,
    RotationAxis,
    ToleratedPose,
    Transformation,
    ik,
)

from . import samples
from .test_loading import joint, robot_text


@pytest.fixture
def arm() -> PinRobot:
    return samples.load("sevenr_arm")


def test_a_robot_without_joints_answers_everything(tmp_path: Path) -> None:
    path = tmp_path / "stone.urdf"
    path.write_text('<robot name="e"><link name="a"/></robot>')
    robot = PinRobot.from_urdf(path)
    for reference in ("local", "world", "local_world_aligned"):
        assert robot.jacobian(reference=reference).shape == (6, 0)
        assert robot.jacobian_derivative(reference=reference).shape == (6, 0)
    assert (robot.tcp_acceleration == 0).all() and (robot.tcp_velocity == 0).all()
    assert robot.id().shape == robot.fd([]).shape == robot.gravity_force().shape == (0,)
    assert robot.ik(robot.fk(), rng=0).success
    for method in (None, "jacobian"):
        far = robot.ik(Transformation.from_translation([1, 0, 0]), rng=0, ik_method=method)
        assert not far and far.position_error == pytest.approx(1.0)


def test_whatever_meets_the_target_is_called_a_solution(arm: PinRobot) -> None:
    for seed in range(40):
        target = arm.fk(arm.random_configuration(seed))
        for budget in range(1, 12):
            result = arm.ik(target, rng=seed, max_iter=budget)
            assert result.success == ToleratedPose(target).valid(arm.fk(result.q))
    targets = arm.fk(np.array([arm.random_configuration(i) for i in range(100)]))
    for budget in (2, 5, 9):
        batch = ik.solve_batch(arm, targets, rng=1, max_iter=budget)
        met = [ToleratedPose(t).valid(arm.fk(q)) for t, q in zip(targets, batch.q, strict=True)]
        np.testing.assert_array_equal(batch.success, met)


def test_the_answer_does_not_depend_on_containers(arm: PinRobot) -> None:
    target, q = arm.fk(arm.random_configuration(1)), arm.q.copy()
    expected = arm.ik(target, rng=7).q
    for form in (
        target.homogeneous.tolist(),
        np.asfortranarray(target.homogeneous),
        target.se3(),
        ToleratedPose(target),
    ):
        np.testing.assert_allclose(arm.ik(form, rng=7).q, expected, rtol=0, atol=1e-12)
    for options in (
        {"rng": np.int64(7)},
        {"q_init": q.tolist()},
        {"q_init": q.reshape(7, 1)},
        {"q_init": q.reshape(1, 7)},
        {"q_init": q.astype(np.float32)},
        {"q_init": np.repeat(q, 2)[::2]},
        {"q_init": {}},
        {"max_iter": 1000.0},
        {"max_iter": np.int64(1000)},
    ):
        result = arm.ik(target, **({"rng": 7} | options))
        assert result.q.shape == (7,) and repr(result)
        np.testing.assert_array_equal(result.q, expected)


@pytest.mark.parametrize(
    "tolerance",
    [CartesianSphere((0.05, 0.1)) + RotationAbsolute(0.1), CartesianSphere(1e-4) + RotationAxis("x", (0.3, 0.5))],
    ids=["shell", "turned"],
)
def test_a_region_that_leaves_out_the_pose_is_heeded_everywhere(arm: PinRobot, tolerance) -> None:
    q = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
    goal = ToleratedPose(arm.fk(q), tolerance)
    path = ik.track(arm, [goal.nominal] * 2, q, tolerance=tolerance)
    assert all(goal.valid(arm.fk(step)) for step in path.q)
    assert all(goal.valid(arm.fk(solution)) for solution in ik.solve_all(arm, goal, limit=5))
    batch = ik.solve_batch(arm, [goal.nominal] * 3, rng=1, tolerance=tolerance)
    assert [goal.valid(arm.fk(row)) for row in batch.q] == batch.success.tolist()


def test_constraints_and_methods_cannot_write_into_the_answer(arm: PinRobot) -> None:
    target = arm.fk(arm.random_configuration(1))

    def spoil(robot: PinRobot, q: np.ndarray) -> bool:
        q[:] = 0.0
        return True

    result = arm.ik(target, rng=1, outer_constraints=spoil)
    assert result and ToleratedPose(target).valid(arm.fk(result.q))


@pytest.mark.parametrize("huge", [10**20, 1e300, 2**31, 2.5, 0, -1, np.nan, "x"])
def test_budgets_are_whole_and_bounded(arm: PinRobot, huge) -> None:
    for call in (
        lambda: arm.ik(arm.fk(), max_iter=huge),
        lambda: ik.solve_batch(arm, [arm.fk()], max_iter=huge),
        lambda: ik.track(arm, [arm.fk()], max_iter=huge),
    ):
        with pytest.raises(KnuckleError, match="max_iter"):
            call()


@pytest.mark.parametrize("text", ["1_0", "infinity", "٣", "0x10", "1e", "1,0", "nan"])
def test_numbers_that_only_python_reads_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robot.urdf"
    for place in ('mass value="1"', 'ixx="1"'):
        key = place.split('"')[0]
        path.write_text(robot_text(joint()).replace(place, f'{key}"{text}"'), encoding="utf-8")
        with pytest.raises(DescriptionError, match="number"):
            PinRobot.from_urdf(path)


@pytest.mark.parametrize("axis", ["0 0 1e-200", "1e-170 0 1e-170", "1e200 0 1e200"])
def test_axes_whose_length_is_lost_are_refused(tmp_path: Path, axis: str) -> None:
    path = tmp_path / "robot.urdf"
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    path.write_text(robot_text(joint(limit + f'<axis xyz="{axis}"/>')))
    with pytest.raises(DescriptionError, match="axis"):
        PinRobot.from_urdf(path)
    path.write_text(robot_text(joint('<axis xyz="1 0 0"/>', kind="planar")))
    with pytest.raises(DescriptionError, match="planar"):
        PinRobot.from_urdf(path)


def test_arguments_that_hide_or_mislead_are_named(arm: PinRobot) -> None:
    with pytest.raises(InputError, match="masked"):
        arm.fk(np.ma.masked_array(np.ones(7), mask=[1] * 7))
    with pytest.raises(InputError, match="joint_mask"):
        arm.ik(arm.fk(), joint_mask=[[1], [1, 2]])
    with pytest.raises(InputError, match="root joint"):
        PinRobot.from_urdf(samples.path_of("planar_2r"), root_joint=[])


def test_a_frame_of_the_world_stays_where_it_is() -> None:
    robot = PinRobot.from_urdf(samples.path_of("sevenr_arm"))
    robot.add_frame("waypoint", "universe", Transformation.from_translation([1, 0, 0]))
    robot.move(Transformation.from_translation([0, 0, 5]))
    np.testing.assert_allclose(robot.fk(frame="waypoint").translation, [1, 0, 0], rtol=0, atol=1e-12)
    assert robot.fk(frame="base").translation[2] == pytest.approx(5)


def test_out_of_reach_is_told_in_a_batch_as_it_is_alone(arm: PinRobot) -> None:
    far = Transformation.from_translation([5, 0, 0])
    assert ik.solve_batch(arm, [far], rng=1).status[0] == arm.ik(far, rng=1).status == IKStatus.UNREACHABLE
