"""Surfaces: the triangles that bound a geometry of coal, for viewers.

What is round is cut into facets whose corners lie on the true surface, so that a drawing never is larger than what
collision checks see. What is unbounded is drawn as a patch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from .arrays import Array
from .collada_scene import Colour, primitives
from .collision_pairs import link_of
from .errors import UnsupportedError

Indices = NDArray[np.int64]

AROUND = 48
"""Facets around what is round; their middle is inside by radius (1 - cos(pi/48)), 0.2 %."""
PATCH = 4.0
"""Side of the square that stands for an unbounded plane [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """What is seen of one geometry of a robot, or of what has one colour in it.

    Attributes:
        name: Name of the geometry.
        link: The link it belongs to.
        vertices: (n, 3) in the geometry's own frame [m], scale included.
        triangles: (m, 3) indices, counter-clockwise seen from outside.
        colour: Red, green, blue, opacity in [0, 1]; None if neither the description nor the mesh says one.
    """

    name: str
    link: str
    vertices: Array
    triangles: Indices
    colour: Colour | None


def surfaces_of(
    model: pin.Model, geometry: pin.GeometryModel, coloured: bool = False
) -> tuple[tuple[Surface, ...], list[int]]:
    """The surfaces of all geometries of a Pinocchio geometry model, and the number of the geometry of each.

    A geometry has one, or, where `coloured` and its mesh file says so, one per colour.
    """
    found, numbers = [], []
    for k, thing in enumerate(geometry.geometryObjects):
        vertices, triangles = triangulated(thing.geometry)
        for part, colour in _parts(thing, triangles) if coloured else [(triangles, _colour(thing))]:
            found.append(Surface(str(thing.name), link_of(model, thing), vertices, part, colour))
            numbers.append(k)
    return tuple(found), numbers


def _colour(thing: pin.GeometryObject) -> Colour | None:
    red, green, blue, opacity = np.ravel(thing.meshColor).round(6).tolist()  # Pinocchio reads them as float32
    return (red, green, blue, opacity) if thing.overrideMaterial else None


def _parts(thing: pin.GeometryObject, triangles: Indices) -> list[tuple[Indices, Colour | None]]:
    """Triangles by colour: that of the description for all of them, or else those inside of the mesh file."""
    own, path = _colour(thing), str(thing.meshPath)
    known = () if own is not None or not path.lower().endswith(".dae") else primitives(path)
    if sum(one.triangles for one in known) != len(triangles) or not len(triangles):
        return [(triangles, own)]
    ends = np.cumsum([one.triangles for one in known])[:-1]
    by_colour: dict[Colour | None, list[Indices]] = {}
    for one, part in zip(known, np.split(triangles, ends), strict=True):
        by_colour.setdefault(one.colour, []).append(part)
    return [(np.concatenate(parts), colour) for colour, parts in by_colour.items()]


def surface_poses(geometry: pin.GeometryModel, joints: Array, numbers: list[int]) -> Array:
    """Poses of the geometries of these numbers in the world (n, 4, 4), given those of all joints (njoints, 4, 4)."""
    things = [geometry.geometryObjects[k] for k in numbers]
    carriers = [int(thing.parentJoint) for thing in things]
    placements = np.array([thing.placement.homogeneous for thing in things]).reshape(-1, 4, 4)
    poses: Array = joints[carriers] @ placements
    return poses


def triangulated(shape: coal.CollisionGeometry) -> tuple[Array, Indices]:
    """Vertices (n, 3) and triangles (m, 3) of a geometry of coal.

    Raises:
        UnsupportedError: if coal has a kind of geometry that is not known here.
    """
    for kind, make in _MAKERS:
        if isinstance(shape, kind):
            vertices, triangles = make(shape)
            return np.asarray(vertices, dtype=np.float64), np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    raise UnsupportedError(f"no surface is known for the geometry {type(shape).__name__}; draw its convex hull instead")


def box_surface(low: Any, high: Any) -> tuple[Array, Indices]:
    """The six faces between two opposite corners (3,) [m]."""
    bits = np.array([[(k >> axis) & 1 for axis in range(3)] for k in range(8)])
    return np.where(bits, high, low).astype(np.float64), _BOX_TRIANGLES


def revolved(profile: Any) -> tuple[Array, Indices]:
    """What a profile (n, 2) of (radius, z) [m] makes about z, from its lowest point to its highest."""
    rows = np.asarray(profile, dtype=np.float64)
    angles = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate([np.column_stack([r * ring, np.full(AROUND, z)]) for r, z in rows])
    at, ahead = np.arange(AROUND), np.roll(np.arange(AROUND), -1)
    triangles = []
    for k in range(len(rows) - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        if rows[k, 0] > 0:
            triangles.append(np.stack([low + at, low + ahead, high + ahead], axis=1))
        if rows[k + 1, 0] > 0:
            triangles.append(np.stack([low + at, high + ahead, high + at], axis=1))
    return vertices, np.concatenate(triangles)


def _box(shape: coal.Box) -> tuple[Array, Indices]:
    half = np.ravel(shape.halfSide)
    return box_surface(-half, half)


def _sphere(radius: float) -> Array:
    polar = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2 + 1)
    profile = radius * np.stack([np.cos(polar), np.sin(polar)], axis=1)
    profile[[0, -1], 0] = 0.0
    return profile


def _ellipsoid(shape: coal.Ellipsoid) -> tuple[Array, Indices]:
    vertices, triangles = revolved(_sphere(1.0))
    return vertices * np.ravel(shape.radii), triangles


def _capsule(shape: coal.Capsule) -> tuple[Array, Indices]:
    ball, half = _sphere(shape.radius), np.array([0.0, shape.halfLength])
    middle = len(ball) // 2 + 1
    return revolved(np.concatenate([ball[:middle] - half, ball[middle - 1 :] + half]))


def _cylinder(shape: coal.Cylinder) -> tuple[Array, Indices]:
    r, h = shape.radius, shape.halfLength
    return revolved([(0.0, -h), (r, -h), (r, h), (0.0, h)])


def _cone(shape: coal.Cone) -> tuple[Array, Indices]:
    r, h = shape.radius, shape.halfLength
    return revolved([(0.0, -h), (r, -h), (0.0, h)])


def _patch(shape: coal.Halfspace | coal.Plane) -> tuple[Array, Indices]:
    normal = np.ravel(shape.n)
    across = np.linalg.svd(normal.reshape(1, 3))[2][1:]
    if np.dot(np.cross(across[0], across[1]), normal) < 0:
        across = across[::-1]
    corners = 0.5 * PATCH * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ across
    return corners + shape.d * normal, np.array([[0, 1, 2], [0, 2, 3]])


def _mesh(shape: coal.BVHModelBase) -> tuple[Array, Indices]:
    rows = [(t[0], t[1], t[2]) for t in map(shape.tri_indices, range(shape.num_tris))]
    return np.array(shape.vertices()), np.array(rows, dtype=np.int64)


def _hull(shape: coal.ConvexBase) -> tuple[Array, Indices]:
    """A convex hull; its faces are made anew where coal keeps only points, and turned outwards."""
    points = np.array(shape.points())
    if hasattr(shape, "polygons"):
        faces = map(shape.polygons, range(shape.num_polygons))
        triangles = np.array([(t[0], t[1], t[2]) for t in faces], dtype=np.int64)
    else:
        from scipy.spatial import ConvexHull  # takes long to import, and few shapes need it

        triangles = np.asarray(ConvexHull(points, qhull_options="Qt").simplices, dtype=np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return points, triangles


def _triangle(shape: coal.TriangleP) -> tuple[Array, Indices]:
    return np.array([shape.a, shape.b, shape.c]).reshape(3, 3), np.array([[0, 1, 2]])


def _cells(shape: coal.OcTree) -> tuple[Array, Indices]:
    boxes = np.array(shape.toBoxes()).reshape(-1, 6)  # centre, side, occupancy, threshold
    boxes = boxes[boxes[:, 4] >= boxes[:, 5]]
    parts = [box_surface(box[:3] - 0.5 * box[3], box[:3] + 0.5 * box[3]) for box in boxes]
    if not parts:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([triangles + 8 * k for k, (_, triangles) in enumerate(parts)]),
    )


def _ground(shape: Any) -> tuple[Array, Indices]:
    """The upper side of a height field."""
    x, y = np.meshgrid(np.ravel(shape.getXGrid()), np.ravel(shape.getYGrid()))
    nx = x.shape[1]
    at = np.arange(x.size).reshape(x.shape)
    a, b, c, d = at[:-1, :-1].ravel(), at[:-1, 1:].ravel(), at[1:, 1:].ravel(), at[1:, :-1].ravel()
    vertices = np.stack([x.ravel(), y.ravel(), np.asarray(shape.getHeights()).ravel()], axis=1)
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    if nx > 1 and y[1, 0] < y[0, 0]:  # coal's rows run against y
        triangles = triangles[:, ::-1]
    return vertices, triangles


_BOX_TRIANGLES: Indices = np.array(
    [
        [0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
        [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5],
    ]
)  # fmt: skip
_MAKERS: tuple[tuple[Any, Callable[[Any], tuple[Any, Any]]], ...] = (
    (coal.Box, _box),
    (coal.Sphere, lambda shape: revolved(_sphere(shape.radius))),
    (coal.Ellipsoid, _ellipsoid),
    (coal.Capsule, _capsule),
    (coal.Cylinder, _cylinder),
    (coal.Cone, _cone),
    ((coal.Halfspace, coal.Plane), _patch),
    (coal.BVHModelBase, _mesh),
    (coal.ConvexBase, _hull),
    (coal.TriangleP, _triangle),
    (getattr(coal, "OcTree", ()), _cells),
    ((coal.HeightFieldOBBRSS, coal.HeightFieldAABB), _ground),
)
