"""What a search may move: the joints that carry a frame, their bounds, and which of them turn without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.spatial import ReferenceFrame
from .problem import IKMeta

if TYPE_CHECKING:
    from ..robot.base import RobotBase

Mask = NDArray[np.bool_]
TURN = 2.0 * math.pi
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """How the degrees of freedom of a robot act on one frame; a property of its structure alone."""

    moves: Mask
    """Whether a degree of freedom moves the frame at all (nv,)."""
    coordinate: NDArray[np.intp]
    """Index in q of a degree of freedom that is plain addition (nv,); -1 for parts of an orientation."""
    periodic: Mask
    """Whether a full turn brings the frame back (nv,)."""
    flat: bool
    """Whether q + dq is the whole story of a step."""


_known: WeakKeyDictionary[RobotBase, dict[tuple[str, int], Support]] = WeakKeyDictionary()


def support_of(robot: RobotBase, frame: str) -> Support:
    """The support of a frame, found once per robot and version by moving the joints."""
    kept = _known.setdefault(robot, {})
    key = frame, int(getattr(robot, "version", 0))
    if key not in kept:
        kept[key] = _probe(robot, frame)
    return kept[key]


def _probe(robot: RobotBase, frame: str) -> Support:
    samples = [robot.random_configuration(seed) for seed in range(3)]
    columns = [np.abs(robot.frame_jacobian(q, frame, ReferenceFrame.LOCAL)).max(axis=0, initial=0.0) for q in samples]
    moves = np.max(columns, axis=0) > 1e-12
    coordinate = np.full(robot.nv, -1, dtype=np.intp)
    for at, rate in robot.coordinate_slices().values():
        if at.stop - at.start == 1 == rate.stop - rate.start:
            coordinate[rate.start] = at.start
    periodic = np.zeros(robot.nv, dtype=np.bool_)
    before = robot.pose(samples[0], frame)
    for v in np.flatnonzero(moves & (coordinate >= 0)):
        turned = samples[0].copy()
        turned[coordinate[v]] += TURN
        periodic[v] = np.allclose(robot.pose(turned, frame), before, rtol=0.0, atol=1e-9)
    return Support(moves, coordinate, periodic, bool((coordinate == np.arange(robot.nv)).all()) and robot.nq == robot.nv)


@dataclass(frozen=True, slots=True, eq=False)
class Freedom:
    """The degrees of freedom one search may move and their bounds, all (nv,); no bound is infinite."""

    robot: RobotBase
    support: Support
    moving: Mask
    lower: Array
    upper: Array
    turning: Mask
    """Joints with a full turn of room: they run free and are wound back into their bounds at the end."""
    running_lower: Array
    running_upper: Array
    """Bounds while iterating: those of joints that do not turn freely."""
    unbounded: bool
    """Whether nothing that moves has a bound while iterating."""
    still: bool
    """Whether something that would move the frame may not."""

    @classmethod
    def of(cls, robot: RobotBase, frame: str, info: IKMeta) -> Freedom:
        """The freedom of a robot's frame under the conditions of a run."""
        limits = robot.limits.position if info.limits is None else info.limits
        if info.joint_mask is not None or info.limits is not None:
            return cls._made(robot, support_of(robot, frame), info.joint_mask, limits)
        kept = _whole.setdefault(robot, {})
        key = frame, int(getattr(robot, "version", 0))
        known = kept.get(key)
        if known is None or known[0] is not limits:
            known = kept[key] = limits, cls._made(robot, support_of(robot, frame), None, limits)
        return known[1]

    @classmethod
    def _made(cls, robot: RobotBase, support: Support, mask: Mask | None, limits: Array) -> Freedom:
        plain = support.coordinate >= 0
        lower = np.where(plain, limits[0][support.coordinate], -np.inf)
        upper = np.where(plain, limits[1][support.coordinate], np.inf)
        moving = support.moves if mask is None else support.moves & mask
        turning = support.periodic & moving & (upper - lower >= TURN - ROUNDING)
        low, high = np.where(turning, -np.inf, lower), np.where(turning, np.inf, upper)
        unbounded = bool(np.isinf(low[moving]).all() and np.isinf(high[moving]).all())
        still = bool((support.moves & ~moving).any())
        return cls(robot, support, moving, lower, upper, turning, low, high, unbounded, still)

    def coordinates(self, q: Array) -> Array:
        """Plain coordinates of q by degree of freedom (nv,), 0 where there are none."""
        if self.support.flat:
            return q
        return np.where(self.support.coordinate >= 0, q[self.support.coordinate], 0.0)

    def step(self, q: Array, dv: Array) -> Array:
        """q moved by dv (nv,)."""
        return q + dv if self.support.flat else self.robot.integrate(q, dv)

    def settle(self, q: Array, near: Array) -> tuple[Array, Array]:
        """q wound and clipped into the bounds, and by how much clipping moved each degree of freedom (nv,).

        Joints that turn freely take the turn closest to `near` that their bounds allow; others are wound only if
        they are outside.
        """
        x = self.coordinates(q)
        inside = np.minimum(np.maximum(x, self.lower), self.upper)
        if not self.turning.any() and inside.tobytes() == x.tobytes():
            return q, np.zeros(len(x))
        wind = self.turning | (self.support.periodic & self.moving & ((x < self.lower) | (x > self.upper)))
        wound = np.where(wind, _wound(x, self.coordinates(near), self.lower, self.upper), x) if wind.any() else x
        inside = np.minimum(np.maximum(wound, self.lower), self.upper)
        return self._with(q, inside), np.where(np.abs(wound - inside) > ROUNDING, wound - inside, 0.0)

    def sample(self, rng: np.random.Generator, start: Array) -> Array:
        """A random configuration that differs from `start` only in what may move."""
        drawn = self.robot.random_configuration(rng)
        return self.restrict(drawn, start)

    def restrict(self, q: Array, start: Array) -> Array:
        """q with everything that may not move as in `start`."""
        if self.support.flat:
            return np.where(self.moving, q, start)
        return self.robot.integrate(start, np.where(self.moving, self.robot.difference(start, q), 0.0))

    def pressed(self, q: Array, gradient: Array) -> Mask:
        """Moving joints at a bound (nv,) that a step along `gradient` (nv,) would carry across it."""
        x = self.coordinates(q)
        below, above = x <= self.running_lower + ROUNDING, x >= self.running_upper - ROUNDING
        return self.moving & ((below & (gradient < 0.0)) | (above & (gradient > 0.0)))

    def _with(self, q: Array, coordinates: Array) -> Array:
        if self.support.flat:
            return coordinates
        result, plain = q.copy(), self.support.coordinate >= 0
        result[self.support.coordinate[plain]] = coordinates[plain]
        return result


_whole: WeakKeyDictionary[RobotBase, dict[tuple[str, int], tuple[Array, Freedom]]] = WeakKeyDictionary()


def _wound(x: Array, near: Array, lower: Array, upper: Array) -> Array:
    x = x - TURN * np.round((x - near) / TURN)
    x = x + TURN * np.ceil(np.maximum(lower - ROUNDING - x, 0.0) / TURN)
    return x - TURN * np.ceil(np.maximum(x - upper - ROUNDING, 0.0) / TURN)
