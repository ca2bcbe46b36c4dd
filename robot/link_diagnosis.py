"""What is wrong with the links of a URDF: masses, inertias, geometries."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np

from .findings import ERROR, NOTE, WARNING, Finding, number_findings, numbers, origin_findings, title_of
from .xml_tree import XmlTree

_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
SHAPES = ("box", "cylinder", "sphere", "mesh")


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
    title, mass, inertia = title_of(link), inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        yield Finding(ERROR, tree.line(inertial), title, f"<inertial> has no <{missing}>")
        return
    value = numbers(mass.get("value"), 1)
    if value is None or value[0] < 0:
        yield Finding(ERROR, tree.line(mass), title, f"mass {mass.get('value')!r} must be a number, 0 or more [kg]")
    entries = [numbers(inertia.get(key), 1) for key in _INERTIA]
    for key, entry in zip(_INERTIA, entries, strict=True):
        if entry is None:
            message = f"inertia {key}={inertia.get(key)!r} must be a finite number"
            yield Finding(ERROR, tree.line(inertia), title, message)
    if all(entries):
        yield from _moments(tree, link, inertia, [entry[0] for entry in entries if entry])


def _moments(tree: XmlTree, link: ET.Element, inertia: ET.Element, entries: list[float]) -> Iterator[Finding]:
    """Whether a body can have such principal moments: none negative, none above the sum of the others."""
    xx, xy, xz, yy, yz, zz = entries
    small, middle, large = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    rounding = 1e-6 * max(abs(small), abs(large))
    moments = f"principal moments {small:.3g}, {middle:.3g}, {large:.3g} kg m^2"
    line, title = tree.line(inertia), title_of(link)
    if small < -rounding:
        yield Finding(WARNING, line, title, f"{moments}: one is negative, so the dynamics make no sense; used as it is")
    elif small + middle < large - rounding:
        yield Finding(NOTE, line, title, f"{moments}: no body has one above the sum of the others; used as it is")


def _geometry(tree: XmlTree, link: ET.Element, element: ET.Element) -> Iterator[Finding]:
    title, geometry = title_of(link), element.find("geometry")
    line = tree.line(element if geometry is None else geometry)
    shape = None if geometry is None else next(iter(geometry), None)
    if shape is None or shape.tag not in SHAPES:
        what = "is empty" if shape is None else f"<{shape.tag}> is not a URDF shape ({', '.join(SHAPES)})"
        yield Finding(WARNING, line, title, f"{element.tag} geometry {what}; it is left out")
        return
    needed = {"box": (("size", 3),), "cylinder": (("radius", 1), ("length", 1)), "sphere": (("radius", 1),), "mesh": ()}
    for key, count in needed[shape.tag]:
        size = numbers(shape.get(key), count)
        if size is None or min(size) <= 0:
            message = f"<{shape.tag} {key}={shape.get(key)!r}> must be positive; the {element.tag} is left out"
            yield Finding(WARNING, tree.line(shape), title, message)
    if shape.tag == "mesh":
        yield from number_findings(tree, link, shape, "scale", 3)
        if not shape.get("filename"):
            yield Finding(WARNING, tree.line(shape), title, f"{element.tag} mesh has no filename; it is left out")


def usable(element: ET.Element) -> bool:
    """Whether a visual or collision element has a shape that can be made."""
    empty = XmlTree(b"<robot/>", "")
    return not any(f.severity == WARNING for f in _geometry(empty, ET.Element("link"), element))
