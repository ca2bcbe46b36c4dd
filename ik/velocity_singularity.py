"""Joint velocities near singularities: what the tool can hardly do is asked for less and less.

The least squares of a twist use whatever speed is left where the tool loses a direction, and turn it round at every
step that crosses the singularity. With J = U diag(sigma) V^T, metres and radians levelled, directions below sigma0
are held back by

    + sum_i p_i (v_i . (dq - dq_ref))^2,  p_i = |J v_i|^2/sigma_i^2 beta^2 (1 - (sigma_i/sigma0)^2)

so that alone they move at t sigma/(sigma^2 + beta^2) instead of t/sigma; every other direction stays as it was, and
all of them do where sigma_min >= sigma0. Damping of the directions concerned alone: A. Maciejewski, C. Klein,
"Numerical filtering for the operation of robotic manipulators through kinematically singular configurations", Journal
of Robotic Systems 5(6), 1988. beta is sigma0/2, or more for long steps: with sigma = c theta beside the singularity
theta approaches it by the share c t dt/beta^2 of itself in a step, which must stay below 1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ..robot.arrays import Array

MARGIN = 0.02
"""Default of sigma0, relative to the root of the sum of all sigma^2."""
_BLIND = 1e-9
"""Singular value, likewise relative, below which the tool does not move at all and nothing has to be held back."""
_LEVERS = (1e-2, 1e3)
"""Between which metres are levelled against radians [m]."""


def held_back(
    J: Array,
    twist: Array,
    lower: Array,
    upper: Array,
    weights: Array | None,
    margin: float,
    dt: float,
    masked: bool = True,
) -> Array | None:
    """Rows (k, nv), the length of each the root of its p_i; None where nothing is near singular.

    Args:
        J: Jacobian (m, nv).
        twist: What is asked (m,).
        lower: Bounds (nv,): joints that may not move are no help.
        upper: Likewise.
        weights: Of the rows of J (m,); None is 1.
        margin: sigma0, relative.
        dt: How long the velocity is held [s]; 0 for none.
        masked: Whether some joints may not move at all.
    """
    if weights is not None:
        root = np.sqrt(weights)
        J, twist = J * root[:, None], twist * root
    if len(J) == 6 <= J.shape[1] and not masked and _regular(J, margin):
        return None
    levels = _levels(J)
    scaled = J if levels is None else J * levels[:, None]
    if masked:
        scaled = np.where(lower == upper, 0.0, scaled)
    square = float((scaled * scaled).sum())
    sigma0 = margin * math.sqrt(square)
    if square == 0.0:
        return None
    _, sigma, Vt = np.linalg.svd(scaled, full_matrices=False)
    near = (sigma < sigma0) & (sigma > _BLIND * sigma[0])
    if not near.any():
        return None
    sigma, V = sigma[near], Vt[near]
    asked = float(np.linalg.norm(twist if levels is None else twist * levels))
    beta2 = max(0.25 * sigma0 * sigma0, 2.0 * math.sqrt(square) * asked * dt)
    gain2 = np.square(V @ J.T).sum(axis=1) / (sigma * sigma)
    rows: Array = np.sqrt(gain2 * beta2 * (1.0 - np.square(sigma / sigma0)))[:, None] * V
    return rows


def _levels(J: Array) -> Array | None:
    """Factors of the rows (6,) that make radians metres; None where rows are no twist."""
    if len(J) != 6:
        return None
    squares = (J * J).sum(axis=1)
    linear, angular = float(squares[:3].sum()), float(squares[3:].sum())
    if angular == 0.0 or linear == 0.0:
        return None
    lever = min(max(math.sqrt(linear / angular), _LEVERS[0]), _LEVERS[1])
    return np.array((1.0, 1.0, 1.0, lever, lever, lever))


def _regular(J: Array, margin: float) -> bool:
    """Whether tr((S J J^T S)^-1) sigma0^2 <= 1, which proves that no singular value is below sigma0.

    S are the levels; False tells nothing. The cheap way to know where nothing has to be held back: almost everywhere.
    """
    G = J @ J.T
    a, b, c, d, e, f = G.diagonal().tolist()
    linear, angular = a + b + c, d + e + f
    if linear == 0.0 or angular == 0.0:
        return False
    lever2 = min(max(linear / angular, _LEVERS[0] ** 2), _LEVERS[1] ** 2)
    factor, failed = dpotrf(G, lower=1, clean=0)
    if failed:
        return False
    a, b, c, d, e, f = dpotri(factor, lower=1, overwrite_c=1)[0].diagonal().tolist()
    return bool(0.0 < (a + b + c + (d + e + f) / lever2) * margin * margin * (linear + lever2 * angular) <= 1.0)
