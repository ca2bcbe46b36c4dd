"""What Cartesian admittance is held against: reference pose and wrench, dead zone, axes, the sensor's zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..robot.arrays import Array, vector
from ..robot.base import RobotBase
from ..robot.errors import InputError
from ..robot.transformation import Transformation, as_transformation
from .admittance_offset import Offset
from .admittance_options import chosen
from .admittance_settings import AdmittanceSettings, six
from .relative_task import RelativeTask
from .wrench_sensor import WrenchSensor


class AdmittanceReferences(AdmittanceSettings):
    """Setters and getters around the law; none makes the command jump."""

    robot: RobotBase
    _task: RelativeTask
    _sensor: WrenchSensor
    _sensor_frame: str | None
    _tool_axes: bool
    _reference: Array | None = None
    """Reference pose (4, 4), moving on with its twist."""
    _pose: Array | None = None
    """Pose of the distal link in the base link at the last tick (4, 4)."""
    _offset: Offset | None = None
    _q: Array | None = None
    """Configuration of the last tick."""
    _wrench_reference: Array
    _twist_ref: Array

    def set_reference(self, pose: Any, twist: Any = None) -> None:
        """The pose to be at when nothing pushes, in the base link.

        Args:
            pose: Transformation, SE3 or (4, 4) of the distal link in the base link.
            twist: How it moves (6,), base axes [m/s, rad/s]: added to the command as it is, and the reference moves
                on with it until it is set again; None stands still.
        """
        new = as_transformation(pose, "pose")
        forward = np.zeros(6) if twist is None else vector(twist, 6, "twist").copy()
        offset, self._twist_ref = self._offset, forward
        if offset is None or self._pose is None:
            self._reference = new.homogeneous.copy()
            return
        rate = offset.turned(self._motion.rate(offset.x))
        self._reference = new.homogeneous.copy()
        self._offset = Offset(self._pose, self._reference, self._tool_axes)
        self._motion.resume(self._offset.x, self._offset.turned_back(rate))

    @property
    def reference(self) -> Transformation | None:
        """The reference pose in the base link; None before the first tick makes it where the robot is."""
        return None if self._reference is None else Transformation(self._reference)

    def set_wrench_reference(self, wrench: Any) -> None:
        """The wrench (6,) the environment is to exert, at the controlled point, control axes [N, N m]."""
        self._wrench_reference = vector(wrench, 6, "wrench").copy()

    @property
    def wrench_reference(self) -> Array:
        """See `set_wrench_reference`."""
        return self._wrench_reference.copy()

    def set_dead_zone(self, dead_zone: Any) -> None:
        """The band per axis, a number or (6,), not negative [N, N m]."""
        band = six(dead_zone, "dead_zone")
        if (band < 0.0).any():
            raise InputError(f"dead_zone must not be negative, got {band.min():g}")
        self._sensor.band = band

    @property
    def dead_zone(self) -> Array:
        """The band in force (6,)."""
        return np.array(self._sensor.band)

    @property
    def axes(self) -> Any:
        """Which axes yield (6,)."""
        return self._axes.copy()

    @axes.setter
    def axes(self, value: Any) -> None:
        self._axes = chosen(value)

    # The sensor

    def tare(self, wrench: Any, q: Any = None) -> None:
        """Take the present reading for the sensor's zero.

        Args:
            wrench: One reading (6,) or several (N, 6), which are averaged; nothing may touch the tool.
            q: Where the robot is; None is the last tick's, or else the stored configuration.
        """
        self._sensor.tare(wrench, self._sensor_pose(self._where(q))[:3, :3])

    def set_tool(self, mass: Any, com: Any = None) -> None:
        """What hangs on the sensor: mass [kg], centre of mass in its axes (3,) [m]."""
        self._sensor.set_tool(mass, com)

    @property
    def bias(self) -> Array:
        """Zero of the sensor (6,), its own axes."""
        return self._sensor.bias.copy()

    def _sensor_pose(self, q: Array) -> Array:
        T = self.robot.pose(q, self._task.distal if self._sensor_frame is None else self._sensor_frame)
        return T if self._sensor.offset is None else T @ self._sensor.offset.homogeneous

    def _where(self, q: Any) -> Array:
        return self._q if q is None and self._q is not None else self.robot._single(q)
