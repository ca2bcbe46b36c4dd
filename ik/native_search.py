"""A whole search in the native kernel: the door for plain problems, and the reason where there is no solution.

Everything that costs a microsecond is done once per chain, or inside the kernel.
"""

from __future__ import annotations

import math
from os import urandom
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..robot.arrays import Array
from ..robot.native import NativeChain
from ..robot.tolerance import DEFAULT_TOLERANCE, CartesianSphere, RotationAbsolute, Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .callbacks import Constraint, satisfied, violation
from .cost import pose_cost
from .native_solver import (
    ALONE,
    CLOSEST,
    FREE,
    MOST_ATTEMPTS,
    NAME,
    POLISH,
    SEARCH,
    chain_of,
    make_room,
    radii,
    solver_of,
)
from .problem import IKMeta, IKResult, IKStatus, closest_words

if TYPE_CHECKING:
    from ..robot.base import RobotBase

LARGEST_RESERVE = 200
"""Iterations kept back for the closest pose and the reason, a quarter of the budget at most."""
CLOSEST_ATTEMPTS = 8
PROBE_ATTEMPTS = 10

_PLAIN = IKMeta()
_ARRAY = np.ndarray
_DEFAULT_RADII = (*radii(DEFAULT_TOLERANCE), True)


def fast(
    robot: Any,
    target: Any,
    q_init: Any,
    rng: Any,
    max_iter: int,
    tolerance: Any,
    constraints: tuple[Constraint, ...] = (),
) -> IKResult | None:
    """The answer to a plain problem; None leaves anything else to the outer loop."""
    chain = chain_of(robot)
    if chain is None or type(max_iter) is not int or not 1 <= max_iter < 2**31:
        return None
    if type(target) is ToleratedPose:
        if tolerance is None:
            tolerance = target.tolerance
        target = target.nominal
    if type(target) is Transformation:
        target = target.homogeneous
    start = robot.q if q_init is None else q_init
    if type(target) is not _ARRAY or type(start) is not _ARRAY or target.shape != (4, 4) or start.ndim != 1:
        return None
    position, rotation, ball = _DEFAULT_RADII
    if tolerance is not None and tolerance is not DEFAULT_TOLERANCE:
        if not isinstance(tolerance, Tolerance):
            return None
        position, rotation, ball = chain.solvers.get(tolerance) or _remember(chain, tolerance)
        if not (0.0 < rotation < math.pi and 0.0 < position < FREE):
            return None
    if rng is None:
        seed = int.from_bytes(urandom(7), "little")
    elif type(rng) is int and 0 <= rng < 2**63:
        seed = rng
    else:
        return None
    solver = chain.solvers.get("plain")
    if solver is None:
        solver = chain.solvers["plain"] = solver_of(robot, chain, _PLAIN, SEARCH)
    try:
        gap = solver.gap(target, start)
    except TypeError:  # not float64 or not contiguous
        return None
    if not gap <= position:
        if gap != gap or not ball:  # not plain
            return None
        return _Failure(robot, chain, target, start, position, rotation, seed, max_iter).out_of_reach(gap - position)
    q = start.copy()
    reserve = min(max_iter // 4, LARGEST_RESERVE)
    found, distance, angle, iterations, attempts, outside, stalled = solver.solve(
        target, start, q, position, rotation, MOST_ATTEMPTS, max_iter - reserve, seed
    )
    if found:
        if constraints and not all(satisfied(constraint, robot, q) for constraint in constraints):
            search = _Another(robot, solver, target, start, position, rotation, seed, max_iter - reserve)
            return search.allowed(constraints, _Seen(q, distance, angle), iterations, attempts)
        cost = pose_cost(distance, angle)
        return IKResult(q, IKStatus.CONVERGED, distance, angle, cost, iterations, attempts - 1, seed, NAME, "")
    if not ball:
        return None
    failure = _Failure(robot, chain, target, start, position, rotation, seed, max_iter)
    result = failure.explained(_Seen(q, distance, angle), iterations, attempts, outside, stalled)
    refusal = violation(constraints, robot, result.q) if result.success else None
    return result if refusal is None else result.refused(*refusal)


def _remember(chain: NativeChain, tolerance: Tolerance) -> tuple[float, float, bool]:
    """The radii of a tolerance, and whether it allows nothing outside that ball."""
    parts = getattr(tolerance, "parts", (tolerance,))
    ball = all(
        isinstance(part, RotationAbsolute) or (isinstance(part, CartesianSphere) and part.position_radius == part.r[1])
        for part in parts
    )
    make_room(chain)
    found = chain.solvers[tolerance] = tolerance.position_radius, tolerance.rotation_radius, ball
    return found


class _Seen(NamedTuple):
    q: Array
    distance: float
    angle: float

    @property
    def cost(self) -> float:
        return pose_cost(self.distance, self.angle)


class _Another(NamedTuple):
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
        refused: _Seen,
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
                return self._answer(_Seen(q, distance, angle), IKStatus.CONVERGED, "", used, attempts)
        status, message = violation(constraints, self.robot, refused.q) or (IKStatus.REJECTED, "")
        return self._answer(refused, status, message, used, attempts)

    def _answer(self, seen: _Seen, status: IKStatus, message: str, used: int, attempts: int) -> IKResult:
        return IKResult(
            seen.q, status, seen.distance, seen.angle, seen.cost, used, attempts - 1, self.seed, NAME, message
        )


class _Failure:
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

    def explained(self, best: _Seen, iterations: int, attempts: int, outside: bool, stalled: bool) -> IKResult:
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
        self.last = _Seen(q, distance, angle)
        self.used += iterations
        self.left -= iterations
        return found

    def _answer(self, seen: _Seen, status: IKStatus, message: str) -> IKResult:
        if status is not IKStatus.CONVERGED:
            dof = len(self.chain.q_index)
            closest = closest_words(seen.distance, seen.angle, dof if dof < 6 else None)
            message = f"{message}; {closest}" if message else closest
        return IKResult(
            seen.q, status, seen.distance, seen.angle, seen.cost, self.used, self.restarts, self.seed, NAME, message
        )


def batch_rows(
    robot: Any,
    poses: Array,
    starts: Array,
    seed: int,
    first: int,
    max_iter: int,
    tolerance: Tolerance | None,
    threads: int,
) -> dict[str, Any] | None:
    """The columns of a BatchResult, problems side by side in lanes; None if the kernel does not take them as they are.

    Args:
        robot: The robot.
        poses: Rigid targets (N, 4, 4).
        starts: (N, nq).
        seed: Of the random starts.
        first: Number of the first target.
        max_iter: Iterations for each target.
        tolerance: Of every target.
        threads: Of the kernel.
    """
    chain = chain_of(robot)
    lower, upper = robot.limits.position
    if chain is None or seed >= 2**63 or not ((starts >= lower) & (starts <= upper)).all():
        return None
    position, rotation, ball = _DEFAULT_RADII
    if tolerance is not None and tolerance is not DEFAULT_TOLERANCE:
        position, rotation, ball = chain.solvers.get(tolerance) or _remember(chain, tolerance)
    if not ball or not (0.0 < rotation < math.pi and 0.0 < position < FREE):
        return None
    solver = solver_of(robot, chain, _PLAIN, SEARCH)
    count, reserve = len(poses), min(max_iter // 4, LARGEST_RESERVE)
    q, errors, counts = starts.copy(), np.empty((count, 2)), np.empty((count, 5), dtype=np.int64)
    solver.solve_batch(
        poses, starts, q, errors, counts, position, rotation, MOST_ATTEMPTS, max_iter - reserve, seed, first, threads
    )
    found = counts[:, 0] != 0
    status = np.where(found, str(IKStatus.CONVERGED), "").astype("U16")
    iterations, restarts = counts[:, 1].copy(), np.maximum(counts[:, 2] - 1, 0)
    for i in np.flatnonzero(~found).tolist():
        failure = _Failure(robot, chain, poses[i], starts[i], position, rotation, (seed + first + i) % 2**63, max_iter)
        if counts[i, 2] == 0:
            result = failure.out_of_reach(solver.gap(poses[i], starts[i]) - position)
        else:
            best = _Seen(q[i].copy(), *errors[i].tolist())
            result = failure.explained(best, *counts[i, 1:3].tolist(), *map(bool, counts[i, 3:]))
        q[i], status[i], found[i] = result.q, str(result.status), result.success
        errors[i] = result.position_error, result.rotation_error
        iterations[i] = result.iterations
    return {
        "q": q,
        "success": found,
        "status": status,
        "position_error": errors[:, 0].copy(),
        "rotation_error": errors[:, 1].copy(),
        "iterations": iterations,
        "restarts": restarts,
    }
