"""What is wrong with the joints of a URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from .findings import ERROR, WARNING, Finding, closest, number_findings, numbers, origin_findings, title_of
from .xml_tree import XmlTree

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
ONE_DOF = ("revolute", "continuous", "prismatic")


def joint_findings(
    tree: XmlTree, joint: ET.Element, kinds: Mapping[str | None, str | None], mimics: set[str | None]
) -> Iterator[Finding]:
    """Findings about one joint.

    Args:
        tree: The description.
        joint: The element.
        kinds: Types of all joints by name.
        mimics: Names of the joints that mimic another.
    """
    kind, title, line = joint.get("type"), title_of(joint), tree.line(joint)
    if kind not in JOINT_TYPES:
        close = closest(kind or "", JOINT_TYPES)
        yield Finding(ERROR, line, title, f"type {kind!r} is none of {', '.join(JOINT_TYPES)}{close}")
        return
    yield from origin_findings(tree, joint, joint)
    if kind == "fixed":
        return
    axis = joint.find("axis")
    if axis is not None and kind != "floating":
        value = numbers(axis.get("xyz"), 3)
        if value is None or not any(value):
            message = f"axis {axis.get('xyz')!r} must be three numbers, not all 0"
            yield Finding(ERROR, tree.line(axis), title, message)
        elif not 1e-6 <= math.hypot(*value) <= 1e6:  # squares of the extremes under- and overflow
            message = f"axis {axis.get('xyz')!r} must be about of length 1"
            yield Finding(ERROR, tree.line(axis), title, message)
        elif kind == "planar" and (value[0] or value[1]):
            message = (
                f"planar joints move in x-y and turn about z; turn the origin so that axis {axis.get('xyz')!r} is z"
            )
            yield Finding(ERROR, tree.line(axis), title, message)
    dynamics = joint.find("dynamics")
    if dynamics is not None:
        for key in ("damping", "friction"):
            yield from number_findings(tree, joint, dynamics, key, 1)
            value = numbers(dynamics.get(key), 1)
            if value is not None and value[0] < 0:
                message = f"{key} {dynamics.get(key)!r} must not be negative"
                yield Finding(ERROR, tree.line(dynamics), title, message)
    if kind in ONE_DOF:
        yield from _limit(tree, joint, kind)
    yield from _mimic(tree, joint, kind, kinds, mimics)


def _limit(tree: XmlTree, joint: ET.Element, kind: str) -> Iterator[Finding]:
    title, limit = title_of(joint), joint.find("limit")
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


def _mimic(
    tree: XmlTree, joint: ET.Element, kind: str, kinds: Mapping[str | None, str | None], mimics: set[str | None]
) -> Iterator[Finding]:
    mimic, title = joint.find("mimic"), title_of(joint)
    if mimic is None:
        return
    line, leader = tree.line(mimic), mimic.get("joint")
    for key in ("multiplier", "offset"):
        yield from number_findings(tree, joint, mimic, key, 1)
    if kind not in ONE_DOF:
        yield Finding(ERROR, line, title, f"a {kind} joint cannot mimic another")
    if leader not in kinds:
        close = closest(leader or "", [name for name in kinds if name])
        yield Finding(ERROR, line, title, f"mimics joint {leader!r}, which does not exist{close}")
    elif leader == joint.get("name"):
        yield Finding(ERROR, line, title, "mimics itself")
    elif leader in mimics:
        yield Finding(ERROR, line, title, f"mimics {leader!r}, which mimics another joint; name the first leader")
    elif kinds[leader] not in ONE_DOF:
        yield Finding(ERROR, line, title, f"mimics {leader!r}, which is {kinds[leader]}")
