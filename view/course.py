"""Course: configurations over time as playback needs them, from whatever holds them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ..robot import InputError, InputTypeError, RobotBase
from ..robot.arrays import LARGEST, Array, matrix, scalar
from ..robot.trajectory import Trajectory
from ..robot.trajectory_arrays import CLOSEST

DT = 0.02
"""Time between the rows of a bare array, and between looks at a trajectory that is curved between its samples [s]."""
FINEST = 2000
"""Most looks at such a trajectory."""

SLOWEST, FASTEST = 1e-3, 1e3
"""Speeds at which something is played: seconds of a trajectory per second."""


def pace(speed: Any) -> float:
    """A speed to play at."""
    return scalar(speed, "speed", minimum=SLOWEST, maximum=FASTEST)


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Configurations at increasing times.

    Attributes:
        t: (N,) [s], from 0.
        q: (N, nq) [rad or m].
    """

    t: Array
    q: Array

    def thinned(self, samples: int) -> Course:
        """At most that many samples, first and last among them."""
        if len(self.t) <= samples:
            return self
        kept = np.unique(np.round(np.linspace(0, len(self.t) - 1, samples)).astype(int))
        return Course(self.t[kept], self.q[kept])


def course_of(robot: RobotBase, trajectory: Any, dt: Any = None) -> Course:
    """A course for a robot.

    Args:
        robot: Whose configurations they are.
        trajectory: A Trajectory, another object with `t` (or `time`) and `q`, an array (N, nq), an object with such a q
            and no times, such as the result of `ik.track`, or the path of a file that `Trajectory.load` reads.
        dt: Time between the rows of an array [s]; 0.02 by default.

    Raises:
        InputError: on a wrong shape, times that do not increase, or what is no trajectory.
    """
    if isinstance(trajectory, str | PathLike):
        trajectory = Trajectory.load(trajectory)
    if isinstance(trajectory, Trajectory) and trajectory.names is not None:
        trajectory = trajectory.ordered(robot)
    times = getattr(trajectory, "t", getattr(trajectory, "time", None))
    if hasattr(trajectory, "q") and times is not None:
        if dt is not None:
            raise InputError("dt goes with an array of configurations; a trajectory has times of its own")
        names = getattr(trajectory, "names", None) or getattr(trajectory, "q_names", None)
        return _course(robot, *_looks(trajectory, times), names)
    if getattr(getattr(trajectory, "q", None), "ndim", 0) == 2:
        trajectory = trajectory.q
    step = DT if dt is None else scalar(dt, "dt", positive=True)
    if isinstance(trajectory, dict) or not hasattr(trajectory, "__len__"):
        raise InputTypeError("trajectory must have t and q, be an array (N, nq), or name a file")
    rows = matrix(trajectory, (-1, robot.nq), "trajectory")
    return _course(robot, step * np.arange(len(rows)), rows, None)


def _looks(trajectory: Any, times: Any) -> tuple[Any, Any]:
    """Times and configurations; between the samples, too, where they are few and the way is curved."""
    count = 0
    if isinstance(trajectory, Trajectory) and trajectory.interpolation != "linear":
        count = min(int(np.ceil(trajectory.duration / DT)) + 1, FINEST)
    if count <= len(times):
        return times, trajectory.q
    looks = np.linspace(times[0], times[-1], count)
    return looks, trajectory.at(looks)


def _course(robot: RobotBase, times: Any, q: Any, names: Any) -> Course:
    rows = matrix(q, (-1, robot.nq), "q of the trajectory")
    t = matrix(times, (len(rows),), "t of the trajectory")
    if not len(t) or (np.diff(t) <= 0).any():
        raise InputError("t of the trajectory must hold at least one time and increase")
    if not t[-1] - t[0] <= LARGEST or (len(t) > 1 and np.diff(t).min() < CLOSEST):
        raise InputError(f"t of the trajectory must have steps of {CLOSEST:g} s or more and last {LARGEST:g} s at most")
    if names is not None and tuple(names) != tuple(robot.coordinate_names):
        order = _order(list(map(str, names)), list(robot.coordinate_names))
        rows = rows[:, order]
    return Course(t - t[0], rows.copy())


def _order(names: list[str], wanted: list[str]) -> list[int]:
    if sorted(names) != sorted(wanted):
        raise InputError(f"the trajectory is for {', '.join(names)}, the robot has {', '.join(wanted)}")
    return [names.index(name) for name in wanted]
