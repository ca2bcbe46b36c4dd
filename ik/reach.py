"""The proof that a target is out of reach: no arm is longer than its segments laid end to end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ..robot.arrays import Array
from ..robot.tolerance import CartesianBox, CartesianCylinder, CartesianSphere, Tolerance, ToleratedPose
from .freedom import Support, support_of

if TYPE_CHECKING:
    from ..robot.base import RobotBase

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A ball that the frame cannot leave."""

    center: Array
    """Its centre in the world (3,) [m]."""
    radius: float
    """[m]"""

    def gap(self, goal: ToleratedPose) -> float:
        """Distance [m] between the ball and every position the goal tolerates; 0 or less if there may be none."""
        distance = math.dist(goal.nominal.translation, self.center)
        return distance - self.radius - extent(goal.tolerance)


def extent(tolerance: Tolerance) -> float:
    """Radius [m] of a ball about the nominal position that holds every tolerated one; inf if there is none known."""
    parts = getattr(tolerance, "parts", (tolerance,))
    return min(map(_extent, parts), default=math.inf)


def _extent(tolerance: Tolerance) -> float:
    if isinstance(tolerance, CartesianSphere):
        return tolerance.r[1]
    if isinstance(tolerance, CartesianCylinder):
        return math.hypot(tolerance.r[1], max(map(abs, tolerance.z)))
    if isinstance(tolerance, CartesianBox):
        return math.hypot(*(max(abs(a), abs(b)) for a, b in zip(tolerance.lower, tolerance.upper, strict=True)))
    return math.inf


_known: WeakKeyDictionary[RobotBase, dict[str, tuple[object, Reach | None]]] = WeakKeyDictionary()


def reach_of(robot: RobotBase, frame: str) -> Reach | None:
    """The ball a frame of a robot on a fixed base cannot leave, None where that cannot be told from its joints."""
    kept, state = _known.setdefault(robot, {}), (getattr(robot, "version", 0), robot.placement.homogeneous.tobytes())
    known = kept.get(frame)
    if known is None or known[0] != state:
        known = kept[frame] = state, _measure(robot, frame)
    return known[1]


def _measure(robot: RobotBase, frame: str) -> Reach | None:
    support = support_of(robot, frame)
    names = _carriers(robot, support)
    if names is None:
        return None
    points = [*names, frame]

    def positions(q: Array) -> Array:
        return np.array([robot.pose(q, name)[:3, 3] for name in points])

    first, second = (robot.random_configuration(seed) for seed in (0, 1))
    still = np.abs(positions(first) - positions(second)).max(axis=1) <= ROUNDING
    if not still[0]:
        return None
    # a shoulder whose axes meet does not move either: the ball about it is the smallest
    pivot = len(points) - 1 if still.all() else int(np.argmin(still)) - 1
    radius = 0.0
    for k in range(pivot, len(names)):
        lengths = [_length(positions(q), k) for q in (first, second)]
        if abs(lengths[0] - lengths[1]) <= ROUNDING:
            radius += max(lengths)
            continue
        slide = _slide(robot, support, k, first, second, positions)
        if slide is None:
            return None
        radius += slide
    return Reach(positions(first)[pivot], radius)


def _carriers(robot: RobotBase, support: Support) -> list[str] | None:
    """Joints that carry the frame, base first; None unless each is one plain degree of freedom."""
    parents, names = robot.parents, []
    for name, (_, rate) in robot.coordinate_slices().items():
        if support.moves[rate].any():
            if support.coordinate[rate.start] < 0:
                return None
            names.append(name)

    def depth(name: str) -> int:
        steps = 0
        while name in parents and parents[name] != name and steps <= len(parents):
            name, steps = parents[name], steps + 1
        return steps

    return sorted(names, key=depth) or None


def _length(positions: Array, k: int) -> float:
    return float(np.linalg.norm(positions[k + 1] - positions[k]))


def _slide(
    robot: RobotBase, support: Support, k: int, first: Array, second: Array, positions: Callable[[Array], Array]
) -> float | None:
    """Greatest length of a segment that one sliding joint alone stretches; None if that is not so or has no end."""
    for v in np.flatnonzero(support.moves & ~support.periodic):
        i = support.coordinate[v]
        mixed = second.copy()
        mixed[i] = first[i]
        bounds = robot.limits.position[:, i]
        if abs(_length(positions(mixed), k) - _length(positions(first), k)) <= ROUNDING and np.isfinite(bounds).all():
            # the distance of two points, one of them on a line, is convex: greatest at an end
            ends = []
            for bound in bounds:
                mixed[i] = bound
                ends.append(_length(positions(mixed), k))
            return max(ends)
    return None
