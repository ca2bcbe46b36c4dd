"""What is wrong with the links of a URDF: masses, inertias, geometries."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np

from .element_checks import LARGEST, blame, number_findings, numbers, origin_findings
from .findings import WARNING, Finding
from .xml_tree import XmlTree

HEAVIEST_POINT = 1.0
"""Mass [kg] that may stand for a point without a word."""
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_SIZES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "capsule": (("radius", 1), ("length", 1)),
    "mesh": (),
}
"""Shapes and their positive numbers."""


def link_findings(tree: XmlTree, link: ET.Element) -> Iterator[Finding]:
    """Findings about one link."""
    inertial = link.find("inertial")
    if inertial is not None:
        yield from origin_findings(tree, link, inertial)
        yield from _inertia(tree, link, inertial)
    for kind in ("visual", "collision"):
        for element in link.findall(kind):
            yield from origin_findings(tree, link, element)
            yield from _geometry(tree, link, element)


def _inertia(tree: XmlTree, link: ET.Element, inertial: ET.Element) -> Iterator[Finding]:
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        yield blame(tree, "inertial-incomplete", link, f"<inertial> has no <{missing}>", inertial)
        return
    value = numbers(mass.get("value"), 1)
    if value is None or not 0 <= value[0] <= LARGEST:
        code = "mass-negative" if value and value[0] < 0 else "mass-number"
        yield blame(tree, code, link, f"mass {mass.get('value')!r:.60} must be a number, 0 or more", mass)
    entries = [numbers(inertia.get(key), 1) for key in _INERTIA]
    for key, entry in zip(_INERTIA, entries, strict=True):
        if entry is None:
            problem = f"inertia {key}={inertia.get(key)!r:.60} must be a finite number"
            yield blame(tree, "inertia-number", link, problem, inertia)
    if all(entries) and not any(entry[0] for entry in entries if entry) and value and value[0] > HEAVIEST_POINT:
        problem = f"a mass of {value[0]:g} kg with all of its inertia 0 is a point"
        yield blame(tree, "inertia-zero", link, problem, inertia)
    elif all(entries):
        yield from _moments(tree, link, inertia, [entry[0] for entry in entries if entry])


def _moments(tree: XmlTree, link: ET.Element, inertia: ET.Element, entries: list[float]) -> Iterator[Finding]:
    """Whether a body can have such principal moments: none negative, none above the sum of the others."""
    largest = max(map(abs, entries))
    if largest > LARGEST:
        yield blame(tree, "inertia-number", link, f"inertia {largest:.3g} kg m^2 is beyond all reason", inertia)
        return
    xx, xy, xz, yy, yz, zz = entries
    small, middle, large = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    rounding = 1e-6 * max(abs(small), abs(large))
    moments = f"principal moments {small:.3g}, {middle:.3g}, {large:.3g} kg m^2"
    if small < -rounding:
        yield blame(tree, "inertia-negative", link, f"{moments}: one is negative", inertia)
    elif small + middle < large - rounding:
        yield blame(tree, "inertia-triangle", link, f"{moments}: no body has one above the sum of the others", inertia)


def _geometry(tree: XmlTree, link: ET.Element, element: ET.Element) -> Iterator[Finding]:
    geometry = element.find("geometry")
    at = element if geometry is None else geometry
    shape = None if geometry is None else next(iter(geometry), None)
    if shape is None or shape.tag not in _SIZES:
        code = "geometry-empty" if shape is None else "shape-unknown"
        what = "is empty" if shape is None else f"<{shape.tag}> is not a URDF shape ({', '.join(_SIZES)})"
        yield blame(tree, code, link, f"{element.tag} geometry {what}", at)
        return
    if geometry is not None and len(geometry) > 1:
        yield blame(tree, "element-repeated", link, f"{element.tag} geometry has {len(geometry)} shapes", at)
    for key, count in _SIZES[shape.tag]:
        size = numbers(shape.get(key), count)
        if size is None or min(size) <= 0 or max(size) > 1e9:
            problem = f"<{shape.tag} {key}={shape.get(key)!r:.60}> of the {element.tag} must be positive"
            yield blame(tree, "shape-size", link, problem, shape)
    if shape.tag == "capsule" and tree.root.get("version") != "1.1":
        problem = "a capsule needs version 1.1 of the format; it is read as one"
        yield blame(tree, "capsule-version", link, problem, shape)
    if shape.tag == "mesh":
        yield from _mesh(tree, link, element, shape)


def _mesh(tree: XmlTree, link: ET.Element, element: ET.Element, mesh: ET.Element) -> Iterator[Finding]:
    yield from number_findings(tree, "mesh-scale-number", link, mesh, "scale", 3)
    scale = numbers(mesh.get("scale"), 3)
    if scale is not None and (0.0 in scale or max(map(abs, scale)) > 1e9):
        problem = f"{element.tag} mesh has scale {mesh.get('scale')!r:.60}, which leaves nothing of it"
        yield blame(tree, "shape-size", link, problem, mesh, remedy="write factors that are not 0")
    if not mesh.get("filename"):
        yield blame(tree, "mesh-unnamed", link, f"{element.tag} mesh has no filename", mesh)


def colour_findings(tree: XmlTree) -> Iterator[Finding]:
    """Findings about the colours of materials, wherever they are."""
    for owner in (tree.root, *tree.root.findall("link")):
        materials = owner.findall("material") if owner is tree.root else owner.findall("visual/material")
        for material in materials:
            for colour in material.findall("color"):
                if colour_of(colour) is None:
                    problem = f"<color rgba={colour.get('rgba')!r:.60}> must be four numbers from 0 to 1"
                    yield blame(tree, "colour-number", material if owner is tree.root else owner, problem, colour)


def colour_of(colour: ET.Element | None) -> list[float] | None:
    """Red, green, blue and alpha, None if there is none or they cannot be read."""
    values = None if colour is None else numbers(colour.get("rgba"), 4)
    return values if values is not None and all(0.0 <= value <= 1.0 for value in values) else None


def usable(element: ET.Element) -> bool:
    """Whether a visual or collision element has a shape that can be made."""
    empty = XmlTree(b"<robot/>", "")
    return not any(found.severity == WARNING for found in _geometry(empty, ET.Element("link"), element))
