"""Arrays of a whole fleet at the door: flat states, masks, and buffers that are written in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, _as_float, refuse_look_alikes
from .errors import InputError, InputTypeError
from .fleet import Fleet, as_fleet


def state_of(fleet: Any, joint_q: Any) -> tuple[Fleet, Array]:
    """The fleet and its coordinates."""
    fleet = as_fleet(fleet)
    return fleet, flat(joint_q, fleet.joint_coord_count, "joint_q")


def flat(value: Any, size: int, name: str) -> Array:
    """A vector (size,)."""
    return shaped(value, (size,), name)


def shaped(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """`value` as float64 of exactly this shape; NaN is let through, it stays with its robot."""
    array = _as_float(value, name)
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {array.shape}")
    return array


def robots_asked(fleet: Fleet, mask: Any) -> NDArray[np.bool_]:
    """Which robots are asked for (A,); None is all."""
    if mask is None:
        return np.ones(len(fleet), dtype=bool)
    refuse_look_alikes(mask, "mask")
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError) as error:
        raise InputError(f"mask is not a list of booleans: {error}") from None
    if array.dtype.kind != "b":
        raise InputTypeError(f"mask must hold booleans, got {array.dtype}")
    if array.shape != (len(fleet),):
        raise InputError(f"mask must have shape ({len(fleet)},), one entry per robot, got {array.shape}")
    return array


def buffer_of(buffer: Any, shape: tuple[int, ...], name: str) -> Array:
    """The buffer that is given, or a new one of zeros."""
    if buffer is None:
        return np.zeros(shape)
    check_buffer(buffer, shape, name)
    return buffer  # type: ignore[no-any-return]


def check_buffer(buffer: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuses what cannot be written in place."""
    if not isinstance(buffer, np.ndarray) or isinstance(buffer, np.ma.MaskedArray) or buffer.dtype.kind != "f":
        raise InputTypeError(f"{name} is written in place, so it must be a numpy array of floats, got {type(buffer)}")
    if buffer.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {buffer.shape}")
    if not buffer.flags.writeable:
        raise InputError(f"{name} is written in place, but it is read-only; pass a copy")
