"""Many targets at once: lanes and threads in the kernel, or chunks on any executor; resumable."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, matrix, whole
from ..robot.base import as_robot
from ..robot.errors import InputError, InputTypeError, UnsupportedError
from ..robot.files import path_of
from ..robot.progress import progress_of
from ..robot.spatial import orthonormality
from ..robot.tolerance import Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .batch_job import Job
from .batch_result import BatchResult
from .callbacks import as_constraints
from .conditions import constraints_of
from .native_search import batch_rows
from .native_solver import NAME
from .solver import solve
from .start import start_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

CHUNK = 4096
"""Targets solved between two steps of the progress bar, two writes of the file, or in one task of an executor."""
THREADS_PAY = 2000
"""Targets from which on threads are used where nobody says how many."""
_OF_THE_KERNEL = {"tolerance", "max_iter", "ik_method", "ignore_self_collisions", "outer_constraints", "task"}


def solve_batch(
    robot: RobotBase,
    targets: Any,
    q_init: Any = None,
    *,
    rng: Any = None,
    tolerance: Tolerance | None = None,
    max_iter: int = 1000,
    ik_method: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
    chunk: int = CHUNK,
    progress: Any = False,
    resume: str | os.PathLike[str] | None = None,
    ignore_self_collisions: bool = False,
    outer_constraints: Any = None,
    task: Any = None,
    **options: Any,
) -> BatchResult:
    """Solve inverse kinematics for many targets.

    The answer to a target depends on the target, its start, the seed and its place in the list alone: never on
    threads, chunks, executors or interruptions.

    Args:
        robot: The robot; it is not moved. For an executor of processes it is pickled.
        targets: Poses of the tcp in the world, (N, 4, 4) or a sequence of poses.
        q_init: Where to start: (nq,) for all, (N, nq), or None for the stored configuration.
        rng: Generator or seed; None draws a fresh seed, or takes that of the file to resume.
        tolerance: Of every target; None is 1e-5 m and 1e-4 rad.
        max_iter: Iterations for each target.
        ik_method: As in `solve`. The kernel's lanes serve plain problems of its own method, the default.
        threads: Threads of the kernel; None is one, or all cores from 2000 targets on.
        executor: Anything with `submit` as in concurrent.futures, for work beyond this process.
        chunk: Targets per task.
        progress: True shows a bar (needs tqdm); a function is called with (poses done, poses in all).
        resume: File that is written after every chunk; if it holds part of the same work, the rest is done.
        ignore_self_collisions: Accept solutions in which the robot touches itself.
        outer_constraints: As in `solve`, of every solution.
        task: As in `solve`: its obstacles are avoided, its constraints heeded.
        **options: Further options of `solve`, for each target.

    Returns:
        A BatchResult.

    Raises:
        InputError: on bad arguments, or a file to resume that belongs to other work; nothing is solved then.
    """
    as_robot(robot)
    if ik_method is not None and not isinstance(ik_method, str) and not callable(ik_method):
        raise InputTypeError(f"ik_method must be a name or a function, got {type(ik_method).__name__}")
    poses = as_poses(targets)
    starts = _settled(robot, _starts(robot, q_init, len(poses)))
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise InputTypeError(f"tolerance must be a Tolerance, got {type(tolerance).__name__}")
    size = whole(chunk, "chunk")
    workers = _threads(threads, len(poses), executor)
    asked = {"tolerance": tolerance, "max_iter": whole(max_iter, "max_iter"), "ik_method": ik_method}
    outer_constraints = as_constraints(outer_constraints, "outer_constraints") or None
    constraints_of(robot, ignore_self_collisions, outer_constraints, task)  # refuses what is none
    for name in ("robot", "target", "q_init", "rng"):
        if name in options:
            raise InputError(f"{name} is no option of a batch")
    asked |= {"ignore_self_collisions": bool(ignore_self_collisions)}
    asked |= {} if outer_constraints is None else {"outer_constraints": outer_constraints}
    asked |= {} if task is None else {"task": task}
    job = Job(robot, poses, starts, asked | options, rng, None if resume is None else path_of(resume, "resume"))
    spans = [(a, min(a + size, len(poses))) for a in range(0, len(poses), size) if not job.done[a : a + size].all()]
    if resume is None and progress is False and executor is None and spans:
        spans = [(0, len(poses))]  # nobody waits for a part of it
    with progress_of(progress, len(poses), "pose", int(job.done.sum())) as told:
        for a, b, rows in _run(job, spans, workers, executor):
            job.take(a, b, rows)
            if told is not None:
                told(int(job.done.sum()))
    return job.result()


def as_poses(targets: Any, name: str = "targets") -> Array:
    """Rigid poses (N, 4, 4) from such an array or a sequence of poses."""
    if isinstance(targets, np.ndarray) and targets.ndim == 3:
        poses = np.ascontiguousarray(matrix(targets, (-1, 4, 4), name))
        deviation, determinant = orthonormality(poses[:, :3, :3])
        bad = np.flatnonzero((deviation > 1e-12) | (determinant < 0) | (poses[:, 3] != [0, 0, 0, 1]).any(axis=1))
        if not len(bad):
            return poses
        poses = poses.copy()
        for i in bad.tolist():
            poses[i] = _pose(poses[i], i, name)
        return poses
    if isinstance(targets, str | bytes) or not hasattr(targets, "__iter__"):
        raise InputTypeError(f"{name} must be (N, 4, 4) or a sequence of poses, got {type(targets).__name__}")
    several = [_pose(target, i, name) for i, target in enumerate(targets)]
    return np.array(several, dtype=np.float64).reshape(-1, 4, 4)


def _pose(target: Any, index: int, name: str) -> Array:
    if isinstance(target, dict):
        raise InputTypeError(f"{name}[{index}] must be one pose of the tcp, got a dict; robot.ik takes several frames")
    if isinstance(target, ToleratedPose):
        raise InputTypeError(
            f"{name}[{index}] is a ToleratedPose; pass its nominal pose, and tolerance= for all targets"
        )
    try:
        return Transformation(target).homogeneous
    except InputError as error:
        raise type(error)(f"{name}[{index}]: {error}") from None


def _starts(robot: RobotBase, q_init: Any, count: int) -> Array:
    if q_init is None:
        q_init = robot.q
    try:
        depth = np.ndim(q_init)
    except ValueError:
        raise InputError("q_init must have rows of one length") from None
    rows = matrix(q_init, (-1, robot.nq) if depth == 2 else (robot.nq,), "q_init")
    if rows.ndim == 2 and len(rows) != count:
        raise InputError(f"q_init must have one row for each of the {count} targets, got {len(rows)}")
    return np.ascontiguousarray(np.broadcast_to(rows, (count, robot.nq)))


def _settled(robot: RobotBase, starts: Array) -> Array:
    """Starts moved into the limits, as `solve` does with one."""
    lower, upper = robot.limits.position
    outside = np.flatnonzero(((starts < lower) | (starts > upper)).any(axis=1))
    if len(outside):
        starts = starts.copy()
        for i in outside:
            starts[i] = start_of(robot, starts[i])[0]
    return starts


def _threads(threads: Any, count: int, executor: Any) -> int:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputTypeError(f"executor must offer submit(), got {type(executor).__name__}")
    if threads is None:
        return (os.cpu_count() or 1) if executor is None and count >= THREADS_PAY else 1
    return whole(threads, "threads")


def _run(
    job: Job, spans: list[tuple[int, int]], threads: int, executor: Executor | None
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    if executor is None:
        for a, b in spans:
            yield a, b, solve_rows(*job.part(a, b, threads))
        return
    running: dict[Future[dict[str, Any]], tuple[int, int]] = {}
    waiting = iter(spans)
    ahead = 2 * (os.cpu_count() or 1) + 8  # tasks handed over at a time: a bounded amount of memory
    try:
        while True:
            for a, b in waiting:
                try:
                    running[executor.submit(solve_rows, *job.part(a, b, threads))] = a, b
                except RuntimeError as error:
                    raise InputError(f"executor takes no work: {error}") from None
                if len(running) >= ahead:
                    break
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                a, b = running.pop(future)
                try:
                    rows = future.result()
                except BrokenExecutor as error:
                    raise UnsupportedError(
                        f"a worker of the executor ended: {error}; resume= keeps what is done"
                    ) from None
                except (pickle.PicklingError, AttributeError, TypeError) as error:
                    if "pickle" not in str(error).lower():
                        raise
                    remedy = "functions in constraints and tasks must be defined at the top of a module"
                    raise InputError(f"the work cannot be sent to the executor: {error}; {remedy}") from None
                yield a, b, rows
    finally:
        for future in running:
            future.cancel()


def solve_rows(
    robot: RobotBase, poses: Array, starts: Array, seed: int, first: int, options: dict[str, Any], threads: int
) -> dict[str, Any]:
    """The columns of a BatchResult for a run of targets, the first of which has the number `first`."""
    if options.keys() <= _OF_THE_KERNEL and options["ik_method"] in (None, NAME):
        asked = (options["ignore_self_collisions"], options.get("outer_constraints"), options.get("task"))
        allowed = constraints_of(robot, *asked)
        budget, tolerance = options["max_iter"], options["tolerance"]
        rows = batch_rows(robot, poses, starts, seed, first, budget, tolerance, threads, allowed)
        if rows is not None:
            return rows
    results = [
        solve(robot, pose, q_init=start, rng=seed_at(seed, first + i), **options)
        for i, (pose, start) in enumerate(zip(poses, starts, strict=True))
    ]
    return {
        "q": np.array([r.q for r in results]).reshape(len(results), robot.nq),
        "success": np.array([r.success for r in results], dtype=np.bool_),
        "status": np.array([str(r.status) for r in results], dtype="U16"),
        "position_error": np.array([r.position_error for r in results]),
        "rotation_error": np.array([r.rotation_error for r in results]),
        "iterations": np.array([r.iterations for r in results], dtype=np.int64),
        "restarts": np.array([r.restarts for r in results], dtype=np.int64),
    }


def seed_at(seed: int, index: int) -> int:
    """The seed of one target of a batch."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(8))
