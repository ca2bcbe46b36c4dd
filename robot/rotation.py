"""Rotations SO(3): exponential, logarithm, quaternions, roll-pitch-yaw and angles, on plain arrays.

Every function broadcasts over leading axes: `(3,)` may be `(..., 3)`, `(3, 3)` may be `(..., 3, 3)`. Shapes are
checked, values are trusted: a rotation matrix must be one (`is_rotation`, `project_rotation`), NaN gives NaN.
Angles are in rad. Half angles and atan2 are used throughout, so nothing degrades near 0 or pi.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Array
from .components import (
    angle_of,
    assemble,
    components,
    exp_terms,
    library,
    log_parts,
    log_terms,
    norm,
    polynomial,
    quaternion_parts,
    skew_parts,
    square,
    trailing,
)
from .errors import InputError


def skew(w: Any) -> Array:
    """Matrix of the cross product, `skew(w) @ x == cross(w, x)`: (..., 3) -> (..., 3, 3)."""
    return assemble(skew_parts(components(w, (3,), "w")), (3, 3))


def exp3(w: Any) -> Array:
    """Rotation by the angle |w| about w (Rodrigues): (..., 3) [rad] -> (..., 3, 3)."""
    parts = components(w, (3,), "w")
    a, b, _ = exp_terms(square(parts))
    return assemble(polynomial(parts, a, b), (3, 3))


def log3(rotation: Any) -> Array:
    """Rotation vector, axis times angle in [0, pi]: (..., 3, 3) -> (..., 3) [rad].

    Exact to rounding everywhere. At exactly pi the first entry of the axis that is not zero is positive.
    """
    return assemble(log_parts(components(rotation, (3, 3), "rotation")), (3,))


def rotation_angle(rotation: Any) -> Any:
    """Angle in [0, pi] by atan2 of sine and cosine: (..., 3, 3) -> (...) [rad]; a float for one rotation."""
    return angle_of(components(rotation, (3, 3), "rotation"))


def jexp3(w: Any) -> Array:
    """Right Jacobian of the rotation: (..., 3) -> (..., 3, 3).

    `exp3(w + dw) = exp3(w) exp3(jexp3(w) dw)` to first order. Pinocchio's `Jexp3`; the left Jacobian is `jexp3(-w)`.
    """
    parts = components(w, (3,), "w")
    _, b, c = exp_terms(square(parts))
    return assemble(polynomial(parts, -b, c), (3, 3))


def jlog3(rotation: Any) -> Array:
    """Jacobian of the rotation vector: (..., 3, 3) -> (..., 3, 3).

    `log3(R exp3(d)) = log3(R) + jlog3(R) d` to first order. Pinocchio's `Jlog3`, the inverse of
    `jexp3(log3(R))`; finite for every angle up to pi.
    """
    w = log_parts(components(rotation, (3, 3), "rotation"))
    return assemble(polynomial(w, 0.5, log_terms(square(w))[0]), (3, 3))


def quat_xyzw_from_rotation(rotation: Any) -> Array:
    """Unit quaternion (x, y, z, w), w >= 0: (..., 3, 3) -> (..., 4). Sign at exactly pi as in `log3`."""
    parts = quaternion_parts(components(rotation, (3, 3), "rotation"))
    n = norm(parts)
    return assemble([part / n for part in parts], (4,))


def rotation_from_quat_xyzw(quat_xyzw: Any) -> Array:
    """Rotation of a quaternion (x, y, z, w) of any length but zero: (..., 4) -> (..., 3, 3).

    Raises:
        InputError: if a quaternion has no direction (length below 1e-12).
    """
    x, y, z, w = components(quat_xyzw, (4,), "quat_xyzw")
    n = norm((x, y, z, w))
    if n < 1e-12 if type(n) is float else np.any(n < 1e-12):
        raise InputError("quaternion must not be zero: length 0 is no rotation; the identity is x = y = z = 0, w = 1")
    x, y, z, w = x / n, y / n, z / n, w / n
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    xw, yw, zw = x * w, y * w, z * w
    return assemble(
        [
            *(1.0 - 2.0 * (yy + zz), 2.0 * (xy - zw), 2.0 * (xz + yw)),
            *(2.0 * (xy + zw), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - xw)),
            *(2.0 * (xz - yw), 2.0 * (yz + xw), 1.0 - 2.0 * (xx + yy)),
        ],
        (3, 3),
    )


def rotation_from_rpy(rpy: Any) -> Array:
    """Rotation of URDF angles, `Rz(yaw) Ry(pitch) Rx(roll)`: (..., 3) [rad] -> (..., 3, 3)."""
    parts = components(rpy, (3,), "rpy")
    lib = library(parts[0])
    (sr, sp, sy), (cr, cp, cy) = map(lib.sin, parts), map(lib.cos, parts)
    return assemble(
        [
            *(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            *(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            *(0.0 - sp, cp * sr, cp * cr),
        ],
        (3, 3),
    )


def rpy_from_rotation(rotation: Any) -> Array:
    """URDF angles (roll, pitch, yaw), pitch in [-pi/2, pi/2]: (..., 3, 3) -> (..., 3) [rad].

    Inverts `rotation_from_rpy` to rounding also where pitch is +-pi/2; there only roll -+ yaw is defined and yaw is 0.
    """
    a, b, c, d, e, f, g, _, _ = components(rotation, (3, 3), "rotation")
    lib, cos_pitch = library(a), norm((a, d))
    yaw = lib.atan2(d, a) * (cos_pitch > 1e-15) + 0.0
    sin_yaw, cos_yaw = lib.sin(yaw), lib.cos(yaw)
    roll = lib.atan2(sin_yaw * c - cos_yaw * f, cos_yaw * e - sin_yaw * b)
    return assemble([roll, lib.atan2(0.0 - g, cos_pitch), yaw], (3,))


def wrap_angle(angle: Any) -> Any:
    """The same angle in [-pi, pi), exact (no rounding of what is inside already): (...) [rad] -> (...) [rad]."""
    if type(angle) is float and -math.pi <= angle < math.pi:
        return angle
    rest: Any = np.fmod(angle, math.tau)
    rest = np.where(rest >= math.pi, rest - math.tau, np.where(rest < -math.pi, rest + math.tau, rest))
    return rest if rest.ndim else float(rest)


def shortest_angle(start: Any, end: Any) -> Any:
    """The turn in [-pi, pi) that leads from `start` to `end`: (...), (...) [rad] -> (...) [rad]."""
    return wrap_angle(np.subtract(end, start))


def orthonormality(rotation: Any) -> tuple[Any, Any]:
    """Largest entry of |R^T R - I|, and det R: (..., 3, 3) -> (...), (...); floats for one matrix."""
    a, b, c, d, e, f, g, h, i = components(rotation, (3, 3), "rotation")
    gram = (
        *(a * a + d * d + g * g - 1.0, b * b + e * e + h * h - 1.0, c * c + f * f + i * i - 1.0),
        *(a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i),
    )
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return max(map(abs, gram)) if type(a) is float else np.abs(gram).max(axis=0), determinant


def is_rotation(rotation: Any, atol: float = 1e-6) -> Any:
    """Whether `R^T R == I` to `atol` in every entry and det R > 0: (..., 3, 3) -> (...) bool."""
    deviation, determinant = orthonormality(rotation)
    return (deviation <= atol) & (determinant > 0.0)


def project_rotation(rotation: Any) -> Array:
    """The closest rotation to a matrix that is one to about 1e-3: (..., 3, 3) -> (..., 3, 3).

    Newton-Schulz steps to the polar factor (Higham 1986); what is orthonormal to rounding comes back unchanged.
    """
    array = trailing(rotation, (3, 3), "rotation")
    for _ in range(3):
        if np.max(orthonormality(array)[0], initial=0.0) <= 4e-15:
            break
        array = array - 0.5 * array @ (np.swapaxes(array, -1, -2) @ array - np.eye(3))
    return array
