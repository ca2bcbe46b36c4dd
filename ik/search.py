"""One search: attempts of a method, the verdict on each, and the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, vector
from ..robot.errors import InputTypeError
from ..robot.spatial import pose_error
from ..robot.tolerance import ToleratedPose
from .callbacks import CallbackReturn, IKCallback, answer_of, chain, violation
from .cost import CostFunction, default_ik_cost_function, pose_cost
from .freedom import Freedom
from .jacobian_method import jacobian_method
from .pose_task import PoseTask, terms
from .problem import IKMeta, IKResult, IKStatus, InnerResult, IntermediateIkResult, closest_words
from .reach import reach_of
from .registry import Method
from .verdict import Verdict

if TYPE_CHECKING:
    from ..robot.base import RobotBase

FARTHEST = 1e100
CLOSEST_STARTS = 6
"""Further starts from which the closest position to a target out of reach is looked for."""
LARGEST_RESERVE = 200
"""Iterations kept back for the time after the last attempt, a quarter of the budget at most."""


class Search:
    """The state of one call of `solve`."""

    def __init__(
        self,
        *,
        robot: RobotBase,
        goal: ToleratedPose,
        method: Method,
        options: dict[str, Any],
        info: IKMeta,
        start: Array,
        seed: int,
        cost_function: CostFunction = default_ik_cost_function,
        inner_callbacks: tuple[IKCallback, ...] = (),
        outer_callbacks: tuple[IKCallback, ...] = (),
        threshold: float = 1e-8,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.robot, self.goal, self.method, self.options = robot, goal, method, options
        self.info, self.start, self.seed, self.notes = info, start, seed, notes
        self.cost_function, self.threshold = cost_function, threshold
        self.inner_callbacks = inner_callbacks
        self.watch = chain(*outer_callbacks) if outer_callbacks else None
        self.frame = robot.tcp
        self.freedom = Freedom.of(robot, self.frame, info)
        self.error_options = {k: options[k] for k in ("tcp_or_world_frame", "error_term_mask") if k in options}
        self.task = PoseTask(robot, goal, *terms(goal, **self.error_options))
        self._rng: np.random.Generator | None = None
        self._prepared: Any = None
        self.best: Verdict | None = None
        self.known = False
        self.refused: Verdict | None = None
        self.used = self.attempts = self.restarted = 0

    @property
    def rng(self) -> np.random.Generator:
        """The generator of this search, made when first needed."""
        if self._rng is None:
            self._rng = np.random.default_rng(self.seed)
        return self._rng

    def know(self, current_best: Any) -> None:
        """Take a configuration found before as the best so far."""
        if not hasattr(current_best, "q"):
            kind = type(current_best).__name__
            raise InputTypeError(f"current_best must be an IntermediateIkResult or IKResult, got {kind}")
        q, _ = self.freedom.settle(vector(current_best.q, self.robot.nq, "current_best.q"), self.start)
        self.best = Verdict(q, self._measure(q)[0], IKStatus.STALLED)
        self.known = True

    def run(self) -> IKResult:
        """Search until something is accepted, a callback stops it, or the budget is used up."""
        restarting = self.info.allow_random_restart and self.freedom.count > 0
        budget = self.info.max_iter - (min(self.info.max_iter // 4, LARGEST_RESERVE) if restarting else 0)
        q = self.start
        while True:
            verdict = self._attempt(q, budget - self.used, restarting)
            if verdict.accepted or verdict.status is IKStatus.STOPPED:
                return self._answer(verdict)
            if self.attempts == 1:
                gap = self._gap()
                if gap > 0.0:
                    return self._answer(self._out_of_reach(gap, restarting))
            if not restarting or self.used >= budget:
                break
            q = self.freedom.sample(self.rng, self.start)
        return self._answer(self._last_resort(verdict, restarting) if self.refused is None else self.refused)

    def _gap(self) -> float:
        """How far the target is beyond all reach [m]; 0 or less if it may be within."""
        if not (self.task.mask[:3] if self.task.world else self.task.mask).all():
            return 0.0
        reach = reach_of(self.robot, self.frame)
        return 0.0 if reach is None else reach.gap(self.goal)

    def _out_of_reach(self, gap: float, restarting: bool) -> Verdict:
        """UNREACHABLE, after going on to the closest pose."""
        left = self.info.max_iter - self.used
        if restarting and left > 0 and self.best is not None:
            last = self._attempt(self.best.q, left, False)
            if last.status is IKStatus.STOPPED:
                return last
        self._approach(self.info.max_iter - self.used)
        if not self.known:
            self._closest_position()
        return Verdict(self.start, 0.0, IKStatus.UNREACHABLE, f"the target is at least {gap:.4g} m out of reach")

    def _closest_position(self) -> None:
        """Go on to the position closest to a target out of reach, whatever the rotation; it becomes the best."""
        goal = self.goal.nominal.homogeneous
        if np.abs(goal[:3, 3]).max() > FARTHEST:
            return  # from where all positions are equally far
        closest, least = None, np.inf
        starts = [self.start if self.best is None else self.best.q]
        starts += [self.freedom.sample(self.rng, self.start) for _ in range(CLOSEST_STARTS)]
        for start in starts:
            left = self.info.max_iter - self.used
            if left < 1:
                break
            info = replace(self.info, max_iter=max(1, left // 2), allow_random_restart=False)
            mask = [True, True, True, False, False, False]
            inner = jacobian_method(
                self.robot, self.goal, start, info, tcp_or_world_frame="world", error_term_mask=mask
            )
            self.used += min(max(inner.iterations, 1), left)
            q, _ = self.freedom.settle(inner.q, self.start)
            distance = float(np.linalg.norm(self.robot.pose(q, self.frame)[:3, 3] - goal[:3, 3]))
            if distance < least:
                closest, least = q, distance
        if closest is None or self.best is None:
            return
        before = float(np.linalg.norm(self.robot.pose(self.best.q, self.frame)[:3, 3] - goal[:3, 3]))
        if least < before - 1e-9:
            self.best = Verdict(closest, self._measure(closest)[0], IKStatus.STALLED)

    def _attempt(self, q: Array, budget: int, restarting: bool) -> Verdict:
        """One run of the method and the verdict on it; STOPPED if a callback wants the search to end."""
        info = replace(
            self.info, max_iter=budget, allow_random_restart=restarting, iteration=self.used, restart=self.attempts
        )
        inner = self._run(q, info)
        if not isinstance(inner, InnerResult):
            kind = type(inner).__name__
            raise InputTypeError(f"method {self.method.name!r} must return an InnerResult, got {kind}")
        verdict = self._judge(inner)
        # a run that took no step must not be repeated for ever
        self.used += min(inner.iterations, budget) or (0 if verdict.accepted else 1)
        if self.watch is not None:
            seen = IntermediateIkResult(verdict.q.copy(), verdict.cost, self.used, self.attempts)
            answer = answer_of(self.watch(seen))
            if answer is CallbackReturn.REJECT and verdict.accepted:
                verdict = replace(verdict, status=IKStatus.REJECTED, reason="an outer callback rejected every solution")
            if answer is CallbackReturn.BREAK and not verdict.accepted:
                verdict = replace(verdict, status=IKStatus.STOPPED, reason="an outer callback stopped the search")
        self.attempts += 1
        self.restarted += inner.restarts
        if self.attempts == 1 and not verdict.accepted:
            # the run may have been better where it began than where it ended, once that is clipped to the limits
            self._keep(Verdict(q, self._measure(q)[0], IKStatus.STALLED))
        self._keep(verdict)
        if verdict.status in (IKStatus.COLLISION, IKStatus.REJECTED) and self.refused is None:
            self.refused = verdict
        return verdict

    def _run(self, q: Array, info: IKMeta) -> Any:
        if self._prepared is not None:
            return self._prepared.run(q, info)
        keywords = {
            "callbacks": self.inner_callbacks,
            "ik_cost_function": self.cost_function,
            "convergence_threshold": self.threshold,
            "rng": self.rng if self.method.draws else None,
            **self.options,
        }
        if self.method.prepare is None:
            return self.method.run(self.robot, self.goal, q, info, **keywords)
        self._prepared = self.method.prepare(self.robot, self.goal, self.info, task=self.task, **keywords)
        return self._prepared.run(q, info)

    def _keep(self, verdict: Verdict) -> None:
        if self.best is None or verdict.cost < self.best.cost:
            self.best = verdict

    def _judge(self, inner: InnerResult) -> Verdict:
        """Check tolerance, limits and constraints of what a run found."""
        q = vector(inner.q, self.robot.nq, f"q of method {self.method.name!r}")
        if not self.method.trusted:
            q = self.freedom.restrict(q, self.start)
        q, beyond = self.freedom.settle(q, self.start)
        cost, accepted = self._measure(q)
        refusal = violation(self.info.constraints, self.robot, q) if accepted else None
        if accepted and refusal is None and inner.status is not IKStatus.REJECTED:
            return Verdict(q, cost, IKStatus.CONVERGED)
        if inner.status is IKStatus.STOPPED:
            return Verdict(q, cost, IKStatus.STOPPED, "an inner callback stopped the search")
        if refusal is not None:
            return Verdict(q, cost, *refusal)
        if accepted:
            return Verdict(q, cost, IKStatus.REJECTED, "an inner callback rejected every solution")
        if beyond.any():
            return Verdict(q, cost, IKStatus.LIMITS, self._named(beyond))
        if inner.status in (IKStatus.CONVERGED, IKStatus.REJECTED):
            return Verdict(q, cost, IKStatus.STALLED)
        return Verdict(q, cost, inner.status)

    def _measure(self, q: Array) -> tuple[float, bool]:
        """Cost of a configuration, and whether its pose is within the tolerance."""
        pose = self.robot.pose(q, self.frame)
        distance, angle, accepted = self.task.judge(pose)
        if self.cost_function is not default_ik_cost_function:
            return float(self.cost_function(self.robot, q, self.goal.nominal)), accepted
        return pose_cost(distance, angle), accepted

    def _last_resort(self, last: Verdict, restarting: bool) -> Verdict:
        """Nothing was accepted: go on from the best, then ask whether the limits alone stand in the way."""
        left = self.info.max_iter - self.used
        if restarting and left > 0 and self.best is not None:
            last = self._attempt(self.best.q, (left + 1) // 2, False)
            if last.accepted or last.status is IKStatus.STOPPED:
                return last
            if self.refused is not None:
                return self.refused
        closest = self._approach((self.info.max_iter - self.used + 1) // 2)
        if closest is not None:
            if closest.accepted:
                return closest
            last = closest
        beyond = self._beyond_limits()
        if beyond is not None:
            return beyond
        if last.status is IKStatus.OUT_OF_BUDGET:
            return replace(last, reason=f"the budget of {self.info.max_iter} iterations is used up")
        if last.status is IKStatus.LIMITS and self.used < self.info.max_iter:
            last = replace(last, status=IKStatus.STALLED, reason="")
        count = self.attempts + self.restarted
        tries = "" if count == 1 else f" in {count} attempts"
        return replace(last, reason=last.reason or f"the cost stopped falling before the tolerance was met{tries}")

    def _approach(self, budget: int) -> Verdict | None:
        """Go on from the best to the closest pose, for methods that are made for targets within reach."""
        if self.method.closes_in or budget < 1 or self.best is None:
            return None
        info = replace(self.info, max_iter=budget, allow_random_restart=False)
        inner = jacobian_method(self.robot, self.goal, self.best.q, info, **self.error_options)
        self.used += min(inner.iterations, budget)
        verdict = self._judge(inner)
        self._keep(verdict)
        return verdict

    def _beyond_limits(self) -> Verdict | None:
        """LIMITS, if without them a solution is found from the best configuration, and only beyond them."""
        left = self.info.max_iter - self.used
        if self.best is None or left < 1 or not np.isfinite([self.freedom.lower, self.freedom.upper]).any():
            return None
        free = np.array([[-np.inf], [np.inf]]) * np.ones(self.robot.nq)
        info = replace(self.info, max_iter=left, allow_random_restart=False, limits=free)
        inner = jacobian_method(self.robot, self.goal, self.best.q, info, **self.error_options)
        self.used += min(inner.iterations, left)
        if not self.task.accepts(self.robot.pose(inner.q, self.frame)):
            return None
        verdict = self._judge(replace(inner, status=IKStatus.STALLED))
        return verdict if verdict.status is IKStatus.LIMITS else None

    def _dof_hint(self) -> int | None:
        """Degrees of freedom, if they are fewer than a full pose needs."""
        count = int(self.freedom.moving.sum())
        return count if count < 6 and self.task.mask.all() else None

    def _named(self, beyond: Array) -> str:
        names = self.robot.dof_names
        parts = ", ".join(f"{names[v]} by {abs(beyond[v]):.3g}" for v in np.flatnonzero(beyond))
        return f"a solution was found only beyond the limits of {parts}"

    def _answer(self, verdict: Verdict) -> IKResult:
        """The result: a solution, or the best configuration seen with the reason."""
        shown = verdict if verdict.accepted or self.best is None else self.best
        distance, angle = pose_error(self.robot.pose(shown.q, self.frame), self.goal.nominal.homogeneous)
        closest = "" if verdict.accepted else closest_words(distance, angle, self._dof_hint())
        return IKResult(
            shown.q.copy(),
            verdict.status,
            distance,
            angle,
            shown.cost,
            self.used,
            max(self.attempts - 1, 0) + self.restarted,
            self.seed,
            self.method.name,
            "; ".join(part for part in (verdict.reason, closest, *self.notes) if part),
        )
