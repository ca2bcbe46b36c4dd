"""Where one frame of a robot is relative to another, and how joints move it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..robot.arrays import Array
from ..robot.base import RobotBase
from ..robot.spatial import ReferenceFrame, skew

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


class Placed(NamedTuple):
    """A frame seen from the base link at one configuration.

    Attributes:
        pose: Of the frame in the base link (4, 4).
        jacobian: A (6, nv): twist of the frame's origin relative to the base link, base axes = A dq.
        world: Pose of the frame in the world (4, 4).
        axes: Axes of the base link in the world (3, 3); None if they are the world's.
    """

    pose: Array
    jacobian: Array
    world: Array
    axes: Array | None


class RelativeTask:
    """A distal link seen from a base link: "world", or any frame of the robot, moving or not.

        A = blkdiag(Rb^T, Rb^T) (J_d - S J_b),  S w = (v - [p_d - p_b]x omega, omega)

    with both Jacobians in world axes at the origin of their frame.
    """

    def __init__(self, robot: RobotBase, base_link: Any, distal_link: Any) -> None:
        self.robot = robot
        world = isinstance(base_link, str) and base_link == "world"
        self.base: str | None = None if world else robot._existing_frame(base_link, "base_link")
        self.distal: str = robot._existing_frame(distal_link, "distal_link")

    def at(self, q: Array) -> Placed:
        """The task at a configuration (nq,)."""
        robot = self.robot
        T, J = robot.pose(q, self.distal), robot.frame_jacobian(q, self.distal, LWA)
        if self.base is None:
            return Placed(T, J, T, None)
        B, Jb = robot.pose(q, self.base), robot.frame_jacobian(q, self.base, LWA)
        R, lever = B[:3, :3], T[:3, 3] - B[:3, 3]
        A = J - Jb
        A[:3] += skew(lever) @ Jb[3:]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = R.T @ T[:3, :3], R.T @ lever
        return Placed(pose, (R.T @ A.reshape(2, 3, -1)).reshape(6, -1), T, R)
