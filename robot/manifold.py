"""Moving on the configuration space: integrate, difference, interpolate, neutral, limits, random."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, as_generator, matrix, scalar, vector_or_batch, whole
from .errors import InputError, InputTypeError
from .state import StoredState, row, rows


class Manifold(StoredState):
    """Steps between configurations. Where q is plain coordinates this is addition; see the overrides elsewhere."""

    _rng: np.random.Generator

    @property
    def rng(self) -> np.random.Generator:
        """Generator used where a call is not given one."""
        return self._rng

    def integrate(self, q: Any, dv: Any) -> Array:
        """The configuration reached from q by the step dv = velocity x time: (nq,), (nv,) -> (nq,), batches alike.

        A continuous joint's angle is not wrapped, so that a path stays a path.
        """
        if dv is None:
            raise InputTypeError("dv is required: a step (nv,), a mapping from joint names, or a batch (N, nv)")
        q, dv = self._one_or_many(q), self._rates(dv, np.zeros(self.nv), "dv")
        rows(("q", q), ("dv", dv))
        return self._integrate(q, dv)

    def difference(self, q0: Any, q1: Any) -> Array:
        """The step (nv,) from q0 to q1, the short way round on continuous joints; batches alike."""
        q0, q1 = self._one_or_many(q0, "q0"), self._one_or_many(q1, "q1")
        rows(("q0", q0), ("q1", q1))
        return self._difference(q0, q1)

    def interpolate(self, q0: Any, q1: Any, u: float) -> Array:
        """The configuration at fraction u of the way from q0 (u = 0) to q1 (u = 1)."""
        fraction = scalar(u, "u")
        return self.integrate(q0, fraction * self.difference(q0, q1))

    def neutral(self) -> Array:
        """The configuration of all zeros, orientations identity (nq,)."""
        return np.zeros(self.nq)

    def clip_to_limits(self, q: Any) -> Array:
        """The nearest configuration within the position limits; batches alike."""
        lower, upper = self.limits.position
        return np.clip(self._one_or_many(q), lower, upper)

    def q_in_joint_limits(self, q: Any = None) -> Any:
        """Whether q is within the position limits, bounds included: bool, or (N,) booleans for a batch."""
        q = self._one_or_many(q)
        lower, upper = self.limits.position
        inside = ((lower <= q) & (q <= upper)).all(axis=-1)
        return bool(inside) if q.ndim == 1 else inside

    def tau_in_torque_limits(self, tau: Any) -> Any:
        """Whether |tau| is within the torque limits: bool, or (N,) booleans for a batch."""
        tau = vector_or_batch(tau, self.nv, "tau")
        inside = (np.abs(tau) <= self.limits.torque).all(axis=-1)
        return bool(inside) if tau.ndim == 1 else inside

    def random_configuration(self, rng: Any = None, *, count: Any = None, base_box: Any = None) -> Array:
        """A configuration drawn uniformly within the position limits (nq,), or `count` of them (count, nq).

        Args:
            rng: A numpy Generator or a seed; None is the robot's own generator.
            count: How many; None is one, as a vector.
            base_box: Lower and upper corner (2, 3) [m] for the origin of a floating base, +-1 m by default.

        Continuous joints are drawn from [-pi, pi), orientations uniformly over all rotations. Where a limit
        is missing, the range is 2 pi or 2 m wide: from the other limit, or about zero.
        """
        box = np.array([[-1.0] * 3, [1.0] * 3]) if base_box is None else matrix(base_box, (2, 3), "base_box")
        if (box[0] > box[1]).any():
            raise InputError("base_box must hold the lower corner above the upper corner")
        generator = self.generator(rng)
        if count is None:
            return self._random(generator, box)
        return np.array([self._random(generator, box) for _ in range(whole(count, "count"))])

    def generator(self, rng: Any = None) -> np.random.Generator:
        """The generator meant by a Generator, a seed, or None for the robot's own."""
        if rng is None:
            return self._rng
        return as_generator(rng)

    # What a backend with other coordinates overrides; arguments are checked.

    def _integrate(self, q: Array, dv: Array) -> Array:
        return q + dv

    def _difference(self, q0: Array, q1: Array) -> Array:
        return q1 - q0

    def _random(self, rng: np.random.Generator, box: Array) -> Array:
        lower, upper = finite_range(self.limits.position, np.pi)
        return rng.uniform(lower, upper)


def finite_range(position: Array, reach: Any) -> tuple[Array, Array]:
    """Bounds to draw from: missing ones replaced so that the range is 2 x reach, or reach about zero."""
    lower, upper = position
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, reach))
    return low, high


def each_row(function: Any, first: Array, second: Array, size: int) -> Array:
    """A function of two vectors over batches of either; its results have `size` entries."""
    count = rows(("first", first), ("second", second))
    if count is None:
        result: Array = function(first, second)
        return result
    return np.array([function(row(first, i), row(second, i)) for i in range(count)]).reshape(count, size)
