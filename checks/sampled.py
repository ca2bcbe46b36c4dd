"""Greatest values along a course of what is no polynomial: torques, speeds of the tool, singular values.

They are evaluated on the grid of the course. Where the parabola through a state and its neighbours rises above a
bound that the states keep, and at the greatest of all, the two intervals around are evaluated four times as densely,
and around the best of these once more. This finds what passes a bound by more than the error of a parabola over a
hundredth of 0.05 rad; unlike the extrema of polynomials it is no proof.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.piecewise import Peaks
from .course import Course, States

Function = Callable[[States], Array]
"""Values (M, k) of M states."""
_DENSER = 9
_ROUNDS = 2
_MOST = 256


def sampled_peaks(course: Course, function: Function, bound: Array) -> Peaks:
    """Greatest value of each of the k columns and the segments in which it passes its bound (k,)."""
    grid = course.grid
    values = function(grid)
    over = np.zeros((len(course.spans), values.shape[1]), dtype=bool)
    _mark(over, grid.segment, values > bound)
    at, columns = values.argmax(axis=0), np.arange(values.shape[1])
    best, time = values[at, columns], grid.t[at]
    for states, found in _refined(course, function, grid.t, _worth_a_look(values, bound)):
        _mark(over, states.segment, found > bound)
        k = found.argmax(axis=0)
        better = found[k, columns] > best
        best, time = np.where(better, found[k, columns], best), np.where(better, states.t[k], time)
    return Peaks(best, time, over)


def _mark(over: NDArray[np.bool_], segment: NDArray[np.intp], passed: NDArray[np.bool_]) -> None:
    """Note the segments in which something is passed."""
    row, column = np.nonzero(passed)
    over[segment[row], column] = True


def _worth_a_look(values: Array, bound: Array) -> NDArray[np.intp]:
    """Numbers of states around which more may be found."""
    if len(values) < 2:
        return np.zeros(0, dtype=np.intp)
    padded = np.vstack([values[:1], values, values[-1:]])
    before, after = padded[:-2], padded[2:]
    bend, lean = before - 2.0 * values + after, after - before
    peak = (values >= before) & (values >= after)
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(peak & (bend < 0.0), values - lean**2 / (8.0 * bend), values)
    vertex = vertex + 0.25 * np.abs(bend)  # what the parabola may be off
    hopeful = peak & (values <= bound) & (vertex > bound)
    rows = np.flatnonzero(hopeful.any(axis=1))
    if len(rows) > _MOST:
        nearest = (vertex[rows] - bound).max(axis=1)
        rows = rows[np.argsort(-nearest)[:_MOST]]
    return np.unique(np.concatenate([rows, values.argmax(axis=0)]))


def _refined(course: Course, function: Function, times: Array, rows: NDArray[np.intp]) -> list[tuple[States, Array]]:
    """States around some of the times, and their values."""
    low, high = times[np.maximum(rows - 1, 0)], times[np.minimum(rows + 1, len(times) - 1)]
    done = []
    for _ in range(_ROUNDS):
        if not len(low):
            break
        dense = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _DENSER)
        states = course.at(dense.ravel())
        values = function(states)
        done.append((states, values))
        width = (high - low) / (_DENSER - 1)
        best = np.unique(values.reshape(len(low), _DENSER, -1).argmax(axis=1) + _DENSER * np.arange(len(low))[:, None])
        width = width[best // _DENSER]
        centre = states.t[best]
        low = np.maximum(centre - width, times[0])
        high = np.minimum(centre + width, times[-1])
    return done
