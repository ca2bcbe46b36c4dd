"""What pushes on a robot in a closed loop: walls that give way, and wrenches over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array, matrix, scalar, vector
from ..robot.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Wall:
    """A flat surface that pushes the tool's origin back, without friction along it.

        f = n max(0, stiffness depth - damping n.v),  depth = n.(point - p) > 0

    Attributes:
        point: A point of the surface (3,) [m].
        normal: Its direction into the free space (3,), of unit length.
        stiffness: [N/m].
        damping: [N s/m].
    """

    point: Array
    normal: Array
    stiffness: float
    damping: float = 0.0

    @classmethod
    def create(cls, point: Any, normal: Any, stiffness: Any, damping: Any = 0.0) -> Wall:
        """A wall of checked values.

        Args:
            point: A point of its surface (3,), world axes [m].
            normal: Direction into the free space (3,), of any length but 0.
            stiffness: [N/m].
            damping: [N s/m].

        Raises:
            InputError: for a normal of length 0 or a negative number.
        """
        direction = vector(normal, 3, "normal")
        length = float(np.linalg.norm(direction))
        if length < 1e-12:
            raise InputError("normal must not be zero")
        return cls(
            vector(point, 3, "point").copy(),
            direction / length,
            scalar(stiffness, "stiffness", minimum=0.0),
            scalar(damping, "damping", minimum=0.0),
        )

    def force(self, position: Array, velocity: Array) -> Array:
        """Force (3,) on the tool at a position and velocity (3,), world axes [N]."""
        depth = float(self.normal @ (self.point - position))
        if depth <= 0.0:
            return np.zeros(3)
        return max(0.0, self.stiffness * depth - self.damping * float(self.normal @ velocity)) * self.normal


class WrenchProfile:
    """A wrench over time, `f(t, q, dq) -> (6,)`: held from each time to the next, or interpolated.

    Args:
        times: Increasing (N,) [s]; before the first the wrench is 0, after the last it stays.
        wrenches: One each (N, 6), what the environment exerts on the robot at the tool, world axes [N, N m].
        linear: Interpolate instead of hold.
    """

    def __init__(self, times: Any, wrenches: Any, *, linear: bool = False) -> None:
        self._times = matrix(times, (-1,), "times").copy()
        self._wrenches = matrix(wrenches, (len(self._times), 6), "wrenches").copy()
        if not len(self._times) or (np.diff(self._times) <= 0.0).any():
            raise InputError("times must increase, and there must be at least one")
        self._linear = bool(linear)

    def __call__(self, t: float, q: Array, dq: Array) -> Array:
        """The wrench at t."""
        # a time reached by adding up steps may fall short of it by rounding
        at = int(np.searchsorted(self._times, t + 1e-9 * max(1.0, abs(t)), side="right")) - 1
        if at < 0:
            return np.zeros(6)
        if not self._linear or at == len(self._times) - 1:
            return np.array(self._wrenches[at])
        share = float(t - self._times[at]) / (self._times[at + 1] - self._times[at])
        return np.asarray(
            self._wrenches[at] + min(max(share, 0.0), 1.0) * (self._wrenches[at + 1] - self._wrenches[at])
        )
