"""Ports: the arrays that go in and out of a controller at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array, _as_float
from ..robot.errors import InputError, InputTypeError
from ..robot.fleet import IndexedView

_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, slots=True)
class Port:
    """One input array.

    Attributes:
        name: Attribute of `Inputs`.
        shape: Shape it must have.
        fill: What each entry along the first axis starts as; 0 by default.
        off: Why it is None and must stay so; None where it is in use.
        gain: Whether it holds gains, which must not be negative.
        quaternion: Whether its rows end in quaternions xyzw, which must not be of length 0.
    """

    name: str
    shape: tuple[int, ...]
    fill: tuple[float, ...] | float = 0.0
    off: str | None = None
    gain: bool = False
    quaternion: bool = False

    def allocate(self) -> Array | None:
        """A new array, or None where the port is off."""
        if self.off is not None:
            return None
        array = np.empty(self.shape)
        array[...] = self.fill
        return array

    def read(self, value: Any) -> Array:
        """The port's value as float64 of the right shape.

        Raises:
            InputTypeError: if it is None or not numeric.
            InputError: if its shape is another one.
        """
        if type(value) is np.ndarray and value.dtype == _FLOAT and value.shape == self.shape:
            return value
        if value is None:
            raise InputTypeError(f"inputs.{self.name} is None; it must be an array of shape {self.shape}")
        array = _as_float(value, f"inputs.{self.name}")
        if array.shape != self.shape:
            raise InputError(f"inputs.{self.name} must have shape {self.shape}, got {array.shape}")
        return array

    def refuse(self, value: Any) -> None:
        """A port that is off must stay None."""
        if value is not None:
            raise InputError(f"inputs.{self.name} must stay None: {self.off}")


class Ports:
    """What inputs and outputs have in common: a line of what they hold, instead of thousands of numbers."""

    __slots__ = ()

    def __repr__(self) -> str:
        held, off = [], 0
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = getattr(self, name)
            if value is None:
                off += 1
                continue
            array = np.asarray(value)
            zero = " all 0" if array.dtype.kind in "fiu" and not array.any() else ""
            held.append(f"{name} {array.shape}{zero}")
        rest = f"; {off} not in use" if off else ""
        return f"<{type(self).__qualname__}: {', '.join(held)}{rest}>"


def writable(value: Any, shape: tuple[int, ...], name: str = "joint_f") -> Any:
    """The array or live view that torques, or what else an output holds, go to.

    Raises:
        InputTypeError: if it cannot be written in place.
        InputError: if its shape is another one.
    """
    if type(value) is IndexedView:
        array, seen = value.array, value.shape
    elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        array, seen = value, value.shape
    else:
        raise InputTypeError(
            f"outputs.{name} is written in place, so it must be a numpy array or a fleet.view, got "
            f"{type(value).__name__}"
        )
    if array.dtype.kind != "f":
        raise InputTypeError(f"outputs.{name} must hold floats, got {array.dtype}")
    if seen != shape:
        raise InputError(f"outputs.{name} must have shape {shape}, got {seen}")
    if not array.flags.writeable:
        raise InputError(f"outputs.{name} is read-only")
    return value
