"""Operational-space inertia, plain and bounded near singularities.

The plain inverse of `A = Jo M^-1 Jo^T` grows without bound where the tool loses a direction. The bounded one is

    l^2 = tr(A_vv)/tr(A_ww),  S = blkdiag(I, l I)        l levels metres and radians; smooth, rotation-invariant
    l   = clip(l, LEAST_LEVER, GREATEST_LEVER)
    As  = S A S = U diag(lam) U^T,  lam0 = eps tr(As)/6  eps times the mean eigenvalue
    x   = clip(lam/lam0, 0, 1)
    h   = 1/lam where x = 1, else (3 - 3x + x^2)/lam0    so lam h = 1 - (1-x)^3: twice differentiable at x = 1
    Lambda = S U diag(h) U^T S

It is the plain inverse wherever cond(As) <= 1/eps, so an arm that stays away from singularities never notices.

l is the lever at which the controlled joints hold the tool. Where their axes all meet in the tool, `Jo` holds nothing
but rounding in its linear rows, and a level made of it would raise the rounding to a signal: a torque of 1e13 N m, or
of 1e4 N m a micrometre beside the axes. Such a tool is treated as held at LEAST_LEVER: what can move it turns it, and
the linear motion it cannot make is asked for with a torque that goes to 0 with the lever. A well-conditioned arm is
inverted exactly down to levers of a thirtieth of it (sqrt(eps)). GREATEST_LEVER does the same for rotation that is
rounding beside translation. The blocks inverted alone are bounded by the same levers, lam0 of each at least what the
other and the lever make it.

Everything broadcasts over leading axes; NaN in one matrix, or a singular one, stays there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array

Singularity = Literal["damp", "exact"]

EPS = 1e-3
"""Eigenvalues below this share of their mean are bounded."""
LEAST_LEVER = 1e-2
"""The shortest lever [m] at which controlled joints count as holding the tool."""
GREATEST_LEVER = 1e3
"""The longest [m]."""
_LEAST2, _GREATEST2 = LEAST_LEVER**2, GREATEST_LEVER**2


def isolated_solve(matrix: Array, right: Array) -> Array:
    """matrix^-1 right (..., n, k); NaN for singular matrices, which leave the others alone."""
    return _isolated(np.linalg.solve, matrix, right)


def isolated_inverse(matrix: Array) -> Array:
    """matrix^-1 (..., n, n); NaN for singular matrices, which leave the others alone."""
    return _isolated(np.linalg.inv, matrix)


def isolated_eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (..., n), ascending, and eigenvectors (..., n, n); NaN for a matrix of which none are found."""
    try:
        lam, U = np.linalg.eigh(A)
        return lam, U
    except np.linalg.LinAlgError:
        if A.ndim == 2:
            return np.full(len(A), np.nan), np.full(A.shape, np.nan)
    each = [isolated_eigen(one) for one in A]
    return np.stack([lam for lam, _ in each]), np.stack([U for _, U in each])


def _isolated(function: Callable[..., Any], *arrays: Array) -> Array:
    try:
        result: Array = function(*arrays)
        return result
    except np.linalg.LinAlgError:
        if arrays[0].ndim == 2:
            return np.full_like(arrays[-1], np.nan)
    return np.stack([_isolated(function, *(array[i] for array in arrays)) for i in range(len(arrays[0]))])


def full_inertia(A: Array, singularity: Singularity) -> tuple[Array, Any]:
    """Lambda (..., 6, 6) of the whole A, and the least x (...), 1 where nothing is bounded."""
    if singularity == "exact":
        return isolated_inverse(A), 1.0
    if A.ndim == 2:  # in floats, for one robot several times faster
        d = A.diagonal().tolist()
        v, w = d[0] + d[1] + d[2], d[3] + d[4] + d[5]
        l2 = min(max(v / w, _LEAST2), _GREATEST2) if w > 0.0 else 1.0
        return _bounded_inverse(A, EPS / 6.0 * (v + l2 * w), np.array((1.0, 1.0, 1.0, l2, l2, l2)))
    diagonal = np.diagonal(A, axis1=-2, axis2=-1)
    vv, ww = diagonal[..., :3].sum(axis=-1), diagonal[..., 3:].sum(axis=-1)
    level = _level(vv, ww)
    scale2 = np.ones(diagonal.shape)
    scale2[..., 3:] = level[..., None]
    return _bounded_inverse(A, EPS / 6.0 * (vv + level * ww), scale2)


def spread_of(A: Array) -> Array:
    """Eigenvalues of As (..., 6), ascending; NaN where A is not finite."""
    good: NDArray[np.bool_] = np.asarray(np.isfinite(A).all(axis=(-2, -1)))
    diagonal = np.diagonal(A, axis1=-2, axis2=-1)
    s = np.ones(diagonal.shape)
    with np.errstate(all="ignore"):
        s[..., 3:] = np.sqrt(_level(diagonal[..., :3].sum(axis=-1), diagonal[..., 3:].sum(axis=-1)))[..., None]
        As = np.where(good[..., None, None], A * s[..., :, None] * s[..., None, :], np.eye(A.shape[-1]))
    return np.where(good[..., None], isolated_eigen(As)[0], np.nan)


def _level(vv: Any, ww: Any) -> Any:
    """l^2 (...); 1 where nothing turns the tool."""
    turns = ww > 0.0
    return np.where(turns, np.clip(vv / np.where(turns, ww, 1.0), _LEAST2, _GREATEST2), 1.0)


def block_inertia(A: Array, singularity: Singularity) -> tuple[Array, Any]:
    """blkdiag(A_vv^-1, A_ww^-1) (..., 6, 6), each block bounded alone without S; and the least x (...)."""
    blocks = np.stack((A[..., :3, :3], A[..., 3:, 3:]), axis=-3)
    if singularity == "exact":
        inverse, nearness = isolated_inverse(blocks), 1.0
    else:
        trace = np.trace(blocks, axis1=-2, axis2=-1)
        floor = trace[..., ::-1] * (_LEAST2, 1.0 / _GREATEST2)
        inverse, least = _bounded_inverse(blocks, EPS / 3.0 * np.maximum(trace, floor), None)
        nearness = least if isinstance(least, float) else least.min(axis=-1)
    Lambda = np.zeros(A.shape)
    Lambda[..., :3, :3], Lambda[..., 3:, 3:] = inverse[..., 0, :, :], inverse[..., 1, :, :]
    return Lambda, nearness


def _bounded_inverse(A: Array, least: Any, scale2: Array | None) -> tuple[Array, Any]:
    """The bounded inverse of SPD matrices (..., n, n), `scale2` being the diagonal of S^2, `least` lam0; and min x.

    The plain inverse is tried first: |As^-1|_F <= 1/lam0 proves that every eigenvalue is above lam0, where both agree.
    """
    try:
        inverse: Any = np.linalg.inv(A)
    except np.linalg.LinAlgError:  # one is exactly singular; the eigenvalues serve all
        inverse = np.full(A.shape, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = inverse * inverse
        if scale2 is None:
            norm2 = squares.sum(axis=(-2, -1))
        else:
            w = 1.0 / scale2
            norm2 = w @ squares @ w if A.ndim == 2 else ((squares @ w[..., None])[..., 0] * w).sum(axis=-1)
        exact = norm2 * (least * least) <= 1.0
    if exact if A.ndim == 2 else exact.all():
        return inverse, 1.0
    return _by_eigenvalues(A, least, scale2, inverse, exact)


def _by_eigenvalues(A: Array, least: Any, scale2: Array | None, inverse: Array, exact: Any) -> tuple[Array, Any]:
    """Where the plain inverse is not proven to do, the eigenvalues decide; NaN stays NaN."""
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(A).all(axis=(-2, -1)))
    if A.ndim == 2:
        return _damped(A, least, scale2) if finite else (np.full(A.shape, np.nan), np.nan)
    rows = ~np.asarray(exact) & finite
    result, nearness = inverse.copy(), np.where(finite, 1.0, np.nan)
    if rows.any():
        result[rows], nearness[rows] = _damped(A[rows], least[rows], None if scale2 is None else scale2[rows])
    return result, nearness


def _damped(A: Array, least: Any, scale2: Array | None) -> tuple[Array, Any]:
    """S U diag(h) U^T S (..., n, n), and the least x (...); 0 where nothing moves the tool."""
    if scale2 is not None:
        s = np.sqrt(scale2)
        A = A * (s[..., :, None] * s[..., None, :])
    lam, U = isolated_eigen(A)
    moved = np.asarray(least)[..., None] > 0.0
    lam0 = np.where(moved, np.asarray(least)[..., None], 1.0)
    x = np.minimum(np.maximum(lam / lam0, 0.0), 1.0)
    h = np.where(x >= 1.0, 1.0 / np.maximum(lam, lam0), (3.0 - 3.0 * x + x * x) / lam0) * moved
    US = U if scale2 is None else U * s[..., :, None]
    return (US * h[..., None, :]) @ US.swapaxes(-1, -2), x.min(axis=-1)
