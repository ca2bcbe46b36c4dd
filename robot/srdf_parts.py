"""The parts of an SRDF as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SrdfGroup:
    """Joints that are planned for together."""

    name: str
    joints: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    chains: tuple[Pair, ...] = ()
    """(base link, tip link) of each chain."""
    groups: tuple[str, ...] = ()
    """Names of the groups it holds."""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SrdfState:
    """A named configuration of a group; without the name of a group, of the robot."""

    name: str
    group: str = ""
    values: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Joints with their coordinates [rad or m]."""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SrdfEndEffector:
    """A group that is a tool, and the link that carries it."""

    name: str
    parent_link: str
    group: str
    parent_group: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LinkPair:
    """Two links, and why their collisions are or are not checked."""

    link1: str
    link2: str
    reason: str = ""
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> Pair:
        """The names in alphabetical order, the same for either order of the links."""
        return (self.link1, self.link2) if self.link1 <= self.link2 else (self.link2, self.link1)
