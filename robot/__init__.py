"""Robots: descriptions, kinematics, dynamics, values of rigid motion, tolerances."""

from __future__ import annotations

from .base import RobotBase
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
from .fleet import Fleet, IndexedView
from .fleet_dynamics import (
    eval_fk,
    eval_inverse_dynamics_force,
    eval_inverse_dynamics_passive,
    eval_jacobian,
    eval_mass_matrix,
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
    "CartesianBox",
    "CartesianCylinder",
    "CartesianSphere",
    "Composed",
    "Coupling",
    "DescriptionError",
    "Fleet",
    "IndexedView",
    "InputError",
    "InputTypeError",
    "JointLimits",
    "KnuckleError",
    "MissingDependencyError",
    "Motors",
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
    "eval_fk",
    "eval_inverse_dynamics_force",
    "eval_inverse_dynamics_passive",
    "eval_jacobian",
    "eval_mass_matrix",
]
