"""The short way for scripts: the torque of one robot from names and plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, _as_float, vector
from ..robot.errors import InputError
from ..robot.transformation import Transformation
from .gains import per_axis, per_dof, poses, quaternions
from .model_based import FleetModel, one_state

if TYPE_CHECKING:
    from .base import Controller

    _Base = Controller
else:
    _Base = object


class Scripted(_Base):
    """Inputs and outputs kept for `torque`, and how its arguments are laid into them."""

    _model: FleetModel
    _kept: tuple[Any, Any] | None = None

    def _start(self, state: Any) -> tuple[Any, Any]:
        """Inputs with the state in them, and the outputs."""
        q, dq = one_state(self._model.fleet, state)
        self._refresh()
        if self._kept is None:
            self._kept = self.input(), self.output()
        inputs, outputs = self._kept
        for root in self._groups[0].terms.roots:  # type: ignore[attr-defined]
            dq = root.from_pinocchio(q, dq)
        inputs.joint_q, inputs.joint_qd = q, dq
        return inputs, outputs

    def _finish(self, inputs: Any, outputs: Any) -> Array:
        """One step; torques of all joints (nv,)."""
        self.step(inputs=inputs, outputs=outputs)
        tau = np.zeros(self._model.fleet.joint_dof_count)
        tau[self._model.selection.qd_start] = outputs.joint_f
        return tau

    def _lay(self, inputs: Any, name: str, value: Array | None, argument: str | None = None) -> None:
        """Puts a value into a port, what it starts as for None; refuses one for a port that is off."""
        array = getattr(inputs, name)
        if array is None and value is None:
            return
        port = next(port for port in self._ports if port.name == name)
        if array is None:
            raise InputError(f"{argument or name} cannot be given: {port.off}")
        array[...] = port.fill if value is None else value

    def _positions(self, value: Any, name: str) -> Array:
        """Coordinates of the controlled joints (D,) of (D,), (nq,), a mapping, or None for the stored configuration."""
        robot, at = self._model.fleet.robots[0], self._model.selection.q_start
        if value is None:
            return robot.q[at]
        if isinstance(value, Mapping):
            return robot._named(value, robot.q, 0, name)[at]
        if len(at) != robot.nq and _as_float(value, name).shape == (robot.nq,):
            return vector(value, robot.nq, name)[at]
        return vector(value, len(at), name)

    def _rates(self, value: Any, name: str) -> Array | None:
        """Rates of the controlled joints (D,) of (D,), (nv,) or a mapping; None stays None and means 0."""
        robot, at = self._model.fleet.robots[0], self._model.selection.qd_start
        if value is None:
            return None
        if isinstance(value, Mapping):
            return robot._named(value, np.zeros(robot.nv), 1, name)[at]
        if len(at) != robot.nv and _as_float(value, name).shape == (robot.nv,):
            return vector(value, robot.nv, name)[at]
        return vector(value, len(at), name)

    def _live(self, inputs: Any, gains: Mapping[str, Any]) -> None:
        for name, value in gains.items():
            port = getattr(inputs, name)
            if port is None:
                self._lay(inputs, name, value)
            elif value is None:
                raise InputError(f"{name} is read at every step, so torque() needs {name}=...")
            else:
                read = per_axis(value, len(port), name) if port.ndim > 1 else per_dof(value, self._dof_counts, name)
                self._lay(inputs, name, read)


class JointTorque(Scripted):
    """`torque` of joint impedance."""

    def torque(
        self,
        state: Any = None,
        q_des: Any = None,
        *,
        dq_des: Any = None,
        ddq_des: Any = None,
        stiffness: Any = None,
        damping: Any = None,
    ) -> Array:
        """Torque of one robot.

        Args:
            state: (q, dq), q alone, a robot (its stored state), or None for that of the controller's robot.
            q_des: Desired configuration: an array of all coordinates or of the controlled ones, or a mapping from
                joint names (joints left out: the stored configuration); None is the stored configuration.
            dq_des: Desired velocity likewise (left out: 0).
            ddq_des: Desired acceleration likewise, with has_qdd_feedforward.
            stiffness: Kp where the controller was made with stiffness=None.
            damping: Kd where it was made with damping=None.

        Returns:
            Torques (nv,) [N m or N] in the order of dq, 0 at joints that are not controlled.
        """
        inputs, outputs = self._start(state)
        self._lay(inputs, "joint_q_des", self._positions(q_des, "q_des"))
        self._lay(inputs, "joint_qd_des", self._rates(dq_des, "dq_des"))
        self._lay(inputs, "joint_qdd", self._rates(ddq_des, "ddq_des"), "ddq_des")
        self._live(inputs, {"stiffness": stiffness, "damping": damping})
        return self._finish(inputs, outputs)


class OperationalTorque(Scripted):
    """`torque` of operational-space control."""

    def torque(
        self,
        state: Any = None,
        pose_des: Any = None,
        *,
        twist_des: Any = None,
        acceleration_des: Any = None,
        wrench_des: Any = None,
        wrench_measured: Any = None,
        q_null: Any = None,
        dq_null: Any = None,
        operational_frame: Any = None,
        linear_selection_frame: Any = None,
        angular_selection_frame: Any = None,
        **gains: Any,
    ) -> Array:
        """Torque of one robot.

        Args:
            state: (q, dq), q alone, a robot (its stored state), or None for that of the controller's robot.
            pose_des: Desired pose of the tool in the operational frame (the world, unless one was given): a
                Transformation, 4x4, or xyz + quaternion xyzw (7,); None is where the tool is at the stored
                configuration.
            twist_des: Desired twist (6,), linear first, operational axes [m/s, rad/s]; 0 if left out.
            acceleration_des: Desired acceleration (6,) likewise, with has_acceleration_feedforward.
            wrench_des: What the robot is to exert on the environment (6,), world axes [N, N m], with wrench control.
            wrench_measured: What it exerts (6,); required with use_wrench_feedback.
            q_null: Posture of the null space as q_des of joint impedance; None is the stored configuration.
            dq_null: Its velocity; 0 if left out.
            operational_frame: Pose of the operational frame, where it is read at every step; the identity if left out.
            linear_selection_frame: Quaternion xyzw, where it is read at every step; the identity if left out.
            angular_selection_frame: Likewise.
            **gains: motion_stiffness, motion_damping, wrench_stiffness, null_space_stiffness, null_space_damping
                where the controller reads them at every step.

        Returns:
            Torques (nv,) [N m or N] in the order of dq, 0 at joints that are not controlled.
        """
        inputs, outputs = self._start(state)
        if inputs.measured_wrench_world is not None and wrench_measured is None:
            raise InputError("use_wrench_feedback is on, so torque() needs wrench_measured=...")
        for name, argument, value in (
            ("operational_frame_pose_world", "operational_frame", operational_frame),
            ("linear_selection_frame_operational", "linear_selection_frame", linear_selection_frame),
            ("angular_selection_frame_operational", "angular_selection_frame", angular_selection_frame),
        ):
            read = _pose7 if argument == "operational_frame" else _quaternion
            self._lay(inputs, name, None if value is None else read(value, argument), argument)
        pose = self._present_pose(inputs) if pose_des is None else _pose7(pose_des, "pose_des")
        self._lay(inputs, "desired_tool_pose_operational", pose)
        for name, argument, value in (
            ("desired_twist_operational", "twist_des", twist_des),
            ("desired_acceleration_operational", "acceleration_des", acceleration_des),
            ("desired_wrench_world", "wrench_des", wrench_des),
            ("measured_wrench_world", "wrench_measured", wrench_measured),
        ):
            self._lay(inputs, name, None if value is None else vector(value, 6, argument), argument)
        if inputs.joint_q_des_null is not None or q_null is not None:
            self._lay(inputs, "joint_q_des_null", self._positions(q_null, "q_null"), "q_null")
        self._lay(inputs, "joint_qd_des_null", self._rates(dq_null, "dq_null"), "dq_null")
        self._live(inputs, {name: gains.pop(name, None) for name in _GAINS})
        if gains:
            raise InputError(f"torque() takes no {next(iter(gains))}; gains are {', '.join(_GAINS)}")
        return self._finish(inputs, outputs)

    def _present_pose(self, inputs: Any) -> Array:
        """The tool at the stored configuration, in the operational frame (7,)."""
        robot, tools = self._model.fleet.robots[0], self._model.tools
        assert tools is not None
        pose = robot.fk(robot.q, frame=tools[0])
        live = inputs.operational_frame_pose_world
        frame = self._fixed.get("frame")
        if live is not None:
            pose = Transformation.from_quat_xyzw(live[0, 3:], live[0, :3]).inverse @ pose
        elif frame is not None:
            pose = Transformation(frame[1][0]).inverse @ pose
        return _pose7(pose, "pose_des")


_GAINS = ("motion_stiffness", "motion_damping", "wrench_stiffness", "null_space_stiffness", "null_space_damping")


def _pose7(pose: Any, name: str) -> Array:
    if not isinstance(pose, Transformation):
        if isinstance(pose, np.ndarray | list | tuple) and _as_float(pose, name).shape == (7,):
            length = float(np.linalg.norm(vector(pose, 7, name)[3:]))
            if abs(length - 1.0) > 1e-3:
                raise InputError(
                    f"{name} (7,) must be xyz and a unit quaternion xyzw, got one of length {length:.4g}; "
                    "joint positions are no pose: robot.fk(q) is"
                )
        pose = Transformation._trusted(np.asarray(poses(pose, 1, name))[0])
    return np.concatenate((pose.translation, pose.quat_xyzw))


def _quaternion(value: Any, name: str) -> Array:
    """A quaternion xyzw (4,)."""
    quaternions(value, 1, name)
    return np.reshape(_as_float(value, name), 4)
