"""The laws of admittance on plain arrays: a mass, a spring and a damper, exactly sampled, and the filter form.

    M x'' + D x' + K x = F          x = offset from the reference, F = wrench_ext - wrench_ref

axis by axis. Every array is (..., ) per axis; units are those of the axis, [m, N] or [rad, N m]. Two ways to sample it:

    exact        [x; v]+ = [[P11, P12], [P21, P22]] [x; v] + [Gx; Gv] F, F held for dt
    filter form  x_k = (1 - lam) x_(k-1) + C f_k, f = F through a first-order filter of cutoff w

The second is the scheme of the Cartesian admittance task of OpenSoT; it is the first to within 0.2 lam F/K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError

_SERIES_BELOW = 0.1
"""Where the position gained from a force is summed as a power series: the closed forms cancel there."""
_CRITICAL = 1e-6
"""Least |a^2 - W| dt^2 at which the roots count as two different ones."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactStep:
    """The exact response over dt to a state and a force held, one entry per axis.

    Attributes:
        p11: Offset kept from the offset [-].
        p12: Offset gained from the velocity [s].
        p21: Velocity gained from the offset [1/s].
        p22: Velocity kept [-].
        gx: Offset gained from the force [m/N or rad/(N m)].
        gv: Velocity gained from the force [m/(s N) or rad/(s N m)].
    """

    p11: Array
    p12: Array
    p21: Array
    p22: Array
    gx: Array
    gv: Array

    def advance(self, x: Array, v: Array, force: Array) -> tuple[Array, Array]:
        """Offset and velocity dt later, all (..., n)."""
        return (
            self.p11 * x + self.p12 * v + self.gx * force,
            self.p21 * x + self.p22 * v + self.gv * force,
        )


def exact_step(inertia: Array, damping: Array, stiffness: Array, dt: float) -> ExactStep:
    """Zero-order hold of `M x'' + D x' + K x = F` over dt, the matrix exponential written out.

    Args:
        inertia: M > 0 (n,) [kg or kg m^2].
        damping: D >= 0 (n,) [N s/m or N m s/rad].
        stiffness: K >= 0 (n,) [N/m or N m/rad].
        dt: [s].
    """
    axes = [_one_axis(float(m), float(d), float(k), dt) for m, d, k in zip(inertia, damping, stiffness, strict=True)]
    return ExactStep(*(np.array(column) for column in zip(*axes, strict=True)))


def response(step: ExactStep, force: Array) -> Array:
    """Offsets (N, n) from rest under forces (N, n), each held for dt: the first is 0, the last force has no effect."""
    x, v = np.zeros(force.shape[1]), np.zeros(force.shape[1])
    rows = []
    for now in force:
        rows.append(x)
        x, v = step.advance(x, v, now)
    return np.array(rows).reshape(force.shape)


def _one_axis(M: float, D: float, K: float, dt: float) -> tuple[float, ...]:
    """P11, P12, P21, P22, Gx, Gv of one axis; a = D/2M, W = K/M, z = (a^2 - W) dt^2."""
    a, W = D / (2.0 * M), K / M
    z = (a * a - W) * dt * dt
    p1 = p2 = 0.0
    if z > _CRITICAL:
        s = math.sqrt(a * a - W)
        p2 = -(a + s)
        p1 = -W / (a + s)  # not -a + s, which cancels where the spring is soft
        S = -math.exp(p1 * dt) * math.expm1((p2 - p1) * dt) / (p1 - p2)
        C = (math.exp(p1 * dt) + math.exp(p2 * dt)) / 2.0
    elif z < -_CRITICAL:
        w = math.sqrt(W - a * a)
        S, C = math.exp(-a * dt) * math.sin(w * dt) / w, math.exp(-a * dt) * math.cos(w * dt)
    else:
        S, C = math.exp(-a * dt) * dt * (1.0 + z / 6.0), math.exp(-a * dt) * (1.0 + z / 2.0)
    P11, Gv = C + a * S, S / M
    if (D * dt + K * dt * dt) / M < _SERIES_BELOW:
        Gx = _series(M, D, K, dt)
    elif z > _CRITICAL:
        Gx = (_held(p1, dt) - _held(p2, dt)) / ((p1 - p2) * M)
    else:
        Gx = (1.0 - P11) / K
    return P11, S, -W * S, C - a * S, Gx, Gv


def _held(p: float, dt: float) -> float:
    """Integral of exp(p t) over dt."""
    return math.expm1(p * dt) / p if p != 0.0 else dt


def _series(M: float, D: float, K: float, dt: float) -> float:
    """Offset after dt under a unit force from rest, as a power series in dt."""
    c, total = [0.0, 0.0], 0.0
    for n in range(8):
        c.append(((n == 0) - D * (n + 1) * c[n + 1] - K * c[n]) / (M * (n + 1) * (n + 2)))
        total += c[-1] * dt ** (n + 2)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class FilterForm:
    """Parameters of the filter form, one entry per axis.

    Attributes:
        compliance: C [m or rad per tick, per N or N m].
        cutoff: w of the filter [rad/s].
        lam: Position feedback per tick, in [0, 1].
        dt: [s].
    """

    compliance: Array
    cutoff: Array
    lam: float
    dt: float

    @property
    def inertia(self) -> Array:
        """M = dt/(C w)."""
        return self.dt / (self.compliance * self.cutoff)

    @property
    def damping(self) -> Array:
        """D = dt/C + lam/(C w)."""
        return self.dt / self.compliance + self.lam / (self.compliance * self.cutoff)

    @property
    def stiffness(self) -> Array:
        """K = lam/C; 0 without position feedback."""
        return self.lam / self.compliance


def filter_form(stiffness: Array, damping: Array, lam: float, dt: float) -> FilterForm:
    """The filter form that behaves like K and D: alpha = lam/dt, C = lam/K, M = D/alpha - K/alpha^2, w = dt/(C M).

    A larger lam makes a lighter M. The form is never underdamped: D = alpha M + K/alpha.

    Raises:
        InputError: for lam outside (0, 1], a stiffness or damping that is not positive, or D <= K dt/lam, which
            leaves no mass.
    """
    if not 0.0 < lam <= 1.0:
        raise InputError(f"lam must be in (0, 1], got {lam:g}")
    if not (stiffness > 0.0).all():
        raise InputError(f"stiffness must be positive in the filter form, got {stiffness.min():g}")
    least = stiffness * dt / lam
    if not (damping > least).all():
        axis = int(np.argmax(damping <= least))
        raise InputError(
            f"damping must exceed stiffness dt/lam = {least[axis]:g} on axis {axis}, got {damping[axis]:g}; "
            "raise damping or lam, or lower stiffness or dt"
        )
    alpha = lam / dt
    C = lam / stiffness
    M = damping / alpha - stiffness / alpha**2
    return FilterForm(C, dt / (C * M), lam, dt)


def raw_form(compliance: Array, cutoff: Array, lam: float, dt: float) -> FilterForm:
    """The filter form from its own parameters; lam = 0 leaves no spring.

    Raises:
        InputError: for a compliance or cutoff that is not positive, or lam outside [0, 1].
    """
    for name, value in (("compliance", compliance), ("cutoff", cutoff)):
        if not (value > 0.0).all():
            raise InputError(f"{name} must be positive, got {value.min():g}")
    if not 0.0 <= lam <= 1.0:
        raise InputError(f"lam must be in [0, 1], got {lam:g}")
    return FilterForm(compliance, cutoff, lam, dt)


def dead_zone(wrench: Array, band: Array) -> Array:
    """The wrench with its band taken off: 0 within, continuous beyond (..., n)."""
    inside: Array = np.minimum(np.maximum(wrench, -band), band)
    return wrench - inside
