"""Poses and rotations at the door: the checks that make a trusted homogeneous matrix of what a user gives."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from .arrays import Array, matrix
from .errors import InputError, InputTypeError
from .rotation import orthonormality, project_rotation

IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False


@runtime_checkable
class HasHomogeneous(Protocol):
    """Anything with a 4x4 matrix under this name, such as `pinocchio.SE3`."""

    @property
    def homogeneous(self) -> Any:
        """The homogeneous matrix (4, 4)."""


def homogeneous_matrix(value: Any, name: str) -> Array:
    """What a user calls a pose, as a fresh read-only homogeneous matrix with an exact rotation.

    Raises:
        InputError: if it is not 4x4 and finite, the last row is not (0, 0, 0, 1) or the rotation is none.
    """
    given = getattr(value, "homogeneous", value)
    if isinstance(given, str | bytes) or given is None:
        raise InputTypeError(f"{name} must be a Transformation, pinocchio.SE3 or 4x4 array, got {type(value).__name__}")
    if isinstance(given, list | tuple | np.ndarray) and len(given) == 3 and all(map(np.isscalar, given)):
        remedy = "for a point: Transformation.from_translation(point)"
        raise InputError(f"{name} must have shape (4, 4), got (3,); {remedy}")
    out = matrix(given, (4, 4), name).copy()
    x, y, z, one = out[3].tolist()
    if max(abs(x), abs(y), abs(z), abs(one - 1.0)) > 1e-9:
        raise InputError(f"{name} must have the last row [0, 0, 0, 1], got {[x, y, z, one]}; is it transposed?")
    out[3] = IDENTITY[3]
    out[:3, :3] = _near_rotation(out[:3, :3], name)
    out.flags.writeable = False
    return out


def _near_rotation(rotation: Array, name: str) -> Array:
    deviation, determinant = orthonormality(rotation)
    if not deviation <= 1e-6:
        raise InputError(
            f"{name} must have an orthonormal rotation, R^T R differs from I by {deviation:.3g} (1e-6 allowed); "
            "project_rotation() gives the closest one"
        )
    if determinant < 0.0:
        raise InputError(f"{name} must be a rotation, got a reflection (det R = -1): its axes are left-handed")
    return project_rotation(rotation)


def rotation_matrix(value: Any, name: str) -> Array:
    """A rotation matrix (3, 3), moved onto the closest exact one if it is orthonormal to 1e-6."""
    return _near_rotation(matrix(value, (3, 3), name), name)
