"""Piecewise polynomials: motions between samples, with bounds that hold and extrema that are exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from .arrays import Array

_HALVINGS = 26
"""Of an interval that holds a root: 1e-8 of it is left, and an extremum is off by the square of that."""


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
    """Polynomials p_i(u) = sum_k coefficients[k, i] u^k, with u from 0 to 1 over segment i."""

    t: Array
    """Ends of the segments (N,), increasing [s]."""
    coefficients: Array
    """(degree + 1, N - 1, n)."""

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return len(self.coefficients) - 1

    def derivative(self) -> Piecewise:
        """The derivative by time."""
        c = self.coefficients
        if self.degree == 0:
            return Piecewise(self.t, np.zeros_like(c))
        powers = np.arange(1, self.degree + 1)[:, None, None]
        return Piecewise(self.t, c[1:] * (powers / np.diff(self.t)[None, :, None]))

    def locate(self, times: Array) -> tuple[NDArray[np.intp], Array]:
        """Segment (M,) and u (M,) of each time; a time between two segments belongs to the later one."""
        i = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        return i, (times - self.t[i]) / (self.t[i + 1] - self.t[i])

    def evaluate(self, segment: NDArray[np.intp], u: Array) -> Array:
        """Values (M, n) at u (M,) of the segments (M,)."""
        c, u = self.coefficients, u[:, None]
        value: Array = c[-1][segment]
        for k in range(self.degree - 1, -1, -1):
            value = value * u + c[k][segment]
        return value

    def ends(self) -> tuple[Array, Array]:
        """Values at the beginning and at the end of every segment (N - 1, n)."""
        last = self.coefficients[0].copy()
        for c in self.coefficients[1:]:
            last += c
        return self.coefficients[0], last

    def hull(self) -> tuple[Array, Array]:
        """Lower and upper bound of every segment (N - 1, n): least and greatest Bernstein coefficient.

        A polynomial on [0, 1] lies within the convex hull of those (Farin, Curves and Surfaces for CAGD, section 5).
        """
        low, high = (end.copy() for end in (self.coefficients[0], self.coefficients[0]))
        for row in _to_bernstein(self.degree)[1:]:
            b = self.coefficients[0].copy()
            for factor, c in zip(row[1:], self.coefficients[1:], strict=True):
                if factor:
                    b += factor * c
            np.minimum(low, b, out=low)
            np.maximum(high, b, out=high)
        return low, high

    def peaks(self, lower: Array, upper: Array) -> tuple[Peaks, Peaks]:
        """Least and greatest value of each column, and the segments that pass `lower` or `upper` (n,), all exact.

        Where no Bernstein coefficient passes both the bound and the greatest value at the ends of segments, there is
        nothing to be found; everywhere else the extrema are computed. Values and bounds of the least are as they are.
        """
        first, last = self.ends()
        low, high = self.hull()
        below = self._greatest(-first, -last, -low, -lower, -1.0)
        above = self._greatest(first, last, high, upper, 1.0)
        return Peaks(-below.value, below.time, below.over), above

    def _greatest(self, first: Array, last: Array, high: Array, bound: Array, sign: float) -> Peaks:
        """Peaks of the polynomials times `sign`, of which values at ends, upper bounds and the bound are given."""
        most = np.maximum(first, last)
        best = most.max(axis=0)
        worth = (high > best + 1e-13 * (1.0 + np.abs(best))) | ((high > bound) & (most <= bound))
        segment, column = np.nonzero(worth)
        inner, where = _greatest(sign * self.coefficients[:, segment, column].T)
        ends = most[segment, column]
        most[segment, column] = np.maximum(inner, ends)
        at, columns = most.argmax(axis=0), np.arange(most.shape[1])
        u = np.where(last[at, columns] > first[at, columns], 1.0, 0.0)
        for k in np.flatnonzero((segment == at[column]) & (inner >= ends)):
            u[column[k]] = where[k]
        time = self.t[at] + u * (self.t[at + 1] - self.t[at])
        return Peaks(most[at, columns], time, most > bound)


@cache
def _to_bernstein(degree: int) -> Array:
    """Matrix that takes coefficients of powers to those of Bernstein's polynomials."""
    return np.array(
        [[comb(i, k) / comb(degree, k) if k <= i else 0.0 for k in range(degree + 1)] for i in range(degree + 1)]
    )


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
    if not len(c):
        return np.zeros(0), np.zeros(0)
    points = _turning_points(c)
    values = _values(c, points)
    at = values.argmax(axis=1)[:, None]
    return np.take_along_axis(values, at, 1)[:, 0], np.take_along_axis(points, at, 1)[:, 0]


def linear(t: Array, q: Array) -> Piecewise:
    """Straight from sample to sample."""
    return Piecewise(t, np.stack([q[:-1], np.diff(q, axis=0)]))


def cubic(t: Array, q: Array, dq: Array) -> Piecewise:
    """Cubics that meet q and dq at the samples (Hermite): dq is continuous."""
    h = np.diff(t)[:, None]
    q0, step, v0, v1 = q[:-1], np.diff(q, axis=0), h * dq[:-1], h * dq[1:]
    return Piecewise(t, np.stack([q0, v0, 3 * step - 2 * v0 - v1, v0 + v1 - 2 * step]))


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
    return Piecewise(t, np.stack([q0, v0, 0.5 * a0, third, fourth, fifth]))
