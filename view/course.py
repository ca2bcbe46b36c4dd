"""Course: configurations over time as playback needs them, from whatever holds them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from ..robot import InputError, InputTypeError, RobotBase
from ..robot.arrays import Array, matrix, scalar

DT = 0.02
"""Time between the rows of a bare array [s]."""


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
        trajectory: An object with `t` (or `time`) and `q`, an array (N, nq), or the path of a file (see `read_course`).
        dt: Time between the rows of an array [s]; 0.02 by default.

    Raises:
        InputError: on a wrong shape, times that do not increase, or what is no trajectory.
    """
    if isinstance(trajectory, str | PathLike):
        return read_course(robot, trajectory)
    times = getattr(trajectory, "t", getattr(trajectory, "time", None))
    if hasattr(trajectory, "q") and times is not None:
        if dt is not None:
            raise InputError("dt goes with an array of configurations; a trajectory has times of its own")
        names = getattr(trajectory, "names", None) or getattr(trajectory, "q_names", None)
        return _course(robot, times, trajectory.q, names)
    step = DT if dt is None else scalar(dt, "dt", positive=True)
    if isinstance(trajectory, dict) or not hasattr(trajectory, "__len__"):
        raise InputTypeError("trajectory must have t and q, be an array (N, nq), or name a file")
    rows = matrix(trajectory, (-1, robot.nq), "trajectory")
    return _course(robot, step * np.arange(len(rows)), rows, None)


def read_course(robot: RobotBase, path: str | PathLike[str]) -> Course:
    """The trajectory in a file.

    `.csv` has a column `time` (or `t`) and one per coordinate, called by its name or by `q.` and its name; other
    columns are left alone. `.npz` has the arrays `time` (or `t`) and `q`, and perhaps their `names` (or `q_names`).
    """
    file = Path(fspath(path))
    if not file.is_file():
        raise InputError(f"trajectory: there is no file {str(file)!r}")
    if file.suffix == ".npz":
        return _from_npz(robot, file)
    if file.suffix == ".csv":
        return _from_csv(robot, file)
    raise InputError(f"trajectory: a file must end in .csv or .npz, got {str(file)!r}")


def _from_npz(robot: RobotBase, file: Path) -> Course:
    try:
        with np.load(file, allow_pickle=False) as found:
            arrays = {key: found[key] for key in found.files}
    except (OSError, ValueError) as error:
        raise InputError(f"trajectory: {str(file)!r} cannot be read: {error}") from None
    times, q = arrays.get("time", arrays.get("t")), arrays.get("q")
    if times is None or q is None:
        held = ", ".join(arrays) or "none"
        raise InputError(f"trajectory: {str(file)!r} must hold the arrays time and q, it has {held}")
    names = arrays.get("names", arrays.get("q_names"))
    return _course(robot, times, q, None if names is None else [str(name) for name in np.ravel(names)])


def _from_csv(robot: RobotBase, file: Path) -> Course:
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row and not row[0].lstrip().startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"trajectory: {str(file)!r} cannot be read: {error}") from None
    if len(rows) < 2:
        raise InputError(f"trajectory: {str(file)!r} must hold a header and at least one row")
    columns = {name.strip().removeprefix("q."): k for k, name in reversed(list(enumerate(rows[0])))}
    clock = "t" if "t" in columns and "time" not in columns else "time"
    wanted = [clock, *robot.coordinate_names]
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise InputError(f"trajectory: {str(file)!r} lacks the columns {', '.join(missing)}")
    places = [columns[name] for name in wanted]
    try:
        table = np.array([[float(row[k]) for k in places] for row in rows[1:]])
    except (ValueError, IndexError) as error:
        raise InputError(f"trajectory: {str(file)!r} has a cell that is no number or is missing: {error}") from None
    return _course(robot, table[:, 0], table[:, 1:], None)


def _course(robot: RobotBase, times: Any, q: Any, names: Any) -> Course:
    rows = matrix(q, (-1, robot.nq), "q of the trajectory")
    t = matrix(times, (len(rows),), "t of the trajectory")
    if not len(t) or (np.diff(t) <= 0).any():
        raise InputError("t of the trajectory must hold at least one time and increase")
    if names is not None and tuple(names) != tuple(robot.coordinate_names):
        order = _order(list(map(str, names)), list(robot.coordinate_names))
        rows = rows[:, order]
    return Course(t - t[0], rows.copy())


def _order(names: list[str], wanted: list[str]) -> list[int]:
    if sorted(names) != sorted(wanted):
        raise InputError(f"the trajectory is for {', '.join(names)}, the robot has {', '.join(wanted)}")
    return [names.index(name) for name in wanted]
