"""Piecewise polynomials: motions between samples, with bounds that hold and extrema that are exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from .arrays import Array

_HALVINGS = 40
"""Of an interval that holds a root: 1e-12 of it is left, and an extremum is off by the square of that."""


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Greatest values of the columns of a piecewise polynomial."""

    value: Array
    """(n,)."""
    time: Array
    """Where (n,) [s]."""
    over: NDArray[np.bool_]
    """Whether a column passes its bound within a segment (N - 1, n)."""


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise:
    """Polynomials p_i(u) = sum_k coefficients[i, k] u^k, with u from 0 to 1 over segment i."""

    t: Array
    """Ends of the segments (N,), increasing [s]."""
    coefficients: Array
    """(N - 1, degree + 1, n)."""

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return self.coefficients.shape[1] - 1

    def derivative(self) -> Piecewise:
        """The derivative by time."""
        c = self.coefficients
        if self.degree == 0:
            return Piecewise(self.t, np.zeros_like(c))
        powers = np.arange(1, self.degree + 1)[None, :, None]
        return Piecewise(self.t, c[:, 1:] * powers / np.diff(self.t)[:, None, None])

    def locate(self, times: Array) -> tuple[NDArray[np.intp], Array]:
        """Segment (M,) and u (M,) of each time; a time between two segments belongs to the later one."""
        i = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        return i, (times - self.t[i]) / (self.t[i + 1] - self.t[i])

    def evaluate(self, segment: NDArray[np.intp], u: Array) -> Array:
        """Values (M, n) at u (M,) of the segments (M,)."""
        c, u = self.coefficients[segment], u[:, None]
        value = c[:, -1]
        for k in range(self.degree - 1, -1, -1):
            value = value * u + c[:, k]
        return value

    def hull(self) -> tuple[Array, Array]:
        """Lower and upper bound of every segment (N - 1, n): least and greatest Bernstein coefficient.

        A polynomial on [0, 1] lies within the convex hull of those (Farin, Curves and Surfaces for CAGD, section 5).
        """
        b = np.einsum("ij,njk->nik", _to_bernstein(self.degree), self.coefficients)
        return b.min(axis=1), b.max(axis=1)

    def peaks(self, bound: Array) -> Peaks:
        """Greatest value of each column, and the segments in which it passes `bound` (n,), all exact.

        Where no Bernstein coefficient passes both the bound and the greatest value at the ends of segments, there is
        nothing to be found; everywhere else the extrema are computed.
        """
        first, last = self.coefficients[:, 0], self.coefficients.sum(axis=1)
        at_ends = np.maximum(first, last)
        high = self.hull()[1]
        best = at_ends.max(axis=0)
        slack = 1e-13 * (1.0 + np.abs(best))
        segment, column = np.nonzero((high > best + slack) | ((high > bound) & (at_ends <= bound)))
        inner, where = _greatest(self.coefficients[segment, :, column])
        most = at_ends.copy()
        most[segment, column] = np.maximum(inner, at_ends[segment, column])
        u = np.where(last > first, 1.0, 0.0)
        u[segment, column] = np.where(inner >= at_ends[segment, column], where, u[segment, column])
        at, columns = most.argmax(axis=0), np.arange(most.shape[1])
        time = self.t[at] + u[at, columns] * np.diff(self.t)[at]
        return Peaks(most[at, columns], time, most > bound)

    def negative(self) -> Piecewise:
        """The polynomials with the opposite sign."""
        return Piecewise(self.t, -self.coefficients)


@cache
def _to_bernstein(degree: int) -> Array:
    """Matrix that takes coefficients of powers to those of Bernstein's polynomials."""
    return np.array([[comb(i, k) / comb(degree, k) if k <= i else 0.0 for k in range(degree + 1)] for i in range(degree + 1)])


def _values(c: Array, u: Array) -> Array:
    """Polynomials (K, d + 1) at points (K, m)."""
    value = np.repeat(c[:, -1:], u.shape[1], axis=1)
    for k in range(c.shape[1] - 2, -1, -1):
        value = value * u + c[:, k : k + 1]
    return value


def _turning_points(c: Array) -> Array:
    """Points (K, m) of [0, 1], ends included, between which each of the polynomials (K, d + 1) is monotone."""
    ends = np.tile([0.0, 1.0], (len(c), 1))
    if c.shape[1] <= 2:
        return ends
    slope = c[:, 1:] * np.arange(1, c.shape[1])
    breaks = _turning_points(slope)  # the slope has at most one root between two of them
    low, high = breaks[:, :-1].copy(), breaks[:, 1:].copy()
    falling = _values(slope, low) > 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        left = (_values(slope, middle) > 0.0) == falling
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return np.hstack([ends[:, :1], 0.5 * (low + high), ends[:, 1:]])


def _greatest(c: Array) -> tuple[Array, Array]:
    """Greatest values (K,) of the polynomials (K, d + 1) on [0, 1], and where (K,)."""
    points = _turning_points(c)
    values = _values(c, points)
    at = values.argmax(axis=1)[:, None]
    return np.take_along_axis(values, at, 1)[:, 0], np.take_along_axis(points, at, 1)[:, 0]


def linear(t: Array, q: Array) -> Piecewise:
    """Straight from sample to sample."""
    return Piecewise(t, np.stack([q[:-1], np.diff(q, axis=0)], axis=1))


def cubic(t: Array, q: Array, dq: Array) -> Piecewise:
    """Cubics that meet q and dq at the samples (Hermite): dq is continuous."""
    h = np.diff(t)[:, None]
    q0, step, v0, v1 = q[:-1], np.diff(q, axis=0), h * dq[:-1], h * dq[1:]
    return Piecewise(t, np.stack([q0, v0, 3 * step - 2 * v0 - v1, v0 + v1 - 2 * step], axis=1))


def quintic(t: Array, q: Array, dq: Array, ddq: Array) -> Piecewise:
    """Quintics that meet q, dq and ddq at the samples (Hermite): ddq is continuous."""
    h = np.diff(t)[:, None]
    q0, step, v0, v1 = q[:-1], np.diff(q, axis=0), h * dq[:-1], h * dq[1:]
    a0, a1 = h**2 * ddq[:-1], h**2 * ddq[1:]
    rest, dv = step - v0 - 0.5 * a0, v1 - v0 - a0
    da = a1 - a0
    third = 10 * rest - 4 * dv + 0.5 * da
    fourth = -15 * rest + 7 * dv - da
    fifth = 6 * rest - 3 * dv + 0.5 * da
    return Piecewise(t, np.stack([q0, v0, 0.5 * a0, third, fourth, fifth], axis=1))
