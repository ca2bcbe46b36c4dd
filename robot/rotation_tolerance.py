"""Tolerances of rotation: about any axis, about each axis, about one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .arrays import vector
from .bounds import (
    Range,
    RangeLike,
    Triple,
    arc_excess,
    box_excess,
    box_of,
    free_from_half_turn,
    is_full_turn,
    limit_of,
    range_of,
    reach_of,
    triple_of,
)
from .components import angle_of, log_parts, quaternion_parts, rotate
from .errors import InputError, unknown_name
from .tolerance_base import Tolerance, set_field

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class _Rotation(Tolerance):
    """Bounds of rotation alone."""

    __slots__ = ()

    @property
    def position_radius(self) -> float:
        """Position is free: inf."""
        return math.inf


@dataclass(frozen=True, slots=True, init=False)
class RotationAbsolute(_Rotation):
    """Rotation by at most `angle` [rad] about any axis."""

    angle: float
    kind: ClassVar[str] = "rotation_absolute"

    def __init__(self, angle: float | None) -> None:
        """Largest angle [rad]; pi or more leaves rotation free."""
        set_field(self, "angle", limit_of(angle, "angle"))

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        return float(angle_of(r)) - self.angle

    @property
    def rotation_radius(self) -> float:
        """The angle itself [rad]."""
        return free_from_half_turn(self.angle)


@dataclass(frozen=True, slots=True, init=False)
class RotationAxes(_Rotation):
    """Rotation vector (axis times angle, at most pi) in a box along the desired axes, `lower <= w <= upper` [rad]."""

    lower: Triple
    upper: Triple
    kind: ClassVar[str] = "rotation_axes"

    def __init__(self, lower: Sequence[float | None], upper: Sequence[float | None]) -> None:
        """Bounds per axis [rad]; None leaves a side open."""
        low, high = box_of(lower, upper)
        set_field(self, "lower", low)
        set_field(self, "upper", high)

    @classmethod
    def symmetric(cls, half_widths: float | Sequence[float | None]) -> RotationAxes:
        """The box |w_i| <= half_widths (one number or 3) [rad]; None leaves an axis free."""
        half = triple_of(half_widths, "half_widths", math.inf)
        return cls([-h for h in half], half)

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        return box_excess(log_parts(r), self.lower, self.upper)

    @property
    def rotation_radius(self) -> float:
        """Distance from no deviation to the nearest face [rad]."""
        return free_from_half_turn(min(map(reach_of, zip(self.lower, self.upper, strict=True))))


@dataclass(frozen=True, slots=True, init=False)
class RotationAxis(_Rotation):
    """Rotation about one axis within a range, the axis itself tilted by at most `tilt` [rad].

    The usual case is a tool that may spin about its own z axis: `RotationAxis("z")`. Delta is split into a tilt and a
    spin about the axis; the spin angle is 2 atan2(v . axis, w) of its quaternion (v, w).
    """

    axis: Triple
    angle: Range
    tilt: float
    kind: ClassVar[str] = "rotation_axis"

    def __init__(self, axis: str | Sequence[float], angle: RangeLike = None, tilt: float = 1e-4) -> None:
        """Name the axis and its bounds.

        Args:
            axis: "x", "y", "z", or a direction (3) of any length but zero, in the axes of the desired pose.
            angle: Range (low, high) of the spin [rad]; None for free, a number is (-angle, angle).
            tilt: Largest angle between the desired and the actual direction of the axis [rad].
        """
        if isinstance(axis, str):
            if axis not in _AXES:
                raise unknown_name("axis", axis, _AXES)
            axis = _AXES[axis]
        x, y, z = vector(axis, 3, "axis").tolist()
        length = math.hypot(x, y, z)
        if length < 1e-12:
            raise InputError("axis must not be zero: it names the direction to turn about, e.g. [0, 0, 1]")
        # an axis that is a unit vector already stays bit for bit, so that values survive JSON
        length = length if abs(length - 1.0) > 1e-15 else 1.0
        set_field(self, "axis", (x / length, y / length, z / length))
        set_field(self, "angle", range_of(angle, "angle", -math.pi, math.pi, circular=True))
        set_field(self, "tilt", limit_of(tilt, "tilt"))

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        x, y, z = self.axis
        qx, qy, qz, qw = quaternion_parts(r)
        spin = 2.0 * math.atan2(x * qx + y * qy + z * qz, qw)
        a, b, c = rotate(r, self.axis)
        tilt = math.atan2(math.hypot(y * c - z * b, z * a - x * c, x * b - y * a), x * a + y * b + z * c)
        return max(arc_excess(spin, self.angle), tilt - self.tilt)

    @property
    def rotation_radius(self) -> float:
        """The smaller of tilt and distance to an end of the range [rad]."""
        return free_from_half_turn(min(self.tilt, math.inf if is_full_turn(self.angle) else reach_of(self.angle)))
