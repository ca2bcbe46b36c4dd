"""A URDF as Pinocchio reads it rightly: nothing that it misreads, limits complete, meshes by the paths of files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import coal
import numpy as np

from .collada import require_sound_collada
from .element_checks import blame, numbers
from .findings import Finding
from .joint_diagnosis import ONE_DOF
from .link_diagnosis import colour_of, usable
from .mesh_search import PackageSearch
from .ply_header import ply_fault
from .xml_tree import XmlTree

_LARGEST_MESH = 2**30
"""Bytes of a mesh that are still read."""
_FARTHEST = 1e9
"""Coordinates of a mesh beyond this are damage, and overflow when they are squared."""
_NUMERIC = {
    *("xyz", "rpy", "lower", "upper", "effort", "velocity", "damping", "friction", "value"),
    *("ixx", "ixy", "ixz", "iyy", "iyz", "izz", "size", "radius", "length", "scale", "rgba"),
}
"""Attributes that are numbers wherever they stand."""


def prepared(tree: XmlTree, search: PackageSearch) -> tuple[str, list[Finding]]:
    """The text for Pinocchio, and what had to be left out of it; the mesh paths of `tree` are resolved in place."""
    name = tree.root.get("name") or "robot"
    root, meshes = ET.Element("robot", {"name": name, "version": "1.1"}), _Meshes(tree, search)
    materials = {m.get("name"): m for m in tree.root.iter("material") if m.find("color") is not None}
    for link in tree.root.findall("link"):
        copy = ET.SubElement(root, "link", link.attrib)
        inertial = link.find("inertial")
        if inertial is not None:
            copy.append(inertial)
        for element in (e for kind in ("visual", "collision") for e in link.findall(kind)):
            if meshes.found(link, element) and usable(element):
                copy.append(_coloured(element, materials))
    for joint in tree.root.findall("joint"):
        root.append(_complete(joint))
    for element in root.iter():
        for key in _NUMERIC & element.attrib.keys():
            element.set(key, _plain(element.attrib[key]))
    return ET.tostring(root, encoding="unicode"), meshes.lost


class _Meshes:
    """The mesh files of one description, each read once to know that it can be."""

    def __init__(self, tree: XmlTree, search: PackageSearch) -> None:
        self.tree, self.search = tree, search
        self.lost: list[Finding] = []
        self._faults: dict[str, str | None] = {}

    def found(self, link: ET.Element, element: ET.Element) -> bool:
        """Put the file's own path in place of a mesh URI; a finding and False if there is none that can be read."""
        mesh = element.find("geometry/mesh")
        uri = None if mesh is None else mesh.get("filename")
        if mesh is None or not uri:
            return True
        file = self.search.mesh(uri)
        if file is None:
            problem = f"{element.tag} mesh {uri!r:.200} was not found; searched {self.search.searched()}"
            self.lost.append(blame(self.tree, "mesh-missing", link, problem, mesh, remedy=self.search.hint(uri)))
            return False
        fault = self._fault(str(file))
        if fault is not None:
            problem = f"{element.tag} mesh {uri!r:.200} cannot be read: {fault}"
            self.lost.append(blame(self.tree, "mesh-unreadable", link, problem, mesh))
            return False
        mesh.set("filename", str(file))
        return True

    def _fault(self, file: str) -> str | None:
        if file not in self._faults:
            self._faults[file] = mesh_fault(file)
        return self._faults[file]


def mesh_fault(file: str) -> str | None:
    """Why a mesh file cannot be used, None if it can."""
    try:
        if Path(file).stat().st_size > _LARGEST_MESH:
            return f"it is larger than {_LARGEST_MESH // 2**20} MB"
        if file.lower().endswith(".dae"):
            require_sound_collada(Path(file))
        fault = ply_fault(Path(file)) if file.lower().endswith(".ply") else None
        if fault is not None:
            return fault
        model = coal.MeshLoader().load(file, np.ones(3))
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        return (str(error).splitlines() or ["no reason given"])[0]
    if not model.num_tris:
        return "it has no triangles"
    points = np.array(model.vertices())
    return None if np.isfinite(points).all() and np.abs(points).max() < _FARTHEST else "its points are not finite"


def _plain(text: str) -> str:
    """Numbers as any reader takes them: Pinocchio's refuses a blank at the end, and numbers that underflow."""
    values = numbers(text, len(text.split()))
    return text if values is None else " ".join(repr(v if abs(v) > 1e-300 else 0.0) for v in values)


def _coloured(element: ET.Element, materials: dict[str | None, ET.Element]) -> ET.Element:
    """The element with its material's colour inside it, and nothing else of the material."""
    material = element.find("material")
    if material is None:
        return element
    copy = ET.Element(element.tag, element.attrib)
    copy.extend(part for part in element if part.tag != "material")
    own = material.find("color")
    known = materials.get(material.get("name")) if own is None else None
    colour = own if known is None else known.find("color")
    if colour_of(colour) is not None and colour is not None:
        kept = ET.SubElement(copy, "material", {"name": material.get("name") or f"colour of {element.tag}"})
        ET.SubElement(kept, "color", colour.attrib)
    return copy


def _complete(joint: ET.Element) -> ET.Element:
    """The joint with every limit Pinocchio's reader insists on, 0 for none, and without what is not its matter."""
    copy = ET.Element("joint", joint.attrib)
    for tag in ("origin", "parent", "child", "axis"):
        element = joint.find(tag)
        if element is not None and not (tag == "axis" and joint.get("type") in ("fixed", "floating")):
            copy.append(element)
    dynamics = joint.find("dynamics")
    if dynamics is not None and ("damping" in dynamics.attrib or "friction" in dynamics.attrib):
        copy.append(dynamics)
    if joint.get("type") in ONE_DOF:
        limit = joint.find("limit")
        given = {} if limit is None else limit.attrib
        finite = {k: v for k in ("lower", "upper", "effort", "velocity") if numbers(v := given.get(k, ""), 1)}
        ET.SubElement(copy, "limit", {"lower": "0", "upper": "0", "effort": "0", "velocity": "0"} | finite)
    return copy
