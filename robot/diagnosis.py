"""What is wrong with a URDF, all at once: each finding with its line, the element's name, effect and remedy."""

from __future__ import annotations

import difflib
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .xml_tree import XmlTree

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SHAPES = ("box", "cylinder", "sphere", "mesh")
ONE_DOF = ("revolute", "continuous", "prismatic")
ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or was guessed at."""

    severity: str
    """"error": no robot can be made; "warning": one can, under the assumption named; "note": good to know."""
    line: int
    """In the file; 0 where no single line is to blame."""
    where: str
    """The element and its name, for example "joint 'elbow'"."""
    message: str
    """What is wrong, the effect, the remedy."""

    def __str__(self) -> str:
        return (f"line {self.line}: " if self.line else "") + f"{self.where}: {self.message}"


def diagnose(tree: XmlTree) -> list[Finding]:
    """Everything found in a description, in the order of its lines."""
    if tree.root.tag != "robot":
        other = {"sdf": "an SDF", "mujoco": "an MJCF", "mujocoinclude": "an MJCF"}.get(tree.root.tag)
        what = f"this is {other} file, not a URDF" if other else "a URDF starts with <robot>"
        return [Finding(ERROR, tree.line(tree.root), f"<{tree.root.tag}>", what)]
    found = [*_names(tree), *_unexpanded(tree), *_structure(tree)]
    for link in tree.root.findall("link"):
        found += _link(tree, link)
    mimics = {j.get("name") for j in tree.root.findall("joint") if j.find("mimic") is not None}
    for joint in tree.root.findall("joint"):
        found += _joint(tree, joint, mimics)
    return sorted(found, key=lambda finding: finding.line)


def _title(element: ET.Element) -> str:
    name = element.get("name")
    return f"{element.tag} {name!r}" if name else f"<{element.tag}> without a name"


def _names(tree: XmlTree) -> Iterator[Finding]:
    for tag in ("link", "joint"):
        first: dict[str, int] = {}
        for element in tree.root.findall(tag):
            name, line = element.get("name"), tree.line(element)
            if not name:
                yield Finding(ERROR, line, f"<{tag}>", "has no name; give it one")
            elif name in first:
                yield Finding(ERROR, line, _title(element), f"this name is taken by line {first[name]}; rename one")
            else:
                first[name] = line
    if tree.root.find("link") is None:
        yield Finding(ERROR, tree.line(tree.root), "<robot>", "has no links")


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
        line, title = tree.line(joint), _title(joint)
        ends = [_end(joint, "parent"), _end(joint, "child")]
        for tag, end in zip(("parent", "child"), ends, strict=True):
            if not end:
                yield Finding(ERROR, line, title, f'has no <{tag} link="...">')
            elif end not in links:
                yield Finding(ERROR, line, title, f"its {tag} {end!r} does not exist" + _close(end, links))
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
        path: list[str] = []
        link = start
        while link not in rooted and link not in path:
            path.append(link)
            link = above[link][1]
        if link in path:
            cycle = path[path.index(link) :]
            names = " -> ".join(above[member][0] for member in cycle)
            yield Finding(ERROR, 0, "<robot>", f"the joints {names} make a loop; a robot must be a tree")
        rooted.update(path)


def _end(joint: ET.Element, tag: str) -> str | None:
    end = joint.find(tag)
    return None if end is None else end.get("link")


def _close(name: str, options: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(options), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def numbers(text: str | None, count: int) -> list[float] | None:
    """`count` finite numbers separated by white space, or None."""
    try:
        values = [float(part) for part in (text or "").split()]
    except ValueError:
        return None
    return values if len(values) == count and all(map(math.isfinite, values)) else None


def _vector(tree: XmlTree, owner: ET.Element, element: ET.Element, key: str, count: int) -> Iterator[Finding]:
    text = element.get(key)
    if text is not None and numbers(text, count) is None:
        need = "one finite number" if count == 1 else f"{count} finite numbers"
        yield Finding(ERROR, tree.line(element), _title(owner), f"<{element.tag} {key}={text!r}> must be {need}")


def _origins(tree: XmlTree, owner: ET.Element, parent: ET.Element) -> Iterator[Finding]:
    origins = parent.findall("origin")
    if len(origins) > 1:
        yield Finding(ERROR, tree.line(origins[1]), _title(owner), f"<{parent.tag}> has two origins; keep one")
    for origin in origins[:1]:
        for key in ("xyz", "rpy"):
            yield from _vector(tree, owner, origin, key, 3)


def _link(tree: XmlTree, link: ET.Element) -> Iterator[Finding]:
    inertial = link.find("inertial")
    if inertial is not None:
        yield from _origins(tree, link, inertial)
        yield from _inertia(tree, link, inertial)
    for kind in ("visual", "collision"):
        for element in link.findall(kind):
            yield from _origins(tree, link, element)
            yield from _geometry(tree, link, element)


def _inertia(tree: XmlTree, link: ET.Element, inertial: ET.Element) -> Iterator[Finding]:
    title, mass, inertia = _title(link), inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        yield Finding(ERROR, tree.line(inertial), title, f"<inertial> has no <{missing}>")
        return
    value = numbers(mass.get("value"), 1)
    if value is None or value[0] < 0:
        yield Finding(ERROR, tree.line(mass), title, f"mass {mass.get('value')!r} must be a number, 0 or more [kg]")
    for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
        if numbers(inertia.get(key), 1) is None:
            yield Finding(
                ERROR, tree.line(inertia), title, f"inertia {key}={inertia.get(key)!r} must be a finite number"
            )


def _geometry(tree: XmlTree, link: ET.Element, element: ET.Element) -> Iterator[Finding]:
    title, geometry = _title(link), element.find("geometry")
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
        yield from _vector(tree, link, shape, "scale", 3)
        if not shape.get("filename"):
            yield Finding(WARNING, tree.line(shape), title, f"{element.tag} mesh has no filename; it is left out")


def usable(element: ET.Element) -> bool:
    """Whether a visual or collision element has a shape that can be made."""
    empty = XmlTree(b"<robot/>", "")
    return not any(f.severity == WARNING for f in _geometry(empty, ET.Element("link"), element))


def _joint(tree: XmlTree, joint: ET.Element, mimics: set[str | None]) -> Iterator[Finding]:
    kind, title, line = joint.get("type"), _title(joint), tree.line(joint)
    if kind not in JOINT_TYPES:
        close = _close(kind or "", JOINT_TYPES)
        yield Finding(ERROR, line, title, f"type {kind!r} is none of {', '.join(JOINT_TYPES)}{close}")
        return
    yield from _origins(tree, joint, joint)
    if kind == "fixed":
        return
    axis = joint.find("axis")
    if axis is not None and kind != "floating":
        value = numbers(axis.get("xyz"), 3)
        if value is None or not any(value):
            message = f"axis {axis.get('xyz')!r} must be three numbers, not all 0"
            yield Finding(ERROR, tree.line(axis), title, message)
    dynamics = joint.find("dynamics")
    if dynamics is not None:
        for key in ("damping", "friction"):
            yield from _vector(tree, joint, dynamics, key, 1)
    if kind in ONE_DOF:
        yield from _limit(tree, joint, kind)
    yield from _mimic(tree, joint, kind, mimics)


def _limit(tree: XmlTree, joint: ET.Element, kind: str) -> Iterator[Finding]:
    title, limit = _title(joint), joint.find("limit")
    if limit is None:
        if kind != "continuous":
            yield Finding(WARNING, tree.line(joint), title, "has no <limit>; it is taken as unlimited")
        return
    line, bounds = tree.line(limit), {}
    for key in ("lower", "upper", "effort", "velocity"):
        text = limit.get(key)
        value = numbers(text, 1)
        if text is not None and value is None and not (key in ("effort", "velocity") and _infinite(text)):
            yield Finding(ERROR, line, title, f"limit {key}={text!r} must be a finite number")
        elif key in ("lower", "upper"):
            bounds[key] = value
            if text is None and kind != "continuous":
                yield Finding(WARNING, line, title, f"limit has no {key}; it is taken as unlimited on that side")
        elif value is not None and value[0] < 0:
            yield Finding(ERROR, line, title, f"limit {key}={text!r} must not be negative")
        elif (value is None and text is None) or (value is not None and value[0] == 0):
            what = "is 0" if text is not None else "is missing"
            yield Finding(WARNING, line, title, f"limit {key} {what}; it is taken as unlimited")
    lower, upper = bounds.get("lower"), bounds.get("upper")
    if kind != "continuous" and lower and upper and lower[0] > upper[0]:
        yield Finding(ERROR, line, title, f"lower limit {lower[0]:g} exceeds upper limit {upper[0]:g}; swap them")


def _infinite(text: str) -> bool:
    try:
        return float(text) == math.inf
    except ValueError:
        return False


def _mimic(tree: XmlTree, joint: ET.Element, kind: str, mimics: set[str | None]) -> Iterator[Finding]:
    mimic, title = joint.find("mimic"), _title(joint)
    if mimic is None:
        return
    line, leader = tree.line(mimic), mimic.get("joint")
    for key in ("multiplier", "offset"):
        yield from _vector(tree, joint, mimic, key, 1)
    kinds = {j.get("name"): j.get("type") for j in tree.root.findall("joint")}
    if kind not in ONE_DOF:
        yield Finding(ERROR, line, title, f"a {kind} joint cannot mimic another")
    if leader not in kinds:
        close = _close(leader or "", [name for name in kinds if name])
        yield Finding(ERROR, line, title, f"mimics joint {leader!r}, which does not exist{close}")
    elif leader == joint.get("name"):
        yield Finding(ERROR, line, title, "mimics itself")
    elif leader in mimics:
        yield Finding(ERROR, line, title, f"mimics {leader!r}, which mimics another joint; name the first leader")
    elif kinds[leader] not in ONE_DOF:
        yield Finding(ERROR, line, title, f"mimics {leader!r}, which is {kinds[leader]}")
