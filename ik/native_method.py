"""Method "jacobian_cpp": damped least squares with limits and restarts in the native kernel (`native/ik.hpp`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from os import urandom
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, scalar
from ..robot.errors import InputError, UnsupportedError
from ..robot.native import NativeChain
from ..robot.tolerance import DEFAULT_TOLERANCE, Tolerance, ToleratedPose
from ..robot.transformation import Transformation
from .callbacks import IKCallback
from .cost import CostFunction, default_ik_cost_function, pose_cost
from .jacobian_method import jacobian_method
from .pose_task import terms
from .problem import IKMeta, IKResult, IKStatus, InnerResult
from .reach import reach_of

if TYPE_CHECKING:
    from .._core import Solver
    from ..robot.base import RobotBase

NAME = "jacobian_cpp"

# Constants of the iteration, found on panda, ur5 and iiwa14; at half and at twice of each little changes.
DAMPING = 0.1
"""mu = DAMPING * |e|^2 (Chan and Lawrence 1988)."""
POSITION_WEIGHT = 5.0
"""Of the length of the stretched chain, against a radian."""
PATIENCE, SHRINK, ATTEMPT_ITERATIONS = 3, 0.4, 30
"""An attempt ends when its squared error has not fallen to SHRINK of itself in PATIENCE iterations, or at the cap."""
ALONE_PATIENCE, ALONE_SHRINK = 10, 0.98
"""The same where nobody will start again from elsewhere."""
MOST_ATTEMPTS = 2**31 - 1
MOST_JOINTS = 32
TIGHT = 1e-6
"""Tolerance [m, rad] where the tolerated region does not hold the nominal pose, or holds only that."""
FREE = 1e9
ALL_ROWS = (True,) * 6


def applies(robot: RobotBase) -> bool:
    """Whether the kernel covers the chain to the robot's tcp."""
    return _chain(robot) is not None


def _chain(robot: Any) -> NativeChain | None:
    """The chain to the tcp, if each of its joints is moved by itself."""
    find = getattr(robot, "native_chain", None)
    chain: NativeChain | None = None if find is None else find(robot.tcp)
    if chain is None or chain.coupled or not 1 <= len(chain.q_index) <= MOST_JOINTS:
        return None
    return chain


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
    chain = _chain(robot)
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
    solver = _solver(
        robot,
        chain,
        info,
        rows=tuple(mask.tolist()),
        constant=None if damp is None else scalar(damp, "damp", minimum=0.0),
        step=_step_size(step_size),
        weights=(_weight(weight_translation, "weight_translation"), _weight(weight_rotation, "weight_rotation")),
        restarting=restarting,
    )
    position, rotation = radii(goal.tolerance)
    if eps is not None:
        tight = scalar(eps, "eps", positive=True)
        position, rotation = min(position, tight), min(rotation, tight)
    q = np.array(q_init)
    seed = 0 if rng is None else int(rng.integers(0, 2**63))
    found, distance, angle, iterations, _, outside, stalled = solver.solve(
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
    return InnerResult(q, IKStatus.CONVERGED if found else status, cost, iterations)


def _step_size(value: Any) -> float:
    step = scalar(value, "step_size", positive=True)
    if step > 1.0:
        raise InputError(f"step_size must be at most 1, got {step}")
    return step


def _weight(value: Any, name: str) -> float | None:
    return None if value is None else scalar(value, name, positive=True)


def radii(tolerance: Tolerance) -> tuple[float, float]:
    """Tolerances [m, rad] of the kernel: the largest ball inside the tolerated region."""
    position, rotation = tolerance.position_radius, tolerance.rotation_radius
    return (min(position, FREE) if position > 0.0 else TIGHT), (min(rotation, FREE) if rotation > 0.0 else TIGHT)


def _solver(
    robot: RobotBase,
    chain: NativeChain,
    info: IKMeta,
    *,
    rows: tuple[bool, ...] = ALL_ROWS,
    constant: float | None = None,
    step: float = 1.0,
    weights: tuple[float | None, float | None] = (None, None),
    restarting: bool = True,
) -> Solver:
    """The kernel's solver under some options, made once per chain."""
    mask = None if info.joint_mask is None else info.joint_mask.tobytes()
    limits = None if info.limits is None else info.limits.tobytes()
    cap = ATTEMPT_ITERATIONS if restarting else min(info.max_iter, 2**31 - 1)
    key = rows, constant, step, weights, mask, limits, restarting, cap
    solver: Solver | None = chain.solvers.get(key)
    if solver is None:
        from .. import _core

        if len(chain.solvers) > 100:  # somebody sweeps an option
            chain.solvers.clear()
        bounds = robot.limits.position if info.limits is None else info.limits
        frozen = np.zeros(robot.nv, dtype=np.int32)
        if info.joint_mask is not None:
            frozen[~info.joint_mask] = 1
        metre = POSITION_WEIGHT / max(chain.length, 1e-3) if weights[0] is None else weights[0]
        radian = 1.0 if weights[1] is None else weights[1]
        reach = reach_of(robot, robot.tcp)
        solver = chain.solvers[key] = _core.Solver(
            chain.core,
            np.array([0.0, 0.0, 0.0, np.inf] if reach is None else [*reach.center, reach.radius]),
            np.ascontiguousarray(bounds[0]),
            np.ascontiguousarray(bounds[1]),
            frozen,
            np.array(rows, dtype=np.float64) * ([metre] * 3 + [radian] * 3),
            DAMPING if constant is None else 0.0,
            0.0 if constant is None else constant,
            step,
            SHRINK if restarting else ALONE_SHRINK,
            PATIENCE if restarting else ALONE_PATIENCE,
            cap,
            restarting and len(chain.q_index) <= 6,
        )
    return solver


_PLAIN = IKMeta()
_ARRAY = np.ndarray
_FLOAT = np.dtype(np.float64)
_DEFAULT_RADII = radii(DEFAULT_TOLERANCE)


def fast(robot: Any, target: Any, q_init: Any, rng: Any, max_iter: int, tolerance: Any) -> IKResult | None:
    """The whole answer to a plain problem that has one; anything else is left to the outer loop (None).

    Everything that costs a microsecond is done once per chain, or inside the kernel.
    """
    chain = _chain(robot)
    if chain is None or type(max_iter) is not int or max_iter < 1:
        return None
    if type(target) is ToleratedPose:
        if tolerance is None:
            tolerance = target.tolerance
        target = target.nominal
    if type(target) is Transformation:
        target = target.homogeneous
    start = robot.q if q_init is None else q_init
    if type(target) is not _ARRAY or type(start) is not _ARRAY or target.shape != (4, 4):
        return None
    position, rotation = _DEFAULT_RADII
    if tolerance is not None and tolerance is not DEFAULT_TOLERANCE:
        if not isinstance(tolerance, Tolerance):
            return None
        position, rotation = chain.solvers.get(tolerance) or _remember(chain, tolerance)
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
        solver = chain.solvers["plain"] = _solver(robot, chain, _PLAIN)
    try:
        gap = solver.gap(target, start)
    except TypeError:  # not float64 or not contiguous
        return None
    if not gap <= position:  # out of reach, or NaN: not plain
        return None
    q = start.copy()
    found, distance, angle, iterations, attempts, _, _ = solver.solve(
        target, start, q, position, rotation, MOST_ATTEMPTS, max_iter, seed
    )
    if not found:
        return None
    cost = pose_cost(distance, angle)
    return IKResult(q, IKStatus.CONVERGED, distance, angle, cost, iterations, attempts - 1, seed, NAME, "")


def _remember(chain: NativeChain, tolerance: Tolerance) -> tuple[float, float]:
    found = chain.solvers[tolerance] = tolerance.position_radius, tolerance.rotation_radius
    return found
