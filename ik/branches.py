"""All solutions of one pose: every branch of an arm, or its self-motion sampled at a spacing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, scalar, vector
from ..robot.errors import InputError
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
SAME = 1e-3
"""Solutions of an arm without self-motion closer than this in every joint [rad or m] are one."""
SPACING = 0.5
"""Default spacing of samples of a self-motion [rad or m]."""
EXACT = 1e-8
"""Solutions are found to this tolerance [m, rad], so that one branch is not taken for two."""


def solve_all(
    robot: RobotBase,
    pose: Any,
    *,
    q_init: Any = None,
    tolerance: Tolerance | None = None,
    rng: Any = 0,
    spacing: float | None = None,
    windings: bool = False,
    limit: int = 1000,
    collision_free: bool = False,
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
        task: Leave out solutions that touch its obstacles or violate its constraints.

    Returns:
        Solutions (k, nq); k = 0 if there are none.

    Raises:
        InputError: on bad arguments.
    """
    goal = as_target(pose, tolerance)
    near = robot.q if q_init is None else vector(q_init, robot.nq, "q_init")
    freedom = Freedom.of(robot, robot.tcp, IKMeta())
    near, _ = freedom.settle(near, near)
    free_rotation = goal.tolerance.rotation_radius >= np.pi
    redundant = int(freedom.moving.sum()) > (3 if free_rotation else 6)
    apart = (SPACING if redundant else SAME) if spacing is None else scalar(spacing, "spacing", positive=True)
    most = int(scalar(limit, "limit", minimum=1))
    seed = seed_of(rng)
    constraints = constraints_of(robot, not collision_free, None, task)
    found: list[Array] = []
    barren = 0
    for number in range(MOST_ROUNDS):
        fresh = [
            q
            for q in _round(robot, goal, near, seed, number, free_rotation)
            if goal.valid(Transformation(robot.pose(q, robot.tcp))) and _is_new(freedom, q, found, apart)
        ]
        barren = 0 if fresh else barren + 1
        if barren == BARREN or (len(found) >= most and not constraints):
            break
    solutions = [w for q in found for w in (_windings(freedom, q) if windings else [freedom.settle(q, near)[0]])]
    if constraints:
        allowed = all_satisfied(constraints, robot, np.array(solutions).reshape(-1, robot.nq))
        solutions = [q for q, good in zip(solutions, allowed, strict=True) if good]
    order = np.argsort([float(np.abs(robot.difference(near, q)).max(initial=0.0)) for q in solutions], kind="stable")
    return np.array(solutions).reshape(len(solutions), robot.nq)[order[:most]]


def one_round(robot: RobotBase, goal: ToleratedPose, near: Array, seed: int) -> list[Array]:
    """Solutions of a pose from one round of random starts."""
    return _round(robot, goal, near, seed, 0, goal.tolerance.rotation_radius >= np.pi)


def _round(robot: RobotBase, goal: Any, near: Array, seed: int, number: int, free_rotation: bool) -> list[Array]:
    """Solutions from one round of random starts, in the order of the starts."""
    chain = chain_of(robot)
    position, rotation = (min(radius, EXACT) for radius in radii(goal.tolerance))
    ball = goal.tolerance.position_radius > 0.0 and goal.tolerance.rotation_radius > 0.0
    if chain is None or position >= FREE or not ball:
        if ball and not free_rotation and position < FREE:
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


def _is_new(freedom: Freedom, q: Array, found: list[Array], apart: float) -> bool:
    """Whether q differs from all found before; it is taken among them if so."""
    if found:
        gap = np.abs(np.array([freedom.coordinates(q) - freedom.coordinates(other) for other in found]))
        gap = np.where(freedom.support.periodic, np.abs(gap - TURN * np.round(gap / TURN)), gap)
        if (gap[:, freedom.moving].max(axis=1, initial=0.0) < apart).any():
            return False
    found.append(q)
    return True


def _windings(freedom: Freedom, q: Array) -> list[Array]:
    """q with every whole turn that its joints have room for."""
    if not freedom.support.flat:
        raise InputError("windings are for robots whose joints are all of one coordinate")
    rows = [q]
    for i in np.flatnonzero(freedom.support.periodic & freedom.moving):
        if not np.isfinite([freedom.lower[i], freedom.upper[i]]).all():
            continue
        turns = np.arange(np.ceil((freedom.lower[i] - q[i]) / TURN), np.floor((freedom.upper[i] - q[i]) / TURN) + 1)
        rows = [row + TURN * turn * np.eye(len(q))[i] for row in rows for turn in turns]
    return rows
