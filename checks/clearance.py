"""Clearance along a course, between the samples too: proven by halving, not sampled.

Let a stretch of the course have its middle at q_m, and let no degree of freedom travel farther than w_j from there
to either end. A pair of shapes that is d apart at q_m stays at least `d - sum_j r_j w_j` apart on the whole stretch,
r_j as in `robot.sweep`. So a stretch is free where every pair passes

    d > threshold + sum_j r_j w_j,

and is halved otherwise, until it is free, until its middle touches, or until the sum is below a tenth of the
resolution. What is left then is nearer than threshold + that, and counts as a violation, for it is not proven free.

The threshold is the margin that is asked for or, where the clearance is larger anyway, the least distance seen so far
less the resolution: so the least distance reported is the least there is to within the resolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.collision import Distance
from ..robot.sweep import Sweep
from .course import Course
from .report import Check, moment

_FINAL = 0.1
"""Part of the resolution at which halving ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """What was found."""

    nearest: Distance | None
    """The least distance seen; negative is a depth; None if everything is too far off to be measured."""
    time: float
    proven: float
    """No pair comes nearer than this anywhere [m]; -inf if that is not proven."""
    violated: NDArray[np.bool_]
    """Whether some pair is, or is not proven not to be, nearer than the margin within each interval (N - 1,)."""
    first: float
    """When the first violation was seen; NaN if there is none [s]."""
    evaluated: int
    """Number of configurations that were looked at."""


@dataclass(slots=True)
class _Stretches:
    """Parts of intervals that are not decided yet."""

    segment: NDArray[np.intp]
    begin: Array
    end: Array

    def middle(self) -> Array:
        return 0.5 * (self.begin + self.end)

    def halves(self, which: NDArray[np.bool_]) -> _Stretches:
        segment, begin, end = self.segment[which], self.begin[which], self.end[which]
        middle = 0.5 * (begin + end)
        return _Stretches(
            np.concatenate([segment, segment]), np.concatenate([begin, middle]), np.concatenate([middle, end])
        )


def clearance(course: Course, sweep: Sweep, margin: float, resolution: float = 1e-3) -> Clearance:
    """The least distance along a course, and where it is below `margin` [m]."""
    count = len(course.spans)
    open_ = _Stretches(np.arange(count), np.zeros(count), np.ones(count))
    violated, first = np.zeros(count, dtype=bool), np.inf
    best: Distance | None = None
    time, proven, evaluated = 0.0, np.inf, 0
    while len(open_.segment):
        middle = open_.middle()
        q = np.ascontiguousarray(course.configurations(open_.segment, middle))
        way = course.ways[open_.segment] * (0.5 * (open_.end - open_.begin))[:, None]
        evaluated += len(q)
        found = sweep.least(q, np.inf if best is None else best.value)
        if found is not None:
            best, k = found[1], found[0]
            time = float(course.trajectory.t[open_.segment[k]] + middle[k] * course.spans[open_.segment[k]])
        threshold = margin if best is None else max(margin, best.value - resolution)
        proven = min(proven, threshold)
        near = sweep.approached(q, way, threshold)
        hit = np.zeros(len(q), dtype=bool)
        if best is not None and best.value <= margin:
            suspects = np.flatnonzero(near)
            hit[suspects] = sweep.touching(q[suspects], margin)
        done = near & ~hit & (sweep.closing(way) < _FINAL * resolution)
        lost = hit | done
        if lost.any():
            violated[open_.segment[lost]] = True
            times = course.trajectory.t[open_.segment[lost]] + middle[lost] * course.spans[open_.segment[lost]]
            first = min(first, float(times.min()))
        open_ = open_.halves(near & ~lost & ~violated[open_.segment])
    certain = -np.inf if violated.any() else proven
    return Clearance(best, time, certain, violated, first if violated.any() else np.nan, evaluated)


def clearance_check(name: str, found: Clearance, margin: float) -> Check:
    """The verdict on what was found."""
    count = int(found.violated.sum())
    if found.nearest is None or found.nearest.links is None:
        if count == 0:
            free = "everything is too far off for a distance to be measured"
            return Check(name, True, math.inf, margin, math.nan, "", 0, math.inf, "m", free)
        message = "no distance can be measured, and it is not proven free"
        return Check(name, False, math.nan, margin, found.first, "", count, -math.inf, "m", message)
    value = found.nearest.value
    pair = " and ".join(found.nearest.links)
    at = f"at {moment(found.time)}"
    if not count:
        message = f"{pair} are nearest, {value:.4g} m apart {at}; nothing comes nearer than {found.proven:.4g} m"
    elif value < 0:
        message = f"{pair} overlap by {-value:.4g} m {at}; first contact seen at {moment(found.first)}"
    elif value > margin:
        message = f"{pair} graze: {value:.4g} m apart {at}, not proven to keep the {margin:g} m asked for"
    else:
        message = f"{pair} come within {value:.4g} m {at}, {margin:g} m asked for; first at {moment(found.first)}"
    return Check(name, not count, value, margin, found.time, pair, count, value - margin, "m", message)
