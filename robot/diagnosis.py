"""What is wrong with a URDF, all at once: each finding with its code, line, the element's name, effect and remedy."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from .element_checks import blame
from .findings import ERROR, NOTE, WARNING, Finding, finding
from .joint_diagnosis import joint_findings
from .link_diagnosis import colour_findings, link_findings
from .spelling import spelling_findings
from .xml_tree import XmlTree

__all__ = ["ERROR", "NOTE", "WARNING", "Finding", "diagnose"]

_ONCE = {
    "joint": ("parent", "child", "axis", "limit", "dynamics", "mimic"),
    "link": ("inertial",),
    "inertial": ("mass", "inertia"),
    "visual": ("geometry",),
    "collision": ("geometry",),
}
"""Elements of which Pinocchio would read the first only."""
_RESERVED = {"joint": "universe"}
"""Names that Pinocchio needs itself."""
OTHER_FORMATS = {"sdf": "an SDF", "mujoco": "an MJCF", "mujocoinclude": "an MJCF"}


def diagnose(tree: XmlTree) -> list[Finding]:
    """Everything found in a description, in the order of its lines."""
    if tree.root.tag != "robot":
        other = OTHER_FORMATS.get(tree.root.tag)
        code = "format-other" if other else "format-unknown"
        problem = f"this is {other} file, not a URDF" if other else "this is not a URDF; a URDF starts with <robot>"
        return [blame(tree, code, tree.root, problem)]
    left = list(_unexpanded(tree))
    if any(one.code == "xacro-left" for one in left):  # nothing else means anything before it is expanded
        return [next(one for one in left if one.code == "xacro-left")]
    found = [
        *_names(tree),
        *_repeated(tree),
        *left,
        *_structure(tree),
        *spelling_findings(tree),
        *colour_findings(tree),
    ]
    for link in tree.root.findall("link"):
        found += link_findings(tree, link)
    joints = tree.root.findall("joint")
    kinds = {joint.get("name"): joint.get("type") for joint in joints}
    mimics = {joint.get("name") for joint in joints if joint.find("mimic") is not None}
    for joint in joints:
        found += joint_findings(tree, joint, kinds, mimics)
    return sorted(found, key=lambda one: one.line)


def _names(tree: XmlTree) -> Iterator[Finding]:
    for tag in ("link", "joint"):
        first: dict[str, int] = {}
        for element in tree.root.findall(tag):
            name = element.get("name")
            if not name:
                yield blame(tree, "name-missing", element, "has no name")
            elif name in first:
                yield blame(tree, "name-taken", element, f"this name is taken by line {first[name]}")
            else:
                first[name] = tree.line(element)
            if name and name == _RESERVED.get(tag):
                yield blame(tree, "name-reserved", element, "is Pinocchio's name for the world")
    if tree.root.find("link") is None:
        yield blame(tree, "links-none", tree.root, "has no links")


def _repeated(tree: XmlTree) -> Iterator[Finding]:
    for owner in (*tree.root.findall("link"), *tree.root.findall("joint")):
        for element in (owner, *owner):
            for part in _ONCE.get(element.tag, ()):
                for again in element.findall(part)[1:]:
                    yield blame(tree, "element-repeated", owner, f"has another <{part}>", again)


def _unexpanded(tree: XmlTree) -> Iterator[Finding]:
    for element in tree.root.iter():
        line = tree.line(element)
        if ":" in element.tag and element.tag.split(":")[0] == "xacro":
            yield finding("xacro-left", line, f"<{element.tag}>", "", "this file is xacro, a URDF in the making")
        for key, value in element.attrib.items():
            if "${" in value or "$(" in value:
                yield finding("expression-left", line, f"<{element.tag} {key}>", "", f"{value!r:.60} was not expanded")


def _structure(tree: XmlTree) -> Iterator[Finding]:
    """Whether the joints make one tree of the links."""
    links = {name for link in tree.root.findall("link") if (name := link.get("name"))}
    above: dict[str, tuple[str, str]] = {}
    for joint in tree.root.findall("joint"):
        ends = [_end(joint, "parent"), _end(joint, "child")]
        for tag, end in zip(("parent", "child"), ends, strict=True):
            if not end:
                yield blame(tree, "joint-end-missing", joint, f'has no <{tag} link="...">')
            elif end not in links:
                problem = f"its {tag} {end!r} does not exist" + tree.names.closest(end, links)
                yield blame(tree, "joint-end-unknown", joint, problem)
        parent, child = ends
        if not parent or not child or parent not in links or child not in links:
            continue
        if parent == child:
            yield blame(tree, "joint-own-child", joint, f"parent and child are the same link {child!r}")
        elif child in above:
            problem = f"link {child!r} hangs on joint {above[child][0]!r} already"
            yield blame(tree, "link-two-parents", joint, problem)
        else:
            above[child] = joint.get("name") or "?", parent
    yield from _roots(tree, links, above)


def _roots(tree: XmlTree, links: set[str], above: dict[str, tuple[str, str]]) -> Iterator[Finding]:
    roots = [
        str(link.get("name"))
        for link in tree.root.findall("link")
        if link.get("name") and link.get("name") not in above
    ]
    if len(roots) > 1:
        some = ", ".join(map(repr, roots[:5])) + (", ..." if len(roots) > 5 else "")
        yield finding("roots-several", 0, "<robot>", "", f"has {len(roots)} root links ({some})")
    rooted: set[str] = set(roots)
    for start in above:
        path: dict[str, None] = {}  # a set that remembers the order
        link = start
        while link not in rooted and link not in path:
            path[link] = None
            link = above[link][1]
        if link in path:
            members = list(path)
            cycle = members[members.index(link) :]
            names = " -> ".join(above[member][0] for member in cycle[:20]) + (" -> ..." if len(cycle) > 20 else "")
            yield finding("joint-loop", 0, "<robot>", "", f"the joints {names} make a loop")
        rooted.update(path)


def _end(joint: ET.Element, tag: str) -> str | None:
    end = joint.find(tag)
    return None if end is None else end.get("link")
