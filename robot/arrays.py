"""Arguments at the door: one check of kind, shape and finiteness, then plain float64 arrays and numbers inside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, InputTypeError

Array = NDArray[np.float64]

_FLOAT = np.dtype(np.float64)


def refuse_look_alikes(value: Any, name: str) -> None:
    """Refuses what numpy would read as other numbers than are meant: masked entries as if unmasked, raw bytes."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} has masked entries; fill them in")
    if isinstance(value, bytes | bytearray | memoryview):
        raise InputTypeError(f"{name} must be an array of numbers, got {type(value).__name__}")


def _as_float(value: Any, name: str) -> Array:
    """`value` as a float64 array of any shape; refuses what is not numeric."""
    refuse_look_alikes(value, name)
    try:
        raw = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} is not a rectangular array of numbers: {error}") from None
    if raw.dtype.kind not in "fiu":
        if raw.dtype.kind == "b":
            raise InputTypeError(f"{name} holds booleans; numbers are needed")
        if raw.dtype.kind == "c":
            raise InputTypeError(f"{name} holds complex numbers; real numbers are needed")
        inside = "; its q is one" if isinstance(getattr(value, "q", None), np.ndarray) else ""
        raise InputTypeError(f"{name} must be an array of numbers, got {type(value).__name__} ({raw.dtype}){inside}")
    return raw.astype(np.float64, copy=False)


def _require_finite(array: Array, name: str) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.argwhere(~finite)
        where = ", ".join(str(int(i)) for i in bad[0])
        raise InputError(f"{name} must be finite, got {array[tuple(bad[0])]} at index [{where}]")


def vector(value: Any, size: int, name: str) -> Array:
    """A finite vector `(size,)`; `(size, 1)` and `(1, size)` are taken as the same vector.

    The result may share memory with `value`: copy before keeping it.

    Raises:
        InputTypeError: if `value` is not numeric.
        InputError: if its shape is another one or an entry is not finite.
    """
    if type(value) is np.ndarray and value.dtype == _FLOAT and value.shape == (size,):
        array = value
    else:
        array = _as_float(value, name)
        if array.ndim == 2 and array.shape in ((size, 1), (1, size)):
            array = array.reshape(size)
        if array.shape != (size,):
            raise InputError(f"{name} must have shape ({size},), got {array.shape}")
    if not math.isfinite(sum(array.tolist())):
        _require_finite(array, name)  # a sum may overflow although every entry is finite
    return array


def measured(value: Any, size: int, name: str) -> Array:
    """A vector `(size,)` of its own memory in which NaN and infinity may stand, as sensors give them."""
    array = _as_float(value, name)
    if array.shape != (size,):
        return vector(array, size, name).copy()
    return np.array(array)


LARGEST = 1e12
"""Number up to which something measured or asked for counts as real."""


def believable(array: Array) -> bool:
    """Whether a short vector holds no NaN, no infinity and nothing beyond `LARGEST`, all entries together."""
    return bool(sum(map(abs, array.tolist())) <= LARGEST)  # in Python's floats, which overflow without a warning


def bounds(value: Any, size: int, name: str) -> Array:
    """A vector `(size,)` in which infinity may stand, but not NaN."""
    array = _as_float(value, name)
    if array.shape != (size,):
        raise InputError(f"{name} must have shape ({size},), got {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"{name} must not be NaN")
    return array


def vector_or_batch(value: Any, size: int, name: str) -> Array:
    """A finite vector `(size,)` or a batch of them `(N, size)`, C-contiguous if a batch.

    An `(N, 1)` array for `size == N` is a column vector; for `size == 1` it is a batch.
    """
    if type(value) is np.ndarray and value.ndim == 1:
        return vector(value, size, name)
    array = _as_float(value, name)
    if array.ndim == 2 and array.shape[1] == size:
        batch = np.ascontiguousarray(array)
        _require_finite(batch, name)
        return batch
    if array.ndim <= 1 or (array.ndim == 2 and array.shape[1] == 1):
        return vector(array, size, name)
    raise InputError(f"{name} must have shape ({size},) or (N, {size}), got {array.shape}")


def matrix(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """A finite array of exactly `shape`; `-1` in `shape` stands for any length."""
    array = _as_float(value, name)
    if array.ndim != len(shape) or any(want not in (-1, got) for want, got in zip(shape, array.shape, strict=False)):
        wanted = ", ".join("N" if n == -1 else str(n) for n in shape)
        raise InputError(f"{name} must have shape ({wanted}{',' if len(shape) == 1 else ''}), got {array.shape}")
    _require_finite(array, name)
    return array


def scalar(
    value: Any, name: str, *, minimum: float | None = None, maximum: float | None = None, positive: bool = False
) -> float:
    """A finite number, optionally at least `minimum`, at most `maximum` or strictly positive."""
    if isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be a number, got a boolean")
    array = _as_float(value, name)
    if array.size != 1:
        raise InputError(f"{name} must be one number, got shape {array.shape}")
    number = float(array.reshape(()))
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite, got {number}")
    if positive and number <= 0:
        raise InputError(f"{name} must be positive, got {number}")
    if minimum is not None and number < minimum:
        raise InputError(f"{name} must be at least {minimum:g}, got {number}")
    if maximum is not None and number > maximum:
        raise InputError(f"{name} must be at most {maximum:g}, got {number}")
    return number


LONGEST = 1e9
"""Longest time that anything waits [s], thirty years: more than that overflows in the system's clocks."""


def seconds(value: Any, name: str) -> float:
    """A time to wait [s]."""
    return scalar(value, name, minimum=0.0, maximum=LONGEST)


def flag(value: Any, name: str) -> bool:
    """A boolean."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def thread_count(value: Any) -> int | None:
    """How many threads a caller wants; None leaves the choice to the size of the work."""
    return None if value is None else whole(value, "threads")


def whole(value: Any, name: str) -> int:
    """A whole number from 1 to 2^31 - 1."""
    number = scalar(value, name, minimum=1.0)
    if number != int(number) or number >= 2**31:
        raise InputError(f"{name} must be a whole number from 1 to 2^31 - 1, got {value}")
    return int(number)


def as_generator(rng: Any) -> np.random.Generator:
    """A Generator from a Generator, a seed, a SeedSequence, or None for fresh entropy."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool):
        raise InputTypeError("rng must be a numpy Generator or a seed, got a boolean")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"rng must be a numpy Generator or a seed >= 0, got {type(rng).__name__} ({error})"
        ) from None
