"""Method "jacobian": follow the inverse, damped inverse or transpose of the Jacobian."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dposv

from ..robot.arrays import Array, scalar
from ..robot.errors import InputError, unknown_name
from ..robot.tolerance import ToleratedPose
from .callbacks import CallbackReturn, IKCallback
from .cost import CostFunction, default_ik_cost_function
from .descent import Descent
from .freedom import Freedom
from .pose_task import PoseTask, terms
from .problem import IKMeta, InnerResult, IKStatus

if TYPE_CHECKING:
    from ..robot.base import RobotBase

KINDS = ("transpose", "pseudo_inverse", "damped_ls_inverse")

DAMPING = 0.1
"""Default mu as a multiple of the squared error (Chan and Lawrence 1988): none left near the goal."""
LEAST_DAMPING = 1e-10
LONGEST_STEP = 2.0
"""Norm of one step [rad or m]; near a singularity the undamped inverse asks for any length."""
PATIENCE, ENOUGH = 3, 0.7**2
"""A run that may be restarted is given up when its squared error has not fallen to ENOUGH in PATIENCE iterations."""
LONGEST_RUN = 40
"""Iterations of a run that may be restarted."""

Step = Callable[[Array, Array, float], Array]


def jacobian_method(
    robot: RobotBase,
    goal: ToleratedPose,
    q_init: Array,
    info: IKMeta,
    *,
    callbacks: Iterable[IKCallback] = (),
    ik_cost_function: CostFunction = default_ik_cost_function,
    convergence_threshold: float = 1e-8,
    rng: np.random.Generator | None = None,
    kind: str = "damped_ls_inverse",
    tcp_or_world_frame: str | None = None,
    error_term_mask: Any = None,
    gain: Any = 1.0,
    damp: float | None = None,
    alpha_average: float = 0.5,
) -> InnerResult:
    """One run of `q <- q + K J^# e`, e and J as in `pose_task.error_and_jacobian`.

    A joint that a step would carry across a bound stops there, and the others are solved for again, given where it
    stops; joints with a full turn of room run free and are wound back by the outer loop.

    Args:
        robot: The robot whose tcp is to reach the goal.
        goal: Desired pose of the tcp in the world, with its tolerance.
        q_init: Where to start (nq,).
        info: Budget, mask and bounds.
        callbacks: Called at every configuration.
        ik_cost_function: Ranks configurations; it is not what is minimised here.
        convergence_threshold: End when the decaying average of the falling of the least cost is below it.
        rng: Not used: this method draws nothing.
        kind: J^# is "damped_ls_inverse" `J^T (J J^T + mu I)^-1`, "pseudo_inverse" `J^+`, or "transpose" `alpha J^T`
            with the alpha that minimises |e - alpha J J^T e|.
        tcp_or_world_frame: Axes of the error, "tcp" or "world"; None is "tcp", or "world" where rotation is free.
        error_term_mask: Which of the six error terms count (6,); for example position only: (1, 1, 1, 0, 0, 0).
            The tolerance is asked about these alone. None: all, or position only where rotation is free.
        gain: K, a number, one per degree of freedom (nv,), or a matrix (nv, nv).
        damp: mu of the damped inverse; None adapts it to the error, `mu = 0.1 |e|^2`.
        alpha_average: Weight of the latest iteration in the average, in [0, 1]; 0 averages over all.

    Raises:
        InputError: on an impossible option.
    """
    freedom = Freedom.of(robot, robot.tcp, info)
    task = PoseTask(robot, goal, *terms(goal, tcp_or_world_frame, error_term_mask))
    step = _bounded(_gained(_step(kind, damp), gain, robot.nv), freedom)
    alpha = scalar(alpha_average, "alpha_average", minimum=0.0)
    if alpha > 1.0:
        raise InputError(f"alpha_average must be at most 1, got {alpha}")
    descent = Descent(q_init, info, callbacks, convergence_threshold, alpha)
    own_cost = None if ik_cost_function is default_ik_cost_function else ik_cost_function
    hurried = info.allow_random_restart and kind != "transpose"
    longest = min(info.max_iter, LONGEST_RUN) if hurried else info.max_iter
    q, mark = q_init, math.inf
    while True:
        e, jacobian = task.evaluate(q)
        square, cost, met = task.measure(e)
        if own_cost is not None:
            cost = float(own_cost(robot, q, goal.nominal))
        answer = descent.see(q, cost)
        if answer is CallbackReturn.BREAK:
            return descent.result(IKStatus.STOPPED, q, cost)
        if met and answer is CallbackReturn.CONTINUE:
            return descent.result(IKStatus.CONVERGED, q, cost)
        if descent.iterations >= longest:
            return descent.result(IKStatus.OUT_OF_BUDGET)
        slow = False
        if hurried and descent.iterations % PATIENCE == 0:
            slow, mark = square > ENOUGH * mark, square
        if slow or descent.stalled or not math.isfinite(square):
            pressed = freedom.pressed(q, jacobian.T.dot(e)).any()
            return descent.result(IKStatus.LIMITS if pressed else IKStatus.STALLED)
        q = step(q, jacobian, e, square)
        descent.iterations += 1


def _step(kind: str, damp: float | None) -> Step:
    """(J, e, |e|^2) -> dq."""
    if kind == "transpose":
        return _transpose
    if kind == "pseudo_inverse":
        return _pseudo_inverse
    if kind != "damped_ls_inverse":
        raise unknown_name("kind of Jacobian inverse", kind, KINDS)
    if damp is None:
        return lambda jacobian, e, square: damped_step(jacobian, e, DAMPING * square + LEAST_DAMPING)
    mu = scalar(damp, "damp", minimum=0.0)
    return lambda jacobian, e, square: damped_step(jacobian, e, mu)


def _transpose(jacobian: Array, e: Array, square: float) -> Array:
    dq = jacobian.T.dot(e)
    along = jacobian.dot(dq)
    length = float(along.dot(along))
    return dq * (float(e.dot(along)) / length) if length > 0.0 else dq


def _pseudo_inverse(jacobian: Array, e: Array, square: float) -> Array:
    result: Array = np.linalg.lstsq(jacobian, e, rcond=1e-6)[0]
    return result


def damped_step(jacobian: Array, e: Array, mu: float) -> Array:
    """`J^T (J J^T + mu I)^-1 e` (n,) of J (m, n) and e (m,), through the smaller of the two normal matrices."""
    rows, columns = jacobian.shape
    transposed = jacobian.T
    if rows <= columns:
        normal = jacobian.dot(transposed)
        normal.ravel()[:: rows + 1] += mu
        _, y, fault = dposv(normal.T, e, overwrite_a=1)
        if fault == 0:
            return transposed.dot(y)
    else:
        normal = transposed.dot(jacobian)
        normal.ravel()[:: columns + 1] += mu
        _, dq, fault = dposv(normal.T, transposed.dot(e), overwrite_a=1)
        if fault == 0:
            return dq
    return _pseudo_inverse(jacobian, e, 0.0)


def _gained(step: Step, gain: Any, size: int) -> Step:
    """The step times K."""
    k = np.asarray(gain, dtype=np.float64)
    if k.shape not in ((), (size,), (size, size)) or not np.isfinite(k).all():
        raise InputError(f"gain must be a finite number, ({size},) or ({size}, {size}), got shape {k.shape}")
    if k.ndim == 0:
        factor = float(k)
        return step if factor == 1.0 else lambda jacobian, e, square: factor * step(jacobian, e, square)
    if k.ndim == 1:
        return lambda jacobian, e, square: k * step(jacobian, e, square)
    return lambda jacobian, e, square: k.dot(step(jacobian, e, square))


def _bounded(step: Step, freedom: Freedom) -> Callable[[Array, Array, Array, float], Array]:
    """(q, J, e, |e|^2) -> the next q, within the bounds."""
    lower, upper = freedom.bounds_while_iterating()
    unbounded = bool(np.isinf(lower[freedom.moving]).all() and np.isinf(upper[freedom.moving]).all())
    still = None if (freedom.moving | ~freedom.support.moves).all() else ~freedom.moving

    def following(q: Array, jacobian: Array, e: Array, square: float) -> Array:
        if still is not None:
            jacobian = jacobian.copy()
            jacobian[:, still] = 0.0
        dq = _shortened(step(jacobian, e, square))
        if still is not None:
            dq[still] = 0.0
        if unbounded:
            return freedom.step(q, dq)
        x = freedom.coordinates(q)
        reached = x + dq
        inside = np.minimum(np.maximum(reached, lower), upper)
        if inside.tobytes() != reached.tobytes():
            dq = _around(step, x, jacobian, e, square, dq, lower, upper)
        return freedom.step(q, dq)

    return following


def _shortened(dq: Array) -> Array:
    square = float(dq.dot(dq))
    return dq if square <= LONGEST_STEP**2 else dq * (LONGEST_STEP / math.sqrt(square))


def _around(
    step: Step, x: Array, jacobian: Array, e: Array, square: float, dq: Array, lower: Array, upper: Array
) -> Array:
    """A step within the bounds: joints that would cross one stop there, and the others make up for them."""
    free = jacobian.copy()
    stopped = np.zeros(len(dq), dtype=np.bool_)
    total = np.zeros(len(dq))
    for _ in range(len(dq)):
        crossing = ~stopped & ((x + dq < lower) | (x + dq > upper))
        if not crossing.any():
            break
        total[crossing] = (np.minimum(np.maximum(x + dq, lower), upper) - x)[crossing]
        stopped |= crossing
        free[:, crossing] = 0.0
        dq = _shortened(step(free, e - jacobian.dot(total), square))
    dq = np.where(stopped, total, dq)
    return np.minimum(np.maximum(x + dq, lower), upper) - x
