"""Bounds of joints: positions, and how fast, how hard and how abruptly they may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, _as_float
from .errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Bounds in the robot's own coordinates, infinite where there is none; the arrays are read-only.

    Attributes:
        position: (2, nq), lower above upper [rad or m].
        velocity: (nv,), greatest absolute value [rad/s or m/s].
        acceleration: (nv,) [rad/s^2 or m/s^2].
        torque: (nv,) [N m or N].
        jerk: (nv,) [rad/s^3 or m/s^3].
    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    jerk: Array

    @classmethod
    def create(
        cls,
        nq: int,
        nv: int,
        position: Any = None,
        velocity: Any = None,
        acceleration: Any = None,
        torque: Any = None,
        jerk: Any = None,
    ) -> JointLimits:
        """Checked limits; what is None is unlimited, a single number holds for every joint.

        Args:
            nq: Coordinates of the robot.
            nv: Its degrees of freedom.
            position: Lower above upper (2, nq) [rad or m].
            velocity: Greatest absolute value (nv,) [rad/s or m/s].
            acceleration: Likewise [rad/s^2 or m/s^2].
            torque: Likewise [N m or N].
            jerk: Likewise [rad/s^3 or m/s^3].

        Raises:
            InputError: on a wrong shape, a NaN, a lower above an upper bound or a negative limit.
        """
        bounds = _shaped(position, (2, nq), "position limits", [[-np.inf], [np.inf]])
        if (bounds[0] > bounds[1]).any():
            worst = int(np.argmax(bounds[0] > bounds[1]))
            raise InputError(
                f"position limits: lower {bounds[0, worst]} exceeds upper {bounds[1, worst]} at index {worst}"
            )
        if (bounds[0] == np.inf).any() or (bounds[1] == -np.inf).any():
            raise InputError(
                "position limits: no position lies above a lower limit of inf or below an upper one of -inf"
            )
        rates = {"velocity": velocity, "acceleration": acceleration, "torque": torque, "jerk": jerk}
        checked = {name: _shaped(value, (nv,), f"{name} limits", np.inf) for name, value in rates.items()}
        for name, value in checked.items():
            if (value < 0).any():
                raise InputError(f"{name} limits must not be negative, got {value.min()}")
        return cls(bounds, checked["velocity"], checked["acceleration"], checked["torque"], checked["jerk"])


def _shaped(value: Any, shape: tuple[int, ...], name: str, default: Any) -> Array:
    array = _as_float(default if value is None else value, name)
    array = np.array(np.broadcast_to(array, shape) if array.ndim == 0 or value is None else array)
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"{name} must not be NaN, got it at {np.argwhere(np.isnan(array))[0].tolist()}")
    array.setflags(write=False)
    return array
