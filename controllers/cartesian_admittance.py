"""Cartesian admittance: a wrench comes in, a joint velocity goes out, and the tool yields like a mass on a spring."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..robot.arrays import Array, believable, measured, scalar, vector
from ..robot.base import RobotBase, as_robot
from ..robot.errors import InputError, InputTypeError
from .admittance_law import filter_form, raw_form
from .admittance_motion import ExactMotion, FilterMotion, Impedance
from .admittance_offset import Offset
from .admittance_options import JointSolve, chosen, reach
from .admittance_result import AdmittanceResult, AdmittanceSnapshot
from .admittance_settings import six
from .admittance_tick import AdmittanceTick
from .gains import one_of
from .relative_task import RelativeTask
from .wrench_sensor import WrenchSensor


class CartesianAdmittance(AdmittanceTick):
    """Makes a velocity-controlled robot yield at one link as if that were a mass on a spring and a damper.

        M x'' + D x' + K x = wrench_ext - wrench_ref          axis by axis, x = offset from the reference

    in the axes of the base link (or those of the reference, see control_frame), x = (p - p_ref, log3(R R_ref^T)). The
    wrench is what the environment exerts on the robot, so the tool yields along a push. The offset is read from the
    robot, not integrated; what joint limits or clamps take away is taken out of the velocity, so nothing winds up.
    Gains, references and `reset` may change at any time without a jump in the command.

    One object serves one robot in one thread; for several robots see `CartesianAdmittanceFleet`.

    Args:
        robot: The robot; it is not moved.
        base_link: Frame the motion is relative to, "world" or any frame, moving or not.
        distal_link: Frame that yields; its origin is the controlled point.
        stiffness: K, a number or (6,) [N/m, N m/rad]; 0 for no spring.
        damping: D likewise [N s/m, N m s/rad]; or give damping_ratio.
        inertia: M likewise [kg, kg m^2].
        dt: Period of the ticks [s].
        damping_ratio: zeta in place of damping: D = 2 zeta sqrt(K M).
        sensor_frame: Frame of the sensor; None is the distal link.
        sensor_offset: Pose of the sensor in that frame.
        tool_mass: What hangs on the sensor [kg]; its weight is taken off.
        tool_com: Its centre of mass in the sensor's axes (3,) [m].
        gravity: Free fall (3,) [m/s^2], world axes; None is the robot's.
        dead_zone: Band per axis within which a wrench is ignored, beyond which it is subtracted [N, N m].
        axes: Six booleans; where False the wrench is ignored and the axis goes back to its reference.
        control_frame: "base": the axes of the base link; "tool": those of the reference pose.
        wrench_limits: Clamp of the wrench per axis before the dead zone.
        offset_limits: Greatest offset per axis [m, rad]; from beyond, only the way back is open.
        twist_limits: Greatest twist per axis [m/s, rad/s].
        twist_rate_limits: Greatest change of the twist [m/s^2, rad/s^2].
        **joint_options: velocity_limits, acceleration_limits, position_limits, joint_mask, task_weights,
            solver_damping, posture (nq,), posture_gain [1/s], posture_weight, posture_strict, and mode
            "least_squares" or "scale"; see `knuckle.ik.solve_velocity`. Limits left out are the robot's.
    """

    def __init__(
        self,
        robot: RobotBase,
        *,
        base_link: str = "world",
        distal_link: str,
        stiffness: Any,
        damping: Any = None,
        inertia: Any,
        dt: Any,
        damping_ratio: Any = None,
        **options: Any,
    ) -> None:
        K, M = six(stiffness, "stiffness"), six(inertia, "inertia")
        if (damping is None) == (damping_ratio is None):
            raise InputTypeError("give damping or damping_ratio, one of the two")
        if damping_ratio is not None:
            zeta = scalar(damping_ratio, "damping_ratio", minimum=0.0)
            damping = 2.0 * zeta * np.sqrt(np.maximum(K * M, 0.0))
            if zeta > 0.0 and (chosen(options.get("axes")) & (K == 0.0)).any():
                raise InputError(
                    "damping_ratio leaves an axis of stiffness 0 without damping, and it would never come to rest; "
                    "give damping"
                )
        motion = ExactMotion(Impedance(M, six(damping, "damping"), K, scalar(dt, "dt", positive=True)))
        self._set_up(robot, base_link, distal_link, motion, **options)

    @classmethod
    def from_filter(
        cls,
        robot: RobotBase,
        *,
        base_link: str = "world",
        distal_link: str,
        stiffness: Any,
        damping: Any,
        lam: Any,
        dt: Any,
        **options: Any,
    ) -> Self:
        """The filter form, x_k = (1 - lam) x_(k-1) + C f_k, for K, D and lam; see `set_impedance_params`.

        Args:
            robot: The robot; it is not moved.
            base_link: Frame the motion is relative to.
            distal_link: Frame that yields.
            stiffness: K, a number or (6,) [N/m, N m/rad].
            damping: D likewise [N s/m, N m s/rad].
            lam: Position feedback per tick, in (0, 1].
            dt: Period of the ticks [s].
            **options: As in the constructor, from sensor_frame on.
        """
        form = filter_form(
            six(stiffness, "stiffness"),
            six(damping, "damping"),
            scalar(lam, "lam"),
            scalar(dt, "dt", positive=True),
        )
        made = cls.__new__(cls)
        made._set_up(robot, base_link, distal_link, FilterMotion(form), **options)
        return made

    @classmethod
    def from_raw(
        cls,
        robot: RobotBase,
        *,
        base_link: str = "world",
        distal_link: str,
        compliance: Any,
        cutoff: Any,
        lam: Any,
        dt: Any,
        **options: Any,
    ) -> Self:
        """The filter form by its own parameters; see `set_raw_params`.

        Args:
            robot: The robot; it is not moved.
            base_link: Frame the motion is relative to.
            distal_link: Frame that yields.
            compliance: C, a number or (6,) [m or rad per tick, per N or N m].
            cutoff: Of the filter of the force, likewise [rad/s].
            lam: Position feedback per tick, in [0, 1]; 0 leaves no spring.
            dt: Period of the ticks [s].
            **options: As in the constructor, from sensor_frame on.
        """
        form = raw_form(
            six(compliance, "compliance"),
            six(cutoff, "cutoff"),
            scalar(lam, "lam"),
            scalar(dt, "dt", positive=True),
        )
        made = cls.__new__(cls)
        made._set_up(robot, base_link, distal_link, FilterMotion(form), **options)
        return made

    def _set_up(
        self,
        robot: RobotBase,
        base_link: str,
        distal_link: str,
        motion: ExactMotion | FilterMotion,
        *,
        sensor_frame: str | None = None,
        sensor_offset: Any = None,
        tool_mass: Any = 0.0,
        tool_com: Any = None,
        gravity: Any = None,
        dead_zone: Any = 0.0,
        axes: Any = None,
        control_frame: str = "base",
        wrench_limits: Any = None,
        offset_limits: Any = None,
        twist_limits: Any = None,
        twist_rate_limits: Any = None,
        **joint_options: Any,
    ) -> None:
        self.robot, self._motion = as_robot(robot), motion
        self._task = RelativeTask(robot, base_link, distal_link)
        self._sensor_frame = None if sensor_frame is None else robot._existing_frame(sensor_frame, "sensor_frame")
        self._sensor = WrenchSensor(_gravity(robot, gravity), sensor_offset)
        self._sensor.set_tool(tool_mass, tool_com)
        self._sensor.clamp = reach(wrench_limits, "wrench_limits")
        self.set_dead_zone(dead_zone)
        self.axes = axes
        self._tool_axes = one_of(control_frame, ("base", "tool"), "control_frame") == "tool"
        self._reach, self._fastest = reach(offset_limits, "offset_limits"), reach(twist_limits, "twist_limits")
        self._hardest = reach(twist_rate_limits, "twist_rate_limits")
        self._joints = JointSolve(robot, motion.impedance.dt, **joint_options)
        self._wrench_reference = np.zeros(6)
        self._twist_ref, self._twist_before, self._raw = np.zeros(6), np.zeros(6), np.zeros(6)

    def __repr__(self) -> str:
        K, M = self.stiffness, self.inertia
        return (
            f"CartesianAdmittance({self.robot.name!r}, base_link={self._task.base or 'world'!r}, "
            f"distal_link={self._task.distal!r}, {self.form}, dt={self.filter_time_step:g}, "
            f"stiffness={K.tolist()}, inertia={M.tolist()})"
        )

    def step(self, q: Any, dq: Any = None, wrench: Any = None) -> AdmittanceResult:
        """The command for the next dt.

        NaN, infinity or numbers beyond 1e12 in what is measured give the command 0, status HOLD, and rest as the state
        to go on from.

        Args:
            q: Configuration (nq,) as measured.
            dq: Velocity (nv,) as measured; read at the first tick alone, as the velocity that acceleration limits
                start from. None is rest.
            wrench: Raw reading of the sensor (6,): environment on robot, sensor axes, about its origin [N, N m];
                None is zero.
        """
        q = measured(q, self.robot.nq, "q")
        raw = np.zeros(6) if wrench is None else measured(wrench, 6, "wrench")
        speed = None if dq is None else measured(dq, self.robot.nv, "dq")
        if self._before is None and speed is not None and np.isfinite(speed).all():
            self._before = speed
        for name, value in (("q", q), ("wrench", raw)):
            if not believable(value):
                return self._hold(name)
        return self._tick(self.robot._on_manifold(q), raw)

    def reset(self, q: Any = None, wrench: Any = None) -> None:
        """Be at rest where the robot is: the next command is 0 if nothing changes.

        The pose becomes the reference, the wrench felt becomes the wrench reference, velocity and filter are cleared.

        Args:
            q: Where the robot is; None is the last tick's, or else the stored configuration.
            wrench: What the sensor reads; None is the last tick's, or else zero.
        """
        q = self._where(q).copy()
        raw = self._raw if wrench is None else vector(wrench, 6, "wrench").copy()
        placed = self._task.at(q)
        self._reference, self._twist_ref = placed.pose.copy(), np.zeros(6)
        self._offset = Offset(placed.pose, self._reference, self._tool_axes)
        self._pose, self._q, self._raw = placed.pose, q, raw
        self._wrench_reference = self._felt(q, placed, self._offset, raw)
        self._motion.clear()
        self._before, self._twist_before, self._last = self._rest(), np.zeros(6), None

    def snapshot(self) -> AdmittanceSnapshot:
        """A copy of parameters, references, state and last result, for logs."""
        motion = self._motion
        state = motion.velocity if isinstance(motion, ExactMotion) else motion.filter.value
        dq = np.zeros(self.robot.nv) if self._before is None else self._before.copy()
        return AdmittanceSnapshot(
            self.form,
            self.stiffness,
            self.damping,
            self.inertia,
            self.compliance,
            self.filter_time_step,
            self.reference,
            self._twist_ref.copy(),
            self.wrench_reference,
            self.dead_zone,
            self.bias,
            np.array(state),
            dq,
            self._last,
        )


def _gravity(robot: RobotBase, gravity: Any) -> Array:
    if gravity is not None:
        return vector(gravity, 3, "gravity").copy()
    model = getattr(robot, "model", None)
    return np.array([0.0, 0.0, -9.81]) if model is None else np.array(model.gravity.linear)
