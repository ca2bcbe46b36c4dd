"""Shapes made of many points: meshes, point clouds, height maps."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

import coal
import numpy as np

from .arrays import Array, _as_float, matrix, scalar, vector
from .collada import require_sound_collada
from .collada_triangles import repaired
from .errors import InputError, InputTypeError, unknown_name
from .shapes import Shape, frozen_array, length_of, within_reach
from .tolerance_base import set_field
from .triangles import Indices, corners_of, triangle_model

FORMS = ("hull", "exact")
_FLAT = 1e-6
"""Thickness relative to the extent below which points count as flat; coal crashes where its hull has no volume."""
_CELLS = 32768
"""Cells of an octree of 16 levels on either side of its origin."""


@dataclass(frozen=True, eq=False, init=False)
class Mesh(Shape):
    """Triangles over vertices.

    Attributes:
        vertices: (n, 3) [m], read-only.
        triangles: (m, 3) indices of vertices, read-only.
        form: "hull" is the convex hull, solid, with signed distances. "exact" is the surface itself: no solid, so what
            lies wholly inside does not touch it, and how deep a penetration is remains unknown.
    """

    vertices: Array
    triangles: Indices
    form: str
    kind: ClassVar[str] = "mesh"

    def __init__(self, vertices: Any, triangles: Any, form: str = "hull") -> None:
        """Vertices (n, 3) [m], indices (m, 3), "hull" or "exact"."""
        if form not in FORMS:
            raise unknown_name("form of a mesh", form, FORMS)
        points = within_reach(matrix(vertices, (-1, 3), "vertices"), "vertices")
        indices = _triangles(triangles, len(points))
        _require_area(points, indices)
        if form == "hull":
            _hull_corners(points[np.unique(indices)])
        set_field(self, "vertices", frozen_array(points))
        set_field(self, "triangles", indices)
        set_field(self, "form", form)

    @classmethod
    def from_file(cls, path: Any, scale: Any = 1.0, form: str = "hull") -> Mesh:
        """The mesh of a file (STL, OBJ, DAE, ...), read now; what becomes of the file later does not matter.

        Args:
            path: The file.
            scale: Factor, or one per axis (3,), from the file's unit to metres.
            form: "hull" or "exact".
        """
        if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
            raise InputTypeError(f"path must be the path of a mesh file, got {type(path).__name__}")
        if not Path(path).is_file():
            raise InputError(f"path: there is no mesh file {fspath(path)!r}")
        one = _as_float(scale, "scale").ndim == 0
        factors = np.full(3, scalar(scale, "scale")) if one else vector(scale, 3, "scale")
        if (factors <= 0).any():
            raise InputError(f"scale must be positive, got {factors.tolist()}")
        try:
            if Path(path).suffix.lower() == ".dae":
                require_sound_collada(Path(path))
            model = repaired(coal.MeshLoader().load(fspath(path), np.ones(3)), fspath(path))
        except (RuntimeError, ValueError, OSError) as error:
            raise InputError(f"path: {fspath(path)!r} is no mesh that can be read: {error}") from None
        return cls(np.array(model.vertices()) * factors, corners_of(model.tri_indices, model.num_tris), form)

    def _geometry(self) -> coal.CollisionGeometry:
        if self.form == "hull":
            return convex_hull(self.vertices[np.unique(self.triangles)])
        return triangle_model(self.vertices, self.triangles)


@dataclass(frozen=True, eq=False, init=False)
class PointCloud(Shape):
    """Solid cells of side `resolution` [m], aligned with the axes: those that hold one of the `points` (n, 3) [m]."""

    points: Array
    resolution: float
    kind: ClassVar[str] = "point_cloud"

    def __init__(self, points: Any, resolution: Any) -> None:
        """Points (n, 3) and side of a cell [m]."""
        cloud = matrix(points, (-1, 3), "points")
        if not len(cloud):
            raise InputError("points must hold at least one point")
        side = length_of(resolution, "resolution")
        reach = float(np.abs(cloud).max())
        if reach >= (_CELLS - 1) * side:
            raise InputError(
                f"points reach {reach:g} m from the origin, more than {_CELLS - 1} cells of {side:g} m; "
                "choose a coarser resolution or an origin in their midst"
            )
        set_field(self, "points", frozen_array(within_reach(cloud, "points")))
        set_field(self, "resolution", side)

    def _geometry(self) -> coal.CollisionGeometry:
        return coal.makeOctree(self.points, self.resolution)


@dataclass(frozen=True, eq=False, init=False)
class HeightMap(Shape):
    """Ground from `base` up to `heights` over a grid centred on the origin.

    `heights[i, j]` [m] is the height at x = size[0] (i/(nx-1) - 1/2), y = size[1] (j/(ny-1) - 1/2); between samples
    the surface is two triangles a cell. It is checked as a closed surface, like an "exact" mesh: a height field of
    coal is solid, but knows no distances and refuses exact meshes.
    """

    heights: Array
    size: tuple[float, float]
    base: float
    kind: ClassVar[str] = "height_map"

    def __init__(self, heights: Any, size: Any, base: Any = 0.0) -> None:
        """Heights (nx, ny), lengths along x and y (2,), height of the bottom; all [m]."""
        grid = within_reach(matrix(heights, (-1, -1), "heights"), "heights")
        if min(grid.shape) < 2:
            raise InputError(f"heights must have at least 2 samples along x and y, got {grid.shape}")
        bottom = within_reach(scalar(base, "base"), "base")
        if grid.min() < bottom or grid.max() - bottom < 1e-9:
            raise InputError(
                f"heights must lie above base = {bottom:g} m, got {grid.min():g} to {grid.max():g}; lower the base"
            )
        along = vector(size, 2, "size").tolist()
        set_field(self, "heights", frozen_array(grid))
        set_field(self, "size", tuple(length_of(entry, f"size[{k}]") for k, entry in enumerate(along)))
        set_field(self, "base", bottom)

    def _geometry(self) -> coal.CollisionGeometry:
        return triangle_model(*self._closed_surface())

    def _closed_surface(self) -> tuple[Array, Indices]:
        """Vertices and triangles of top, bottom and the four sides, counter-clockwise seen from outside."""
        nx, ny = self.heights.shape
        x, y = np.meshgrid(*(np.linspace(-0.5, 0.5, n) * s for n, s in zip((nx, ny), self.size, strict=True)))
        top = np.stack([x.T, y.T, self.heights], axis=-1).reshape(-1, 3)
        under = top.copy()
        under[:, 2] = self.base
        at = np.arange(nx * ny).reshape(nx, ny)
        a, b, c, d = (at[i, j].ravel() for i, j in _CORNERS)
        sheet = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
        rim = np.concatenate([at[:, 0], at[-1, 1:], at[-2::-1, -1], at[0, -2:0:-1]])
        ahead, shift = np.roll(rim, -1), nx * ny
        walls = [np.stack([rim, rim + shift, ahead], axis=1), np.stack([ahead, rim + shift, ahead + shift], axis=1)]
        return np.concatenate([top, under]), np.concatenate([sheet, sheet[:, ::-1] + shift, *walls])


_LOW, _HIGH = slice(None, -1), slice(1, None)
_CORNERS = ((_LOW, _LOW), (_HIGH, _LOW), (_HIGH, _HIGH), (_LOW, _HIGH))


def convex_hull(points: Array) -> coal.Convex:
    """The convex hull of points (n, 3) [m]."""
    corners = coal.StdVec_Vec3s()
    corners.extend(list(_hull_corners(points)))
    return coal.Convex.convexHull(corners, True, "Qt")


def _hull_corners(points: Array) -> Array:
    """The points on their convex hull."""
    from scipy.spatial import ConvexHull, QhullError  # takes long to import, and only meshes need it

    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 3 else np.zeros(3)
    flat = not extents[2] > _FLAT * extents[0]
    try:
        corners = None if flat else points[np.sort(ConvexHull(points, qhull_options="Qt").vertices)]
    except QhullError:
        corners = None
    if corners is None:
        raise InputError('vertices lie in a plane and have no solid hull; give them thickness, or use form="exact"')
    hull: Array = corners
    return hull


def _triangles(value: Any, count: int) -> Indices:
    array = _as_float(value, "triangles")
    if array.size == 0:
        raise InputError("triangles must hold at least one triangle")
    array = matrix(array, (-1, 3), "triangles")
    if (array != np.floor(array)).any():
        raise InputTypeError("triangles must hold whole numbers, the indices of vertices")
    if array.min() < 0 or array.max() >= count:
        worst = array.min() if array.min() < 0 else array.max()
        raise InputError(f"triangles must hold indices from 0 to {count - 1}, one per vertex; got {worst:.0f}")
    indices: Indices = array.astype(np.int64)
    indices.setflags(write=False)
    return indices


def _require_area(points: Array, triangles: Indices) -> None:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    if not (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0).any():
        raise InputError("triangles are all degenerate: the corners of each lie on a line")
