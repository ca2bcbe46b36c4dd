"""Limits of joints along a course: positions, velocities, accelerations, jerks exactly, torques on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.piecewise import Peaks, Piecewise
from .course import Course, States
from .report import Check, moment, skipped
from .sampled import sampled_peaks

ROUNDING = 1e-9
"""A limit may be passed by this part of itself: rounding."""
KINDS = ("velocity", "acceleration", "jerk", "torque")
_UNITS = {"position": "", "velocity": "/s", "acceleration": "/s^2", "jerk": "/s^3"}


@dataclass(frozen=True, slots=True)
class Units:
    """Whether each degree of freedom is a length, for the units of messages."""

    lengths: tuple[bool, ...]

    def of(self, kind: str, column: int) -> str:
        """Unit of a kind of limit of one degree of freedom."""
        slides = self.lengths[column] if column < len(self.lengths) else False
        if kind == "torque":
            return "N" if slides else "N m"
        return ("m" if slides else "rad") + _UNITS[kind]


def position_check(course: Course, margin: float, units: Units) -> Check:
    """Positions within their limits by at least `margin` [rad or m]; between samples by the extrema of polynomials."""
    lower, upper = course.robot.limits.position
    if not np.isfinite([lower, upper]).any():
        return skipped("position", "the robot has no position limits")
    low, high = lower + margin, upper - margin
    path = course.path
    if path is None:
        above = _of_samples(course, course.trajectory.q, high)
        least = _of_samples(course, -course.trajectory.q, -low)
        below = Peaks(-least.value, least.time, least.over)
    else:
        below, above = path.peaks(low - _slack(low), high + _slack(high))
    excess = np.stack([above.value - high, low - below.value])
    excess = np.where(np.isfinite(excess), excess, -np.inf)
    side, column = np.unravel_index(int(excess.argmax()), excess.shape)
    bound = (high, low)[side][column]
    value, time = (above, below)[side].value[column], (above, below)[side].time[column]
    count = int((above.over | below.over).any(axis=1).sum())
    name, unit = course.robot.coordinate_names[column], units.of("position", int(column))
    word = ("upper", "lower")[side]
    less = f" less the margin of {margin:g}" if margin else ""
    message = f"{name} {_verb(count)} its {word} limit{less} {bound:.6g} {unit} with {value:.6g}"
    spare = float(-excess[side, column])
    return _check("position", count, float(value), float(bound), time, name, spare, unit, message)


def rate_check(course: Course, kind: str, scale: float, units: Units) -> Check:
    """Velocities, accelerations or jerks within `scale` times their limits, exactly between samples."""
    limits = scale * getattr(course.robot.limits, kind)
    peaks = rate_peaks(course, kind, limits)
    if peaks is None:
        return skipped(kind, "positions are straight between the samples, so there is no jerk")
    return _against(course, kind, peaks, limits, units)


def rate_peaks(course: Course, kind: str, limits: Array) -> Peaks | None:
    """Greatest absolute values of each degree of freedom; None where there is no such thing."""
    bound = limits + _slack(limits)
    straight = course.path is None or course.trajectory.interpolation == "linear"
    if straight and kind == "jerk":
        return None
    if straight and kind == "acceleration":
        return _of_samples(course, np.abs(course.ddq), bound)
    if straight:
        slopes = np.abs(course.steps) / course.spans[:, None]
        found = Peaks(slopes.max(axis=0), course.trajectory.t[slopes.argmax(axis=0)], slopes > bound)
        return (
            _larger(found, _of_samples(course, np.abs(course.dq), bound)) if "dq" in course.trajectory.given else found
        )
    poly = {"velocity": course.speed, "acceleration": course.acceleration}.get(kind)
    if kind == "jerk" and course.acceleration is not None:
        poly = course.acceleration.derivative()
    assert isinstance(poly, Piecewise)
    below, above = poly.peaks(-bound, bound)
    return _larger(Peaks(-below.value, below.time, below.over), above)


def torque_check(course: Course, torques: Callable[[States], Array], scale: float, units: Units) -> Check:
    """Torques of inverse dynamics within `scale` times their limits, on the grid of the course."""
    limits = scale * course.robot.limits.torque
    peaks = sampled_peaks(course, lambda states: np.abs(torques(states)), limits + _slack(limits))
    return _against(course, "torque", peaks, limits, units)


def _against(course: Course, kind: str, peaks: Peaks, limits: Array, units: Units) -> Check:
    finite = np.isfinite(limits)
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(limits > 0.0, peaks.value / limits, np.where(peaks.value > 0.0, np.inf, 0.0))
    column = int(np.where(finite, used, -1.0).argmax()) if finite.any() else int(peaks.value.argmax())
    value, limit = float(peaks.value[column]) + 0.0, float(limits[column])
    name, unit = course.robot.dof_names[column], units.of(kind, column)
    count = int(peaks.over.any(axis=1).sum())
    if not finite.any():
        message = f"no limits; greatest is {value:.6g} {unit} of {name}"
    else:
        message = f"{name} {_verb(count)} its limit {limit:.6g} {unit} with {value:.6g}"
    found = _check(kind, count, value, limit, peaks.time[column], name, limit - value, unit, message)
    return found if finite.any() else replace(found, judged=False)


def _check(
    kind: str, count: int, value: float, limit: float, time: Any, name: str, margin: float, unit: str, message: str
) -> Check:
    where = f"{message} at {moment(float(time))}" if math.isfinite(float(time)) else message
    return Check(kind, count == 0, value, limit, float(time), name, count, margin, unit, where)


def _verb(count: int) -> str:
    return "passes" if count else "keeps"


def _slack(limit: Array) -> Array:
    return np.where(np.isfinite(limit), ROUNDING * np.abs(limit) + 1e-12, 0.0)


def _of_samples(course: Course, values: Array, bound: Array) -> Peaks:
    """Peaks of values (N, n) at the samples; a sample counts for the interval after it."""
    at, columns = values.argmax(axis=0), np.arange(values.shape[1])
    over: Any = values > bound
    over = np.vstack([over[:-2], over[-2:].any(axis=0)[None]])
    return Peaks(values[at, columns], course.trajectory.t[at], over)


def _larger(a: Peaks, b: Peaks) -> Peaks:
    first = a.value >= b.value
    return Peaks(np.where(first, a.value, b.value), np.where(first, a.time, b.time), a.over | b.over)
