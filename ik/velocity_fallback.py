"""Joint velocities within bounds without daqp: always feasible, not always the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array

EXCHANGES = 10
"""Bounds taken or let go, per joint, before the search is broken off."""


def minimum(H: Array, f: Array, lower: Array, upper: Array) -> Array | None:
    """Small x^T H x / 2 + f^T x within bounds, by a primal active set: one bound is taken or let go at a time.

    The least where `EXCHANGES` per joint suffice; what has been reached by then otherwise.
    """
    x = np.minimum(np.maximum(np.zeros(len(f)), lower), upper)
    free = np.ones(len(f), dtype=bool)
    for _ in range(EXCHANGES * len(f)):
        try:
            goal = _free_minimum(H, f, x, free)
        except np.linalg.LinAlgError:
            return None
        step = goal - x
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0.0, (upper - x) / step, np.where(step < 0.0, (lower - x) / step, np.inf))
        worst = int(np.argmin(room))
        if room[worst] < 1.0:  # on the way there a bound is met: stop at it
            x = np.minimum(np.maximum(x + max(float(room[worst]), 0.0) * step, lower), upper)
            x[worst] = upper[worst] if step[worst] > 0.0 else lower[worst]
            free[worst] = False
            continue
        x = goal
        slope = H @ x + f
        pull = np.where(free | (lower == upper), 0.0, np.where(x >= upper, slope, -slope))
        least = int(np.argmax(pull))
        if not pull[least] > 1e-12 * (1.0 + float(np.abs(f).max(initial=0.0))):
            break
        free[least] = True
    return x


def _free_minimum(H: Array, f: Array, x: Array, free: NDArray[np.bool_]) -> Array:
    """The least over the free joints, the others held."""
    goal, held = x.copy(), ~free
    goal[free] = np.linalg.solve(H[np.ix_(free, free)], -f[free] - H[np.ix_(free, held)] @ x[held])
    return goal


def within_null_space(rows: Array, dq: Array, lower: Array, upper: Array, dq_ref: Array) -> Array:
    """Dq moved towards dq_ref along what `rows` (orthonormal) do not see, as far as the bounds let it go straight."""
    step = dq_ref - dq
    step = step - rows.T @ (rows @ step)
    share, _ = shortened(step, np.minimum(lower - dq, 0.0), np.maximum(upper - dq, 0.0))
    return np.asarray(dq + share * step)


def shortened(dq: Array, lower: Array, upper: Array) -> tuple[float, Array]:
    """The greatest share in [0, 1] of a velocity that fits the bounds, and what is left of it."""
    room = np.where(dq > 0.0, upper, lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(dq != 0.0, room / dq, 1.0)
    share = float(np.clip(shares.min(initial=1.0), 0.0, 1.0))
    return share, share * dq
