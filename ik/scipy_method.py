"""Method "scipy": minimise the error, or a cost of one's own, with `scipy.optimize.minimize` inside the bounds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError, unknown_name
from ..robot.tolerance import ToleratedPose
from .callbacks import CallbackReturn, IKCallback
from .cost import CostFunction, default_ik_cost_function
from .descent import Descent
from .freedom import Freedom
from .pose_task import PoseTask, terms
from .problem import IKMeta, IKStatus, InnerResult

if TYPE_CHECKING:
    from ..robot.base import RobotBase

BOUNDED = ("L-BFGS-B", "TNC", "SLSQP", "Powell", "trust-constr", "Nelder-Mead", "COBYLA", "COBYQA")
"""scipy's methods that take bounds; with the others the iterates are clipped."""
UNBOUNDED = ("CG", "BFGS", "Newton-CG")
LONGEST_RUN = 150
"""Iterations of a run that may be restarted."""
DIFFERENCE = 1e-6


class _Ended(Exception):
    """Leaves scipy from inside one of its callbacks, whichever of its methods is running."""

    def __init__(self, result: InnerResult) -> None:
        super().__init__(result.status)
        self.result = result


def scipy_method(
    robot: RobotBase,
    goal: ToleratedPose,
    q_init: Array,
    info: IKMeta,
    *,
    callbacks: Iterable[IKCallback] = (),
    ik_cost_function: CostFunction = default_ik_cost_function,
    convergence_threshold: float = 1e-8,
    rng: np.random.Generator | None = None,
    scipy_kwargs: Mapping[str, Any] | None = None,
) -> InnerResult:
    """One run of `scipy.optimize.minimize`, by default L-BFGS-B, over the joints that may move.

    With the default cost function what is minimised is `|e|^2 / 2`, e the tcp error of
    `pose_task.error_and_jacobian`, with gradient `-J^T e`: it has its minimum where the cost has, without the kink
    there. A cost function of one's own is minimised itself, by scipy's finite differences.

    Args:
        robot: The robot whose tcp is to reach the goal.
        goal: Desired pose of the tcp in the world, with its tolerance.
        q_init: Where to start (nq,).
        info: Budget, mask and bounds.
        callbacks: Called at every iterate.
        ik_cost_function: What to minimise.
        convergence_threshold: End when the decaying average of the falling of the least cost is below it.
        rng: Not used: this method draws nothing.
        scipy_kwargs: Passed to `minimize`: method, options, tol, ...; iterations stay within the budget.

    Raises:
        InputError: on an option that `minimize` does not know or that is decided here.
    """
    options = _minimize_options(scipy_kwargs)
    run = _Run(robot, goal, q_init, info, callbacks, ik_cost_function, convergence_threshold)
    try:
        run.look(np.zeros(len(run.free)))
        if not len(run.free):
            return run.descent.failed(IKStatus.STALLED)
        _optimize().minimize(
            run.value if run.own_cost else run.value_and_gradient,
            np.zeros(len(run.free)),
            jac=None if run.own_cost else True,
            bounds=_optimize().Bounds(run.lower, run.upper) if options["method"] in BOUNDED else None,
            callback=run.iterated,
            **options,
        )
    except _Ended as ended:
        return ended.result
    return run.descent.failed(run.why_stalled())


def _minimize_options(scipy_kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    if scipy_kwargs is not None and not isinstance(scipy_kwargs, Mapping):
        raise InputTypeError(f"scipy_kwargs must be a mapping, got {type(scipy_kwargs).__name__}")
    given = dict(scipy_kwargs or {})
    known = set(inspect.signature(_optimize().minimize).parameters) - {"fun", "x0", "args", "jac", "bounds", "callback"}
    if not given.keys() <= known:
        raise InputError(
            f"scipy_kwargs cannot hold {sorted(given.keys() - known)}; minimize can be given {sorted(known)}"
        )
    method = given.setdefault("method", "L-BFGS-B")
    if isinstance(method, str):
        names = {name.lower(): name for name in (*BOUNDED, *UNBOUNDED)}
        if method.lower() not in names:
            raise unknown_name("method in scipy_kwargs", method, names.values())
        given["method"] = names[method.lower()]
    # scipy's own tests look at the squared error, which is 1e-10 where the error is 1e-5
    given.setdefault("tol", 1e-14)
    return given


@functools.cache
def _optimize() -> Any:
    """scipy.optimize, imported when first needed: it takes as long as the rest of the package."""
    from scipy import optimize

    return optimize


class _Run:
    """The variables of one minimisation: steps of the free joints from where it started."""

    def __init__(
        self,
        robot: RobotBase,
        goal: ToleratedPose,
        q_init: Array,
        info: IKMeta,
        callbacks: Iterable[IKCallback],
        cost_function: CostFunction,
        threshold: float,
    ) -> None:
        self.robot, self.goal, self.start = robot, goal, q_init
        self.own_cost = None if cost_function is default_ik_cost_function else cost_function
        callbacks = tuple(callbacks)
        self.looked_at = bool(callbacks) or self.own_cost is not None
        self.task = PoseTask(robot, goal, *terms(goal))
        self.freedom = Freedom.of(robot, robot.tcp, info)
        self.free = np.flatnonzero(self.freedom.moving)
        lower, upper, _ = self.freedom.strict
        x = self.freedom.coordinates(q_init)
        self.lower, self.upper = (lower - x)[self.free], (upper - x)[self.free]
        self.longest = min(info.max_iter, LONGEST_RUN) if info.allow_random_restart else info.max_iter
        self.descent = Descent(q_init, info, callbacks, threshold)
        self._step = np.zeros(robot.nv)

    def at(self, x: Array) -> Array:
        """The configuration of scipy's variables."""
        step = self._step.copy()
        step[self.free] = np.minimum(np.maximum(x, self.lower), self.upper)
        return self.freedom.step(self.start, step)

    def value(self, x: Array) -> float:
        """The user's cost."""
        assert self.own_cost is not None
        return float(self.own_cost(self.robot, self.at(x), self.goal.nominal))

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Half the squared error and its gradient."""
        e, jacobian = self.task.evaluate(self.at(x))
        gradient = -jacobian.T.dot(e)
        if not self.freedom.support.flat:
            gradient = self._chart(x).T.dot(gradient)
        return 0.5 * float(e.dot(e)), gradient[self.free]

    def _chart(self, x: Array) -> Array:
        """d(velocity) / d(step) where a step from the start turns an orientation, by central differences (nv, nv)."""
        chart = np.eye(len(self._step))
        for v in self.free[self.freedom.support.coordinate[self.free] < 0]:
            nudge = DIFFERENCE * (self.free == v)
            chart[:, v] = self.robot.difference(self.at(x - nudge), self.at(x + nudge)) / (2.0 * DIFFERENCE)
        return chart

    def look(self, x: Array) -> None:
        """Take note of an iterate; ends the run when that is due."""
        q = self.at(x)
        e, _ = self.task.evaluate(q)
        _, cost, met = self.task.measure(e)
        if self.task.hollow:
            met = self.task.accepts(self.robot.pose(q, self.robot.tcp))
        shown = self.freedom.wound(q, self.start) if self.looked_at else q
        if self.own_cost is not None:
            cost = float(self.own_cost(self.robot, shown, self.goal.nominal))
        answer = self.descent.see(q, cost, shown)
        if answer is CallbackReturn.BREAK:
            raise _Ended(self.descent.ended(IKStatus.STOPPED, q, cost))
        if met and answer is CallbackReturn.CONTINUE:
            raise _Ended(self.descent.ended(IKStatus.CONVERGED, q, cost))
        if self.descent.iterations >= self.longest:
            raise _Ended(self.descent.failed(IKStatus.OUT_OF_BUDGET))
        if self.descent.stalled:
            raise _Ended(self.descent.failed(self.why_stalled()))

    def iterated(self, xk: Array, *_: Any) -> None:
        """Scipy's callback."""
        self.descent.iterations += 1
        self.look(xk)

    def why_stalled(self) -> IKStatus:
        """LIMITS if joints are pressed against their bounds at the best configuration, else STALLED."""
        e, jacobian = self.task.evaluate(self.descent.best)
        pressed = self.freedom.pressed(self.descent.best, jacobian.T.dot(e)).any()
        return IKStatus.LIMITS if pressed else IKStatus.STALLED
