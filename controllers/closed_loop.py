"""A closed loop: a controller's torques on a robot's forward dynamics, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..robot.arrays import Array, scalar, vector
from ..robot.base import RobotBase
from ..robot.errors import InputError, InputTypeError
from ..robot.spatial import ReferenceFrame
from .recording import Recording

Command = Callable[[float, Array, Array], Any]
MAX_STEPS = 10_000_000
_RUNAWAY = 1e6
"""Speed [rad/s or m/s] at which a loop has lost its robot."""


def run(
    robot: RobotBase,
    command: Command,
    *,
    duration: Any,
    dt: Any = 1e-3,
    q: Any = None,
    dq: Any = None,
    frame: str | None = None,
    wrench_ext: Command | None = None,
    friction: bool = True,
    motor_inertia: bool = True,
) -> Recording:
    """Runs a robot under torques that are held for dt.

        (M + dt D) ddq = tau - C dq - g - friction(dq) + J^T wrench_ext,  D = slope of the friction
        dq <- dq + dt ddq,  q <- q (+) dt dq

    Friction is taken at the end of the step, to first order: at rest it is far too steep to be taken at the start.

    Args:
        robot: The robot; it is not moved.
        command: `f(t, q, dq) -> tau (nv,)`, for example `lambda t, q, dq: controller.torque((q, dq), target)`.
        duration: How long [s].
        dt: Step [s].
        q: Where to start (nq,) or mapping; None is the stored configuration.
        dq: Velocity to start with (nv,) or mapping; None stands still.
        frame: Tool that is recorded, and where `wrench_ext` acts; None is the tcp.
        wrench_ext: `f(t, q, dq) -> (6,)`, what the environment exerts on the robot at the tool, world axes [N, N m].
        friction: Friction of the joints, as in `robot.fd`.
        motor_inertia: Inertia of the rotors, as in `robot.fd`.

    Returns:
        A Recording of round(duration/dt) + 1 states; shorter, with a message, if the torque is not finite or the
        robot runs away.
    """
    steps, dt = _steps(duration, dt)
    for name, function in (("command", command), ("wrench_ext", wrench_ext)):
        if not callable(function) and not (function is None and name == "wrench_ext"):
            raise InputTypeError(f"{name} must be a function f(t, q, dq), got {type(function).__name__}")
    tool = robot._frame(frame)
    q, dq = robot._single(q), robot._rate(dq, np.zeros(robot.nv), "dq")
    states: list[tuple[Array, Array, Array]] = []
    message = ""
    for k in range(steps + 1):
        tau = _vector(command(k * dt, q.copy(), dq.copy()), robot.nv, "tau")
        states.append((q, dq, tau))
        wrench = None if wrench_ext is None else _vector(wrench_ext(k * dt, q.copy(), dq.copy()), 6, "wrench_ext")
        if not np.isfinite(tau).all():
            message = f"the torque is not finite at t = {k * dt:.6g} s"
            break
        force = tau if wrench is None else tau + robot.frame_jacobian(q, tool, _LWA).T @ wrench
        dq = dq + dt * _acceleration(robot, q, dq, force, dt, friction, motor_inertia)
        if not np.abs(dq).max(initial=0.0) < _RUNAWAY:
            message = f"the robot runs away at t = {k * dt:.6g} s; the gains may be too high for the step"
            break
        q = robot._integrate(q, dt * dq)
    return _recording(robot, tool, dt, states, message)


_LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


def _acceleration(
    robot: RobotBase, q: Array, dq: Array, force: Array, dt: float, friction: bool, motor_inertia: bool
) -> Array:
    M = robot.crba(q)
    rest = force - robot.rnea(q, dq, np.zeros(robot.nv))
    motors = robot.motors
    if motor_inertia:
        M += np.diag(motors.reflected_inertia)
    if friction:
        rest = rest - robot._friction(dq)
        # the slope of damping*dq + coulomb*sin(atan(100 dq))
        slope: Any = motors.damping + 100.0 * motors.coulomb / (1.0 + (100.0 * dq) ** 2) ** 1.5
        M += dt * np.diag(slope)
    try:
        result: Any = np.linalg.solve(M, rest)
    except np.linalg.LinAlgError:
        raise robot._singular() from None
    return np.asarray(result)


def _recording(
    robot: RobotBase, tool: str, dt: float, states: list[tuple[Array, Array, Array]], message: str
) -> Recording:
    q, dq, tau = (np.array(rows) for rows in zip(*states, strict=True))
    names = tuple(robot.coordinate_names), tuple(robot.dof_names)
    time: Array = np.arange(len(states), dtype=np.float64) * dt
    return Recording(time, q, dq, tau, robot.pose_batch(q, tool), *names, message)


def _steps(duration: Any, dt: Any) -> tuple[int, float]:
    length, step = scalar(duration, "duration", positive=True), scalar(dt, "dt", positive=True)
    if length < step:
        raise InputError(f"duration must be at least dt, got {length} s and {step} s")
    if length / step > MAX_STEPS:
        raise InputError(f"duration/dt must be at most {MAX_STEPS} steps, got {length / step:.3g}; raise dt")
    return round(length / step), step


def _vector(value: Any, size: int, name: str) -> Array:
    array = np.asarray(value, dtype=np.float64)
    return array if array.shape == (size,) and not np.isfinite(array).all() else vector(array, size, name)
