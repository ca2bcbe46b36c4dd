"""From the raw reading of a force and torque sensor to the wrench on a controlled point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..robot.arrays import Array, _as_float, matrix, scalar, vector
from ..robot.errors import InputError
from ..robot.transformation import Transformation, as_transformation
from .admittance_law import dead_zone


class WrenchSensor:
    """What a sensor reads: the environment on the robot, its own axes, about its own origin [N, N m].

        w = raw - bias - weight(R),  weight = (m R^T g, c x m R^T g)

    then turned into the axes asked for, its moment shifted to the controlled point, clamped, and freed of the dead
    zone, whose band is subtracted.
    """

    __slots__ = ("band", "bias", "clamp", "com", "gravity", "mass", "offset")

    def __init__(self, gravity: Array, offset: Any = None) -> None:
        self.gravity = gravity
        self.offset: Transformation | None = None if offset is None else as_transformation(offset, "sensor_offset")
        self.bias, self.band = np.zeros(6), np.zeros(6)
        self.mass, self.com = 0.0, np.zeros(3)
        self.clamp: Array | None = None

    def set_tool(self, mass: Any, com: Any = None) -> None:
        """What hangs on the sensor: mass [kg] and its centre in the sensor's frame (3,) [m]."""
        mass, com = scalar(mass, "mass", minimum=0.0), np.zeros(3) if com is None else vector(com, 3, "com").copy()
        self.mass, self.com = mass, com

    def weight(self, R: Array) -> Array:
        """What the sensor reads of the tool's weight (6,), its axes being the columns of R in the world."""
        if self.mass == 0.0:
            return np.zeros(6)
        force = self.mass * (R.T @ self.gravity)
        return np.concatenate((force, np.cross(self.com, force)))

    def tare(self, raw: Any, R: Array) -> None:
        """Take what is read now, beyond the tool's weight, for the sensor's bias; rows (N, 6) are averaged."""
        array = _as_float(raw, "wrench")
        rows = matrix(array, (-1, 6), "wrench") if array.ndim == 2 else vector(array, 6, "wrench")[None]
        if not len(rows):
            raise InputError("wrench must hold at least one reading to be averaged")
        self.bias = rows.mean(axis=0) - self.weight(R)

    def at(self, raw: Array, T_world_sensor: Array, point: Array, axes: Array | None) -> Array:
        """The wrench (6,) on a point of the world, in axes given as columns; None is the world's."""
        R = T_world_sensor[:3, :3]
        read = raw - self.bias
        if self.mass:
            read -= self.weight(R)
        turned = read.reshape(2, 3) @ (R.T if axes is None else R.T @ axes)
        lever = T_world_sensor[:3, 3] - point
        if lever.any():
            x, y, z = lever if axes is None else lever @ axes
            fx, fy, fz = turned[0].tolist()
            turned[1] += (y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
        return turned.reshape(6)

    def felt(self, wrench: Array) -> Array:
        """The wrench within the clamp, its dead zone subtracted."""
        if self.clamp is not None:
            wrench = np.minimum(np.maximum(wrench, -self.clamp), self.clamp)
        return dead_zone(wrench, self.band)
