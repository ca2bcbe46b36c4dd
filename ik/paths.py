"""Paths of poses to be followed: straight lines, arcs, and splines through poses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..robot.arrays import Array, scalar, vector, whole
from ..robot.errors import InputError, InputTypeError
from ..robot.transformation import Transformation, as_transformation
from .batch import as_poses

STEP = 0.005
"""Default distance of neighbouring poses [m]."""
MOST_POSES = 1_000_000
FARTHEST = 1e9
"""Points beyond it [m] are no points of this world."""
TURN_STEP = math.radians(1.0)
"""Default angle between neighbouring poses [rad]."""


def line(start: Any, end: Any, *, count: int | None = None, step: float | None = None) -> Array:
    """Poses along a straight line, the orientation turning about one axis at an even rate.

    Args:
        start: First pose, in the world.
        end: Last pose; or a point (3,), reached in the orientation of the start.
        count: Number of poses, both ends included; or
        step: largest distance of neighbours [m]; by default 5 mm and 1 degree.

    Returns:
        (count, 4, 4).
    """
    first = _pose(start, "start")
    last = _pose_or_point(end, first.rotation, "end")
    length = float(np.linalg.norm(last.translation - first.translation))
    turn = first.distance(last).rotation
    return _between(first, last, _fractions(length, turn, count, step))


def arc(
    start: Any, *, center: Any, axis: Any, angle: float, count: int | None = None, step: float | None = None
) -> Array:
    """Poses along an arc of a circle; the orientation turns with it, so that a tool keeps facing as it does.

    Args:
        start: First pose, in the world.
        center: A point on the axis of the circle (3,) [m].
        axis: Direction of the axis (3,).
        angle: How far to go about it, right-handed [rad]; may exceed a turn.
        count: Number of poses, both ends included; or
        step: largest distance of neighbours along the arc [m]; by default 5 mm and 1 degree.

    Returns:
        (count, 4, 4).
    """
    first, middle = _pose(start, "start"), _within(vector(center, 3, "center"), "center")
    about = vector(axis, 3, "axis")
    size = float(np.linalg.norm(about))
    if size < 1e-12:
        raise InputError("axis must not be zero")
    about = about / size
    total = scalar(angle, "angle")
    arm = first.translation - middle
    radius = float(np.linalg.norm(arm - (arm @ about) * about))
    R = _rotations(total * about, _fractions(abs(total) * radius, abs(total), count, step))
    poses = np.tile(np.eye(4), (len(R), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = R @ first.rotation, middle + R @ arm
    return poses


def arc_through(start: Any, via: Any, end: Any, *, count: int | None = None, step: float | None = None) -> Array:
    """Poses along the arc of the circle through three points; the orientation turns evenly from start to end.

    Args:
        start: First pose, in the world.
        via: A point the arc passes (3,) [m], or a pose whose position counts.
        end: Last pose; or a point (3,), reached in the orientation of the start.
        count: Number of poses, both ends included; or
        step: largest distance of neighbours along the arc [m]; by default 5 mm and 1 degree.

    Returns:
        (count, 4, 4).

    Raises:
        InputError: if the three points lie on a line.
    """
    first = _pose(start, "start")
    last = _pose_or_point(end, first.rotation, "end")
    a, b, c = first.translation, _pose_or_point(via, np.eye(3), "via").translation, last.translation
    center, about = _circle(a, b, c)
    arm = a - center
    x, y = arm / np.linalg.norm(arm), np.cross(about, arm) / np.linalg.norm(arm)
    total = math.atan2((c - center) @ y, (c - center) @ x) % (2.0 * math.pi)
    radius, turn = float(np.linalg.norm(arm)), first.distance(last).rotation
    fractions = _fractions(total * radius, max(turn, 0.0), count, step)
    poses = _between(first, last, fractions)
    around = total * fractions
    poses[:, :3, 3] = center + radius * (np.cos(around)[:, None] * x + np.sin(around)[:, None] * y)
    return poses


def spline(poses: Any, *, count: int | None = None, step: float | None = None) -> Array:
    """Poses along a smooth curve through given ones.

    A natural cubic spline in position, over the chord length, and a spline of rotations with continuous angular
    velocity and acceleration.

    Args:
        poses: Two or more poses to pass (n, 4, 4) or a sequence.
        count: Number of poses, all in all; or
        step: largest distance of neighbours, about [m]; by default 5 mm and 1 degree. The given poses themselves are
            passed, though not listed unless a step falls on them.

    Returns:
        (count, 4, 4), the first and the last as given.
    """
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation, RotationSpline

    if isinstance(poses, Transformation) or not isinstance(poses, Iterable):
        raise InputTypeError(f"poses must be (n, 4, 4) or a sequence of poses, got {type(poses).__name__}")
    given = as_poses(poses if isinstance(poses, np.ndarray) else list(poses), "poses")
    _within(given[:, :3, 3].reshape(-1) if len(given) else np.zeros(3), "poses")
    if len(given) < 2:
        raise InputError(f"poses must hold two or more, got {len(given)}")
    chords = np.linalg.norm(np.diff(given[:, :3, 3], axis=0), axis=1)
    turns = np.array([Transformation(a).distance(Transformation(b)).rotation for a, b in pairwise(given)])
    lengths = np.maximum(chords, turns * STEP / TURN_STEP)
    if (lengths < 1e-12).any():
        raise InputError(f"poses[{int(np.argmin(lengths)) + 1}] repeats the pose before it")
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    u = at[-1] * _fractions(float(chords.sum()), float(turns.sum()), count, step)
    result = np.tile(np.eye(4), (len(u), 1, 1))
    result[:, :3, 3] = CubicSpline(at, given[:, :3, 3], bc_type="natural")(u)
    rotations = Rotation.from_matrix(given[:, :3, :3])
    if len(given) == 2:
        result[:, :3, :3] = _between(Transformation(given[0]), Transformation(given[1]), u / at[-1])[:, :3, :3]
    else:
        result[:, :3, :3] = RotationSpline(at, rotations)(u).as_matrix()
    result[0], result[-1] = given[0], given[-1]
    return result


def _between(first: Transformation, last: Transformation, fractions: Array) -> Array:
    """Straight in position, about one axis in rotation."""
    turn = Transformation.from_rotation(first.rotation.T @ last.rotation).rotation_vector
    poses = np.tile(np.eye(4), (len(fractions), 1, 1))
    poses[:, :3, :3] = first.rotation @ _rotations(turn, fractions)
    poses[:, :3, 3] = first.translation + fractions[:, None] * (last.translation - first.translation)
    poses[0], poses[-1] = first.homogeneous, last.homogeneous
    return poses


def _rotations(vector_: Array, fractions: Array) -> Array:
    """Rotations by parts of a rotation vector (n, 3, 3)."""
    from scipy.spatial.transform import Rotation

    turns: Array = Rotation.from_rotvec(fractions[:, None] * vector_).as_matrix()
    return turns


def _fractions(length: float, turn: float, count: int | None, step: float | None) -> Array:
    """Numbers from 0 to 1 at which poses are taken."""
    if count is not None and step is not None:
        raise InputError("count and step exclude each other; give one")
    if count is not None:
        number = whole(count, "count")
        if not 2 <= number <= MOST_POSES:
            raise InputError(f"count must be from 2 to {MOST_POSES}, got {number}")
    else:
        size = STEP if step is None else scalar(step, "step", positive=True)
        angle = TURN_STEP if step is None else size * TURN_STEP / STEP
        parts = max(1.0, length / size - 1e-9, turn / angle - 1e-9 if angle > 0.0 else math.inf)
        if not parts < MOST_POSES:
            raise InputError(f"step of {size:g} m makes more than {MOST_POSES} poses; take a larger one")
        number = 1 + math.ceil(parts)
    return np.linspace(0.0, 1.0, number)


def _pose_or_point(value: Any, rotation: Array, name: str) -> Transformation:
    if isinstance(value, list | tuple | np.ndarray) and len(value) == 3 and all(map(np.isscalar, value)):
        return Transformation.from_rotation(rotation, _within(vector(value, 3, name), name))
    return _pose(value, name)


def _pose(value: Any, name: str) -> Transformation:
    pose = as_transformation(value, name)
    _within(pose.translation, name)
    return pose


def _within(point: Array, name: str) -> Array:
    if np.abs(point).max() > FARTHEST:
        raise InputError(f"{name} must be within {FARTHEST:g} m")
    return point


def _circle(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Centre and axis of the circle through three points, about which one passes b on the way from a to c."""
    u, v = b - a, c - a
    normal = np.cross(u, v)
    size = float(normal @ normal)
    if size < 1e-18 * max(float(u @ u), float(v @ v), 1e-12) ** 2 or size == 0.0:
        raise InputError("start, via and end lie on a line; use line() or move via off it")
    center = a + np.cross((u @ u) * v - (v @ v) * u, normal) / (2.0 * size)
    return center, normal / math.sqrt(size)
