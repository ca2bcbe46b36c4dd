"""Whether the samples of a course are one motion: time steps, and jumps that no bounded acceleration explains."""

from __future__ import annotations

import math

import numpy as np

from ..robot.arrays import Array
from ..robot.trajectory_arrays import CLOSEST
from .course import Course
from .limits import Units
from .report import Check, moment

FASTEST = 100.0
"""Where a joint has no velocity limit, no joint is taken to be faster than this [rad/s or m/s]."""
ALLOWANCE = 10.0
"""A jump is what takes more than this many times the acceleration limit."""


def time_check(course: Course) -> Check:
    """Times increase; a Trajectory holds no others, so this says how evenly."""
    h = course.spans
    at = int(h.argmin())
    even = np.ptp(h) < 1e-6 * h.mean()
    steps = f"even steps of {h.mean():.6g} s" if even else f"uneven steps of {h.min():.6g} to {h.max():.6g} s"
    message = f"times increase in {steps}"
    t = float(course.trajectory.t[at])
    return Check("time", True, float(h[at]), CLOSEST, t, "", 0, float(h[at]) - CLOSEST, "s", message)


def continuity_check(course: Course, units: Units) -> Check:
    """Positions and velocities do not jump.

    Over an interval h in which |ddq| <= a, the mean velocity differs from the mean of the velocities at its ends by no
    more than a h/4, and the mean velocities of neighbouring intervals differ by no more than a (h + h')/2; where
    |dq| <= v, both by no more than 2 v. The least of `ALLOWANCE` times the former and the latter is the bound. Where
    velocities are not given, an interval jumps if its mean velocity differs from those of both neighbours.
    """
    limits = course.robot.limits
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, FASTEST)
    jump, bound = _jumps(course, speed, limits.acceleration)
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(bound > 0.0, jump / bound, np.where(jump > 1e-12, np.inf, 0.0))
    over = used > 1.0
    count = int(over.any(axis=1).sum())
    row, column = np.unravel_index(int(used.argmax()), used.shape) if used.size else (0, 0)
    name, unit = course.robot.dof_names[int(column)], units.of("velocity", int(column))
    value, limit = (float(jump[row, column]), float(bound[row, column])) if used.size else (0.0, math.inf)
    time = float(course.trajectory.t[row])
    if count:
        step = float(course.steps[row, column])
        message = (
            f"{name} jumps: {step:.6g} {units.of('position', int(column))} in {course.spans[row]:.6g} s, "
            f"{value:.6g} {unit} off what its neighbours say, {limit:.6g} allowed, at {moment(time)}"
        )
    else:
        message = (
            f"no jumps; greatest deviation of a mean velocity is {value:.6g} {unit} of {name}, {limit:.6g} allowed"
        )
    return Check("continuity", not count, value, limit, time, name, count, limit - value, unit, message)


def _jumps(course: Course, speed: Array, acceleration: Array) -> tuple[Array, Array]:
    """What the velocities are off and what they may be, one row an interval (N - 1, nv)."""
    h = course.spans[:, None]
    slopes = course.steps / h
    if "dq" in course.trajectory.given:
        off = np.abs(slopes - 0.5 * (course.dq[:-1] + course.dq[1:]))
        return off, np.minimum(_times(ALLOWANCE * h / 4.0, acceleration), 2.0 * speed)
    off, bound = np.zeros_like(slopes), np.full_like(slopes, math.inf)
    if len(slopes) > 1:
        between = np.abs(np.diff(slopes, axis=0))
        before, after = np.vstack([between[:1], between]), np.vstack([between, between[-1:]])
        off = np.minimum(before, after)
        width = np.minimum(np.vstack([h[:1], h[:-1]]), np.vstack([h[1:], h[-1:]])) + h
        bound = np.minimum(_times(ALLOWANCE * width / 2.0, acceleration), 2.0 * speed)
    return off, bound


def _times(factor: Array, limit: Array) -> Array:
    return np.where(np.isfinite(limit), factor * np.where(np.isfinite(limit), limit, 0.0), math.inf)
