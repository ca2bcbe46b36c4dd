"""How fast each joint may go for the next dt, so that no limit of position, velocity or acceleration is broken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, _as_float, scalar
from ..robot.base import as_robot
from ..robot.errors import InputError, InputTypeError
from .velocity_result import VelocityResult, VelocityStatus

if TYPE_CHECKING:
    from ..robot.base import RobotBase

FAR = 1e9
"""Distance [rad or m] that stands for no limit; the speed to stop from there exceeds any drive's."""
_SAFE = 1.0 - 1e-15
"""Keeps q + dt dq from being rounded across a limit."""


class VelocityBounds:
    """Bounds of dq held for dt.

    With d = max(q_max - q, 0) and the velocity v before,

        upper = max(0, min(v_max, d/dt, v + a dt, a dt (sqrt(1/4 + 2 d/(a dt^2)) - 1/2)))

    and the lower bound likewise, mirrored. The last term is the speed from which the joint can still stop before its
    limit. Stopping is always allowed, so acceleration may exceed its limit where a joint is slowed down; from outside
    a limit only the way back is open. Limits that are infinite are left out, as are positions of joints that have
    several coordinates.

    Args:
        robot: Whose limits hold.
        dt: How long a velocity is held [s].
        velocity: Greatest speeds, a number, (nv,), or a mapping from joint names; those left out are the robot's own.
        acceleration: Likewise.
        position: (2, nq), lower above upper; None is the robot's.
        joint_mask: Which degrees of freedom may move (nv,) of booleans; None lets all.
    """

    def __init__(
        self,
        robot: RobotBase,
        dt: float,
        *,
        velocity: Any = None,
        acceleration: Any = None,
        position: Any = None,
        joint_mask: Any = None,
    ) -> None:
        self.dt, self._robot = scalar(dt, "dt", positive=True), as_robot(robot)
        limits = robot.limits
        speed = limits.velocity if velocity is None else _rates(robot, velocity, limits.velocity, "velocity_limits")
        self._speed: Array = np.where(_mask(joint_mask, robot.nv), speed, 0.0)
        a = (
            limits.acceleration
            if acceleration is None
            else _rates(robot, acceleration, limits.acceleration, "acceleration_limits")
        )
        self._bends = bool(np.isfinite(a).any())
        self._dv: Array = np.maximum(a, 1e-12) * self.dt
        self._coordinate, self._flat = _coordinates(robot)
        self._edge = self._edges(limits.position if position is None else _position(robot, position))
        self._stacked_speed = np.array([self._speed, self._speed])

    def _edges(self, position: Array) -> Array:
        """Upper and mirrored lower limits by degree of freedom (2, nv)."""
        lower, upper = position
        plain = self._coordinate >= 0
        high = np.where(plain, upper[self._coordinate], np.inf)
        low = np.where(plain, lower[self._coordinate], -np.inf)
        edges: Array = np.array([np.minimum(high, FAR), np.minimum(-low, FAR)])
        return edges

    @property
    def velocity(self) -> Array:
        """Greatest speeds in force (nv,), 0 at joints that may not move."""
        return self._speed.copy()

    @property
    def masked(self) -> bool:
        """Whether some degree of freedom may not move at all."""
        return bool((self._speed == 0.0).any())

    def at(self, q: Array, before: Array) -> tuple[Array, Array]:
        """Lower and upper bound (nv,) of the velocity from q (nq,) on, after the velocity `before` (nv,)."""
        x = q if self._flat else np.where(self._coordinate >= 0, q[self._coordinate], 0.0)
        d = self._edge + _MIRROR * x
        np.maximum(d, 0.0, out=d)
        cap = np.minimum(self._stacked_speed, d * (_SAFE / self.dt))
        if self._bends:
            np.minimum(cap, _MIRROR_BACK * before + self._dv, out=cap)
            d *= 2.0 / self.dt
            # a dt (sqrt(1/4 + y) - 1/2) with y = 2 d/(a dt^2), written so that nothing cancels
            np.minimum(cap, d / (np.sqrt(0.25 + d / self._dv) + 0.5), out=cap)
        np.maximum(cap, 0.0, out=cap)
        return -cap[1], cap[0]

    def explain(self, result: VelocityResult, q: Array, before: Array) -> VelocityResult:
        """The result with the limits named that keep the tool from moving as asked; as it is where none does."""
        if result.status is not VelocityStatus.LIMITED:
            return result
        lower, upper = self.at(q, before)
        low, high = result.dq <= lower + 1e-9, result.dq >= upper - 1e-9
        held = [int(i) for i in np.flatnonzero((low | high) & (self._speed > 0.0))]
        names = self._robot.dof_names
        reasons = [f"{names[i]} at its {self._kind(i, bool(high[i]), q, before)} limit" for i in held]
        message = "; ".join([*reasons, *([result.message] if result.message else [])])
        return replace(result, message=message, held_by=tuple(names[i] for i in held))

    def _kind(self, i: int, high: bool, q: Array, before: Array) -> str:
        """Which limit bounds a degree of freedom at q after `before`."""
        sign, side = (1.0, 0) if high else (-1.0, 1)
        x = float(q[self._coordinate[i]]) if self._coordinate[i] >= 0 else 0.0
        d, dv, v = max(float(self._edge[side, i]) - sign * x, 0.0), float(self._dv[i]), float(self._speed[i])
        y = 2.0 * d / self.dt
        stopping = y / (math.sqrt(0.25 + y / dv) + 0.5) if math.isfinite(dv) else math.inf
        caps = {"velocity": v, "position": min(d / self.dt, stopping), "acceleration": sign * float(before[i]) + dv}
        return min(caps, key=lambda kind: caps[kind])


_MIRROR = np.array([[-1.0], [1.0]])
_MIRROR_BACK = -_MIRROR


def _rates(robot: RobotBase, value: Any, own: Array, name: str) -> Array:
    """A limit per degree of freedom (nv,); a mapping leaves those that it does not name as the robot has them."""
    if isinstance(value, Mapping):
        array = robot._named(value, own.copy(), 1, name)
    else:
        given = _as_float(value, name)
        if given.shape not in ((), (robot.nv,)):
            raise InputError(f"{name} must be a number, ({robot.nv},) or a mapping from joint names, got {given.shape}")
        array = np.array(np.broadcast_to(given, (robot.nv,)))
    if np.isnan(array).any() or (array < 0.0).any():
        raise InputError(f"{name} must not be negative or NaN")
    return array


def _position(robot: RobotBase, value: Any) -> Array:
    array = _as_float(value, "position_limits")
    if array.shape != (2, robot.nq) or np.isnan(array).any() or (array[0] > array[1]).any():
        raise InputError(f"position_limits must be (2, {robot.nq}), lower above upper, without NaN")
    return array


def _mask(mask: Any, nv: int) -> Any:
    if mask is None:
        return np.ones(nv, dtype=bool)
    try:
        array = np.asarray(mask)
    except (TypeError, ValueError):
        raise InputError(f"joint_mask must hold {nv} booleans, got rows of different lengths") from None
    if array.dtype.kind != "b":
        raise InputTypeError(f"joint_mask must hold booleans, one per degree of freedom, got {array.dtype}")
    if array.shape != (nv,):
        raise InputError(f"joint_mask must have shape ({nv},), got {array.shape}")
    return array


def _coordinates(robot: RobotBase) -> tuple[Any, bool]:
    """Index in q of each degree of freedom, -1 for parts of an orientation; whether the two are the same."""
    index = np.full(robot.nv, -1, dtype=np.intp)
    for at, rate in robot.coordinate_slices().values():
        if at.stop - at.start == 1 == rate.stop - rate.start:
            index[rate.start] = at.start
    return index, robot.nq == robot.nv and bool((index == np.arange(robot.nv)).all())
