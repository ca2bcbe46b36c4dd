"""Reading and writing SRDF files."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .description_source import LARGEST_FILE, read_source
from .element_checks import blame, numbers
from .errors import DescriptionError, InputError, InputTypeError
from .findings import Finding
from .srdf_parts import LinkPair, SrdfEndEffector, SrdfGroup, SrdfState
from .xml_tree import XmlTree

if TYPE_CHECKING:
    from .srdf import Srdf

T = TypeVar("T")

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_KNOWN = (
    "group",
    "group_state",
    "end_effector",
    "disable_collisions",
    "enable_collisions",
    "disable_default_collisions",
)


def read_srdf(path: Any) -> dict[str, Any]:
    """The fields of the SRDF in a file."""
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise InputTypeError(f"path must be the path of an SRDF file, got {type(path).__name__}")
    source = read_source(Path(path))
    return parse_srdf(source.data, source.name)


def parse_srdf(text: str | bytes, source: str) -> dict[str, Any]:
    """The fields of the SRDF in XML text."""
    if not isinstance(text, str | bytes):
        raise InputTypeError(f"text must be XML text, got {type(text).__name__}")
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > LARGEST_FILE:
        raise DescriptionError(f"{source} is larger than {LARGEST_FILE // 2**20} MB; this is no SRDF")
    tree = XmlTree(data, source)
    if tree.root.tag != "robot":
        raise DescriptionError(f"{source}:{tree.line(tree.root)}: an SRDF starts with <robot>, not <{tree.root.tag}>")
    return _Reader(tree).fields()


class _Reader:
    """One document while it is read: findings gather on the way."""

    def __init__(self, tree: XmlTree) -> None:
        self.tree = tree
        self.found: list[Finding] = []

    def fields(self) -> dict[str, Any]:
        """Everything the document says."""
        root = self.tree.root
        if root.find("link") is not None or root.find("joint") is not None:
            self._note("srdf-foreign", root, "has links and joints like a URDF")
        return dict(
            name=root.get("name") or "",
            groups=self._each("group", self._group),
            states=self._each("group_state", self._state),
            end_effectors=self._each("end_effector", self._tool),
            disabled_pairs=self._pairs("disable_collisions"),
            enabled_pairs=self._pairs("enable_collisions"),
            unchecked_links=self._each("disable_default_collisions", lambda e: self._attributes(e, "link")[0]),
            others=tuple(_bare(element) for element in root if element.tag not in _KNOWN),
            findings=tuple(sorted(self.found, key=lambda finding: finding.line)),
        )

    def _note(self, code: str, element: ET.Element, problem: str) -> None:
        self.found.append(blame(self.tree, code, element, problem))

    def _each(self, tag: str, read: Callable[[ET.Element], T]) -> tuple[T, ...]:
        return tuple(self._readable(self.tree.root, tag, read))

    def _readable(self, parent: ET.Element, tag: str, read: Callable[[ET.Element], T]) -> Iterator[T]:
        for element in parent.findall(tag):
            try:
                yield read(element)
            except _IncompleteError as error:
                self._note("srdf-incomplete", element, str(error))

    def _attributes(self, element: ET.Element, *names: str) -> list[str]:
        for name in names:
            if not element.get(name):
                raise _IncompleteError(f"<{element.tag}> has no {name}")
        return [str(element.get(name)) for name in names]

    def _named(self, parent: ET.Element, tag: str) -> tuple[str, ...]:
        return tuple(self._readable(parent, tag, lambda e: self._attributes(e, "name")[0]))

    def _group(self, element: ET.Element) -> SrdfGroup:
        (name,) = self._attributes(element, "name")
        chains = self._readable(element, "chain", lambda e: self._attributes(e, "base_link", "tip_link"))
        return SrdfGroup(
            name,
            joints=self._named(element, "joint"),
            links=self._named(element, "link"),
            chains=tuple((base, tip) for base, tip in chains),
            groups=self._named(element, "group"),
            line=self.tree.line(element),
        )

    def _state(self, element: ET.Element) -> SrdfState:
        (name,) = self._attributes(element, "name")
        values = tuple(self._readable(element, "joint", self._joint_value))
        return SrdfState(name, element.get("group") or "", values, line=self.tree.line(element))

    def _joint_value(self, element: ET.Element) -> tuple[str, tuple[float, ...]]:
        name, text = self._attributes(element, "name", "value")
        values = numbers(text, len(text.split()))
        if not values:
            raise _IncompleteError(f"value {text!r:.60} must be finite numbers")
        return name, tuple(values)

    def _tool(self, element: ET.Element) -> SrdfEndEffector:
        name, link, group = self._attributes(element, "name", "parent_link", "group")
        return SrdfEndEffector(name, link, group, element.get("parent_group"), line=self.tree.line(element))

    def _pairs(self, tag: str) -> tuple[LinkPair, ...]:
        by_key: dict[tuple[str, str], LinkPair] = {}
        for pair in self._each(tag, self._pair):
            by_key.setdefault(pair.key, pair)  # MoveIt writes pairs once, people write them twice
        return tuple(by_key.values())

    def _pair(self, element: ET.Element) -> LinkPair:
        link1, link2 = self._attributes(element, "link1", "link2")
        if link1 == link2:
            raise _IncompleteError(f"<{element.tag}> names link {link1!r} twice")
        return LinkPair(link1, link2, element.get("reason") or "", line=self.tree.line(element))


def _bare(element: ET.Element) -> str:
    """An element as XML text, without the white space between the elements in it."""
    for inner in element.iter():
        inner.text, inner.tail = ((text if text and text.strip() else None) for text in (inner.text, inner.tail))
    element.tail = None
    return ET.tostring(element, encoding="unicode")


class _IncompleteError(Exception):
    """An element that says too little to mean anything."""


def written_srdf(srdf: Srdf) -> str:
    """The XML text of an SRDF.

    Raises:
        InputError: if a name holds characters that XML has no place for.
    """
    root = _element(None, "robot", name=srdf.name)
    for group in srdf.groups:
        _write_group(root, group)
    for state in srdf.states:
        of = {"group": state.group} if state.group else {}
        element = _element(root, "group_state", name=state.name, **of)
        for joint, values in state.values:
            _element(element, "joint", name=joint, value=" ".join(repr(float(value)) for value in values))
    for tool in srdf.end_effectors:
        parent = {} if tool.parent_group is None else {"parent_group": tool.parent_group}
        _element(root, "end_effector", name=tool.name, parent_link=tool.parent_link, group=tool.group, **parent)
    root.extend(XmlTree(other.encode(), "others").root for other in srdf.others)
    for link in srdf.unchecked_links:
        _element(root, "disable_default_collisions", link=link)
    for tag, pairs in (("enable_collisions", srdf.enabled_pairs), ("disable_collisions", srdf.disabled_pairs)):
        for pair in pairs:
            reason = {"reason": pair.reason} if pair.reason else {}
            _element(root, tag, link1=pair.link1, link2=pair.link2, **reason)
    ET.indent(root, "  ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _write_group(root: ET.Element, group: SrdfGroup) -> None:
    element = _element(root, "group", name=group.name)
    for tag, names in (("joint", group.joints), ("link", group.links), ("group", group.groups)):
        for name in names:
            _element(element, tag, name=name)
    for base, tip in group.chains:
        _element(element, "chain", base_link=base, tip_link=tip)


def _element(parent: ET.Element | None, tag: str, **attributes: str) -> ET.Element:
    for key, value in attributes.items():
        if not isinstance(value, str) or _NOT_XML.search(value):
            raise InputError(f"{key} of <{tag}> must be text that XML can hold, got {value!r:.60}")
    return ET.Element(tag, attributes) if parent is None else ET.SubElement(parent, tag, attributes)
