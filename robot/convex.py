"""Shapes as the native kernel takes them: a convex core swept by a radius, a bounding sphere and a bounding box."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import coal
import numpy as np

from .arrays import Array

POINTS, CYLINDER, CONE, ELLIPSOID, HALF_SPACE, FOREIGN = range(6)
_NO_POINTS = np.zeros((0, 3))
_CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
_SLACK = 1e-9
"""Added to every bound [m], so that rounding never cuts a shape."""


@dataclass(frozen=True, slots=True)
class Convex:
    """A shape in its own frame; bounds are infinite where it has none."""

    core: int
    size: Array
    """(5,): the core's four numbers, see native/kernel.hpp, and the radius it is swept by."""
    points: Array
    """(n, 3) whose hull the core is, for POINTS."""
    centre: Array
    """Of the bounding sphere (3,)."""
    radius: float
    axes: Array
    """Of the bounding box, by columns (3, 3)."""
    box_centre: Array
    half: Array
    """Half sides of the bounding box (3,)."""


def convex_of(shape: coal.CollisionGeometry) -> Convex:
    """The kernel's view of a coal shape; FOREIGN with bounds where the kernel cannot decide about it."""
    swept = float(shape.getSweptSphereRadius()) if hasattr(shape, "getSweptSphereRadius") else 0.0
    match shape:
        case coal.Sphere():
            return _hull(np.zeros((1, 3)), shape.radius + swept)
        case coal.Capsule():
            return _hull(np.array([[0.0, 0.0, -shape.halfLength], [0.0, 0.0, shape.halfLength]]), shape.radius + swept)
        case coal.Box():
            return _hull(_CORNERS * np.asarray(shape.halfSide), swept)
        case coal.TriangleP():
            return _hull(np.array([shape.a, shape.b, shape.c]), swept)
        case coal.ConvexBase():
            return _hull(np.array([shape.point(i) for i in range(shape.num_points)]), swept)
        case coal.Cylinder():
            r, h = shape.radius, shape.halfLength
            return _bounded(CYLINDER, (r, h), swept, np.array([r, r, h]), float(np.hypot(r, h)))
        case coal.Cone():
            r, h = shape.radius, shape.halfLength
            return _bounded(CONE, (r, h), swept, np.array([r, r, h]), float(np.hypot(r, h)))
        case coal.Ellipsoid():
            radii = np.array(shape.radii)
            return _bounded(ELLIPSOID, tuple(radii), swept, radii, float(radii.max()))
        case coal.Halfspace():
            return _unbounded(HALF_SPACE, (*np.asarray(shape.n), float(shape.d) + swept), 0.0)
        case coal.Plane():
            return _unbounded(FOREIGN, (), swept)
    return _foreign(shape, swept)


def _foreign(shape: coal.CollisionGeometry, swept: float) -> Convex:
    shape.computeLocalAABB()
    low, high = np.array(shape.aabb_local.min_), np.array(shape.aabb_local.max_)
    if not np.isfinite([low, high]).all():
        return _unbounded(FOREIGN, (), swept)
    around = _hull(0.5 * (low + high) + _CORNERS * 0.5 * (high - low), swept)
    return Convex(
        FOREIGN, around.size, _NO_POINTS, around.centre, around.radius, np.eye(3), around.box_centre, around.half
    )


def _numbers(values: tuple[float, ...], swept: float) -> Array:
    size = np.zeros(5)
    size[: len(values)] = values
    size[4] = swept
    return size


def _bounded(core: int, values: tuple[float, ...], swept: float, half: Array, radius: float) -> Convex:
    """A core that is symmetric about its origin's bounds."""
    grow, zero = swept + _SLACK, np.zeros(3)
    return Convex(core, _numbers(values, swept), _NO_POINTS, zero, radius + grow, np.eye(3), zero, half + grow)


def _unbounded(core: int, values: tuple[float, ...], swept: float) -> Convex:
    zero, size = np.zeros(3), _numbers(values, swept)
    return Convex(core, size, _NO_POINTS, zero, np.inf, np.eye(3), zero, np.full(3, np.inf))


def _hull(points: Array, swept: float) -> Convex:
    centre, radius = enclosing_sphere(points)
    axes, box_centre, half = enclosing_box(points)
    grow = swept + _SLACK
    return Convex(POINTS, _numbers((), swept), points, centre, radius + grow, axes, box_centre, half + grow)


def enclosing_sphere(points: Array) -> tuple[Array, float]:
    """Centre and radius of a sphere around points (n, 3), within a few percent of the smallest.

    The centre walks towards the farthest point by ever smaller steps (Badoiu and Clarkson, 2003).
    """
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for step in range(2, 102):
        farthest = points[np.argmax(((points - centre) ** 2).sum(axis=1))]
        centre = centre + (farthest - centre) / step if step > 2 else centre
    best = centre
    return best, float(np.sqrt(((points - best) ** 2).sum(axis=1).max()))


def enclosing_box(points: Array) -> tuple[Array, Array, Array]:
    """Axes (3, 3) by columns, centre and half sides of a box around points, small if not the smallest.

    The best of the frame's own axes, the principal axes, and boxes that lie on an edge of the projection along one of
    these axes.
    """
    candidates = [np.eye(3)]
    if len(points) > 3:
        candidates.append(_rotation(np.linalg.svd(points - points.mean(axis=0), full_matrices=True)[2].T))
    best: tuple[float, Array] = (np.inf, np.eye(3))
    for axes in candidates:
        for turned in (axes, *(_turned(points, axes, k) for k in range(3))):
            span = np.ptp(points @ turned, axis=0)
            volume = float(np.prod(span + 1e-4))
            if volume < best[0] * (1 - 1e-9):
                best = (volume, turned)
    local = points @ best[1]
    low, high = local.min(axis=0), local.max(axis=0)
    return best[1], best[1] @ (0.5 * (low + high)), 0.5 * (high - low)


def _turned(points: Array, axes: Array, k: int) -> Array:
    """Axes turned about the k-th so that the rectangle around the projection along it is smallest."""
    u, v = axes[:, (k + 1) % 3], axes[:, (k + 2) % 3]
    flat = np.stack([points @ u, points @ v], axis=1)
    angles = np.linspace(0.0, np.pi / 2, 45, endpoint=False)
    cos, sin = np.cos(angles), np.sin(angles)
    a = np.ptp(flat @ np.stack([cos, sin]), axis=0)
    b = np.ptp(flat @ np.stack([-sin, cos]), axis=0)
    best = int(np.argmin((a + 1e-4) * (b + 1e-4)))
    c, s = cos[best], sin[best]
    return np.stack([axes[:, k], c * u + s * v, -s * u + c * v], axis=1)


def _rotation(axes: Array) -> Array:
    return axes if np.linalg.det(axes) > 0 else axes * np.array([1.0, 1.0, -1.0])
