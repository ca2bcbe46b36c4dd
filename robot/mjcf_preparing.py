"""An MJCF as Pinocchio reads it rightly, and what had to be changed or left out for that.

Pinocchio's reader drops bodies without names and all top-level bodies but the first, takes unreadable numbers for
defaults, joins several joints of a body into one, and fails on the first mesh that is missing.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from .description_source import read_source
from .element_checks import LARGEST, blame, numbers
from .findings import Finding, refusal
from .mesh_search import PackageSearch
from .urdf_preparing import mesh_fault
from .xml_tree import XmlTree

_READ = ("compiler", "option", "default", "asset", "worldbody", "size", "statistic", "visual", "include")
_JOINTS = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}
_SHAPES = {"plane": 0, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3, "mesh": 0}
"""Geometries with how many positive numbers they need; with fromto one fewer for capsule, cylinder and so on."""
_COUNTS = {
    "pos": (3,),
    "quat": (4,),
    "euler": (3,),
    "axisangle": (4,),
    "xyaxes": (6,),
    "zaxis": (3,),
    "axis": (3,),
    "range": (2,),
    "fromto": (6,),
    "diaginertia": (3,),
    "fullinertia": (6,),
    "scale": (3,),
    "gravity": (3,),
    "mass": (1,),
    "density": (1,),
    "damping": (1, 3),
    "armature": (1,),
    "frictionloss": (1,),
    "ref": (1,),
    "size": (1, 2, 3),
    "rgba": (4,),
}
_MOST_INCLUDES = 100


class MjcfPreparing:
    """One MJCF while it is made ready: findings gather on the way.

    Args:
        tree: The document, changed in place.
        folder: From which its relative paths start.
    """

    def __init__(self, tree: XmlTree, folder: Path) -> None:
        self.tree, self.folder = tree, folder
        self.found: list[Finding] = []
        self._included = 0

    def run(self) -> ET.Element:
        """The document for Pinocchio."""
        root = self.tree.root
        self._include(root, self.folder, (self.tree.source,))
        world = self._one_world(root)
        if world is None or world.find("body") is None:
            self.found.append(blame(self.tree, "links-none", root, "has no bodies", world, remedy="add a <body>"))
            return root
        self._check_numbers()
        self._check_classes()
        self._name_everything(world)
        self._resolve_meshes(root)
        self._check_bodies(world)
        if not any(found.severity == "error" for found in self.found):
            self._one_joint_each(world)
            self._one_top(world)
        return root

    def _say(self, code: str, owner: ET.Element, problem: str, at: ET.Element | None = None) -> None:
        self.found.append(blame(self.tree, code, owner, problem, at))

    def _include(self, element: ET.Element, folder: Path, chain: tuple[str, ...]) -> None:
        """Put included files in the place of their <include>."""
        for child in list(element):
            if child.tag != "include":
                self._include(child, folder, chain)
                continue
            file = folder / (child.get("file") or "")
            self._included += 1
            if str(file) in chain or len(chain) > 20 or self._included > _MOST_INCLUDES:
                raise refusal("file-loop", self.tree.source, f"{file} is included without end", self.tree.line(child))
            source = read_source(file)
            part = XmlTree(source.data, source.name)
            self._include(part.root, folder, (*chain, str(file)))
            at = list(element).index(child)
            element.remove(child)
            for offset, new in enumerate(part.root):
                element.insert(at + offset, new)

    def _one_world(self, root: ET.Element) -> ET.Element | None:
        """The one worldbody, that of included files merged into it; what nobody reads is taken out."""
        worlds = root.findall("worldbody")
        for other in worlds[1:]:
            worlds[0].extend(list(other))
            root.remove(other)
        for section in [child for child in root if child.tag not in _READ]:
            if len(section):
                some = ", ".join(sorted({child.tag for child in section})[:5])
                self._say("mjcf-left-out", section, f"<{section.tag}> ({some}) is no part of a robot's rigid bodies")
            root.remove(section)
        return worlds[0] if worlds else None

    def _check_numbers(self) -> None:
        for owner, element in _owned(self.tree.root):
            for key, counts in _COUNTS.items():
                text = element.get(key)
                read = [values for count in counts if (values := numbers(text, count))]
                if text is not None and not (read and max(map(abs, read[0])) <= LARGEST):
                    need = " or ".join(map(str, counts))
                    problem = f"<{element.tag} {key}={text!r:.60}> must be {need} finite numbers"
                    self._say("mjcf-number", owner, problem, element)
            mass = numbers(element.get("mass"), 1)
            if mass is not None and mass[0] < 0:
                self._say(
                    "mass-negative", owner, f"mass {element.get('mass')!r:.60} must be a number, 0 or more", element
                )

    def _check_classes(self) -> None:
        known = {"main"} | {str(d.get("class")) for d in self.tree.root.iter("default") if d.get("class")}
        for owner, element in _owned(self.tree.root):
            for key in ("class", "childclass"):
                name = element.get(key)
                if name is not None and element.tag != "default" and name not in known:
                    self._say("mjcf-class", owner, f"there is no default class {name!r}", element)

    def _name_everything(self, world: ET.Element) -> None:
        """Names for bodies and joints without one, and complaints about those that come twice."""
        for tags in (("body",), ("joint", "freejoint")):
            elements = [element for tag in tags for element in world.iter(tag)]
            taken = {element.get("name") for element in elements} | {"universe"}
            seen: set[str] = set()
            for number, element in enumerate(elements):
                if not element.get("name"):
                    element.set("name", next(n for n in _numbered(f"{tags[0]}{number}") if n not in taken))
                    taken.add(element.get("name"))
                name = str(element.get("name"))
                if name in seen or name == "universe":
                    self._say("name-taken", element, "this name is taken already")
                seen.add(name)

    def _resolve_meshes(self, root: ET.Element) -> None:
        """Meshes by their files' own paths; geometries without a mesh or of an unknown shape are taken out."""
        compiler = root.find("compiler")
        said = {} if compiler is None else compiler.attrib
        search = PackageSearch(self.folder / (said.get("meshdir") or said.get("assetdir") or ""), (self.folder,))
        usable = set()
        for asset in root.findall("asset"):
            for mesh in list(asset):
                file = mesh.get("file") if mesh.tag == "mesh" else None
                path = search.mesh(file) if file else None
                fault = "there is no such file" if path is None else mesh_fault(str(path))
                if fault is not None:
                    asset.remove(mesh)
                    if mesh.tag == "mesh":
                        code = "mesh-missing" if path is None else "mesh-unreadable"
                        self._say(code, mesh, f"mesh file {file!r}: {fault}; searched {search.searched()}")
                    continue
                mesh.set("name", mesh.get("name") or Path(str(file)).stem)
                mesh.set("file", str(path))
                usable.add(mesh.get("name"))
        if compiler is not None:
            for key in ("meshdir", "assetdir", "texturedir", "strippath"):
                compiler.attrib.pop(key, None)
        self._drop_geoms(usable)

    def _drop_geoms(self, meshes: set[str | None]) -> None:
        for body in [e for e in self.tree.root.iter() if e.tag in ("body", "worldbody")]:
            for geom in body.findall("geom"):
                if geom.get("mesh") is not None and geom.get("mesh") not in meshes:
                    self._say("mesh-missing", body, f"geom has the mesh {geom.get('mesh')!r}, which is not there", geom)
                elif geom.get("type", "sphere") not in _SHAPES:
                    self._say("shape-unknown", body, f"geom of type {geom.get('type')!r:.40} cannot be read", geom)
                else:
                    if not self._bad_size(body, geom):
                        geom.attrib.pop("material", None)
                        continue
                body.remove(geom)

    def _bad_size(self, body: ET.Element, geom: ET.Element) -> bool:
        size = numbers(geom.get("size"), len((geom.get("size") or "").split()))
        if not size:
            return False  # from the defaults, or missing: Pinocchio says which
        need = max(_SHAPES[geom.get("type", "sphere")] - (geom.get("fromto") is not None), 0)
        given = [float(value) for value in size[:need]]
        if geom.get("class") is None and not self.tree.root.findall("default") and len(size) < need:
            given = [0.0]
        if given and min(given) <= 0:
            self._say("shape-size", body, f"<geom size={geom.get('size')!r:.60}> must be {need} positive numbers", geom)
            return True
        return False

    def _check_bodies(self, world: ET.Element) -> None:
        for body in world.iter("body"):
            kinds = [joint.get("type", "hinge") for joint in body.findall("joint")] + ["free"] * len(
                body.findall("freejoint")
            )
            for joint, kind in zip([*body.findall("joint"), *body.findall("freejoint")], kinds, strict=True):
                axis, bounds = numbers(joint.get("axis"), 3), numbers(joint.get("range"), 2)
                if kind not in _JOINTS:
                    self._say("joint-type-unknown", joint, f"type {kind!r:.40} is none of {', '.join(_JOINTS)}")
                if axis is not None and not any(axis):
                    self._say("axis-number", joint, "axis must not be all 0")
                if bounds is not None and bounds[0] > bounds[1]:
                    self._say("limit-crossed", joint, f"range {joint.get('range')!r:.60}: the first exceeds the second")
            if "free" in kinds and (len(kinds) > 1 or body not in list(world)):
                self._say("mjcf-free", body, "a free joint must be the only one of a body at the top")
            for inertial in body.findall("inertial"):
                self._check_inertial(body, inertial)

    def _check_inertial(self, body: ET.Element, inertial: ET.Element) -> None:
        if inertial.get("mass") is None:
            self._say("inertial-incomplete", body, "<inertial> has no mass", inertial)
        if inertial.get("diaginertia") is None and inertial.get("fullinertia") is None:
            self._say("inertial-incomplete", body, "<inertial> has neither diaginertia nor fullinertia", inertial)

    def _one_joint_each(self, world: ET.Element) -> None:
        """A body with several joints as a chain of massless ones, one joint each, which moves alike."""
        taken = {str(body.get("name")) for body in world.iter("body")}
        for body in list(world.iter("body")):
            joints = body.findall("joint")
            for joint in joints[:-1]:
                inner = ET.Element("body", {"name": str(body.get("name"))})
                name = next(n for n in _numbered(f"{body.get('name')}_{joint.get('name')}") if n not in taken)
                taken.add(name)
                for child in [c for c in body if c is not joint]:
                    body.remove(child)
                    inner.append(child)
                body.set("name", name)
                if body.get("childclass"):
                    inner.set("childclass", str(body.get("childclass")))
                body.append(inner)
                body = inner

    def _one_top(self, world: ET.Element) -> None:
        """Several bodies at the top as the children of one that does not move."""
        tops = world.findall("body")
        if len(tops) == 1:
            return
        if any(top.find("freejoint") is not None or _has_free(top) for top in tops):
            names = ", ".join(repr(top.get("name")) for top in tops)
            self._say("mjcf-free", world, f"one of the bodies {names} is free, and a robot must be one tree")
            return
        name = next(n for n in _numbered("world") if n not in {body.get("name") for body in world.iter("body")})
        common = ET.Element("body", {"name": name})
        for top in tops:
            world.remove(top)
            common.append(top)
        world.append(common)


def _has_free(body: ET.Element) -> bool:
    return any(joint.get("type") == "free" for joint in body.findall("joint"))


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{k}" for k in range(2, 10**6))


def _owned(root: ET.Element) -> Iterator[tuple[ET.Element, ET.Element]]:
    """Every element with the nearest one above it that has a name, or itself."""
    waiting: list[tuple[ET.Element, ET.Element]] = [(root, root)]
    while waiting:
        owner, element = waiting.pop()
        owner = element if element.get("name") else owner
        yield owner, element
        waiting.extend((owner, child) for child in reversed(list(element)))
