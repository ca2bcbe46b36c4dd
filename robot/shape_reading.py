"""The way back: the plain shape of a geometry of coal, and of what a user calls a shape."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np

from .errors import InputTypeError, UnsupportedError
from .mesh_shapes import Mesh
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Shape, Sphere
from .triangles import corners_of


def as_shape(value: Any, name: str = "shape") -> Shape:
    """A shape from a Shape or a geometry of coal, which is copied.

    Raises:
        InputTypeError: if it is neither.
        UnsupportedError: if the geometry does not say what it was made of, as octrees and height fields.
    """
    if isinstance(value, Shape):
        return value
    if not isinstance(value, coal.CollisionGeometry):
        raise InputTypeError(f"{name} must be a Shape or a geometry of coal, got {type(value).__name__}")
    swept = getattr(value, "getSweptSphereRadius", float)()
    if swept:
        raise UnsupportedError(f"{name} is swept by a sphere of {swept:g} m; give it its full size instead")
    shape = _primitive(value) or _mesh(value)
    if shape is None:
        raise UnsupportedError(
            f"{name} of type {type(value).__name__} cannot be read back; use Obstacle.point_cloud or "
            "Obstacle.height_map with the points it was made of"
        )
    return shape


def _primitive(geometry: Any) -> Shape | None:
    if isinstance(geometry, coal.Box):
        return Box(2.0 * np.asarray(geometry.halfSide))
    if isinstance(geometry, coal.Ellipsoid):
        return Ellipsoid(np.asarray(geometry.radii))
    if isinstance(geometry, coal.Sphere):
        return Sphere(geometry.radius)
    if isinstance(geometry, coal.Halfspace):
        return Plane(np.asarray(geometry.n), geometry.d)
    for ours, its in ((Cylinder, coal.Cylinder), (Capsule, coal.Capsule), (Cone, coal.Cone)):
        if isinstance(geometry, its):
            return ours(geometry.radius, 2.0 * geometry.halfLength)
    return None


def _mesh(geometry: Any) -> Shape | None:
    if isinstance(geometry, coal.Convex):
        return Mesh(geometry.points(), corners_of(geometry.polygons, geometry.num_polygons), "hull")
    if isinstance(geometry, coal.BVHModelBase):
        return Mesh(geometry.vertices(), corners_of(geometry.tri_indices, geometry.num_tris), "exact")
    return None
