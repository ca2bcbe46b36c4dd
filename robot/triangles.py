"""Triangles in coal: models made of them, and the way back."""

from __future__ import annotations

from collections.abc import Callable

import coal
import numpy as np
from numpy.typing import NDArray

from .arrays import Array

Indices = NDArray[np.int64]


def triangle_model(vertices: Array, triangles: Indices) -> coal.BVHModelOBBRSS:
    """The surface of a mesh: vertices (n, 3) [m], indices (m, 3)."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addVertices(vertices)
    model.addTriangles(triangles)
    model.endModel()
    return model


def corners_of(triangle: Callable[[int], coal.Triangle], count: int) -> Indices:
    """Indices (count, 3) of coal's triangles, which know no end when they are iterated."""
    rows = [(t[0], t[1], t[2]) for t in map(triangle, range(count))]
    return np.array(rows, dtype=np.int64).reshape(count, 3)
