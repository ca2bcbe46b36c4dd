"""Dynamics terms of robots that share one model, one state (nq,) or many (N, nq) in one call.

What controllers and `eval_*` ask of a robot; `terms_of` picks the fastest there is. States are in the robot's own
coordinates (a free root as in Pinocchio, see `fleet_roots`); NaN in one state stays there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .arrays import Array
from .base import RobotBase
from .errors import UnsupportedError
from .fleet_roots import FreeRoot
from .pin_robot import PinRobot
from .spatial import ReferenceFrame

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
_WEIGHTLESS = np.zeros(3)


class RobotTerms:
    """The terms by the primitives of any robot, state by state."""

    roots: tuple[FreeRoot, ...] = ()

    def __init__(self, robot: RobotBase) -> None:
        self.robot = robot

    def normalised(self, q: Array) -> Array:
        """`q` with unit quaternions."""
        return q

    def velocity(self, q: Array, qd: Array) -> Array:
        """The robot's own velocity of the fleet's."""
        for root in self.roots:
            qd = root.velocity(q, qd)
        return qd

    def inverse_dynamics(self, q: Array, dq: Array, ddq: Array, gravity: bool) -> Array:
        """M ddq + C dq [+ g] (..., nv)."""
        pull = None if gravity else _WEIGHTLESS
        if q.ndim == 1:
            return self.robot.rnea(q, dq, ddq, pull)
        return self._each(lambda i: self.robot.rnea(q[i], dq[i], ddq[i], pull), len(q), (self.robot.nv,))

    def mass_matrix(self, q: Array) -> Array:
        """M (..., nv, nv)."""
        if q.ndim == 1:
            return self.robot.crba(q)
        return self._each(lambda i: self.robot.crba(q[i]), len(q), (self.robot.nv, self.robot.nv))

    def pose_and_jacobian(self, q: Array, frame: str) -> tuple[Array, Array]:
        """Pose (..., 4, 4) of a frame in the world and its Jacobian (..., 6, nv), world axes."""
        if q.ndim == 1:
            return self.robot.pose(q, frame), self.robot.frame_jacobian(q, frame, LWA)
        return self.robot.pose_batch(q, frame), self.robot.frame_jacobian_batch(q, frame, LWA)

    def bias_acceleration(self, q: Array, dq: Array, frame: str) -> Array:
        """dJ/dt dq (..., 6), world axes."""
        if q.ndim == 1:
            return self.robot._jacobian_derivative(q, dq, frame, LWA) @ dq
        return self._each(lambda i: self.robot._jacobian_derivative(q[i], dq[i], frame, LWA) @ dq[i], len(q), (6,))

    def body_poses(self, q: Array) -> Array:
        """Poses of the bodies in the world (..., n, 4, 4): the base, then what each joint moves."""
        if q.ndim == 2:
            return self._each(lambda i: self.body_poses(q[i]), len(q), (len(self.robot.joints) + 1, 4, 4))
        return np.concatenate((self.robot.placement.homogeneous[None], self.robot.joint_poses(q)))

    def body_of(self, frame: str) -> tuple[int, Array]:
        """Index of the body a frame is fixed to, and the frame's pose in it (4, 4)."""
        raise UnsupportedError(f"{type(self.robot).__name__} does not say which body its frames are fixed to")

    def _each(self, function: Callable[[int], Array], count: int, shape: tuple[int, ...]) -> Array:
        result = np.empty((count, *shape))
        for i in range(count):
            result[i] = function(i)
        return result


def terms_of(robot: RobotBase, native: bool = True, threads: int | None = None) -> RobotTerms:
    """The terms of a robot, good for its present version.

    Args:
        robot: The robot.
        native: Whether the native kernel may serve them.
        threads: Of the kernel, see `native.threads_for`.
    """
    if not isinstance(robot, PinRobot):
        return RobotTerms(robot)
    from .fleet_pinocchio import LaneTerms, PinTerms

    bodies = robot.native_bodies() if native else None
    return PinTerms(robot) if bodies is None else LaneTerms(robot, bodies, threads)


def same_model(a: RobotBase, b: RobotBase) -> bool:
    """Whether two robots have the same terms in every state, frames included."""
    if a is b:
        return True
    if not (isinstance(a, PinRobot) and isinstance(b, PinRobot)):
        return False
    return bool(a.couplings == b.couplings and a.placement == b.placement and a.model == b.model)
