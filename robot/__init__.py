"""Robots: descriptions, kinematics, dynamics, values of rigid motion, tolerances."""

from __future__ import annotations

from .base import RobotBase
from .body import BodyGeometry, PinBody
from .couplings import Coupling
from .errors import (
    DescriptionError,
    InputError,
    InputTypeError,
    KnuckleError,
    MissingDependencyError,
    UnknownNameError,
    UnsupportedError,
)
from .limits import JointLimits
from .motors import Motors
from .pin_robot import PinRobot
from .spatial import ReferenceFrame
from .tolerance import (
    DEFAULT_TOLERANCE,
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    Composed,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
    Tolerance,
    ToleratedPose,
)
from .transformation import PoseDistance, Transformation, TransformationLike

__all__ = [
    "DEFAULT_TOLERANCE",
    "BodyGeometry",
    "CartesianBox",
    "CartesianCylinder",
    "CartesianSphere",
    "Composed",
    "Coupling",
    "DescriptionError",
    "InputError",
    "InputTypeError",
    "JointLimits",
    "KnuckleError",
    "MissingDependencyError",
    "Motors",
    "PinBody",
    "PinRobot",
    "PoseDistance",
    "ReferenceFrame",
    "RobotBase",
    "RotationAbsolute",
    "RotationAxes",
    "RotationAxis",
    "Tolerance",
    "ToleratedPose",
    "Transformation",
    "TransformationLike",
    "UnknownNameError",
    "UnsupportedError",
]
