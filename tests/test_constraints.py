"""Constraints on joints, tools and collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import (
    CartesianSphere,
    CollisionFree,
    ConstraintResult,
    CoterminalJointAngles,
    EndEffectorPose,
    EndEffectorVelocity,
    IKStatus,
    InputError,
    JointBox,
    Obstacle,
    PinRobot,
    SelfCollisionFree,
    Task,
    ToleratedPose,
    Transformation,
    UnsupportedError,
    WithinJointLimits,
)

from .constraint_cases import PLANAR, agree, arm, scara, wall_through
from .samples import load


def test_position_limits_hold_with_their_bounds() -> None:
    q = np.array([[0.0, 3.0, -3.0], [0.0, 3.1, -3.0], [-3.5, 0.0, 0.0]])
    agree(WithinJointLimits("q"), PLANAR, q, [True, False, False])
    result = WithinJointLimits("position").check(PLANAR, q)
    assert result == ConstraintResult(
        False, -3.5, -3.0, "joint0", "joint 'joint0' violates its lower position -3 with -3.5", 2
    )
    good = WithinJointLimits("q").check(PLANAR, q[0])
    assert good.ok and good.limit == 3.0 and "nearest is its upper position 3" in good.message


@pytest.mark.parametrize(("part", "limit"), [("dq", 2.0), ("ddq", 9.0), ("tau", 50.0)])
def test_rates_are_limited_either_way(part: str, limit: float) -> None:
    values = np.array([[0.0, limit, -limit], [0.0, limit * 1.01, 0.0], [0.0, 0.0, -limit * 1.01]])
    agree(WithinJointLimits(part), PLANAR, np.zeros((3, 3)), [True, False, False], **{part: values})
    result = WithinJointLimits(part).check(PLANAR, np.zeros((3, 3)), **{part: values})
    assert result.name in ("joint1", "joint2") and abs(result.value) == pytest.approx(1.01 * limit)
    assert np.sign(result.limit) == np.sign(result.value) and abs(result.limit) == limit


def test_torques_follow_from_the_motion_and_the_gravity_of_the_task() -> None:
    # the arm stretched along x: joint0 holds g sum m_k x_k
    held = 9.81 * (2.0 * 0.5 + 1.5 * 0.9 + 1.0 * 1.2)
    result = WithinJointLimits("tau").check(PLANAR, np.zeros(3))
    assert result.value == pytest.approx(held) and result.ok
    twice, thrice = (Task(gravity=[0.0, -9.81 * k, 0.0]) for k in (1.4, 1.5))
    assert WithinJointLimits("tau").check(PLANAR, np.zeros(3), task=twice).value == pytest.approx(1.4 * held)
    assert WithinJointLimits("tau").is_satisfied(PLANAR, np.zeros(3), task=twice)
    assert not WithinJointLimits("tau").is_satisfied(PLANAR, np.zeros(3), task=thrice)
    (listed,) = thrice.with_constraints(WithinJointLimits("tau")).constraints
    assert not listed.is_satisfied(PLANAR, np.zeros(3)) and listed.kind == "joint_limits"


def test_torques_of_a_motion_equal_bare_pinocchio() -> None:
    robot, rng = scara(), np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(5)])
    dq, ddq = rng.standard_normal((2, 5, robot.nv))
    model, data = robot.model, robot.model.createData()
    model.gravity.linear = np.array([1.0, 0.0, -1.0])
    try:
        expected = np.array([pin.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    finally:
        model.gravity.linear = np.array([0.0, 0.0, -9.81])
    expected += robot.friction(dq) + robot.motor_inertias(ddq)
    task = Task(gravity=[1.0, 0.0, -1.0])
    limits = np.abs(expected).max(axis=0) * (1 + 1e-9)
    assert WithinJointLimits("tau").is_satisfied(robot.with_limits(torque=limits), q, dq, ddq, task=task)
    tight = robot.with_limits(torque=limits * (1 - 1e-6))
    assert not WithinJointLimits("tau").is_satisfied(tight, q, dq, ddq, task=task)


def test_all_limits_at_once_name_the_one_that_is_broken() -> None:
    everything = WithinJointLimits()
    assert everything.parts == ("q", "dq", "ddq", "tau")
    assert everything.is_satisfied(PLANAR, np.zeros(3))
    assert "velocity" in everything.check(PLANAR, np.zeros(3), dq=[0, 0, 2.5]).message
    assert "acceleration" in everything.check(PLANAR, np.zeros(3), ddq=[0, 0, 9.5], tau=np.zeros(3)).message
    assert "torque" in everything.check(PLANAR, np.zeros(3), tau=[0, -51, 0]).message


def test_a_robot_without_limits_meets_all_of_them() -> None:
    robot = scara().with_limits(position=[[-np.inf] * 4, [np.inf] * 4], velocity=np.inf, torque=np.inf)
    assert WithinJointLimits(["q", "dq", "ddq"]).check(robot, np.full(4, 1e6)).ok


def test_a_joint_box_bounds_what_it_names() -> None:
    box = JointBox({"joint0": -1.0}, {"joint0": 1.0, "joint2": 0.5})
    q = np.array([[1.0, 9.0, -9.0], [-1.1, 0.0, 0.0], [0.0, 0.0, 0.6]])
    agree(box, PLANAR, q, [True, False, False])
    assert box.check(PLANAR, q[1]).message == "joint 'joint0' leaves the box by its lower bound -1 with -1.1"
    assert box.check(PLANAR, q[2]).name == "joint2"
    assert JointBox({"joint0": 1.0}, {"joint0": None}).is_satisfied(PLANAR, [5.0, 0, 0])


def test_coterminal_angles_differ_by_full_turns() -> None:
    target = CoterminalJointAngles([0.1, -0.2, 3.0], 1e-3)
    turns = 2 * np.pi * np.array([[0, 0, 0], [1, -2, 3], [0, 0, -1]])
    agree(target, PLANAR, np.array([0.1, -0.2, 3.0]) + turns, [True] * 3)
    agree(target, PLANAR, np.array([0.1, -0.2, 3.002]) + turns, [False] * 3)
    result = target.check(PLANAR, [0.1, -0.2 + np.pi, 3.0])
    assert result.name == "joint1" and result.value == pytest.approx(np.pi) and result.limit == 1e-3
    assert CoterminalJointAngles({"joint2": 3.0}).is_satisfied(PLANAR, [9.0, 9.0, 3.0 - 2 * np.pi])


def test_a_prismatic_joint_has_no_full_turn() -> None:
    robot = scara()
    slide = next(
        n
        for n, (_, at) in robot.coordinate_slices().items()
        if "P" in robot.model.joints[robot.model.getJointId(n)].shortname()
    )
    at = robot.joints.index(slide)
    target = CoterminalJointAngles(np.zeros(robot.nq))
    for k in range(robot.nq):
        q = np.zeros(robot.nq)
        q[k] = 2 * np.pi
        assert target.is_satisfied(robot, q) == (k != at)


def test_continuous_joints_and_floating_bases_take_the_short_way() -> None:
    pan = load("pan_tilt_continuous")
    assert CoterminalJointAngles([3.0, 0.0]).is_satisfied(pan, [3.0 - 2 * np.pi, 0.0])
    quadruped = load("quadruped")
    q = quadruped.random_configuration(0)
    same = q.copy()
    same[3:7] *= -1.0
    assert CoterminalJointAngles(q).is_satisfied(quadruped, same)
    assert not CoterminalJointAngles(q).is_satisfied(quadruped, quadruped.neutral())
    with pytest.raises(InputError, match="has 7 coordinates"):
        JointBox({quadruped.joints[0]: 0.0}).is_satisfied(quadruped, q)


def test_a_pose_of_a_frame() -> None:
    robot, rng = scara(), np.random.default_rng(1)
    q = np.array([robot.random_configuration(rng) for _ in range(20)])
    poses = [robot.fk(row) for row in q]
    goal = ToleratedPose(poses[3], CartesianSphere(0.2))
    agree(EndEffectorPose(goal), robot, q, [goal.valid(pose) for pose in poses])
    assert EndEffectorPose(poses[3]).is_satisfied(robot, q[3])
    worst = EndEffectorPose(goal).check(robot, q)
    assert worst.value == max(goal.violation(pose) for pose in poses) and worst.name == "tool"
    assert "passes a bound of its tolerance" in worst.message
    other = robot.frames[2]
    assert EndEffectorPose(robot.fk(q[0], frame=other), other).is_satisfied(robot, q[0])


def test_speeds_of_a_frame() -> None:
    # a stretched arm of 1.2 m turning at 1 rad/s about its base
    q, dq = np.zeros((3, 3)), np.array([[1.0, 0, 0], [1.0, -1.0, 0], [0, 0, 0]])
    agree(EndEffectorVelocity(1.2, 1.0, "tip"), PLANAR, q, [True, True, True], dq=dq)
    agree(EndEffectorVelocity(1.19, frame="tip"), PLANAR, q, [False, True, True], dq=dq)
    agree(EndEffectorVelocity(max_angular=0.99, frame="tip"), PLANAR, q, [False, True, True], dq=dq)
    result = EndEffectorVelocity(1.0, frame="tip").check(PLANAR, q, dq=dq)
    assert result.value == pytest.approx(1.2) and result.limit == 1.0 and result.index == 0
    assert result.message == "frame 'tip' moves at 1.2 m/s, above the 1 allowed"
    assert EndEffectorVelocity(0.0, 0.0, "tip").is_satisfied(PLANAR, q)  # at rest unless told otherwise


def test_speeds_equal_finite_differences() -> None:
    robot, rng = scara(), np.random.default_rng(2)
    q, dq = robot.random_configuration(rng), rng.standard_normal(robot.nv)
    before, after = (robot.fk(robot.integrate(q, h * dq)) for h in (-1e-6, 1e-6))
    moved = before.distance(after)
    linear, angular = moved.translation / 2e-6, moved.rotation / 2e-6
    assert EndEffectorVelocity(linear + 1e-5, angular + 1e-5).is_satisfied(robot, q, dq)
    assert not EndEffectorVelocity(linear - 1e-5).is_satisfied(robot, q, dq)
    assert not EndEffectorVelocity(max_angular=angular - 1e-5).is_satisfied(robot, q, dq)


def test_clearance_of_obstacles() -> None:
    robot, rng = arm(), np.random.default_rng(3)
    q = np.array([robot.random_configuration(rng) for _ in range(200)])
    task = wall_through(q[0])
    agree(CollisionFree(), robot, q, ~robot.has_collisions(task, q=q), task=task)
    constraint = CollisionFree(0.02, task)
    agree(constraint, robot, q, ~robot.has_collisions(task, 0.02, q=q))
    result = CollisionFree().check(robot, q[0], task=task)
    nearest = robot.distance(q[0], task)
    assert not result and result.value == nearest.value < 0.0
    assert "in collision" in result.message and all(name in result.name for name in nearest.pair)
    free = q[~robot.has_collisions(task, 0.02, q=q)]
    kept = constraint.check(robot, free)
    assert kept.value == min(robot.distance(row, task).value for row in free) > 0.02 == kept.limit


def test_clearance_of_the_robot_itself() -> None:
    robot, rng = arm(), np.random.default_rng(4)
    q = np.array([robot.random_configuration(rng) for _ in range(200)])
    for margin in (0.0, 0.05):
        agree(SelfCollisionFree(margin), robot, q, ~robot.has_self_collision(q, safety_margin=margin))
    hit = q[robot.has_self_collision(q, safety_margin=0.05)]
    result = SelfCollisionFree(0.05).check(robot, hit)
    assert result.value <= 0.05 and ("closer than the margin" in result.message or result.value < 0.0)


def test_a_robot_without_geometry_touches_nothing() -> None:
    robot = PinRobot(wrapper=pin.buildSampleModelManipulator())
    result = SelfCollisionFree().check(robot, robot.neutral())
    assert result and result.message == "there is nothing to check"


def test_obstacles_of_no_task_are_an_error() -> None:
    with pytest.raises(InputError, match="task is required by CollisionFree"):
        CollisionFree().is_satisfied(arm(), np.zeros(6))
    with pytest.raises(UnsupportedError, match="PlanarArm has no has_self_collision"):
        SelfCollisionFree().is_satisfied(PLANAR, np.zeros(3))


def test_in_inverse_kinematics_another_branch_is_found() -> None:
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.4, 0.7, 0.2])
    target = robot.fk(q)
    first = robot.ik(target, q_init=q, rng=0)
    assert first and abs(first.q[2] - q[2]) < 1e-6

    def elbow_on_the_other_side(robot: Any, q: Any) -> bool:
        return bool(q[2] < 0.0)

    found = robot.ik(target, q_init=q, outer_constraints=[elbow_on_the_other_side, WithinJointLimits("q")], rng=0)
    assert found and found.q[2] < 0.0 and robot.fk(found.q).isclose(target, 1e-3)
    # a ball at the elbow of the first branch is out of the way of the other
    elbows = [robot.fk(one, "joints")[robot.joints[2]].translation for one in (first.q, found.q)]
    ball = Obstacle.sphere(0.03, Transformation.from_translation(elbows[0]), id="ball")
    around = robot.ik(target, q_init=q, task=Task(ball, constraints=CollisionFree()), rng=0)
    assert around and robot.fk(around.q).isclose(target, 1e-3)
    assert robot.has_collisions(Task(ball), q=first.q) and not robot.has_collisions(Task(ball), q=around.q)


@pytest.mark.parametrize(
    ("constraint", "status"),
    [
        (CollisionFree(), IKStatus.COLLISION),
        (SelfCollisionFree(100.0), IKStatus.COLLISION),
        (CoterminalJointAngles({"shoulder": 50.0}, 0.0), IKStatus.REJECTED),
        (EndEffectorPose(Transformation.from_translation([9, 9, 9])), IKStatus.REJECTED),
        (lambda robot, q: False, IKStatus.REJECTED),
    ],
    ids=["obstacle", "self", "angles", "pose", "function"],
)
def test_inverse_kinematics_reports_what_refused(constraint: Any, status: IKStatus) -> None:
    robot = arm()
    if isinstance(constraint, CoterminalJointAngles):
        constraint = CoterminalJointAngles({robot.joints[0]: 50.0}, 0.0)
    q = np.full(6, 0.4)
    own = isinstance(constraint, CollisionFree)
    task = Task(constraints=CollisionFree(task=wall_through(q)) if own else constraint)
    found = robot.ik(robot.fk(q), q_init=q, task=task, ignore_self_collisions=True, rng=0, max_iter=200)
    assert not found and found.status is status
    (listed,) = task.constraints
    assert listed.explain(robot, found.q) in found.message
