"""Rigid motions SE(3) on plain arrays: exponential, logarithm, twists, wrenches, pose error, reference frames.

Poses are homogeneous matrices (4, 4), `T_ab` takes coordinates in b to coordinates in a. Spatial vectors are linear
first: twist = (v, w) [m/s, rad/s], wrench = (f, m) [N, N m]. Everything broadcasts over leading axes, and the
rotations of `rotation` are offered here too. Shapes are checked, values are trusted.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .arrays import Array
from .components import (
    apply_polynomial,
    assemble,
    block_triangular,
    components,
    cross,
    exp_terms,
    homogeneous,
    library,
    log_parts,
    log_terms,
    norm,
    paired,
    polynomial,
    rotate,
    skew_parts,
    split,
    square,
    trailing,
)
from .errors import unknown_name
from .rotation import (
    exp3,
    is_rotation,
    jexp3,
    jlog3,
    log3,
    orthonormality,
    project_rotation,
    quat_xyzw_from_rotation,
    rotation_angle,
    rotation_from_quat_xyzw,
    rotation_from_rpy,
    rpy_from_rotation,
    shortest_angle,
    skew,
    wrap_angle,
)

__all__ = [
    "ReferenceFrame",
    "adjoint",
    "compose",
    "exp3",
    "exp6",
    "inverse",
    "is_rotation",
    "jexp3",
    "jlog3",
    "jlog6",
    "log3",
    "log6",
    "orthonormality",
    "pose_error",
    "project_rotation",
    "quat_xyzw_from_rotation",
    "rotation_angle",
    "rotation_from_quat_xyzw",
    "rotation_from_rpy",
    "rpy_from_rotation",
    "shortest_angle",
    "skew",
    "transform_twist",
    "transform_wrench",
    "wrap_angle",
]


class ReferenceFrame(enum.IntEnum):
    """Where a twist or Jacobian is expressed, with Pinocchio's meanings and numbers."""

    WORLD = 0
    """World axes, velocity of the point of the body that passes through the world's origin."""
    LOCAL = 1
    """The frame's own axes, velocity of its origin."""
    LOCAL_WORLD_ALIGNED = 2
    """World axes, velocity of the frame's origin: what is usually meant by the velocity of a tool."""

    @classmethod
    def parse(cls, value: Any) -> ReferenceFrame:
        """The member meant by a member, Pinocchio's enum, its number, or a name such as "local" or "lwa".

        Raises:
            UnknownNameError: if there is no such frame.
        """
        if type(value) is cls:
            return value
        name = str(getattr(value, "name", value)).strip().upper()
        member = cls.__members__.get("LOCAL_WORLD_ALIGNED" if name == "LWA" else name)
        if member is None and type(value) is int and value in (0, 1, 2):
            member = cls(value)
        if member is None:
            raise unknown_name("reference frame", value, [*cls.__members__, "LWA"])
        return member


def _moved(pose: Any, vector: Any, name: str) -> tuple[list[Any], list[Any], tuple[list[Any], list[Any]]]:
    """Rotation, translation, and both halves of the spatial vector that a pose moves."""
    t, parts = paired(pose, (4, 4), "pose", vector, (6,), name)
    r, p = split(t)
    return r, p, (parts[:3], parts[3:])


def exp6(twist: Any) -> Array:
    """Screw motion of a twist held for unit time: (..., 6) linear first [m, rad] -> (..., 4, 4)."""
    parts = components(twist, (6,), "twist")
    v, w = parts[:3], parts[3:]
    a, b, c = exp_terms(square(w))
    return homogeneous(polynomial(w, a, b), apply_polynomial(w, b, c, v))


def log6(pose: Any) -> Array:
    """Twist whose screw motion is the pose, rotation in [0, pi]: (..., 4, 4) -> (..., 6) linear first [m, rad]."""
    r, p = split(components(pose, (4, 4), "pose"))
    w = log_parts(r)
    return assemble([*apply_polynomial(w, -0.5, log_terms(square(w))[0], p), *w], (6,))


def jlog6(pose: Any) -> Array:
    """Jacobian of the logarithm of a pose: (..., 4, 4) -> (..., 6, 6), linear first.

    `log6(T exp6(d)) = log6(T) + jlog6(T) d` to first order. Pinocchio's `Jlog6`:
    [[A, G A], [0, A]] with A = jlog3(R) and G the derivative of `v = V(w)^-1 p` by w, where
    V^-1 p = p - w x p / 2 + d(t) (w (w.p) - t^2 p), t = |w|.
    """
    r, p = split(components(pose, (4, 4), "pose"))
    w = log_parts(r)
    theta2 = square(w)
    d, slope = log_terms(theta2)
    wp = w[0] * p[0] + w[1] * p[1] + w[2] * p[2]
    x, y, z = p
    g = []
    for i, row in enumerate(((0.0, -0.5 * z, 0.5 * y), (0.5 * z, 0.0, -0.5 * x), (-0.5 * y, 0.5 * x, 0.0))):
        dw, k = d * w[i], slope * (wp * w[i] - theta2 * p[i]) - 2.0 * d * p[i]
        g += [row[0] + dw * x + k * w[0], row[1] + dw * y + k * w[1], row[2] + dw * z + k * w[2]]
        g[4 * i] = g[4 * i] + d * wp
    return block_triangular(polynomial(w, 0.5, d), g)


def inverse(pose: Any) -> Array:
    """`T_ba` of `T_ab`: (..., 4, 4) -> (..., 4, 4)."""
    r, p = split(components(pose, (4, 4), "pose"))
    back = [*r[0::3], *r[1::3], *r[2::3]]
    return homogeneous(back, rotate(back, [0.0 - x for x in p]))


def compose(*poses: Any) -> Array:
    """`T_ab T_bc ...`, left to right, the identity for none: (..., 4, 4), ... -> (..., 4, 4)."""
    result = np.eye(4)
    for k, pose in enumerate(poses):
        factor = trailing(pose, (4, 4), f"poses[{k}]")
        result = result @ factor if k else factor.copy()
    return result


def adjoint(pose: Any) -> Array:
    """Matrix that moves twists: (..., 4, 4) -> (..., 6, 6), linear first.

    `twist_a = adjoint(T_ab) @ twist_b`, the matrix form of `transform_twist`.
    """
    r, p = split(components(pose, (4, 4), "pose"))
    return block_triangular(r, skew_parts(p))


def transform_twist(pose: Any, twist: Any) -> Array:
    """The twist of the same motion seen from a: `T_ab` (..., 4, 4), twist in b (..., 6) -> twist in a (..., 6)."""
    r, p, (linear, angular) = _moved(pose, twist, "twist")
    v, w = rotate(r, linear), rotate(r, angular)
    lever = cross(p, w)
    return assemble([*(v[i] + lever[i] for i in range(3)), *w], (6,))


def transform_wrench(pose: Any, wrench: Any) -> Array:
    """The same wrench seen from a: `T_ab` (..., 4, 4), wrench in b (..., 6) -> wrench in a (..., 6).

    Power is kept: `transform_wrench(T, w) @ transform_twist(T, v) == w @ v`.
    """
    r, p, (force, moment) = _moved(pose, wrench, "wrench")
    f, m = rotate(r, force), rotate(r, moment)
    lever = cross(p, f)
    return assemble([*f, *(m[i] + lever[i] for i in range(3))], (6,))


def pose_error(actual: Any, desired: Any) -> tuple[Any, Any]:
    """Distance of the origins [m] and angle between the axes in [0, pi] [rad]: two (..., 4, 4) -> two (...).

    Floats for one pair of poses. Symmetric in its arguments, independent of the world frame, and exactly 0 for equal
    poses: of the turn R_des^T R, twice the sine and the cosine are sums over the rows of both matrices.
    """
    a, b = paired(actual, (4, 4), "actual", desired, (4, 4), "desired")
    distance = norm((a[3] - b[3], a[7] - b[7], a[11] - b[11]))
    sine = norm(
        (
            (a[1] * b[2] - a[2] * b[1]) + (a[5] * b[6] - a[6] * b[5]) + (a[9] * b[10] - a[10] * b[9]),
            (a[2] * b[0] - a[0] * b[2]) + (a[6] * b[4] - a[4] * b[6]) + (a[10] * b[8] - a[8] * b[10]),
            (a[0] * b[1] - a[1] * b[0]) + (a[4] * b[5] - a[5] * b[4]) + (a[8] * b[9] - a[9] * b[8]),
        )
    )
    trace = sum(a[i] * b[i] for i in (0, 1, 2, 4, 5, 6, 8, 9, 10))
    return distance, library(sine).atan2(sine, trace - 1.0)
