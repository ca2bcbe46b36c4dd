"""Inverse kinematics on the sample robots: closed forms, success floors, floating bases, followers."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import PinRobot, ToleratedPose, Transformation
from knuckle.ik import IKStatus

from . import closed_forms as cf
from .ik_cases import (
    ALL_METHODS,
    EVERY,
    REAL,
    TIGHT,
    arm,
    clear_configuration,
    inside,
    methods_for,
    position_only,
    reached,
    real_arm,
)
from .samples import path_of

CASES = [(name, tcp, method) for name, tcp in EVERY for method in methods_for(arm(name, tcp))]
# Solved of 25 targets FK(random q) from random starts, default budget and tolerance; measured: all by every method.
FLOOR = {"scipy": 24}


@pytest.mark.parametrize("name, tcp, method", CASES)
def test_targets_within_reach_are_found(name: str, tcp: str | None, method: str) -> None:
    robot = arm(name, tcp)
    rng = np.random.default_rng(0)
    solved = 0
    for seed in range(25):
        target, start = robot.fk(clear_configuration(robot, rng)), clear_configuration(robot, rng)
        answer = robot.ik(target, ik_method=method, q_init=start, rng=seed)
        assert inside(robot, answer.q)
        assert answer.success == reached(robot, answer.q, target)
        solved += answer.success
    assert solved >= FLOOR.get(method, 25)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("method", ALL_METHODS)
def test_targets_of_real_arms_are_found(name: str, method: str) -> None:
    robot = real_arm(name)
    rng = np.random.default_rng(0)
    solved = 0
    for seed in range(20):
        target, start = robot.fk(clear_configuration(robot, rng)), clear_configuration(robot, rng)
        answer = robot.ik(target, ik_method=method, q_init=start, rng=seed)
        assert inside(robot, answer.q)
        assert answer.success == reached(robot, answer.q, target)
        solved += answer.success
    assert solved >= (18 if method == "scipy" else 20)


@pytest.mark.parametrize("method", ALL_METHODS)
@pytest.mark.parametrize("name", ["sixr_arm", "sevenr_arm"])
def test_targets_are_met_to_1e_8_when_asked(name: str, method: str) -> None:
    robot = arm(name)
    rng = np.random.default_rng(1)
    for seed in range(10):
        target = robot.fk(robot.random_configuration(rng))
        answer = robot.ik(target, ik_method=method, rng=seed, tolerance=TIGHT, max_iter=3000)
        assert answer, answer
        assert reached(robot, answer.q, target, 1e-8, 1e-8)


def nearest(solutions: np.ndarray, q: np.ndarray) -> float:
    apart = (solutions - q + np.pi) % (2 * np.pi) - np.pi
    return float(np.abs(apart).max(axis=1).min())


@pytest.mark.parametrize("method", ALL_METHODS)
@pytest.mark.parametrize(
    "name, closed",
    [("planar_2r", cf.planar_2r_ik), ("planar_3r", cf.planar_3r_ik), ("scara", cf.scara_ik), ("sixr_arm", cf.sixr_ik)],
)
def test_solutions_are_those_of_the_closed_form(name: str, closed, method: str) -> None:
    robot = arm(name)
    rng = np.random.default_rng(2)
    for seed in range(10):
        target = robot.fk(0.95 * robot.random_configuration(rng))
        answer = robot.ik(target, ik_method=method, rng=seed, tolerance=TIGHT, max_iter=3000)
        assert answer, answer
        assert nearest(closed(target.homogeneous), answer.q) < 1e-4


@pytest.mark.parametrize("method", ALL_METHODS)
def test_the_elbow_of_the_seven_joint_arm_is_where_geometry_puts_it(method: str) -> None:
    robot = arm("sevenr_arm")
    rng = np.random.default_rng(3)
    for seed in range(10):
        q = robot.random_configuration(rng)
        answer = robot.ik(robot.fk(q), ik_method=method, rng=seed, tolerance=TIGHT, max_iter=3000)
        assert answer, answer
        # shoulder, elbow and wrist are a triangle of fixed sides: only the sign of the elbow's angle is open
        assert abs(answer.q[3]) == pytest.approx(abs(q[3]), abs=1e-5)


@pytest.mark.parametrize("method", [None, *ALL_METHODS])
def test_a_moved_base_and_a_tool_of_its_own(method: str | None) -> None:
    placement = Transformation.from_rpy([0.1, 0.2, 1.0], [1, 2, 3])
    robot = PinRobot.from_urdf(path_of("sevenr_arm"), base_placement=placement)
    joint = robot.joints[-1]
    robot.add_tcp_frame(joint, Transformation.from_rpy([0.3, -0.4, 0.5], [0.1, 0.05, 0.2]))
    rng = np.random.default_rng(0)
    for seed in range(5):
        target = robot.fk(robot.random_configuration(rng))
        in_base = robot.placement.inv() @ target
        for pose in (target, robot.placement @ in_base):
            answer = robot.ik(pose, ik_method=method, rng=seed)
            assert answer
            assert reached(robot, answer.q, target)
        assert not robot.ik(in_base, ik_method=method, rng=seed, max_iter=60)


@pytest.mark.parametrize("side", ["left", "right"])
def test_only_joints_that_carry_the_tool_move(side: str) -> None:
    robot = arm("dual_arm", f"{side}_tool")
    carrying = np.array([name == "waist" or name.startswith(side) for name in robot.joints])
    assert carrying.sum() == 7
    rng = np.random.default_rng(0)
    for method in methods_for(robot):
        for seed in range(3):
            target, start = robot.fk(clear_configuration(robot, rng)), clear_configuration(robot, rng)
            answer = robot.ik(target, ik_method=method, q_init=start, rng=seed)
            assert answer
            assert (answer.q[~carrying] == start[~carrying]).all()
            assert (answer.q[carrying] != start[carrying]).all()


@pytest.mark.parametrize("method", methods_for(arm("quadruped", "fl_foot")))
def test_a_floating_base_moves_on_its_manifold(method: str) -> None:
    robot = arm("quadruped", "fl_foot")
    rng = np.random.default_rng(0)
    for seed in range(4):
        q, start = clear_configuration(robot, rng), clear_configuration(robot, rng)
        answer = robot.ik(robot.fk(q), ik_method=method, q_init=start, rng=seed)
        assert answer
        assert np.linalg.norm(answer.q[3:7]) == pytest.approx(1.0, abs=1e-12)
        assert (answer.q[10:] == start[10:]).all(), "the other legs do not carry this foot"
    held = np.ones(18, bool)
    held[:6] = False
    foot = robot.fk(start)
    goal = ToleratedPose(Transformation.from_translation([0.01, 0.0, 0.02]) @ foot, position_only())
    answer = robot.ik(goal, ik_method=method, q_init=start, rng=0, joint_mask=held)
    assert answer.position_error <= 1e-5 or answer.status in (IKStatus.LIMITS, IKStatus.STALLED)
    np.testing.assert_allclose(answer.q[:7], start[:7], atol=1e-15)


@pytest.mark.parametrize("method", methods_for(arm("gripper", "left_pad")))
def test_followers_follow(method: str) -> None:
    robot = arm("gripper", "left_pad")
    lower, upper = robot.joint_limits[:, 0]
    for opening in np.linspace(lower, upper, 5):
        answer = robot.ik(robot.fk([opening]), ik_method=method, rng=0)
        assert answer
        assert answer.q[0] == pytest.approx(opening, abs=1e-4)
