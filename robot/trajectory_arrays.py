"""The arrays of a trajectory at the door: times that increase, columns that fit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .arrays import LARGEST, Array, matrix, scalar
from .errors import InputError, InputTypeError

CLOSEST = 1e-6
"""Samples nearer in time than this [s] are refused: a derivative between them would be rounding."""


def kept(array: Array) -> Array:
    """A read-only copy."""
    copy: Array = array.copy()
    copy.setflags(write=False)
    return copy


def checked_times(value: Any) -> Array:
    """At least two times, increasing (N,)."""
    t = matrix(value, (-1,), "t")
    if len(t) < 2:
        raise InputError(f"t must hold at least 2 samples, got {len(t)}")
    problem = out_of_order(t)
    if problem is not None:
        raise InputError(f"t[{problem[0]}] {problem[1]}")
    _require_reason(t, "t")
    return t


def checked_samples(value: Any, count: int, name: str) -> Array:
    """Rows (count, N) of numbers that may be joint positions or their derivatives."""
    array = matrix(value, (count, -1), name)
    _require_reason(array, name)
    return array


def _require_reason(array: Array, name: str) -> None:
    if array.size and not np.abs(array).max() <= LARGEST:
        raise InputError(f"{name} holds {np.abs(array).max():.3g}; numbers beyond {LARGEST:g} are no motion")


def out_of_order(t: Array) -> tuple[int, str] | None:
    """The first time that does not come after the one before it, and what is wrong with it."""
    bad = np.flatnonzero(~(np.diff(t) >= CLOSEST))
    if not len(bad):
        return None
    i = int(bad[0]) + 1
    step = t[i] - t[i - 1]
    if step < 0:
        return i, f"= {t[i]:.9g} s comes before the time in front of it, {t[i - 1]:.9g} s; sort the rows by time"
    if step == 0:
        return i, f"= {t[i]:.9g} s repeats the time in front of it; drop one of the two"
    return i, f"= {t[i]:.9g} s is only {step:.2g} s after the one in front of it, {CLOSEST:g} s at least; drop one"


def require_widths(q: Array, dq: Array | None, ddq: Array | None) -> None:
    """Refuses columns that cannot belong together."""
    if q.shape[1] == 0:
        raise InputError("q must have a column for every joint, got none")
    if dq is not None and ddq is not None and dq.shape != ddq.shape:
        raise InputError(f"dq and ddq must have the same shape, got {dq.shape} and {ddq.shape}")
    for rate, name in ((dq, "dq"), (ddq, "ddq")):
        if rate is not None and rate.shape[1] > q.shape[1]:
            raise InputError(f"{name} has {rate.shape[1]} columns, more than the {q.shape[1]} of q")


def checked_names(names: Any, width: int) -> tuple[str, ...] | None:
    """A different name for each of so many columns, or None."""
    if names is None:
        return None
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputTypeError(f"names must be a sequence of joint names, got {names!r}")
    listed = tuple(names)
    if len(listed) != width:
        raise InputError(f"names must have one for each of the {width} columns of q, got {len(listed)}")
    twice = next((name for name, count in Counter(listed).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"names has {twice!r} twice")
    return listed


def even_times(t: Array, dt: Any) -> Array:
    """Times every `dt` [s] from the first of `t` (N,), and the last.

    Raises:
        InputError: if that is longer than they last: somebody may have meant a number of samples.
    """
    step, duration = scalar(dt, "dt", minimum=CLOSEST), float(t[-1] - t[0])
    if step > duration * (1.0 + 1e-9):
        raise InputError(
            f"dt is the time between samples, {step:g} s is more than the {duration:g} s there are; "
            f"times=np.linspace({t[0]:g}, {t[-1]:g}, n) gives n samples"
        )
    count = int(np.ceil(duration / step - 1e-9))
    return np.append(t[0] + step * np.arange(max(count, 1)), t[-1])
