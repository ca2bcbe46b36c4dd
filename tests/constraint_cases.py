"""Robots and motions that tests of constraints share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from knuckle import (
    CollisionFree,
    CoterminalJointAngles,
    CustomConstraint,
    EndEffectorPose,
    EndEffectorVelocity,
    JointBox,
    Obstacle,
    PinRobot,
    RobotConstraint,
    RotationAxis,
    SelfCollisionFree,
    Task,
    ToleratedPose,
    Transformation,
    WithinJointLimits,
)

from .planar_arm import PlanarArm
from .samples import load, path_of

PLANAR = PlanarArm()


@cache
def scara() -> PinRobot:
    return load("scara")


def agree(constraint: RobotConstraint, robot: Any, q: Any, expected: Any, **motion: Any) -> None:
    """All three questions have the same answer, for each row and for the whole."""
    expected = np.asarray(expected, dtype=bool)
    np.testing.assert_array_equal(constraint.satisfied_along(robot, q, **motion), expected)
    whole = constraint.check(robot, q, **motion)
    assert whole.ok == bool(whole) == constraint.is_satisfied(robot, q, **motion) == bool(expected.all())
    for k, row in enumerate(q):
        one = {key: value[k] if np.ndim(value) == 2 else value for key, value in motion.items()}
        assert constraint.is_satisfied(robot, row, **one) == constraint.check(robot, row, **one).ok == expected[k]
    if not whole.ok:
        assert not expected[whole.index]


@cache
def arm() -> PinRobot:
    return PinRobot.from_urdf(path_of("sixr_arm"))


def wall_through(q: Any) -> Task:
    """A task with a ball where the tool is at q."""
    return Task([Obstacle.sphere(0.05, Transformation.from_translation(arm().fk(q).translation), id="ball")])


ALL = [
    WithinJointLimits(),
    WithinJointLimits(["velocity"]),
    CollisionFree(0.1),
    SelfCollisionFree(),
    JointBox({"a": 0.1}),
    JointBox({"a": -1}, {"b": 2}),
    CoterminalJointAngles([0.1, 0.2]),
    CoterminalJointAngles({"a": 0.1}, 0.2),
    EndEffectorPose(ToleratedPose(Transformation.identity(), RotationAxis("z")), "tool"),
    EndEffectorVelocity(None, 1.0),
]


BAD: list[tuple[Any, str]] = [
    (lambda: WithinJointLimits("speed"), "no part of a motion with limits named 'speed'"),
    (lambda: WithinJointLimits([]), "parts must name at least one"),
    (lambda: WithinJointLimits(3), "parts must be names"),
    (lambda: WithinJointLimits([["q"]]), "no part of a motion"),
    (lambda: CollisionFree(-0.1), "margin must be at least 0"),
    (lambda: CollisionFree(np.nan), "margin must be finite"),
    (lambda: CollisionFree(task=3), "task must be a Task"),
    (lambda: SelfCollisionFree(-1e-9), "margin must be at least 0"),
    (lambda: JointBox(), "must bound at least one joint"),
    (lambda: JointBox({"a": None}), "must bound at least one joint"),
    (lambda: JointBox({"a": 1}, {"a": 0}), "lower must not exceed upper, got 1 > 0 for joint 'a'"),
    (lambda: JointBox([0, 1]), "lower must be a mapping"),
    (lambda: JointBox({3: 1.0}), "lower must have names of joints"),
    (lambda: JointBox({"a": np.nan}), r"lower\['a'\] must be finite"),
    (lambda: JointBox({"a": "x"}), r"lower\['a'\] must be an array of numbers"),
    (lambda: CoterminalJointAngles([0, np.inf]), "q_target must be a finite"),
    (lambda: CoterminalJointAngles([[0]]), "q_target must be a finite"),
    (lambda: CoterminalJointAngles({}), "q_target must name at least one"),
    (lambda: CoterminalJointAngles([0], -1), "tolerance must be at least 0"),
    (lambda: EndEffectorPose(None), "pose must be a ToleratedPose"),
    (lambda: EndEffectorPose([1, 2, 3]), "pose must have shape"),
    (lambda: EndEffectorPose(Transformation(), 3), "frame must be the name"),
    (lambda: EndEffectorVelocity(), "max_linear or max_angular must be given"),
    (lambda: EndEffectorVelocity(-1), "max_linear must not be negative"),
    (lambda: EndEffectorVelocity(np.nan), "max_linear must not be NaN"),
    (lambda: CustomConstraint(3), "function must be callable"),
    (lambda: CustomConstraint(lambda robot: True), "function must be callable as"),
    (lambda: RobotConstraint.from_dict({"kind": "joint_limit", "parts": ["q"]}), "did you mean 'joint_limits'"),
    (lambda: RobotConstraint.from_dict({"kind": "custom"}), "cannot be read"),
    (lambda: RobotConstraint.from_dict({"kind": ["q"]}), "no constraint kind"),
]
