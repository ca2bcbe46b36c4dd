"""What a COLLADA file shows, primitive by primitive, in the order in which readers give the triangles.

Readers walk through the nodes of the scene and leave out triangles without area, two of whose corners are one point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from .element_checks import numbers
from .errors import DescriptionError
from .xml_tree import XmlTree

Colour = tuple[float, float, float, float]
Indices = NDArray[np.int64]

_PRIMITIVES = ("triangles", "polylist", "polygons")
_MODELS = {"phong": "diffuse", "lambert": "diffuse", "blinn": "diffuse", "constant": "emission"}
_DEEPEST, _MOST_NODES, _MOST_PRIMITIVES = 50, 100_000, 2000
"""Nodes that refer to one another are followed so far; a small file can name billions."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """Triangles of one material in one node."""

    triangles: int
    """How many have three different corners."""
    colour: Colour | None
    """Red, green, blue, opacity in [0, 1]; None where the file names none, or an image."""
    counted: tuple[int, ...]
    """Primitives before this one in its node, its elder siblings and their children: not always all there are."""


def primitives(path: str | Path) -> tuple[Primitive, ...]:
    """The primitives of a file in the order of its scene; none where it cannot be read that far."""
    try:
        return _primitives(str(path), Path(path).stat().st_mtime_ns)
    except (OSError, ValueError):
        return ()


@lru_cache(maxsize=512)
def _primitives(path: str, changed: int) -> tuple[Primitive, ...]:
    try:
        return tuple(_Scene(XmlTree(Path(path).read_bytes(), path).root).primitives())
    except (DescriptionError, LookupError, ValueError, TypeError, AttributeError, StopIteration, OverflowError):
        return ()  # whether it can be read at all is for others to say


class _Scene:
    def __init__(self, root: Element) -> None:
        self._root, self._found = root, list[Primitive]()
        # libraries have names of their own: a material may be called like a geometry
        self._named = {(one.tag, name): one for one in root.iter() if (name := one.get("id")) is not None}
        self._sizes: dict[int, int] = {}
        self._visited = 0

    def primitives(self) -> list[Primitive]:
        """All of them."""
        shown = self._root.find("scene/instance_visual_scene")
        scene = next(self._root.iter("visual_scene")) if shown is None else self._of("visual_scene", shown.get("url"))
        before: list[int] = []
        for node in scene.findall("node"):
            before += self._node(node, before, 0)
        return self._found

    def _node(self, node: Element, before: list[int], depth: int) -> list[int]:
        """Take up a node and all below it; what was found there, as numbers of primitives."""
        self._visited += 1
        if depth > _DEEPEST or self._visited > _MOST_NODES or len(self._found) > _MOST_PRIMITIVES:
            raise ValueError("too many nodes, or nodes that refer to each other")
        first, own = len(self._found), list[int]()
        for instance in node.findall("instance_geometry"):
            for primitive, colour in self._instance(instance):
                self._found.append(Primitive(self._size(*primitive), colour, tuple(before)))
        own += range(first, len(self._found))
        below = [*node.findall("node"), *(self._of("node", one.get("url")) for one in node.findall("instance_node"))]
        for child in below:
            own += self._node(child, own, depth + 1)
        return own

    def _instance(self, instance: Element) -> Iterator[tuple[tuple[Element, Element], Colour | None]]:
        symbols = {one.get("symbol"): one.get("target") for one in instance.iter("instance_material")}
        mesh = self._of("geometry", instance.get("url")).find("mesh")
        for primitive in () if mesh is None else mesh:
            if mesh is not None and primitive.tag in _PRIMITIVES:
                yield (mesh, primitive), self._colour(symbols.get(primitive.get("material")))

    def _of(self, tag: str, url: Any) -> Element:
        return self._named[tag, url.removeprefix("#")]

    def _colour(self, target: str | None) -> Colour | None:
        """The diffuse colour of a material."""
        if target is None:
            return None
        instance = self._of("material", target).find("instance_effect")
        effect = self._of("effect", None if instance is None else instance.get("url"))
        for model, shade in _MODELS.items():
            text = effect.findtext(f"profile_COMMON/technique/{model}/{shade}/color")
            found = None if text is None else numbers(text, 4)
            if found is not None:
                red, green, blue = (min(max(float(part), 0.0), 1.0) for part in found[:3])
                return red, green, blue, 1.0
        return None

    def _size(self, mesh: Element, primitive: Element) -> int:
        if id(primitive) not in self._sizes:
            self._sizes[id(primitive)] = self._triangles(primitive)
        return self._sizes[id(primitive)]

    def _triangles(self, primitive: Element) -> int:
        inputs = primitive.findall("input")
        stride = 1 + max(int(one.get("offset", "0")) for one in inputs)
        vertex = next(one for one in inputs if one.get("semantic") == "VERTEX")
        points, at = self._points(vertex.get("source")), int(vertex.get("offset", "0"))
        faces = [_integers(p.text).reshape(-1, stride)[:, at] for p in primitive.findall("p")]
        corners = np.concatenate(faces) if faces else np.zeros(0, dtype=np.int64)
        if primitive.tag == "triangles":
            triangles = corners.reshape(-1, 3)
        else:
            counts = primitive.findtext("vcount")
            sizes = np.array([len(face) for face in faces], dtype=np.int64) if counts is None else _integers(counts)
            triangles = _fans(corners, sizes)
        a, b, c = (points[triangles[:, k]] for k in range(3))
        return int(((a != b).any(axis=1) & (b != c).any(axis=1) & (a != c).any(axis=1)).sum())

    def _points(self, vertices: Any) -> NDArray[np.float64]:
        inputs = self._of("vertices", vertices).findall("input")
        position = next(one for one in inputs if one.get("semantic") == "POSITION")
        text = self._of("source", position.get("source")).findtext("float_array") or ""
        return np.array(text.split(), dtype=np.float64).reshape(-1, 3)


def _integers(text: str | None) -> Indices:
    return np.array((text or "").split(), dtype=np.int64)


def _fans(corners: Indices, sizes: Indices) -> Indices:
    """Polygons as triangles around their first corners."""
    if (sizes < 3).any() or sizes.sum() != len(corners):
        raise ValueError("polygons of fewer than three corners, or of other corners than there are")
    starts = np.cumsum(sizes) - sizes
    ahead = np.concatenate([np.arange(1, size - 1) for size in sizes]) if len(sizes) else np.zeros(0, dtype=np.int64)
    first = np.repeat(starts, sizes - 2)
    fans: Indices = corners[np.stack([first, first + ahead, first + ahead + 1], axis=1)]
    return fans
