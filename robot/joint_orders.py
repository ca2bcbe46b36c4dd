"""Joints in other orders: the file's, a ROS JointState's, the columns of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array, vector
from .errors import InputError, InputTypeError, unknown_name
from .files import csv_text, write_file
from .pin_backend import PinBackend

_LARGEST_TABLE = 2**30


class JointOrders(PinBackend):
    """Conversions between q and what other programs write."""

    _file_joints: tuple[str, ...] = ()

    @property
    def file_joints(self) -> list[str]:
        """Joints in the order of the description, those that mimic others included.

        `robot.joints` has the order of q instead: depth first, siblings by their names.
        """
        followers = [coupling.follower for coupling in self.couplings]
        known = dict.fromkeys([*self.joints, *followers])
        named = dict.fromkeys(name for name in self._file_joints if name in known)
        return list(named | known)

    def joint_state(self, q: Any = None, names: Sequence[str] | None = None) -> tuple[list[str], Array]:
        """Names and positions as in a ROS JointState, joints that mimic others included.

        Args:
            q: Configuration (nq,) or mapping, the stored one if left out.
            names: Which joints, in which order; None is the file's. Each must have one coordinate.

        Returns:
            Names, and positions (n,) [rad or m].
        """
        values = self.joint_values(self._single(q))
        for c in self.couplings:
            values[c.follower] = c.multiplier * values[c.leader] + c.offset
        single = [name for name in self.file_joints if np.ndim(values[name]) == 0]
        wanted = single if names is None else _names(names)
        for name in wanted:
            if name not in single:
                raise unknown_name("joint of one coordinate", name, single)
        return list(wanted), np.array([values[name] for name in wanted])

    def from_joint_state(self, names: Sequence[str], positions: Any, q: Any = None) -> Array:
        """Configuration (nq,) of a ROS JointState, whatever the order of its joints.

        Args:
            names: Joints; those that mimic others say nothing new, and are passed over.
            positions: As many values [rad or m].
            q: Configuration that joints left out keep, the stored one if left out.

        Raises:
            UnknownNameError: if a joint does not exist.
            InputError: if there are not as many positions as names, or a name comes twice.
        """
        wanted = _names(names)
        values = vector(positions, len(wanted), "positions")
        followers = {coupling.follower for coupling in self.couplings}
        given = {name: value for name, value in zip(wanted, values, strict=True) if name not in followers}
        return self._on_manifold(self._named(given, self._single(q), 0, "positions"))

    def write_configurations(self, path: str | PathLike[str], q: Any) -> None:
        """Write configurations (N, nq) as CSV, one named column per coordinate."""
        rows = np.atleast_2d(self._one_or_many(q))
        write_file(path, csv_text([self.coordinate_names, *rows.tolist()]))

    def read_configurations(self, path: str | PathLike[str]) -> Array:
        """Configurations (N, nq) of a CSV file with one named column per coordinate, in any order.

        Columns that name no coordinate, as a time, are passed over.

        Raises:
            InputError: if a column is missing or there twice, or an entry is no finite number, with row and column.
        """
        header, rows = _table(path)
        columns = []
        for name in self.coordinate_names:
            if header.count(name) != 1:
                what = "twice" if name in header else "not"
                raise InputError(f"{fspath(path)}: column {name!r} is there {what}; columns: {', '.join(header)[:300]}")
            columns.append(header.index(name))
        result = np.empty((len(rows), self.nq))
        for i, (line, row) in enumerate(rows):
            for k, column in enumerate(columns):
                result[i, k] = _cell(row, column, f"{fspath(path)}:{line}: column {header[column]!r}")
        return self._on_manifold(result) if len(rows) else result


def _names(names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputTypeError(f"names must be a sequence of joint names, got {names!r:.60}")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise InputTypeError(f"names must be a sequence of joint names, got {name!r:.60} among them")
    if len(set(found)) != len(found):
        raise InputError("names must not repeat a joint")
    return found


def _table(path: Any) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and numbered rows of a CSV file, empty lines left out."""
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise InputTypeError(f"path must be the path of a CSV file, got {type(path).__name__}")
    try:
        if Path(path).stat().st_size > _LARGEST_TABLE:
            raise InputError(f"{fspath(path)} is larger than {_LARGEST_TABLE // 2**20} MB")
        text = Path(path).read_text(encoding="utf-8-sig")
        lines = [(i, row) for i, row in enumerate(csv.reader(io.StringIO(text)), start=1) if row]
    except (OSError, UnicodeError, csv.Error) as error:
        raise InputError(f"{fspath(path)} cannot be read as CSV: {error}") from None
    if not lines:
        raise InputError(f"{fspath(path)} is empty; its first line names the columns")
    return [name.strip() for name in lines[0][1]], lines[1:]


def _cell(row: list[str], column: int, place: str) -> float:
    text = row[column].strip() if column < len(row) else ""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"{place} must be a finite number, got {text!r:.60}")
    return value
