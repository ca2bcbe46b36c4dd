"""The options of operational-space control: what they may be, and the ports they bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..robot.arrays import Array, flag
from ..robot.errors import InputError
from . import laws
from .base import Controller
from .gains import (
    IDENTITY_POSE,
    IDENTITY_QUAT,
    UNSET,
    damping_choice,
    one_of,
    per_axis,
    per_dof,
    poses,
    quaternions,
    require_unset,
    switch,
)

_NO_WRENCH = "wrench control is off (use_wrench_feedforward, use_wrench_feedback)"


class Switches(NamedTuple):
    """Terms that are on for a robot."""

    decoupling: bool
    partial: bool
    gravity: bool
    coriolis: bool
    bias: bool

    @property
    def mode(self) -> laws.Decoupling:
        """How the inertia is taken out."""
        return "off" if not self.decoupling else "partial" if self.partial else "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationalOptions:
    """The keywords of the controllers, see `ControllerOperationalSpace`."""

    motion_stiffness: Any
    motion_damping: Any = UNSET
    operational_frame_pose_world: Any = IDENTITY_POSE
    use_inertia_decoupling: Any = True
    use_partial_inertia_decoupling: Any = False
    use_gravity_compensation: Any = True
    use_wrench_feedforward: bool = False
    use_wrench_feedback: bool = False
    motion_selection_axes: Any = None
    wrench_selection_axes: Any = None
    wrench_stiffness: Any = None
    linear_selection_frame_operational: Any = IDENTITY_QUAT
    angular_selection_frame_operational: Any = IDENTITY_QUAT
    use_null_space_control: bool = False
    null_space_stiffness: Any = None
    null_space_damping: Any = None
    use_motion_wrench_projection: bool = False
    use_coriolis_compensation: Any = False
    use_bias_acceleration: Any = False
    has_acceleration_feedforward: bool = False
    damping_ratio: Any = None
    null_space_damping_ratio: Any = None
    singularity: str = "damp"
    torque_limits: Any = None
    torque_limit_mode: str = "clip"


class OperationalPorts(Controller):
    """Options checked, ports laid out, fixed values kept; the law is a subclass's."""

    def _set_up(self, options: OperationalOptions, robot_limits: Array | None) -> None:
        self._feedforward = flag(options.use_wrench_feedforward, "use_wrench_feedforward")
        self._feedback = flag(options.use_wrench_feedback, "use_wrench_feedback")
        self._projection = flag(options.use_motion_wrench_projection, "use_motion_wrench_projection")
        self._null = flag(options.use_null_space_control, "use_null_space_control")
        self._accelerated = flag(options.has_acceleration_feedforward, "has_acceleration_feedforward")
        self._singularity: Any = one_of(options.singularity, ("damp", "exact"), "singularity")
        self._set_switches(options)
        self._set_motion(options)
        self._set_frame(options)
        self._set_wrench(options)
        self._set_null_space(options)
        self._limits(options.torque_limits, options.torque_limit_mode, robot_limits)
        self.reset()

    def _set_switches(self, o: OperationalOptions) -> None:
        names = (
            "use_inertia_decoupling",
            "use_partial_inertia_decoupling",
            "use_gravity_compensation",
            "use_coriolis_compensation",
            "use_bias_acceleration",
        )
        terms = [switch(getattr(o, name), self.controlled_robot_count, name) for name in names]
        self._switches = [Switches(*on) for on in zip(*terms, strict=True)]
        for on, n in zip(self._switches, self._dof_counts.tolist(), strict=True):
            if on.partial and not on.decoupling:
                raise InputError("use_partial_inertia_decoupling has no effect without use_inertia_decoupling")
            if on.bias and not on.decoupling:
                raise InputError("use_bias_acceleration has no effect without use_inertia_decoupling")
            if self._singularity == "exact" and on.mode == "full" and n < 6:
                raise InputError(
                    f"use_inertia_decoupling with singularity='exact' needs at least 6 controlled dofs per robot, got "
                    f"{n}: the plain inverse does not exist; use singularity='damp'"
                )

    def _off_unless(self, term: str, argument: str) -> str | None:
        return None if any(getattr(on, term) for on in self._switches) else f"{argument} is off"

    def _set_motion(self, o: OperationalOptions) -> None:
        R = self.controlled_robot_count
        damping_choice(o.motion_damping, o.damping_ratio, "motion_damping", "damping_ratio")
        self._gain("motion_stiffness", per_axis(o.motion_stiffness, R, "motion_stiffness"), "axis")
        if o.damping_ratio is None:
            self._gain("motion_damping", per_axis(o.motion_damping, R, "motion_damping"), "axis")
        else:
            self._robot_port("motion_damping", 6, off="a damping_ratio was given instead")
            self._fix("motion_damping_ratio", "axis", per_axis(o.damping_ratio, R, "damping_ratio"))
        self._robot_port("desired_tool_pose_operational", 7, fill=IDENTITY_POSE, quaternion=True)
        self._robot_port("desired_twist_operational", 6)
        off = None if self._accelerated else "has_acceleration_feedforward is off"
        self._robot_port("desired_acceleration_operational", 6, off=off)

    def _set_frame(self, o: OperationalOptions) -> None:
        fixed = poses(o.operational_frame_pose_world, self.controlled_robot_count, "operational_frame_pose_world")
        off = None if fixed is None else "it was fixed when the controller was made"
        self._robot_port("operational_frame_pose_world", 7, fill=IDENTITY_POSE, quaternion=True, off=off)
        self._live_frame = fixed is None
        if fixed is not None and (fixed != np.eye(4)).any():
            self._fix("frame", "axis", fixed)

    def _set_wrench(self, o: OperationalOptions) -> None:
        self._wrench = self._feedforward or self._feedback
        off = None if self._wrench else _NO_WRENCH
        self._robot_port("desired_wrench_world", 6, off=off)
        self._robot_port("measured_wrench_world", 6, off=None if self._feedback else "use_wrench_feedback is off")
        if not self._feedback:
            require_unset("use_wrench_feedback", wrench_stiffness=(o.wrench_stiffness, None))
            self._gain("wrench_stiffness", None, "axis", off="use_wrench_feedback is off")
        else:
            stiffness = per_axis(o.wrench_stiffness, self.controlled_robot_count, "wrench_stiffness")
            self._gain("wrench_stiffness", stiffness, "axis")
        if not self._wrench:
            require_unset(
                "use_wrench_feedforward or use_wrench_feedback",
                motion_selection_axes=(o.motion_selection_axes, None),
                wrench_selection_axes=(o.wrench_selection_axes, None),
                linear_selection_frame_operational=(o.linear_selection_frame_operational, IDENTITY_QUAT),
                angular_selection_frame_operational=(o.angular_selection_frame_operational, IDENTITY_QUAT),
                use_motion_wrench_projection=(self._projection, False),
            )
        elif o.wrench_selection_axes is None:
            raise InputError("wrench_selection_axes is required with wrench control: six weights, for example 0 or 1")
        self._set_selection(o, off)

    def _set_selection(self, o: OperationalOptions, off: str | None) -> None:
        R, frames = self.controlled_robot_count, []
        for half in ("linear", "angular"):
            name = f"{half}_selection_frame_operational"
            fixed = quaternions(getattr(o, name), R, name)
            why = off or (None if fixed is None else "it was fixed when the controller was made")
            self._robot_port(name, 4, fill=IDENTITY_QUAT, quaternion=True, off=why)
            frames.append(fixed)
            if fixed is not None and self._wrench:
                self._fix(f"{half}_frame", "axis", fixed)
        self._live_selection = self._wrench and any(frame is None for frame in frames)
        if not self._wrench:
            return
        motion = 1.0 if o.motion_selection_axes is None else o.motion_selection_axes
        for name, axes in (("motion", motion), ("wrench", o.wrench_selection_axes)):
            weights = np.asarray(per_axis(axes, R, f"{name}_selection_axes"))
            self._fix(f"{name}_weights", "axis", weights)
            if not self._live_selection:
                Om = laws.selection_matrix(weights, np.asarray(frames[0]), np.asarray(frames[1]))
                self._fix(f"{name}_selection", "axis", Om)

    def _set_null_space(self, o: OperationalOptions) -> None:
        off = None if self._null else "use_null_space_control is off"
        if not self._null:
            require_unset(
                "use_null_space_control",
                null_space_stiffness=(o.null_space_stiffness, None),
                null_space_damping=(o.null_space_damping, None),
                null_space_damping_ratio=(o.null_space_damping_ratio, None),
            )
        elif self._dof_counts.min() <= 6:
            raise InputError(
                "use_null_space_control needs more than 6 controlled dofs per robot, got "
                f"{int(self._dof_counts.min())}: with fewer there is no null space"
            )
        D = self._total
        self._port("joint_q_des_null", (D,), off=off)
        self._port("joint_qd_des_null", (D,), off=off)
        self._gain(
            "null_space_stiffness",
            per_dof(o.null_space_stiffness, self._dof_counts, "null_space_stiffness"),
            "dof",
            off=off,
        )
        if o.null_space_damping_ratio is not None:
            if o.null_space_damping is not None:
                raise InputError("give null_space_damping or null_space_damping_ratio, not both")
            ratio = per_dof(o.null_space_damping_ratio, self._dof_counts, "null_space_damping_ratio")
            self._fix("null_space_damping_ratio", "dof", ratio)
            off = "a null_space_damping_ratio was given instead"
        self._gain(
            "null_space_damping", per_dof(o.null_space_damping, self._dof_counts, "null_space_damping"), "dof", off=off
        )
