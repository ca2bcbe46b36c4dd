"""What is made small among the configurations that meet all goals: a secondary objective in their null space."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..robot.arrays import Array, _as_float, scalar, vector
from ..robot.errors import InputError, InputTypeError
from ..robot.spatial import ReferenceFrame

if TYPE_CHECKING:
    from ..robot.base import RobotBase

STRIDE = 1e-6
"""Step of the finite differences [rad or m]."""


class Objective(Protocol):
    """A function of the configuration that is to be small."""

    def value(self, robot: RobotBase, q: Array) -> float:
        """Its value at q (nq,)."""

    def gradient(self, robot: RobotBase, q: Array) -> Array:
        """Its derivative (nv,)."""


@dataclass(frozen=True, slots=True)
class Posture:
    """Near a configuration: h = 1/2 sum_i w_i difference(q_ref, q)_i^2."""

    q_ref: Any
    """(nq,), or a mapping from joint names to values, whose other joints are as stored."""
    weights: Any = 1.0
    """A number, or one per degree of freedom (nv,)."""

    def _parts(self, robot: RobotBase, q: Array) -> tuple[Array, Array]:
        reference = robot._single(self.q_ref)
        if _as_float(self.weights, "weights").ndim == 0:
            weights = np.full(robot.nv, scalar(self.weights, "weights", minimum=0.0))
        else:
            weights = vector(self.weights, robot.nv, "weights")
            if (weights < 0.0).any():
                raise InputError("weights must not be negative")
        return weights, robot.difference(reference, q)

    def value(self, robot: RobotBase, q: Array) -> float:
        """See Objective."""
        weights, step = self._parts(robot, q)
        return float(0.5 * (weights * step * step).sum())

    def gradient(self, robot: RobotBase, q: Array) -> Array:
        """See Objective; to first order on joints of several coordinates."""
        weights, step = self._parts(robot, q)
        return weights * step


@dataclass(frozen=True, slots=True)
class AwayFromLimits:
    """Near the middle of the joint limits: h = 1/2 sum_i ((q_i - middle_i) / (range_i / 2))^2 over joints with both."""

    def _parts(self, robot: RobotBase, q: Array) -> tuple[Array, Array, Array]:
        lower, upper = robot.limits.position
        middle, scale, index = np.zeros(robot.nv), np.full(robot.nv, np.inf), np.zeros(robot.nv, dtype=np.intp)
        for at, rate in robot.coordinate_slices().values():
            i, v = at.start, rate.start
            if at.stop - i == 1 == rate.stop - v and np.isfinite([lower[i], upper[i]]).all() and upper[i] > lower[i]:
                middle[v], scale[v], index[v] = 0.5 * (lower[i] + upper[i]), 0.5 * (upper[i] - lower[i]), i
        return q[index], middle, scale

    def value(self, robot: RobotBase, q: Array) -> float:
        """See Objective."""
        x, middle, scale = self._parts(robot, q)
        return float(0.5 * (((x - middle) / scale) ** 2).sum())

    def gradient(self, robot: RobotBase, q: Array) -> Array:
        """See Objective."""
        x, middle, scale = self._parts(robot, q)
        return np.asarray((x - middle) / scale**2, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Manipulability:
    """Far from singularities: h = -sum_i log(sigma_i + 1e-9) over the singular values of a frame's Jacobian."""

    frame: str | None = None
    """None is the tcp."""

    def value(self, robot: RobotBase, q: Array) -> float:
        """See Objective."""
        J = robot.frame_jacobian(q, robot.tcp if self.frame is None else self.frame, ReferenceFrame.LOCAL)
        return float(-np.log(np.linalg.svd(J, compute_uv=False) + 1e-9).sum())

    def gradient(self, robot: RobotBase, q: Array) -> Array:
        """See Objective; by central differences."""
        return differences(robot, self.value, q)


@dataclass(frozen=True, slots=True)
class CustomObjective:
    """A function `f(robot, q) -> float` of one's own; its derivative by central differences."""

    function: Callable[[Any, Array], float]

    def value(self, robot: RobotBase, q: Array) -> float:
        """See Objective."""
        return scalar(self.function(robot, q.copy()), "value of the objective")

    def gradient(self, robot: RobotBase, q: Array) -> Array:
        """See Objective."""
        return differences(robot, self.value, q)


def differences(robot: RobotBase, value: Callable[[Any, Array], float], q: Array) -> Array:
    """Central differences of a function of the configuration (nv,)."""
    steps = STRIDE * np.eye(robot.nv)
    return np.array(
        [(value(robot, robot.integrate(q, s)) - value(robot, robot.integrate(q, -s))) / (2 * STRIDE) for s in steps]
    )


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # built-in functions need not tell
        return True
    return True


def as_objective(objective: Any) -> Objective:
    """An objective from one or from a function `f(robot, q)`."""
    if isinstance(objective, type):
        raise InputTypeError(f"objective must be an object, not a class: {objective.__name__}()")
    if callable(getattr(objective, "value", None)) and callable(getattr(objective, "gradient", None)):
        found: Objective = objective
        return found
    if callable(objective) and _takes_two(objective):
        return CustomObjective(objective)
    raise InputTypeError(
        "objective must be Posture(q), AwayFromLimits(), Manipulability() or a function f(robot, q) -> float, "
        f"got {type(objective).__name__}"
    )
