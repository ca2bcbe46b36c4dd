"""Problems beyond one pose of the tool: several goals, a secondary objective, the nearest of several solutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, _as_float, scalar, vector, whole
from ..robot.errors import InputError
from ..robot.tolerance import Tolerance
from .callbacks import all_satisfied, as_constraints
from .conditions import constraints_of
from .cost import default_ik_cost_function, pose_cost
from .freedom import Freedom
from .goal_search import GoalSearch, solve_goals
from .goals import Goal, PoseGoal, frame_of
from .objectives import Posture, as_objective
from .pose_task import boolean_mask
from .problem import IKMeta, IKResult, IKStatus, as_target
from .registry import ARGUMENTS
from .start import seed_of, start_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

Solve = Callable[..., IKResult]
_NOT_HERE = {
    "inner_callbacks": None,
    "outer_callbacks": None,
    "current_best": None,
    "ik_cost_function": default_ik_cost_function,
}


def target_of(target: Any, task: Any) -> Any:
    """The target, or where there is none the only goal of the task.

    Raises:
        InputError: if the task has no goal, or several.
    """
    if target is not None or task is None:
        return target
    goals = dict(getattr(task, "goals", {}))
    single = [goal for goal in goals.values() if not isinstance(goal, tuple | list)]
    if len(goals) == 1 and len(single) == 1:
        return single[0]
    known = f"it has {len(goals)}: {', '.join(map(repr, goals))}" if goals else "it has none"
    raise InputError(f"target is required: it can be left out only with a task that has one goal, and {known}")


def solve_beyond(
    solve: Solve,
    robot: RobotBase,
    target: Any,
    tolerance: Tolerance | None,
    goals: tuple[Goal, ...] | None,
    nearest: Any,
    objective: Any,
    options: dict[str, Any],
) -> IKResult:
    """Answer what `solve` was asked beyond a pose; `options` are its other arguments.

    Raises:
        InputError: on options that have no meaning here.
    """
    wanted = None if objective is None else as_objective(objective)
    frames = () if goals is None else tuple(frame_of(robot, goal) for goal in goals)
    only = goals[0] if goals is not None and len(goals) == 1 else None
    if isinstance(only, PoseGoal) and (only.frame is None or only.frame == _tcp_of(robot)):
        target, goals = only.target, None
    elif goals is not None:
        if options.get("ik_method") is not None:
            raise InputError("ik_method is for one pose of the tcp; several goals and directions have their own search")
        strange = [name for name in options if name not in ARGUMENTS]
        if strange:
            raise InputError(f"{strange[0]!r} is an option of a method; several goals and directions take none")
        for name, default in _NOT_HERE.items():
            if options.get(name) is not default:
                raise InputError(f"{name} is for one pose of the tcp; several goals and directions do without it")
        if nearest is not False:
            raise InputError("nearest is for one pose of the tcp; for several goals use objective=Posture(q)")
    options = options | {"outer_constraints": as_constraints(options["outer_constraints"], "outer_constraints") or None}
    conditions = constraints_of(robot, options["ignore_self_collisions"], options["outer_constraints"], options["task"])
    mask = options["joint_mask"]
    info = IKMeta(
        max_iter=whole(options["max_iter"], "max_iter"),
        allow_random_restart=bool(options["allow_random_restart"]),
        joint_mask=None if mask is None else boolean_mask(mask, robot.nv, "joint_mask"),
        constraints=conditions,
    )
    seed = seed_of(options["rng"])
    start, _ = start_of(robot, options["q_init"], frames[0] if goals is not None else None)
    if wanted is not None:
        wanted.value(robot, start)  # what is wrong with an objective is said before anything is solved
    first = None
    if goals is None:
        goal = as_target(target, tolerance)
        first = solve(robot, goal, **(options | {"rng": seed}))
        if nearest is not False and first.success:
            first = nearest_of(robot, first, goal, start, _weights(robot, nearest), info, seed)
        goals = (PoseGoal(goal, robot.tcp),)
        if wanted is None:
            return first
    return solve_goals(
        robot, goals, first=first, objective=wanted, constraints=conditions, info=info, start=start, seed=seed
    )


def _tcp_of(robot: RobotBase) -> str | None:
    """Name of the tcp, None where none was chosen and the robot has several tips."""
    try:
        return robot.tcp
    except InputError:
        return None


def _weights(robot: RobotBase, nearest: Any) -> Array:
    if nearest is True:
        return np.ones(robot.nv)
    several = _as_float(nearest, "nearest").ndim > 0
    weights = vector(nearest, robot.nv, "nearest") if several else np.full(robot.nv, scalar(nearest, "nearest"))
    if (weights < 0.0).any():
        raise InputError("nearest must be True or weights of the joints, not negative")
    return weights


def nearest_of(
    robot: RobotBase, first: IKResult, goal: Any, near: Array, weights: Array, info: IKMeta, seed: int
) -> IKResult:
    """The solution nearest to `near` among the first, one round of random starts, and whole turns of each.

    An arm with self-motion moves on along it from there, as near as it gets.
    """
    from .branches import one_round

    freedom = Freedom.of(robot, robot.tcp, info)
    found = [first.q, *(one_round(robot, goal, near, seed) if info.joint_mask is None else [])]
    rows = np.array([freedom.settle(q, near)[0] for q in found])
    good = all_satisfied(info.constraints, robot, rows)
    good &= np.array([goal.valid(robot.pose(q, robot.tcp)) for q in rows])
    rows = rows[good] if good.any() else first.q[None]
    distance = [float((weights * robot_step(robot, freedom, near, q) ** 2).sum()) for q in rows]
    q = rows[int(np.argmin(distance))]
    search = GoalSearch(robot, (PoseGoal(goal, robot.tcp),), info, near, seed)
    if int(freedom.moving.sum()) > len(search.stacked(q)[0]):
        search.used = first.iterations
        q = search.improve(q.copy(), Posture(near, weights), info.constraints)
    gap, angle = search.worst(q)
    return IKResult(
        q.copy(),
        IKStatus.CONVERGED,
        gap,
        angle,
        pose_cost(gap, angle),
        max(first.iterations, search.used),
        first.restarts,
        first.seed,
        first.method,
        first.message,
    )


def robot_step(robot: RobotBase, freedom: Freedom, near: Array, q: Array) -> Array:
    """The step from `near` to q (nv,), whole turns counted where coordinates are plain."""
    step = robot.difference(near, q)
    plain = freedom.support.coordinate >= 0
    return np.where(plain, freedom.coordinates(q) - freedom.coordinates(near), step)
