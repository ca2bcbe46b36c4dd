"""The error of a pose and its derivative: laws, masks, and what a tolerance is asked about."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from knuckle import ReferenceFrame, ToleratedPose, Transformation
from knuckle.ik.cost import default_ik_cost_function
from knuckle.ik.pose_task import PoseTask, error_and_jacobian, terms
from knuckle.robot import native, spatial

from .ik_cases import EVERY, arm, position_only

EPS = 1e-6


def pairs(robot, count: int, largest: float):
    """Configurations with goals at an angle of less than `largest`, which the logarithm's derivative needs."""
    rng = np.random.default_rng(5)
    found = []
    while len(found) < count:
        q, other = robot.random_configuration(rng), robot.random_configuration(rng)
        q = robot.interpolate(other, q, 0.6)
        goal = robot.fk(other).homogeneous
        if spatial.pose_error(robot.pose(q, robot.tcp), goal)[1] < largest:
            found.append((q, goal))
    return found


def plain_evaluate(robot, goal, world, q):
    return error_and_jacobian(robot, q, robot.tcp, goal, world)


def derivative(robot, evaluate, q):
    columns = []
    for v in range(robot.nv):
        nudge = EPS * np.eye(robot.nv)[v]
        ahead, behind = (evaluate(robot.integrate(q, side * nudge))[0] for side in (1, -1))
        columns.append((ahead - behind) / (2 * EPS))
    return np.array(columns).T


@pytest.mark.parametrize("world", [False, True], ids=["tcp", "world"])
@pytest.mark.parametrize("name, tcp", EVERY)
def test_de_dq_plus_J_is_0(name: str, tcp: str | None, world: bool) -> None:
    robot = arm(name, tcp)
    for q, goal in pairs(robot, 4, 2.9):
        task = PoseTask(robot, ToleratedPose(Transformation(goal)), world, np.ones(6, bool))
        for evaluate in (task.evaluate, partial(plain_evaluate, robot, goal, world)):
            _, jacobian = evaluate(q)
            numeric = derivative(robot, evaluate, q)
            np.testing.assert_allclose(numeric + jacobian, 0.0, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name, tcp", EVERY)
def test_both_ways_to_the_error_agree(name: str, tcp: str | None) -> None:
    robot = arm(name, tcp)
    for q, goal in pairs(robot, 5, 3.1):
        for world in (False, True):
            task = PoseTask(robot, ToleratedPose(Transformation(goal)), world, np.ones(6, bool))
            for fast, plain in zip(task.evaluate(q), error_and_jacobian(robot, q, robot.tcp, goal, world), strict=True):
                np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-9)


def test_errors_are_the_laws_of_the_docstring() -> None:
    robot = arm("sevenr_arm")
    (q, goal), *_ = pairs(robot, 1, 2.9)
    pose = robot.fk(q)
    e, jacobian = error_and_jacobian(robot, q, robot.tcp, goal, False)
    np.testing.assert_allclose(e, spatial.log6((pose.inv() @ Transformation(goal)).homogeneous), atol=1e-12)
    factor = spatial.jlog6(np.linalg.inv(goal) @ pose.homogeneous)
    np.testing.assert_allclose(jacobian, factor @ robot.jacobian(q, reference=ReferenceFrame.LOCAL), atol=1e-12)
    e, jacobian = error_and_jacobian(robot, q, robot.tcp, goal, True)
    turn = goal[:3, :3] @ pose.rotation.T
    np.testing.assert_allclose(e, np.concatenate([goal[:3, 3] - pose.translation, spatial.log3(turn)]), atol=1e-12)
    lwa = robot.jacobian(q, reference=ReferenceFrame.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(jacobian[:3], lwa[:3], atol=1e-14)
    np.testing.assert_allclose(jacobian[3:], spatial.jlog3(turn) @ lwa[3:], atol=1e-12)


def test_error_is_zero_at_the_goal_and_finite_at_half_a_turn() -> None:
    robot = arm("sevenr_arm")
    q = robot.random_configuration(3)
    for world in (False, True):
        assert np.abs(error_and_jacobian(robot, q, robot.tcp, robot.fk(q).homogeneous, world)[0]).max() < 1e-12
        half = (robot.fk(q) @ Transformation.from_axis_angle([1, 0, 0], np.pi)).homogeneous
        e, jacobian = error_and_jacobian(robot, q, robot.tcp, half, world)
        assert np.isfinite(jacobian).all()
        assert np.linalg.norm(e[3:]) == pytest.approx(np.pi)


@pytest.mark.parametrize("world", [False, True], ids=["tcp", "world"])
def test_measure_gives_the_default_cost(world: bool) -> None:
    robot = arm("sixr_arm")
    for q, goal in pairs(robot, 20, 3.2):
        task = PoseTask(robot, ToleratedPose(Transformation(goal)), world, np.ones(6, bool))
        square, cost, met = task.measure(task.evaluate(q)[0])
        # without the kernel the error is Pinocchio's log, which keeps eleven digits
        assert cost == pytest.approx(default_ik_cost_function(robot, q, goal), rel=1e-11 if native.AVAILABLE else 1e-10)
        assert square == pytest.approx(float(np.sum(task.evaluate(q)[0] ** 2)))
        assert not met


@pytest.mark.parametrize("world", [False, True], ids=["tcp", "world"])
def test_measure_of_a_masked_error_is_the_cost_of_the_pose_seen_through_the_mask(world: bool) -> None:
    robot = arm("sixr_arm")
    for mask in ([1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1]):
        for q, goal in pairs(robot, 5, 2.9):
            task = PoseTask(robot, ToleratedPose(Transformation(goal)), world, np.array(mask, bool))
            e, jacobian = task.evaluate(q)
            assert e.shape == (sum(mask),)
            assert jacobian.shape == (sum(mask), 6)
            seen = task.seen(robot.pose(q, robot.tcp))
            distance, angle = spatial.pose_error(seen, goal)
            expected = (distance + angle / (2 * np.pi)) / (1 + 1 / (2 * np.pi))
            assert task.measure(e)[1] == pytest.approx(expected, abs=1e-9)


def test_masked_terms_do_not_count_for_the_tolerance() -> None:
    robot = arm("sixr_arm")
    q = robot.random_configuration(1)
    goal = ToleratedPose(robot.fk(q))
    turned = (robot.fk(q) @ Transformation.from_rpy([0, 0, 0.5])).homogeneous
    assert not PoseTask(robot, goal, True, np.ones(6, bool)).accepts(turned)
    assert PoseTask(robot, goal, True, np.array([1, 1, 1, 0, 0, 0], bool)).accepts(turned)
    assert PoseTask(robot, goal, False, np.array([1, 1, 1, 1, 1, 0], bool)).accepts(turned)
    assert not PoseTask(robot, goal, False, np.array([0, 0, 0, 0, 0, 1], bool)).accepts(turned)


def test_a_free_rotation_makes_it_a_matter_of_positions_in_the_world() -> None:
    goal = ToleratedPose(Transformation.identity(), position_only())
    assert terms(goal)[0] is True
    assert terms(goal)[1].tolist() == [True] * 3 + [False] * 3
    assert terms(goal, "tcp")[1].all()
    assert terms(ToleratedPose(Transformation.identity()))[0] is False


@pytest.mark.parametrize(
    "distance, angle, cost",
    [(0.0, 0.0, 0.0), (0.5, 0.0, 0.4313487192), (0.0, np.pi, 0.4313487192), (1.0, 1.0, 1.0)],
)
def test_default_cost_of_known_errors(distance: float, angle: float, cost: float) -> None:
    robot = arm("sevenr_arm")
    q = robot.random_configuration(2)
    offset = Transformation.from_axis_angle([0, 0, 1], angle, translation=[0, distance, 0])
    goal = robot.fk(q) @ offset
    for form in (goal, goal.homogeneous, goal.se3(), ToleratedPose(goal)):
        assert default_ik_cost_function(robot, q, form) == pytest.approx(cost, abs=1e-10)
