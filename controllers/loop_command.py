"""What may stand in a closed loop: functions, the torque controllers, and the velocity controllers through a servo."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..robot.arrays import Array, flag, scalar
from ..robot.base import RobotBase, as_robot
from ..robot.errors import InputError, InputTypeError
from .cartesian_admittance import CartesianAdmittance
from .joint_admittance import JointAdmittance
from .scripting import Scripted
from .sensing import Measured


@runtime_checkable
class Acting(Protocol):
    """Anything that turns what is measured into torques."""

    def act(self, measured: Measured) -> Any:
        """Torques (nv,) to be held until the next tick [N m or N]."""


class Function:
    """A function `f(t, q, dq) -> tau`."""

    def __init__(self, function: Callable[[float, Array, Array], Any]) -> None:
        self._function = function

    def act(self, measured: Measured) -> Any:
        """See Acting."""
        return self._function(measured.time, measured.q.copy(), measured.dq.copy())


class Torque:
    """A torque controller of the toolkit that holds a target; one that feeds wrenches back gets those measured."""

    def __init__(self, robot: RobotBase, controller: Any, tool: str, target: Mapping[str, Any]) -> None:
        self._robot, self._controller, self._tool, self._target = robot, controller, tool, dict(target)
        port = getattr(controller.input(), "measured_wrench_world", None)
        self._feels = port is not None and "wrench_measured" not in self._target

    def act(self, measured: Measured) -> Any:
        """See Acting."""
        target = self._target
        if self._feels:
            R = self._robot.pose(measured.q, self._tool)[:3, :3]
            # measured: environment on robot, tool axes; wanted: robot on environment, world axes
            target = target | {"wrench_measured": -(measured.wrench.reshape(2, 3) @ R.T).reshape(6)}
        return self._controller.torque((measured.q, measured.dq), **target)


class VelocityServo:
    """A stiff drive that makes a robot follow the velocity commands of an admittance controller.

        tau = M (w^2 (q_cmd - q) + 2 w (dq_cmd - dq)) + C dq + g [+ friction(dq_cmd)] - J^T wrench

    q_cmd being the sum of the commands: computed torque with the robot's own model, critically damped at w, what the
    tool feels taken off.

    Args:
        robot: The robot.
        controller: A CartesianAdmittance or JointAdmittance.
        tool: Frame where the wrench is measured.
        bandwidth: w [rad/s].
        friction: Whether friction is compensated.
        motor_inertia: Whether motor inertia is part of M.
    """

    def __init__(
        self,
        robot: RobotBase,
        controller: CartesianAdmittance | JointAdmittance,
        tool: str,
        *,
        bandwidth: Any = 100.0,
        friction: bool = True,
        motor_inertia: bool = True,
    ) -> None:
        self._robot, self._tool, self.controller = as_robot(robot), tool, controller
        self._w = scalar(bandwidth, "bandwidth", positive=True)
        self._friction = flag(friction, "friction")
        self._rotors = (
            np.diag(robot.motors.reflected_inertia)
            if flag(motor_inertia, "motor_inertia")
            else np.zeros((robot.nv, robot.nv))
        )
        self._q: Array | None = None
        self.dq_command = np.zeros(robot.nv)
        """The command of the last tick (nv,)."""

    def act(self, measured: Measured) -> Array:
        """See Acting."""
        robot, controller, q, dq = self._robot, self.controller, measured.q, measured.dq
        if self._q is None:
            self._q = q.copy()
        push = robot.frame_jacobian(q, self._tool, 1).T @ measured.wrench  # type: ignore[arg-type]
        given = measured.wrench if isinstance(controller, CartesianAdmittance) else measured.tau
        self.dq_command = controller.step(q, dq, given).dq
        a = self._w**2 * robot._difference(q, self._q) + 2.0 * self._w * (self.dq_command - dq)
        tau: Array = (robot.crba(q) + self._rotors) @ a + robot.rnea(q, dq, np.zeros(robot.nv)) - push
        if self._friction:
            tau = tau + robot._friction(self.dq_command)
        self._q = robot._integrate(self._q, controller.filter_time_step * self.dq_command)
        return tau


def _apart(command: Any) -> Any:
    """A copy with the same robot: what a run does to it is not seen outside."""
    controller = command.controller if isinstance(command, VelocityServo) else command
    shared = {id(robot): robot for robot in (controller.robot, getattr(command, "_robot", None))}
    return copy.deepcopy(command, shared)


def as_command(
    robot: RobotBase,
    command: Any,
    tool: str,
    target: Mapping[str, Any] | None,
    control_dt: float,
    *,
    friction: bool,
    motor_inertia: bool,
) -> Acting:
    """The command of a loop, from what its user gave."""
    if target is not None and not isinstance(command, Scripted):
        raise InputError("target goes with a torque controller, as the arguments of its torque()")
    if isinstance(command, CartesianAdmittance | JointAdmittance | VelocityServo):
        command = _apart(command)
    if isinstance(command, CartesianAdmittance | JointAdmittance):
        command = VelocityServo(robot, command, tool, friction=friction, motor_inertia=motor_inertia)
    if isinstance(command, VelocityServo):
        dt = command.controller.filter_time_step
        if abs(dt - control_dt) > 1e-9 * control_dt:
            raise InputError(f"the controller ticks every {dt:g} s, the loop every {control_dt:g} s; set control_dt")
    if isinstance(command, Acting):
        return command
    if isinstance(command, Scripted):
        return Torque(robot, command, tool, target or {})
    if callable(command):
        return Function(command)
    raise InputTypeError(
        f"command must be a function f(t, q, dq), a controller, or have act(measured), got {type(command).__name__}"
    )
