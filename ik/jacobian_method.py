"""Method "jacobian": follow the inverse, damped inverse or transpose of the Jacobian."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, scalar
from ..robot.errors import InputError
from ..robot.tolerance import ToleratedPose
from .callbacks import CallbackReturn, IKCallback
from .cost import CostFunction, default_ik_cost_function
from .descent import Descent
from .freedom import Freedom
from .jacobian_step import BoundedStep, bounded, gained, inverse_step
from .pose_task import PoseTask, terms
from .problem import IKMeta, IKStatus, InnerResult

if TYPE_CHECKING:
    from ..robot.base import RobotBase

PATIENCE, ENOUGH = 3, 0.7**2
"""A run that may be restarted is given up when its squared error has not fallen to ENOUGH in PATIENCE iterations."""
IDLE = 12
"""Steps of a patient run that may fail to improve on the best before it becomes careful."""
LONGEST_RUN = 40
"""Iterations of a run that may be restarted."""


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
    that it does not hold up the others. Joints with a full turn of room run free; the outer loop winds them back. Where
    there are no more joints than error terms, every other run that may be restarted lets all joints turn freely, and
    fails if no turn fits the bounds.

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
    loop = JacobianLoop(
        robot,
        goal,
        info,
        callbacks=callbacks,
        ik_cost_function=ik_cost_function,
        convergence_threshold=convergence_threshold,
        kind=kind,
        tcp_or_world_frame=tcp_or_world_frame,
        error_term_mask=error_term_mask,
        gain=gain,
        damp=damp,
        alpha_average=alpha_average,
    )
    return loop.run(q_init, info)


class JacobianLoop:
    """The method prepared for one problem, to be run from as many starts as it takes; arguments as above."""

    def __init__(
        self,
        robot: RobotBase,
        goal: ToleratedPose,
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
        task: PoseTask | None = None,
    ) -> None:
        self.robot, self.goal = robot, goal
        self.freedom = Freedom.of(robot, robot.tcp, info)
        self.task = task or PoseTask(robot, goal, *terms(goal, tcp_or_world_frame, error_term_mask))
        self.callbacks = tuple(callbacks)
        self.own_cost = None if ik_cost_function is default_ik_cost_function else ik_cost_function
        self.looked_at = bool(self.callbacks) or self.own_cost is not None
        self.step = gained(inverse_step(kind, damp), gain, robot.nv)
        self.slow, self.adapts = kind == "transpose", damp is None
        self.threshold, self.alpha = convergence_threshold, scalar(alpha_average, "alpha_average", minimum=0.0)
        if self.alpha > 1.0:
            raise InputError(f"alpha_average must be at most 1, got {self.alpha}")

    def run(self, q_init: Array, info: IKMeta) -> InnerResult:
        """One run from q_init (nq,)."""
        task, freedom = self.task, self.freedom
        hurried = info.allow_random_restart and not self.slow
        # Where no joint is to spare, half of the solutions lie behind a bound that a joint can pass and be wound back.
        loose = hurried and not self.looked_at and info.restart % 2 == 0 and freedom.count <= task.count
        step = bounded(self.step, freedom, freedom.loose if loose else freedom.strict)
        descent = Descent(q_init, info, self.callbacks, self.threshold, self.alpha)
        pace = _Pace(step, info, hurried=hurried)
        advance = pace.careful if self.adapts and not hurried else step
        evaluate, measure, see = task.evaluate, task.measure, descent.see
        q = q_init
        while True:
            e, jacobian = evaluate(q)
            square, cost, met = measure(e)
            shown = q
            if self.looked_at or task.hollow:
                shown, cost, met = self._look(q, q_init, cost, met)
            answer = see(q, cost, shown)
            if answer is CallbackReturn.BREAK:
                return descent.ended(IKStatus.STOPPED, q, cost)
            if met and answer is CallbackReturn.CONTINUE:
                return descent.ended(IKStatus.CONVERGED, q, cost)
            if descent.iterations >= pace.longest:
                return descent.failed(IKStatus.OUT_OF_BUDGET)
            if descent.stalled or pace.too_slow(descent.iterations, square):
                pressed = not hurried and freedom.pressed(q, jacobian.T.dot(e)).any()
                return descent.failed(IKStatus.LIMITS if pressed else IKStatus.STALLED)
            q = advance(q, jacobian, e, square)
            descent.iterations += 1

    def _look(self, q: Array, q_init: Array, cost: float, met: bool) -> tuple[Array, float, bool]:
        """Q as callbacks and costs are shown it, its cost, and whether it is within the tolerance."""
        shown = self.freedom.wound(q, q_init)
        if self.own_cost is not None:
            cost = float(self.own_cost(self.robot, shown, self.goal.nominal))
        if self.task.hollow:
            met = self.task.accepts(self.robot.pose(q, self.robot.tcp))
        return shown, cost, met


class _Pace:
    """How a run proceeds: in a hurry where it may be restarted, else with patience.

    A hurried run takes every step and ends when its error falls slowly. A patient one takes every step too, until the
    error has grown above the least seen for some while; from then on it goes back to the best configuration after
    every step that did not pay, and damps more (Levenberg and Marquardt), so that it ends at the closest pose even if
    the target is far out of reach. Going back from the start would end in local minima that free steps jump out of.
    """

    __slots__ = ("_base", "_hurried", "_idle", "_mark", "_scale", "_step", "longest")

    def __init__(self, step: BoundedStep, info: IKMeta, *, hurried: bool) -> None:
        self._step, self._hurried = step, hurried
        self.longest = min(info.max_iter, LONGEST_RUN) if hurried else info.max_iter
        self._mark, self._scale, self._idle = math.inf, 1.0, 0
        self._base: tuple[Array, Array, Array, float] | None = None

    def too_slow(self, iterations: int, square: float) -> bool:
        """Whether the squared error has not fallen enough, or is no number."""
        if not math.isfinite(square):
            return True
        if not self._hurried or iterations % PATIENCE:
            return False
        slow, self._mark = square > ENOUGH * self._mark, square
        return slow

    def careful(self, q: Array, jacobian: Array, e: Array, square: float) -> Array:
        """The configuration a patient run looks at after q."""
        if self._base is None or square < self._base[3]:
            self._base = q, jacobian, e, square
            self._scale = max(0.25 * self._scale, 1.0)
            self._idle = 0 if self._idle < IDLE else IDLE
        elif self._idle < IDLE:
            self._idle += 1
        else:
            self._scale *= 4.0
        if self._idle < IDLE:
            return self._step(q, jacobian, e, square)
        q, jacobian, e, square = self._base
        return self._step(q, jacobian, e, square * self._scale)
