"""What is wrong with a URDF, all at once: each finding with its line, the element's name, effect and remedy."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from .findings import ERROR, NOTE, WARNING, Finding, closest, title_of
from .joint_diagnosis import joint_findings
from .link_diagnosis import link_findings
from .xml_tree import XmlTree

__all__ = ["ERROR", "NOTE", "WARNING", "Finding", "diagnose"]

_ONCE = {
    "joint": ("parent", "child", "axis", "limit", "dynamics", "mimic"),
    "link": ("inertial",),
}
"""Elements of which Pinocchio would read the first only."""
_RESERVED = {"joint": "universe"}
"""Names that Pinocchio needs itself."""


def diagnose(tree: XmlTree) -> list[Finding]:
    """Everything found in a description, in the order of its lines."""
    if tree.root.tag != "robot":
        other = {"sdf": "an SDF", "mujoco": "an MJCF", "mujocoinclude": "an MJCF"}.get(tree.root.tag)
        what = f"this is {other} file, not a URDF" if other else "a URDF starts with <robot>"
        return [Finding(ERROR, tree.line(tree.root), f"<{tree.root.tag}>", what)]
    found = [*_names(tree), *_repeated(tree), *_unexpanded(tree), *_structure(tree)]
    for link in tree.root.findall("link"):
        found += link_findings(tree, link)
    joints = tree.root.findall("joint")
    kinds = {joint.get("name"): joint.get("type") for joint in joints}
    mimics = {joint.get("name") for joint in joints if joint.find("mimic") is not None}
    for joint in joints:
        found += joint_findings(tree, joint, kinds, mimics)
    return sorted(found, key=lambda finding: finding.line)


def _names(tree: XmlTree) -> Iterator[Finding]:
    for tag in ("link", "joint"):
        first: dict[str, int] = {}
        for element in tree.root.findall(tag):
            name, line = element.get("name"), tree.line(element)
            if not name:
                yield Finding(ERROR, line, f"<{tag}>", "has no name; give it one")
            elif name in first:
                yield Finding(ERROR, line, title_of(element), f"this name is taken by line {first[name]}; rename one")
            else:
                first[name] = line
            if name and name == _RESERVED.get(tag):
                yield Finding(ERROR, line, title_of(element), "is Pinocchio's name for the world; rename it")
    if tree.root.find("link") is None:
        yield Finding(ERROR, tree.line(tree.root), "<robot>", "has no links")


def _repeated(tree: XmlTree) -> Iterator[Finding]:
    for tag, parts in _ONCE.items():
        for element in tree.root.findall(tag):
            for part in parts:
                for again in element.findall(part)[1:]:
                    yield Finding(ERROR, tree.line(again), title_of(element), f"has another <{part}>; keep one")


def _unexpanded(tree: XmlTree) -> Iterator[Finding]:
    for element in tree.root.iter():
        if ":" in element.tag and element.tag.split(":")[0] == "xacro":
            yield Finding(ERROR, tree.line(element), f"<{element.tag}>", "is xacro; run the file through xacro first")
        for key, value in element.attrib.items():
            if "${" in value or "$(" in value:
                where = f"<{element.tag} {key}>"
                yield Finding(ERROR, tree.line(element), where, f"{value!r} was not expanded; run xacro first")


def _structure(tree: XmlTree) -> Iterator[Finding]:
    """Whether the joints make one tree of the links."""
    links = {name for link in tree.root.findall("link") if (name := link.get("name"))}
    above: dict[str, tuple[str, str]] = {}
    for joint in tree.root.findall("joint"):
        line, title = tree.line(joint), title_of(joint)
        ends = [_end(joint, "parent"), _end(joint, "child")]
        for tag, end in zip(("parent", "child"), ends, strict=True):
            if not end:
                yield Finding(ERROR, line, title, f'has no <{tag} link="...">')
            elif end not in links:
                yield Finding(ERROR, line, title, f"its {tag} {end!r} does not exist" + closest(end, links))
        parent, child = ends
        if not parent or not child or parent not in links or child not in links:
            continue
        if parent == child:
            yield Finding(ERROR, line, title, f"parent and child are the same link {child!r}")
        elif child in above:
            other = above[child][0]
            yield Finding(ERROR, line, title, f"link {child!r} hangs on joint {other!r} already; a link has one parent")
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
        listed = ", ".join(map(repr, roots[:5])) + (", ..." if len(roots) > 5 else "")
        yield Finding(ERROR, 0, "<robot>", f"has {len(roots)} root links ({listed}); join them by a fixed joint")
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
            names = " -> ".join(above[member][0] for member in cycle)
            yield Finding(ERROR, 0, "<robot>", f"the joints {names} make a loop; a robot must be a tree")
        rooted.update(path)


def _end(joint: ET.Element, tag: str) -> str | None:
    end = joint.find(tag)
    return None if end is None else end.get("link")
