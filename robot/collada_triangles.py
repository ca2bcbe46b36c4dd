"""Triangles of COLLADA meshes put right: coal 3.0 joins those of several materials to the wrong vertices.

Its reader puts the vertices of all primitives one after the other, but where a node has several primitives, as it does
with several materials, or nodes below it, it forgets to count some of those before. What is drawn then, and what an
exact mesh collides with, is a tangle. The vertices are right, so a hull of all of them is.
"""

from __future__ import annotations

import logging
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from .arrays import Array
from .collada_scene import Indices, primitives
from .triangles import corners_of, triangle_model

_log = logging.getLogger(__name__)


def repaired(shape: coal.CollisionGeometry, path: str | Path) -> coal.CollisionGeometry:
    """What coal read from a file, with each triangle at its own vertices; the same object if that is so already."""
    if Path(path).suffix.lower() != ".dae" or not isinstance(shape, coal.BVHModelBase):
        return shape
    if all(one.counted == tuple(range(k)) for k, one in enumerate(primitives(path))):
        return shape
    vertices, triangles = np.array(shape.vertices()), corners_of(shape.tri_indices, shape.num_tris)
    right = _recounted(path, vertices, triangles)
    if right is not None:
        return triangle_model(vertices, right)
    _log.warning(
        "%s: its triangles may be joined to the wrong vertices, for it has several materials or nodes; export it as "
        "STL or OBJ, or count it by its hull",
        path,
    )
    return shape


def repair(geometry: pin.GeometryModel) -> None:
    """Put all meshes of a geometry model right, in place."""
    for thing in geometry.geometryObjects:
        shape = thing.geometry
        right = repaired(shape, str(thing.meshPath))
        if right is not shape:
            thing.geometry = right


def _recounted(path: str | Path, vertices: Array, triangles: Indices) -> Indices | None:
    """The triangles (m, 3) with all vertices before them counted; None where that is not what is wrong with them."""
    sizes: list[int] = []
    parts: list[Indices] = []
    begin = 0
    for one in primitives(path):
        part = triangles[begin : begin + one.triangles]
        begin += one.triangles
        if not len(part):
            return None
        counted = sum(sizes[k] for k in one.counted)
        parts.append(part - counted + sum(sizes))
        sizes.append(int(part.max()) - counted + 1)
        if part.min() < counted:
            return None
    found = sum(sizes) == len(vertices) and begin == len(triangles)
    return np.concatenate(parts) if found else None
