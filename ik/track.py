"""A path of poses as a path of joints: continuous, or with the place and the reason where it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, flag, scalar, vector, whole
from ..robot.base import as_robot
from ..robot.errors import InputError, InputTypeError
from ..robot.tolerance import DEFAULT_TOLERANCE, Tolerance
from .batch import as_poses
from .callbacks import all_satisfied, violation
from .conditions import constraints_of
from .native_solver import ALONE, FREE, chain_of, radii, solver_of
from .problem import IKMeta, IKStatus
from .solver import solve

if TYPE_CHECKING:
    from ..robot.base import RobotBase

LONGEST_STEP = 0.5
"""Default bound of a joint's step [rad or m]: farther apart, two solutions are not neighbours on a path."""


@dataclass(frozen=True, slots=True, eq=False)
class TrackResult:
    """A path of joints; true if it is whole."""

    q: Array
    """Configurations (n, nq), one for each pose that was followed."""
    position_error: Array
    """[m] (n,)."""
    rotation_error: Array
    """[rad] (n,)."""
    count: int
    """Number of poses asked for; `len(q)` were followed."""
    status: IKStatus
    """CONVERGED, or why the path broke at pose `len(q)`."""
    message: str
    """The reason in words; empty if whole."""

    def __repr__(self) -> str:
        end = "whole" if self.success else f"{self.status}: {self.message}"
        return f"<TrackResult {len(self.q)} of {self.count} poses, {end}>"

    @property
    def success(self) -> bool:
        """Whether every pose was followed."""
        return len(self.q) == self.count

    @property
    def broken_at(self) -> int | None:
        """Number of the first pose that was not followed; None if the path is whole."""
        return None if self.success else len(self.q)

    def __bool__(self) -> bool:
        return self.success


def track(
    robot: RobotBase,
    poses: Any,
    q_start: Any = None,
    *,
    tolerance: Tolerance | None = None,
    max_step: float = LONGEST_STEP,
    max_iter: int = 100,
    collision_free: bool = False,
    outer_constraints: Any = None,
    task: Any = None,
) -> TrackResult:
    """Follow a Cartesian path on the branch of its start.

    Every pose is solved from the configuration before, without restarts, so the path never changes branch; it ends
    where the next pose cannot be reached so, or where a joint would have to step by more than `max_step`.

    Args:
        robot: The robot; it is not moved.
        poses: Poses of the tcp in the world, (N, 4, 4) or a sequence.
        q_start: Configuration at the start of the path, at or near the first pose (nq,); None is the stored one.
        tolerance: Of every pose; None is 1e-5 m and 1e-4 rad.
        max_step: Greatest step of a joint between two poses [rad or m].
        max_iter: Iterations for each pose.
        collision_free: End the path before the first pose at which the robot touches itself.
        outer_constraints: End it before the first pose that violates one, as in `solve`.
        task: End it before the first pose that touches its obstacles or violates its constraints.

    Returns:
        A TrackResult.

    Raises:
        InputError: on bad arguments, or a start outside the limits.
    """
    as_robot(robot)
    targets = as_poses(poses)
    q = robot.q if q_start is None else vector(q_start, robot.nq, "q_start")
    if not robot.q_in_joint_limits(q):
        raise InputError("q_start is outside the joint limits; robot.clip_to_limits(q_start) moves it into them")
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise InputTypeError(f"tolerance must be a Tolerance, got {type(tolerance).__name__}")
    longest = scalar(max_step, "max_step", positive=True)
    budget = whole(max_iter, "max_iter")
    path, errors, broken = _follow(robot, targets, q, tolerance, budget)
    stride = robot.difference(np.vstack([q, path])[: len(path)], path)
    jumps = np.flatnonzero(np.abs(stride).max(axis=1, initial=0.0) > longest)
    status, message = IKStatus.CONVERGED, ""
    if broken is not None:
        status, message = broken
    if len(jumps):
        k = int(jumps[0])
        joint = int(np.argmax(np.abs(stride[k])))
        name, step = robot.dof_names[joint], abs(stride[k, joint])
        where = "q_start is not at the first pose: " if k == 0 else ""
        path, errors = path[:k], errors[:k]
        status, message = (
            IKStatus.REJECTED,
            f"pose {k}: {where}joint {name!r} would step by {step:.3g}, over {longest:g}",
        )
    constraints = constraints_of(robot, not flag(collision_free, "collision_free"), outer_constraints, task)
    bad = np.flatnonzero(~all_satisfied(constraints, robot, path)) if constraints else np.zeros(0, dtype=np.intp)
    if len(bad):
        k = int(bad[0])
        refusal, words = violation(constraints, robot, path[k]) or (IKStatus.REJECTED, "")
        path, errors, status, message = path[:k], errors[:k], refusal, f"pose {k}: {words}"
    return TrackResult(path, errors[:, 0].copy(), errors[:, 1].copy(), len(targets), status, message)


def _follow(
    robot: RobotBase, targets: Array, q: Array, tolerance: Tolerance | None, budget: int
) -> tuple[Array, Array, tuple[IKStatus, str] | None]:
    """Configurations, errors (n, 2), and the status and reason of the pose at which it ended, None at the last."""
    count, chain = len(targets), chain_of(robot)
    position, rotation = radii(tolerance or DEFAULT_TOLERANCE)
    allowed = tolerance or DEFAULT_TOLERANCE
    ball = allowed.position_radius > 0.0 and allowed.rotation_radius > 0.0
    if chain is not None and ball and position < FREE and rotation < np.pi:
        solver = solver_of(robot, chain, IKMeta(), ALONE)
        path, errors = np.empty((count, robot.nq)), np.empty((count, 2))
        solved = solver.track(targets, np.ascontiguousarray(q), path, errors, position, rotation, budget)
        if solved == count:
            return path, errors, None
        path, errors = path[:solved].copy(), errors[:solved].copy()
    else:
        path, errors = np.empty((0, robot.nq)), np.empty((0, 2))
    steps, measured = list(path), list(errors)
    for k in range(len(steps), count):  # the kernel gives no reasons; and beyond its chains this is the way itself
        result = solve(
            robot,
            targets[k],
            q_init=steps[-1] if steps else q,
            rng=0,
            allow_random_restart=False,
            tolerance=tolerance,
            max_iter=budget,
            ignore_self_collisions=True,
        )
        if not result:
            broken = result.status, f"pose {k}: {result.message or result.status}"
            return _stacked(steps, robot.nq), _stacked(measured, 2), broken
        steps.append(result.q)
        measured.append(np.array([result.position_error, result.rotation_error]))
    return _stacked(steps, robot.nq), _stacked(measured, 2), None


def _stacked(rows: list[Array], width: int) -> Array:
    return np.array(rows).reshape(len(rows), width)
