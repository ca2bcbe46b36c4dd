"""The error of a pose and its derivative: what a method has to bring to zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError, unknown_name
from ..robot.spatial import ReferenceFrame, exp3, exp6, inverse, jlog3, jlog6, log3, log6, pose_error
from ..robot.tolerance import CartesianSphere, RotationAbsolute, ToleratedPose
from ..robot.transformation import Transformation
from .cost import pose_cost

if TYPE_CHECKING:
    from ..robot.base import RobotBase

Evaluate = Callable[[Array], tuple[Array, Array]]

FREE = 1e9
"""Stands for a radius without bound."""
ALL_TERMS = np.ones(6, dtype=np.bool_)
POSITION_TERMS = np.array([True, True, True, False, False, False])


def error_and_jacobian(robot: RobotBase, q: Array, frame: str, goal: Array, world: bool) -> tuple[Array, Array]:
    """Error (6,) of a frame's pose against `goal` (4, 4) and J (6, nv), with de/dq = -J.

    tcp:   `e = log6(T^-1 T_goal)`, `J = Jlog6(T_goal^-1 T) J_local`
    world: `e = (p_goal - p, log3(R_goal R^T))`, `J = blkdiag(I, Jlog3(R_goal R^T)) J_lwa`

    So `dq = J^+ e` reduces e to first order. Pinocchio's Jlog3 and Jlog6.
    """
    pose = robot.pose(q, frame)
    if world:
        jacobian = robot.frame_jacobian(q, frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        turn = goal[:3, :3] @ pose[:3, :3].T
        e = np.concatenate((goal[:3, 3] - pose[:3, 3], log3(turn)))
        jacobian[3:] = jlog3(turn) @ jacobian[3:]
        return e, jacobian
    deviation = inverse(goal) @ pose
    return -log6(deviation), jlog6(deviation).dot(robot.frame_jacobian(q, frame, ReferenceFrame.LOCAL))


def terms(
    goal: ToleratedPose, tcp_or_world_frame: str | None = None, error_term_mask: Any = None
) -> tuple[bool, NDArray[np.bool_]]:
    """Whether errors are taken in the world, and which of the six count.

    Where nothing is said, a pose whose rotation is free is a matter of world positions only.

    Raises:
        InputError: for another frame than "tcp" and "world" or a mask that is not six booleans.
    """
    free = goal.tolerance.rotation_radius >= math.pi and error_term_mask is None and tcp_or_world_frame is None
    if tcp_or_world_frame not in (None, "tcp", "world"):
        raise unknown_name("tcp_or_world_frame", tcp_or_world_frame, ("tcp", "world"))
    world = tcp_or_world_frame == "world" or free
    if error_term_mask is None:
        return world, POSITION_TERMS if free else ALL_TERMS
    mask = boolean_mask(error_term_mask, 6, "error_term_mask")
    if not mask.any():
        raise InputError("error_term_mask must leave at least one of the six error terms")
    return world, mask


def boolean_mask(value: Any, size: int, name: str) -> NDArray[np.bool_]:
    """A mask (size,) of booleans; 0 and 1 count as such."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} must hold {size} booleans, got rows of different lengths") from None
    if array.shape != (size,):
        raise InputError(f"{name} must have shape ({size},), got {array.shape}")
    if array.dtype != np.bool_ and not (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
        raise InputTypeError(f"{name} must hold booleans, got {array.dtype}")
    return array.astype(np.bool_)


class PoseTask:
    """The error terms that count, for one robot and one goal."""

    def __init__(self, robot: RobotBase, goal: ToleratedPose, world: bool, mask: NDArray[np.bool_]) -> None:
        self.goal = goal
        self.world = world
        self.rows = None if mask.all() else np.flatnonzero(mask)
        self.mask, self.count = mask, int(mask.sum())
        tolerance = goal.tolerance
        self.position_radius = min(tolerance.position_radius, FREE)
        self.rotation_radius = min(tolerance.rotation_radius, FREE)
        self.hollow = min(self.position_radius, self.rotation_radius) <= 0.0
        """Whether the tolerance leaves out the nominal pose itself, so that `measure` cannot tell what is within it."""
        parts = getattr(tolerance, "parts", (tolerance,))
        round_parts = all(isinstance(part, CartesianSphere | RotationAbsolute) for part in parts)
        self.is_ball = round_parts and not self.hollow
        """Whether the two radii are all there is to the tolerance."""
        # a little less, so that what is found here is not refused for rounding
        self._position_square = (self.position_radius * (1.0 - 1e-9)) ** 2
        self._rotation_square = (self.rotation_radius * (1.0 - 1e-9)) ** 2
        whole = _evaluator(robot, robot.tcp, goal.nominal.homogeneous, world)
        self.evaluate: Evaluate = whole if self.rows is None else _selected(whole, self.rows)
        """Error (m,) of the terms that count at q (nq,), and J (m, nv), with de/dq = -J."""

    def measure(self, e: Array) -> tuple[float, float, bool]:
        """Of an error (m,): its square, the default cost, and whether it is safely within the tolerance."""
        if self.rows is None:
            x, y, z, a, b, c = e.tolist()
        else:
            full = np.zeros(6)
            full[self.rows] = e
            x, y, z, a, b, c = full.tolist()
        linear, angular = x * x + y * y + z * z, a * a + b * b + c * c
        square = linear + angular
        met = linear <= self._position_square and angular <= self._rotation_square and not self.hollow
        angle = math.sqrt(angular)
        if not self.world and angular > 1e-12:
            # |p| of a screw motion: its pitch along the axis, a chord instead of an arc across it
            along = (x * a + y * b + z * c) ** 2 / angular
            linear = along + (2.0 * math.sin(0.5 * angle) / angle) ** 2 * max(linear - along, 0.0)
        return square, pose_cost(math.sqrt(linear), angle), met

    def seen(self, pose: Array) -> Array:
        """The pose (4, 4) with the terms that do not count taken as perfect; what the tolerance is asked about."""
        return pose if self.rows is None else _through_mask(pose, self.goal.nominal.homogeneous, self.world, self.mask)

    def judge(self, pose: Array) -> tuple[float, float, bool]:
        """Distance [m] and angle [rad] of a pose (4, 4) in the terms that count, and whether it is tolerated."""
        seen = self.seen(pose)
        distance, angle = pose_error(seen, self.goal.nominal.homogeneous)
        met = not self.hollow and distance <= self.position_radius and angle <= self.rotation_radius
        return distance, angle, met or (not self.is_ball and self.goal.valid(Transformation._trusted(seen)))

    def accepts(self, pose: Array) -> bool:
        """Whether a pose (4, 4) is within the tolerance, as far as the terms count."""
        return self.judge(pose)[2]


def _through_mask(pose: Array, goal: Array, world: bool, mask: NDArray[np.bool_]) -> Array:
    if not world:
        return goal @ inverse(exp6(log6(inverse(pose) @ goal) * mask))
    e = np.concatenate((goal[:3, 3] - pose[:3, 3], log3(goal[:3, :3] @ pose[:3, :3].T))) * mask
    result = goal.copy()
    result[:3, 3] -= e[:3]
    result[:3, :3] = exp3(e[3:]).T @ goal[:3, :3]
    return result


def _evaluator(robot: RobotBase, frame: str, goal: Array, world: bool) -> Evaluate:
    native_chain = getattr(robot, "native_chain", None)
    chain = None if native_chain is None else native_chain(frame)
    if chain is not None:
        native: Callable[[Array, Array, bool], tuple[Array, Array]] = chain.error_and_jacobian
        return lambda q: native(q, goal, world)
    # a backend may do this faster than its primitives allow
    own: Callable[..., tuple[Array, Array]] = getattr(robot, "error_and_jacobian", partial(error_and_jacobian, robot))
    return lambda q: own(q, frame, goal, world)


def _selected(whole: Evaluate, rows: NDArray[np.intp]) -> Evaluate:
    def evaluate(q: Array) -> tuple[Array, Array]:
        e, jacobian = whole(q)
        return e[rows], jacobian[rows]

    return evaluate
