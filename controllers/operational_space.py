"""Operational-space control: a spring and a damper at the tool, forces beside them, a posture behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.fleet_selection import Index
from ..robot.spatial import quat_xyzw_from_rotation, rotation_from_quat_xyzw
from .gains import IDENTITY_POSE, IDENTITY_QUAT, UNSET, booleans, counted
from .laws import times
from .model_based import FleetModel, ModelProperties
from .native_step import FULL, OFF, OPERATIONAL_SPACE, PARTIAL, Flags, NativeSteps
from .operational_law import OperationalSpaceLaw
from .operational_options import OperationalOptions
from .ports import Ports
from .scripting import OperationalTorque


class ControllerOperationalSpaceModelFree(OperationalSpaceLaw):
    """Operational-space control with the dynamics handed in.

    Per-robot ports have one row per robot; joint ports are compact; Jacobians and mass matrices are padded. The
    arguments are those of `ControllerOperationalSpace`, without the selection:

    Args:
        controlled_dofs_per_robot: Controlled joints of each robot (R,).
        continuous_dofs: Which joints turn without end (D,): their errors go the short way round.
        **options: As for `ControllerOperationalSpace`.
    """

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Inputs(Ports):
        """State of tool and joints, targets, dynamics and live gains. Ports of features that are off are None."""

        joint_q: Any
        joint_qd: Any
        tool_pose_world: Any
        tool_twist_world: Any
        jacobian_world: Any
        mass_matrix: Any
        gravity_force: Any
        coriolis_force: Any
        bias_acceleration_world: Any
        desired_tool_pose_operational: Any
        desired_twist_operational: Any
        desired_acceleration_operational: Any
        desired_wrench_world: Any
        measured_wrench_world: Any
        operational_frame_pose_world: Any
        linear_selection_frame_operational: Any
        angular_selection_frame_operational: Any
        motion_stiffness: Any
        motion_damping: Any
        wrench_stiffness: Any
        joint_q_des_null: Any
        joint_qd_des_null: Any
        null_space_stiffness: Any
        null_space_damping: Any

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Outputs(Ports):
        """Torques `joint_f` (D,) [N m or N]."""

        joint_f: Any

    def __init__(self, controlled_dofs_per_robot: Any, *, continuous_dofs: Any = None, **options: Any) -> None:
        counts = counted(controlled_dofs_per_robot)
        super().__init__(counts, booleans(continuous_dofs, int(counts.sum()), "continuous_dofs"))
        self._set_up(OperationalOptions(**options), None)
        D, R, n = self._total, self.controlled_robot_count, self.max_controlled_dofs
        null_off = None if self._null else "use_null_space_control is off"
        self._port("joint_q", (D,), off=null_off)
        self._port("joint_qd", (D,), off=null_off)
        self._robot_port("tool_pose_world", 7, fill=IDENTITY_POSE, quaternion=True)
        self._robot_port("tool_twist_world", 6)
        self._port("jacobian_world", (R, 6, n))
        self._port("mass_matrix", (R, n, n), off=self._off_unless("decoupling", "use_inertia_decoupling"))
        self._port("gravity_force", (D,), off=self._off_unless("gravity", "use_gravity_compensation"))
        self._port("coriolis_force", (D,), off=self._off_unless("coriolis", "use_coriolis_compensation"))
        self._robot_port("bias_acceleration_world", 6, off=self._off_unless("bias", "use_bias_acceleration"))
        self._group_by_size(self._switches)

    def _evaluate(self, group: Any, ports: dict[str, Array]) -> Array:
        on, n, take = group.switches, group.n, group.dofs.take
        pose, twist = (group.robots(ports[name]).copy() for name in ("tool_pose_world", "tool_twist_world"))
        passive = take(ports["gravity_force"]) if on.gravity else None
        if on.coriolis:
            coriolis = take(ports["coriolis_force"])
            passive = coriolis if passive is None else passive + coriolis
        return self._law(
            group,
            ports,
            (rotation_from_quat_xyzw(pose[..., 3:]), pose[..., :3]),
            twist,
            group.robots(ports["jacobian_world"])[..., :n],
            mass_matrix=group.robots(ports["mass_matrix"])[..., :n, :n] if on.decoupling else None,
            passive_force=passive,
            bias=group.robots(ports["bias_acceleration_world"]) if on.bias else None,
            joints=(take(ports["joint_q"]), take(ports["joint_qd"])) if self._null else None,
        )


class ControllerOperationalSpace(NativeSteps, ModelProperties, OperationalTorque, OperationalSpaceLaw):
    """Operational-space control with the dynamics taken from the robots.

    For one robot and a script: `tau = controller.torque((q, dq), pose)`. For fleets: `input`, `output`, `step`.

    R robots are controlled, D joints of them in all: (D,) is one number per joint, robot after robot. Gains of joints
    may also be one number, a column (R, 1), or, where all robots have n joints, (n,) or (R, n).

    Args:
        model: A Fleet, or one robot. Borrowed: never written, its later changes are seen.
        articulations: Robots to control, see `Fleet.select`; None takes all.
        joints: Joints to control, likewise; None takes every joint of one coordinate and one degree of freedom.
        tool_sites: The controlled point: a frame by index, name, pattern, or a list of these; each controlled robot
            must match exactly one. Add one with `robot.add_frame`.
        motion_stiffness: Kp along the operational axes, a number, (6,), (R, 6), or None to read the inputs; [1/s^2]
            with decoupling, else [N/m, N m/rad].
        motion_damping: Kd likewise; [1/s] with decoupling, else [N s/m, N m s/rad].
        operational_frame_pose_world: Frame in which poses, twists and gains are given, its pose in the world: a
            Transformation, 4x4, (7,), or (R, 7); None to read the inputs. Taken as static: the velocity of a moving
            frame goes into the desired twist.
        use_inertia_decoupling: Multiply by the operational-space inertia; one boolean or one per robot, as the next
            five.
        use_partial_inertia_decoupling: Leave its coupling of translation and rotation out.
        use_gravity_compensation: Add g(q).
        use_coriolis_compensation: Add C(q, dq) dq.
        use_bias_acceleration: Take dJ/dt dq off the acceleration asked for, so that it is met while moving.
        use_wrench_feedforward: Command the desired wrench.
        use_wrench_feedback: Command `wrench_stiffness` times the error of the wrench.
        use_motion_wrench_projection: Apply the motion selection to the force of the motion, too.
        motion_selection_axes: Weights of the motion along the axes of the selection frames, (6,) or (R, 6).
        wrench_selection_axes: Weights of the wrench likewise; required with wrench control.
        wrench_stiffness: Kw, dimensionless, a number, (6,), (R, 6), or None to read the inputs.
        linear_selection_frame_operational: Quaternion xyzw of the frame of the linear weights in the operational
            frame, (4,) or (R, 4); None to read the inputs.
        angular_selection_frame_operational: Likewise for the angular weights.
        use_null_space_control: Pursue a posture in the null space; needs more than 6 controlled joints per robot.
        null_space_stiffness: Kp of the posture, a number, (D,), or None to read the inputs.
        null_space_damping: Kd of the posture likewise.
        damping_ratio: zeta instead of motion_damping: Kd = 2 zeta sqrt(Kp), a number, (6,) or (R, 6).
        null_space_damping_ratio: zeta instead of null_space_damping, a number or (D,).
        has_acceleration_feedforward: Add `inputs.desired_acceleration_operational`.
        singularity: "damp" bounds the torque near singularities and is exact elsewhere; "exact" never bounds it.
        torque_limits: Greatest torques, a number, (D,), or "robot" for the robots' own; None for none.
        torque_limit_mode: "clip" joint by joint, or "scale" the whole vector of a robot.
        backend: "native" steps in the native kernel, "numpy" on Pinocchio and numpy; "auto" takes the kernel where
            there is one and it can express the robot. Same ports, same results to rounding.
        threads: Of the kernel; None is one, or all cores from 2000 robots on. No torque depends on it.

    Wrenches are what the robot exerts on the environment at the tool point, world axes. Quaternions are normalised;
    one of length 0 is refused. Joints that are not controlled feed poses, twists, gravity and C dq; their rows and
    columns of M are dropped, which is an approximation where they move.
    """

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Inputs(Ports):
        """State of the whole fleet; targets and live gains per robot. Ports of features that are off are None."""

        joint_q: Any
        joint_qd: Any
        desired_tool_pose_operational: Any
        desired_twist_operational: Any
        desired_acceleration_operational: Any
        desired_wrench_world: Any
        measured_wrench_world: Any
        operational_frame_pose_world: Any
        linear_selection_frame_operational: Any
        angular_selection_frame_operational: Any
        motion_stiffness: Any
        motion_damping: Any
        wrench_stiffness: Any
        joint_q_des_null: Any
        joint_qd_des_null: Any
        null_space_stiffness: Any
        null_space_damping: Any

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Outputs(Ports):
        """Torques `joint_f` (D,) [N m or N]."""

        joint_f: Any

    def __init__(
        self,
        model: Any,
        *,
        articulations: Any = None,
        joints: Any = None,
        tool_sites: Any,
        motion_stiffness: Any,
        motion_damping: Any = UNSET,
        operational_frame_pose_world: Any = IDENTITY_POSE,
        use_inertia_decoupling: Any = True,
        use_partial_inertia_decoupling: Any = False,
        use_gravity_compensation: Any = True,
        use_wrench_feedforward: bool = False,
        use_wrench_feedback: bool = False,
        motion_selection_axes: Any = None,
        wrench_selection_axes: Any = None,
        wrench_stiffness: Any = None,
        linear_selection_frame_operational: Any = IDENTITY_QUAT,
        angular_selection_frame_operational: Any = IDENTITY_QUAT,
        use_null_space_control: bool = False,
        null_space_stiffness: Any = None,
        null_space_damping: Any = None,
        use_motion_wrench_projection: bool = False,
        use_coriolis_compensation: Any = False,
        use_bias_acceleration: Any = False,
        has_acceleration_feedforward: bool = False,
        damping_ratio: Any = None,
        null_space_damping_ratio: Any = None,
        singularity: str = "damp",
        torque_limits: Any = None,
        torque_limit_mode: str = "clip",
        backend: str = "auto",
        threads: Any = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in OperationalOptions.__slots__}
        self._choose(backend, threads)
        self._model = FleetModel(model, articulations, joints, tool_sites, native=self._backend != "numpy")
        selection = self._model.selection
        super().__init__(selection.dof_counts, selection.continuous)
        self._set_up(OperationalOptions(**given), self._model.torque_limits())
        self._port("joint_q", (self._model.fleet.joint_coord_count,))
        self._port("joint_qd", (self._model.fleet.joint_dof_count,))
        self._refresh()

    @property
    def tool_body(self) -> Index:
        """Body each tool is fixed to (R,), an index into `fleet.body_names`."""
        return self._model.tool_bodies()[0]

    @property
    def tool_transform_body(self) -> Array:
        """Pose of each tool in its body (R, 7), xyz [m] and quaternion xyzw."""
        T = self._model.tool_bodies()[1]
        return np.concatenate((T[:, :3, 3], quat_xyzw_from_rotation(T[:, :3, :3])), axis=1)

    def _flags(self, group: Any) -> Flags:
        on = group.switches
        return Flags(
            OPERATIONAL_SPACE,
            {"full": FULL, "partial": PARTIAL, "off": OFF}[on.mode],
            on.gravity,
            on.coriolis,
            on.bias,
            self._singularity == "exact",
            self._projection,
            self._feedforward,
            self._feedback,
            self._limit_mode == "scale",
        )

    def _evaluate(self, group: Any, ports: dict[str, Array]) -> Array:
        on, terms = group.switches, group.terms
        q, qd = terms.normalised(group.q.take(ports["joint_q"])), group.qd.take(ports["joint_qd"])
        dq = terms.velocity(q, qd)
        T, J = group.tool(q)
        return self._law(
            group,
            ports,
            (T[..., :3, :3], T[..., :3, 3]),
            times(J, dq),
            group.controlled(J),
            mass_matrix=group.block(terms.mass_matrix(q)) if on.decoupling else None,
            passive_force=self._passive(group, q, qd, dq),
            bias=group.bias_acceleration(q, dq) if on.bias else None,
            joints=(group.positions(q), group.controlled(qd)) if self._null else None,
        )

    def _passive(self, group: Any, q: Array, qd: Array, dq: Array) -> Array | None:
        """G, C dq or both at the controlled joints, in one sweep."""
        on, terms = group.switches, group.terms
        if not on.coriolis:
            if not on.gravity:
                return None
            still: Array = group.controlled(terms.inverse_dynamics(q, group.rest, group.rest, True))
            return still
        ddq = group.rest
        for root in terms.roots:
            ddq = root.acceleration(q, qd, ddq)
        moving: Array = group.controlled(terms.inverse_dynamics(q, dq, ddq, on.gravity))
        return moving
