"""The links of a robot as a tree, read from the frames Pinocchio keeps."""

from __future__ import annotations

from dataclasses import dataclass

from ..robot import PinRobot
from .joints import kind_of


@dataclass(frozen=True, slots=True)
class Link:
    """One rigid body of the description.

    Attributes:
        name: Name of the link.
        parent: Name of the link it hangs on, None at a root.
        joint: Name of the joint between the two, None at a root.
        kind: Type of that joint.
        mass: Its mass [kg].
    """

    name: str
    parent: str | None
    joint: str | None
    kind: str
    mass: float


@dataclass(frozen=True, slots=True)
class Links:
    """All links by name, the names below each, and those that hang on nothing."""

    links: dict[str, Link]
    children: dict[str, list[str]]
    roots: list[str]


def links_of(robot: PinRobot) -> Links:
    """The link tree of `robot`.

    Pinocchio merges the inertia of a link into its joint and keeps that of links behind fixed joints with the
    fixed joint's frame as well; a link that moves has what remains.
    """
    links: dict[str, Link] = {}
    children: dict[str, list[str]] = {}
    frames = robot.model.frames
    fixed_mass = dict.fromkeys(range(robot.model.njoints), 0.0)
    for frame in frames:
        fixed_mass[frame.parentJoint] += frame.inertia.mass
    for frame in frames:
        if frame.type.name != "BODY":
            continue
        edge = frames[frame.parentFrame]
        if edge.type.name == "JOINT":
            kind = kind_of(robot.model.joints[edge.parentJoint])
            mass = robot.model.inertias[edge.parentJoint].mass - fixed_mass[edge.parentJoint]
        else:
            kind, mass = "fixed", edge.inertia.mass
        at_root = edge.name == "universe"
        parent = None if at_root else _link_above(frames, edge)
        mass += frame.inertia.mass
        links[frame.name] = Link(frame.name, parent, None if at_root else edge.name, kind, mass)
        if parent is not None:
            children.setdefault(parent, []).append(frame.name)
    return Links(links, children, [name for name, link in links.items() if link.parent is None])


def _link_above(frames: object, edge: object) -> str | None:
    above = frames[edge.parentFrame]  # type: ignore[index, attr-defined]
    while above.type.name != "BODY":
        if above.name == "universe":
            return None
        above = frames[above.parentFrame]  # type: ignore[index]
    return str(above.name)
