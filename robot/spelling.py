"""Elements and attributes of a URDF whose names are slightly wrong; every reader passes over them in silence."""

from __future__ import annotations

import difflib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator

from .element_checks import blame
from .findings import Finding
from .xml_tree import XmlTree

_SHAPES = ("box", "cylinder", "sphere", "mesh", "capsule")
_BODY = ("origin", "geometry", "material", "verbose", "contact_coefficients")
_PARTS: dict[str, tuple[str, ...]] = {
    "robot": ("link", "joint", "material", "transmission", "gazebo", "sensor"),
    "link": ("inertial", "visual", "collision", "sensor", "contact", "verbose"),
    "joint": (
        *("origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic"),
        *("safety_controller", "actuator", "hardwareInterface"),
    ),
    "inertial": ("origin", "mass", "inertia"),
    "visual": _BODY,
    "collision": _BODY,
    "geometry": _SHAPES,
}
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "origin": ("xyz", "rpy"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "dynamics": ("damping", "friction"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "mimic": ("joint", "multiplier", "offset"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "mesh": ("filename", "scale"),
}
_CLOSE = 0.75
"""How alike two names must be for one to be a slip of the other: orgin and origin are, contact and child are not."""


def spelling_findings(tree: XmlTree) -> Iterator[Finding]:
    """Findings about every element and attribute that is close to one with a meaning, but is none."""
    yield from _parts(tree, tree.root, tree.root)
    for owner in (*tree.root.findall("link"), *tree.root.findall("joint")):
        for element in owner.iter():
            yield from _parts(tree, owner, element)
            yield from _attributes(tree, owner, element)


def _parts(tree: XmlTree, owner: ET.Element, element: ET.Element) -> Iterator[Finding]:
    known = _PARTS.get(element.tag, ())
    for part in element if known else ():
        meant = _meant(part.tag, known)
        if meant is not None:
            problem = f"<{part.tag}> means nothing; did you mean <{meant}>?"
            yield blame(tree, "element-misspelt", owner, problem, part)


def _attributes(tree: XmlTree, owner: ET.Element, element: ET.Element) -> Iterator[Finding]:
    known = _ATTRIBUTES.get(element.tag, ())
    for key in element.attrib if known else ():
        meant = _meant(key, [name for name in known if name not in element.attrib])
        if key not in known and meant is not None:
            problem = f"<{element.tag} {key}=...> means nothing; did you mean {meant}?"
            yield blame(tree, "attribute-misspelt", owner, problem, element)


def _meant(name: str, known: Iterable[str]) -> str | None:
    """The known name of which `name` is a slip, None if it is known itself or like none."""
    if name in known or ":" in name:
        return None
    letters = sorted(name.lower())
    swapped = next((k for k in known if sorted(k) == letters), None)
    if swapped is not None:
        return swapped
    close = difflib.get_close_matches(name.lower()[:40], [k.lower() for k in known], n=1, cutoff=_CLOSE)
    return next((k for k in known if k.lower() == close[0]), None) if close else None
