"""The algebra of SO(3) and SE(3) on components: each formula once, for one pose and for a batch.

Components are Python floats for one pose, several times faster than small arrays, and arrays for a batch. `components`
takes an array apart (3x3 and 4x4 row by row), `assemble` puts one together; between them the formulas do not know
which of the two they work on, and only the choice of a branch has to ask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import Array, _as_float
from .errors import InputError

_FLOAT = np.dtype(np.float64)
SERIES_BELOW = 0.01
"""Squared angle below which power series replace closed forms that cancel; five terms reach 1e-16 there."""

Terms = tuple[Any, ...]


def trailing(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """A float64 array whose last axes have the given shape."""
    array = value if type(value) is np.ndarray and value.dtype == _FLOAT else _as_float(value, name)
    if array.shape[-len(shape) :] != shape:
        wanted = ", ".join(str(n) for n in shape)
        raise InputError(f"{name} must have shape (..., {wanted}), got {array.shape}")
    return array


def components(value: Any, shape: tuple[int, ...], name: str) -> list[Any]:
    """The entries along the last axes, row by row: floats for one, arrays `(...)` for a batch."""
    array = trailing(value, shape, name)
    if array.shape == shape:
        return array.ravel().tolist()
    return list(np.moveaxis(array.reshape(*array.shape[: -len(shape)], math.prod(shape)), -1, 0))


def assemble(parts: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """The array of components, `shape` or `(..., *shape)`."""
    if type(parts[0]) is float:
        return np.array(parts).reshape(shape)
    return np.stack(parts, axis=-1).reshape(*parts[0].shape, *shape)


def library(part: Any) -> Any:
    """The module whose sin, cos, atan2 and so on take this component."""
    return math if type(part) is float else np


def norm(parts: Sequence[Any]) -> Any:
    """Euclidean norm that neither underflows nor overflows."""
    if type(parts[0]) is float:
        return math.hypot(*parts)
    total = np.abs(parts[0])
    for part in parts[1:]:
        total = np.hypot(total, part)
    return total


def _by_size(theta2: Any, series: Callable[[Any], Terms], closed: Callable[[Any, Any], Terms]) -> Terms:
    """Coefficients of a squared angle: the power series where the closed form would cancel."""
    if type(theta2) is float:
        if theta2 < SERIES_BELOW:
            return series(theta2)
        return closed(theta2 if theta2 < math.inf else math.nan, math)
    small = theta2 < SERIES_BELOW
    near = series(np.where(small, theta2, 0.0))
    far = closed(np.where(small, 1.0, np.where(theta2 < np.inf, theta2, np.nan)), np)
    return tuple(np.where(small, n, f) for n, f in zip(near, far, strict=True))


def _exp_series(s: Any) -> Terms:
    return (
        1.0 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))),
        0.5 - s / 24 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90))),
        1 / 6 - s / 120 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110))),
    )


def _exp_closed(s: Any, lib: Any) -> Terms:
    theta = lib.sqrt(s)
    sine, half = lib.sin(theta), lib.sin(0.5 * theta) / theta
    return sine / theta, 2.0 * half * half, (theta - sine) / (s * theta)


def exp_terms(theta2: Any) -> Terms:
    """sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3."""
    return _by_size(theta2, _exp_series, _exp_closed)


def _log_series(s: Any) -> Terms:
    return (
        1 / 12 + s * (1 / 720 + s * (1 / 30240 + s * (1 / 1209600 + s / 47900160))),
        1 / 360 + s * (1 / 7560 + s * (1 / 201600 + s * (1 / 5987520 + s * (691 / 130767436800)))),
    )


def _log_closed(s: Any, lib: Any) -> Terms:
    half = 0.5 * lib.sqrt(s)
    cot, csc = half / lib.tan(half), half / lib.sin(half)
    return (1.0 - cot) / s, (cot + csc * csc - 2.0) / (s * s)


def log_terms(theta2: Any) -> Terms:
    """D = (1 - (t/2) cot(t/2))/t^2, the coefficient of the inverse Jacobians, and d'(t)/t."""
    return _by_size(theta2, _log_series, _log_closed)


def square(w: Sequence[Any]) -> Any:
    """Squared length."""
    return w[0] * w[0] + w[1] * w[1] + w[2] * w[2]


def polynomial(w: Sequence[Any], k1: Any, k2: Any) -> list[Any]:
    """Components of I + k1 [w] + k2 [w]^2."""
    x, y, z = w
    xx, yy, zz = k2 * x * x, k2 * y * y, k2 * z * z
    xy, xz, yz = k2 * x * y, k2 * x * z, k2 * y * z
    x, y, z = k1 * x, k1 * y, k1 * z
    return [1.0 - (yy + zz), xy - z, xz + y, xy + z, 1.0 - (xx + zz), yz - x, xz - y, yz + x, 1.0 - (xx + yy)]


def quaternion_parts(r: Sequence[Any]) -> list[Any]:
    """(x, y, z, w) of rotation components, not normalised (length 1 to 4), w >= 0.

    Shepperd 1978: of the four proportional forms, that with the largest leading entry loses no digits. At exactly pi
    both signs are the same rotation; the first axis entry that is not zero is made positive.
    """
    a, b, c, d, e, f, g, h, i = r
    ax, ay, az = h - f, c - g, d - b
    sx, sy, sz = h + f, c + g, d + b
    diagonal = (1.0 + a + e + i, 1.0 + a - e - i, 1.0 + e - a - i, 1.0 + i - a - e)
    rows = ((ax, ay, az, diagonal[0]), (diagonal[1], sz, sy, ax), (sz, diagonal[2], sx, ay), (sy, sx, diagonal[3], az))
    if type(a) is float:
        x, y, z, w = rows[diagonal.index(max(diagonal))]
        return [-x, -y, -z, -w] if (w or x or y or z) < 0.0 else [x, y, z, w]
    best = np.argmax(np.stack(diagonal), axis=0)
    x, y, z, w = (np.choose(best, [row[k] for row in rows]) for k in range(4))
    leading = np.where(w != 0, w, np.where(x != 0, x, np.where(y != 0, y, z)))
    sign = np.where(leading < 0, -1.0, 1.0)
    return [sign * x, sign * y, sign * z, sign * w]


def log_parts(r: Sequence[Any]) -> list[Any]:
    """Rotation vector of rotation components."""
    x, y, z, w = quaternion_parts(r)
    n = norm((x, y, z))
    if type(n) is float:
        k = 2.0 * math.atan2(n, w) / n if n > 1e-8 * w else 2.0 / w
    else:
        tiny = n <= 1e-8 * w
        k = np.where(tiny, 2.0 / np.where(tiny, w, 1.0), 2.0 * np.atan2(n, w) / np.where(tiny, 1.0, n))
    return [k * x, k * y, k * z]


def angle_of(r: Sequence[Any]) -> Any:
    """Rotation angle of rotation components: twice its sine against twice its cosine."""
    a, b, c, d, e, f, g, h, i = r
    sine, cosine = norm((h - f, c - g, d - b)), a + e + i - 1.0
    return library(a).atan2(sine, cosine)


def cross(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Cross product of two vectors."""
    ax, ay, az = a
    bx, by, bz = b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def apply_polynomial(w: Sequence[Any], k1: Any, k2: Any, v: Sequence[Any]) -> list[Any]:
    """Components of (I + k1 [w] + k2 [w]^2) v."""
    x, y, z = cross(w, v)
    a, b, c = cross(w, (x, y, z))
    return [v[0] + k1 * x + k2 * a, v[1] + k1 * y + k2 * b, v[2] + k1 * z + k2 * c]


def homogeneous(r: Sequence[Any], p: Sequence[Any]) -> Array:
    """Pose (..., 4, 4) of a rotation and a translation."""
    zero, one = (0.0, 1.0) if type(r[0]) is float else (np.zeros(r[0].shape), np.ones(r[0].shape))
    return assemble([*r[0:3], p[0], *r[3:6], p[1], *r[6:9], p[2], zero, zero, zero, one], (4, 4))


def paired(a: Any, a_shape: tuple[int, ...], a_name: str, b: Any, b_shape: tuple[int, ...], b_name: str) -> Any:
    """Components of two arrays whose leading axes broadcast."""
    first, second = components(a, a_shape, a_name), components(b, b_shape, b_name)
    if type(first[0]) is not type(second[0]):
        # one pose against a batch: every component becomes an array
        first, second = [np.asarray(x) for x in first], [np.asarray(x) for x in second]
    return first, second


def skew_parts(w: Sequence[Any]) -> list[Any]:
    """The matrix of the cross product with w."""
    x, y, z = w
    zero = x - x
    return [zero, -z, y, z, zero, -x, -y, x, zero]


def rotate(r: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """Matrix times vector."""
    a, b, c, d, e, f, g, h, i = r
    x, y, z = v
    return [a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z]


def product(g: Sequence[Any], r: Sequence[Any]) -> list[Any]:
    """Matrix times matrix."""
    columns = rotate(g, r[0::3]), rotate(g, r[1::3]), rotate(g, r[2::3])
    return [column[i] for i in range(3) for column in columns]


def block_triangular(r: Sequence[Any], g: Sequence[Any]) -> Array:
    """[[R, G R], [0, R]] of the components of R and G."""
    b, zero = product(g, r), r[0] - r[0]
    zeros = (zero, zero, zero)
    rows = [*r[0:3], *b[0:3], *r[3:6], *b[3:6], *r[6:9], *b[6:9], *zeros, *r[0:3], *zeros, *r[3:6], *zeros, *r[6:9]]
    return assemble(rows, (6, 6))


def split(t: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Rotation and translation of a pose."""
    return [*t[0:3], *t[4:7], *t[8:11]], [t[3], t[7], t[11]]
