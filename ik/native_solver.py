"""Solvers of the native kernel for one chain: constants of the iteration, options, and where they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..robot.native import NativeChain
from ..robot.tolerance import Tolerance
from .problem import IKMeta
from .reach import reach_of

if TYPE_CHECKING:
    from .._core import Solver
    from ..robot.base import RobotBase

NAME = "jacobian_cpp"
POSITION_WEIGHT = 5.0
"""Of the length of the stretched chain, against a radian."""
MOST_ATTEMPTS = 2**31 - 1
MOST_JOINTS = 32
TIGHT = 1e-6
"""Tolerance [m, rad] where the tolerated region does not hold the nominal pose, or holds only that."""
FREE = 1e9
ALL_ROWS = (True,) * 6


class Pace(NamedTuple):
    """How an attempt steps and when it is given up; found on panda, ur5 and iiwa14.

    At half and at twice of each number of `SEARCH` little changes.
    """

    damping: float
    """mu = damping * |e|^2 (Chan and Lawrence 1988)."""
    shrink: float
    """An attempt ends when its squared error has not fallen to this part of itself ..."""
    patience: int
    """... in so many iterations ..."""
    cap: int | None
    """... or after so many; None: only with the budget."""
    rotation: float = 1.0
    """Weight of a radian."""
    free_first: bool = False
    """Whether every other attempt on a chain of six joints or fewer lets revolute joints pass their limits."""


SEARCH = Pace(0.1, 0.4, 3, 30, free_first=True)
ALONE = Pace(0.1, 0.98, 10, None)
"""Where nobody will start again from elsewhere."""
CLOSEST = Pace(0.3, 0.98, 5, 60, rotation=0.1)
"""Towards a position out of reach, where the error stays and so much damping does not hurt."""
POLISH = Pace(0.2, 0.9999, 10, 100, rotation=0.03)


def chain_of(robot: Any) -> NativeChain | None:
    """The chain to the tcp, if the kernel covers it and each of its joints is moved by itself."""
    find = getattr(robot, "native_chain", None)
    chain: NativeChain | None = None if find is None else find(robot.tcp)
    if chain is None or chain.coupled or not 1 <= len(chain.q_index) <= MOST_JOINTS:
        return None
    return chain


def make_room(chain: NativeChain) -> None:
    """Forget what is kept with the chain once it is much: somebody sweeps an option or a tolerance."""
    if len(chain.solvers) > 100:
        chain.solvers.clear()


def radii(tolerance: Tolerance) -> tuple[float, float]:
    """Tolerances [m, rad] of the kernel: the largest ball inside the tolerated region."""
    position, rotation = tolerance.position_radius, tolerance.rotation_radius
    return (min(position, FREE) if position > 0.0 else TIGHT), (min(rotation, FREE) if rotation > 0.0 else TIGHT)


def solver_of(
    robot: RobotBase,
    chain: NativeChain,
    info: IKMeta,
    pace: Pace,
    *,
    rows: tuple[bool, ...] = ALL_ROWS,
    constant: float | None = None,
    step: float = 1.0,
    weights: tuple[float | None, float | None] = (None, None),
) -> Solver:
    """The kernel's solver under some options, made once per chain.

    Args:
        robot: The robot.
        chain: Its chain.
        info: Mask and bounds.
        pace: Constants of the iteration.
        rows: Which of the six error terms count, world axes.
        constant: Constant mu instead of the adaptive one.
        step: Part of the step that is taken.
        weights: Of a metre and of a radian; None is the default.
    """
    mask = None if info.joint_mask is None else info.joint_mask.tobytes()
    limits = None if info.limits is None else info.limits.tobytes()
    key = pace, rows, constant, step, weights, mask, limits
    solver: Solver | None = chain.solvers.get(key)
    if solver is None:
        from .. import _core

        make_room(chain)
        bounds = robot.limits.position if info.limits is None else info.limits
        frozen = np.zeros(robot.nv, dtype=np.int32)
        if info.joint_mask is not None:
            frozen[~info.joint_mask] = 1
        metre = POSITION_WEIGHT / max(chain.length, 1e-3) if weights[0] is None else weights[0]
        radian = pace.rotation if weights[1] is None else weights[1]
        reach = reach_of(robot, robot.tcp)
        solver = chain.solvers[key] = _core.Solver(
            chain.core,
            np.array([0.0, 0.0, 0.0, np.inf] if reach is None else [*reach.center, reach.radius]),
            np.ascontiguousarray(bounds[0]),
            np.ascontiguousarray(bounds[1]),
            frozen,
            np.array(rows, dtype=np.float64) * ([metre] * 3 + [radian] * 3),
            pace.damping if constant is None else 0.0,
            0.0 if constant is None else constant,
            step,
            pace.shrink,
            pace.patience,
            MOST_ATTEMPTS if pace.cap is None else pace.cap,
            pace.free_first and len(chain.q_index) <= 6,
        )
    return solver
