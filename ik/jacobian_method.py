"""Method "jacobian": follow the inverse, damped inverse or transpose of the Jacobian."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv

from ..robot.arrays import Array, matrix, scalar, vector
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

DAMPING = 0.03
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

    A step is clipped to the bounds. A joint at a bound that the error pushes outwards is left out of the next step, so
    that it does not hold up the others. Joints with a full turn of room run free; the outer loop winds them back.

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
        damp: mu of the damped inverse; None adapts it to the error, `mu = 0.03 |e|^2`.
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
            return descent.ended(IKStatus.STOPPED, q, cost)
        if met and answer is CallbackReturn.CONTINUE:
            return descent.ended(IKStatus.CONVERGED, q, cost)
        if descent.iterations >= longest:
            return descent.failed(IKStatus.OUT_OF_BUDGET)
        slow = False
        if hurried and descent.iterations % PATIENCE == 0:
            slow, mark = square > ENOUGH * mark, square
        if slow or descent.stalled or not math.isfinite(square):
            pressed = freedom.pressed(q, jacobian.T.dot(e)).any()
            return descent.failed(IKStatus.LIMITS if pressed else IKStatus.STALLED)
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
        _, y, fault = dposv(dsyrk(1.0, transposed, mu, _identity(rows), 1), e, 0, 1)
        if fault == 0:
            return transposed.dot(y)
    else:
        _, dq, fault = dposv(dsyrk(1.0, transposed, mu, _identity(columns)), transposed.dot(e), 0, 1)
        if fault == 0:
            return dq  # type: ignore[no-any-return]
    return _pseudo_inverse(jacobian, e, 0.0)


@functools.cache
def _identity(size: int) -> Array:
    return np.asfortranarray(np.eye(size))


def _gained(step: Step, gain: Any, size: int) -> Step:
    """The step times K."""
    depth = np.asarray(gain, dtype=object).ndim
    if depth == 0:
        factor = scalar(gain, "gain")
        return step if factor == 1.0 else lambda jacobian, e, square: factor * step(jacobian, e, square)
    if depth == 1:
        factors = vector(gain, size, "gain")
        return lambda jacobian, e, square: factors * step(jacobian, e, square)
    k = matrix(gain, (size, size), "gain")
    return lambda jacobian, e, square: k.dot(step(jacobian, e, square))


def _bounded(step: Step, freedom: Freedom) -> Callable[[Array, Array, Array, float], Array]:
    """(q, J, e, |e|^2) -> the next q, within the bounds."""
    lower, upper = freedom.running_lower, freedom.running_upper
    unbounded, flat = freedom.unbounded, freedom.support.flat
    moving = freedom.moving.astype(np.float64) if freedom.still else None
    # a column of zeros leaves its joint where it is, but for rounding and for a gain that couples joints
    exact = moving is not None
    touching = False

    def following(q: Array, jacobian: Array, e: Array, square: float) -> Array:
        nonlocal touching
        x = q if flat else freedom.coordinates(q)
        free: Any = moving
        if touching:
            uphill = x + jacobian.T.dot(e)
            unheld = np.minimum(np.maximum(uphill, lower), upper) != x
            free = unheld if moving is None else unheld * moving
        dq = _shortened(step(jacobian if free is None else jacobian * free, e, square))
        if exact:
            dq = dq * free
        if unbounded:
            return q + dq if flat else freedom.step(q, dq)
        reached = x + dq
        inside = np.minimum(np.maximum(reached, lower), upper)
        if not touching and inside.tobytes() != reached.tobytes():
            touching = True
        return inside if flat else freedom.step(q, inside - x)

    return following


def _shortened(dq: Array) -> Array:
    square = dq.dot(dq)
    return dq if square <= LONGEST_STEP**2 else dq * (LONGEST_STEP / math.sqrt(square))
