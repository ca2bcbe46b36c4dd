"""Thousands of closed loops in one call: controllers on forward dynamics, for gains, Monte Carlo and learning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..robot.arrays import LARGEST, Array, _as_float, flag, scalar, thread_count, whole
from ..robot.errors import InputError, InputTypeError
from ..robot.fleet import as_fleet
from ..robot.progress import progress_of
from .native_step import NativeSteps
from .rollout_loops import Loops, Setting
from .rollout_result import Rollout

LARGEST_RECORD = 4e9
"""Bytes of the three arrays of a result."""


def rollout(
    model: Any,
    controller: Any,
    x0: Any,
    dt: Any,
    steps: Any,
    *,
    inputs: Any,
    every: Any = None,
    friction: bool = True,
    motor_inertia: bool = True,
    walls: Any = (),
    frame: str | None = None,
    threads: Any = None,
    progress: Any = False,
) -> Rollout:
    """Runs every robot of a fleet under a controller whose torques are held for dt.

        (M + dt D) ddq = tau - C dq - g - friction(dq) + J^T f,  D = slope of the friction
        dq <- dq + dt ddq,  q <- q (+) dt dq

    as `closed_loop.run` does for one robot by semi-implicit Euler, in the native kernel where it can express the
    robots. Who moves and who is believed to move are two things: the controller has its own model, so a fleet of robots
    with other payloads or frictions shows what becomes of it. No result depends on the threads.

    What there is: rigid bodies, friction and motor inertia of the joints, torque limits of the controller, flat springy
    walls at one point of the tool. What is left out: all other contact, stops at joint limits, elastic joints, drives,
    noise and delay of what is measured (`closed_loop.run` has some of it), and targets that change during the run.

    Args:
        model: What moves: a robot or a Fleet. One robot may stand for many trajectories.
        controller: A ControllerJointImpedance or ControllerOperationalSpace for one robot, shared by all
            trajectories, or for as many as there are trajectories. It is not stepped, and reports nothing of this.
        x0: (q, dq), where to start: (nq,) and (nv,) for one trajectory, (N, nq) and (N, nv) for N, or flat arrays for
            a Fleet of robots that differ. Velocities are the robots' own (Pinocchio's). One row may stand for all.
        dt: Step [s].
        steps: How many.
        inputs: Targets and live gains, from `controller.input()`; its joint_q and joint_qd are not read. Where walls
            push and `measured_wrench_world` is read, what they push is put in its place.
        every: Record every so many steps, a divisor of `steps`; None records start and end only.
        friction: Friction of the joints, as in `robot.fd`.
        motor_inertia: Inertia of the rotors, as in `robot.fd`.
        walls: A `Wall`, or several; anything with its attributes will do.
        frame: Point of the robots where walls push; None is the controller's tool, or each robot's tcp.
        threads: Of the kernel; None is one, or all cores from 2000 trajectories on.
        progress: True shows a bar (needs tqdm); a function is called with (steps done, steps in all) now and then.

    Returns:
        A Rollout; true if no robot was lost (torque not finite, or faster than 1e6 rad/s).
    """
    fleet = as_fleet(model, "model")
    if not isinstance(controller, NativeSteps):
        raise InputTypeError(
            "controller must be a ControllerJointImpedance or ControllerOperationalSpace, got "
            f"{type(controller).__name__}"
        )
    count = whole(steps, "steps")
    stride = count if every is None else whole(every, "every")
    if count % stride:
        raise InputError(f"every must divide steps, got {stride} and {count}")
    step = scalar(dt, "dt", positive=True)
    if step * count > LARGEST:
        raise InputError(f"dt must be at most {LARGEST / count:g} s for so many steps, got {step:g} s")
    setting = Setting(
        step,
        count,
        stride,
        flag(friction, "friction"),
        flag(motor_inertia, "motor_inertia"),
        _walls(walls),
        frame,
        thread_count(threads),
    )
    q, dq, trajectories = _start(fleet, controller, x0)
    if (count // stride + 1) * (q.size + 2 * dq.size) * 8 > LARGEST_RECORD:
        raise InputError(f"every={stride} would record more than {LARGEST_RECORD:.0g} bytes; record less often")
    loops = Loops(fleet, controller, inputs, setting, trajectories)
    with progress_of(progress, count, "step") as told:
        return loops.run(q, dq, told)


def _start(fleet: Any, controller: NativeSteps, x0: Any) -> tuple[Array, Array, int]:
    """Flat q and dq of all trajectories, and how many there are."""
    if not (isinstance(x0, tuple | list) and len(x0) == 2):
        raise InputTypeError("x0 must be (q, dq)")
    given = [_finite(value, f"x0: {name}") for value, name in zip(x0, ("q", "dq"), strict=True)]
    counts = {len(fleet), controller.controlled_robot_count, *(len(a) for a in given if a.ndim == 2)} - {1}
    if len(counts) > 1:
        raise InputError(
            f"model has {len(fleet)} robots, the controller {controller.controlled_robot_count} and x0 rows "
            f"{[len(a) for a in given if a.ndim == 2]}: all must be as many, or one"
        )
    trajectories = counts.pop() if counts else 1
    copies = trajectories // len(fleet)
    sizes = fleet.joint_coord_count * copies, fleet.joint_dof_count * copies
    flat = []
    for array, size, name in zip(given, sizes, ("q", "dq"), strict=True):
        if array.ndim == 1 and array.size != size and array.size * trajectories == size:
            array = np.tile(array, trajectories)
        elif array.ndim == 2 and len(array) == 1 and array.size * trajectories == size:
            array = np.tile(array[0], trajectories)
        if array.size != size or array.ndim > 2:
            raise InputError(f"x0: {name} must hold {size} numbers for {trajectories} trajectories, got {array.shape}")
        flat.append(array.reshape(-1).copy())
    return flat[0], flat[1], trajectories


def _finite(value: Any, name: str) -> Array:
    array = np.array(_as_float(value, name))
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite")
    return array


def _walls(walls: Any) -> Array:
    """Point, normal, stiffness, damping of each (W, 8)."""
    given = tuple(walls) if isinstance(walls, Iterable) else (walls,)
    rows = []
    for wall in given:
        try:
            row = [*wall.point, *wall.normal, wall.stiffness, wall.damping]
        except (AttributeError, TypeError):
            raise InputTypeError(
                f"walls must have point, normal, stiffness and damping, got {type(wall).__name__}"
            ) from None
        array = _finite(row, "walls")
        if array.shape != (8,) or abs(float(np.linalg.norm(array[3:6])) - 1.0) > 1e-9:
            raise InputError("walls: point must have shape (3,), and normal too, of unit length")
        if (array[6:] < 0.0).any():
            raise InputError("walls: stiffness and damping must not be negative")
        rows.append(array)
    return np.array(rows, dtype=np.float64).reshape(-1, 8)
