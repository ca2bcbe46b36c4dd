"""The constraints of a task along a course: those of clearance proven between samples, all others on its grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..robot.constraints import CollisionFree, RobotConstraint, SelfCollisionFree
from ..robot.sweep import sweeps
from .clearance import clearance, clearance_check
from .course import Course
from .report import Check, moment, skipped


def constraint_check(course: Course, constraint: RobotConstraint, name: str, task: Any, resolution: float) -> Check:
    """How one constraint stands along a course."""
    if isinstance(constraint, CollisionFree | SelfCollisionFree):
        return _clearance(course, constraint, name, task, resolution)
    grid = course.grid
    holds = constraint.satisfied_along(course.robot, grid.q, grid.dq, grid.ddq, task=task)
    worst = constraint.check(course.robot, grid.q, grid.dq, grid.ddq, task=task)
    time = float(grid.t[worst.index])
    count = len(np.unique(grid.segment[~holds]))
    margin = math.nan if math.isnan(worst.value) or math.isnan(worst.limit) else abs(worst.limit - worst.value)
    message = f"{worst.message}, at {moment(time)}"
    signed = margin if holds.all() else -margin
    return Check(name, bool(holds.all()), worst.value, worst.limit, time, worst.name, count, signed, "", message)


def _clearance(
    course: Course, constraint: CollisionFree | SelfCollisionFree, name: str, task: Any, resolution: float
) -> Check:
    scene = getattr(constraint, "task", None) or task
    own, others = sweeps(course.robot, scene if isinstance(constraint, CollisionFree) else None, *course.extent)
    found = [clearance(course, sweep, constraint.margin, resolution) for sweep in (own, others) if sweep is not None]
    if not found:
        return skipped(name, "no pair of shapes is checked")
    checks = [clearance_check(name, one, constraint.margin) for one in found]
    return min(checks, key=lambda check: (check.ok, check.margin))
