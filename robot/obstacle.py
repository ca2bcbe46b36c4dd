"""Obstacle: a solid body that stands in the world."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import coal

from .arrays import Array
from .errors import InputError, InputTypeError
from .mesh_shapes import HeightMap, Mesh, PointCloud
from .pose_text import pose_line
from .scene_document import exact_pose
from .shape_reading import as_shape
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Shape, Sphere
from .surfaces import Indices, triangulated
from .tolerance_base import mapping_of, set_field
from .transformation import Transformation, TransformationLike

_LONGEST = 1000
"""Characters of an id or a name."""


@dataclass(frozen=True, eq=False, init=False)
class Obstacle:
    """A solid body that stands in the world. Never changes; two obstacles are equal only if they are one object.

    Attributes:
        description: Its shape as a plain value, see `robot.shapes`.
        placement: Pose of the shape in the world.
        id: What tells it from all others of a task.
        name: What it is called.
    """

    description: Shape
    placement: Transformation
    id: str
    name: str

    def __init__(
        self, shape: Any, placement: TransformationLike | None = None, *, name: str | None = None, id: str | None = None
    ) -> None:
        """Place a shape.

        Args:
            shape: A Shape, or a geometry of coal, which is copied.
            placement: Pose of the shape in the world; None is the world's origin.
            name: What it is called; by default the id.
            id: Unique within a task; by default the name, or without one a new id.
        """
        set_field(self, "description", as_shape(shape))
        set_field(self, "placement", exact_pose(Transformation() if placement is None else placement, "placement"))
        for value, key in ((name, "name"), (id, "id")):
            if value is not None:
                label(value, key)
        given = id if id is not None else name
        unique = given if given is not None else f"{self.description.kind}_{uuid.uuid4().hex[:12]}"
        set_field(self, "id", unique)
        set_field(self, "name", unique if name is None else name)

    @classmethod
    def box(cls, size: Any, placement: Any = None, *, name: str | None = None, id: str | None = None) -> Obstacle:
        """A box of full side lengths `size` (3,) [m] about its placement."""
        return cls(Box(size), placement, name=name, id=id)

    @classmethod
    def sphere(cls, radius: Any, placement: Any = None, *, name: str | None = None, id: str | None = None) -> Obstacle:
        """A ball of `radius` [m]."""
        return cls(Sphere(radius), placement, name=name, id=id)

    @classmethod
    def cylinder(
        cls, radius: Any, length: Any, placement: Any = None, *, name: str | None = None, id: str | None = None
    ) -> Obstacle:
        """A cylinder of `radius` and `length` [m] about the z axis of its placement, centred."""
        return cls(Cylinder(radius, length), placement, name=name, id=id)

    @classmethod
    def capsule(
        cls, radius: Any, length: Any, placement: Any = None, *, name: str | None = None, id: str | None = None
    ) -> Obstacle:
        """A cylinder with a half ball on either end; `length` is its straight part [m]."""
        return cls(Capsule(radius, length), placement, name=name, id=id)

    @classmethod
    def cone(
        cls, radius: Any, length: Any, placement: Any = None, *, name: str | None = None, id: str | None = None
    ) -> Obstacle:
        """A cone with its tip at z = length/2 and its base of `radius` at z = -length/2 [m]."""
        return cls(Cone(radius, length), placement, name=name, id=id)

    @classmethod
    def ellipsoid(
        cls, radii: Any, placement: Any = None, *, name: str | None = None, id: str | None = None
    ) -> Obstacle:
        """An ellipsoid of half axes `radii` (3,) [m]."""
        return cls(Ellipsoid(radii), placement, name=name, id=id)

    @classmethod
    def plane(
        cls,
        normal: Any = (0.0, 0.0, 1.0),
        offset: Any = 0.0,
        placement: Any = None,
        *,
        name: str | None = None,
        id: str | None = None,
    ) -> Obstacle:
        """A half-space: everything behind the plane `normal . x = offset` is solid, like a floor."""
        return cls(Plane(normal, offset), placement, name=name, id=id)

    @classmethod
    def mesh(
        cls,
        source: Any,
        triangles: Any = None,
        placement: Any = None,
        *,
        scale: Any = None,
        form: str = "hull",
        name: str | None = None,
        id: str | None = None,
    ) -> Obstacle:
        """A mesh, from a file or from arrays.

        Args:
            source: The path of a file, read now, or vertices (n, 3) [m].
            triangles: Indices of vertices (m, 3); with vertices only.
            placement: Pose of the mesh in the world.
            scale: With a file only: factor, or one per axis (3,), from its unit to metres; 1 by default.
            form: "hull" for the convex hull, solid; "exact" for the surface as it is (see `Mesh`).
            name: As in the constructor.
            id: As in the constructor.
        """
        if triangles is not None:
            if scale is not None:
                raise InputError("scale goes with a mesh file only; scale the vertices themselves")
            return cls(Mesh(source, triangles, form), placement, name=name, id=id)
        return cls(Mesh.from_file(source, 1.0 if scale is None else scale, form), placement, name=name, id=id)

    @classmethod
    def point_cloud(
        cls, points: Any, resolution: Any, placement: Any = None, *, name: str | None = None, id: str | None = None
    ) -> Obstacle:
        """Points (n, 3) [m]; every cell of side `resolution` [m] that holds one is solid."""
        return cls(PointCloud(points, resolution), placement, name=name, id=id)

    @classmethod
    def height_map(
        cls,
        heights: Any,
        size: Any,
        base: Any = 0.0,
        placement: Any = None,
        *,
        name: str | None = None,
        id: str | None = None,
    ) -> Obstacle:
        """Ground from `base` up to `heights` (nx, ny) over a grid of lengths `size` (2,), all [m] (see `HeightMap`)."""
        return cls(HeightMap(heights, size, base), placement, name=name, id=id)

    @cached_property
    def shape(self) -> coal.CollisionGeometry:
        """The geometry of coal, made once and shared with moved versions: read it only."""
        return self.description.to_coal()

    @cached_property
    def surface(self) -> tuple[Array, Indices]:
        """Vertices (n, 3) [m] and triangles (m, 3) of what collision checks see, for viewers; read them only."""
        return triangulated(self.shape)

    def moved(self, placement: TransformationLike) -> Obstacle:
        """The same obstacle, id and name included, at another pose in the world."""
        return self._with(placement=exact_pose(placement, "placement"))

    def renamed(self, id: str, name: str | None = None) -> Obstacle:
        """A like obstacle with an id of its own; without a name it is called like its id."""
        return self._with(id=label(id, "id"), name=id if name is None else label(name, "name"))

    def _with(self, **changes: Any) -> Obstacle:
        twin: Obstacle = object.__new__(type(self))
        twin.__dict__.update(self.__dict__ | changes)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Without the geometry, which is made again from its description: not all of coal's pickle."""
        return {key: value for key, value in self.__dict__.items() if key not in ("shape", "surface")}

    def __repr__(self) -> str:
        """Id, kind and pose: a mesh may have a million numbers."""
        return f"Obstacle({self.id!r}: {self.description.kind}, {pose_line(self.placement.homogeneous)})"

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers and lists, fit for JSON; `from_dict` reads them."""
        pose = self.placement.homogeneous.tolist()
        return {"id": self.id, "name": self.name, **self.description.to_dict(), "placement": pose}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Obstacle:
        """The obstacle that `to_dict` wrote; id, name and placement may be left out.

        A placement may also be written as `{"xyz": [x, y, z], "rpy": [roll, pitch, yaw]}`, [m] and [rad].
        """
        fields = mapping_of(data, "obstacle")
        label_fields = {key: fields.pop(key, None) for key in ("name", "id")}
        placement = _written_pose(fields.pop("placement", None))
        return cls(Shape.from_dict(fields), placement, **label_fields)


def label(value: Any, name: str) -> str:
    """A string that can serve as an id or a name."""
    if not isinstance(value, str) or not value.strip():
        raise InputTypeError(f"{name} must be a non-empty string, got {value!r:.60}")
    if len(value) > _LONGEST:
        raise InputError(f"{name} must have at most {_LONGEST} characters, got {len(value)}")
    return value


def _written_pose(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if not set(value) <= {"xyz", "rpy"}:
        raise InputError(f"placement must be 4x4 numbers or have the fields xyz and rpy, got {sorted(map(str, value))}")
    return Transformation.from_rpy(value.get("rpy", (0.0, 0.0, 0.0)), value.get("xyz"))
