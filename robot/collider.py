"""Quick verdicts about pairs of shapes: certain where they are given, left to the exact test elsewhere.

Two classes with one face: `NativeCollider` on the kernel, `PlainCollider` by bounding spheres in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from . import native
from .arrays import Array
from .convex import Convex, convex_of
from .coordinates import Coordinates

APART, TOUCHING, UNDECIDED = 0, 1, 2

Verdicts = NDArray[np.int8]
Pairs = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A shape fixed to a joint."""

    name: str
    """Unique: of the robot's geometry object, or the id of an obstacle."""
    link: str
    """Name of the link or of the obstacle it belongs to."""
    joint: int
    """Pinocchio's index, 0 for the world."""
    placement: pin.SE3
    """In the joint."""
    shape: coal.CollisionGeometry
    convex: Convex


def body(name: str, link: str, joint: int, placement: pin.SE3, shape: coal.CollisionGeometry) -> Body:
    """A Body with the bounds of its shape."""
    return Body(name, link, joint, placement, shape, convex_of(shape))


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest pair that is apart for certain, and which pairs may be nearer or overlap."""

    pair: int
    """-1 if no pair was found within the limit."""
    distance: float
    points: Array
    """On the first and the second shape, in the world (2, 3)."""
    undecided: NDArray[np.intp]


class Collider(Protocol):
    """Verdicts about the pairs of one robot and scene. A margin is the distance below which a pair touches."""

    def touching(self, q: Array, margin: float) -> int:
        """Whether any pair touches: APART, TOUCHING or UNDECIDED."""

    def touching_batch(self, q: Array, margin: float, threads: int) -> Verdicts:
        """The same for (N, nq) -> (N,)."""

    def contacts(self, q: Array, margin: float) -> Verdicts:
        """A verdict for every pair (P,)."""

    def approaching(self, q: Array, margins: Array) -> Verdicts:
        """Whether any pair is nearer than its own margin: q (N, nq), margins (N, P) -> (N,)."""

    def approached_pairs(self, q: Array, margins: Array) -> Verdicts:
        """A verdict for every pair at q (nq,), each with its own margin (P,): (P,)."""

    def nearest(self, q: Array, limit: float) -> Nearest:
        """The nearest pair not farther than `limit`."""

    def least(self, q: Array, limit: float) -> tuple[int, Nearest]:
        """The number of the configuration (N, nq) with the nearest pair of all, or -1, and that pair.

        `undecided` numbers the configurations in which some pair may be nearer still or overlaps.
        """


class NativeCollider:
    """Pairs of shapes inside the kernel.

    Args:
        model: Pinocchio's model.
        coordinates: Where the value of each joint stands in the robot's own q.
        bodies: The shapes.
        pairs: Indices into them (P, 2).
    """

    def __init__(self, model: pin.Model, coordinates: Coordinates, bodies: tuple[Body, ...], pairs: Pairs) -> None:
        self._model, self._coordinates = model, coordinates
        self._count = len(pairs)
        self._tree = native.tree(model, {b.joint for b in bodies}, coordinates)
        if self._tree is None:
            self._joints = sorted({b.joint for b in bodies} - {0})
            turned = {j: np.eye(3) for j in self._joints}
            joints, number = None, {j: k for k, j in enumerate(self._joints)}
        else:
            joints, number, turned = self._tree
        self._core = _core(joints, number, turned, coordinates.nq, bodies, pairs)

    def _given(self, q: Array) -> Array:
        """What the kernel reads: q itself, or the poses of the joints where it cannot compute them."""
        if self._tree is not None:
            return np.ascontiguousarray(q)
        rows = []
        data = self._model.createData()
        for one in np.atleast_2d(q):
            pin.forwardKinematics(self._model, data, self._coordinates.to_pinocchio(one))
            rows.append([np.append(data.oMi[j].rotation.ravel(), data.oMi[j].translation) for j in self._joints])
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def touching(self, q: Array, margin: float) -> int:
        """See Collider."""
        try:
            return int(self._core.touching(q if self._tree is not None else self._given(q), margin))
        except TypeError:  # not contiguous
            return int(self._core.touching(self._given(q), margin))

    def touching_batch(self, q: Array, margin: float, threads: int) -> Verdicts:
        """See Collider."""
        out = np.empty(len(q), dtype=np.int8)
        self._core.touching_batch(self._given(q), margin, out, threads)
        return out

    def contacts(self, q: Array, margin: float) -> Verdicts:
        """See Collider."""
        out = np.empty(self._count, dtype=np.int8)
        self._core.contacts(self._given(q), margin, out)
        return out

    def nearest(self, q: Array, limit: float) -> Nearest:
        """See Collider."""
        undecided = np.empty(self._count, dtype=np.int8)
        pair, distance, *points = self._core.nearest(self._given(q), limit, undecided)
        return Nearest(pair, distance, np.array(points).reshape(2, 3), np.flatnonzero(undecided))

    def approaching(self, q: Array, margins: Array) -> Verdicts:
        """See Collider."""
        out = np.empty(len(q), dtype=np.int8)
        self._core.approaching(self._given(q), np.ascontiguousarray(margins), out, None)
        return out

    def approached_pairs(self, q: Array, margins: Array) -> Verdicts:
        """See Collider."""
        any_pair, out = np.empty(1, dtype=np.int8), np.empty(self._count, dtype=np.int8)
        self._core.approaching(self._given(q), np.ascontiguousarray(margins), any_pair, out)
        return out

    def least(self, q: Array, limit: float) -> tuple[int, Nearest]:
        """See Collider."""
        open_ = np.empty(len(q), dtype=np.int8)
        at, pair, distance, *points = self._core.least(self._given(q), limit, open_)
        return at, Nearest(pair, distance, np.array(points).reshape(2, 3), np.flatnonzero(open_))


def _core(
    joints: Any, number: dict[int, int], turned: dict[int, Array], nq: int, bodies: tuple[Body, ...], pairs: Pairs
) -> Any:
    """The kernel's object; everything fixed to a joint turned with its axis."""
    place, spheres, boxes, sizes, starts, points = [], [], [], [], [0], [np.zeros(0)]
    for b in bodies:
        turn = turned.get(b.joint, np.eye(3))
        R, p = turn.T @ b.placement.rotation, turn.T @ b.placement.translation
        c = b.convex
        place.append(np.append(R.ravel(), p))
        spheres.append(np.append(R @ c.centre + p, c.radius))
        boxes.append(np.concatenate([(R @ c.axes).ravel(), R @ c.box_centre + p, c.half]))
        sizes.append(c.size)
        padded = -(-len(c.points) // 8) * 8
        if padded:
            points.append(np.vstack([c.points, np.tile(c.points[:1], (padded - len(c.points), 1))]).T.ravel())
        starts.append(starts[-1] + padded)
    return native.core().Collider(
        joints,
        len(number),
        nq,
        np.array([number.get(b.joint, -1) for b in bodies], dtype=np.int32),
        np.array(place, dtype=np.float64),
        np.array(spheres, dtype=np.float64),
        np.array(boxes, dtype=np.float64),
        np.array([b.convex.core for b in bodies], dtype=np.int32),
        np.array(sizes, dtype=np.float64),
        np.array(starts, dtype=np.int64),
        np.concatenate(points),
        np.ascontiguousarray(pairs, dtype=np.int32),
    )


class PlainCollider:
    """The same by bounding spheres alone; all that comes near is undecided."""

    def __init__(self, model: pin.Model, coordinates: Coordinates, bodies: tuple[Body, ...], pairs: Pairs) -> None:
        self._model, self._coordinates = model, coordinates
        self._joints = [b.joint for b in bodies]
        self._centres = [b.placement.act(b.convex.centre) for b in bodies]
        self._first, self._second = pairs[:, 0], pairs[:, 1]
        radii = np.array([b.convex.radius for b in bodies])
        self._reach = radii[self._first] + radii[self._second]

    def _gaps(self, q: Array) -> Array:
        """Lower bounds of the distances of all pairs (P,)."""
        data = self._model.createData()
        pin.forwardKinematics(self._model, data, self._coordinates.to_pinocchio(q))
        centres = np.array([data.oMi[j].act(c) for j, c in zip(self._joints, self._centres, strict=True)]).reshape(
            -1, 3
        )
        with np.errstate(over="ignore"):  # what is so far is far
            between = np.linalg.norm(centres[self._first] - centres[self._second], axis=1)
        return np.asarray(between - self._reach)

    def touching(self, q: Array, margin: float) -> int:
        """See Collider."""
        return UNDECIDED if (self._gaps(q) <= margin).any() else APART

    def touching_batch(self, q: Array, margin: float, threads: int) -> Verdicts:
        """See Collider."""
        return np.array([self.touching(one, margin) for one in q], dtype=np.int8).reshape(len(q))

    def contacts(self, q: Array, margin: float) -> Verdicts:
        """See Collider."""
        return np.where(self._gaps(q) <= margin, np.int8(UNDECIDED), np.int8(APART))

    def nearest(self, q: Array, limit: float) -> Nearest:
        """See Collider."""
        gaps = self._gaps(q)
        near = np.flatnonzero(gaps <= limit)
        return Nearest(-1, limit, np.zeros((2, 3)), near[np.argsort(gaps[near])])

    def approaching(self, q: Array, margins: Array) -> Verdicts:
        """See Collider."""
        return np.array([self.approached_pairs(*pair).max() for pair in zip(q, margins, strict=True)], dtype=np.int8)

    def approached_pairs(self, q: Array, margins: Array) -> Verdicts:
        """See Collider."""
        return np.where(self._gaps(q) <= margins, np.int8(UNDECIDED), np.int8(APART))

    def least(self, q: Array, limit: float) -> tuple[int, Nearest]:
        """See Collider."""
        gaps = np.array([self._gaps(one).min() for one in q])
        near = np.flatnonzero(gaps <= limit)
        return -1, Nearest(-1, limit, np.zeros((2, 3)), near[np.argsort(gaps[near])])


def collider(model: pin.Model, coordinates: Coordinates, bodies: tuple[Body, ...], pairs: Pairs) -> Collider:
    """The kernel's, or the plain one where there is no kernel."""
    kind = NativeCollider if native.AVAILABLE else PlainCollider
    return kind(model, coordinates, bodies, pairs)
