"""The method "jacobian_cpp": damped least squares with limits and restarts in the native kernel (`native/ik.hpp`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..robot.arrays import Array, scalar
from ..robot.errors import InputError, UnsupportedError
from ..robot.tolerance import ToleratedPose
from .callbacks import IKCallback
from .cost import CostFunction, default_ik_cost_function, pose_cost
from .pose_task import boolean_mask
from .problem import IKMeta, IKResult, IKStatus, InnerResult

if TYPE_CHECKING:
    from .._core import Solver
    from ..robot.base import RobotBase

NAME = "jacobian_cpp"

# Constants of the iteration, found on panda, ur5 and iiwa14; between half and twice of each the cost changes little.
DAMPING = 0.1  # mu = DAMPING * |e|^2
POSITION_WEIGHT = 5.0  # of the stretched length against a radian
PATIENCE = 3  # an attempt ends when within so many iterations ...
SHRINK = 0.4  # ... the squared error has not fallen below so much of itself
ATTEMPT_ITERATIONS = 30
POLISH_ITERATIONS = 100  # for the closest pose, after all attempts failed
PROBE_ITERATIONS = 200  # for the question whether the limits alone stand in the way
UNBOUNDED_ATTEMPTS = 10**9
_ALL_ROWS = (True,) * 6
_ANY_TOLERANCE = 1e9


class _Setup(NamedTuple):
    """Solvers of one chain under one set of options, kept by the robot until it changes."""

    search: Solver
    polish: Solver
    unlimited: Solver
    pivot: Array
    """Where the first joint stands in the world (3,)."""
    reach: float
    """No point of the tip is farther from the pivot than this [m]."""
    columns: Array
    """Indices in q of the joints of the chain."""


def covers(robot: RobotBase) -> bool:
    """Whether the kernel can solve for this robot's tcp."""
    chain = _chain(robot)
    return chain is not None and 1 <= chain.joint_count <= 32


def _chain(robot: RobotBase) -> Any:
    native_chain = getattr(robot, "native_chain", None)
    return None if native_chain is None else native_chain(robot.tcp)
