"""The default cost of a configuration: one number for distance and angle to the goal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..robot.arrays import Array
from ..robot.spatial import pose_error
from ..robot.tolerance import ToleratedPose
from ..robot.transformation import Transformation

if TYPE_CHECKING:
    from ..robot.base import RobotBase

CostFunction = Callable[[Any, Array, Any], float]
"""Called as `f(robot, q, goal)`, q (nq,), goal the desired Transformation; smaller is better."""

ANGLE_WEIGHT = 1.0 / (2.0 * math.pi)
"""Weight of a radian against a metre: half a metre costs as much as half a turn."""
NORMALISATION = 1.0 / (1.0 + ANGLE_WEIGHT)


def pose_cost(distance: float, angle: float) -> float:
    """The default cost of a distance [m] and an angle [rad]: `(p + theta / (2 pi)) / (1 + 1 / (2 pi))`."""
    return (distance + ANGLE_WEIGHT * angle) * NORMALISATION


def default_ik_cost_function(robot: RobotBase, q: Array, goal: Any) -> float:
    """Cost of a configuration: `(p + theta / (2 pi)) / (1 + 1 / (2 pi))`, 0 at the goal.

    Args:
        robot: The robot whose tcp is to reach the goal.
        q: Configuration (nq,).
        goal: Desired pose of the tcp in the world: ToleratedPose, Transformation, SE3 or 4x4 array.

    Returns:
        The cost for p [m] the distance of the origins and theta [rad], in [0, pi], the angle between the axes: 1 for
        1 m and 1 rad together; 0.5 m costs as much as half a turn.
    """
    if isinstance(goal, ToleratedPose):
        goal = goal.nominal
    matrix = goal.homogeneous if isinstance(goal, Transformation) else Transformation(goal).homogeneous
    return pose_cost(*pose_error(robot.pose(q, robot.tcp), matrix))
