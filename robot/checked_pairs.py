"""The pairs of shapes that a robot checks for collision, and the checkers compiled from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from . import collision_pairs
from .arrays import as_generator, whole
from .collider import Body, body
from .collision import CollisionChecker
from .collision_pairs import HOME, REMOVED, Pair, PairNames, SampledPairs
from .errors import InputError, InputTypeError, unknown_name
from .findings import Finding, finding
from .pin_appearance import PinAppearance


class CheckedPairs(PinAppearance):
    """Which pairs of a robot's shapes are checked; changes count in `version`."""

    _scratch = ("_self_checker", "_scene_checkers", *PinAppearance._scratch)
    _excluded: dict[Pair, str]
    _findings: tuple[Finding, ...]
    _hulls: bool
    _self_checker: CollisionChecker | None
    _scene_checkers: WeakKeyDictionary[Any, tuple[CollisionChecker, tuple[Any, ...]]]

    def _rebuild(self) -> None:
        super()._rebuild()
        self._forget_checkers()

    def _forget_checkers(self) -> None:
        self._self_checker, self._scene_checkers = None, WeakKeyDictionary()

    @property
    def active_pairs(self) -> list[Pair]:
        """The pairs that are checked, by the names of their geometries."""
        names = PairNames(self._model, self._collision)
        return [names.named(pair) for pair in collision_pairs.pairs_of(self._collision)]

    @property
    def excluded_pairs(self) -> Mapping[Pair, str]:
        """The pairs that are not checked, with the reason; `add_collision_pairs` puts them back."""
        return MappingProxyType(self._excluded)

    def disabled_links(self) -> dict[Pair, str]:
        """Links none of whose shapes are checked against each other, with the reason, as an SRDF lists them."""
        links = self.collision_links
        active = {frozenset((links[a], links[b])) for a, b in self.active_pairs}
        found: dict[Pair, str] = {}
        for (a, b), reason in self._excluded.items():
            pair = (links[a], links[b])
            if pair[0] != pair[1] and frozenset(pair) not in active:
                found.setdefault(pair, collision_pairs.srdf_reason(reason))
        return found

    def collision_digest(self) -> str:
        """A text that changes when shapes, their places or the pairs that are checked do."""
        digest = hashlib.sha256(repr(sorted(self.active_pairs)).encode())
        for b in self._checker().bodies:
            digest.update(f"{b.name} {b.joint}".encode())
            for array in (b.placement.homogeneous, b.convex.size, b.convex.points, b.convex.half, b.convex.centre):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

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
        self._commit()
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
        self._commit()
        if not isinstance(reason, str):
            raise InputTypeError(f"reason must be a string, got {type(reason).__name__}")
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
        count, own = whole(samples, "samples"), as_generator(rng)
        seed = rng if isinstance(rng, int) and not isinstance(rng, bool) else int(own.integers(2**56))
        if progress is not None and not callable(progress):
            raise InputTypeError(f"progress must be a function of (done, samples), got {type(progress).__name__}")
        generator, checker = np.random.default_rng(seed), self._checker()
        return collision_pairs.sample(
            self.active_pairs,
            lambda: checker.contacts(self.random_configuration(generator), 0.0),
            count,
            seed,
            progress,
        )

    def _set_up_collisions(self, meshes: str, disabled: Iterable[tuple[str, str, str]] | None) -> None:
        self._hulls = meshes == "hull"
        for name in collision_pairs.hulls(self._collision) if meshes == "hull" else ():
            self._findings += (finding("mesh-flat", 0, "collision geometry", name, "is flat"),)
        if len(self._collision.collisionPairs):
            self._excluded = {}
            self._forget_checkers()
        elif disabled is not None:
            self._excluded = collision_pairs.disable(self._model, self._collision, disabled)
            self._forget_checkers()
            self._findings += self._home_contacts()
        else:
            self._init_collision_pairs()
            self._remove_home_collisions()
            at_home = [" and ".join(pair) for pair, reason in self._excluded.items() if reason == HOME]
            if at_home:
                problem = f"{', '.join(at_home)} touch in the home configuration"
                self._findings += (finding("home-contact-unchecked", 0, "collision pairs", "", problem),)

    def _home_contacts(self) -> tuple[Finding, ...]:
        checker = self._checker()
        touching = checker.pairs[checker.contacts(self.q, 0.0)]
        pairs = sorted({" and ".join(checker.bodies[k].link for k in pair) for pair in touching})
        problem = f"{', '.join(pairs)} touch in the home configuration though the SRDF has them checked"
        return (finding("home-contact", 0, "collision pairs", "", problem),) if pairs else ()

    def _init_collision_pairs(self) -> None:
        """Check all pairs but those of neighbouring or rigidly joined links."""
        kept, self._excluded = collision_pairs.default_pairs(self._model, self._collision)
        self._take_pairs(kept)

    def _remove_home_collisions(self) -> None:
        """Stop checking the pairs that touch in the stored configuration (at load, home)."""
        checker = self._checker()
        touching = checker.pairs[checker.contacts(self.q, 0.0)]
        if len(touching):
            names = PairNames(self._model, self._collision)
            self.remove_collision_pairs([names.named((int(i), int(j))) for i, j in touching], HOME)

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
            checker, obstacles = self._scene_checkers[task]
            if obstacles is task.obstacles or obstacles == tuple(task.obstacles):
                return checker
        except KeyError:
            pass
        except TypeError:
            raise _no_task(task) from None
        if not hasattr(task, "obstacles"):
            raise _no_task(task)
        own = self._checker().bodies
        scene = tuple(body(o.id, o.id, 0, o.placement.se3(), o.shape) for o in task.obstacles)
        allowed = {tuple(pair) for pair in getattr(task, "allowed_collisions", ())}
        known = {b.name for b in own + scene} | {b.link for b in own} | set(self.frames)
        for name in (name for pair in allowed for name in pair):
            if name not in known:
                raise unknown_name("link, geometry or obstacle in task.allowed_collisions", name, sorted(known))
        pairs = [
            (i, len(own) + k)
            for i, a in enumerate(own)
            for k, b in enumerate(scene)
            if not allowed & {(a.name, b.name), (b.name, a.name), (a.link, b.name), (b.name, a.link)}
        ]
        checker = CollisionChecker(
            self._model, self._coordinates, own + scene, np.array(pairs, dtype=np.intp).reshape(-1, 2)
        )
        obstacles = task.obstacles
        self._scene_checkers[task] = checker, obstacles if isinstance(obstacles, tuple) else tuple(obstacles)
        return checker


def _no_task(task: Any) -> InputTypeError:
    hint = ""
    if isinstance(task, np.ndarray) or (isinstance(task, list | tuple) and all(np.isscalar(x) for x in task)):
        hint = "; a configuration is passed as q="
    elif isinstance(task, list | tuple):
        hint = "; Task(obstacles) makes one"
    return InputTypeError(f"task must be a Task, got {type(task).__name__}{hint}")
