"""One step of the method "jacobian": the inverse of the Jacobian, the gain, and the bounds."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..robot import native
from ..robot.arrays import Array, matrix, scalar, vector
from ..robot.errors import unknown_name
from .freedom import Bounds, Freedom

KINDS = ("transpose", "pseudo_inverse", "damped_ls_inverse")

DAMPING = 0.03
"""Default mu as a multiple of the squared error (Chan and Lawrence 1988): none left near the goal."""
LEAST_DAMPING = 1e-10
LONGEST_STEP = 2.0
"""Norm of one step [rad or m]; near a singularity the undamped inverse asks for any length."""

Step = Callable[[Array, Array, float], Array]
"""(J, e, |e|^2) -> dq."""
BoundedStep = Callable[[Array, Array, Array, float], Array]
"""(q, J, e, |e|^2) -> the next q."""


def inverse_step(kind: str, damp: float | None) -> Step:
    """The step J^# e of a kind of inverse.

    Raises:
        InputError: for an unknown kind or a damping below zero.
    """
    if kind == "transpose":
        return _transpose
    if kind == "pseudo_inverse":
        return _pseudo_inverse
    if kind != "damped_ls_inverse":
        raise unknown_name("kind of Jacobian inverse", kind, KINDS)
    if damp is None:
        return lambda jacobian, e, square: damped_step(jacobian, e, DAMPING * square + LEAST_DAMPING)
    mu = scalar(damp, "damp", minimum=0.0)
    return lambda jacobian, e, square: damped_step(jacobian, e, mu)


def _transpose(jacobian: Array, e: Array, square: float) -> Array:
    dq: Array = jacobian.T.dot(e)
    along = jacobian.dot(dq)
    length = float(along.dot(along))
    return dq * (float(e.dot(along)) / length) if length > 0.0 else dq


def _pseudo_inverse(jacobian: Array, e: Array, square: float) -> Array:
    return np.asarray(np.linalg.lstsq(jacobian, e, rcond=1e-6)[0], dtype=np.float64)


def damped_step(jacobian: Array, e: Array, mu: float) -> Array:
    """`J^T (J J^T + mu I)^-1 e` (n,) of J (m, n) and e (m,), through the smaller of the two normal matrices."""
    if jacobian.shape[1] == 0:
        return np.zeros(0)
    quick = native.damped_step(jacobian, e, mu)
    if quick is not None:
        return quick
    dsyrk, dposv = _lapack()
    rows, columns = jacobian.shape
    transposed = jacobian.T
    result: Array
    if rows <= columns:
        _, y, fault = dposv(dsyrk(1.0, transposed, mu, _identity(rows), 1), e, 0, 1)
        result = transposed.dot(y)
    else:
        _, result, fault = dposv(dsyrk(1.0, transposed, mu, _identity(columns)), transposed.dot(e), 0, 1)
    return result if fault == 0 else _pseudo_inverse(jacobian, e, 0.0)


@functools.cache
def _lapack() -> tuple[Any, Any]:
    """BLAS and LAPACK, imported when first needed: it takes as long as all other imports of the package."""
    from scipy.linalg.blas import dsyrk
    from scipy.linalg.lapack import dposv

    return dsyrk, dposv


@functools.cache
def _identity(size: int) -> Array:
    return np.asfortranarray(np.eye(size))


def gained(step: Step, gain: Any, size: int) -> Step:
    """The step times K, a number, (size,) or (size, size)."""
    depth = np.asarray(gain, dtype=object).ndim
    if depth == 0:
        factor = scalar(gain, "gain")
        return step if factor == 1.0 else lambda jacobian, e, square: factor * step(jacobian, e, square)
    if depth == 1:
        factors = vector(gain, size, "gain")
        return lambda jacobian, e, square: factors * step(jacobian, e, square)
    k = matrix(gain, (size, size), "gain")
    return lambda jacobian, e, square: k.dot(step(jacobian, e, square))


def bounded(step: Step, freedom: Freedom, bounds: Bounds) -> BoundedStep:
    """The step clipped to bounds, with the joints left out that the error pushes against one.

    The Jacobian it is given is taken over: columns of joints left out are set to zero.
    """
    lower, upper, unbounded = bounds
    flat = freedom.support.flat
    # a column of zeros leaves its joint where it is, but for rounding and for a gain that couples joints
    moving = freedom.moving.astype(np.float64) if freedom.still else None
    stopped: dict[int, float] = {}  # joints clipped lately, and how far they wanted to go beyond

    def following(q: Array, jacobian: Array, e: Array, square: float) -> Array:
        x = q if flat else freedom.coordinates(q)
        if moving is not None:
            jacobian = jacobian * moving
        if stopped:
            _hold(stopped, jacobian, e, x, lower, upper)
        dq = _shortened(step(jacobian, e, square))
        if moving is not None:
            dq = dq * moving
        if unbounded:
            return q + dq if flat else freedom.step(q, dq)
        reached = x + dq
        inside = np.minimum(np.maximum(reached, lower), upper)
        if inside.tobytes() != reached.tobytes():
            beyond = reached - inside
            for i in beyond.nonzero()[0].tolist():
                stopped[i] = beyond[i]
        return inside if flat else freedom.step(q, inside - x)

    return following


def _hold(stopped: dict[int, float], jacobian: Array, e: Array, x: Array, lower: Array, upper: Array) -> None:
    """Take joints out of J that stand at a bound and would be pushed across it; forget those that would not."""
    for i, beyond in list(stopped.items()):
        column = jacobian[:, i]
        at_bound = x[i] >= upper[i] if beyond > 0.0 else x[i] <= lower[i]
        if at_bound and beyond * column.dot(e) > 0.0:
            column[:] = 0.0
        else:
            del stopped[i]


def _shortened(dq: Array) -> Array:
    square = dq.dot(dq)
    return dq if square <= LONGEST_STEP**2 else dq * (LONGEST_STEP / math.sqrt(square))
