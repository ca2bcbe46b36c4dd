"""What is around the law of Cartesian admittance: wrench and offset bounds, axes, the joint solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ik.velocity_bounds import VelocityBounds
from ..ik.velocity_qp import DAMPING, MODES, NOTHING, Manner, Preference, solve_trusted
from ..ik.velocity_result import VelocityResult
from ..ik.velocity_singularity import MARGIN
from ..robot.arrays import Array, _as_float, flag, scalar, vector
from ..robot.base import RobotBase
from ..robot.errors import InputError, InputTypeError
from .gains import one_of


def reach(value: Any, name: str) -> Array | None:
    """A bound per axis (6,), not negative, inf for none; None for none at all."""
    if value is None:
        return None
    array = _as_float(value, name)
    if array.shape not in ((), (6,)):
        raise InputError(f"{name} must be a number or have shape (6,), linear first, got {array.shape}")
    if np.isnan(array).any() or (array < 0.0).any():
        raise InputError(f"{name} must not be negative or NaN")
    return np.array(np.broadcast_to(array, (6,)))


def chosen(axes: Any) -> NDArray[np.bool_]:
    """Which axes yield (6,); None is all."""
    if axes is None:
        return np.ones(6, dtype=bool)
    try:
        array = np.asarray(axes)
    except (TypeError, ValueError):
        raise InputError("axes must be six booleans, got rows of different lengths") from None
    if array.shape != (6,):
        raise InputError(f"axes must have shape (6,), linear first, got {array.shape}")
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InputTypeError(f"axes must be six booleans: True yields, False stays stiff, got {axes!r}")
    return array.astype(bool)


class JointSolve:
    """The joint velocity of a twist: bounds, posture and mode, kept from tick to tick."""

    def __init__(
        self,
        robot: RobotBase,
        dt: float,
        *,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        position_limits: Any = None,
        joint_mask: Any = None,
        task_weights: Any = None,
        solver_damping: Any = DAMPING,
        posture: Any = None,
        posture_gain: Any = 1.0,
        posture_weight: Any = 1e-3,
        posture_strict: Any = False,
        mode: Any = "least_squares",
        singularity_margin: Any = MARGIN,
    ) -> None:
        self._robot = robot
        self._limits = {
            "velocity": velocity_limits,
            "acceleration": acceleration_limits,
            "position": position_limits,
            "joint_mask": joint_mask,
        }
        self.bounds = VelocityBounds(robot, dt, **self._limits)
        weights = None if task_weights is None else vector(task_weights, 6, "task_weights").copy()
        if weights is not None and (weights < 0.0).any():
            raise InputError("task_weights must not be negative")
        eps = scalar(solver_damping, "solver_damping", positive=True)
        margin = scalar(singularity_margin, "singularity_margin", minimum=0.0)
        self._posture = None if posture is None else robot._single(posture).copy()
        self._gain = scalar(posture_gain, "posture_gain", minimum=0.0)
        self._weight = scalar(posture_weight, "posture_weight", minimum=0.0)
        self._strict = flag(posture_strict, "posture_strict")
        scale = one_of(mode, MODES, "mode") == "scale"
        self._manner = Manner(weights, eps, scale, margin, self.bounds.dt, self.bounds.masked)

    def new_dt(self, dt: float) -> None:
        """Bounds for another period."""
        if dt != self.bounds.dt:
            self.bounds = VelocityBounds(self._robot, dt, **self._limits)
            self._manner = self._manner._replace(dt=self.bounds.dt)

    def solve(self, q: Array, jacobian: Array, twist: Array, before: Array) -> VelocityResult:
        """The joint velocity at q, after `before`."""
        lower, upper = self.bounds.at(q, before)
        preference = NOTHING
        if self._posture is not None:
            dq_ref = self._gain * self._robot._difference(q, self._posture)
            preference = Preference(dq_ref, self._weight, self._strict)
        result = solve_trusted(jacobian, twist, lower, upper, self._manner, preference)
        return self.bounds.explain(result, q, before)
