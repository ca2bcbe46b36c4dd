"""Shapes of solid bodies as plain values, and the coal geometry of each.

Sizes are those a ruler gives: full side lengths of a box, radius and length of what is round about z. All shapes are
centred on their origin, except a plane. Values are frozen, compare by their numbers, pickle, and turn into plain
dictionaries for JSON and back. Meshes, point clouds and height maps are in `mesh_shapes`.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import coal
import numpy as np

from .arrays import Array, scalar, vector
from .bounds import Triple
from .errors import InputError, unknown_name
from .tolerance_base import mapping_of, require_fields, set_field

SMALLEST, LARGEST = 1e-9, 1e6
"""Between these lies every size of a shape [m]; nearness is meaningless in float64 beyond."""
_KINDS: dict[str, type[Shape]] = {}


class Shape(abc.ABC):
    """A solid body in its own frame."""

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Make the kind known to `from_dict`."""
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @abc.abstractmethod
    def _geometry(self) -> coal.CollisionGeometry:
        """A new geometry."""

    def to_coal(self) -> coal.CollisionGeometry:
        """A new geometry of coal, its bounding box computed."""
        geometry = self._geometry()
        geometry.computeLocalAABB()  # without it, whatever filters by bounding boxes finds no collision at all
        return geometry

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers and lists, fit for JSON; `from_dict` reads them."""
        return {"shape": self.kind, **{name: _plain(value) for name, value in self._values().items()}}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Shape:
        """The shape that `to_dict` wrote.

        Raises:
            InputError: if the kind is unknown, or its fields are not those of the kind or hold impossible values.
        """
        given = mapping_of(data, "shape")
        kind = given.pop("shape", None)
        cls = _KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            raise unknown_name("shape", kind, _KINDS)
        require_fields(given, [field.name for field in dataclasses.fields(cls)], f"shape {kind!r}")  # type: ignore[arg-type]
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        """Whether the other shape is of the same kind and has the same numbers."""
        if not isinstance(other, Shape):
            return NotImplemented
        mine, its = self._values(), other._values()
        return type(self) is type(other) and all(np.array_equal(value, its[name]) for name, value in mine.items())

    def __hash__(self) -> int:
        """Equal shapes have equal hashes: the arrays count by their size alone."""
        return hash((self.kind, *(v.shape if isinstance(v, np.ndarray) else v for v in self._values().values())))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies of read-only arrays are not read-only; make them so again."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)


@dataclass(frozen=True, eq=False, init=False)
class Box(Shape):
    """A box of full side lengths `size` (3) [m] along its axes."""

    size: Triple
    kind: ClassVar[str] = "box"

    def __init__(self, size: Any) -> None:
        """Full side lengths (3,) [m]."""
        set_field(self, "size", _lengths(size, "size"))

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Box(*self.size)


@dataclass(frozen=True, eq=False, init=False)
class Sphere(Shape):
    """A ball of `radius` [m]."""

    radius: float
    kind: ClassVar[str] = "sphere"

    def __init__(self, radius: Any) -> None:
        """Radius [m]."""
        set_field(self, "radius", length_of(radius, "radius"))

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Sphere(self.radius)


@dataclass(frozen=True, eq=False, init=False)
class Ellipsoid(Shape):
    """An ellipsoid of half axes `radii` (3) [m]."""

    radii: Triple
    kind: ClassVar[str] = "ellipsoid"

    def __init__(self, radii: Any) -> None:
        """Half axes (3,) [m]."""
        set_field(self, "radii", _lengths(radii, "radii"))

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Ellipsoid(*self.radii)


@dataclass(frozen=True, eq=False, init=False)
class _Round(Shape):
    """What is round about its z axis."""

    radius: float
    length: float

    def __init__(self, radius: Any, length: Any) -> None:
        """Radius and length along z [m]."""
        set_field(self, "radius", length_of(radius, "radius"))
        set_field(self, "length", length_of(length, "length"))


class Cylinder(_Round):
    """A cylinder of `radius` and `length` [m] about z."""

    kind: ClassVar[str] = "cylinder"

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Cylinder(self.radius, self.length)


class Capsule(_Round):
    """A cylinder of `radius` and `length` [m] about z with a half ball on either end: `length + 2 radius` over all."""

    kind: ClassVar[str] = "capsule"

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Capsule(self.radius, self.length)


class Cone(_Round):
    """A cone with its base of `radius` at z = -length/2 and its tip at z = +length/2 [m]."""

    kind: ClassVar[str] = "cone"

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Cone(self.radius, self.length)


@dataclass(frozen=True, eq=False, init=False)
class Plane(Shape):
    """A half-space: everything behind the plane is solid, `normal . x <= offset`, like a floor under the normal z."""

    normal: Triple
    offset: float
    kind: ClassVar[str] = "plane"

    def __init__(self, normal: Any = (0.0, 0.0, 1.0), offset: Any = 0.0) -> None:
        """Direction (3,), of any length but zero, that points out of the solid, and the offset along it [m]."""
        x, y, z = vector(normal, 3, "normal").tolist()
        length = math.hypot(x, y, z)
        if not 1e-12 <= length <= 1e150:
            raise InputError(f"normal must be a direction such as [0, 0, 1], got [{x:g}, {y:g}, {z:g}]")
        # a unit vector stays bit for bit, so that values survive JSON
        length = length if abs(length - 1.0) > 1e-15 else 1.0
        set_field(self, "normal", (x / length, y / length, z / length))
        set_field(self, "offset", within_reach(scalar(offset, "offset"), "offset"))

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.Halfspace(np.array(self.normal), self.offset)


def length_of(value: Any, name: str) -> float:
    """A length of something solid [m]."""
    length = scalar(value, name)
    if not SMALLEST <= length <= LARGEST:
        raise InputError(f"{name} must be a length between {SMALLEST:g} and {LARGEST:g} m, got {length:g}")
    return length


def within_reach(value: Any, name: str) -> Any:
    """Coordinates, a number or an array [m], none of them further out than a shape may be large."""
    if np.abs(value).max(initial=0.0) > LARGEST:
        raise InputError(f"{name} must lie within {LARGEST:g} m of the origin, got {np.abs(value).max():g}")
    return value


def frozen_array(array: Array) -> Array:
    """A read-only copy."""
    copy: Array = array.copy()
    copy.setflags(write=False)
    return copy


def _lengths(value: Any, name: str) -> Triple:
    x, y, z = (length_of(entry, f"{name}[{k}]") for k, entry in enumerate(vector(value, 3, name).tolist()))
    return x, y, z


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
