"""Contacts and distances of the shapes of a robot and a scene."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from .arrays import Array
from .collider import APART, UNDECIDED, Body, Collider, Pairs, collider
from .coordinates import Coordinates
from .errors import UnsupportedError

PAIRS_OF_A_THREAD = 2048
"""Configurations a thread must have to pay for itself."""


_ABSURD = 1e100
"""Distances beyond it [m] are coal's sign that it failed."""
_NUDGES = 1e-8 * np.array([[0.7, -0.3, 0.5], [-0.4, 0.8, 0.6], [0.5, 0.6, -0.7], [7.0, 4.0, -5.0]])
"""Rotations [rad] and shifts [m] after which it works."""


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two bodies are apart."""

    value: float
    """Signed [m]: negative is the depth by which they overlap; infinite if no pair is checked."""
    pair: tuple[str, str] | None
    """Names of the two geometries; an obstacle goes by its id."""
    links: tuple[str, str] | None
    """Links the geometries belong to; an obstacle goes by its id."""
    points: Array
    """The nearest points on the first and the second body, in the world (2, 3) [m]; NaN if no pair is checked."""
    normal: Array
    """Unit vector (3,) in the world along which the second body moves away from the first; NaN where unknown, as for
    exact meshes that overlap."""

    def __float__(self) -> float:
        return self.value


_NOTHING = Distance(np.inf, None, None, np.full((2, 3), np.nan), np.full(3, np.nan))


def distance_words(value: float) -> str:
    """A signed distance [m] in words; what is below a micrometre counts as touching."""
    if abs(value) < 1e-6:
        return "touch"
    return f"overlap by {-value:.4g} m" if value < 0 else f"{value:.4g} m apart"


class CollisionChecker:
    """A fixed list of pairs of shapes on one robot, with all verdicts exact.

    Safe for any number of threads.

    Args:
        model: Pinocchio's model.
        coordinates: Where the value of each joint stands in the robot's own q.
        bodies: The shapes.
        pairs: Indices into them (P, 2).
    """

    def __init__(self, model: pin.Model, coordinates: Coordinates, bodies: tuple[Body, ...], pairs: Pairs) -> None:
        self.bodies, self.pairs = bodies, pairs
        self._model, self._coordinates = model, coordinates
        self._quick = collider(model, coordinates, bodies, pairs) if len(pairs) else None
        self._local = threading.local()

    def touching(self, q: Array, margin: float) -> bool:
        """Whether any pair is closer than `margin` [m] at q (nq,)."""
        if self._quick is None:
            return False
        verdict = self._quick.touching(q, margin)
        return verdict != APART and (verdict != UNDECIDED or self._decide(self._quick, q, margin))

    def touching_batch(self, q: Array, margin: float, threads: int | None) -> NDArray[np.bool_]:
        """The same for (N, nq) -> (N,); `threads` None takes as many as pay."""
        if self._quick is None:
            return np.zeros(len(q), dtype=bool)
        if threads is None:
            threads = max(1, min(os.cpu_count() or 1, len(q) // PAIRS_OF_A_THREAD))
        verdicts = self._quick.touching_batch(q, margin, threads)
        found = verdicts != APART
        for i in np.flatnonzero(verdicts == UNDECIDED):
            found[i] = self._decide(self._quick, q[i], margin)
        return np.asarray(found)

    def contacts(self, q: Array, margin: float) -> NDArray[np.intp]:
        """Indices of the pairs that are closer than `margin` at q (nq,)."""
        if self._quick is None:
            return np.zeros(0, dtype=np.intp)
        verdicts = self._quick.contacts(q, margin)
        undecided = np.flatnonzero(verdicts == UNDECIDED)
        if len(undecided):
            poses = self._poses(q)
            for k in undecided:
                verdicts[k] = self._collide(poses, int(k), margin)
        return np.flatnonzero(verdicts)

    def _decide(self, quick: Collider, q: Array, margin: float) -> bool:
        """Whether one of the pairs that were left undecided touches."""
        undecided = np.flatnonzero(quick.contacts(q, margin) == UNDECIDED)
        poses = self._poses(q)
        return any(self._collide(poses, int(k), margin) for k in undecided)

    def distances(self, q: Array, which: Any = None) -> list[Distance]:
        """Signed distance of every pair, or of those with the indices `which`, at q (nq,)."""
        poses = self._poses(q)
        return [self._distance(poses, int(k)) for k in (range(len(self.pairs)) if which is None else which)]

    def distance(self, q: Array) -> Distance:
        """The smallest signed distance at q (nq,)."""
        if self._quick is None:
            return _NOTHING
        found = self._quick.nearest(q, np.inf)
        best = None
        if found.pair >= 0:
            i, j = self.pairs[found.pair]
            gap = found.points[1] - found.points[0]
            best = self._named(i, j, found.distance, found.points, gap / np.linalg.norm(gap))
        if len(found.undecided):
            poses = self._poses(q)
            for k in found.undecided:
                other = self._distance(poses, int(k))
                if best is None or other.value < best.value:
                    best = other
        return _NOTHING if best is None else best  # None: so far that the square of it overflows

    def approached(self, q: Array, margins: Array) -> NDArray[np.bool_]:
        """Whether any pair is closer than its own margin: q (N, nq), margins (N, P) [m] -> (N,)."""
        if self._quick is None or not len(q):
            return np.zeros(len(q), dtype=bool)
        verdicts = self._quick.approaching(q, margins)
        found = verdicts != APART
        for i in np.flatnonzero(verdicts == UNDECIDED):
            undecided = np.flatnonzero(self._quick.approached_pairs(q[i], margins[i]) == UNDECIDED)
            poses = self._poses(q[i])
            found[i] = any(self._collide(poses, int(k), float(margins[i, k])) for k in undecided)
        return np.asarray(found)

    def least(self, q: Array, limit: float = np.inf) -> tuple[int, Distance] | None:
        """The smallest signed distance over configurations (N, nq) and the number of its configuration.

        None if it is not below `limit` [m], or no pair is checked.
        """
        if self._quick is None or not len(q):
            return None
        at, found = self._quick.least(q, limit)
        best = None
        if at >= 0:
            i, j = self.pairs[found.pair]
            gap = found.points[1] - found.points[0]
            best = at, self._named(i, j, found.distance, found.points, gap / np.linalg.norm(gap))
        for k in found.undecided.tolist():
            below = limit if best is None else best[1].value
            near = self._quick.nearest(q[k], below)
            poses = self._poses(q[k]) if len(near.undecided) else None
            for pair in near.undecided:
                other = self._distance(poses, int(pair))
                if other.value < below:
                    best, below = (k, other), other.value
        return best

    def placements(self, q: Array) -> list[pin.SE3]:
        """Pose of every body in the world at q (nq,)."""
        poses = self._poses(q)
        return [poses[b.joint] * b.placement for b in self.bodies]

    def _named(self, i: int, j: int, value: float, points: Array, normal: Array) -> Distance:
        a, b = self.bodies[i], self.bodies[j]
        return Distance(value, (a.name, b.name), (a.link, b.link), points, normal)

    def _poses(self, q: Array) -> Any:
        """Pinocchio's joint poses at q."""
        try:
            data = self._local.data
        except AttributeError:
            data = self._local.data = self._model.createData()
        pin.forwardKinematics(self._model, data, self._coordinates.to_pinocchio(q))
        return data.oMi

    def _placed(self, poses: Any, body: Body) -> coal.Transform3s:
        pose = poses[body.joint] * body.placement
        return coal.Transform3s(pose.rotation, pose.translation)

    def _collide(self, poses: Any, k: int, margin: float) -> bool:
        a, b = (self.bodies[i] for i in self.pairs[k])
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin = margin
        try:
            coal.collide(a.shape, self._placed(poses, a), b.shape, self._placed(poses, b), request, result)
        except (RuntimeError, ValueError, NotImplementedError) as error:
            raise _untested(a, b, error) from None
        return bool(result.isCollision())

    def _distance(self, poses: Any, k: int) -> Distance:
        i, j = self.pairs[k]
        a, b = self.bodies[i], self.bodies[j]
        placed = self._placed(poses, a), self._placed(poses, b)
        value, points, normal = _measured(a, b, placed)
        for turn in _NUDGES:  # coal fails on some faces that lie exactly on each other
            if np.isfinite(value) and abs(value) < _ABSURD and np.isfinite(points).all():
                break
            nudged = coal.Transform3s(pin.exp3(turn) @ placed[1].getRotation(), placed[1].getTranslation() + turn)
            value, points, normal = _measured(a, b, (placed[0], nudged))
        if np.abs(points).max() > _ABSURD:  # coal squares how far they are, and is lost where that overflows
            value, points, normal = np.inf, np.full((2, 3), np.nan), np.full(3, np.nan)
        elif abs(np.linalg.norm(normal) - 1.0) > 1e-3:  # coal leaves it unset for meshes
            gap = points[1] - points[0]
            normal = gap / np.linalg.norm(gap) if value > 1e-12 else np.full(3, np.nan)
        return self._named(i, j, value, points, normal)


def _measured(a: Body, b: Body, placed: tuple[Any, Any]) -> tuple[float, Array, Array]:
    """Signed distance, points (2, 3) and normal of two shapes where they stand."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    try:
        coal.distance(a.shape, placed[0], b.shape, placed[1], request, result)
    except (RuntimeError, ValueError, NotImplementedError) as error:
        raise _untested(a, b, error) from None
    points = np.array([result.getNearestPoint1(), result.getNearestPoint2()])
    return float(result.min_distance), points, np.array(result.normal)


def _untested(a: Body, b: Body, error: Exception) -> UnsupportedError:
    kinds = type(a.shape).__name__, type(b.shape).__name__
    why = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    return UnsupportedError(f"coal has no test for {a.name!r} ({kinds[0]}) with {b.name!r} ({kinds[1]}): {why}")
