"""Files of poses.

CSV with the columns x, y, z and, if the rotation matters, qx, qy, qz, qw or roll, pitch, yaw, others being skipped; NPZ
with `poses`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from ..ik.batch import as_poses
from ..robot.arrays import Array
from ..robot.errors import InputError
from ..robot.files import path_of
from ..robot.rotation import rotation_from_rpy
from ..robot.table_files import read_table, require_readable
from ..robot.transformation import Transformation

_QUATERNION, _RPY = ("qx", "qy", "qz", "qw"), ("roll", "pitch", "yaw")


def read_poses(path: str | Path) -> tuple[Array, bool]:
    """Poses (N, 4, 4), and whether the file gives positions alone, with any rotation.

    Raises:
        InputError: naming the line and the column.
    """
    path = path_of(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _npz(path), False
    if suffix != ".csv":
        raise InputError(f"path must end in .csv or .npz, got {str(path)!r}")
    table = read_table(path, ("x", "y", "z"), (*_QUATERNION, *_RPY))
    if not len(table.values):
        raise InputError(f"{str(path)!r} holds no poses")
    poses = np.tile(np.eye(4), (len(table.values), 1, 1))
    columns = {name: table.values[:, k] for k, name in enumerate(table.columns)}
    poses[:, :3, 3] = np.column_stack([columns[name] for name in ("x", "y", "z")])
    named = [group for group in (_QUATERNION, _RPY) if set(group) & set(columns)]
    if len(named) == 2:
        raise InputError(f"{table.where}: give the rotation as {', '.join(_QUATERNION)} or {', '.join(_RPY)}, not both")
    if not named:
        return poses, True
    missing = [name for name in named[0] if name not in columns]
    if missing:
        raise InputError(f"{table.where}: there is no column {missing[0]!r}")
    turns = np.column_stack([columns[name] for name in named[0]])
    for i, row in enumerate(turns):
        try:
            rotation = Transformation.from_quat_xyzw(row).rotation if len(row) == 4 else rotation_from_rpy(row)
        except InputError as error:
            raise InputError(f"{str(path)!r}, line {table.lines[i]}: {error}") from None
        poses[i, :3, :3] = rotation
    return poses, False


def _npz(path: Path) -> Array:
    require_readable(path)
    try:
        with np.load(path, allow_pickle=False) as data:
            return as_poses(data["poses"])
    except KeyError:
        raise InputError(f"{str(path)!r} has no array 'poses'") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r}: {error}") from None
