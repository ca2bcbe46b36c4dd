"""All solutions of one pose: every branch of an arm, or its self-motion sampled at a spacing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, flag, scalar, vector, whole
from ..robot.base import as_robot
from ..robot.errors import InputError
from ..robot.spatial import ReferenceFrame
from ..robot.tolerance import CartesianSphere, RotationAbsolute, Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .callbacks import all_satisfied
from .conditions import constraints_of
from .freedom import TURN, Freedom
from .native_solver import FREE, SEARCH, chain_of, radii, solver_of
from .pose_task import POSITION_TERMS
from .problem import IKMeta, as_target
from .solver import solve
from .start import seed_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

ROUND = 256
"""Random starts in one round."""
BARREN = 3
"""Rounds without anything new after which the search ends."""
MOST_ROUNDS = 40
LOOKED_AT = 8
"""Solutions at which it is asked whether the arm can move with the tool at rest."""
SAME = 1e-3
"""Solutions of an arm without self-motion closer than this in every joint [rad or m] are one."""
SPACING = 0.5
"""Default spacing of samples of a self-motion [rad or m]."""
EXACT = 1e-8
"""Solutions are found to this tolerance [m, rad], so that one branch is not taken for two."""


def solve_all(
    robot: RobotBase,
    pose: Any,
    q_init: Any = None,
    *,
    tolerance: Tolerance | None = None,
    rng: Any = 0,
    spacing: float | None = None,
    windings: bool = False,
    limit: int = 1000,
    collision_free: bool = False,
    outer_constraints: Any = None,
    task: Any = None,
) -> Array:
    """All solutions of a pose within the joint limits, nearest to `q_init` first.

    Random starts are solved in rounds until several rounds bring nothing new. An arm without self-motion has finitely
    many solutions and each is found with near certainty; where the arm can move with the tool at rest, the solutions
    are samples of it, no two closer than `spacing` in every joint.

    Args:
        robot: The robot; it is not moved.
        pose: Pose of the tcp in the world; a tolerance that frees the rotation asks for the position alone.
        q_init: Where distances are measured from (nq,); None is the stored configuration.
        tolerance: Replaces the target's tolerance; solutions are exact to 1e-8 wherever they can be.
        rng: Generator or seed of the random starts.
        spacing: Least distance of two solutions in the joint farthest apart [rad or m]; None is 1e-3 without
            self-motion and 0.5 with it.
        windings: List a solution once for every whole turn its joints have room for, not only the nearest.
        limit: Greatest number of solutions.
        collision_free: Leave out solutions in which the robot touches itself.
        outer_constraints: Leave out solutions that violate one, as in `solve`.
        task: Leave out solutions that touch its obstacles or violate its constraints.

    Returns:
        Solutions (k, nq); k = 0 if there are none.

    Raises:
        InputError: on bad arguments.
    """
    as_robot(robot)
    goal = as_target(pose, tolerance)
    near = robot.q if q_init is None else vector(q_init, robot.nq, "q_init")
    freedom = Freedom.of(robot, robot.tcp, IKMeta())
    near, _ = freedom.settle(near, near)
    apart = None if spacing is None else scalar(spacing, "spacing", positive=True)
    most, seed = whole(limit, "limit"), seed_of(rng) & (2**63 - 1)  # what the kernel counts with
    constraints = constraints_of(robot, not flag(collision_free, "collision_free"), outer_constraints, task)
    enough = None if constraints else most
    found = _collect(robot, goal, freedom, near, seed, apart, enough, exact=True)
    if not found:  # the tolerance may be all that brings the target within reach
        found = _collect(robot, goal, freedom, near, seed, apart, enough, exact=False)
    windings_of = _windings if flag(windings, "windings") else _alone
    solutions = [w for q in found for w in windings_of(freedom, q, near, most)]
    if constraints:
        allowed = all_satisfied(constraints, robot, np.array(solutions).reshape(-1, robot.nq))
        solutions = [q for q, good in zip(solutions, allowed, strict=True) if good]
    order = np.argsort([float(np.abs(robot.difference(near, q)).max(initial=0.0)) for q in solutions], kind="stable")
    return np.array(solutions).reshape(len(solutions), robot.nq)[order[:most]]


def _collect(
    robot: RobotBase,
    goal: ToleratedPose,
    freedom: Freedom,
    near: Array,
    seed: int,
    apart: float | None,
    enough: int | None,
    *,
    exact: bool,
) -> list[Array]:
    """Distinct solutions from rounds of random starts, until several rounds bring nothing new."""
    found: list[Array] = []
    barren = 0
    for number in range(MOST_ROUNDS):
        solutions = _round(robot, goal, near, seed, number, exact=exact)
        if apart is None and solutions:
            apart = SPACING if any(_moves_at_rest(robot, goal, freedom, q) for q in solutions[:LOOKED_AT]) else SAME
        fresh = [] if apart is None else _distinct(freedom, solutions, found, apart)
        fresh = [q for q in fresh if goal.valid(Transformation(robot.pose(q, robot.tcp)))]
        found += fresh
        barren = 0 if fresh else barren + 1
        if barren == BARREN or (enough is not None and len(found) >= enough):
            break
    return found


def _moves_at_rest(robot: RobotBase, goal: ToleratedPose, freedom: Freedom, q: Array) -> bool:
    """Whether joints can move while what is asked of the tool stays as it is."""
    rows = 3 if goal.tolerance.rotation_radius >= np.pi else 6
    J = robot.frame_jacobian(q, robot.tcp, ReferenceFrame.LOCAL_WORLD_ALIGNED)
    J = J[3:] if goal.tolerance.position_radius >= FREE else J[:rows]
    return int(np.linalg.matrix_rank(J[:, freedom.moving], tol=1e-6)) < int(freedom.moving.sum())


def one_round(robot: RobotBase, goal: ToleratedPose, near: Array, seed: int) -> list[Array]:
    """Solutions of a pose from one round of random starts."""
    return _round(robot, goal, near, seed, 0, exact=True)


def _round(robot: RobotBase, goal: ToleratedPose, near: Array, seed: int, number: int, *, exact: bool) -> list[Array]:
    """Solutions from one round of random starts, in the order of the starts; to 1e-8, or within the tolerance."""
    chain, tolerance = chain_of(robot), goal.tolerance
    free_rotation, free_position = tolerance.rotation_radius >= np.pi, tolerance.position_radius >= FREE
    ball = tolerance.position_radius > 0.0 and tolerance.rotation_radius > 0.0
    position, rotation = (min(radius, EXACT) if exact else radius for radius in radii(tolerance))
    if chain is None or free_position or not ball:
        if ball and exact and not free_rotation and not free_position:
            goal = ToleratedPose(goal.nominal, CartesianSphere(EXACT) + RotationAbsolute(EXACT))
        rng = np.random.default_rng([seed, number])
        results = [
            solve(
                robot,
                goal,
                q_init=robot.random_configuration(rng),
                rng=0,
                allow_random_restart=False,
                max_iter=100,
                ignore_self_collisions=True,
            )
            for _ in range(ROUND // 4)
        ]
        return [result.q for result in results if result]
    rows = tuple(POSITION_TERMS.tolist()) if free_rotation else (True,) * 6
    solver = solver_of(robot, chain, IKMeta(), SEARCH, rows=rows)
    targets = np.ascontiguousarray(np.broadcast_to(goal.nominal.homogeneous, (ROUND, 4, 4)))
    q = np.tile(near, (ROUND, 1))
    errors, counts = np.empty((ROUND, 2)), np.empty((ROUND, 5), dtype=np.int64)
    rotation = 4.0 if free_rotation else rotation
    solver.solve_batch(targets, None, q, errors, counts, position, rotation, 2, 100, seed, number * ROUND, 1)
    return list(q[counts[:, 0] != 0])


def _distinct(freedom: Freedom, solutions: list[Array], found: list[Array], apart: float) -> list[Array]:
    """The first of every cluster of solutions that differ from each other and from all found before."""
    if not solutions:
        return []
    x = np.array([freedom.coordinates(q) for q in [*found, *solutions]])[:, freedom.moving]
    periodic = freedom.support.periodic[freedom.moving]
    left, fresh = np.arange(len(found), len(x)), []
    for k in range(len(x)):
        if not len(left):
            break
        if k >= len(found):
            if k != left[0]:
                continue
            fresh.append(solutions[k - len(found)])
        gap = np.abs(x[left] - x[k])
        gap = np.where(periodic, np.abs(gap - TURN * np.round(gap / TURN)), gap)
        left = left[gap.max(axis=1, initial=0.0) >= apart]
    return fresh


def _alone(freedom: Freedom, q: Array, near: Array, most: int) -> list[Array]:
    """The solution itself, on the turn nearest to where the search began."""
    return [freedom.settle(q, near)[0]]


def _windings(freedom: Freedom, q: Array, near: Array, most: int) -> list[Array]:
    """q with every whole turn that its joints have room for; of very many the `most` nearest to `near`."""
    if not freedom.support.flat:
        raise InputError("windings are for robots whose joints are all of one coordinate")
    rows = q[None]
    for i in np.flatnonzero(freedom.support.periodic & freedom.moving):
        if not np.isfinite([freedom.lower[i], freedom.upper[i]]).all():
            continue
        turns = np.arange(np.ceil((freedom.lower[i] - q[i]) / TURN), np.floor((freedom.upper[i] - q[i]) / TURN) + 1)
        turns = turns[np.argsort(np.abs(q[i] + TURN * turns - near[i]), kind="stable")][:most]
        rows = np.repeat(rows, len(turns), axis=0)
        rows[:, i] += TURN * np.tile(turns, len(rows) // max(len(turns), 1))
        if len(rows) > most:
            rows = rows[np.argsort(np.abs(rows - near).max(axis=1), kind="stable")[:most]]
    return list(rows)
