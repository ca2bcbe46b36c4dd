"""Robot kinematics, dynamics, inverse kinematics and control on the CPU, backed by Pinocchio."""

from __future__ import annotations

from importlib.metadata import version as _version

from .robot import (
    PinRobot,
    ReferenceFrame,
    RobotBase,
    ToleratedPose,
    Transformation,
)

__version__ = _version("knuckle")
