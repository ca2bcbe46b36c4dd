"""Files of trajectories: CSV, NPZ and JSON, read with the place of every error.

CSV: a header with `time` and a column per joint, `NAME` or `q.NAME`; optional `dq.NAME` and `ddq.NAME`; columns that
start with `tau.` or `tool.` are recordings of other things and skipped. Lines that start with # and empty lines are
skipped. NPZ: arrays `time` (or `t`), `q`, and optional `dq`, `ddq`, `names` (or `q_names`), `interpolation`. JSON: an
object with those keys.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array
from .errors import InputError
from .files import write_file
from .scene_document import distinct_keys
from .table_files import MOST_NUMBERS, read_table, require_readable
from .trajectory import Trajectory
from .trajectory_arrays import out_of_order

_KINDS = ("q", "dq", "ddq")
_SKIPPED = ("tau.", "tool.")


def read(path: Path) -> dict[str, Any]:
    """The arguments of a Trajectory.

    Raises:
        InputError: naming the file, the row and the column.
    """
    readers: dict[str, Callable[[Path], dict[str, Any]]] = {".csv": _csv, ".npz": _npz, ".json": _json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"path must end in .csv, .npz or .json, got {str(path)!r}")
    require_readable(path)
    try:
        return reader(path)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from None


def _csv(path: Path) -> dict[str, Any]:
    table = read_table(path, ("time",))
    t = table.values[:, table.columns.index("time")]
    problem = out_of_order(t)
    if problem is not None:
        raise InputError(f"{str(path)!r}, line {table.lines[problem[0]]}, column 'time' {problem[1]}")
    if len(t) < 2:
        raise InputError(f"{str(path)!r} has {len(t)} rows of numbers; a trajectory needs 2")
    return {"t": t, **_sorted_columns(table.columns, table.values, table.where)}


def _sorted_columns(columns: list[str], table: Array, where: str) -> dict[str, Any]:
    found: dict[str, dict[str, Array]] = {kind: {} for kind in _KINDS}
    for k, column in enumerate(columns):
        if column == "time" or column.startswith(_SKIPPED):
            continue
        prefix, dot, rest = column.partition(".")
        kind, name = (prefix, rest) if dot and prefix in _KINDS else ("q", column)
        if name in found[kind]:
            raise InputError(f"{where}: column {k + 1} {column!r} stands twice, with and without 'q.'")
        found[kind][name] = table[:, k]
    names = list(found["q"])
    if not names:
        raise InputError(f"{where}: there is no column of positions; they are named like the joints")
    fields: dict[str, Any] = {"names": names, "q": np.column_stack(list(found["q"].values()))}
    for kind in _KINDS[1:]:
        if found[kind]:
            fields[kind] = _rate(kind, names, found[kind], where)
    return fields


def _rate(kind: str, names: list[str], found: dict[str, Array], where: str) -> Array:
    if set(found) <= set(names):
        missing = [name for name in names if name not in found]
        if missing:
            raise InputError(f"{where}: columns {kind}.* lack {', '.join(map(repr, missing[:5]))}")
        return np.column_stack([found[name] for name in names])
    if len(found) < len(names):  # velocities of joints with more coordinates than degrees of freedom
        return np.column_stack(list(found.values()))
    extra = [name for name in found if name not in names]
    raise InputError(f"{where}: column {kind + '.' + extra[0]!r} belongs to no column of positions")


def _npz(path: Path) -> dict[str, Any]:
    keys = {"time": "t", "t": "t", "q_names": "names", **{k: k for k in ("q", "dq", "ddq", "names", "interpolation")}}
    try:
        _require_size(path)
        with np.load(path, allow_pickle=False) as data:
            fields: dict[str, Any] = {keys[key]: data[key] for key in data.files if key in keys}
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} is no npz file of a trajectory: {error}") from None
    if "names" in fields:
        fields["names"] = [str(name) for name in np.atleast_1d(fields["names"])]
    if "interpolation" in fields:
        fields["interpolation"] = str(fields["interpolation"])
    return _required(fields, path)


def _require_size(path: Path) -> None:
    """Refuses an archive that would unpack to more than is allowed, before anything is unpacked."""
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        for entry in archive.infolist():  # numpy makes room for what a header promises
            if entry.filename.endswith(".npy"):
                size = max(size, _promised(archive, entry))
    if size > 8 * MOST_NUMBERS:
        raise InputError(f"{str(path)!r} unpacks to {size} bytes, {8 * MOST_NUMBERS} at most; cut it or thin it out")


def _promised(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    return math.prod(shape) * dtype.itemsize


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes(), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{str(path)!r} must hold an object with the keys time, q, names")
    keys = {"time": "t", "t": "t", **{k: k for k in ("q", "dq", "ddq", "names", "interpolation")}}
    unknown = [key for key in document if key not in keys]
    if unknown:
        raise InputError(f"{str(path)!r} has the key {unknown[0]!r}; known are {', '.join(keys)}")
    fields = _required({keys[key]: value for key, value in document.items() if value is not None}, path)
    for key in ("q", "dq", "ddq"):
        for i, row in enumerate(fields.get(key, ())):
            if not isinstance(row, list) or len(row) != len(fields[key][0]):
                raise InputError(f"{str(path)!r}: {key}[{i}] must be a row of {len(fields[key][0])} numbers")
    return fields


def _required(fields: dict[str, Any], path: Path) -> dict[str, Any]:
    for key, name in (("t", "time"), ("q", "q")):
        if key not in fields:
            raise InputError(f"{str(path)!r} has no {name!r}")
        if isinstance(fields[key], str | int | float | dict) or np.ndim(fields[key][:1]) == 0:
            raise InputError(f"{str(path)!r}: {name!r} must be an array of numbers")
    return fields


def write(path: Path, trajectory: Trajectory) -> Path:
    """Write a trajectory; derivatives where they were given."""
    arrays: dict[str, Any] = {"time": trajectory.t, **{key: getattr(trajectory, key) for key in trajectory.given}}
    suffix = path.suffix.lower()
    if suffix == ".npz":
        extra: dict[str, Any] = {} if trajectory.names is None else {"names": np.array(trajectory.names)}
        held = {**arrays, **extra, "interpolation": np.array(trajectory.interpolation)}
        write_file(path, lambda stream: np.savez(stream, **held))
    elif suffix == ".json":
        listed: dict[str, Any] = {key: value.tolist() for key, value in arrays.items()}
        names = None if trajectory.names is None else list(trajectory.names)
        write_file(path, json.dumps({"names": names, "interpolation": trajectory.interpolation, **listed}))
    elif suffix == ".csv":
        write_file(path, _csv_text(trajectory))
    else:
        raise InputError(f"path must end in .csv, .npz or .json, got {str(path)!r}")
    return path


def _csv_text(trajectory: Trajectory) -> str:
    names = trajectory.names
    if names is None:
        raise InputError("a CSV file names its columns: give the trajectory names, or write .npz or .json")
    header, columns = ["time", *names], [trajectory.t[:, None], trajectory.q]
    for key in trajectory.given[1:]:
        values = getattr(trajectory, key)
        labels = names if values.shape[1] == len(names) else [str(k) for k in range(values.shape[1])]
        header += [f"{key}.{name}" for name in labels]
        columns.append(values)
    if any(mark in name for name in header for mark in ',;\t"\n'):
        raise InputError("names with commas, semicolons, quotes or tabs cannot be written as CSV; use .npz or .json")
    rows = [",".join(map(repr, row)) for row in np.hstack(columns).tolist()]
    return "\n".join([",".join(header), *rows, ""])
