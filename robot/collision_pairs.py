"""Which pairs of a robot's shapes are checked, which are not, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from .errors import InputError, InputTypeError, unknown_name

RIGID = "rigid: nothing moves one against the other"
ADJACENT = "adjacent: joined by one joint"
HOME = "home: they touch in the home configuration"
ALWAYS = "always: they touch in (nearly) all sampled configurations"
REMOVED = "removed: by the user"
DISABLED = "disabled: by the SRDF"

Pair = tuple[str, str]


def srdf_reason(reason: str) -> str:
    """The word an SRDF has for a reason."""
    words = {RIGID: "Adjacent", ADJACENT: "Adjacent", HOME: "Default", ALWAYS: "Always", REMOVED: "User"}
    given = reason.removeprefix(DISABLED).strip(" ()")
    return words.get(reason, given or "User")


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """How often pairs touch in random configurations."""

    samples: int
    counts: dict[Pair, int]
    """Configurations in which each active pair touches."""
    seed: int

    def always(self, fraction: float = 0.95) -> list[Pair]:
        """Pairs that touch in at least this part of the configurations."""
        return [pair for pair, count in self.counts.items() if count >= fraction * self.samples]

    def never(self) -> list[Pair]:
        """Pairs that touched in none; no proof that they cannot."""
        return [pair for pair, count in self.counts.items() if count == 0]


def link_of(model: pin.Model, thing: pin.GeometryObject) -> str:
    """Name of the link a geometry belongs to."""
    return str(model.frames[_body_frame(model, thing.parentFrame)].name)


def _body_frame(model: pin.Model, frame: int) -> int:
    """The nearest frame of a body from a frame upwards; the frame itself if there is none."""
    at = frame
    while at > 0 and model.frames[at].type != pin.FrameType.BODY:
        at = model.frames[at].parentFrame
    return at if at > 0 else frame


def _parent_link(model: pin.Model, frame: int) -> int:
    """Frame of the link that carries the link with this frame; 0 if none does."""
    up = _body_frame(model, model.frames[_body_frame(model, frame)].parentFrame)
    return up if model.frames[up].type == pin.FrameType.BODY else 0


def _hinged(model: pin.Model, a: pin.GeometryObject, b: pin.GeometryObject, over_a: int, over_b: int) -> bool:
    """Whether one joint is between two shapes, in a model whose frames do not say what link carries them."""
    joints = model.parents
    return (not over_b and joints[b.parentJoint] == a.parentJoint) or (
        not over_a and joints[a.parentJoint] == b.parentJoint
    )


def default_pairs(model: pin.Model, geometry: pin.GeometryModel) -> tuple[list[tuple[int, int]], dict[Pair, str]]:
    """All pairs of shapes that can move against each other and do not belong to neighbouring links; and the others."""
    things = geometry.geometryObjects
    links = [_body_frame(model, t.parentFrame) for t in things]
    parents = [_parent_link(model, t.parentFrame) for t in things]
    kept, excluded = [], {}
    for j in range(len(things)):
        for i in range(j):
            a, b = things[i], things[j]
            if a.parentJoint == b.parentJoint:
                excluded[(a.name, b.name)] = RIGID
            elif links[i] == parents[j] or links[j] == parents[i] or _hinged(model, a, b, parents[i], parents[j]):
                excluded[(a.name, b.name)] = ADJACENT
            else:
                kept.append((i, j))
    return kept, excluded


def disable(model: pin.Model, geometry: pin.GeometryModel, disabled: Iterable[tuple[str, str, str]]) -> dict[Pair, str]:
    """Set all pairs that can move against each other but those of disabled (link, link, reason); what is left out."""
    reasons = {frozenset((a, b)): reason for a, b, reason in disabled}
    things = geometry.geometryObjects
    links = [link_of(model, t) for t in things]
    kept, excluded = [], {}
    for j in range(len(things)):
        for i in range(j):
            reason = reasons.get(frozenset((links[i], links[j])))
            if things[i].parentJoint == things[j].parentJoint:
                excluded[(things[i].name, things[j].name)] = RIGID
            elif reason is not None:
                excluded[(things[i].name, things[j].name)] = f"{DISABLED} ({reason})" if reason else DISABLED
            else:
                kept.append((i, j))
    set_pairs(geometry, kept)
    return excluded


def set_pairs(geometry: pin.GeometryModel, pairs: Iterable[tuple[int, int]]) -> None:
    """Replace the pairs of a geometry model."""
    geometry.removeAllCollisionPairs()
    for i, j in pairs:
        geometry.addCollisionPair(pin.CollisionPair(int(i), int(j)))


def pairs_of(geometry: pin.GeometryModel) -> list[tuple[int, int]]:
    """The pairs of a geometry model as indices."""
    return [(int(p.first), int(p.second)) for p in geometry.collisionPairs]


class PairNames:
    """From names of geometries or links to indices of geometries."""

    def __init__(self, model: pin.Model, geometry: pin.GeometryModel) -> None:
        self.names = [str(t.name) for t in geometry.geometryObjects]
        self.joints = [int(t.parentJoint) for t in geometry.geometryObjects]
        self._by_name: dict[str, list[int]] = {}
        for i, thing in enumerate(geometry.geometryObjects):
            self._by_name.setdefault(link_of(model, thing), []).append(i)
        self._by_name.update({name: [i] for i, name in enumerate(self.names)})
        # a link without geometry has no pairs, which is worth another message than a name that does not exist
        self._bare = {str(f.name) for f in model.frames if f.type == pin.FrameType.BODY} - set(self._by_name)

    def indices(self, name: Any) -> list[int]:
        """Geometries of that name, or of the link of that name."""
        if not isinstance(name, str):
            raise InputTypeError(f"a pair must hold two names of geometries or links, got {name!r}")
        if name in self._bare:
            raise InputError(f"link {name!r} has no collision geometry")
        if name not in self._by_name:
            raise unknown_name("geometry or link", name, list(self._by_name))
        return self._by_name[name]

    def expand(self, pairs: Any) -> list[tuple[int, int]]:
        """Index pairs (smaller first, no repetition) of pairs of names."""
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise InputTypeError("pairs must be a sequence of (name, name)")
        found: dict[tuple[int, int], None] = {}
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise InputTypeError(f"pairs must be a sequence of (name, name), got {pair!r} among them")
            first, second = self.indices(pair[0]), self.indices(pair[1])
            for i in first:
                for j in second:
                    if i == j:
                        raise InputError(f"a shape cannot collide with itself: {pair[0]!r} and {pair[1]!r}")
                    found[(min(i, j), max(i, j))] = None
        return list(found)

    def named(self, pair: tuple[int, int]) -> Pair:
        """Names of a pair."""
        return self.names[pair[0]], self.names[pair[1]]


def hulls(geometry: pin.GeometryModel) -> list[str]:
    """Replace every mesh by its convex hull; the names of flat ones, which keep their triangles, are returned."""
    kept = []
    for thing in geometry.geometryObjects:
        if not isinstance(thing.geometry, coal.BVHModelBase):
            continue
        hull = convex_hull(thing.geometry)
        if hull is None:
            kept.append(str(thing.name))
        else:
            thing.geometry = hull
    return kept


def convex_hull(mesh: coal.BVHModelBase) -> coal.ConvexBase | None:
    """The convex hull of a mesh, None if its points span no volume."""
    points = np.asarray(mesh.vertices())
    if len(points) < 4 or np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-9) < 3:
        return None
    try:
        mesh.buildConvexHull(True, "Qt")  # what it returns says nothing about success
    except RuntimeError:
        return None
    hull = mesh.convex
    return hull if hull is not None and hull.num_points > 3 else None


def sample(
    pairs: Sequence[Pair], touching: Callable[[], Iterable[int]], samples: int, seed: int, progress: Any
) -> SampledPairs:
    """Count how often each pair is among those that `touching` finds."""
    counts = np.zeros(len(pairs), dtype=np.int64)
    for done in range(samples):
        for k in touching():
            counts[k] += 1
        if progress is not None and (done + 1) % 1000 == 0:
            progress(done + 1, samples)
    return SampledPairs(samples, {pair: int(n) for pair, n in zip(pairs, counts, strict=True)}, seed)
