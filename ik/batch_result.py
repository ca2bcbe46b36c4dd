"""The answers to many problems, as arrays, and their file."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError
from ..robot.files import path_of, write_file
from .cost import pose_cost
from .problem import IKResult, IKStatus


@dataclass(frozen=True, slots=True, eq=False)
class BatchResult:
    """Answers in the order of the targets; row i is what `result[i]` gives as an IKResult."""

    q: Array
    """Configurations found (N, nq); the closest ones seen where not solved."""
    success: NDArray[np.bool_]
    """Whether q meets tolerance and limits (N,)."""
    status: NDArray[np.str_]
    """Values of IKStatus (N,)."""
    position_error: Array
    """[m] (N,)."""
    rotation_error: Array
    """[rad] (N,)."""
    iterations: NDArray[np.int64]
    """Of all attempts (N,)."""
    restarts: NDArray[np.int64]
    """Attempts beyond the first (N,)."""
    seed: int
    """Passed as `rng`, it gives the same answers again."""
    method: str
    """Name of the method used."""

    def __bool__(self) -> bool:
        """Whether every problem was solved."""
        return bool(self.success.all())

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, index: int) -> IKResult:
        """The answer to one problem; its seed is the batch's, and gives it again in a batch at the same place."""
        distance, angle = float(self.position_error[index]), float(self.rotation_error[index])
        return IKResult(
            self.q[index].copy(),
            IKStatus(str(self.status[index])),
            distance,
            angle,
            pose_cost(distance, angle),
            int(self.iterations[index]),
            int(self.restarts[index]),
            self.seed,
            self.method,
            "" if self.success[index] else f"{self.status[index]}; solve this target alone for the reason",
        )

    def __repr__(self) -> str:
        names, counts = np.unique(self.status, return_counts=True)
        parts = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        return f"<BatchResult of {len(self)}: {parts or 'empty'}>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a npz file, whole or not at all."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        write_npz(path_of(path), arrays | {"seed": str(self.seed)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> BatchResult:
        """Read what `save` wrote.

        Raises:
            InputError: if the file is not one of those.
        """
        names, file = [field.name for field in fields(cls)], path_of(path)
        data = read_npz(file, names)
        if (data["status"] == "").any():
            open_rows = int((data["status"] == "").sum())
            raise InputError(
                f"{str(file)!r} is unfinished work, {open_rows} targets are open; solve_batch(resume=) ends it"
            )
        return cls(**{**{name: data[name] for name in names}, "seed": int(data["seed"]), "method": str(data["method"])})


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays; an interruption leaves the old file or the new one."""
    write_file(path, lambda stream: np.savez(stream, **arrays))


_DAMAGED = (OSError, ValueError, LookupError, EOFError, TypeError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def read_npz(path: Path, names: list[str]) -> dict[str, Any]:
    """The named arrays of a npz file; objects are not read."""
    try:
        with path.open("rb") as stream:  # numpy leaves its own open where the file is damaged
            data = np.load(stream, allow_pickle=False)
            return {name: data[name] for name in names}
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except _DAMAGED as error:
        raise InputError(f"{str(path)!r} holds no batch of inverse kinematics: {error}") from None
