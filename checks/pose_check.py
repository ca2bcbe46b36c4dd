"""check_poses: which of these poses can the robot reach, how well, and what can it hold there."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ik.batch import as_poses, solve_batch
from ..ik.branches import solve_all
from ..robot.arrays import Array, flag, matrix, scalar
from ..robot.base import as_robot
from ..robot.errors import InputError
from ..robot.rotation import rotation_from_rpy
from ..robot.spatial import ReferenceFrame
from ..robot.tolerance import DEFAULT_TOLERANCE, Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .envelope import torque_envelope
from .options import loaded
from .pose_report import PoseReport
from .tool import singular_values

if TYPE_CHECKING:
    from ..robot.base import RobotBase

MOST_POSES = 10_000_000


def check_poses(
    robot: RobotBase,
    poses: Any,
    task: Any = None,
    *,
    q_init: Any = None,
    rng: Any = 0,
    tolerance: Tolerance | None = None,
    all_solutions: bool = False,
    payload: Any = None,
    payload_com: Any = None,
    limits_scale: Any = 1.0,
    max_iter: int = 1000,
    ignore_self_collisions: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Any = False,
    resume: str | os.PathLike[str] | None = None,
) -> PoseReport:
    """Reach study: solve inverse kinematics for every pose and tell what the solutions are worth.

    Args:
        robot: The robot; it is not moved.
        poses: Poses of the tcp in the world (N, 4, 4), or a sequence of poses.
        task: Its obstacles are avoided, its constraints kept, its gravity stands in for the robot's.
        q_init: Where the searches start; None is the stored configuration.
        rng: Generator or seed; the answers depend on it, never on threads or chunks.
        tolerance: Of every pose; one that frees the rotation asks for positions alone.
        all_solutions: Look for all solutions of every pose that is reached, count them, and keep the one of greatest
            manipulability; takes milliseconds a pose.
        payload: Mass carried at the tcp [kg].
        payload_com: Its centre of mass in the tcp (3,) [m].
        limits_scale: Part of the torque limits that may be used to hold still.
        max_iter: Iterations a pose.
        ignore_self_collisions: Accept solutions in which the robot touches itself.
        threads: As in `ik.solve_batch`, like the following.
        executor: Work beyond this process.
        progress: As in `ik.solve_batch`.
        resume: File that keeps the solutions already found.
    """
    as_robot(robot)
    given = as_poses(poses)
    scale = scalar(limits_scale, "limits_scale", positive=True)
    carrying = loaded(robot, payload, payload_com)
    found = solve_batch(
        robot, given, q_init, rng=rng, tolerance=tolerance, max_iter=max_iter, threads=threads, executor=executor,
        progress=progress, resume=resume, ignore_self_collisions=ignore_self_collisions, task=task,
    )  # fmt: skip
    q, count = found.q.copy(), found.success.astype(np.int64)
    if flag(all_solutions, "all_solutions"):
        for i in np.flatnonzero(found.success):
            q[i], count[i] = _best(robot, given[i], q[i], tolerance, ignore_self_collisions, task)
    worth = _worth(robot, carrying, q, found.success, task, scale, payload_com)
    held = found.success & ~(worth["torque_used"] > 1.0 + 1e-9)
    return PoseReport(
        robot.name, tuple(robot.coordinate_names), given, held, found.success.copy(), found.status.copy(), count, q,
        **worth, seed=found.seed,
    )  # fmt: skip


def _best(
    robot: RobotBase, pose: Array, q: Array, tolerance: Tolerance | None, ignore_self_collisions: bool, task: Any
) -> tuple[Array, int]:
    """The solution of greatest manipulability, and how many there are."""
    goal = ToleratedPose(Transformation(pose), DEFAULT_TOLERANCE if tolerance is None else tolerance)
    aware = hasattr(robot, "has_self_collision") and not ignore_self_collisions
    several = solve_all(robot, goal, q_init=q, rng=0, collision_free=aware, task=task)
    if not len(several):
        return q, 1
    return several[np.argmax([robot.manipulability_index(one) for one in several])], len(several)


def _worth(
    robot: RobotBase, carrying: RobotBase, q: Array, reached: Any, task: Any, scale: float, com: Any
) -> dict[str, Array]:
    """What the configurations of the poses that are reached are worth, NaN for the others."""
    rows = np.flatnonzero(reached)
    names = ("manipulability", "singular_value", "limit_margin", "clearance", "torque_used", "payload")
    worth = {name: np.full(len(q), np.nan) for name in names}
    if not len(rows):
        return worth
    at = np.ascontiguousarray(q[rows])
    J = robot.frame_jacobian_batch(at, robot.tcp, ReferenceFrame.LOCAL_WORLD_ALIGNED)
    worth["manipulability"][rows] = np.prod(np.linalg.svd(J, compute_uv=False), axis=1)
    worth["singular_value"][rows] = singular_values(J)[1]
    lower, upper = robot.limits.position
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(at - lower, upper - at) / (0.5 * (upper - lower))
    share = np.where(np.isfinite(upper - lower) & (upper > lower), share, np.inf)
    worth["limit_margin"][rows] = share.min(axis=1, initial=np.inf)
    distance = getattr(robot, "distance", None)
    if distance is not None:
        worth["clearance"][rows] = [distance(one, task).value for one in at]
    tau, limit = np.abs(carrying.static_torque(at, task=task)), scale * robot.limits.torque
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(tau > 0.0, tau / limit, 0.0)
    worth["torque_used"][rows] = used.max(axis=1, initial=0.0)
    worth["payload"][rows] = torque_envelope(robot, at, com=com, limits_scale=scale, task=task).mass
    return worth


def pose_grid(lower: Any, upper: Any, counts: Any, rpy: Any = (0.0, 0.0, 0.0)) -> Array:
    """Poses on a grid: every orientation at every point, x slowest (N, 4, 4).

    Args:
        lower: Lower corner (3,) [m].
        upper: Upper corner (3,) [m].
        counts: Points along x, y and z (3,), or one number for all.
        rpy: Roll, pitch, yaw (3,), or several (K, 3) [rad].
    """
    low, high = matrix(lower, (3,), "lower"), matrix(upper, (3,), "upper")
    if (low > high).any():
        raise InputError("lower must not exceed upper")
    sizes = np.broadcast_to(np.asarray(counts), (3,)).tolist()
    if any(int(n) != n or n < 1 for n in sizes):
        raise InputError(f"counts must be whole numbers from 1, got {counts!r}")
    turns = [rotation_from_rpy(row) for row in np.atleast_2d(matrix(np.atleast_2d(rpy), (-1, 3), "rpy"))]
    if np.prod(sizes, dtype=float) * len(turns) > MOST_POSES:
        raise InputError(f"the grid has more than {MOST_POSES} poses")
    axes = [np.linspace(a, b, int(n)) if n > 1 else [0.5 * (a + b)] for a, b, n in zip(low, high, sizes, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    poses = np.tile(np.eye(4), (len(points), len(turns), 1, 1))
    poses[:, :, :3, 3] = points[:, None]
    poses[:, :, :3, :3] = turns
    return poses.reshape(-1, 4, 4)
