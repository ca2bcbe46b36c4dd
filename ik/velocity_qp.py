"""Differential inverse kinematics: the joint velocity within bounds that moves a tool as a twist says.

    min |W^(1/2) (J dq - twist)|^2 + eps |dq|^2 + w |dq - dq_ref|^2     lower <= dq <= upper

and what `velocity_singularity` adds near singularities, by daqp, a dual active-set solver (Arnstrom, Bemporad, Axehill,
IEEE Transactions on Automatic Control 67(8), 2022). Without daqp installed a plain active-set search of limited length
takes its place: within the bounds, slower, and not always the least; a strict preference is followed only straight, as
far as the first bound; and in the mode "scale" the answer without bounds is shortened as a whole, where another share
of the joints might keep more of the twist.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ..robot.arrays import LARGEST, Array, _as_float, believable, flag, scalar, vector
from ..robot.arrays import bounds as with_infinity
from ..robot.errors import InputError
from . import velocity_fallback
from .velocity_result import VelocityResult, VelocityStatus
from .velocity_singularity import held_back

DAMPING = 1e-8
"""Default eps: the shortest of many answers, without a visible error where there is one."""
MODES = ("least_squares", "scale")
_MET = 1e-6
"""Twist error up to which, relative to max(1, |twist|), the tool moves as asked."""
_LOST = 1e-4
"""Singular value, relative to the largest, below which the mode "scale" gives a direction up."""
_BLIND = 1e-9
"""Singular value, relative to the largest, below which the tool does not move at all."""
_PULL = 1e4
"""Pull towards more of the twist, against the length of dq: a linear one, so that no share is given up for less motion
(O. Mangasarian, R. Meyer, SIAM J. Control and Optimization 17(6), 1979)."""
_EQUALITY = 5
_SOLVED = (1, 2)


class Preference(NamedTuple):
    """What is preferred among velocities that serve the tool alike."""

    dq_ref: Array | None = None
    """Velocity to be near (nv,); None is rest, without a weight of its own."""
    weight: float = 0.0
    """Its weight w against the tool's."""
    strict: bool = False
    """Whether it may take nothing from the tool at all: then its weight does not matter."""


NOTHING = Preference()


class Manner(NamedTuple):
    """How a twist is asked for, from step to step."""

    weights: Array | None = None
    """Diagonal of W (m,)."""
    damping: float = DAMPING
    """eps."""
    scale: bool = False
    """Whether its direction is kept."""
    margin: float = 0.0
    """sigma0, relative, see `velocity_singularity`."""
    dt: float = 0.0
    """How long a velocity is held [s]."""
    masked: bool = True
    """Whether some joints may not move at all; only False is a promise."""


PLAIN = Manner()


def solve_velocity(
    jacobian: Any,
    twist: Any,
    lower: Any = None,
    upper: Any = None,
    *,
    weights: Any = None,
    damping: float = DAMPING,
    dq_ref: Any = None,
    ref_weight: float = 0.0,
    strict: bool = False,
    mode: str = "least_squares",
    singularity_margin: float = 0.0,
    dt: float = 0.0,
) -> VelocityResult:
    """The joint velocity that moves a tool as asked, within bounds.

    NaN in the Jacobian or the twist, or a twist beyond 1e12, is an outcome, status INVALID and velocity 0, for a
    controller must go on.

    Args:
        jacobian: J (m, nv).
        twist: What is asked of the tool (m,), in the axes of J [m/s, rad/s].
        lower: Lower bounds (nv,) [rad/s or m/s], may be -inf; None for none.
        upper: Upper bounds (nv,), may be inf; None for none.
        weights: Diagonal of W (m,), not negative; None is 1.
        damping: eps, positive.
        dq_ref: Velocity that is preferred (nv,); None for none.
        ref_weight: Its weight w, for `strict=False`.
        strict: Whether the preference comes strictly second: what the tool does is fixed first.
        mode: "least_squares", or "scale", which keeps the direction of the twist and shortens it.
        singularity_margin: sigma0, relative to the root of the sum of all squared singular values, below which a
            direction is held back, see `velocity_singularity`; 0 for the plain problem.
        dt: How long the velocity will be held [s]; the longer, the more is held back.
    """
    J = _as_float(jacobian, "jacobian")
    if J.ndim != 2:
        raise InputError(f"jacobian must have shape (m, nv), got {J.shape}")
    m, n = J.shape
    t = _as_float(twist, "twist")
    if t.shape != (m,):
        raise InputError(f"twist must have shape ({m},), a row of the jacobian each, got {t.shape}")
    low, high = _bounds(lower, upper, n)
    W = None if weights is None else vector(weights, m, "weights")
    if W is not None and (W < 0.0).any():
        raise InputError("weights must not be negative")
    if not isinstance(mode, str) or mode not in MODES:
        raise InputError(f"mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    reference = None if dq_ref is None else vector(dq_ref, n, "dq_ref")
    preference = Preference(reference, scalar(ref_weight, "ref_weight", minimum=0.0), flag(strict, "strict"))
    eps, margin = (
        scalar(damping, "damping", positive=True),
        scalar(singularity_margin, "singularity_margin", minimum=0.0),
    )
    held = scalar(dt, "dt", minimum=0.0)
    return solve_trusted(J, t, low, high, Manner(W, eps, mode == "scale", margin, held), preference)


def solve_trusted(
    J: Array, twist: Array, lower: Array, upper: Array, manner: Manner = PLAIN, preference: Preference = NOTHING
) -> VelocityResult:
    """`solve_velocity` of arrays that are known to fit."""
    if not (math.isfinite(J.sum()) and believable(twist)):
        return _none(
            J, twist, VelocityStatus.INVALID, f"the Jacobian or the twist is not finite, or beyond {LARGEST:g}"
        )
    share, dq = 1.0, None
    rows = None
    if manner.margin:
        rows = held_back(J, twist, lower, upper, manner.weights, manner.margin, manner.dt, manner.masked)
    if not J.shape[1]:
        dq = np.zeros(0)
    elif manner.scale:
        share, dq = _scaled(J, twist, rows, lower, upper, manner.damping, preference)
    else:
        dq = _least_squares(J, twist, rows, lower, upper, manner, preference)
        if dq is not None and preference.strict and preference.dq_ref is not None:
            dq = _second(J, dq, lower, upper, manner.weights, preference.dq_ref)
    if dq is None or not math.isfinite(dq.sum()):
        return _none(J, twist, VelocityStatus.FAILED, "no velocity found within the bounds")
    dq = np.minimum(np.maximum(dq, lower), upper)  # the solver keeps bounds to its own tolerance only
    error = J @ dq - twist
    missed = error if manner.weights is None else error * (manner.weights > 0.0)
    if missed.dot(missed) <= _MET**2 * max(1.0, float(twist.dot(twist))):
        return VelocityResult(dq, VelocityStatus.SOLVED, error, share)
    near = rows is not None
    return VelocityResult(dq, VelocityStatus.LIMITED, error, share, "near a singularity" if near else "", near)


@functools.cache
def _daqp() -> Any:
    try:
        import daqp
    except ImportError:
        return None
    return daqp.solve


def _least_squares(
    J: Array, twist: Array, rows: Array | None, lower: Array, upper: Array, manner: Manner, preference: Preference
) -> Array | None:
    weighted = J.T if manner.weights is None else J.T * manner.weights
    H, f = weighted @ J, -(weighted @ twist)
    H.flat[:: len(H) + 1] += manner.damping
    if rows is not None:
        H += rows.T @ rows
    if preference.dq_ref is not None and not preference.strict:
        H.flat[:: len(H) + 1] += preference.weight
        f -= preference.weight * preference.dq_ref
        if rows is not None:
            f -= rows.T @ (rows @ preference.dq_ref)
    return _minimum(H, f, lower, upper)


def _minimum(H: Array, f: Array, lower: Array, upper: Array) -> Array | None:
    """The least of x^T H x / 2 + f^T x within bounds."""
    solve = _daqp()
    if solve is None:
        return velocity_fallback.minimum(H, f, lower, upper)
    # tighter than daqp's own tolerances, which are made for problems of unknown scale
    found = _answer(solve(H, f, np.empty((0, len(f))), upper, lower, None, primal_tol=1e-10, dual_tol=1e-12))
    return velocity_fallback.minimum(H, f, lower, upper) if found is None else found


def _answer(found: tuple[Any, ...]) -> Array | None:
    return np.asarray(found[0], dtype=np.float64) if found[2] in _SOLVED else None


def _second(J: Array, dq: Array, lower: Array, upper: Array, W: Array | None, dq_ref: Array) -> Array:
    """The velocity nearest to dq_ref among those that move the tool as dq does; dq itself if there is trouble."""
    weighted = J if W is None else J[W > 0.0]
    rows = _row_space(weighted, 1e-7)
    solve = _daqp()
    if solve is None:
        return velocity_fallback.within_null_space(rows, dq, lower, upper, dq_ref)
    fixed = rows @ dq
    sense = np.zeros(len(dq) + len(rows), dtype=np.int32)
    sense[len(dq) :] = _EQUALITY
    low = np.concatenate((np.minimum(lower, dq), fixed))
    high = np.concatenate((np.maximum(upper, dq), fixed))
    found = _answer(solve(np.eye(len(dq)), -dq_ref, rows, high, low, sense, primal_tol=1e-10, dual_tol=1e-12))
    return dq if found is None else found


def _row_space(J: Array, least: float) -> Array:
    """Orthonormal rows (r, nv) of the motions that J sees: as equality rows they are never near-dependent."""
    if not J.size:
        return np.empty((0, J.shape[1]))
    _, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    return np.ascontiguousarray(Vt[sigma > least * max(sigma[0], 1e-300)])


def _scaled(
    J: Array,
    twist: Array,
    rows: Array | None,
    lower: Array,
    upper: Array,
    damping: float,
    preference: Preference,
) -> tuple[float, Array | None]:
    """Greatest share s of the twist that fits the bounds, and dq with J dq = s twist.

    dq = s p + N z, p the shortest velocity for the twist and N what J does not see: with columns of unit length that
    are orthogonal, rest is always allowed and no equality can be missed by rounding. With `rows`, p is the shortest
    least squares of the twist and of rest along the rows.
    """
    if rows is not None:
        J, twist = np.concatenate((J, rows)), np.concatenate((twist, np.zeros(len(rows))))
    U, sigma, Vt = np.linalg.svd(J)
    largest, n, solve = max(float(sigma.max(initial=0.0)), 1e-300), J.shape[1], _daqp()
    seen = np.flatnonzero(sigma > _LOST * largest)
    shortest = Vt[seen].T @ ((U[:, seen].T @ twist) / sigma[seen])
    if solve is None:
        return velocity_fallback.shortened(shortest, lower, upper)
    length = float(np.linalg.norm(shortest))
    blind = [i for i in range(n) if i >= len(sigma) or sigma[i] <= _BLIND * largest]
    A = Vt[blind].T if length == 0.0 else np.column_stack((shortest / length, Vt[blind].T))
    second = preference.dq_ref if preference.dq_ref is not None and (preference.strict or preference.weight) else None
    blend = 1.0 if preference.strict else preference.weight / (preference.weight + damping)
    H, f = np.eye(A.shape[1]), np.zeros(A.shape[1]) if second is None else -blend * (A.T @ second)
    free = np.full(A.shape[1], np.inf)
    low, high = np.concatenate((-free, lower)), np.concatenate((free, upper))
    if length > 0.0:
        # no more than the bounds hold all together, so that all numbers are of their size
        low[0], high[0] = 0.0, min(length, float(np.linalg.norm(np.maximum(-lower, upper))))
        f[0] -= _PULL * high[0]
    if not len(f):
        return 1.0, np.zeros(n)
    found = _answer(solve(H, f, np.ascontiguousarray(A), high, low, None, primal_tol=1e-9, dual_tol=1e-12))
    if found is None:  # where rest is the one thing allowed, rounding may hide it
        return velocity_fallback.shortened(shortest, lower, upper)
    return (1.0 if length == 0.0 else min(1.0, max(0.0, float(found[0]) / length))), A @ found


def _none(J: Array, twist: Array, status: VelocityStatus, message: str) -> VelocityResult:
    return VelocityResult(np.zeros(J.shape[1]), status, -twist, 0.0, message)


def _bounds(lower: Any, upper: Any, n: int) -> tuple[Array, Array]:
    found = []
    for value, name, default in ((lower, "lower", -np.inf), (upper, "upper", np.inf)):
        array = np.full(n, default) if value is None else with_infinity(value, n, name)
        found.append(array)
    if (found[0] > found[1]).any():
        at = int(np.argmax(found[0] > found[1]))
        raise InputError(f"lower must not exceed upper, got {found[0][at]} > {found[1][at]} at index {at}")
    for bound, closed, name in ((found[0], np.inf, "lower"), (found[1], -np.inf, "upper")):
        if (bound == closed).any():
            raise InputError(
                f"{name} must leave a finite velocity, got {closed} at index {int(np.argmax(bound == closed))}"
            )
    return found[0], found[1]
