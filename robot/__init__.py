"""Robots: descriptions, kinematics, dynamics, values of rigid motion, tolerances."""

from __future__ import annotations

from .base import RobotBase
from .body import BodyGeometry, PinBody
from .collision import Distance
from .collision_pairs import SampledPairs
from .collision_queries import Collision
from .constraints import (
    CollisionFree,
    ConstraintResult,
    CoterminalJointAngles,
    CustomConstraint,
    EndEffectorPose,
    EndEffectorVelocity,
    JointBox,
    RobotConstraint,
    SelfCollisionFree,
    WithinJointLimits,
)
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
from .obstacle import Obstacle
from .pin_robot import PinRobot
from .scene import Task
from .spatial import ReferenceFrame
from .srdf import Srdf
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
from .trajectory import Trajectory
from .transformation import PoseDistance, Transformation, TransformationLike

__all__ = [
    "DEFAULT_TOLERANCE",
    "BodyGeometry",
    "CartesianBox",
    "CartesianCylinder",
    "CartesianSphere",
    "Collision",
    "CollisionFree",
    "Composed",
    "ConstraintResult",
    "CoterminalJointAngles",
    "Coupling",
    "CustomConstraint",
    "DescriptionError",
    "Distance",
    "EndEffectorPose",
    "EndEffectorVelocity",
    "Fleet",
    "IndexedView",
    "InputError",
    "InputTypeError",
    "JointBox",
    "JointLimits",
    "KnuckleError",
    "MissingDependencyError",
    "Motors",
    "Obstacle",
    "PinBody",
    "PinRobot",
    "PoseDistance",
    "ReferenceFrame",
    "RobotBase",
    "RobotConstraint",
    "RotationAbsolute",
    "RotationAxes",
    "RotationAxis",
    "SampledPairs",
    "SelfCollisionFree",
    "Srdf",
    "Task",
    "Tolerance",
    "ToleratedPose",
    "Trajectory",
    "Transformation",
    "TransformationLike",
    "UnknownNameError",
    "UnsupportedError",
    "WithinJointLimits",
    "eval_fk",
    "eval_inverse_dynamics_force",
    "eval_inverse_dynamics_passive",
    "eval_jacobian",
    "eval_mass_matrix",
]
