"""A whole search in the native kernel: the door for plain problems, and the reason where there is no solution.

Everything that costs a microsecond is done once per chain, or inside the kernel.
"""

from __future__ import annotations

import math
from os import urandom
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array
from ..robot.native import NativeChain
from ..robot.tolerance import DEFAULT_TOLERANCE, CartesianSphere, RotationAbsolute, Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .callbacks import Constraint, all_satisfied, satisfied, violation
from .cost import pose_cost
from .native_failure import Another, Failure, Seen
from .native_solver import (
    FREE,
    MOST_ATTEMPTS,
    NAME,
    SEARCH,
    chain_of,
    make_room,
    radii,
    solver_of,
)
from .problem import IKMeta, IKResult, IKStatus

if TYPE_CHECKING:
    from ..robot.base import RobotBase

LARGEST_RESERVE = 200
"""Iterations kept back for the closest pose and the reason, a quarter of the budget at most."""

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
        return Failure(robot, chain, target, start, position, rotation, seed, max_iter).out_of_reach(gap - position)
    q = start.copy()
    reserve = min(max_iter // 4, LARGEST_RESERVE)
    found, distance, angle, iterations, attempts, outside, stalled = solver.solve(
        target, start, q, position, rotation, MOST_ATTEMPTS, max_iter - reserve, seed
    )
    if found:
        if constraints and not all(satisfied(constraint, robot, q) for constraint in constraints):
            search = Another(robot, solver, target, start, position, rotation, seed, max_iter - reserve)
            return search.allowed(constraints, Seen(q, distance, angle), iterations, attempts)
        cost = pose_cost(distance, angle)
        return IKResult(q, IKStatus.CONVERGED, distance, angle, cost, iterations, attempts - 1, seed, NAME, "")
    if not ball:
        return None
    failure = Failure(robot, chain, target, start, position, rotation, seed, max_iter)
    result = failure.explained(Seen(q, distance, angle), iterations, attempts, outside, stalled)
    return _judged(result, constraints, robot)


def _judged(result: IKResult, constraints: tuple[Constraint, ...], robot: RobotBase) -> IKResult:
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


def batch_rows(
    robot: Any,
    poses: Array,
    starts: Array,
    seed: int,
    first: int,
    max_iter: int,
    tolerance: Tolerance | None,
    threads: int,
    constraints: tuple[Constraint, ...] = (),
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
        constraints: Of every solution.
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
    refused = np.zeros(count, dtype=np.bool_)
    refused[found] = ~all_satisfied(constraints, robot, q[found])
    for i in np.flatnonzero(refused | ~found).tolist():
        own_seed = (seed + first + i) % 2**63
        if refused[i]:
            search = Another(robot, solver, poses[i], starts[i], position, rotation, own_seed, max_iter - reserve)
            seen = Seen(q[i].copy(), *errors[i].tolist())
            result = search.allowed(constraints, seen, *counts[i, 1:3].tolist())
            q[i], status[i], found[i] = result.q, str(result.status), result.success
            errors[i] = result.position_error, result.rotation_error
            iterations[i], restarts[i] = result.iterations, result.restarts
            continue
        failure = Failure(robot, chain, poses[i], starts[i], position, rotation, own_seed, max_iter)
        if counts[i, 2] == 0:
            result = failure.out_of_reach(solver.gap(poses[i], starts[i]) - position)
        else:
            best = Seen(q[i].copy(), *errors[i].tolist())
            result = failure.explained(best, *counts[i, 1:3].tolist(), *map(bool, counts[i, 3:]))
            result = _judged(result, constraints, robot)
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
