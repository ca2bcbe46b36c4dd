"""A closed loop: a controller on a robot's forward dynamics, step by step, for testing controllers offline.

It is no physics engine. What there is: rigid bodies, joint friction and motor inertia as in `robot.fd`, torque limits,
a wrench and flat springy walls at one point of the tool, noise and delay of what is measured, torques held between
ticks. What is left out: contact anywhere else, between links, or with friction; stops at joint limits (a joint goes
on; see `LoopReport`); elastic joints and gears; current and voltage of the drives, and their dynamics; stiction beyond
the smooth sign of Coulomb friction; time taken by the controller, other than through `delay`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..robot.arrays import Array, flag, measured, scalar
from ..robot.base import RobotBase
from ..robot.errors import InputError, InputTypeError
from ..robot.progress import progress_of
from ..robot.spatial import ReferenceFrame
from .gains import per_dof
from .loop_command import Acting, VelocityServo, as_command
from .plant import Plant
from .recording import Recording
from .sensing import Measured, Sensing
from .surroundings import Wall

Command = Callable[[float, Array, Array], Any]
MAX_STEPS = 10_000_000
_RUNAWAY = 1e6
"""Speed [rad/s or m/s] at which a loop has lost its robot."""
_LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


def run(
    robot: RobotBase,
    command: Any,
    *,
    duration: Any,
    dt: Any = 1e-3,
    q: Any = None,
    dq: Any = None,
    frame: str | None = None,
    wrench_ext: Command | None = None,
    friction: bool = True,
    motor_inertia: bool = True,
    integrator: str = "euler",
    control_dt: Any = None,
    torque_limits: Any = None,
    walls: Any = (),
    sensing: Sensing | None = None,
    target: Mapping[str, Any] | None = None,
    progress: Any = False,
) -> Recording:
    """Runs a robot under a controller whose torques are held from tick to tick.

    The same arguments give the same recording to the bit: an admittance controller is copied and left as it is, so
    that a second run begins as the first did. The integrators are described at `plant.Plant`.

    Args:
        robot: The robot; it is not moved. For fleets see `rollout`.
        command: `f(t, q, dq) -> tau (nv,)`; a controller of this toolkit with `torque`; a CartesianAdmittance or
            JointAdmittance, which is followed by a `VelocityServo`; or anything with `act(measured) -> tau`.
        duration: How long [s], rounded to whole steps.
        dt: Step of the plant [s].
        q: Where to start (nq,) or mapping; None is the stored configuration.
        dq: Velocity to start with (nv,) or mapping; None stands still.
        frame: Tool that is recorded and where wrenches act and are measured; None is the tcp.
        wrench_ext: `f(t, q, dq) -> (6,)`, what the environment exerts on the robot at the tool, world axes [N, N m];
            a `WrenchProfile` is one.
        friction: Friction of the joints, as in `robot.fd`.
        motor_inertia: Inertia of the rotors, as in `robot.fd`.
        integrator: "euler" (semi-implicit) or "rk4".
        control_dt: Period of the controller [s], a whole number of steps; None is dt.
        torque_limits: Torques are cut off at these: a number, (nv,), or "robot" for its own; None for no limit.
        walls: A `Wall`, or several.
        sensing: Noise and delay of what the controller sees; None for none.
        target: Arguments of the controller's `torque`, for a torque controller that is given as such.
        progress: True shows a bar (needs tqdm); a function is called with (steps done, steps in all) now and then.

    Returns:
        A Recording of round(duration/dt) + 1 states; shorter, with a message, if the torque is not finite or the
        robot runs away.
    """
    if not isinstance(robot, RobotBase):
        raise InputTypeError(f"robot must be one robot, got {type(robot).__name__}; rollout runs fleets")
    steps, dt = _steps(duration, dt)
    every = _every(control_dt, dt)
    tool = robot._frame(frame)
    motors = {"friction": flag(friction, "friction"), "motor_inertia": flag(motor_inertia, "motor_inertia")}
    acting = as_command(robot, command, tool, target, every * dt, **motors)
    world = _World(robot, tool, wrench_ext, _walls(walls))
    plant = Plant(robot, tool, integrator, **motors)
    limits = _limits(robot, torque_limits)
    if sensing is not None and not isinstance(sensing, Sensing):
        raise InputTypeError(f"sensing must be a Sensing, got {type(sensing).__name__}")
    start = robot._single(q).copy(), robot._rate(dq, np.zeros(robot.nv), "dq").copy()
    loop = _Loop(robot, acting, plant, world, limits, (sensing or Sensing()).channel(robot, every * dt))
    with progress_of(progress, steps, "step") as told:
        message = loop.run(*start, steps, dt, every, told)
    return loop.recording(dt, message)


class _World:
    """All that pushes on the tool."""

    def __init__(self, robot: RobotBase, tool: str, wrench_ext: Any, walls: tuple[Wall, ...]) -> None:
        if wrench_ext is not None and not callable(wrench_ext):
            raise InputTypeError(f"wrench_ext must be a function f(t, q, dq), got {type(wrench_ext).__name__}")
        self._robot, self._tool, self._push, self._walls = robot, tool, wrench_ext, walls
        self.empty = wrench_ext is None and not walls

    def wrench(self, t: float, q: Array, dq: Array) -> Array | None:
        """The wrench on the tool (6,), world axes; None if nothing is there."""
        if self.empty:
            return None
        total = np.zeros(6)
        if self._push is not None:
            total += measured(self._push(t, q.copy(), dq.copy()), 6, "wrench_ext")
        if self._walls:
            position = self._robot.pose(q, self._tool)[:3, 3]
            velocity = self._robot.frame_jacobian(q, self._tool, _LWA)[:3] @ dq
            for wall in self._walls:
                total[:3] += wall.force(position, velocity)
        return total

    def reading(self, q: Array, wrench: Array | None) -> Array:
        """The wrench in the tool's axes (6,)."""
        if wrench is None:
            return np.zeros(6)
        return (wrench.reshape(2, 3) @ self._robot.pose(q, self._tool)[:3, :3]).reshape(6)


class _Loop:
    """One run and what it leaves behind."""

    def __init__(
        self, robot: RobotBase, acting: Acting, plant: Plant, world: _World, limits: Array | None, channel: Any
    ) -> None:
        self._robot, self._acting, self._plant, self._world = robot, acting, plant, world
        self._limits, self._channel = limits, channel
        self._states: list[tuple[Array, Array, Array]] = []
        self._wrenches: list[Array] = []
        self._commands: list[Array] = []

    def run(self, q: Array, dq: Array, steps: int, dt: float, every: int, told: Callable[[int], None] | None) -> str:
        """All steps; why it ended early, or an empty text."""
        tau, nothing, stride = np.zeros(self._robot.nv), np.zeros(6), max(1, steps // 100)
        for k in range(steps + 1):
            t = k * dt
            wrench = self._world.wrench(t, q, dq)
            if wrench is not None and not np.isfinite(wrench).all():
                self._keep(q, dq, tau, wrench)
                return f"the wrench is not finite at t = {t:.6g} s"
            if k % every == 0:
                tau = self._torque(t, q, dq, tau, wrench)
            self._keep(q, dq, tau, nothing if wrench is None else wrench)
            if not np.isfinite(tau).all():
                return f"the torque is not finite at t = {t:.6g} s"
            if k == steps:
                break
            q, dq = self._plant.step(t, dt, q, dq, tau, self._world.wrench)
            if not np.abs(dq).max(initial=0.0) < _RUNAWAY:
                return f"the robot runs away at t = {t:.6g} s; the gains may be too high for the step"
            if told is not None and ((k + 1) % stride == 0 or k + 1 == steps):
                told(k + 1)
        return ""

    def _keep(self, q: Array, dq: Array, tau: Array, wrench: Array) -> None:
        self._states.append((q, dq, tau))
        self._wrenches.append(wrench)

    def _torque(self, t: float, q: Array, dq: Array, before: Array, wrench: Array | None) -> Array:
        seen = self._channel.through(Measured(t, q.copy(), dq.copy(), before.copy(), self._world.reading(q, wrench)))
        tau = measured(self._acting.act(seen), self._robot.nv, "tau")
        if isinstance(self._acting, VelocityServo):
            self._commands.append(self._acting.dq_command.copy())
        return tau if self._limits is None else np.minimum(np.maximum(tau, -self._limits), self._limits)

    def recording(self, dt: float, message: str) -> Recording:
        """What was recorded."""
        robot = self._robot
        q, dq, tau = (np.array(rows) for rows in zip(*self._states, strict=True))
        names = tuple(robot.coordinate_names), tuple(robot.dof_names)
        time: Array = np.arange(len(q), dtype=np.float64) * dt
        tools = robot.pose_batch(q, self._plant.tool)
        wrench = None if self._world.empty else np.array(self._wrenches)
        commands = np.array(self._commands) if self._commands else None
        return Recording(time, q, dq, tau, tools, *names, message, wrench, commands)


def _steps(duration: Any, dt: Any) -> tuple[int, float]:
    length, step = scalar(duration, "duration", positive=True), scalar(dt, "dt", positive=True)
    if length < step:
        raise InputError(f"duration must be at least dt, got {length} s and {step} s")
    if length / step > MAX_STEPS:
        raise InputError(f"duration/dt must be at most {MAX_STEPS} steps, got {length / step:.3g}; raise dt")
    return round(length / step), step


def _every(control_dt: Any, dt: float) -> int:
    """Steps of the plant from one tick to the next."""
    if control_dt is None:
        return 1
    period = scalar(control_dt, "control_dt", positive=True)
    every = round(period / dt) if period / dt <= MAX_STEPS else 0
    if every < 1 or abs(every * dt - period) > 1e-6 * dt:
        raise InputError(
            f"control_dt must be a whole number of steps of {dt:g} s, at most {MAX_STEPS}, got {period:g} s"
        )
    return every


def _limits(robot: RobotBase, limits: Any) -> Array | None:
    if isinstance(limits, str):
        if limits != "robot":
            raise InputError(f"torque_limits must be numbers or 'robot', got {limits!r}")
        limits = robot.limits.torque
    return per_dof(limits, robot.nv, "torque_limits", infinite=True)


def _walls(walls: Any) -> tuple[Wall, ...]:
    found = (walls,) if isinstance(walls, Wall) else tuple(walls) if isinstance(walls, Iterable) else (walls,)
    for wall in found:
        if not isinstance(wall, Wall):
            raise InputTypeError(f"walls must be Walls (see Wall.create), got {type(wall).__name__}")
    return found
