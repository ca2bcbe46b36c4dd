"""Tolerances of a pose: how far the actual pose may be from the desired one, and in which directions.

The deviation is `Delta = T_desired^-1 T_actual`, so every bound is meant in the axes of the desired pose. Bounds are
inclusive, with 1e-12 [m, rad] granted to rounding; None or an infinite bound leaves a direction free. `a + b` is what
lies in both. All values are frozen, and turn into plain dictionaries for JSON and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InputTypeError
from .position_tolerance import CartesianBox, CartesianCylinder, CartesianSphere
from .rotation_tolerance import RotationAbsolute, RotationAxes, RotationAxis
from .tolerance_base import Composed, Tolerance, mapping_of, require_fields, set_field
from .transformation import Transformation, TransformationLike, as_transformation

__all__ = [
    "DEFAULT_TOLERANCE",
    "CartesianBox",
    "CartesianCylinder",
    "CartesianSphere",
    "Composed",
    "RotationAbsolute",
    "RotationAxes",
    "RotationAxis",
    "Tolerance",
    "ToleratedPose",
]

DEFAULT_TOLERANCE: Tolerance = CartesianSphere(1e-5) + RotationAbsolute(1e-4)
"""What a bare pose as a target means: 1e-5 m and 1e-4 rad."""


@dataclass(frozen=True, slots=True, init=False)
class ToleratedPose:
    """A desired pose and what is good enough for it."""

    nominal: Transformation
    tolerance: Tolerance

    def __init__(self, nominal: TransformationLike, tolerance: Tolerance = DEFAULT_TOLERANCE) -> None:
        """A pose with a tolerance in its own axes."""
        if not isinstance(tolerance, Tolerance):
            raise InputTypeError(f"tolerance must be a Tolerance, got {type(tolerance).__name__}")
        set_field(self, "nominal", as_transformation(nominal, "nominal"))
        set_field(self, "tolerance", tolerance)

    def valid(self, pose: TransformationLike) -> bool:
        """Whether the pose is good enough."""
        return self.tolerance.contains(self.nominal, pose)

    def violation(self, pose: TransformationLike) -> float:
        """By how much the worst bound is passed [m or rad]; 0 inside."""
        return self.tolerance.violation(self.nominal, pose)

    def __add__(self, other: Tolerance) -> ToleratedPose:
        """The same pose, with a tolerance that must hold as well: a new value."""
        return ToleratedPose(self.nominal, self.tolerance + other) if isinstance(other, Tolerance) else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers, fit for JSON; `from_dict` reads them."""
        return {"nominal": self.nominal.homogeneous.tolist(), "tolerance": self.tolerance.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToleratedPose:
        """The tolerated pose that `to_dict` wrote."""
        fields = mapping_of(data, "tolerated pose")
        require_fields(fields, ("nominal", "tolerance"), "tolerated pose")
        return cls(fields["nominal"], Tolerance.from_dict(fields["tolerance"]))
