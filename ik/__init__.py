"""Inverse kinematics: `solve` and what goes in and comes out of it."""

from __future__ import annotations

from . import jacobian_method, scipy_method
from .batch import solve_batch
from .batch_result import BatchResult
from .branches import solve_all
from .callbacks import CallbackReturn, Constraint, IKCallback, chain
from .cost import CostFunction, default_ik_cost_function
from .debug import IKDebug
from .differential import DifferentialIK
from .goals import Pointing, PoseGoal
from .native_method import applies as native_applies
from .native_method import native_method
from .native_search import fast as native_fast
from .objectives import AwayFromLimits, Manipulability, Posture
from .paths import arc, arc_through, line, spline
from .problem import IKMeta, IKResult, IKStatus, InnerResult, IntermediateIkResult, as_target
from .registry import METHODS, register_method
from .solver import ik_jacobian, ik_jacobian_cpp, ik_scipy, solve
from .track import TrackResult, track
from .velocity_bounds import VelocityBounds
from .velocity_qp import solve_velocity
from .velocity_result import VelocityResult, VelocityStatus

register_method("scipy", scipy_method.scipy_method, minimises_cost=True, trusted=True, draws=False)
register_method(
    "jacobian",
    jacobian_method.jacobian_method,
    trusted=True,
    draws=False,
    prepare=jacobian_method.JacobianLoop,
)
register_method(
    "jacobian_cpp",
    native_method,
    fast=native_fast,
    applies=native_applies,
    steered=False,
    trusted=True,
    closes_in=False,
)

__all__ = [
    "METHODS",
    "AwayFromLimits",
    "BatchResult",
    "CallbackReturn",
    "Constraint",
    "CostFunction",
    "DifferentialIK",
    "IKCallback",
    "IKDebug",
    "IKMeta",
    "IKResult",
    "IKStatus",
    "InnerResult",
    "IntermediateIkResult",
    "Manipulability",
    "Pointing",
    "PoseGoal",
    "Posture",
    "TrackResult",
    "VelocityBounds",
    "VelocityResult",
    "VelocityStatus",
    "arc",
    "arc_through",
    "as_target",
    "chain",
    "default_ik_cost_function",
    "ik_jacobian",
    "ik_jacobian_cpp",
    "ik_scipy",
    "line",
    "register_method",
    "solve",
    "solve_all",
    "solve_batch",
    "solve_velocity",
    "spline",
    "track",
]
