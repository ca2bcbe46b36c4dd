"""What can be asked of frames of a robot, beyond one pose of its tool: each an error to be brought to zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..robot.arrays import Array, scalar, vector
from ..robot.errors import InputError, InputTypeError, unknown_name
from ..robot.spatial import ReferenceFrame, pose_error
from ..robot.tolerance import Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .pose_task import error_and_jacobian, terms
from .problem import as_target

if TYPE_CHECKING:
    from ..robot.base import RobotBase

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
FARTHEST = 1e9
"""Points beyond it [m] are no points of this world."""
DEFAULT_ANGLE = 1e-4
"""How near a direction has to be met where nobody says [rad]."""


class Goal(Protocol):
    """One thing asked of one frame."""

    @property
    def frame(self) -> str | None:
        """The frame it is asked of; None is the tcp."""

    def error(self, robot: RobotBase, q: Array, frame: str) -> tuple[Array, Array]:
        """What is missing (m,) at q (nq,) and J (m, nv): a step dq reduces it by J dq, to first order."""

    def distance(self, robot: RobotBase, q: Array, frame: str) -> tuple[float, float, bool]:
        """What is missing in position [m] and in rotation [rad], and whether it is within the tolerance."""


@dataclass(frozen=True, slots=True, init=False)
class PoseGoal:
    """A frame is to take on a pose, within a tolerance; where the tolerance frees the rotation, a position."""

    target: ToleratedPose
    frame: str | None

    def __init__(self, target: Any, frame: str | None = None, *, tolerance: Tolerance | None = None) -> None:
        """A pose in the world, as in `solve`, and the frame that is to take it on (None: the tcp)."""
        object.__setattr__(self, "target", as_target(target, tolerance))
        object.__setattr__(self, "frame", _frame_name(frame))

    def error(self, robot: RobotBase, q: Array, frame: str) -> tuple[Array, Array]:
        """See Goal."""
        world, mask = terms(self.target)
        e, J = error_and_jacobian(robot, q, frame, self.target.nominal.homogeneous, world)
        return (e, J) if mask.all() else (e[mask], J[mask])

    def distance(self, robot: RobotBase, q: Array, frame: str) -> tuple[float, float, bool]:
        """See Goal."""
        pose = robot.pose(q, frame)
        gap, angle = pose_error(pose, self.target.nominal.homogeneous)
        met = self.target.valid(Transformation._trusted(pose))
        return gap, angle if self.target.tolerance.rotation_radius < math.pi else 0.0, met


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Pointing:
    """An axis of a frame is to point along a direction of the world, or at a point of it; what turns about it is free.

    With a direction a, wanted direction d: e = angle * (a x d)/|a x d|, of which the two components across a count.
    """

    axis: Array
    direction: Array | None
    at: Array | None
    angle: float
    frame: str | None

    def __init__(
        self,
        axis: Any,
        direction: Any = None,
        *,
        at: Any = None,
        angle: float = DEFAULT_ANGLE,
        frame: str | None = None,
    ) -> None:
        """Say what is to point where.

        Args:
            axis: In the frame (3,), or "x", "y", "z", "-x", ...
            direction: In the world (3,); or
            at: a point in the world (3,) [m] to point at.
            angle: Largest angle between the two [rad].
            frame: Frame that carries the axis; None is the tcp.
        """
        if (direction is None) == (at is None):
            raise InputError("Pointing takes either a direction or a point: Pointing('z', [0, 0, -1])")
        object.__setattr__(self, "axis", _unit(_named_axis(axis), "axis"))
        object.__setattr__(self, "direction", None if direction is None else _unit(direction, "direction"))
        object.__setattr__(self, "at", None if at is None else _point(at))
        object.__setattr__(self, "angle", scalar(angle, "angle", positive=True))
        object.__setattr__(self, "frame", _frame_name(frame))

    def _directions(self, robot: RobotBase, q: Array, frame: str) -> tuple[Array, Array, float]:
        """The axis and where it should point, in the world, and the distance of the point [m] (inf: a direction)."""
        pose = robot.pose(q, frame)
        a = pose[:3, :3] @ self.axis
        if self.at is None:
            assert self.direction is not None
            return a, self.direction, math.inf
        way = self.at - pose[:3, 3]
        r = float(np.linalg.norm(way))
        return a, way / r if r > 1e-9 else a, max(r, 1e-9)

    def error(self, robot: RobotBase, q: Array, frame: str) -> tuple[Array, Array]:
        """See Goal."""
        a, d, r = self._directions(robot, q, frame)
        across = _across(a)
        J = robot.frame_jacobian(q, frame, LWA)
        turning = J[3:]
        if self.at is not None:  # the wanted direction turns as the frame moves: by d x v / r the other way
            turning = turning + np.cross(np.eye(3), d) @ J[:3] / r
        return across @ (_angle_between(a, d) * _turn_axis(a, d, across)), across @ turning

    def distance(self, robot: RobotBase, q: Array, frame: str) -> tuple[float, float, bool]:
        """See Goal."""
        angle = _angle_between(*self._directions(robot, q, frame)[:2])
        return 0.0, angle, angle <= self.angle


def as_goals(target: Any, tolerance: Tolerance | None = None) -> tuple[Goal, ...] | None:
    """Goals from one, several, or a mapping from frames to poses or goals; None if `target` is a single pose.

    Raises:
        InputError: if nothing is asked for.
    """
    if isinstance(target, PoseGoal | Pointing | Mapping | list | tuple):
        if tolerance is not None and not isinstance(tolerance, Tolerance):
            raise InputTypeError(f"tolerance must be a Tolerance, got {type(tolerance).__name__}")
    if isinstance(target, PoseGoal | Pointing):
        return (_placed(target, None, tolerance),)
    if isinstance(target, Mapping):
        goals: list[Goal] = []
        for frame, wanted in target.items():
            goals += [_placed(goal, frame, tolerance) for goal in (wanted if isinstance(wanted, list) else [wanted])]
        return _some(goals)
    if isinstance(target, list | tuple) and any(isinstance(one, PoseGoal | Pointing) for one in target):
        return _some([_placed(one, None, tolerance) for one in target])
    return None


def _placed(goal: Any, frame: Any, tolerance: Tolerance | None) -> Goal:
    if isinstance(goal, PoseGoal):
        return PoseGoal(goal.target, frame if goal.frame is None else goal.frame, tolerance=tolerance)
    if isinstance(goal, Pointing):
        name = frame if goal.frame is None else goal.frame
        return Pointing(goal.axis, goal.direction, at=goal.at, angle=goal.angle, frame=name)
    return PoseGoal(goal, frame, tolerance=tolerance)


def _some(goals: list[Goal]) -> tuple[Goal, ...]:
    if not goals:
        raise InputError("target holds no goal")
    return tuple(goals)


def frame_of(robot: RobotBase, goal: Goal) -> str:
    """Name of the frame a goal is asked of.

    Raises:
        UnknownNameError: if the robot has none of that name.
    """
    if goal.frame is None:
        return robot.tcp
    if goal.frame not in robot.frames:
        raise unknown_name("frame", goal.frame, robot.frames)
    return goal.frame


def _frame_name(frame: Any) -> str | None:
    if frame is not None and not isinstance(frame, str):
        raise InputTypeError(f"frame must be the name of a frame, got {type(frame).__name__}")
    return frame


def _named_axis(axis: Any) -> Any:
    if not isinstance(axis, str):
        return axis
    names = {f"{sign}{letter}": s * np.eye(3)[i] for i, letter in enumerate("xyz") for sign, s in (("", 1), ("-", -1))}
    if axis not in names:
        raise unknown_name("axis", axis, names)
    return names[axis]


def _point(value: Any) -> Array:
    point = vector(value, 3, "at").copy()
    if np.abs(point).max() > FARTHEST:
        raise InputError(f"at must be within {FARTHEST:g} m")
    point.setflags(write=False)
    return point


def _unit(value: Any, name: str) -> Array:
    array = vector(value, 3, name)
    largest = float(np.abs(array).max())
    if largest < 1e-12:
        raise InputError(f"{name} must not be zero")
    array = array / largest  # so that no square overflows
    array /= np.linalg.norm(array)
    array.setflags(write=False)
    return array


def _angle_between(a: Array, d: Array) -> float:
    return math.atan2(float(np.linalg.norm(np.cross(a, d))), float(a @ d))


def _across(a: Array) -> Array:
    """Two unit vectors across a unit vector (2, 3)."""
    least = np.eye(3)[int(np.argmin(np.abs(a)))]
    u = np.cross(a, least)
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(a, u)])


def _turn_axis(a: Array, d: Array, across: Array) -> Array:
    """The unit axis about which a turns to d the short way; any across a if they are opposite."""
    axis = np.cross(a, d)
    length = float(np.linalg.norm(axis))
    return axis / length if length > 1e-12 else across[0]
