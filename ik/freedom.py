"""What a search may move: the joints that carry a frame, their bounds, and which of them turn without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary, proxy

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


_known: WeakKeyDictionary[RobotBase, dict[str, tuple[int, Support]]] = WeakKeyDictionary()


def support_of(robot: RobotBase, frame: str) -> Support:
    """The support of a frame, found once per robot and version by moving the joints."""
    kept, version = _known.setdefault(robot, {}), int(getattr(robot, "version", 0))
    known = kept.get(frame)
    if known is None or known[0] != version:
        known = kept[frame] = version, _probe(robot, frame)
    return known[1]


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
    return Support(
        moves, coordinate, periodic, bool((coordinate == np.arange(robot.nv)).all()) and robot.nq == robot.nv
    )


class Bounds(NamedTuple):
    """Bounds of the degrees of freedom (nv,) that hold while a run iterates; inf where there are none."""

    lower: Array
    upper: Array
    absent: bool
    """Whether nothing that moves has a bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Freedom:
    """The degrees of freedom one search may move and their bounds, all (nv,); no bound is infinite."""

    robot: RobotBase
    """A weak proxy: what is kept about a robot must not keep it alive."""
    support: Support
    moving: Mask
    lower: Array
    upper: Array
    turning: Mask
    """Joints with a full turn of room: they run free and are wound back into their bounds at the end."""
    strict: Bounds
    """The bounds of all joints but those that turn freely."""
    loose: Bounds
    """The bounds of joints that slide: whatever turns runs free, and may end where no turn fits its bounds."""
    still: bool
    """Whether something that would move the frame may not."""
    count: int
    """How many degrees of freedom may move."""
    drawn: tuple[Array, Array]
    """Least and greatest value of a random start; a joint without bounds is drawn within half a turn or 1 m of zero."""

    @classmethod
    def of(cls, robot: RobotBase, frame: str, info: IKMeta) -> Freedom:
        """The freedom of a robot's frame under the conditions of a run."""
        limits = robot.limits.position if info.limits is None else info.limits
        if info.joint_mask is not None or info.limits is not None:
            return cls._made(robot, support_of(robot, frame), info.joint_mask, limits)
        kept, version = _whole.setdefault(robot, {}), int(getattr(robot, "version", 0))
        known = kept.get(frame)
        if known is None or known[0] != version or known[1] is not limits:
            known = kept[frame] = version, limits, cls._made(robot, support_of(robot, frame), None, limits)
        return known[2]

    @classmethod
    def _made(cls, robot: RobotBase, support: Support, mask: Mask | None, limits: Array) -> Freedom:
        plain = support.coordinate >= 0
        lower = np.where(plain, limits[0][support.coordinate], -np.inf)
        upper = np.where(plain, limits[1][support.coordinate], np.inf)
        moving = support.moves if mask is None else support.moves & mask
        turning = support.periodic & moving & (upper - lower >= TURN - ROUNDING)
        strict, loose = (_bounds(lower, upper, free, moving) for free in (turning, support.periodic))
        still = bool((support.moves & ~moving).any())
        reach = np.where(support.periodic, np.pi, 1.0)
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
        high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, reach))
        drawn, count = (low, high), int(moving.sum())
        return cls(proxy(robot), support, moving, lower, upper, turning, strict, loose, still, count, drawn)

    def coordinates(self, q: Array) -> Array:
        """Plain coordinates of q by degree of freedom (nv,), 0 where there are none."""
        if self.support.flat:
            return q
        return np.where(self.support.coordinate >= 0, q[self.support.coordinate], 0.0)

    def step(self, q: Array, dv: Array) -> Array:
        """Q moved by dv (nv,)."""
        return q + dv if self.support.flat else self.robot.integrate(q, dv)

    def settle(self, q: Array, near: Array) -> tuple[Array, Array]:
        """Q wound and clipped into the bounds, and by how much clipping moved each degree of freedom (nv,).

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

    def wound(self, q: Array, near: Array) -> Array:
        """Q with the joints that turn freely wound as they will be at the end."""
        return self.settle(q, near)[0] if self.turning.any() else q

    def sample(self, rng: np.random.Generator, start: Array) -> Array:
        """A random configuration that differs from `start` only in what may move."""
        if not self.support.flat:
            return self.restrict(self.robot.random_configuration(rng), start)
        low, high = self.drawn
        return np.where(self.moving, low + (high - low) * rng.random(len(low)), start)

    def restrict(self, q: Array, start: Array) -> Array:
        """Q with everything that may not move as in `start`."""
        if self.support.flat:
            return np.where(self.moving, q, start)
        return self.robot.integrate(start, np.where(self.moving, self.robot.difference(start, q), 0.0))

    def pressed(self, q: Array, gradient: Array) -> Mask:
        """Moving joints at a bound (nv,) that a step along `gradient` (nv,) would carry across it."""
        x = self.coordinates(q)
        below, above = x <= self.strict.lower + ROUNDING, x >= self.strict.upper - ROUNDING
        return self.moving & ((below & (gradient < 0.0)) | (above & (gradient > 0.0)))

    def _with(self, q: Array, coordinates: Array) -> Array:
        if self.support.flat:
            return coordinates
        result, plain = q.copy(), self.support.coordinate >= 0
        result[self.support.coordinate[plain]] = coordinates[plain]
        return result


_whole: WeakKeyDictionary[RobotBase, dict[str, tuple[int, Array, Freedom]]] = WeakKeyDictionary()


def _bounds(lower: Array, upper: Array, free: Mask, moving: Mask) -> Bounds:
    low, high = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
    return Bounds(low, high, bool(np.isinf(low[moving]).all() and np.isinf(high[moving]).all()))


def _wound(x: Array, near: Array, lower: Array, upper: Array) -> Array:
    x = x - TURN * np.round((x - near) / TURN)
    x = x + TURN * np.ceil(np.maximum(lower - ROUNDING - x, 0.0) / TURN)
    return x - TURN * np.ceil(np.maximum(x - upper - ROUNDING, 0.0) / TURN)
