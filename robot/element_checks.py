"""Checks that all elements of a URDF share: their numbers, their origins, findings about them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from .findings import Finding, finding
from .xml_tree import XmlTree

LARGEST = 1e12
"""Numbers of a description beyond this are damage, and overflow when a few of them are multiplied."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def numbers(text: str | None, count: int) -> list[float] | None:
    """`count` finite numbers separated by white space, or None."""
    parts = (text or "").split()
    if not all(map(_NUMBER.fullmatch, parts)):  # float() also takes 1_0, infinity and digits of other scripts
        return None
    values = [float(part) for part in parts]
    return values if len(values) == count and all(map(math.isfinite, values)) else None


def blame(
    tree: XmlTree,
    code: str,
    owner: ET.Element,
    problem: str,
    at: ET.Element | None = None,
    effect: str | None = None,
    remedy: str | None = None,
) -> Finding:
    """A finding about an element.

    Args:
        tree: The description.
        code: What kind of thing is wrong.
        owner: The link, joint or other named element it belongs to.
        problem: What is wrong.
        at: The element in it on whose line it is; None is the owner itself.
        effect: What follows, if not what always follows.
        remedy: What helps, if not what always helps.
    """
    line = tree.line(owner if at is None else at)
    name = owner.get("name") or ""
    return finding(code, line, owner.tag if name else f"<{owner.tag}>", name, problem, effect, remedy)


def number_findings(
    tree: XmlTree, code: str, owner: ET.Element, element: ET.Element, key: str, count: int
) -> Iterator[Finding]:
    """An error if an attribute is given and is not `count` finite numbers of any sense."""
    text = element.get(key)
    values = numbers(text, count)
    if text is not None and (values is None or max(map(abs, values)) > LARGEST):
        need = "one finite number" if count == 1 else f"{count} finite numbers"
        need += "" if values is None else f" up to {LARGEST:g}"
        yield blame(tree, code, owner, f"<{element.tag} {key}={text!r:.60}> must be {need}", element)


TURN = 2.0 * math.pi


def origin_findings(tree: XmlTree, owner: ET.Element, parent: ET.Element) -> Iterator[Finding]:
    """Errors of the origin of an element that belongs to a link or joint."""
    origins = parent.findall("origin")
    if len(origins) > 1:
        yield blame(tree, "element-repeated", owner, f"<{parent.tag}> has two origins", origins[1])
    for origin in origins[:1]:
        for key in ("xyz", "rpy"):
            yield from number_findings(tree, "origin-number", owner, origin, key, 3)
        turns = numbers(origin.get("rpy"), 3) or [0.0]
        if max(map(abs, turns)) > 1.01 * TURN:
            problem = f"rpy {origin.get('rpy')!r:.60} turns by more than a whole turn; these look like degrees"
            yield blame(tree, "angle-degrees", owner, problem, origin)
