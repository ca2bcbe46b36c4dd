"""Constraints of a robot, all kinds: for inverse kinematics (at rest) and for trajectories.

Every kind answers `is_satisfied(robot, q, dq, ddq, tau, task)`, `check(...)` with the reason, and
`satisfied_along(robot, q)` for each row of a trajectory (N, nq). Values are frozen; all but custom ones turn into plain
dictionaries for JSON and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from .constraint_base import ConstraintResult, RobotConstraint
from .constraint_collisions import CollisionFree, SelfCollisionFree
from .constraint_custom import CustomConstraint
from .constraint_joints import CoterminalJointAngles, JointBox, WithinJointLimits
from .constraint_tool import EndEffectorPose, EndEffectorVelocity
from .errors import InputTypeError

__all__ = [
    "CollisionFree",
    "ConstraintLike",
    "ConstraintResult",
    "CoterminalJointAngles",
    "CustomConstraint",
    "EndEffectorPose",
    "EndEffectorVelocity",
    "JointBox",
    "RobotConstraint",
    "SelfCollisionFree",
    "WithinJointLimits",
    "as_robot_constraints",
]

ConstraintLike: TypeAlias = RobotConstraint | Callable[..., bool]
"""A constraint, an object with `is_satisfied(robot, q)`, or a function `f(robot, q) -> bool`."""


def as_robot_constraints(constraints: Any, name: str = "constraints") -> tuple[RobotConstraint, ...]:
    """One constraint or several, functions among them, as a tuple.

    Raises:
        InputTypeError: naming the first that is none.
    """
    if constraints is None:
        return ()
    if isinstance(constraints, RobotConstraint) or callable(constraints) or hasattr(constraints, "is_satisfied"):
        constraints = (constraints,)
    if not isinstance(constraints, Iterable) or isinstance(constraints, str | bytes):
        raise InputTypeError(f"{name} must be a sequence of constraints, got {type(constraints).__name__}")
    return tuple(_as_constraint(entry, f"{name}[{k}]") for k, entry in enumerate(constraints))


def _as_constraint(value: Any, name: str) -> RobotConstraint:
    if isinstance(value, RobotConstraint):
        return value
    if isinstance(value, type):
        raise InputTypeError(f"{name} is the class {value.__name__}; make one: {value.__name__}(...)")
    check = getattr(value, "is_satisfied", value)
    if not callable(check):
        raise InputTypeError(f"{name} must be a RobotConstraint or a function f(robot, q), got {type(value).__name__}")
    try:
        return CustomConstraint(check, getattr(value, "__name__", type(value).__name__))
    except InputTypeError as error:
        raise InputTypeError(f"{name}: {error}") from None
