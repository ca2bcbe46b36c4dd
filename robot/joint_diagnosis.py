"""What is wrong with the joints of a URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from .element_checks import TURN, blame, number_findings, numbers, origin_findings
from .findings import Finding
from .xml_tree import XmlTree

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOST_TURNS = 6.5
"""Turns between the limits of a revolute joint beyond which they are taken for degrees; real ones have up to 6."""
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
    kind = joint.get("type")
    if kind not in JOINT_TYPES:
        close = tree.names.closest(kind or "", JOINT_TYPES)
        problem = f"type {kind!r:.60} is none of {', '.join(JOINT_TYPES)}{close}"
        yield blame(tree, "joint-type-unknown", joint, problem)
        return
    yield from origin_findings(tree, joint, joint)
    if kind == "fixed":
        return
    if kind != "floating":
        yield from _axis(tree, joint, kind)
    yield from _dynamics(tree, joint)
    if kind in ONE_DOF:
        yield from _limit(tree, joint, kind)
    yield from _mimic(tree, joint, kind, kinds, mimics)


def _axis(tree: XmlTree, joint: ET.Element, kind: str) -> Iterator[Finding]:
    axis = joint.find("axis")
    if axis is None:
        return
    text, value = axis.get("xyz"), numbers(axis.get("xyz"), 3)
    if value is None or not any(value):
        yield blame(tree, "axis-number", joint, f"axis {text!r:.60} must be three numbers, not all 0", axis)
    elif not 1e-6 <= math.hypot(*value) <= 1e6:  # squares of the extremes under- and overflow
        yield blame(tree, "axis-length", joint, f"axis {text!r:.60} must be about of length 1", axis)
    elif kind == "planar" and (value[0] or value[1]):
        problem = f"planar joints move in x-y and turn about z, not about axis {text!r:.60}"
        yield blame(tree, "axis-planar", joint, problem, axis)


def _dynamics(tree: XmlTree, joint: ET.Element) -> Iterator[Finding]:
    dynamics = joint.find("dynamics")
    for key in ("damping", "friction") if dynamics is not None else ():
        assert dynamics is not None
        yield from number_findings(tree, "dynamics-number", joint, dynamics, key, 1)
        value = numbers(dynamics.get(key), 1)
        if value is not None and value[0] < 0:
            problem = f"{key} {dynamics.get(key)!r:.60} must not be negative"
            yield blame(tree, "dynamics-negative", joint, problem, dynamics)


def _limit(tree: XmlTree, joint: ET.Element, kind: str) -> Iterator[Finding]:
    limit = joint.find("limit")
    if limit is None:
        if kind != "continuous":
            yield blame(tree, "limit-missing", joint, "has no <limit>")
        return
    for key in ("effort", "velocity"):
        yield from _rate(tree, joint, limit, key)
    bounds = {}
    for key in ("lower", "upper"):
        bounds[key] = numbers(limit.get(key), 1)
        if limit.get(key) is not None and bounds[key] is None:  # of any size: what is huge means no limit
            problem = f"<limit {key}={limit.get(key)!r:.60}> must be one finite number"
            yield blame(tree, "limit-number", joint, problem, limit)
        if limit.get(key) is None and kind != "continuous":
            yield blame(tree, "limit-bound-missing", joint, f"limit has no {key}", limit)
    lower, upper = bounds["lower"], bounds["upper"]
    if kind == "continuous" or not lower or not upper:
        return
    if lower[0] > upper[0]:
        problem = f"lower limit {lower[0]:g} exceeds upper limit {upper[0]:g}"
        yield blame(tree, "limit-crossed", joint, problem, limit)
    elif kind == "revolute" and _in_degrees(lower[0], upper[0]):
        turns = f"{(upper[0] - lower[0]) / TURN:.0f} turns"
        problem = f"limits {lower[0]:g} and {upper[0]:g} rad are {turns}; these look like degrees"
        yield blame(tree, "angle-degrees", joint, problem, limit)
    elif lower[0] == upper[0]:
        yield blame(tree, "joint-locked", joint, f"lower and upper limit are both {lower[0]:g}", limit)


def _in_degrees(lower: float, upper: float) -> bool:
    """Whether a joint turns further than any cable lets it, but not beyond what stands for no limit."""
    return MOST_TURNS * TURN < upper - lower < 1e4 and max(abs(lower), abs(upper)) <= 720.0


def _rate(tree: XmlTree, joint: ET.Element, limit: ET.Element, key: str) -> Iterator[Finding]:
    text, value = limit.get(key), numbers(limit.get(key), 1)
    if text is None:
        yield blame(tree, "limit-rate-missing", joint, f"limit {key} is missing", limit)
    elif value is None and not _infinite(text):
        yield blame(tree, "limit-number", joint, f"<limit {key}={text!r:.60}> must be one finite number", limit)
    elif value is not None and value[0] < 0:
        yield blame(tree, "limit-negative", joint, f"limit {key}={text!r:.60} must not be negative", limit)
    elif value is not None and value[0] == 0:
        yield blame(tree, "limit-rate-zero", joint, f"limit {key} is 0", limit)


def _infinite(text: str) -> bool:
    try:
        return float(text) == math.inf
    except ValueError:
        return False


def _mimic(
    tree: XmlTree, joint: ET.Element, kind: str, kinds: Mapping[str | None, str | None], mimics: set[str | None]
) -> Iterator[Finding]:
    mimic = joint.find("mimic")
    if mimic is None:
        return
    leader = mimic.get("joint")
    for key in ("multiplier", "offset"):
        yield from number_findings(tree, "mimic-number", joint, mimic, key, 1)
    if kind not in ONE_DOF:
        yield blame(tree, "mimic-joint-type", joint, f"a {kind} joint cannot mimic another", mimic)
    if leader not in kinds:
        close = tree.names.closest(leader or "", (name for name in kinds if name))
        problem = f"mimics joint {leader!r}, which does not exist{close}"
        yield blame(tree, "mimic-leader-unknown", joint, problem, mimic)
    elif leader == joint.get("name"):
        yield blame(tree, "mimic-self", joint, "mimics itself", mimic)
    elif leader in mimics:
        yield blame(tree, "mimic-chain", joint, f"mimics {leader!r}, which mimics another joint", mimic)
    elif kinds[leader] not in ONE_DOF:
        yield blame(tree, "mimic-leader-type", joint, f"mimics {leader!r}, which is {kinds[leader]}", mimic)
