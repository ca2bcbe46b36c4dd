"""What an SRDF adds to a robot description: groups, states, tools, and pairs of links that are not checked.

Plain values; no robot is read or changed. Reading and writing of the file is in `srdf_xml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from .errors import InputError, InputTypeError, unknown_name
from .files import write_file
from .findings import Finding, Suggestions, finding
from .srdf_parts import LinkPair, Pair, SrdfEndEffector, SrdfGroup, SrdfState
from .srdf_xml import parse_srdf, read_srdf, written_srdf


@dataclass(frozen=True, slots=True)
class Srdf:
    """The contents of an SRDF.

    Attributes:
        name: Name of the robot.
        groups: Groups of joints.
        states: Named configurations.
        end_effectors: Tools.
        disabled_pairs: Links whose collisions are not checked, with the reason.
        enabled_pairs: Links whose collisions are checked although one of them is unchecked.
        unchecked_links: Links whose collisions are checked with `enabled_pairs` only.
        others: Elements that mean nothing here, as XML; they are written back as they were.
        findings: What reading it brought up.
    """

    name: str
    groups: tuple[SrdfGroup, ...] = ()
    states: tuple[SrdfState, ...] = ()
    end_effectors: tuple[SrdfEndEffector, ...] = ()
    disabled_pairs: tuple[LinkPair, ...] = ()
    enabled_pairs: tuple[LinkPair, ...] = ()
    unchecked_links: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Take pairs of names for the values they mean."""
        for name in ("disabled_pairs", "enabled_pairs"):
            pairs = tuple(_as_pair(pair, name) for pair in getattr(self, name))
            object.__setattr__(self, name, pairs)
        for name, kind in (("groups", SrdfGroup), ("states", SrdfState), ("end_effectors", SrdfEndEffector)):
            for part in getattr(self, name):
                if not isinstance(part, kind):
                    raise InputTypeError(f"{name} must hold {kind.__name__}, got {part!r:.60}")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Srdf:
        """Read a file; what cannot be understood in it is left out and among the findings.

        Raises:
            DescriptionError: if it is unreadable, no XML, or no SRDF.
        """
        return cls(**read_srdf(path))

    @classmethod
    def from_xml(cls, text: str | bytes, source: str = "SRDF") -> Srdf:
        """Read XML text; `source` is what it is called in messages."""
        return cls(**parse_srdf(text, source))

    def to_xml(self) -> str:
        """The SRDF as XML text, which `from_xml` reads to an equal value."""
        return written_srdf(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file, which is replaced as a whole."""
        write_file(path, self.to_xml())

    def group(self, name: str) -> SrdfGroup:
        """The group of that name."""
        for group in self.groups:
            if group.name == name:
                return group
        raise unknown_name("group", name, [group.name for group in self.groups])

    def joints_of(self, name: str) -> tuple[str, ...]:
        """Joints a group lists, itself or through the groups in it, each once; chains and links are not followed."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        queue = [name]
        while queue:
            group = self.group(queue.pop(0))
            if group.name not in seen:
                seen.add(group.name)
                found.update(dict.fromkeys(group.joints))
                queue = [*group.groups, *queue]
        return tuple(found)

    def state(self, name: str, group: str | None = None) -> dict[str, float | tuple[float, ...]]:
        """Values by joint of a named state: of one group, or of all that have a state of that name.

        A joint of one coordinate has a number, as `robot.update_configuration` takes it.
        """
        found = [s for s in self.states if s.name == name and group in (None, s.group)]
        if not found:
            raise unknown_name("state", name, dict.fromkeys(s.name for s in self.states if group in (None, s.group)))
        return {joint: v[0] if len(v) == 1 else v for state in found for joint, v in state.values}

    @property
    def tips(self) -> tuple[str, ...]:
        """Links at which tools are: parents of end effectors, or without any the tips of chains; each once."""
        tips = [tool.parent_link for tool in self.end_effectors]
        return tuple(dict.fromkeys(tips or [tip for group in self.groups for _, tip in group.chains]))

    def reasons(self, links: Iterable[str]) -> dict[Pair, str]:
        """Why pairs of these links are not checked, by names in alphabetical order; unlisted pairs are checked."""
        names = sorted(set(links))
        enabled = {pair.key for pair in self.enabled_pairs}
        found = {}
        for link in self.unchecked_links:
            if link in names:
                keys = (LinkPair(link, other).key for other in names if other != link)
                found.update({key: "Default" for key in keys if key not in enabled})
        known = set(names)
        return found | {pair.key: pair.reason for pair in self.disabled_pairs if known >= set(pair.key)}

    def with_disabled_pairs(self, pairs: Mapping[Pair, str] | Iterable[Any]) -> Srdf:
        """The same SRDF with these pairs instead of its own.

        Args:
            pairs: Mapping from (link, link) to the reason, or `LinkPair`s.
        """
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise InputTypeError(f"pairs must map (link, link) to a reason, got {type(pairs).__name__}")
        given: list[Any] = [_pair(*item) for item in pairs.items()] if isinstance(pairs, Mapping) else list(pairs)
        by_key: dict[Pair, LinkPair] = {}
        for pair in given:
            if not isinstance(pair, LinkPair):
                raise InputTypeError(f"pairs must hold LinkPair, or map (link, link) to a reason; got {pair!r:.60}")
            if pair.link1 == pair.link2:
                raise InputError(f"pairs must name two links, got {pair.link1!r} twice")
            by_key.setdefault(pair.key, pair)
        return replace(self, disabled_pairs=tuple(by_key.values()))

    def unknown_names(self, links: Iterable[str], joints: Iterable[str]) -> tuple[Finding, ...]:
        """A warning with its line for every link, joint or group that does not exist in the robot or here."""
        named = {"link": links, "joint": joints, "group": [group.name for group in self.groups]}
        options = {kind: dict.fromkeys(sorted(names)) for kind, names in named.items()}
        suggestions, found = Suggestions(), []
        for line, element, owner, kind, name in self._mentioned():
            known = options[kind]
            if name not in known:
                problem = f"there is no {kind} {name!r}{suggestions.closest(name, known)}"
                found.append(finding("srdf-unknown-name", line, element, owner, problem))
        return tuple(sorted(found, key=lambda one: one.line))

    def _mentioned(self) -> Iterator[tuple[int, str, str, str, str]]:
        """Every name that stands for something: line, element and its name, kind of thing, name."""
        for group in self.groups:
            here = (group.line, "group", group.name)
            for kind, names in (("joint", group.joints), ("link", group.links), ("group", group.groups)):
                yield from ((*here, kind, name) for name in names)
            yield from ((*here, "link", name) for chain in group.chains for name in chain)
        for state in self.states:
            here = (state.line, "group_state", state.name)
            if state.group:
                yield *here, "group", state.group
            yield from ((*here, "joint", joint) for joint, _ in state.values)
        for tool in self.end_effectors:
            here = (tool.line, "end_effector", tool.name)
            yield *here, "link", tool.parent_link
            for name in (tool.group, tool.parent_group):
                if name:
                    yield *here, "group", name
        for tag, pairs in (("disable_collisions", self.disabled_pairs), ("enable_collisions", self.enabled_pairs)):
            for pair in pairs:
                yield from ((pair.line, f"<{tag}>", "", "link", name) for name in (pair.link1, pair.link2))
        yield from ((0, "<disable_default_collisions>", "", "link", name) for name in self.unchecked_links)


def _pair(key: Any, reason: Any) -> LinkPair:
    if not isinstance(key, tuple | list) or len(key) != 2 or not all(isinstance(k, str) for k in (*key, reason)):
        raise InputTypeError(f"pairs must map (link, link) to a reason, got {key!r:.60}: {reason!r:.60}")
    return LinkPair(key[0], key[1], reason)


def _as_pair(pair: Any, name: str) -> LinkPair:
    if isinstance(pair, LinkPair):
        return pair
    if isinstance(pair, tuple | list) and len(pair) in (2, 3) and all(isinstance(part, str) for part in pair):
        return LinkPair(*pair)
    raise InputTypeError(f"{name} must hold LinkPair or (link, link, reason), got {pair!r:.60}")
