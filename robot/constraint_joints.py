"""Constraints of joints: their limits, a box, angles that are the same modulo a full turn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .arrays import Array, _as_float, scalar
from .constraint_base import BoundedConstraint, ConstraintResult, Motion
from .errors import InputError, InputTypeError, unknown_name
from .spatial import ReferenceFrame, wrap_angle
from .tolerance_base import set_field

if TYPE_CHECKING:
    from .base import RobotBase

PARTS = {"q": "position", "dq": "velocity", "ddq": "acceleration", "tau": "torque"}
"""What of a motion has limits, by symbol."""
Named = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, init=False)
class WithinJointLimits(BoundedConstraint):
    """Positions, velocities, accelerations and torques within the limits of the robot, bounds included.

    Torques that are not given are those of inverse dynamics, friction and rotors included, in the task's gravity if
    there is a task with one of its own.
    """

    parts: tuple[str, ...]
    task: Any
    kind: ClassVar[str] = "joint_limits"

    def __init__(self, parts: str | Iterable[str] = tuple(PARTS)) -> None:
        """Choose among "q", "dq", "ddq", "tau", also called "position", "velocity", "acceleration", "torque"."""
        if not isinstance(parts, Iterable):
            raise InputTypeError(f"parts must be names out of {', '.join(PARTS)}, got {type(parts).__name__}")
        symbols = {long: short for short, long in PARTS.items()}
        given = [parts] if isinstance(parts, str) else list(parts)
        for part in given:
            if not isinstance(part, str) or (part not in PARTS and part not in symbols):
                raise unknown_name("part of a motion with limits", part, [*PARTS, *symbols])
        if not given:
            raise InputError(f"parts must name at least one of {', '.join(PARTS)}")
        chosen = {symbols.get(part, part) for part in given}
        set_field(self, "parts", tuple(part for part in PARTS if part in chosen))
        set_field(self, "task", None)

    @property
    def status(self) -> Any:
        """`IKStatus.LIMITS`."""
        from ..ik.problem import IKStatus

        return IKStatus.LIMITS

    def _fields(self) -> dict[str, Any]:
        return {"parts": list(self.parts)}

    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        return np.hstack([self._part_margins(robot, motion, part) for part in self.parts])

    def _part_margins(self, robot: RobotBase, motion: Motion, part: str) -> Array:
        values = _values(robot, motion, part)
        if part == "q":
            lower, upper = robot.limits.position
            return np.asarray(np.minimum(values - lower, upper - values))
        margins: Array = getattr(robot.limits, PARTS[part]) - np.abs(values)
        return margins

    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        part, at = self.parts[0], bound
        for part in self.parts:  # the part in which the bound lies
            width = robot.nq if part == "q" else robot.nv
            if at < width:
                break
            at -= width
        value = float(_values(robot, motion.row(index), part)[0, at])
        if part == "q":
            lower, upper = robot.limits.position[:, at].tolist()
            below = value - lower < upper - value
            name, limit, side = robot.coordinate_names[at], lower if below else upper, "lower" if below else "upper"
        else:
            limit = math.copysign(float(getattr(robot.limits, PARTS[part])[at]), value)
            name, side = robot.dof_names[at], "greatest"
        verdict = "is within its limits; nearest is" if ok else "violates"
        message = f"joint {name!r} {verdict} its {side} {PARTS[part]} {limit:.6g} with {value:.6g}"
        return ConstraintResult(ok, value, limit, name, message, index)


def _values(robot: RobotBase, motion: Motion, part: str) -> Array:
    if part == "tau" and motion.tau is None:
        return _torques(robot, motion)
    values: Array = getattr(motion, part)
    return values


def _torques(robot: RobotBase, motion: Motion) -> Array:
    return robot.id(motion.q, motion.dq, motion.ddq, task=motion.task)


@dataclass(frozen=True, slots=True, init=False)
class JointBox(BoundedConstraint):
    """Positions of some joints between bounds of their own, bounds included; joints that are not named are free.

    Joints of one coordinate only. An angle counts as it stands, turns included.
    """

    lower: Named
    upper: Named
    kind: ClassVar[str] = "joint_box"

    def __init__(
        self, lower: Mapping[str, float | None] | None = None, upper: Mapping[str, float | None] | None = None
    ) -> None:
        """Lower and upper positions by joint name [rad or m]; None, or a name left out, leaves a side open."""
        low, high = _bounds_by_name(lower, "lower", -math.inf), _bounds_by_name(upper, "upper", math.inf)
        if not low and not high:
            raise InputError("lower and upper must bound at least one joint")
        for name, value in low:
            end = dict(high).get(name, math.inf)
            if value > end:
                raise InputError(f"lower must not exceed upper, got {value:g} > {end:g} for joint {name!r}")
        set_field(self, "lower", low)
        set_field(self, "upper", high)

    def _fields(self) -> dict[str, Any]:
        return {"lower": dict(self.lower), "upper": dict(self.upper)}

    def _entries(self) -> list[tuple[str, float, float]]:
        """Name, bound, and +1 for an upper, -1 for a lower bound."""
        return [*((name, low, -1.0) for name, low in self.lower), *((name, high, 1.0) for name, high in self.upper)]

    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        entries = self._entries()
        at = [single_coordinate(robot, name)[0] for name, _, _ in entries]
        bounds, signs = np.array([bound for _, bound, _ in entries]), np.array([sign for _, _, sign in entries])
        return np.asarray(signs * (bounds - motion.q[:, at]))

    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        name, limit, sign = self._entries()[bound]
        value = float(motion.q[index, single_coordinate(robot, name)[0]])
        side, verdict = "upper" if sign > 0 else "lower", "is within the box; nearest is" if ok else "leaves the box by"
        message = f"joint {name!r} {verdict} its {side} bound {limit:.6g} with {value:.6g}"
        return ConstraintResult(ok, value, limit, name, message, index)


@dataclass(frozen=True, slots=True, init=False)
class CoterminalJointAngles(BoundedConstraint):
    """Joints at target positions, where full turns of a revolute joint make no difference."""

    q_target: tuple[float, ...] | Named
    tolerance: float
    kind: ClassVar[str] = "coterminal_joint_angles"

    def __init__(self, q_target: Any, tolerance: Any = 1e-3) -> None:
        """Set the target.

        Args:
            q_target: Configuration (nq,), or a mapping from joint names to positions; those left out are free.
            tolerance: How far each joint may be off [rad or m].
        """
        set_field(self, "q_target", _target(q_target))
        set_field(self, "tolerance", scalar(tolerance, "tolerance", minimum=0.0))

    def _fields(self) -> dict[str, Any]:
        named = bool(self.q_target) and isinstance(self.q_target[0], tuple)
        return {"q_target": dict(self.q_target) if named else list(self.q_target), "tolerance": self.tolerance}  # type: ignore[arg-type]

    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        return self.tolerance - np.abs(self._deviation(robot, motion)[0])

    def _deviation(self, robot: RobotBase, motion: Motion) -> tuple[Array, list[int]]:
        """How far the joints are off (N, m), and which dofs these are."""
        goal, wanted = self._goal(robot)
        apart = robot._difference(np.broadcast_to(goal, motion.q.shape), motion.q)[:, wanted]
        turning = [k for k, dof in enumerate(wanted) if dof in turning_dofs(robot)]
        apart[:, turning] = wrap_angle(apart[:, turning])
        return apart, wanted

    def _goal(self, robot: RobotBase) -> tuple[Array, list[int]]:
        target: Any = self.q_target
        if not target or not isinstance(target[0], tuple):
            return robot._single(np.array(target)), list(range(robot.nv))
        goal, wanted = robot.neutral(), []
        for name, value in target:
            at, dof = single_coordinate(robot, name)
            goal[at] = value
            wanted.append(dof)
        return goal, wanted

    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        apart, wanted = self._deviation(robot, motion.row(index))
        name, value = robot.dof_names[wanted[bound]], float(abs(apart[0, bound]))
        verdict = "at most" if ok else "not"
        message = f"joint {name!r} is {value:.6g} off its target, {verdict} the {self.tolerance:.6g} allowed"
        return ConstraintResult(ok, value, self.tolerance, name, message, index)


def single_coordinate(robot: RobotBase, name: str) -> tuple[int, int]:
    """Index in q and in dq of a joint with one coordinate."""
    slices = robot.coordinate_slices()
    if name not in slices:
        raise unknown_name("joint", name, slices)
    at, dof = slices[name]
    if at.stop - at.start != 1 or dof.stop - dof.start != 1:
        raise InputError(f"joint {name!r} has {at.stop - at.start} coordinates; only joints of one can be named here")
    return at.start, dof.start


def turning_dofs(robot: RobotBase) -> set[int]:
    """The dofs of joints that only turn: their own Jacobian shows an angular velocity and no linear one."""
    q, frames = robot.neutral(), set(robot.frames)
    found = set()
    for name, (at, dof) in robot.coordinate_slices().items():
        if at.stop - at.start == dof.stop - dof.start == 1:
            frame = f"joint:{name}" if f"joint:{name}" in frames else name  # a link may bear the same name
            column = robot.frame_jacobian(q, frame, ReferenceFrame.LOCAL)[:, dof.start]
            if np.linalg.norm(column[:3]) < 1e-9 < 0.5 < np.linalg.norm(column[3:]):
                found.add(dof.start)
    return found


def _bounds_by_name(values: Any, name: str, free: float) -> Named:
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise InputTypeError(f"{name} must be a mapping from joint names to positions, got {type(values).__name__}")
    bounded = {joint: value for joint, value in values.items() if value is not None and value != free}
    return tuple((_joint(joint, name), scalar(value, f"{name}[{joint!r}]")) for joint, value in bounded.items())


def _target(value: Any) -> tuple[float, ...] | Named:
    if isinstance(value, Mapping):
        if not value:
            raise InputError("q_target must name at least one joint")
        return tuple((_joint(k, "q_target"), scalar(v, f"q_target[{k!r}]")) for k, v in value.items())
    array = _as_float(value, "q_target")
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"q_target must be a finite configuration (nq,), got shape {array.shape}")
    return tuple(array.tolist())


def _joint(name: Any, argument: str) -> str:
    if not isinstance(name, str):
        raise InputTypeError(f"{argument} must have names of joints as keys, got {name!r}")
    return name
