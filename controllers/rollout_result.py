"""Rollout: what many closed loops did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array, whole
from ..robot.base import RobotBase
from ..robot.errors import InputError, InputTypeError
from .recording import Recording


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rollout:
    """Records of N trajectories at K equidistant times; true if no robot was lost.

    The flat arrays hold one robot after the other. From the time a robot is lost its states are NaN.

    Attributes:
        time: [s] (K,).
        joint_q: Configurations (K, sum of nq) [rad or m].
        joint_qd: Velocities, the robots' own (K, sum of nv) [rad/s or m/s].
        joint_f: Torque commanded from each state (K, sum of nv) [N m or N]; 0 at joints that are not controlled.
        lost_at: Step at which a robot was lost (N,), -1 where it was not.
        robots: What moved, one per trajectory.
        tools: Frame of each that `recording` shows.
    """

    time: Array
    joint_q: Array
    joint_qd: Array
    joint_f: Array
    lost_at: NDArray[np.int64]
    robots: tuple[RobotBase, ...]
    tools: tuple[str | None, ...]

    def __bool__(self) -> bool:
        return bool((self.lost_at < 0).all())

    def __len__(self) -> int:
        return len(self.lost_at)

    def __repr__(self) -> str:
        lost = int((self.lost_at >= 0).sum())
        return f"<Rollout of {len(self)} trajectories, {self.time[-1]:.6g} s, {lost or 'none'} lost>"

    @property
    def q(self) -> Array:
        """Configurations (K, N, nq), a view; for robots of equal size."""
        return self._by_robot(self.joint_q, "joint_q")

    @property
    def dq(self) -> Array:
        """Velocities (K, N, nv), likewise."""
        return self._by_robot(self.joint_qd, "joint_qd")

    @property
    def tau(self) -> Array:
        """Torques (K, N, nv), likewise."""
        return self._by_robot(self.joint_f, "joint_f")

    def _by_robot(self, flat: Array, name: str) -> Array:
        if len({(robot.nq, robot.nv) for robot in self.robots}) > 1:
            raise InputError(f"the robots differ in size; use {name}, or recording(i)")
        return flat.reshape(len(self.time), len(self.robots), -1)

    def recording(self, index: int) -> Recording:
        """One trajectory on its own, up to where it was lost."""
        if not isinstance(index, int | np.integer):
            raise InputTypeError(f"index must be a whole number, got {index!r:.40}")
        if not -len(self) <= index < len(self):
            raise InputError(f"index must be less than {len(self)}, got {index}")
        i = index % len(self)
        robot, lost = self.robots[i], int(self.lost_at[i])
        q_at, v_at = sum(r.nq for r in self.robots[:i]), sum(r.nv for r in self.robots[:i])
        q, dq, tau = (
            flat[:, at : at + size]
            for flat, at, size in (
                (self.joint_q, q_at, robot.nq),
                (self.joint_qd, v_at, robot.nv),
                (self.joint_f, v_at, robot.nv),
            )
        )
        good = np.isfinite(q).all(axis=1) & np.isfinite(dq).all(axis=1)
        poses = robot.pose_batch(np.ascontiguousarray(q[good]), robot._frame(self.tools[i]))
        names = tuple(robot.coordinate_names), tuple(robot.dof_names)
        message = "" if lost < 0 else f"the robot was lost at step {whole(lost + 1, 'step') - 1}"
        return Recording(self.time[good], q[good], dq[good], tau[good], poses, *names, message)
