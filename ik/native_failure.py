"""What a native search does when its first answer will not do: another branch, the closest pose, the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..robot.arrays import Array
from ..robot.native import NativeChain
from .callbacks import Constraint, satisfied, violation
from .cost import pose_cost
from .native_solver import ALONE, CLOSEST, MOST_ATTEMPTS, NAME, POLISH, SEARCH, solver_of
from .problem import IKMeta, IKResult, IKStatus, closest_words

if TYPE_CHECKING:
    from ..robot.base import RobotBase

CLOSEST_ATTEMPTS = 8
PROBE_ATTEMPTS = 10

_PLAIN = IKMeta()


class Seen(NamedTuple):
    """A configuration and how far its pose is from the target [m], [rad]."""

    q: Array
    distance: float
    angle: float

    @property
    def cost(self) -> float:
        """Its default cost."""
        return pose_cost(self.distance, self.angle)


class Another(NamedTuple):
    """What is left to do when the first solution is not allowed: another branch, from elsewhere."""

    robot: RobotBase
    solver: Any
    target: Array
    start: Array
    position: float
    rotation: float
    seed: int
    budget: int

    def allowed(
        self,
        constraints: tuple[Constraint, ...],
        refused: Seen,
        used: int,
        attempts: int,
    ) -> IKResult:
        """The first solution that the constraints allow; without one, the refused one and why."""
        for index in range(1, self.budget):
            if used >= self.budget:
                break
            q = self.start.copy()
            found, distance, angle, iterations, tried, _, _ = self.solver.solve(
                self.target, None, q, self.position, self.rotation, MOST_ATTEMPTS, self.budget - used, self.seed, index
            )
            used, attempts = used + iterations, attempts + tried
            if found and all(satisfied(constraint, self.robot, q) for constraint in constraints):
                return self._answer(Seen(q, distance, angle), IKStatus.CONVERGED, "", used, attempts)
        status, message = violation(constraints, self.robot, refused.q) or (IKStatus.REJECTED, "")
        return self._answer(refused, status, message, used, attempts)

    def _answer(self, seen: Seen, status: IKStatus, message: str, used: int, attempts: int) -> IKResult:
        return IKResult(
            seen.q, status, seen.distance, seen.angle, seen.cost, used, attempts - 1, self.seed, NAME, message
        )


class Failure:
    """What is left to do after a search without success: the closest pose, and why it is not the target."""

    def __init__(
        self,
        robot: RobotBase,
        chain: NativeChain,
        target: Array,
        start: Array,
        position: float,
        rotation: float,
        seed: int,
        max_iter: int,
    ) -> None:
        self.robot, self.chain, self.target, self.start = robot, chain, target, start
        self.position, self.rotation, self.seed = position, rotation, seed
        self.left, self.used, self.restarts = max_iter, 0, 0

    def out_of_reach(self, gap: float) -> IKResult:
        """UNREACHABLE, with the position closest to the target that was found, and the rotation second."""
        self._run(CLOSEST, self.start, CLOSEST_ATTEMPTS, max(1, min(400, self.left * 3 // 4)))
        best = self.last
        if self.left > 0:
            self._run(POLISH, best.q, 1, self.left)
            best = min(best, self.last, key=lambda seen: (round(seen.distance, 9), seen.angle))
        return self._answer(best, IKStatus.UNREACHABLE, f"the target is at least {gap:.4g} m out of reach")

    def explained(self, best: Seen, iterations: int, attempts: int, outside: bool, stalled: bool) -> IKResult:
        """The least cost found by going on from the best, and whether the limits alone stand in the way."""
        self.left, self.used, self.restarts = self.left - iterations, iterations, attempts - 1
        if self.left > 0 and self._run(ALONE, best.q, 1, (self.left + 1) // 2):
            return self._answer(self.last, IKStatus.CONVERGED, "")
        best = min(best, self.last, key=lambda seen: seen.cost) if self.used > iterations else best
        stalled = stalled or (self.used > iterations and self.last_stalled)
        beyond = self._beyond() if self.left > 0 else None
        if beyond == "":
            return self._answer(self.last, IKStatus.CONVERGED, "")
        if beyond is not None:
            reason = f"a solution was found only beyond the limits of {beyond}"
            return self._answer(best, IKStatus.LIMITS, reason)
        if outside:
            return self._answer(best, IKStatus.LIMITS, "solutions were found only beyond the limits")
        if stalled:
            reason = f"the error stopped falling before the tolerance was met in {attempts} attempts"
            return self._answer(best, IKStatus.STALLED, reason)
        return self._answer(
            best, IKStatus.OUT_OF_BUDGET, f"the budget of {self.used + self.left} iterations is used up"
        )

    def _beyond(self) -> str | None:
        """Which joints pass their limits in a solution that heeds none, and by how much; None: no solution."""
        limits = self.robot.limits.position
        free = IKMeta(limits=np.array([[-np.inf], [np.inf]]) * np.ones(limits.shape[1]))
        if not np.isfinite(limits[:, self.chain.q_index]).any() or not self._run(
            SEARCH, self.start, PROBE_ATTEMPTS, self.left, free
        ):
            return None
        q = self.last.q
        passed = np.maximum(q - limits[1], limits[0] - q)
        names = self.robot.coordinate_names
        return ", ".join(f"{names[i]} by {passed[i]:.3g}" for i in self.chain.q_index if passed[i] > 0.0)

    def _run(self, pace: Any, start: Array, attempts: int, budget: int, info: IKMeta = _PLAIN) -> bool:
        """One more search; what it found is `last`."""
        solver = solver_of(self.robot, self.chain, info, pace)
        q = start.copy()
        found, distance, angle, iterations, _, _, self.last_stalled = solver.solve(
            self.target, start, q, self.position, self.rotation, attempts, budget, self.seed
        )
        self.last = Seen(q, distance, angle)
        self.used += iterations
        self.left -= iterations
        return found

    def _answer(self, seen: Seen, status: IKStatus, message: str) -> IKResult:
        if status is not IKStatus.CONVERGED:
            dof = len(self.chain.q_index)
            closest = closest_words(seen.distance, seen.angle, dof if dof < 6 else None)
            message = f"{message}; {closest}" if message else closest
        return IKResult(
            seen.q, status, seen.distance, seen.angle, seen.cost, self.used, self.restarts, self.seed, NAME, message
        )
