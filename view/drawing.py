"""Drawing: what is to be seen, said once for every backend.

A drawing is a tree of paths such as `arm/visual/link3_0`. Solids hang in it and are sent once; a moment says where
everything is at one configuration and is sent as often as the robot moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ..robot import InputError
from ..robot.arrays import LARGEST, Array
from .shapes import Mesh

Colour = tuple[float, float, float, float]
"""Red, green, blue, opacity in [0, 1]."""

NOTHING: Array = np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
"""The box a camera looks at where nothing is shown [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A coloured mesh at a path.

    Attributes:
        path: Where it hangs in the tree, names separated by "/".
        mesh: Its triangles.
        colour: Of the whole.
        pose: In the frame of the path above (4, 4); lengths of the axes scale the mesh. None leaves it at the origin,
            or where a moment puts it.
        visible: Whether it shows without being switched on.
        marked: It shows only in moments that mark it, in the colour they say.
        in_front: Nothing hides it.
    """

    path: str
    mesh: Mesh
    colour: Colour
    pose: Array | None = None
    visible: bool = True
    marked: bool = False
    in_front: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Where things are at one configuration.

    Attributes:
        poses: Pose (4, 4) of each path that moves, in the frame of the path above.
        marks: Colour of each marked solid that shows.
    """

    poses: Mapping[str, Array] = field(default_factory=dict)
    marks: Mapping[str, Colour] = field(default_factory=dict)


class Part(Protocol):
    """Something that can be drawn: it knows its solids, and where they are at q (nq,)."""

    def solids(self) -> Sequence[Solid]:
        """What is sent once."""

    def at(self, q: Array) -> Moment:
        """What changes with the configuration."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """Solids that do not move with the robot."""

    things: tuple[Solid, ...]

    def solids(self) -> Sequence[Solid]:
        """All of them."""
        return self.things

    def at(self, q: Array) -> Moment:
        """Nothing moves."""
        return Moment()


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Everything drawn of one robot and what surrounds it.

    Attributes:
        name: First name of all its paths.
        parts: What it consists of.
        solids: What is sent once, all parts together.
    """

    name: str
    parts: tuple[Part, ...]
    solids: tuple[Solid, ...]

    @classmethod
    def of(cls, name: str, parts: Iterable[Part]) -> Drawing:
        """A drawing of several parts; their paths are put below `name`."""
        root, kept = clean(name), tuple(parts)
        below = [replace(solid, path=f"{root}/{solid.path}") for part in kept for solid in part.solids()]
        for solid in below:
            if not np.abs(solid.mesh.vertices).max(initial=0.0) <= LARGEST:
                raise InputError(f"{solid.path}: its surface has vertices that are not finite, or beyond {LARGEST:g} m")
        return cls(root, kept, tuple(below))

    def at(self, q: Array) -> Moment:
        """Where everything is at q (nq,)."""
        poses: dict[str, Array] = {}
        marks: dict[str, Colour] = {}
        for part in self.parts:
            moment = part.at(q)
            poses.update((f"{self.name}/{path}", pose) for path, pose in moment.poses.items())
            marks.update((f"{self.name}/{path}", colour) for path, colour in moment.marks.items())
        return Moment(poses, marks)

    def bounds(self, *moments: Moment) -> Array:
        """Lower above upper corner (2, 3) [m] of the box around all visible solids in these moments."""
        corners = []
        for moment in moments or (Moment(),):
            for solid in self.solids:
                shown = solid.path in moment.marks if solid.marked else solid.visible
                if shown and len(solid.mesh.vertices) and "/floors/" not in solid.path:
                    corners.append(_box(solid, world_pose(solid, moment)))
        if not corners:
            return NOTHING
        return np.array([np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)])


def world_pose(solid: Solid, moment: Moment) -> Array:
    """Pose of a solid in the world (4, 4): the product of all poses along its path."""
    names = solid.path.split("/")
    pose = np.eye(4)
    for depth in range(1, len(names) + 1):
        path = "/".join(names[:depth])
        own = solid.pose if depth == len(names) else None
        step = moment.poses.get(path, own)
        if step is not None:
            pose = pose @ step
    return pose


def clean(name: str) -> str:
    """A name fit for a path."""
    return name.replace("/", "_") or "_"


def unique(names: Iterable[str]) -> list[str]:
    """Names fit for paths, a number added to those that repeat."""
    seen: set[str] = set()
    found = []
    for name in map(clean, names):
        other, k = name, 2
        while other in seen:
            other, k = f"{name}_{k}", k + 1
        seen.add(other)
        found.append(other)
    return found


def _box(solid: Solid, pose: Array) -> tuple[Array, Array]:
    points = solid.mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
    return points.min(axis=0), points.max(axis=0)
