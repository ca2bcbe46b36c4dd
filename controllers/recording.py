"""Recording: what a closed loop did, sample by sample; files and plots of it."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError, MissingDependencyError
from ..robot.files import csv_text, path_of, write_file
from ..robot.spatial import quat_xyzw_from_rotation


@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """States, torques and tool poses at N equidistant times; true if it ran to its end.

    Attributes:
        time: [s] (N,).
        q: Configurations (N, nq).
        dq: Velocities (N, nv).
        tau: Torque applied from each state on (N, nv) [N m or N].
        tool_pose: Pose of the tool in the world (N, 4, 4).
        q_names: A name per entry of q.
        dq_names: A name per entry of dq.
        message: Why it ended before its time; empty if it did not.
        wrench: What the environment exerted on the tool (N, 6), world axes [N, N m]; None if nothing could.
        dq_command: Velocity commands, one per tick of the controller (T, nv); None without a velocity controller.
    """

    time: Array
    q: Array
    dq: Array
    tau: Array
    tool_pose: Array
    q_names: tuple[str, ...]
    dq_names: tuple[str, ...]
    message: str = ""
    wrench: Array | None = None
    dq_command: Array | None = None

    def __bool__(self) -> bool:
        return not self.message

    def __repr__(self) -> str:
        end = f", {self.message}" if self.message else ""
        span = self.time[-1] - self.time[0] if len(self.time) else 0.0
        return f"<Recording of {len(self)} samples, {len(self.dq_names)} joints, {span:.6g} s{end}>"

    def __len__(self) -> int:
        return len(self.time)

    def save(self, path: str | Path) -> Path:
        """Write a file: `.npz` with an array per attribute, or `.csv` with a column per number, time first."""
        path = writable(path, ("npz", "csv"), "path")
        if path.suffix == ".npz":
            names = [field.name for field in fields(self) if getattr(self, field.name) is not None]
            arrays: dict[str, Any] = {name: np.array(getattr(self, name)) for name in names}
            return write_file(path, lambda stream: np.savez_compressed(stream, **arrays))
        return write_file(path, csv_text([self._columns(), *self._table().tolist()]))

    def _columns(self) -> list[str]:
        joints = [f"q.{name}" for name in self.q_names] + [f"dq.{name}" for name in self.dq_names]
        tool = [f"tool.{name}" for name in ("x", "y", "z", "qx", "qy", "qz", "qw")]
        wrench = [] if self.wrench is None else [f"wrench.{name}" for name in ("fx", "fy", "fz", "mx", "my", "mz")]
        return ["time", *joints, *(f"tau.{name}" for name in self.dq_names), *tool, *wrench]

    def _table(self) -> Array:
        quat = quat_xyzw_from_rotation(self.tool_pose[:, :3, :3])
        wrench = () if self.wrench is None else (self.wrench,)
        return np.column_stack((self.time, self.q, self.dq, self.tau, self.tool_pose[:, :3, 3], quat, *wrench))

    def plot(self, path: str | Path, *, beside: Array | None = None) -> Path:
        """Draw configuration, torque, tool position and, if there was one, the force on it to a .png, .pdf or .svg.

        Args:
            path: The file.
            beside: Another way of the tool from its start (N, 3) [m], drawn dashed beside its own.

        Raises:
            InputError: for another kind of file or a place where none can be written.
            MissingDependencyError: if matplotlib is not installed.
        """
        path = writable(path, ("png", "pdf", "svg"), "path")
        require_matplotlib()
        from matplotlib.figure import Figure

        moved = self.tool_pose[:, :3, 3] - self.tool_pose[0, :3, 3]
        rows = [
            (self.q, self.q_names, "q [rad or m]"),
            (self.tau, self.dq_names, "tau [N m or N]"),
            (moved, ("x", "y", "z"), "tool, from the start [m]"),
        ]
        if self.wrench is not None and self.wrench.any():
            rows.append((self.wrench[:, :3], ("fx", "fy", "fz"), "force on the tool [N]"))
        figure = Figure(figsize=(9, 3 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), 1, sharex=True)
        for axis, (values, names, label) in zip(axes, rows, strict=True):
            for column, name in zip(values.T, names, strict=True):
                axis.plot(self.time, column, label=name)
            if beside is not None and values is moved:
                axis.plot(self.time, beside, "k--", linewidth=0.8)
                axis.plot([], [], "k--", linewidth=0.8, label="ideal")
            axis.set_ylabel(label)
            axis.grid(color="0.9")
            if len(names) <= 12:
                axis.legend(loc="upper right", fontsize="x-small", ncols=2)
        axes[-1].set_xlabel("time [s]")
        return write_file(path, lambda stream: figure.savefig(stream, format=path.suffix[1:]))


def require_matplotlib() -> None:
    """Raises MissingDependencyError where plotting is not possible."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError("plotting needs matplotlib: pip install 'knuckle[plot]'")


def writable(path: str | Path, endings: tuple[str, ...], name: str) -> Path:
    """The path, if a file of one of the kinds can be written there; nothing is written yet.

    Raises:
        InputError: naming what stands in the way.
    """
    path = path_of(path, name)
    if path.suffix not in [f".{ending}" for ending in endings]:
        raise InputError(f"{name} must end in {' or '.join(f'.{ending}' for ending in endings)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise InputError(f"{name}: there is no folder {str(path.parent)!r}; make it first")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{name}: {str(path)!r} cannot be written")
    return path
