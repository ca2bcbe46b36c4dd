"""Constraints of clearance: the robot touches neither itself nor an obstacle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .arrays import scalar
from .collision import distance_words
from .constraint_base import Booleans, ConstraintResult, Motion, RobotConstraint
from .errors import InputError, InputTypeError, UnsupportedError
from .tolerance_base import set_field

if TYPE_CHECKING:
    from .base import RobotBase


class _Clearance(RobotConstraint):
    """A constraint of what the robot may touch."""

    __slots__ = ()
    margin: float

    @property
    def status(self) -> str:
        """`IKStatus.COLLISION`."""
        return "collision"

    def _scene(self, motion: Motion) -> Any:
        """The task whose obstacles count."""
        return None

    def _worst(self, robot: RobotBase, motion: Motion) -> ConstraintResult:
        """The configuration of least distance, and among those that do not hold if there are any."""
        holds, distance, scene = self._holds(robot, motion), _query(robot, "distance"), self._scene(motion)
        ok = bool(holds.all())
        among = np.arange(len(holds)) if ok else np.flatnonzero(~holds)
        found = [distance(q, scene) for q in motion.q[among]]
        k = int(np.argmin([one.value for one in found]))
        value, pair = float(found[k].value), " and ".join(map(repr, found[k].pair or ()))
        if not pair:
            message = "there is nothing to check"
        elif not ok:
            allowed = f"closer than the margin of {self.margin:.6g} m" if self.margin else "in collision"
            message = f"{pair} {'are ' if value >= 1e-6 else ''}{distance_words(value)}, {allowed}"
        else:
            message = f"{pair} are nearest, {value:.6g} m apart"
        return ConstraintResult(ok, value, self.margin, pair, message, int(among[k]))


@dataclass(frozen=True, slots=True, init=False)
class SelfCollisionFree(_Clearance):
    """No checked pair of the robot's own bodies is closer than a margin."""

    margin: float
    kind: ClassVar[str] = "self_collision_free"

    def __init__(self, margin: Any = 0.0) -> None:
        """Distance below which a pair counts as in collision [m]."""
        set_field(self, "margin", scalar(margin, "margin", minimum=0.0))

    def _fields(self) -> dict[str, Any]:
        return {"margin": self.margin}

    def _holds(self, robot: RobotBase, motion: Motion) -> Booleans:
        return ~np.asarray(_query(robot, "has_self_collision")(motion.q, safety_margin=self.margin), dtype=bool)


@dataclass(frozen=True, slots=True, init=False)
class CollisionFree(_Clearance):
    """The robot is no closer than a margin to an obstacle of a task, nor to itself.

    The task is the one given here, else the one that is asked about, else the one that lists this constraint.
    """

    margin: float
    task: Any
    kind: ClassVar[str] = "collision_free"

    def __init__(self, margin: Any = 0.0, task: Any = None) -> None:
        """Distance below which a pair counts as in collision [m], and the task if it is always the same."""
        if task is not None and not hasattr(task, "obstacles"):
            raise InputTypeError(f"task must be a Task, got {type(task).__name__}")
        set_field(self, "margin", scalar(margin, "margin", minimum=0.0))
        set_field(self, "task", task)

    def _scene(self, motion: Motion) -> Any:
        if motion.task is None:
            raise InputError(
                "task is required by CollisionFree: CollisionFree(task=...), or list it among the constraints of a "
                "Task; SelfCollisionFree needs none"
            )
        return motion.task

    def _holds(self, robot: RobotBase, motion: Motion) -> Booleans:
        query = _query(robot, "has_collisions")
        return ~np.asarray(query(self._scene(motion), self.margin, q=motion.q), dtype=bool)

    def _fields(self) -> dict[str, Any]:
        return {"margin": self.margin}


def _query(robot: RobotBase, name: str) -> Any:
    query = getattr(robot, name, None)
    if not callable(query):
        raise UnsupportedError(f"{type(robot).__name__} has no {name}, so it cannot be asked about collisions")
    return query
