"""One thing that is wrong in a description, and how its numbers and elements are checked."""

from __future__ import annotations

import difflib
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .xml_tree import XmlTree

ERROR, WARNING, NOTE = "error", "warning", "note"
_COMPARED = 2000
"""Names among which a close one is looked for; more would take seconds."""


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


def title_of(element: ET.Element) -> str:
    """An element and its name, as in "joint 'elbow'"."""
    name = element.get("name")
    return f"{element.tag} {name!r}" if name else f"<{element.tag}> without a name"


def closest(name: str, options: Iterable[str]) -> str:
    """The end of a message that suggests the closest name, empty if there is none."""
    close = difflib.get_close_matches(name, list(options)[:_COMPARED], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def numbers(text: str | None, count: int) -> list[float] | None:
    """`count` finite numbers separated by white space, or None."""
    parts = (text or "").split()
    if not all(map(_NUMBER.fullmatch, parts)):  # float() also takes 1_0, infinity and digits of other scripts
        return None
    values = [float(part) for part in parts]
    return values if len(values) == count and all(map(math.isfinite, values)) else None


def number_findings(tree: XmlTree, owner: ET.Element, element: ET.Element, key: str, count: int) -> Iterator[Finding]:
    """An error if an attribute is given and is not `count` finite numbers."""
    text = element.get(key)
    if text is not None and numbers(text, count) is None:
        need = "one finite number" if count == 1 else f"{count} finite numbers"
        yield Finding(ERROR, tree.line(element), title_of(owner), f"<{element.tag} {key}={text!r}> must be {need}")


def origin_findings(tree: XmlTree, owner: ET.Element, parent: ET.Element) -> Iterator[Finding]:
    """Errors of the origin of an element that belongs to a link or joint."""
    origins = parent.findall("origin")
    if len(origins) > 1:
        yield Finding(ERROR, tree.line(origins[1]), title_of(owner), f"<{parent.tag}> has two origins; keep one")
    for origin in origins[:1]:
        for key in ("xyz", "rpy"):
            yield from number_findings(tree, owner, origin, key, 3)
