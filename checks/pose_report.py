"""PoseReport: what a robot can do at each of many poses."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError
from ..robot.files import csv_text, path_of, write_file
from ..robot.spatial import quat_xyzw_from_rotation

_ARRAYS = (
    "poses", "ok", "reachable", "status", "solutions", "q", "manipulability", "singular_value", "limit_margin",
    "clearance", "torque_used", "payload",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PoseReport:
    """One row a pose, in their order. True if every pose is fine."""

    robot: str
    joints: tuple[str, ...]
    """A name per column of q."""
    poses: Array
    """(N, 4, 4)."""
    ok: NDArray[np.bool_]
    """Reached, free of collisions, and held within the torque limits (N,)."""
    reachable: NDArray[np.bool_]
    """Reached within tolerance, limits, without collision and with all constraints met (N,)."""
    status: NDArray[np.str_]
    """Values of IKStatus (N,): why not."""
    solutions: NDArray[np.int64]
    """Number of solutions found (N,); 1 stands for at least one, unless all were asked for."""
    q: Array
    """The best configuration found (N, nq); where nothing was reached the nearest that was seen."""
    manipulability: Array
    """Product of the singular values of the tool's Jacobian at q (N,), here and below NaN where nothing was reached."""
    singular_value: Array
    """The smallest of them (N,)."""
    limit_margin: Array
    """How far the joint nearest to a limit is from it, as a part of half its range (N,)."""
    clearance: Array
    """Smallest distance within the robot and to obstacles (N,) [m]."""
    torque_used: Array
    """Greatest part of its torque limit that a joint needs to hold the robot and what it carries (N,)."""
    payload: Array
    """Greatest mass at the tool that could be held (N,) [kg]."""
    seed: int
    """Passed as `rng`, it gives the same answers again."""

    def __bool__(self) -> bool:
        return self.feasible

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def feasible(self) -> bool:
        """Whether every pose is fine."""
        return bool(self.ok.all())

    def reasons(self) -> dict[str, int]:
        """How many poses came to which end; "torque" for those that are reached but not held."""
        ends = np.where(self.reachable & ~self.ok, "torque", self.status)
        return dict(Counter(ends.tolist()).most_common())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """Counts."""
        parts = ", ".join(f"{count} {reason}" for reason, count in self.reasons().items())
        return f"{int(self.ok.sum())} of {len(self)} poses feasible ({parts})"

    def to_dict(self) -> dict[str, Any]:
        """Counts and a list of the poses, fit for JSON; None for what is undefined."""
        rows = [
            {
                "position": self.poses[i, :3, 3].tolist(),
                "quat_xyzw": quat_xyzw_from_rotation(self.poses[i, :3, :3]).tolist(),
                **{name: _plain(getattr(self, name)[i]) for name in _ARRAYS if name not in ("poses", "q")},
                "q": self.q[i].tolist(),
            }
            for i in range(len(self))
        ]
        return {
            "robot": self.robot,
            "feasible": self.feasible,
            "count": len(self),
            "ok": int(self.ok.sum()),
            "reachable": int(self.reachable.sum()),
            "reasons": self.reasons(),
            "seed": self.seed,
            "joints": list(self.joints),
            "poses": rows,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The report as strict JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `.npz`, an array per attribute, or `.csv`, a row per pose."""
        file = path_of(path)
        if file.suffix == ".npz":
            named: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
            named |= {"joints": np.array(self.joints), "seed": np.array(self.seed)}
            return write_file(file, lambda stream: np.savez(stream, **named))
        if file.suffix == ".csv":
            return write_file(file, csv_text(self._table()))
        raise InputError(f"path must end in .npz or .csv, got {str(file)!r}")

    def _table(self) -> list[list[Any]]:
        scalars = [name for name in _ARRAYS if name not in ("poses", "q")]
        rows: list[list[Any]] = [["x", "y", "z", "qx", "qy", "qz", "qw", *scalars, *(f"q.{j}" for j in self.joints)]]
        for i in range(len(self)):
            T = self.poses[i]
            values = [getattr(self, name)[i].item() for name in scalars]
            rows.append(
                [*T[:3, 3].tolist(), *quat_xyzw_from_rotation(T[:3, :3]).tolist(), *values, *self.q[i].tolist()]
            )
        return rows


def _plain(value: Any) -> Any:
    plain = value.item()
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
