"""Controllers: joint torques from states and targets, joint velocities from wrenches; for one robot or a fleet."""

from __future__ import annotations

from . import admittance_law, closed_loop, laws
from .admittance_fleet import CartesianAdmittanceFleet
from .admittance_result import AdmittanceResult, AdmittanceSnapshot, AdmittanceStatus
from .cartesian_admittance import CartesianAdmittance
from .joint_admittance import JointAdmittance, JointAdmittanceResult
from .joint_impedance import ControllerJointImpedance, ControllerJointImpedanceModelFree
from .loop_command import VelocityServo
from .loop_report import LimitBreach, LoopReport
from .operational_space import ControllerOperationalSpace, ControllerOperationalSpaceModelFree
from .recording import Recording
from .rollout import rollout
from .rollout_result import Rollout
from .sensing import Measured, Sensing
from .surroundings import Wall, WrenchProfile

__all__ = [
    "AdmittanceResult",
    "AdmittanceSnapshot",
    "AdmittanceStatus",
    "CartesianAdmittance",
    "CartesianAdmittanceFleet",
    "ControllerJointImpedance",
    "ControllerJointImpedanceModelFree",
    "ControllerOperationalSpace",
    "ControllerOperationalSpaceModelFree",
    "JointAdmittance",
    "JointAdmittanceResult",
    "LimitBreach",
    "LoopReport",
    "Measured",
    "Recording",
    "Rollout",
    "Sensing",
    "VelocityServo",
    "Wall",
    "WrenchProfile",
    "admittance_law",
    "closed_loop",
    "laws",
    "rollout",
]
