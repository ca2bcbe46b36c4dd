"""What a solution must satisfy beyond its pose: no collisions, and the constraints of task and caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..robot.arrays import flag
from ..robot.errors import InputTypeError, UnsupportedError
from .callbacks import Constraint, NoObstacleCollision, NoSelfCollision, as_constraints

if TYPE_CHECKING:
    from ..robot.base import RobotBase

_NO_SELF_COLLISION: tuple[Constraint, ...] = (NoSelfCollision(),)


def constraints_of(
    robot: RobotBase, ignore_self_collisions: bool, outer_constraints: Any, task: Any
) -> tuple[Constraint, ...]:
    """What a solution must satisfy beyond its pose: no collisions, then the constraints of task and caller."""
    # asked of the class: an absent attribute of an instance may be expensive to find out about
    aware = callable(getattr(type(robot), "has_self_collision", None))
    own = _NO_SELF_COLLISION if aware and not flag(ignore_self_collisions, "ignore_self_collisions") else ()
    if outer_constraints is None and task is None:
        return own
    _require_task(task)
    if task is not None and len(getattr(task, "obstacles", ())):
        if not callable(getattr(type(robot), "has_collisions", None)):
            raise UnsupportedError(f"robot {robot.name!r} cannot check obstacles; leave task out")
        own += (NoObstacleCollision(task),)
    return (
        *own,
        *(_tied(constraint, task) for constraint in as_constraints(outer_constraints, "outer_constraints")),
        *as_constraints(getattr(task, "constraints", None), "task.constraints"),
    )


def _tied(constraint: Constraint, task: Any) -> Constraint:
    """The constraint as it reads in a task, if it means different things in different tasks."""
    for_task = getattr(constraint, "for_task", None)
    tied: Constraint = constraint if for_task is None or task is None else for_task(task)
    return tied


def _require_task(task: Any) -> None:
    if task is not None and not (hasattr(task, "obstacles") or hasattr(task, "constraints")):
        remedy = "; Task(obstacles) makes one" if isinstance(task, list | tuple) or hasattr(task, "shape") else ""
        raise InputTypeError(f"task must be a Task, got {type(task).__name__}{remedy}")
