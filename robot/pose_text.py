"""A pose in words: position in metres, URDF angles in degrees."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .rotation import rpy_from_rotation


def _numbers(values: Array, digits: int) -> list[str]:
    # adding zero turns the -0.0 that rounding leaves into 0.0
    return [f"{round(float(v), digits) + 0.0:.{digits}f}" for v in values]


def pose_line(pose: Array) -> str:
    """`xyz=[...] m, rpy=[...] deg` of a homogeneous matrix (4, 4)."""
    xyz, rpy = _numbers(pose[:3, 3], 6), _numbers(np.degrees(rpy_from_rotation(pose[:3, :3])), 4)
    return f"xyz=[{', '.join(xyz)}] m, rpy=[{', '.join(rpy)}] deg"


def pose_block(pose: Array) -> str:
    """Six lines: position, angles, and the rows of the homogeneous matrix (4, 4)."""
    rows = [
        ("xyz [m]", _numbers(pose[:3, 3], 6)),
        ("rpy [deg]", _numbers(np.degrees(rpy_from_rotation(pose[:3, :3])), 4)),
        *(("" if k else "matrix", _numbers(row, 6)) for k, row in enumerate(pose)),
    ]
    return "\n".join(f"{title:<10}" + "".join(f"{value:>12}" for value in values) for title, values in rows)
