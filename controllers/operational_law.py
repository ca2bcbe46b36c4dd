"""Operational-space control without the question where the dynamics come from: the law, and what it reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.spatial import quat_xyzw_from_rotation, rotation_from_quat_xyzw
from . import laws
from .gains import IDENTITY_POSE
from .groups import Group
from .operational_options import OperationalPorts
from .task_inertia import spread_of


class OperationalSpaceLaw(OperationalPorts):
    """The law of `laws.operational_space` between ports and torques; the dynamics come from a subclass."""

    _last: list[tuple[Any, tuple[Array, Array], Array, laws.TaskRecord]]

    # The step

    def _torques(self, ports: dict[str, Array]) -> Array:
        self._refresh()
        self._last = []  # groups may have been made anew
        return super()._torques(ports)

    def _law(
        self,
        group: Group,
        ports: dict[str, Array],
        tool: tuple[Array, Array],
        twist: Array,
        jacobian: Array,
        *,
        mass_matrix: Array | None,
        passive_force: Array | None,
        bias: Array | None,
        joints: tuple[Array, Array] | None,
    ) -> Array:
        """The law for a group: tool pose (R, p), twist, Jacobian and forces in world axes, joints as (q, dq)."""
        frame = self._frame(group, ports)
        R_o = None if frame is None else frame[0]
        pose, of = group.robots(ports["desired_tool_pose_operational"]), group.robots
        target = rotation_from_quat_xyzw(pose[..., 3:]), pose[..., :3]
        e = laws.task_error(*target, *laws.pose_in_frame(*tool, frame))
        rate = of(ports["desired_twist_operational"]) - laws.in_frame(R_o, twist)
        Kp = self._value(group, ports, "motion_stiffness", "axis")
        Kd = self._damping(group, ports, "motion_damping", Kp, "axis")
        ahead = of(ports["desired_acceleration_operational"]) if self._accelerated else None
        motion_selection, wrench_selection, wrench = self._force(group, ports, R_o)
        tau, record = laws.operational_space(
            laws.impedance(e, rate, Kp, Kd, ahead),
            laws.jacobian_in_frame(R_o, jacobian),
            mass_matrix=mass_matrix,
            decoupling=group.switches.mode,
            singularity=self._singularity,
            motion_selection=motion_selection,
            project_motion=self._projection,
            bias_acceleration=None if bias is None else laws.in_frame(R_o, bias),
            wrench=wrench,
            wrench_selection=wrench_selection,
            posture=None if joints is None else self._posture(group, ports, *joints),
            passive_force=passive_force,
        )
        self._last.append((group.rows, tool, twist, record))
        return tau

    def _frame(self, group: Group, ports: dict[str, Array]) -> tuple[Array, Array] | None:
        if self._live_frame:
            pose = group.robots(ports["operational_frame_pose_world"])
            return rotation_from_quat_xyzw(pose[..., 3:]), pose[..., :3]
        T = group.fixed.get("frame")
        return None if T is None else (T[..., :3, :3], T[..., :3, 3])

    def _force(self, group: Group, ports: dict[str, Array], R_o: Array | None) -> tuple[Any, Any, Any]:
        """Om_m, Om_w and f, None without wrench control."""
        if not self._wrench:
            return None, None, None
        fixed = group.fixed
        if self._live_selection:
            halves = []
            for half in ("linear", "angular"):
                port = ports.get(f"{half}_selection_frame_operational")
                R: Any = fixed.get(f"{half}_frame") if port is None else rotation_from_quat_xyzw(group.robots(port))
                halves.append(R)
            Om_m, Om_w = (laws.selection_matrix(fixed[f"{n}_weights"], *halves) for n in ("motion", "wrench"))
        else:
            Om_m, Om_w = fixed["motion_selection"], fixed["wrench_selection"]
        desired = group.robots(ports["desired_wrench_world"])
        if not self._feedback:
            return Om_m, Om_w, laws.wrench_law(desired, None, None, R_o, True)
        measured = group.robots(ports["measured_wrench_world"])
        stiffness = self._value(group, ports, "wrench_stiffness", "axis")
        return Om_m, Om_w, laws.wrench_law(desired, measured, stiffness, R_o, self._feedforward)

    def _posture(self, group: Group, ports: dict[str, Array], q: Array, qd: Array) -> Array:
        """an = Kpn (qn - q) + Kdn (dqn - dq)."""
        take = group.dofs.take
        Kp = self._value(group, ports, "null_space_stiffness", "dof")
        Kd = self._damping(group, ports, "null_space_damping", Kp, "dof")
        error = self._joint_error(group, take(ports["joint_q_des_null"]), q)
        return laws.impedance(error, take(ports["joint_qd_des_null"]) - qd, Kp, Kd)

    # What is known of the last step

    def reset(self) -> None:
        """Forget what is reported about the last step. The law has no memory, so nothing else changes."""
        super().reset()
        self._started = False
        self._last = []

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_last": list(self._entries()), "_started": False}

    def _entries(self) -> Iterator[Any]:
        yield from self._last
        if self._started:
            for group in self._groups:
                entry = None if group.native is None else group.native.last()
                if entry is not None:
                    yield entry

    def _collected(self, fill: Any, pick: Any) -> Array:
        result = np.array(np.broadcast_to(fill, (self.controlled_robot_count, *np.shape(fill))), dtype=np.float64)
        for entry in self._entries():
            value = pick(entry)
            if value is not None:
                result[entry[0]] = value
        return result

    @property
    def tool_pose_world(self) -> Array:
        """Pose of each tool in the last step (R, 7), xyz [m] and quaternion xyzw; the identity before the first."""

        def pick(entry: Any) -> Array:
            R, p = entry[1]
            return np.concatenate((p, quat_xyzw_from_rotation(R)), axis=-1)

        return self._collected(IDENTITY_POSE, pick)

    @property
    def tool_twist_world(self) -> Array:
        """Twist of each tool in the last step (R, 6), linear first, world axes [m/s, rad/s]."""
        return self._collected(np.zeros(6), lambda entry: entry[2])

    @property
    def condition_number(self) -> Array:
        """Condition of the levelled Jo M^-1 Jo^T in the last step (R,); NaN without decoupling. See `task_inertia`."""
        return self._collected(np.nan, lambda entry: _condition(entry[3].inertia_inverse))

    @property
    def exactness(self) -> Array:
        """1 where the last inverse was exact (R,); below, the least share x of the bound an eigenvalue reached."""
        return self._collected(np.nan, lambda entry: entry[3].nearness)

    @property
    def asked_acceleration(self) -> Array:
        """Acceleration asked for in the last step (R, 6), operational axes; NaN without decoupling."""
        pick = lambda entry: None if entry[3].inertia_inverse is None else entry[3].asked  # noqa: E731
        return self._collected(np.full(6, np.nan), pick)

    @property
    def achieved_acceleration(self) -> Array:
        """Of it, what the force commanded achieves (R, 6): less only near singularities, or with partial decoupling."""
        return self._collected(np.full(6, np.nan), lambda entry: _achieved(entry[3]))


def _condition(A: Array | None) -> Any:
    if A is None:
        return None
    lam = spread_of(A)
    with np.errstate(divide="ignore", invalid="ignore"):
        return lam[..., -1] / np.maximum(lam[..., 0], 0.0)


def _achieved(record: laws.TaskRecord) -> Array | None:
    return None if record.inertia_inverse is None else laws.times(record.inertia_inverse, record.force)
