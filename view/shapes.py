"""Meshes to draw with: what a graphics card needs of a surface, and the few shapes that drawings add to a robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array

CREASE = np.cos(np.radians(35.0))
"""Facets that meet at a flatter angle are shaded as one smooth surface."""
_NEIGHBOURS = 48
"""Facets around one vertex that shading looks at; more only occur at the poles of what is round."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles over vertices.

    Attributes:
        vertices: (n, 3) [m].
        triangles: (m, 3) indices, counter-clockwise seen from outside.
    """

    vertices: Array
    triangles: NDArray[np.int64]

    @cached_property
    def key(self) -> str:
        """Equal for equal meshes."""
        digest = blake2b(self.vertices.astype(np.float32).tobytes(), digest_size=12)
        digest.update(self.triangles.astype(np.uint32).tobytes())
        return digest.hexdigest()

    @cached_property
    def shaded(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint32]]:
        """Positions (k, 3), unit normals (k, 3) and triangles (m, 3): vertices on a crease stand once per side."""
        corners, normals = _corner_normals(self)
        steps = np.round(normals * 500).astype(np.int64) + 500
        tag = ((corners * 1001 + steps[:, 0]) * 1001 + steps[:, 1]) * 1001 + steps[:, 2]
        _, first, index = np.unique(tag, return_index=True, return_inverse=True)
        positions = self.vertices[self.triangles.ravel()[first]]
        return positions.astype(np.float32), normals[first].astype(np.float32), index.astype(np.uint32).reshape(-1, 3)


def _corner_normals(mesh: Mesh) -> tuple[NDArray[np.int64], Array]:
    """For each corner of each triangle the point it stands at (3m,), as a number, and its normal (3m, 3)."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    unit = np.repeat(np.divide(across, length, out=np.zeros_like(across), where=length > 0), 3, axis=0)
    weighted = np.repeat(across, 3, axis=0)
    # points that coincide are one, whether or not the file says so: STL repeats each of them
    _, points = np.unique(np.round(mesh.vertices, 7), axis=0, return_inverse=True)
    corners = points.ravel()[mesh.triangles.ravel()].astype(np.int64)
    order = np.argsort(corners, kind="stable")
    at, facing, total = corners[order], unit[order], weighted[order].copy()
    for step in range(1, min(_NEIGHBOURS, len(at))):
        together = np.flatnonzero(at[step:] == at[:-step])
        if not len(together):
            break
        ahead = together + step
        smooth = np.einsum("ij,ij->i", facing[together], facing[ahead]) > CREASE
        np.add.at(total, together[smooth], weighted[order[ahead[smooth]]])
        np.add.at(total, ahead[smooth], weighted[order[together[smooth]]])
    size = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.zeros_like(total)
    normals[order] = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    return corners, normals


def bar(facets: int = 16) -> Mesh:
    """A cylinder of radius 1 about z, from z = 0 to z = 1."""
    angles = np.linspace(0.0, 2 * np.pi, facets, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(facets)], axis=1)
    vertices = np.concatenate([ring, ring + np.array([0, 0, 1]), [[0, 0, 0], [0, 0, 1]]])
    at, ahead = np.arange(facets), np.roll(np.arange(facets), -1)
    low, high = np.full(facets, 2 * facets), np.full(facets, 2 * facets + 1)
    sides = [(at, ahead, ahead + facets), (at, ahead + facets, at + facets)]
    ends = [(low, ahead, at), (high, at + facets, ahead + facets)]
    return Mesh(vertices, np.concatenate([np.stack(corners, axis=1) for corners in sides + ends]))


def ball(rings: int = 12) -> Mesh:
    """A sphere of radius 1."""
    polar = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)[1:-1]
    angles = np.linspace(0.0, 2 * np.pi, 2 * rings, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rows = [np.column_stack([np.cos(p) * ring, np.full(len(ring), np.sin(p))]) for p in polar]
    vertices = np.concatenate([*rows, [[0, 0, -1], [0, 0, 1]]])
    n, last = len(ring), (len(polar) - 1) * len(ring)
    at, ahead = np.arange(n), np.roll(np.arange(n), -1)
    triangles = [(np.full(n, len(vertices) - 2), ahead, at), (np.full(n, len(vertices) - 1), last + at, last + ahead)]
    for k in range(len(polar) - 1):
        low, high = k * n, (k + 1) * n
        triangles += [(low + at, low + ahead, high + ahead), (low + at, high + ahead, high + at)]
    return Mesh(vertices, np.concatenate([np.stack(corners, axis=1) for corners in triangles]))


def bar_pose(start: Array, end: Array, radius: float) -> Array:
    """Where `bar()` reaches from one point to another: a pose (4, 4) with the lengths of its axes in it."""
    along = end - start
    length = max(float(np.linalg.norm(along)), 1e-9)
    z = along / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1], pose[:3, 2] = radius * x, radius * np.cross(z, x), length * z
    pose[:3, 3] = start
    return pose


def ball_pose(centre: Array, radius: float) -> Array:
    """Where `ball()` is a ball of `radius` about a point."""
    pose = np.diag([radius, radius, radius, 1.0])
    pose[:3, 3] = centre
    return pose


def tube(points: Any, radius: float) -> Mesh:
    """A polyline (n, 3) [m] with thickness."""
    rows = np.asarray(points, dtype=np.float64)
    unit, parts = bar(6), []
    for start, end in pairwise(rows):
        if np.linalg.norm(end - start) > 1e-9:
            pose = bar_pose(start, end, radius)
            parts.append(unit.vertices @ pose[:3, :3].T + pose[:3, 3])
    if not parts:  # nothing moves: a dot
        return Mesh(ball(6).vertices * radius + rows[0], ball(6).triangles)
    count = len(unit.vertices)
    return Mesh(np.concatenate(parts), np.concatenate([unit.triangles + k * count for k in range(len(parts))]))
