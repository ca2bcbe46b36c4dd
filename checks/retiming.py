"""Retiming: the fastest motion along the path of a trajectory, by toppra, and the check of what it gives."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, flag, scalar, whole
from ..robot.errors import InputError, MissingDependencyError, UnsupportedError
from ..robot.trajectory import Trajectory
from .course import Course, course_of
from .limits import KINDS, Units, rate_peaks
from .options import Options, options_of
from .report import moment
from .trajectory_check import slides

if TYPE_CHECKING:
    from ..robot.base import RobotBase

_SHORTEST = 1e-6
"""Shortest path that is retimed [rad or m]."""
_ROUNDS = 12


def retime(
    robot: RobotBase,
    trajectory: Trajectory,
    *,
    dt: Any = 0.01,
    limits_scale: Any = 1.0,
    torque: bool = True,
    gridpoints: int = 200,
    path_tolerance: Any = 1e-3,
    **options: Any,
) -> Trajectory:
    """The fastest motion from rest to rest along the path of a trajectory, within velocity to torque limits.

    toppra (Pham and Pham, IEEE T-RO 2018) finds the speed along the path on a grid. Between the points of that grid
    its result passes limits by a little, so it is sampled every `dt`, taken for a cubic through positions and
    velocities, its peaks are measured as `check_trajectory` does, and the whole is slowed down by as much as keeps
    every limit. So the result passes `check_trajectory` as far as velocities, accelerations and torques go. Jerk is
    not limited, and collisions are to be checked anew: the path is kept to within `path_tolerance`.

    Args:
        robot: The robot, with acceleration limits (`with_limits`).
        trajectory: Path and joints; its times do not matter. Its path must have no corners, so "linear" is refused.
        dt: Time between the samples of the result [s].
        limits_scale: As in `check_trajectory`.
        torque: Keep the torque limits.
        gridpoints: Points at which toppra looks at the path.
        path_tolerance: How far a joint may leave the path [rad or m].
        **options: `payload`, `payload_com`, `friction`, `motor_inertia` of `check_trajectory`, and `task`.

    Raises:
        MissingDependencyError: if toppra is not installed.
        InputError: if limits are missing, the path has corners, or there is no motion within the limits.
    """
    toppra = _toppra()
    settings = options_of(robot, options.pop("task", None), {**options, "limits_scale": limits_scale})
    course = course_of(robot, trajectory)
    step, count = scalar(dt, "dt", positive=True), whole(gridpoints, "gridpoints")
    if course.path is None or course.trajectory.interpolation == "linear":
        raise UnsupportedError("a path that is straight between its samples has corners; use cubic or quintic")
    path = _path(toppra, course, count, scalar(path_tolerance, "path_tolerance", positive=True))
    limited = flag(torque, "torque") and bool(np.isfinite(robot.limits.torque).any())
    with _quiet():
        solver = toppra.algorithm.TOPPRA(
            _bounds(toppra.constraint, robot, settings, limited),
            path,
            gridpoints=np.linspace(0.0, float(path.path_interval[1]), count + 1),
            parametrizer="ParametrizeConstAccel",
        )
        found = solver.compute_trajectory(0.0, 0.0)
    if found is None:
        raise InputError(f"no motion from rest to rest keeps the limits along this path: {_short(course, settings)}")
    result = _kept(robot, course, found, step, settings, limited)
    given = _uniform(course, settings, limited)
    return given if given is not None and given.duration < result.duration else result


def _bounds(kinds: Any, robot: RobotBase, settings: Options, torque: bool) -> list[Any]:
    """toppra's constraints."""
    velocity = _finite(settings.scales["velocity"] * robot.limits.velocity, "velocity", robot)
    acceleration = _finite(settings.scales["acceleration"] * robot.limits.acceleration, "acceleration", robot)
    bounds = [
        kinds.JointVelocityConstraint(np.column_stack([-velocity, velocity])),
        kinds.JointAccelerationConstraint(np.column_stack([-acceleration, acceleration])),
    ]
    if not torque:
        return bounds

    def inverse_dynamics(q: Array, dq: Array, ddq: Array) -> Array:
        tau: Array = settings.robot.id(
            q, dq, ddq, motor_inertia=settings.motor_inertia, friction=False, task=settings.task
        )
        return tau

    most = settings.scales["torque"] * robot.limits.torque
    # friction is no polynomial of the speed along the path: what it takes at full speed is taken off
    lost = np.abs(settings.robot.friction(velocity)) if settings.friction else np.zeros(robot.nv)
    room = np.maximum(np.where(np.isfinite(most), most, 1e9) - lost, 1e-6)
    limits = np.column_stack([-room, room])
    return [*bounds, kinds.JointTorqueConstraint(inverse_dynamics, limits, np.zeros(robot.nv))]


def _path(toppra: Any, course: Course, count: int, tolerance: float) -> Any:
    """The path against the distance travelled, for toppra: by the samples' times it would stand still where they do."""
    t = course.trajectory.t
    fine = np.unique(np.concatenate([t, np.linspace(t[0], t[-1], 20 * count + 1)]))
    q = course.at(fine).q
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    if way[-1] < _SHORTEST:
        raise InputError(f"the path is {way[-1]:.2g} rad long, {_SHORTEST:g} at least: there is nothing to retime")
    points = np.linspace(0.0, way[-1], max(count, 4 * len(t)) + 1)
    path = toppra.SplineInterpolator(points, course.at(np.interp(points, way, fine)).q)
    off = float(np.abs(path(way) - q).max())
    if off > tolerance:
        raise InputError(
            f"the path has corners, such as turning points: a smooth one leaves it by {off:.2g} rad or m, "
            f"path_tolerance is {tolerance:g}; give dq, 0 at both ends, take more gridpoints, or retime the parts "
            "between the corners"
        )
    return path


def _short(course: Course, settings: Options) -> str:
    """Which joint lacks torque, and where, even at rest."""
    robot, q, t = settings.robot, course.trajectory.q, course.trajectory.t
    limit = settings.scales["torque"] * robot.limits.torque
    still = np.zeros((len(q), robot.nv))
    tau = np.abs(robot.id(q, still, still, friction=False, task=settings.task))
    row, column = np.unravel_index(int((tau - limit).argmax()), tau.shape)
    need, most = tau[row, column], limit[column]
    if need <= most:
        return "the torques that hold the robot still leave none to move it somewhere"
    unit = Units(slides(robot)).of("torque", int(column))
    return (
        f"{robot.dof_names[column]} needs {need:.4g} {unit} to stand still where the trajectory is at "
        f"{moment(float(t[row]))}, {most:.4g} are allowed"
    )


def _kept(robot: RobotBase, course: Course, found: Any, step: float, settings: Options, torque: bool) -> Trajectory:
    """What was found, sampled, and slowed down by as much as keeps every limit."""
    t = np.linspace(0.0, found.duration, max(2, int(np.ceil(found.duration / step)) + 1))
    names = course.trajectory.names
    result = Trajectory(t, found(t), found(t, 1), names=names)
    for _ in range(_ROUNDS):
        factor = _excess(Course(robot, result, result.path), settings, torque)
        if factor <= 1.0:
            return result
        result = result.slowed(factor * (1.0 + 1e-9))
    raise InputError(f"no slowing down keeps the limits along this path: {_short(course, settings)}")


def _uniform(course: Course, settings: Options, torque: bool) -> Trajectory | None:
    """The motion as it was given, at the pace that just keeps every limit: rest to rest it is a motion along the path.

    Where samples back up at their ends, as a spline without end velocities does, the search along the path crawls.
    """
    spec = course.trajectory
    ends = [spec.at(float(time), order=1) for time in (spec.t[0], spec.t[-1])]
    peak = rate_peaks(course, KINDS[0], settings.scales[KINDS[0]] * course.robot.limits.velocity)
    if peak is None or float(np.abs(ends).max()) > 0.05 * float(peak.value.max(initial=0.0)):
        return None
    result = spec.slowed(1e-3)  # so fast that the limits are passed, and the factor says by how much
    for _ in range(_ROUNDS):
        factor = _excess(Course(course.robot, result, result.path), settings, torque)
        if factor <= 1.0:
            return result
        result = result.slowed(factor * (1.0 + 1e-9))
    return None


def _excess(course: Course, settings: Options, torque: bool) -> float:
    """By how much the motion must be slowed down; 1 if it keeps every limit."""
    factor = 1.0
    for order, kind in enumerate(KINDS[:2], start=1):
        limits = settings.scales[kind] * getattr(course.robot.limits, kind)
        peaks = rate_peaks(course, kind, limits)
        if peaks is None:
            continue
        used = np.where(np.isfinite(limits), peaks.value / np.where(np.isfinite(limits), limits, 1.0), 0.0)
        factor = max(factor, float(used.max(initial=0.0)) ** (1.0 / order))
    if torque:
        states = course.grid
        limit = settings.scales["torque"] * course.robot.limits.torque
        over = float((np.abs(settings.torques(states)) / limit).max(initial=0.0))
        factor = max(factor, np.sqrt(over) * 1.01 if over > 1.0 else 1.0)
    return factor


def _finite(limits: Array, kind: str, robot: RobotBase) -> Array:
    missing = [name for name, value in zip(robot.dof_names, limits, strict=True) if not np.isfinite(value)]
    if missing:
        raise InputError(
            f"retiming needs {kind} limits, {', '.join(missing)} has none; with_limits({kind}=...) sets them"
        )
    return limits


def _toppra() -> Any:
    try:
        module = importlib.import_module("toppra")
        importlib.import_module("toppra.constraint")
        importlib.import_module("toppra.algorithm")
    except ImportError:
        raise MissingDependencyError("retiming needs toppra: pip install 'knuckle[retime]'") from None
    return module


@contextmanager
def _quiet() -> Iterator[None]:
    """toppra logs at every turn."""
    logger = logging.getLogger("toppra")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
