"""What touches what: self-collision, obstacles, distances."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray

from .arrays import _as_float, flag, scalar, whole
from .checked_pairs import CheckedPairs
from .collision import Distance, distance_words
from .errors import InputError, InputTypeError


class Collision(tuple[Any, Any]):
    """A contact: `(robot, obstacle)`, or `(robot, robot)` where the robot touches itself.

    Attributes:
        links: Names of the two links; an obstacle goes by its id.
        distance: Signed [m]; negative is the depth by which they overlap.
        pair: Names of the two geometries; an obstacle goes by its id.
    """

    links: tuple[str, str]
    pair: tuple[str, str]
    distance: float

    @classmethod
    def between(cls, robot: Any, other: Any, found: Distance) -> Collision:
        """A contact of `robot` with `other` from what was measured."""
        contact = cls((robot, other))
        assert found.links is not None and found.pair is not None
        contact.links, contact.pair, contact.distance = found.links, found.pair, found.value
        return contact

    def __repr__(self) -> str:
        return f"<Collision {self.links[0]!r} with {self.links[1]!r}, distance {self.distance:.4g} m>"


class CollisionQueries(CheckedPairs):
    """Collision queries of a robot on Pinocchio's geometry; every answer is coal's, most found by the native kernel.

    Meshes count by their convex hulls, unless the robot was made with `collision_meshes="exact"`.
    """

    def has_self_collision(self, q: Any = None, *, safety_margin: float = 0.0, threads: int | None = None) -> Any:
        """Whether the robot touches itself.

        Args:
            q: Configuration (nq,) or mapping, the stored one if left out; or a batch (N, nq).
            safety_margin: Distance below which a pair counts as touching [m].
            threads: For a batch; as many as pay if left out.

        Returns:
            bool, for a batch (N,) bools.
        """
        q = self._one_or_many(q)
        margin = 0.0 if type(safety_margin) is float and safety_margin == 0.0 else _margin(safety_margin)
        checker = self._self_checker or self._checker()
        if threads is not None:
            threads = whole(threads, "threads")
        return checker.touching(q, margin) if q.ndim == 1 else checker.touching_batch(q, margin, threads)

    def has_collisions(
        self,
        task: Any = None,
        safety_margin: float = 0.0,
        *,
        q: Any = None,
        threads: int | None = None,
        ignore_self_collisions: bool = False,
    ) -> Any:
        """Whether the robot touches an obstacle of a task or itself.

        Args:
            task: Has `obstacles`; None for none.
            safety_margin: Distance below which a pair counts as touching [m], with obstacles and within the robot.
            q: Configuration (nq,) or mapping, the stored one if left out; or a batch (N, nq).
            threads: For a batch; as many as pay if left out.
            ignore_self_collisions: Ask for the obstacles alone.

        Returns:
            bool, for a batch (N,) bools.
        """
        q, margin = self._one_or_many(q), _margin(safety_margin)
        if threads is not None:
            threads = whole(threads, "threads")
        alone = flag(ignore_self_collisions, "ignore_self_collisions")
        checkers = [] if alone else [self._checker()]
        checkers += [] if task is None else [self._scene_checker(task)]
        if q.ndim == 1:
            return any(checker.touching(q, margin) for checker in checkers)
        found = np.zeros(len(q), dtype=bool)
        for checker in checkers:
            left = np.flatnonzero(~found)
            if len(left):
                found[left] = checker.touching_batch(np.ascontiguousarray(q[left]), margin, threads)
        return found

    def collisions(self, task: Any = None, safety_margin: float = 0.0, *, q: Any = None) -> list[Collision]:
        """Every contact of the robot with itself and with the obstacles of a task at q (nq,).

        Args:
            task: Has `obstacles`; None for none.
            safety_margin: Distance below which a pair counts as touching [m].
            q: Configuration (nq,) or mapping, the stored one if left out.
        """
        q, margin = self._single(q), _margin(safety_margin)
        checker = self._checker()
        found = [Collision.between(self, self, d) for d in checker.distances(q, checker.contacts(q, margin))]
        if task is not None:
            scene = self._scene_checker(task)
            obstacles = {obstacle.id: obstacle for obstacle in task.obstacles}
            for d in scene.distances(q, scene.contacts(q, margin)):
                assert d.pair is not None
                found.append(Collision.between(self, obstacles[d.pair[1]], d))
        return found

    def collision_info(self, task: Any = None, safety_margin: float = 0.0, *, q: Any = None) -> str:
        """A report of `collisions`, one contact a line."""
        found = sorted(self.collisions(task, safety_margin, q=q), key=lambda contact: contact.distance)
        if not found:
            nearest = self.distance(q, task)
            if nearest.pair is None:
                return "no collisions: no pairs are checked"
            return (
                f"no collisions; nearest {nearest.pair[0]!r} and {nearest.pair[1]!r}, {distance_words(nearest.value)}"
            )
        lines = [f"{len(found)} collision{'s' if len(found) > 1 else ''}:"]
        for contact in found:
            lines.append(f"  {contact.pair[0]!r} with {contact.pair[1]!r}: {distance_words(contact.distance)}")
        return "\n".join(lines)

    def distance(self, q: Any = None, task: Any = None) -> Distance:
        """The smallest signed distance within the robot and to the obstacles of a task, with pair and points.

        Args:
            q: Configuration (nq,) or mapping, the stored one if left out.
            task: Has `obstacles`; None for none.
        """
        if hasattr(q, "obstacles"):
            raise InputTypeError("q must be a configuration, got a Task; it is passed as task=")
        if getattr(q, "ndim", 1) == 2 and q.shape[1] == self.nq > 1:
            raise InputError(f"q must have shape ({self.nq},), got {q.shape}; clearance(q) takes a batch")
        q = self._single(q)
        own = self._checker().distance(q)
        if task is None:
            return own
        other = self._scene_checker(task).distance(q)
        return other if other.value < own.value else own

    def clearance(self, q: Any = None, task: Any = None) -> Any:
        """The smallest signed distance alone [m]: a number, or (N,) for a batch (N, nq). Arguments as in `distance`."""
        q = self._one_or_many(q)
        if q.ndim == 1:
            return self.distance(q, task).value
        return np.array([self.distance(one, task).value for one in q]).reshape(len(q))

    def distances(self, q: Any = None, task: Any = None) -> list[Distance]:
        """Signed distance of every pair that is checked, see `distance`."""
        q = self._single(q)
        found = self._checker().distances(q)
        return found if task is None else found + self._scene_checker(task).distances(q)

    @property
    def collision_pairs(self) -> NDArray[np.intp]:
        """Pairs in contact at the stored configuration, as indices into `collision_objects` (n, 2)."""
        checker = self._checker()
        return checker.pairs[checker.contacts(self.q, 0.0)].reshape(-1, 2)

    @property
    def collision_objects(self) -> tuple[coal.CollisionObject, ...]:
        """The robot's shapes as coal's objects at the stored configuration; fresh, moving them moves nothing."""
        checker = self._checker()
        poses = checker.placements(self.q)
        return tuple(
            coal.CollisionObject(b.shape, coal.Transform3s(pose.rotation, pose.translation))
            for b, pose in zip(checker.bodies, poses, strict=True)
        )


def _margin(value: Any) -> float:
    if _as_float(value, "safety_margin").size > 1:
        raise InputError("safety_margin must be one number; a configuration is passed as q=")
    return scalar(value, "safety_margin", minimum=0.0)
