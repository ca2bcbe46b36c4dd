"""check_trajectory: is this trajectory feasible, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array
from ..robot.constraints import as_robot_constraints
from ..robot.sweep import sweeps
from ..robot.tolerance import ToleratedPose
from .clearance import clearance, clearance_check
from .continuity import continuity_check, time_check
from .course import Course, course_of
from .limits import KINDS, Units, position_check, rate_check, torque_check
from .options import RESOLUTION, Options, options_of
from .report import Check, TrajectoryReport, skipped
from .task_constraints import constraint_check
from .tool import goal_check, goals_of, singularity_checks, speed_checks

if TYPE_CHECKING:
    from ..robot.base import RobotBase


def check_trajectory(
    robot: RobotBase,
    trajectory: Any,
    task: Any = None,
    *,
    limits_scale: float | Mapping[str, float] = 1.0,
    position_margin: float = 0.0,
    payload: Any = None,
    payload_com: Any = None,
    friction: bool = True,
    motor_inertia: bool = True,
    safety_margin: float = 0.0,
    resolution: float = RESOLUTION,
    collisions: bool = True,
    frame: str | None = None,
    max_linear: float | None = None,
    max_angular: float | None = None,
    min_singular_value: float | None = None,
    max_condition: float | None = None,
    goal: Any = None,
    constraints: Any = None,
) -> TrajectoryReport:
    """Check a trajectory against everything that is known about a robot and its task.

    What is a polynomial between the samples (positions to jerks) is checked exactly, clearances are proven between the
    samples, everything else is evaluated on a grid at least as fine as 0.05 rad or m and refined around its extremes.

    Args:
        robot: The robot; it is not moved.
        trajectory: A Trajectory, whose names say which column belongs to which joint, or a Recording of a closed
            loop.
        task: Its obstacles must not be touched, its constraints be kept, one of its goals be reached at the end; its
            gravity stands in for the robot's.
        limits_scale: Part of the velocity, acceleration, jerk and torque limits that may be used; a number, or a
            mapping from those words to numbers.
        position_margin: Distance to keep from position limits [rad or m].
        payload: Mass carried at the tcp [kg].
        payload_com: Its centre of mass in the tcp (3,) [m].
        friction: The torques overcome joint friction.
        motor_inertia: The torques spin the rotors.
        safety_margin: Distance below which a pair of shapes counts as in collision [m].
        resolution: To which the least clearance is told [m]; what cannot be proven free at a tenth of it counts as a
            collision.
        collisions: Check for collisions.
        frame: Frame whose speed, singularities and goal are looked at; None is the tcp.
        max_linear: Greatest speed of the frame's origin [m/s].
        max_angular: Greatest rate of its rotation [rad/s].
        min_singular_value: Least singular value of its Jacobian; None gives no verdict.
        max_condition: Greatest condition number of its Jacobian; None gives no verdict.
        goal: Pose to be reached at the end, or the name of one of the task's goals.
        constraints: Further constraints.

    Returns:
        A TrajectoryReport; true if every check is fine.

    Raises:
        InputError: on a trajectory that does not fit the robot, or bad arguments.
    """
    given = dict(
        limits_scale=limits_scale, position_margin=position_margin, payload=payload, payload_com=payload_com,
        friction=friction, motor_inertia=motor_inertia, safety_margin=safety_margin, resolution=resolution,
        collisions=collisions, frame=frame, max_linear=max_linear, max_angular=max_angular,
        min_singular_value=min_singular_value, max_condition=max_condition,
    )  # fmt: skip
    options, goals = options_of(robot, task, given), goals_of(task, goal)
    course = course_of(robot, trajectory)
    checks = [
        *_joint_checks(course, options),
        *_tool_checks(course, options, goals),
        *_clearances(course, options),
        *_constraints(course, options, constraints),
    ]
    spec = course.trajectory
    return TrajectoryReport(
        robot.name,
        len(spec),
        spec.duration,
        spec.interpolation,
        tuple(checks),
        _notes(course, options),
        course,
        options,
    )


def _joint_checks(course: Course, options: Options) -> list[Check]:
    units = Units(slides(course.robot))
    return [
        time_check(course),
        continuity_check(course, units),
        position_check(course, options.position_margin, units),
        *(rate_check(course, kind, options.scales[kind], units) for kind in KINDS[:3]),
        torque_check(course, options.torques, options.scales["torque"], units),
    ]


def _tool_checks(course: Course, options: Options, goals: dict[str, ToleratedPose]) -> list[Check]:
    if options.frame is None:
        return []
    return [
        *speed_checks(course, options.frame, options.max_linear, options.max_angular),
        *singularity_checks(course, options.frame, options.min_singular_value, options.max_condition),
        goal_check(course, options.frame, goals),
    ]


def _clearances(course: Course, options: Options) -> list[Check]:
    if not options.collisions:
        return [skipped("self_collision", "not asked for"), skipped("scene_collision", "not asked for")]
    checks = []
    reasons = ("no pair of the robot's shapes is checked", "there are no obstacles, or no shapes to touch them")
    names = ("self_collision", "scene_collision")
    for name, sweep, reason in zip(names, sweeps(course.robot, options.task, *course.extent), reasons, strict=True):
        if sweep is None:
            checks.append(skipped(name, reason))
            continue
        found = clearance(course, sweep, options.safety_margin, options.resolution)
        checks.append(clearance_check(name, found, options.safety_margin))
    return checks


def _constraints(course: Course, options: Options, further: Any) -> list[Check]:
    task = options.task
    listed = (*getattr(task, "constraints", ()), *as_robot_constraints(further))
    checks: list[Check] = []
    for k, constraint in enumerate(listed, start=1):
        tied = constraint if task is None else constraint.for_task(task)
        name = f"constraint_{k}_{getattr(constraint, 'kind', type(constraint).__name__)}"
        checks.append(constraint_check(course, tied, name, task, options.resolution))
    return checks


def slides(robot: RobotBase) -> tuple[bool, ...]:
    """For each degree of freedom whether it is a length: its joint slides, or is the first part of a floating base."""
    coordinates = getattr(robot, "_coordinates", None)
    if coordinates is None:
        return (False,) * robot.nv
    lengths = {"JointModelFreeFlyer": 3, "JointModelPlanar": 2, "JointModelTranslation": 3, "line": 1}
    return tuple(i < lengths.get(slot.kind, 0) for slot in coordinates.slots for i in range(slot.v.stop - slot.v.start))


def _notes(course: Course, options: Options) -> tuple[str, ...]:
    above = {kind: scale for kind, scale in options.scales.items() if scale > 1.0}
    notes = [f"limits_scale allows {scale:g} times the {kind} limits" for kind, scale in above.items()]
    limits, names = course.robot.limits, course.robot.dof_names
    for kind in KINDS:
        free = [name for name, value in zip(names, getattr(limits, kind), strict=True) if not np.isfinite(value)]
        if free:
            which = "any joint" if len(free) == len(names) else ", ".join(free)
            notes.append(f"no {kind} limit is known for {which}; with_limits({kind}=...) sets one")
    if _looks_like_degrees(course.trajectory.q, limits.position):
        notes.append(
            "positions lie far outside the limits and would fit as degrees; "
            "Trajectory.load(path, degrees=True) reads them so"
        )
    return tuple(notes)


def _looks_like_degrees(q: Array, limits: Array) -> bool:
    """Whether positions are far outside the limits, and inside once taken for degrees."""
    lower, upper = limits
    most = np.abs(q).max(initial=0.0)
    outside = bool(((q < lower - 0.5) | (q > upper + 0.5)).any()) or most > 4.0 * np.pi
    radians = np.radians(q)
    return outside and most > 2.0 * np.pi and bool(((radians >= lower - 0.1) & (radians <= upper + 0.1)).all())
