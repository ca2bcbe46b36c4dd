"""Controllers: joint torques from states and targets, for one robot or a fleet."""

from __future__ import annotations

from . import closed_loop, laws
from .joint_impedance import ControllerJointImpedance, ControllerJointImpedanceModelFree
from .operational_space import ControllerOperationalSpace, ControllerOperationalSpaceModelFree
from .recording import Recording
from .rollout import rollout
from .rollout_result import Rollout

__all__ = [
    "ControllerJointImpedance",
    "ControllerJointImpedanceModelFree",
    "ControllerOperationalSpace",
    "ControllerOperationalSpaceModelFree",
    "Recording",
    "Rollout",
    "closed_loop",
    "laws",
    "rollout",
]
