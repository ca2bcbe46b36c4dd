"""The work of a batch, what of it is done, and the file that remembers."""

from __future__ import annotations

import hashlib
import json
import pickle
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError
from ..robot.tolerance import DEFAULT_TOLERANCE
from .batch_result import BatchResult, read_npz, write_npz
from .native_solver import NAME, chain_of
from .start import seed_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

COLUMNS = ("q", "success", "status", "position_error", "rotation_error", "iterations", "restarts")


class Job:
    """The work, what of it is done, and the file that remembers."""

    def __init__(
        self, robot: RobotBase, poses: Array, starts: Array, options: dict[str, Any], rng: Any, file: Path | None
    ) -> None:
        self.robot, self.poses, self.starts, self.options, self.file = robot, poses, starts, options, file
        self.method = _method_name(robot, options)
        count = len(poses)
        self.done: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
        self.rows: dict[str, Any] = {
            "q": np.full((count, robot.nq), np.nan),
            "success": np.zeros(count, dtype=np.bool_),
            "status": np.full(count, "", dtype="U16"),
            "position_error": np.full(count, np.nan),
            "rotation_error": np.full(count, np.nan),
            "iterations": np.zeros(count, dtype=np.int64),
            "restarts": np.zeros(count, dtype=np.int64),
        }
        self._written, self._cost = 0.0, 0.0
        if file is not None and file.exists():
            self.seed = self._recall(file, rng)
        else:
            self.seed = seed_of(rng)
            if file is not None:
                self._write()  # a place that cannot be written is known before the work, not after it

    def _recall(self, file: Path, rng: Any) -> int:
        kept = read_npz(file, [*COLUMNS, "done", "seed", "fingerprint"])
        seed = int(kept["seed"])
        if str(kept["fingerprint"]) != self.fingerprint or (rng is not None and seed_of(rng) != seed):
            raise InputError(f"{str(file)!r} holds the answers of other work; name another file or remove it")
        self.done, self.rows = kept["done"].copy(), {name: kept[name].copy() for name in COLUMNS}
        return seed

    @cached_property
    def fingerprint(self) -> str:
        """Of everything the answers depend on but the seed."""
        robot, digest = self.robot, hashlib.sha256()
        probe = robot.fk(robot.random_configuration(0)).homogeneous.round(9)
        for array in (self.poses, self.starts, robot.limits.position, probe):
            digest.update(np.ascontiguousarray(array).tobytes())
        tolerance = self.options["tolerance"] or DEFAULT_TOLERANCE
        plain = {name: _lasting(value) for name, value in sorted(self.options.items()) if name != "tolerance"}
        shapes = getattr(robot, "collision_digest", None)
        kept = [robot.name, robot.tcp, self.method, tolerance.to_dict(), plain, shapes() if callable(shapes) else ""]
        digest.update(json.dumps(kept).encode())
        return digest.hexdigest()

    def take(self, a: int, b: int, rows: dict[str, Any]) -> None:
        """Put the answers to targets a to b in their place, and remember them."""
        for name in COLUMNS:
            self.rows[name][a:b] = rows[name]
        self.done[a:b] = True
        # the whole file is written each time, so it is not written more often than the work allows
        if self.file is not None and (self.done.all() or time.monotonic() - self._written > 4.0 * self._cost):
            self._write()

    def _write(self) -> None:
        assert self.file is not None
        begun = time.monotonic()
        extra = {"done": self.done, "seed": str(self.seed), "fingerprint": self.fingerprint, "method": self.method}
        write_npz(self.file, {**self.rows, **extra})
        self._written = time.monotonic()
        self._cost = self._written - begun

    def result(self) -> BatchResult:
        """All answers, those not asked for yet empty."""
        return BatchResult(**self.rows, seed=self.seed, method=self.method)

    def part(self, a: int, b: int, threads: int) -> tuple[RobotBase, Array, Array, int, int, dict[str, Any], int]:
        """Arguments of `solve_rows` for targets a to b."""
        return self.robot, self.poses[a:b], self.starts[a:b], self.seed, a, self.options, threads


def _lasting(value: Any) -> str:
    """A text that stands for a value, the same in another process where that can be."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_lasting, value))}]"
    code = getattr(value, "__code__", None)
    if code is not None:
        kept = (
            value.__module__,
            value.__qualname__,
            code.co_code.hex(),
            repr(code.co_consts),
            repr(value.__defaults__),
        )
        return repr(kept)
    try:
        if hasattr(value, "to_dict"):
            return json.dumps(value.to_dict(), sort_keys=True)
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception:  # what cannot be written down is known by its looks alone
        return repr(value)


def _method_name(robot: RobotBase, options: dict[str, Any]) -> str:
    method = options["ik_method"]
    if method is None:
        return NAME if chain_of(robot) is not None else "jacobian"
    return method if isinstance(method, str) else getattr(method, "__name__", type(method).__name__)
