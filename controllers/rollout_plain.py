"""The loops of a rollout step by step in numpy, on any robot: the readable reference of `native/rollout.hpp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.base import RobotBase
from ..robot.spatial import ReferenceFrame
from .laws import limit_torque
from .native_step import NativeSteps

RUNAWAY = 1e6
"""Speed [rad/s or m/s] at which a robot is lost."""
_LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """What moves in some of the trajectories.

    Attributes:
        robot: The robot that moves.
        tool: Its frame where walls push, None without walls.
        rows: The trajectories (N,).
    """

    robot: RobotBase
    tool: str | None
    rows: NDArray[np.intp]


class PlainLoop:
    """Trajectories under one group of a controller, its law evaluated for all of them at once.

    Args:
        controller: The controller.
        group: Its group.
        members: The controlled robot of each trajectory (N,).
        ports: What it reads besides states.
        plants: What moves, of equal sizes.
        setting: Step, switches and walls.
    """

    def __init__(
        self,
        controller: NativeSteps,
        group: Any,
        members: Any,
        ports: dict[str, Array],
        plants: list[Plant],
        setting: Any,
    ) -> None:
        self._controller, self._group, self._ports = controller, group, dict(ports)
        self._plants, self._setting = plants, setting
        self._shared = controller.controlled_robot_count == 1
        self._rows = np.searchsorted(group.members, members)

    def step(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """Torques (N, nv) at states (N, nq), (N, nv), and the wall's force on each tool (N, 3)."""
        force = np.zeros((len(q), 3))
        for plant in self._plants:
            force[plant.rows] = self._push(plant, q[plant.rows], dq[plant.rows])
        tau = np.zeros(dq.shape)
        tau[:, self._group._joints[0]] = self._torques(q, dq, force)
        return tau, force

    def ahead(self, what: Plant, q: Array, dq: Array, tau: Array, force: Array) -> tuple[Array, Array]:
        """States after dt: (M + dt D) ddq = tau - C dq - g - friction + J^T f, dq += dt ddq, q (+)= dt dq."""
        s, plant = self._setting, what.robot
        M, diagonal = plant.crba_batch(q), np.arange(plant.nv)
        rest = tau - plant.rnea_batch(q, dq, np.zeros(plant.nv))
        if what.tool is not None:
            rest += (force[:, None] @ plant.frame_jacobian_batch(q, what.tool, _LWA)[:, :3])[:, 0]
        motors = plant.motors
        if s.motor_inertia:
            M[:, diagonal, diagonal] += motors.reflected_inertia
        if s.friction:
            rest -= plant._friction(dq)
            slope = motors.damping + 100.0 * motors.coulomb / (1.0 + (100.0 * dq) ** 2) ** 1.5
            M[:, diagonal, diagonal] += s.dt * slope
        dq = dq + s.dt * np.linalg.solve(M, rest[..., None])[..., 0]
        return plant._integrate(q, s.dt * dq), dq

    def _push(self, what: Plant, q: Array, dq: Array) -> Array:
        """What the walls do to each tool (N, 3): n max(0, stiffness depth - damping n.v)."""
        force = np.zeros((len(q), 3))
        if what.tool is None:
            return force
        at = what.robot.pose_batch(q, what.tool)[:, :3, 3]
        speed = (what.robot.frame_jacobian_batch(q, what.tool, _LWA)[:, :3] @ dq[..., None])[..., 0]
        for wall in self._setting.walls:
            normal = wall[3:6]
            depth = (wall[:3] - at) @ normal
            size = np.where(depth > 0.0, np.maximum(0.0, wall[6] * depth - wall[7] * (speed @ normal)), 0.0)
            force += size[:, None] * normal
        return force

    def _torques(self, q: Array, dq: Array, force: Array) -> Array:
        """Of the controlled joints (N, n)."""
        qd, ports, group = dq, self._ports, self._group
        for root in group.terms.roots:
            qd = root.from_pinocchio(q, qd)
        feels = len(self._setting.walls) > 0 and "measured_wrench_world" in ports
        if self._shared:
            found = []
            for i in range(len(q)):
                ports["joint_q"], ports["joint_qd"] = q[i], qd[i]
                if feels:
                    ports["measured_wrench_world"] = np.concatenate((-force[i], np.zeros(3)))[None]
                found.append(self._limited(self._controller._evaluate(group, ports)))
            return np.array(found)
        fleet = self._controller._model.fleet
        flat = np.zeros(fleet.joint_coord_count), np.zeros(fleet.joint_dof_count)
        for array, entries, values in zip(flat, (group.q, group.qd), (q, qd), strict=True):
            spread = np.zeros((len(group.members), values.shape[1]))
            spread[self._rows] = values
            entries.put(array, spread.reshape(entries.shape))
        ports["joint_q"], ports["joint_qd"] = flat
        if feels:
            measured = ports["measured_wrench_world"].copy()
            measured[group.members[self._rows]] = np.concatenate((-force, np.zeros(force.shape)), axis=1)
            ports["measured_wrench_world"] = measured
        tau = self._limited(self._controller._evaluate(group, ports))
        return np.asarray(np.atleast_2d(tau)[self._rows])

    def _limited(self, tau: Array) -> Array:
        limits = self._group.fixed.get("torque_limits")
        tau = np.where(np.isfinite(tau).all(axis=-1, keepdims=True), tau, np.nan)
        return tau if limits is None else limit_torque(tau, limits, self._controller._limit_mode)

    def run(
        self,
        states: tuple[Array, Array],
        records: tuple[Array, Array, Array],
        lost: NDArray[np.int64],
        start: int,
        end: int,
    ) -> None:
        """Steps `start` to `end`; states (N, nq), (N, nv), records (K, N, ...) and `lost` are written in place."""
        s, (q, dq) = self._setting, states
        for k in range(start, end + (end == s.steps)):
            with np.errstate(all="ignore"):  # NaN stays with its robot
                tau, force = self.step(q, dq)
            if k % s.every == 0:
                for record, values in zip(records, (q, dq, tau), strict=True):
                    record[k // s.every] = values
            self._lose(lost, np.isfinite(tau).all(axis=1), k, q, dq)
            alive = lost < 0
            if k == end or not alive.any():
                continue
            with np.errstate(all="ignore"):
                for plant in self._plants:
                    at = plant.rows[alive[plant.rows]]
                    if len(at):
                        q[at], dq[at] = self.ahead(plant, q[at], dq[at], tau[at], force[at])
            self._lose(lost, (np.abs(dq) < RUNAWAY).all(axis=1), k, q, dq)

    def _lose(self, lost: NDArray[np.int64], good: Any, step: int, q: Array, dq: Array) -> None:
        lost[~good & (lost < 0)] = step
        q[lost >= 0], dq[lost >= 0] = np.nan, np.nan
