"""Gains, switches and fixed frames of controllers: checked once, when a controller is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array, _as_float, _require_finite, refuse_look_alikes
from ..robot.errors import InputError, InputTypeError
from ..robot.fleet_selection import Index
from ..robot.spatial import rotation_from_quat_xyzw
from ..robot.transformation import Transformation, as_transformation


class Unset:
    """Marks an argument left out where None has a meaning of its own."""

    def __repr__(self) -> str:
        return "<not given>"


UNSET: Final = Unset()
IDENTITY_QUAT: Final = (0.0, 0.0, 0.0, 1.0)
IDENTITY_POSE: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def per_dof(value: Any, counts: Any, name: str, *, infinite: bool = False) -> Array | None:
    """One number per controlled joint (D,), all robots' one after the other; None stays None.

    Args:
        value: A number; (D,); a number per robot as a column (R, 1); or, where all robots have n controlled joints, a
            row for all (n,) or one per robot (R, n).
        counts: Numbers of controlled joints of the robots (R,), or of the only one.
        name: What it is called.
        infinite: Infinity may stand in it.

    Raises:
        InputError: if the shape is another one, or an entry is negative or not finite.
    """
    if value is None:
        return None
    array, each = _numbers(value, name), np.atleast_1d(counts)
    total, robots, n = int(each.sum()), len(each), int(each[0])
    alike = bool((each == n).all())
    if array.shape == (robots, 1) and robots > 1:
        array = np.repeat(array[:, 0], each)
    elif alike and array.shape in ((n,), (robots, n)):
        array = np.broadcast_to(array, (robots, n)).reshape(-1)
    if array.shape not in ((), (total,)):
        rows = f", or ({n},) for every robot, or ({robots}, {n}), a row per robot" if alike and robots > 1 else ""
        column = f"{rows}, or ({robots}, 1), a number per robot" if robots > 1 else ""
        raise InputError(
            f"{name} must be a number or have shape ({total},), one per controlled dof{column}; got {array.shape}"
        )
    return _not_negative(np.array(np.broadcast_to(array, (total,))), name, infinite)


def per_axis(value: Any, count: int, name: str) -> Array | None:
    """Six numbers per robot (R, 6), linear first, given as a number, (6,) or (R, 6); None stays None."""
    if value is None:
        return None
    array = _numbers(value, name)
    if array.shape not in ((), (6,), (count, 6)):
        raise InputError(f"{name} must be a number or have shape (6,) or ({count}, 6), linear first, got {array.shape}")
    return _not_negative(np.array(np.broadcast_to(array, (count, 6))), name, False)


def counted(controlled_dofs_per_robot: Any) -> Index:
    """Numbers of controlled joints per robot, for controllers without a model."""
    refuse_look_alikes(controlled_dofs_per_robot, "controlled_dofs_per_robot")
    if not isinstance(controlled_dofs_per_robot, Iterable) or getattr(controlled_dofs_per_robot, "ndim", 1) == 0:
        controlled_dofs_per_robot = [controlled_dofs_per_robot]
    try:
        counts = np.asarray(list(controlled_dofs_per_robot))
    except (ValueError, TypeError) as error:
        raise InputError(f"controlled_dofs_per_robot must be a list of integers: {error}") from None
    if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu":
        raise InputTypeError(f"controlled_dofs_per_robot must be a list of integers, got {controlled_dofs_per_robot!r}")
    if (counts < 1).any():
        raise InputError(f"controlled_dofs_per_robot must be positive, got {int(counts.min())}")
    return counts.astype(np.intp)


def check_live_gain(array: Array, name: str) -> None:
    """Refuses negative gains; NaN is let through and stays with its robot."""
    if (array < 0.0).any():
        raise InputError(f"inputs.{name} must not be negative, got {array[array < 0.0][0]}")


def quaternions(value: Any, count: int, name: str) -> Array | None:
    """Rotations (R, 3, 3) of one quaternion xyzw (4,) or one per robot (R, 4), normalised; None stays None."""
    if value is None:
        return None
    array = _numbers(value, name)
    if array.shape not in ((4,), (count, 4)):
        raise InputError(f"{name} must be a quaternion xyzw of shape (4,) or ({count}, 4), got {array.shape}")
    _require_finite(array, name)
    _refuse_zero(array, name)
    return np.array(np.broadcast_to(rotation_from_quat_xyzw(array), (count, 3, 3)))


def poses(value: Any, count: int, name: str) -> Array | None:
    """Poses (R, 4, 4) of a Transformation, 4x4, (7,) or (R, 7) xyz + quaternion xyzw, or (R, 4, 4); None stays None."""
    if value is None:
        return None
    if isinstance(value, Transformation) or hasattr(value, "homogeneous"):
        return np.array(np.broadcast_to(as_transformation(value, name).homogeneous, (count, 4, 4)))
    array = _numbers(value, name)
    if array.shape == (4, 4):
        return poses(as_transformation(array, name), count, name)
    if array.shape == (count, 4, 4):
        return np.stack([as_transformation(one, f"{name}[{i}]").homogeneous for i, one in enumerate(array)])
    if array.shape not in ((7,), (count, 7)):
        raise InputError(
            f"{name} must be a Transformation, 4x4, or xyz + quaternion xyzw of shape (7,) or ({count}, 7), "
            f"got {array.shape}"
        )
    _require_finite(array, name)
    _refuse_zero(array[..., 3:], name)
    T = np.zeros((count, 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = rotation_from_quat_xyzw(array[..., 3:]), array[..., :3], 1.0
    return T


def switch(value: Any, count: int, name: str) -> tuple[bool, ...]:
    """A boolean per robot, given as one or as (R,)."""
    array = _raw(value, name)
    if array.dtype.kind != "b":
        raise InputTypeError(f"{name} must be True or False, or one of them per controlled robot, got {value!r}")
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} must be one boolean or have shape ({count},), got {array.shape}")
    return tuple(np.broadcast_to(array, (count,)).tolist())


def booleans(value: Any, count: int, name: str) -> NDArray[np.bool_]:
    """A boolean per controlled joint (D,); None is False for all."""
    if value is None:
        return np.zeros(count, dtype=bool)
    array = _raw(value, name)
    if array.dtype.kind != "b" or array.shape != (count,):
        raise InputError(f"{name} must hold {count} booleans, one per controlled dof, got {value!r}")
    return array.copy()


def one_of(value: Any, options: tuple[str, ...], name: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value


def require_unset(feature: str, **arguments: tuple[Any, Any]) -> None:
    """Refuses arguments of a feature that is off: name=(value, value it must have)."""
    for name, (value, default) in arguments.items():
        same = value is default or (default is not None and value is not None and _equal(value, default))
        if not same:
            raise InputError(f"{name} has no effect without {feature}; leave it out, or switch {feature} on")


def _equal(value: Any, default: Any) -> bool:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return array.shape == np.shape(default) and bool((array == np.asarray(default)).all())


def damping_choice(damping: Any, ratio: Any, name: str, ratio_name: str) -> None:
    """Exactly one of a damping and a damping ratio must be given."""
    if ratio is None and damping is UNSET:
        raise InputTypeError(
            f"{name} is required: a number, an array, None to read it from the inputs; or {ratio_name}"
        )
    if ratio is not None and damping is not UNSET:
        raise InputError(f"give {name} or {ratio_name}, not both")


def _raw(value: Any, name: str) -> NDArray[Any]:
    refuse_look_alikes(value, name)
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is not rectangular: {error}") from None


def _numbers(value: Any, name: str) -> Array:
    array = _as_float(value, name)
    if array.dtype.kind != "f":
        raise InputTypeError(f"{name} must be numbers, got {type(value).__name__}")
    return array


def _refuse_zero(quats: Array, name: str) -> None:
    if (np.linalg.norm(quats, axis=-1) < 1e-12).any():
        raise InputError(f"{name}: a quaternion of length 0 is no rotation; the identity is (0, 0, 0, 1)")


def _not_negative(array: Array, name: str, infinite: bool) -> Array:
    if np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
        raise InputError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    if (array < 0.0).any():
        raise InputError(f"{name} must not be negative, got {array.min()}")
    array.setflags(write=False)
    return array
