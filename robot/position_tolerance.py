"""Tolerances of position: box, cylinder and sphere in the axes of the desired pose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .bounds import (
    Range,
    RangeLike,
    Triple,
    arc_excess,
    box_excess,
    box_of,
    is_full_turn,
    range_excess,
    range_of,
    reach_of,
    triple_of,
)
from .tolerance_base import Tolerance, set_field


class _Position(Tolerance):
    """Bounds of position alone."""

    __slots__ = ()

    @property
    def rotation_radius(self) -> float:
        """Rotation is free: inf."""
        return math.inf


@dataclass(frozen=True, slots=True, init=False)
class CartesianBox(_Position):
    """Position in a box along the desired axes, `lower <= p <= upper` (3) [m]."""

    lower: Triple
    upper: Triple
    kind: ClassVar[str] = "cartesian_box"

    def __init__(self, lower: Sequence[float | None], upper: Sequence[float | None]) -> None:
        """Bounds per axis [m]; None leaves a side open."""
        low, high = box_of(lower, upper)
        set_field(self, "lower", low)
        set_field(self, "upper", high)

    @classmethod
    def symmetric(cls, half_widths: float | Sequence[float | None]) -> CartesianBox:
        """The box |p_i| <= half_widths (one number or 3) [m]; None leaves an axis free."""
        half = triple_of(half_widths, "half_widths", math.inf)
        return cls([-h for h in half], half)

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        return box_excess(p, self.lower, self.upper)

    @property
    def position_radius(self) -> float:
        """Distance from no deviation to the nearest face [m]."""
        return min(map(reach_of, zip(self.lower, self.upper, strict=True)))


@dataclass(frozen=True, slots=True, init=False)
class CartesianCylinder(_Position):
    """Position in cylindrical coordinates about the desired z axis: ranges of r [m], azimuth phi [rad], z [m].

    An azimuth outside its range counts as the arc r * angle [m], so that nothing jumps at the axis.
    """

    r: Range
    phi: Range
    z: Range
    kind: ClassVar[str] = "cartesian_cylinder"

    def __init__(self, r: RangeLike = None, phi: RangeLike = None, z: RangeLike = None) -> None:
        """Ranges (low, high), None for free; a number is (0, r), (-phi, phi), (-z, z)."""
        set_field(self, "r", range_of(r, "r", 0.0, math.inf, one_sided=True))
        set_field(self, "phi", range_of(phi, "phi", -math.pi, math.pi, circular=True))
        set_field(self, "z", range_of(z, "z", -math.inf, math.inf))

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        radius = math.hypot(p[0], p[1])
        arc = radius * arc_excess(math.atan2(p[1], p[0]), self.phi)
        return max(range_excess(radius, self.r), range_excess(p[2], self.z), arc)

    @property
    def position_radius(self) -> float:
        """Distance to the nearest wall [m]; 0 if the axis is left out or a sector is."""
        return min(self.r[1], reach_of(self.z)) if self.r[0] == 0.0 and is_full_turn(self.phi) else 0.0


@dataclass(frozen=True, slots=True, init=False)
class CartesianSphere(_Position):
    """Position in spherical coordinates: ranges of r [m], theta from the desired z axis and azimuth phi [rad].

    Angles outside their ranges count as arcs [m].
    """

    r: Range
    theta: Range
    phi: Range
    kind: ClassVar[str] = "cartesian_sphere"

    def __init__(self, r: RangeLike = None, theta: RangeLike = None, phi: RangeLike = None) -> None:
        """Ranges (low, high), None for free; a number is (0, r), (0, theta), (-phi, phi)."""
        set_field(self, "r", range_of(r, "r", 0.0, math.inf, one_sided=True))
        set_field(self, "theta", range_of(theta, "theta", 0.0, math.pi, one_sided=True))
        set_field(self, "phi", range_of(phi, "phi", -math.pi, math.pi, circular=True))

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        radius, across = math.hypot(*p), math.hypot(p[0], p[1])
        polar = radius * range_excess(math.atan2(across, p[2]), self.theta)
        # at the centre every direction is the same point
        azimuth = across * arc_excess(math.atan2(p[1], p[0]), self.phi)
        return max(range_excess(radius, self.r), polar, azimuth) if radius > 0.0 else range_excess(0.0, self.r)

    @property
    def position_radius(self) -> float:
        """The outer radius [m]; 0 if the centre or a direction is left out."""
        whole = self.r[0] == 0.0 and self.theta[0] == 0.0 and self.theta[1] >= math.pi and is_full_turn(self.phi)
        return self.r[1] if whole else 0.0
