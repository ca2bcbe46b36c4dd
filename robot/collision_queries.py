"""What touches what: self-collision, obstacles, distances, and the pairs that are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import coal
import numpy as np
from numpy.typing import NDArray

from . import collision_pairs
from .arrays import scalar
from .collider import Body, body
from .collision import CollisionChecker, Distance
from .collision_pairs import HOME, REMOVED, Pair, PairNames, SampledPairs
from .errors import InputError, InputTypeError
from .manifold import as_generator
from .pin_backend import PinBackend


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


class CollisionQueries(PinBackend):
    """Collision queries of a robot on Pinocchio's geometry; every answer is coal's, most found by the native kernel.

    Meshes count by their convex hulls, unless the robot was made with `collision_meshes="exact"`.
    """

    _scratch = ("_self_checker", "_scene_checkers")
    _excluded: dict[Pair, str]
    _self_checker: CollisionChecker | None
    _scene_checkers: WeakKeyDictionary[Any, CollisionChecker]

    def _rebuild(self) -> None:
        super()._rebuild()
        self._forget_checkers()

    def _forget_checkers(self) -> None:
        self._self_checker, self._scene_checkers = None, WeakKeyDictionary()

    # Queries

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
        margin = 0.0 if safety_margin == 0.0 else _margin(safety_margin)
        checker = self._self_checker or self._checker()
        return checker.touching(q, margin) if q.ndim == 1 else checker.touching_batch(q, margin, threads)

    def has_collisions(
        self,
        task: Any,
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
        checkers = [] if ignore_self_collisions else [self._checker()]
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
            return f"no collisions; nearest {nearest.pair[0]!r} and {nearest.pair[1]!r}, {nearest.value:.4g} m apart"
        lines = [f"{len(found)} collision{'s' if len(found) > 1 else ''}:"]
        for contact in found:
            what = (
                f"overlap by {-contact.distance:.4g} m" if contact.distance < 0 else f"{contact.distance:.4g} m apart"
            )
            lines.append(f"  {contact.pair[0]!r} with {contact.pair[1]!r}: {what}")
        return "\n".join(lines)

    def distance(self, q: Any = None, task: Any = None) -> Distance:
        """The smallest signed distance within the robot and to the obstacles of a task, with pair and points.

        Args:
            q: Configuration (nq,) or mapping, the stored one if left out.
            task: Has `obstacles`; None for none.
        """
        q = self._single(q)
        own = self._checker().distance(q)
        if task is None:
            return own
        other = self._scene_checker(task).distance(q)
        return other if other.value < own.value else own

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

    # Pairs

    @property
    def active_pairs(self) -> list[Pair]:
        """The pairs that are checked, by the names of their geometries."""
        names = PairNames(self._model, self._collision)
        return [names.named(pair) for pair in collision_pairs.pairs_of(self._collision)]

    @property
    def excluded_pairs(self) -> Mapping[Pair, str]:
        """The pairs that are not checked, with the reason; `add_collision_pairs` puts them back."""
        return MappingProxyType(self._excluded)

    @property
    def collision_links(self) -> dict[str, str]:
        """Link of every geometry, by name."""
        return {t.name: collision_pairs.link_of(self._model, t) for t in self._collision.geometryObjects}

    def add_collision_pairs(self, pairs: Any) -> None:
        """Check pairs from now on.

        Args:
            pairs: (name, name) of geometries or links; a link stands for all its geometries. Pairs that are checked
                already stay.

        Raises:
            InputError: if a name does not exist, or nothing can move one geometry against the other.
        """
        names = PairNames(self._model, self._collision)
        wanted = names.expand(pairs)
        for i, j in wanted:
            if names.joints[i] == names.joints[j]:
                a, b = names.named((i, j))
                raise InputError(f"{a!r} and {b!r} are fixed to each other: nothing changes whether they touch")
        now = collision_pairs.pairs_of(self._collision)
        known = {(min(p), max(p)) for p in now}
        self._take_pairs(now + [p for p in wanted if p not in known])
        for pair in wanted:
            self._excluded.pop(names.named(pair), None)

    def remove_collision_pairs(self, pairs: Any, reason: str = REMOVED) -> None:
        """Check pairs no longer.

        Args:
            pairs: (name, name) of geometries or links; a link stands for all its geometries. Pairs that are not
                checked stay so.
            reason: Shown in `excluded_pairs`.
        """
        names = PairNames(self._model, self._collision)
        gone = set(names.expand(pairs))
        now = collision_pairs.pairs_of(self._collision)
        self._take_pairs([p for p in now if (min(p), max(p)) not in gone])
        for i, j in now:
            if (min(i, j), max(i, j)) in gone:
                self._excluded[names.named((min(i, j), max(i, j)))] = reason

    def _take_pairs(self, pairs: list[tuple[int, int]]) -> None:
        collision_pairs.set_pairs(self._collision, pairs)
        self._version += 1
        self._forget_checkers()

    def sample_collision_pairs(
        self, samples: int = 10_000, *, rng: Any = None, progress: Callable[[int, int], object] | None = None
    ) -> SampledPairs:
        """How often the checked pairs touch in random configurations; changes nothing.

        `remove_collision_pairs(robot.sample_collision_pairs().always())` drops those that always touch.

        Args:
            samples: Number of configurations.
            rng: Generator or seed.
            progress: Called with (done, samples) now and then.
        """
        count = int(scalar(samples, "samples", minimum=1))
        seed = int(as_generator(rng).integers(2**56)) if not isinstance(rng, int) else rng
        generator, checker = np.random.default_rng(seed), self._checker()
        return collision_pairs.sample(
            self.active_pairs,
            lambda: checker.contacts(self.random_configuration(generator), 0.0),
            count,
            seed,
            progress,
        )

    def _init_collision_pairs(self) -> None:
        """Check all pairs but those of neighbouring or rigidly joined links."""
        kept, self._excluded = collision_pairs.default_pairs(self._model, self._collision)
        self._take_pairs(kept)

    def _remove_home_collisions(self) -> None:
        """Stop checking the pairs that touch in the stored configuration (at load, home)."""
        checker = self._checker()
        touching = checker.pairs[checker.contacts(self.q, 0.0)]
        names = PairNames(self._model, self._collision)
        self.remove_collision_pairs([names.named((int(i), int(j))) for i, j in touching], HOME)

    # Checkers, compiled when first needed

    def _bodies(self) -> tuple[Body, ...]:
        return tuple(
            body(t.name, collision_pairs.link_of(self._model, t), t.parentJoint, t.placement, t.geometry)
            for t in self._collision.geometryObjects
        )

    def _checker(self) -> CollisionChecker:
        checker = self._self_checker
        if checker is None:
            pairs = np.array(collision_pairs.pairs_of(self._collision), dtype=np.intp).reshape(-1, 2)
            checker = CollisionChecker(self._model, self._coordinates, self._bodies(), pairs)
            self._self_checker = checker
        return checker

    def _scene_checker(self, task: Any) -> CollisionChecker:
        """Pairs of every shape of the robot with every obstacle, but those the task allows to touch."""
        try:
            return self._scene_checkers[task]
        except KeyError:
            pass
        except TypeError:
            raise InputTypeError(f"task must be a Task, got {type(task).__name__}") from None
        if not hasattr(task, "obstacles"):
            raise InputTypeError(f"task must be a Task, got {type(task).__name__}")
        own = self._checker().bodies
        scene = tuple(body(o.id, o.id, 0, o.placement.se3(), o.shape) for o in task.obstacles)
        allowed = {tuple(pair) for pair in getattr(task, "allowed_collisions", ())}
        pairs = [
            (i, len(own) + k)
            for i, a in enumerate(own)
            for k, b in enumerate(scene)
            if not allowed & {(a.name, b.name), (b.name, a.name), (a.link, b.name), (b.name, a.link)}
        ]
        checker = CollisionChecker(
            self._model, self._coordinates, own + scene, np.array(pairs, dtype=np.intp).reshape(-1, 2)
        )
        self._scene_checkers[task] = checker
        return checker


def _margin(value: Any) -> float:
    return scalar(value, "safety_margin", minimum=0.0)
