"""Inverse velocity kinematics: joint velocities for a twist or towards a pose, within limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..robot.arrays import Array, _as_float, scalar, vector
from ..robot.base import RobotBase, as_robot
from ..robot.errors import InputError, InputTypeError
from ..robot.spatial import ReferenceFrame, log3
from ..robot.transformation import as_transformation
from .objectives import as_objective
from .velocity_bounds import VelocityBounds
from .velocity_qp import DAMPING, MODES, NOTHING, Manner, Preference, solve_trusted
from .velocity_result import VelocityResult
from .velocity_singularity import MARGIN

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


class DifferentialIK:
    """The joint velocity, held for dt, that moves a frame as asked and serves objectives with what freedom is left.

        min |W^(1/2) (J dq - twist)|^2 + eps |dq|^2,  then  min |dq - dq_ref|^2 without touching the first
        dq_ref = -sum_i gain_i grad h_i(q)

    within the bounds of `VelocityBounds`, what the tool can hardly do held back. Towards a pose the twist is
    (1 - exp(-bandwidth dt))/dt times what is left, (p_goal - p, log3(R_goal R^T)): away from limits and singularities
    the error falls by exp(-bandwidth dt) a step, whatever dt, and never overshoots.

    Args:
        robot: The robot; it is not moved.
        dt: How long a velocity is held [s].
        frame: The frame; None is the tcp.
        bandwidth: Of the way to a pose [1/s].
        objective: `Posture`, `AwayFromLimits`, `Manipulability`, a function f(robot, q), or several; made small.
        objective_gain: Speed of their descent [1/s], a number or one for each.
        strict: Whether objectives come strictly second; otherwise they are weighed by objective_weight.
        objective_weight: Weight of |dq - dq_ref|^2 against the tool, with strict=False.
        weights: Of the six axes of the twist, not negative; 0 leaves an axis free.
        damping: eps.
        mode: "least_squares", or "scale", which keeps the direction of the twist.
        velocity_limits: Greatest speeds, a number, (nv,) or a mapping; None is the robot's.
        acceleration_limits: Likewise.
        position_limits: (2, nq); None is the robot's.
        joint_mask: Degrees of freedom that may move (nv,).
        singularity_margin: Relative size of the singular values below which a direction is held back, so that joints
            neither race nor turn round at every step where the arm is stretched out; 0 for the plain problem.
    """

    def __init__(
        self,
        robot: RobotBase,
        *,
        dt: Any,
        frame: str | None = None,
        bandwidth: Any = 10.0,
        objective: Any = None,
        objective_gain: Any = 1.0,
        strict: bool = True,
        objective_weight: Any = 1e-3,
        weights: Any = None,
        damping: Any = DAMPING,
        mode: str = "least_squares",
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        position_limits: Any = None,
        joint_mask: Any = None,
        singularity_margin: Any = MARGIN,
    ) -> None:
        self.robot, self.frame = as_robot(robot), robot._frame(frame)
        self._pull = scalar(bandwidth, "bandwidth", positive=True)
        self._objectives, self._gains = _objectives(objective, objective_gain)
        if not isinstance(strict, bool):
            raise InputTypeError(f"strict must be True or False, got {strict!r}")
        self._strict, self._weight = strict, scalar(objective_weight, "objective_weight", minimum=0.0)
        row_weights = None if weights is None else vector(weights, 6, "weights").copy()
        if row_weights is not None and (row_weights < 0.0).any():
            raise InputError("weights must not be negative")
        eps, margin = (
            scalar(damping, "damping", positive=True),
            scalar(singularity_margin, "singularity_margin", minimum=0.0),
        )
        if not isinstance(mode, str) or mode not in MODES:
            raise InputError(f"mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
        self.bounds = VelocityBounds(
            robot,
            dt,
            velocity=velocity_limits,
            acceleration=acceleration_limits,
            position=position_limits,
            joint_mask=joint_mask,
        )
        self._manner = Manner(row_weights, eps, mode == "scale", margin, self.bounds.dt, self.bounds.masked)
        self._share = -math.expm1(-self._pull * self.bounds.dt) / self.bounds.dt

    @property
    def dt(self) -> float:
        """How long a velocity is held [s]."""
        return self.bounds.dt

    def step(self, q: Any = None, *, twist: Any = None, target: Any = None, dq_before: Any = None) -> VelocityResult:
        """The velocity for the next dt.

        Args:
            q: Configuration (nq,) or mapping; None is the stored one.
            twist: Asked of the frame (6,), linear first, world axes at its origin [m/s, rad/s]; with a target it is
                the target's own velocity.
            target: Pose to go to, a Transformation, SE3 or (4, 4).
            dq_before: Velocity until now (nv,), for limits of acceleration; None is rest.
        """
        q = self.robot._single(q)
        before = self.robot._rate(dq_before, np.zeros(self.robot.nv), "dq_before")
        if twist is None and target is None:
            raise InputTypeError("give a twist, a target, or both")
        asked = np.zeros(6) if twist is None else vector(twist, 6, "twist").copy()
        if target is not None:
            asked += self._share * self._error(q, as_transformation(target, "target").homogeneous)
        J = self.robot.frame_jacobian(q, self.frame, LWA)
        lower, upper = self.bounds.at(q, before)
        result = solve_trusted(J, asked, lower, upper, self._manner, self._preference(q))
        return self.bounds.explain(result, q, before)

    def advance(self, q: Any = None, **asked: Any) -> tuple[Array, VelocityResult]:
        """The configuration dt later (nq,), and the velocity that leads there; arguments as of `step`."""
        start = self.robot._single(q)
        result = self.step(start, **asked)
        return self.robot._integrate(start, self.dt * result.dq), result

    def _error(self, q: Array, goal: Array) -> Array:
        T = self.robot.pose(q, self.frame)
        error = np.empty(6)
        error[:3] = goal[:3, 3] - T[:3, 3]
        error[3:] = log3(goal[:3, :3] @ T[:3, :3].T)
        return error

    def _preference(self, q: Array) -> Preference:
        if not self._objectives:
            return NOTHING
        dq_ref = np.zeros(self.robot.nv)
        for gain, objective in zip(self._gains, self._objectives, strict=True):
            dq_ref -= gain * objective.gradient(self.robot, q)
        return Preference(dq_ref, self._weight, self._strict)


def _objectives(objective: Any, gain: Any) -> tuple[list[Any], list[float]]:
    if objective is None:
        return [], []
    several = isinstance(objective, Iterable) and not hasattr(objective, "gradient")
    found = [as_objective(one) for one in (objective if several else [objective])]
    if _as_float(gain, "objective_gain").ndim == 0:
        return found, [scalar(gain, "objective_gain", minimum=0.0)] * len(found)
    gains = vector(gain, len(found), "objective_gain")
    if (gains < 0.0).any():
        raise InputError("objective_gain must not be negative")
    return found, gains.tolist()
