"""The search for configurations that meet several goals, and among them for one of a small objective.

The goals' errors are stacked and reduced by damped least squares with limits inside the step; the objective moves the
robot in the null space of the stacked Jacobian. Where a single pose is asked for, the method of `solve` finds the
start, native where the chain allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array
from .callbacks import Constraint, satisfied, violation
from .cost import pose_cost
from .freedom import Freedom, Support, support_of
from .goals import Goal, PoseGoal, frame_of
from .jacobian_step import DAMPING, LEAST_DAMPING, bounded, damped_step
from .objectives import Objective
from .problem import IKMeta, IKResult, IKStatus, closest_words
from .reach import reach_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

NAME = "goals"
LONGEST_RUN = 60
"""Iterations of an attempt that may be followed by another one."""
PATIENCE, ENOUGH = 5, 0.5
"""An attempt ends when its squared error has not fallen to ENOUGH in PATIENCE iterations."""
HOPELESS = 4
"""Attempts made towards goals that are out of reach, for a configuration near them."""
CORRECTIONS = 6
"""Steps back onto the goals after a step along the objective."""
FLAT = 1e-5
"""Norm of the projected gradient below which an objective counts as minimal."""


def freedom_of(robot: RobotBase, frames: list[str], info: IKMeta) -> Freedom:
    """The degrees of freedom that move any of the frames."""
    supports = [support_of(robot, frame) for frame in frames]
    first = supports[0]
    periodic = np.logical_and.reduce([s.periodic | ~s.moves for s in supports])
    moves = np.logical_or.reduce([s.moves for s in supports])
    union = Support(moves, first.coordinate, periodic & moves, first.flat)
    limits = robot.limits.position if info.limits is None else info.limits
    return Freedom._made(robot, union, info.joint_mask, limits)


class GoalSearch:
    """The state of one search."""

    def __init__(self, robot: RobotBase, goals: tuple[Goal, ...], info: IKMeta, start: Array, seed: int) -> None:
        self.robot, self.goals, self.info, self.start, self.seed = robot, goals, info, start, seed
        self.frames = [frame_of(robot, goal) for goal in goals]
        self.freedom = freedom_of(robot, self.frames, info)
        self.used = self.attempts = 0
        self.best: tuple[float, Array] = (np.inf, start)
        self.refused: tuple[Array, tuple[IKStatus, str]] | None = None

    def _gap(self) -> float:
        """How far the position of a goal is beyond all reach of its frame [m]; 0 or less if none is."""
        gaps = [0.0]
        for goal, frame in zip(self.goals, self.frames, strict=True):
            reach = reach_of(self.robot, frame) if isinstance(goal, PoseGoal) else None
            if reach is not None and isinstance(goal, PoseGoal):
                gaps.append(reach.gap(goal.target))
        return max(gaps)

    def stacked(self, q: Array) -> tuple[Array, Array]:
        """Errors (m,) and J (m, nv) of all goals."""
        parts = [goal.error(self.robot, q, frame) for goal, frame in zip(self.goals, self.frames, strict=True)]
        return np.concatenate([e for e, _ in parts]), np.vstack([J for _, J in parts])

    def met(self, q: Array) -> bool:
        """Whether every goal is within its tolerance."""
        return all(g.distance(self.robot, q, f)[2] for g, f in zip(self.goals, self.frames, strict=True))

    def worst(self, q: Array) -> tuple[float, float]:
        """Largest position [m] and rotation error [rad] of all goals."""
        found = [g.distance(self.robot, q, f)[:2] for g, f in zip(self.goals, self.frames, strict=True)]
        return max(d for d, _ in found), max(a for _, a in found)

    def run(self, objective: Objective | None, constraints: tuple[Constraint, ...]) -> IKResult:
        """Attempts until one meets the goals and the constraints, then the objective."""
        rng = np.random.default_rng(self.seed)
        restarting = self.info.allow_random_restart and self.freedom.count > 0
        q, outside = self.start, False
        gap = self._gap()
        while True:
            before = self.used
            found, beyond = self._attempt(q, restarting)
            self.used = max(self.used, before + 1)  # an attempt that takes no step must not be repeated for ever
            outside = outside or beyond
            if gap > 0.0 and self.attempts == HOPELESS:
                words = f"a target is at least {gap:.4g} m out of reach"
                return self.answer(self.best[1], IKStatus.UNREACHABLE, words)
            if found is not None:
                q, status, message = found, IKStatus.CONVERGED, ""
                refusal = violation(constraints, self.robot, q)
                if refusal is None:
                    if objective is not None:
                        q = self.improve(q, objective, constraints)
                    return self.answer(q, status, message)
                self.refused = self.refused or (q, refusal)
            if not restarting or self.used >= self.info.max_iter:
                break
            q = self.freedom.sample(rng, self.start)
        if self.refused is not None:
            return self.answer(self.refused[0], *self.refused[1])
        if self.used >= self.info.max_iter:
            return self.answer(
                self.best[1], IKStatus.OUT_OF_BUDGET, f"the budget of {self.info.max_iter} iterations is used up"
            )
        reason = IKStatus.LIMITS if outside else IKStatus.STALLED
        return self.answer(self.best[1], reason, "the error stopped falling before the tolerances were met")

    def _attempt(self, q: Array, hurried: bool) -> tuple[Array | None, bool]:
        """A configuration that meets the goals within the limits, None if none is met; whether a limit stopped it."""
        freedom, start = self.freedom, q
        step = bounded(_step, freedom, freedom.strict)
        self.attempts += 1
        mark, pressed = np.inf, False
        for k in range(self.info.max_iter):
            e, J = self.stacked(q)
            with np.errstate(over="ignore"):
                square = float(e @ e)
            shown, moved = freedom.settle(q, start)
            if not moved.any():
                cost = square
                if cost < self.best[0]:
                    self.best = (cost, shown)
                if self.met(shown):
                    return shown, False
            if self.used >= self.info.max_iter or (hurried and k >= LONGEST_RUN) or not np.isfinite(square):
                break
            if k % PATIENCE == 0:
                slow = ENOUGH if hurried else 1.0 - 1e-6
                if square > slow * mark:
                    pressed = bool(freedom.pressed(q, J.T @ e).any())
                    break
                mark = square
            q = step(q, J, e, square)
            self.used += 1
        return None, pressed

    def improve(self, q: Array, objective: Objective, constraints: tuple[Constraint, ...]) -> Array:
        """Go down the objective along the goals while budget is left; every configuration kept meets all."""
        value, stride = objective.value(self.robot, q), 0.5
        while self.used < self.info.max_iter and stride > 1e-6:
            _, J = self.stacked(q)
            down = self._downhill(q, J, objective.gradient(self.robot, q))
            slope = float(np.linalg.norm(down))
            if slope < FLAT:
                break
            trial = self._corrected(q, down * min(stride, 0.5 / slope))
            self.used += 1
            better = np.inf if trial is None else objective.value(self.robot, trial)
            if (
                trial is not None
                and better < value - 1e-12
                and all(satisfied(c, self.robot, trial) for c in constraints)
            ):
                q, value, stride = trial, better, min(2.0 * stride, 8.0)
            else:
                stride *= 0.25
        return q

    def _downhill(self, q: Array, J: Array, gradient: Array) -> Array:
        """-N gradient with the joints left out that stand at a bound and would be pushed across it."""
        free = self.freedom.moving.copy()
        down = np.zeros(len(free))
        for _ in range(len(free) + 1):
            A = J[:, free]
            down = np.zeros(len(free))
            if free.any():
                g = gradient[free]
                down[free] = -(g - np.linalg.pinv(A, rcond=1e-6) @ (A @ g))
            pressed = self.freedom.pressed(q, down) & free
            if not pressed.any():
                return down
            free &= ~pressed
        return down

    def _corrected(self, q: Array, dv: Array) -> Array | None:
        """q moved by dv and brought back onto the goals; None if that fails."""
        freedom = self.freedom
        step: Callable[..., Array] = bounded(_step, freedom, freedom.strict)
        x = freedom.settle(freedom.step(q, dv), q)[0]
        for _ in range(CORRECTIONS):
            e, J = self.stacked(x)
            if float(e @ e) < 1e-16:
                break
            x = step(x, J, e, float(e @ e))
        x, moved = freedom.settle(x, q)
        return x if not moved.any() and self.met(x) else None

    def answer(self, q: Array, status: IKStatus, message: str) -> IKResult:
        """The result for q."""
        distance, angle = self.worst(q)
        if status is not IKStatus.CONVERGED:
            words = closest_words(distance, angle)
            message = f"{message}; {words}" if message else words
        return IKResult(
            q.copy(),
            status,
            distance,
            angle,
            pose_cost(distance, angle),
            min(self.used, self.info.max_iter),
            max(self.attempts - 1, 0),
            self.seed,
            NAME,
            message,
        )


def _step(jacobian: Array, e: Array, square: float) -> Array:
    return damped_step(jacobian, e, DAMPING * square + LEAST_DAMPING)


def solve_goals(
    robot: RobotBase,
    goals: tuple[Goal, ...],
    *,
    first: IKResult | None,
    objective: Objective | None,
    constraints: tuple[Constraint, ...],
    info: IKMeta,
    start: Array,
    seed: int,
) -> IKResult:
    """Meet all goals, then make the objective small.

    Args:
        robot: The robot; it is not moved.
        goals: What is asked.
        first: A solution of the goals found by another method, from which the objective goes on.
        objective: Made small among the solutions; None: any solution will do.
        constraints: Of every solution.
        info: Budget, mask, whether to restart.
        start: Where to start (nq,), within the limits.
        seed: Of the restarts.
    """
    search = GoalSearch(robot, goals, info, start, seed)
    if first is None:
        return search.run(objective, constraints)
    if not first.success or objective is None:
        return first
    search.used = first.iterations
    q = search.improve(first.q.copy(), objective, constraints)
    done = search.answer(q, IKStatus.CONVERGED, "")
    return replace_method(done, first)


def replace_method(result: Any, first: IKResult) -> IKResult:
    """The result with the restarts and the method of the search that found its start."""
    return IKResult(
        result.q.copy(),
        result.status,
        result.position_error,
        result.rotation_error,
        result.cost,
        result.iterations,
        first.restarts,
        first.seed,
        first.method,
        result.message,
    )
