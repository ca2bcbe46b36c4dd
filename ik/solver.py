"""The outer loop of inverse kinematics: restarts, budget, constraints and the verdict, around any method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..robot.arrays import flag, scalar, whole
from ..robot.base import as_robot
from ..robot.errors import InputTypeError
from ..robot.tolerance import Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .beyond import solve_beyond, target_of
from .callbacks import Constraint, IKCallback, as_callbacks
from .conditions import constraints_of
from .cost import CostFunction, default_ik_cost_function
from .goals import as_goals
from .pose_task import boolean_mask
from .problem import IKMeta, IKResult, IntermediateIkResult, Target, as_target
from .registry import METHODS, PREFERENCE, Method, default_method, method_of, register_method
from .search import Search
from .start import seed_of, start_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

__all__ = ["METHODS", "ik_jacobian", "ik_jacobian_cpp", "ik_scipy", "register_method", "solve"]

THRESHOLD = 1e-8
_NAMED = (str, type(None))
_POSES = (np.ndarray, Transformation, ToleratedPose)
_PLAIN = IKMeta()


def solve(
    robot: RobotBase,
    target: Any,
    *,
    ik_method: Any = None,
    q_init: Any = None,
    rng: Any = None,
    nearest: Any = False,
    objective: Any = None,
    allow_random_restart: bool = True,
    current_best: IntermediateIkResult | None = None,
    ignore_self_collisions: bool = False,
    ik_cost_function: CostFunction = default_ik_cost_function,
    inner_callbacks: IKCallback | Iterable[IKCallback] | None = None,
    joint_mask: ArrayLike | None = None,
    max_iter: int = 1000,
    outer_callbacks: IKCallback | Iterable[IKCallback] | None = None,
    outer_constraints: Constraint | Iterable[Constraint] | None = None,
    task: Any = None,
    convergence_threshold: float = THRESHOLD,
    tolerance: Tolerance | None = None,
    **method_options: Any,
) -> IKResult:
    """Find joint positions that bring the robot's tcp to a target; also offered as `robot.ik`.

    A method iterates from `q_init`; when it gets stuck, or what it found violates a constraint, it is started again
    from a random configuration, until the budget of iterations is used up. Success is checked again on the q
    returned: tolerance, joint limits and constraints. The answer depends on target, start and seed alone.

    Args:
        robot: The robot; it is not moved.
        target: Desired pose of the tcp in the world: ToleratedPose, Transformation, pinocchio.SE3 or 4x4 array. A bare
            pose is met within 1e-5 m and 1e-4 rad. Or several goals at once: a mapping from frames to poses, a
            `PoseGoal` or `Pointing`, or a list of these. None is the only goal of the task.
        ik_method: Name of a registered method or a callable with the same arguments; by default the native kernel
            where it covers the robot and nothing asked for forbids it, else "jacobian", or "scipy" where a cost
            function of one's own is to be minimised.
        q_init: Where to start (nq,), or a mapping from joint names to values; None is the stored configuration. What
            is outside the limits is moved into them, with a note in the result's message.
        rng: Generator or seed for the restarts; None draws a fresh seed. The result's `seed` gives the same answer.
        nearest: Look for several solutions and take the one nearest to q_init, whole turns counted: True, or weights
            of the joints (nv,). The distance is sqrt(sum w_i dq_i^2).
        objective: Made small among the solutions: `Posture(q)`, `AwayFromLimits()`, `Manipulability()` or a function
            `f(robot, q) -> float`; costs iterations of the budget.
        allow_random_restart: Whether to try again from elsewhere; off for the solution that belongs to q_init.
        current_best: A configuration known already, returned if nothing of less cost is found.
        ignore_self_collisions: Accept solutions in which the robot touches itself.
        ik_cost_function: `f(robot, q, goal) -> float` that ranks configurations; minimised by "scipy".
        inner_callbacks: Called after each iteration; see `CallbackReturn`.
        joint_mask: Degrees of freedom that may move (nv,), True for yes; None is all.
        max_iter: Iterations of all attempts together.
        outer_callbacks: Called after each attempt with what it found.
        outer_constraints: Objects with `is_satisfied(robot, q)` or functions `f(robot, q) -> bool`, checked at rest.
        task: A solution touches none of its obstacles, and its constraints are outer constraints too.
        convergence_threshold: An attempt ends when its cost falls, per iteration, by less than this.
        tolerance: Replaces the target's tolerance.
        **method_options: Options of the method, see its docstring.

    Returns:
        An IKResult, true if solved; otherwise with the configuration of least cost seen and the reason.

    Raises:
        InputError: on a wrong shape, a NaN, an unknown method or option. The robot is never changed.
    """
    if type(target) not in _POSES or nearest is not False or objective is not None:
        target = target_of(target, task)
        asked = (as_goals(target, tolerance), nearest, objective)
        if asked[0] is not None or nearest is not False or objective is not None:
            rest = dict(
                ik_method=ik_method,
                q_init=q_init,
                rng=rng,
                allow_random_restart=allow_random_restart,
                current_best=current_best,
                ignore_self_collisions=ignore_self_collisions,
                ik_cost_function=ik_cost_function,
                inner_callbacks=inner_callbacks,
                joint_mask=joint_mask,
                max_iter=max_iter,
                outer_callbacks=outer_callbacks,
                outer_constraints=outer_constraints,
                task=task,
                convergence_threshold=convergence_threshold,
                **method_options,
            )
            return solve_beyond(solve, robot, target, tolerance, *asked, rest)
    as_robot(robot)
    plain = (
        allow_random_restart is True
        and not method_options
        and joint_mask is None
        and inner_callbacks is None
        and outer_callbacks is None
        and current_best is None
        and ik_cost_function is default_ik_cost_function
        and isinstance(convergence_threshold, float)
        and convergence_threshold == THRESHOLD
    )
    constraints = constraints_of(robot, ignore_self_collisions, outer_constraints, task)
    if plain:
        answer = _fast(robot, target, ik_method, q_init, rng, max_iter, tolerance, constraints)
        if answer is None:
            answer = _fast_again(robot, target, ik_method, q_init, rng, max_iter, tolerance, constraints)
        if answer is not None:
            return answer
    inner = as_callbacks(inner_callbacks, "inner_callbacks")
    method = _method(robot, ik_method, method_options, bool(inner), ik_cost_function)
    info = IKMeta(
        max_iter=whole(max_iter, "max_iter"),
        allow_random_restart=flag(allow_random_restart, "allow_random_restart"),
        joint_mask=None if joint_mask is None else boolean_mask(joint_mask, robot.nv, "joint_mask"),
        constraints=constraints,
    )
    start, notes = start_of(robot, q_init)
    search = Search(
        robot=robot,
        goal=as_target(target, tolerance),
        method=method,
        options=method_options,
        info=info,
        start=start,
        seed=seed_of(rng),
        cost_function=ik_cost_function,
        inner_callbacks=inner,
        outer_callbacks=as_callbacks(outer_callbacks, "outer_callbacks"),
        threshold=scalar(convergence_threshold, "convergence_threshold", minimum=0.0),
        notes=notes,
    )
    if current_best is not None:
        search.know(current_best)
    return search.run()


def _fast(
    robot: RobotBase,
    target: Any,
    ik_method: Any,
    q_init: Any,
    rng: Any,
    max_iter: int,
    tolerance: Tolerance | None,
    constraints: tuple[Constraint, ...],
) -> IKResult | None:
    """The answer of the method's own door for plain problems, None where it has none or its answer will not do."""
    method = METHODS.get(PREFERENCE[0] if ik_method is None else ik_method) if type(ik_method) in _NAMED else None
    if method is None or method.fast is None:
        return None
    return method.fast(robot, target, q_init, rng, max_iter, tolerance, constraints)


def _fast_again(
    robot: RobotBase,
    target: Any,
    ik_method: Any,
    q_init: Any,
    rng: Any,
    max_iter: int,
    tolerance: Tolerance | None,
    constraints: tuple[Constraint, ...],
) -> IKResult | None:
    """The same with arguments in their plainest form, so that the answer does not depend on containers."""
    name = PREFERENCE[0] if ik_method is None else ik_method
    if not isinstance(name, str) or name not in METHODS or METHODS[name].fast is None:
        return None
    goal, budget = as_target(target, tolerance), whole(max_iter, "max_iter")
    start, notes = start_of(robot, q_init)
    if isinstance(rng, np.random.Generator) or rng is None or notes:
        return None  # a generator must be drawn from once only; notes belong into the message
    seed = seed_of(rng)
    start = np.ascontiguousarray(start)
    return _fast(robot, goal, ik_method, start, seed, budget, goal.tolerance, constraints)


def _method(robot: RobotBase, ik_method: Any, options: dict[str, Any], callbacks: bool, cost_function: Any) -> Method:
    """The method asked for, or the one that suits what is asked; refuses options that it does not have."""
    if not callable(cost_function):
        raise InputTypeError(
            f"ik_cost_function must be a function f(robot, q, goal), got {type(cost_function).__name__}"
        )
    if ik_method is None:
        own_cost = cost_function is not default_ik_cost_function
        return default_method(robot, options, callbacks=callbacks, own_cost=own_cost)
    method = method_of(ik_method)
    method.check(options)
    return method


def _one_run(name: str) -> Callable[..., IKResult]:
    """A function that runs a method once: no restart, no collision check."""

    def run(
        robot: RobotBase,
        target: Target,
        info: IKMeta | None = None,
        q_init: Any = None,
        callbacks: IKCallback | Iterable[IKCallback] = (),
        ik_cost_function: CostFunction = default_ik_cost_function,
        convergence_threshold: float = THRESHOLD,
        rng: Any = None,
        **options: Any,
    ) -> IKResult:
        if info is None:
            info = _PLAIN
        elif not isinstance(info, IKMeta):
            raise InputTypeError(f"info must be an IKMeta, got {type(info).__name__}")
        return solve(
            robot,
            target,
            ik_method=name,
            q_init=q_init,
            rng=rng,
            allow_random_restart=False,
            ignore_self_collisions=True,
            ik_cost_function=ik_cost_function,
            inner_callbacks=callbacks,
            joint_mask=info.joint_mask,
            max_iter=info.max_iter,
            outer_constraints=info.constraints,
            convergence_threshold=convergence_threshold,
            **options,
        )

    run.__name__ = run.__qualname__ = f"ik_{name}"
    run.__doc__ = f"""One run of the method {name!r}: no restart, no collision check.

    Args:
        robot: The robot; it is not moved.
        target: As in `solve`.
        info: Budget, mask and constraints of the run.
        q_init: Where to start (nq,); None is the stored configuration.
        callbacks: Called after each iteration.
        ik_cost_function: As in `solve`.
        convergence_threshold: As in `solve`.
        rng: Generator or seed, for methods that draw.
        **options: Options of the method and `tolerance`.
    """
    return run


ik_scipy = _one_run("scipy")
ik_jacobian = _one_run("jacobian")
ik_jacobian_cpp = _one_run("jacobian_cpp")
