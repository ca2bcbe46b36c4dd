"""Method "jacobian_cpp": damped least squares with limits and restarts in the native kernel (`native/ik.hpp`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, scalar
from ..robot.errors import InputError, UnsupportedError
from ..robot.tolerance import ToleratedPose
from .callbacks import IKCallback
from .cost import CostFunction, default_ik_cost_function, pose_cost
from .jacobian_method import jacobian_method
from .native_solver import ALONE, MOST_ATTEMPTS, NAME, SEARCH, chain_of, radii, solver_of
from .pose_task import terms
from .problem import IKMeta, IKStatus, InnerResult

if TYPE_CHECKING:
    from ..robot.base import RobotBase


def applies(robot: RobotBase) -> bool:
    """Whether the kernel covers the chain to the robot's tcp."""
    return chain_of(robot) is not None


def native_method(
    robot: RobotBase,
    goal: ToleratedPose,
    q_init: Array,
    info: IKMeta,
    *,
    callbacks: Iterable[IKCallback] = (),
    ik_cost_function: CostFunction = default_ik_cost_function,
    convergence_threshold: float = 1e-8,
    rng: np.random.Generator | None = None,
    damp: float | None = None,
    step_size: float = 1.0,
    eps: float | None = None,
    tcp_or_world_frame: str | None = None,
    error_term_mask: Any = None,
    weight_translation: float | None = None,
    weight_rotation: float | None = None,
    allow_inner_restart: bool = True,
    check_self_collisions: bool = True,
    alpha_average: float = 0.5,
) -> InnerResult:
    """Attempts of damped least squares inside the kernel, the first from `q_init`, the others from random starts.

    Limits are part of the step: joints with a full turn of room run free and are wound back at the end, the others
    are held at a bound while the gradient pushes out.

    Args:
        robot: The robot whose tcp is to reach the goal.
        goal: Desired pose of the tcp in the world. Attempts end inside the largest ball about the nominal pose that
            its tolerance holds.
        q_init: Where to start (nq,).
        info: Budget, mask and bounds. Restarts happen only where it allows them.
        callbacks: No effect: the kernel calls nobody.
        ik_cost_function: Ranks what is returned; no effect inside.
        convergence_threshold: No effect: an attempt ends when its squared error falls too slowly.
        rng: Draws the seed of the random starts.
        damp: Constant mu; None adapts it to the error, `mu = 0.1 |e|^2`.
        step_size: Part of the damped step that is taken, in (0, 1].
        eps: Tighter tolerance of both errors [m, rad].
        tcp_or_world_frame: Axes in which the mask is meant, "tcp" or "world". A mask on single axes of the tcp is
            left to the method "jacobian".
        error_term_mask: Which of the six error terms count (6,).
        weight_translation: Weight of a metre; by default 5 over the length of the chain.
        weight_rotation: Weight of a radian; by default 1.
        allow_inner_restart: Whether the kernel may start again from elsewhere by itself.
        check_self_collisions: No effect here: what is found is checked by the outer loop.
        alpha_average: No effect, as convergence_threshold.

    Raises:
        UnsupportedError: if the kernel is absent or does not cover the chain to the tcp.
        InputError: on an impossible option.
    """
    chain = chain_of(robot)
    if chain is None:
        raise UnsupportedError(
            f"method {NAME!r} does not cover the chain to {robot.tcp!r} of robot {robot.name!r} (or the native kernel "
            "is absent, see `knuckle doctor`); use ik_method='jacobian'"
        )
    world, mask = terms(goal, tcp_or_world_frame, error_term_mask)
    if not world and len({*mask[:3]}) + len({*mask[3:]}) > 2:
        return jacobian_method(
            robot, goal, q_init, info, ik_cost_function=ik_cost_function, tcp_or_world_frame="tcp", error_term_mask=mask
        )
    restarting = info.allow_random_restart and bool(allow_inner_restart)
    solver = solver_of(
        robot,
        chain,
        info,
        SEARCH if restarting else ALONE,
        rows=tuple(mask.tolist()),
        constant=None if damp is None else scalar(damp, "damp", minimum=0.0),
        step=_step_size(step_size),
        weights=(_weight(weight_translation, "weight_translation"), _weight(weight_rotation, "weight_rotation")),
    )
    position, rotation = radii(goal.tolerance)
    if eps is not None:
        tight = scalar(eps, "eps", positive=True)
        position, rotation = min(position, tight), min(rotation, tight)
    q = np.array(q_init)
    seed = 0 if rng is None else int(rng.integers(0, 2**63))
    found, distance, angle, iterations, attempts, outside, stalled = solver.solve(
        goal.nominal.homogeneous,
        np.ascontiguousarray(q_init),
        q,
        position,
        rotation,
        MOST_ATTEMPTS if restarting else 1,
        info.max_iter,
        seed,
    )
    own_cost = ik_cost_function is not default_ik_cost_function
    cost = float(ik_cost_function(robot, q, goal.nominal)) if own_cost else pose_cost(distance, angle)
    status = IKStatus.LIMITS if outside else IKStatus.STALLED if stalled else IKStatus.OUT_OF_BUDGET
    return InnerResult(q, IKStatus.CONVERGED if found else status, cost, iterations, attempts - 1)


def _step_size(value: Any) -> float:
    step = scalar(value, "step_size", positive=True)
    if step > 1.0:
        raise InputError(f"step_size must be at most 1, got {step}")
    return step


def _weight(value: Any, name: str) -> float | None:
    return None if value is None else scalar(value, name, positive=True)
