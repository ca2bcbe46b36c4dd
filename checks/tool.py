"""The tool along a course: how fast it moves, how near it comes to singularities, whether it ends at its goal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import unknown_name
from ..robot.spatial import ReferenceFrame
from ..robot.tolerance import ToleratedPose
from ..robot.transformation import Transformation
from .course import Course, States
from .limits import ROUNDING
from .report import Check, moment, skipped
from .sampled import sampled_peaks


def tool_jacobians(course: Course, states: States, frame: str) -> Array:
    """Jacobians (M, 6, nv) of a frame, world axes."""
    return course.robot.frame_jacobian_batch(np.ascontiguousarray(states.q), frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)


def speed_checks(course: Course, frame: str, linear: float, angular: float) -> list[Check]:
    """Speed of the origin of a frame [m/s] and of its rotation [rad/s], on the grid of the course."""

    def speeds(states: States) -> Array:
        twist = (tool_jacobians(course, states, frame) @ states.dq[:, :, None])[:, :, 0]
        return np.asarray(np.linalg.norm(twist.reshape(-1, 2, 3), axis=2))

    limits = np.array([linear, angular])
    peaks = sampled_peaks(course, speeds, limits * (1.0 + ROUNDING))
    checks = []
    for k, (name, verb, unit) in enumerate((("tool_speed", "moves", "m/s"), ("tool_turning", "turns", "rad/s"))):
        value, time, count = float(peaks.value[k]), float(peaks.time[k]), int(peaks.over[:, k].sum())
        limit, asked = float(limits[k]), math.isfinite(limits[k])
        said = f"{frame} {verb} at {value:.6g} {unit} at most, at {moment(time)}"
        said += f"; {limit:.6g} allowed" if asked else "; no bound given"
        checks.append(Check(name, not count, value, limit, time, frame, count, limit - value, unit, said, asked))
    return checks


def singularity_checks(course: Course, frame: str, least: float, condition: float) -> list[Check]:
    """Smallest singular value and condition number of the Jacobian of a frame, on the grid of the course.

    Rows in metres and radians, world axes. Without bounds the values are told and no verdict is given.
    """

    def measure(states: States) -> Array:
        largest, smallest = singular_values(tool_jacobians(course, states, frame))
        return -np.column_stack([smallest, smallest / np.where(largest > 0.0, largest, 1.0)])

    if not course.robot.nv:
        return [skipped("singularity", "the robot has no joints")]
    peaks = sampled_peaks(course, measure, -np.array([least, 1.0 / condition]))
    smallest, inverse = (abs(float(value)) for value in peaks.value)
    measured = (
        ("singularity", "smallest singular value", smallest, least, smallest - least),
        ("condition", "condition number", 1.0 / inverse if inverse else math.inf, condition, 0.0),
    )
    checks = []
    for k, (name, what, value, bound, spare) in enumerate(measured):
        time, count, asked = float(peaks.time[k]), int(peaks.over[:, k].sum()), math.isfinite(bound)
        said = f"{what} of {frame} is {value:.4g} at {moment(time)}"
        said += f"; {bound:g} is the bound" if asked else "; no bound given"
        margin = (spare if k == 0 else bound - value) if asked else math.inf
        limit = bound if asked else math.nan
        checks.append(Check(name, not count, value, limit, time, frame, count, margin, "", said, asked))
    return checks


def singular_values(J: Array) -> tuple[Array, Array]:
    """Largest and smallest singular values (M,) of Jacobians (M, 6, nv).

    As roots of the eigenvalues of J J^T (or J^T J, the smaller of the two), at half the cost of the decomposition;
    where the smallest is below a thousandth of the largest, their error shows, so there it is decomposed.
    """
    short = J if J.shape[1] <= J.shape[2] else J.transpose(0, 2, 1)
    squares = np.linalg.eigvalsh(short @ short.transpose(0, 2, 1))
    values = np.sqrt(np.maximum(squares, 0.0))
    largest, smallest = values[:, -1], values[:, 0].copy()
    poor = np.flatnonzero(smallest < 1e-3 * largest)
    if len(poor):
        smallest[poor] = np.linalg.svd(J[poor], compute_uv=False)[:, -1]
    return largest, smallest


def goals_of(task: Any, goal: Any) -> dict[str, ToleratedPose]:
    """The poses of which one is to be reached: `goal` itself, the task's goal of that name, or all of the task's."""
    named: dict[str, ToleratedPose] = {}
    for name, entry in (getattr(task, "goals", None) or {}).items():
        for k, pose in enumerate(entry if isinstance(entry, tuple) else (entry,), start=1):
            named[name if not isinstance(entry, tuple) else f"{name}[{k}]"] = pose
    if goal is None:
        return named
    if isinstance(goal, str):
        chosen = {name: pose for name, pose in named.items() if name == goal or name.startswith(f"{goal}[")}
        if not chosen:
            raise unknown_name("goal", goal, getattr(task, "goals", {}))
        return chosen
    return {"goal": goal if isinstance(goal, ToleratedPose) else ToleratedPose(goal)}


def goal_check(course: Course, frame: str, goals: dict[str, ToleratedPose]) -> Check:
    """Whether the last sample brings a frame to one of the goals."""
    if not goals:
        return skipped("goal", "no goal was given")
    actual = Transformation(course.robot.pose(course.trajectory.q[-1], frame))
    misses = {name: float(goal.violation(actual)) for name, goal in goals.items()}
    name = min(misses, key=lambda key: misses[key])
    ok, apart = misses[name] <= 0.0, goals[name].nominal.distance(actual)
    t = float(course.trajectory.t[-1])
    verb, kept = "ends at" if ok else "misses", goals[name].tolerance
    allowed = [f"{r:.4g} {unit}" for r, unit in ((kept.position_radius, "m"), (kept.rotation_radius, "rad")) if r < 10]
    said = f"{frame} {verb} {name!r}: {apart.translation:.4g} m and {apart.rotation:.4g} rad off"
    said += f"; {' and '.join(allowed)} are allowed in every direction" if allowed else ""
    return Check("goal", ok, misses[name], 0.0, t, name, int(not ok), -misses[name], "", said)
