"""Links and the joints between them, as a URDF has them, read from the frames of a Pinocchio model.

Pinocchio has joints that move, and frames fixed to them. Links are frames too, and need not exist at all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from typing import Any

import pinocchio as pin

_JOINTS = (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint between two links."""

    joint: str
    parent: str
    child: str
    placement: pin.SE3
    """Of the joint in the parent link."""
    moving: int | None
    """Index in the model, None if it is fixed."""


@dataclass(frozen=True, slots=True)
class LinkTree:
    """All links and joints of a model.

    Attributes:
        links: For every link the index of its joint, and its placement there.
        carriers: For every joint of the model the link that stands in it.
        edges: Joints that move, then fixed ones.
        frames: For every frame the link on which it is.
    """

    links: dict[str, tuple[int, pin.SE3]]
    carriers: list[str]
    edges: list[Edge]
    frames: dict[int, str]

    def place(self, thing: pin.GeometryObject) -> tuple[str, pin.SE3]:
        """The link of a geometry, and its placement there."""
        link = self.frames.get(thing.parentFrame)
        if link is None or self.links[link][0] != thing.parentJoint:
            link = self.carriers[thing.parentJoint]
        return link, self.links[link][1].actInv(thing.placement)


def link_tree(model: pin.Model) -> LinkTree:
    """The links of a model, one for every frame that is none of its joints; joints without a link get one."""
    return _Builder(model).tree()


class _Builder:
    def __init__(self, model: pin.Model) -> None:
        self.model, self.frames = model, list(model.frames)
        self.links: dict[str, tuple[int, pin.SE3]] = {}
        self.of_frame: dict[int, str] = {}
        self.on: dict[int, list[int]] = {}
        """Bodies by the frame they are on."""
        for index, frame in enumerate(self.frames):
            if frame.type == pin.FrameType.BODY:
                self.on.setdefault(frame.parentFrame, []).append(index)
        self.taken = {str(frame.name) for frame in self.frames if frame.type in _JOINTS}
        self.joint_frame = {str(f.name): i for i, f in enumerate(self.frames) if f.type == pin.FrameType.JOINT}

    def tree(self) -> LinkTree:
        """Links first, then what holds each."""
        for index, frame in enumerate(self.frames):
            if frame.type not in _JOINTS or (index and self._carries_nothing(index)):
                self._add(index, frame)
        carriers = [self._carrier(joint) for joint in range(self.model.njoints)]
        moving = [self._moving(joint, carriers) for joint in range(1, self.model.njoints)]
        standing = set(carriers)
        fixed = [self._fixed(index, link, carriers) for index, link in self.of_frame.items() if link not in standing]
        where = {i: self._nearest(i, frame.parentJoint, carriers) for i, frame in enumerate(self.frames)}
        return LinkTree(self.links, carriers, moving + fixed, where)

    def _add(self, index: int, frame: Any) -> None:
        name = _free(str(frame.name), self.links)
        self.links[name] = (frame.parentJoint, frame.placement)
        self.of_frame[index] = name

    def _carries_nothing(self, index: int) -> bool:
        """Whether a fixed joint has no link right on it, so that it would not be seen without one of its own."""
        joint = self.frames[index]
        if joint.type != pin.FrameType.FIXED_JOINT:
            return False
        bodies = [self.frames[body] for body in self.on.get(index, ())]
        return not any(body.placement.isApprox(joint.placement, 1e-12) for body in bodies)

    def _carrier(self, joint: int) -> str:
        """The link that stands in a joint, made up where there is none."""
        edge = self.joint_frame.get(str(self.model.names[joint]), 0) if joint else 0
        for index in self.on.get(edge, ()):
            frame = self.frames[index]
            if frame.parentJoint == joint and frame.placement.isIdentity(1e-12):
                return self.of_frame[index]
        name = _free(f"{self.model.names[joint]}_link" if joint else "world", self.links)
        self.links[name] = (joint, pin.SE3.Identity())
        return name

    def _nearest(self, index: int, joint: int, carriers: list[str]) -> str:
        """The link at or above a frame on the same joint."""
        while index:
            link = self.of_frame.get(index)
            if link is not None and self.links[link][0] == joint:
                return link
            if self.frames[index].parentJoint != joint:
                break
            index = self.frames[index].parentFrame
        return carriers[joint]

    def _moving(self, joint: int, carriers: list[str]) -> Edge:
        name, above = str(self.model.names[joint]), self.model.parents[joint]
        frame = self.joint_frame.get(name)
        parent = carriers[above] if frame is None else self._nearest(self.frames[frame].parentFrame, above, carriers)
        placement = self.links[parent][1].actInv(self.model.jointPlacements[joint])
        return Edge(name, parent, carriers[joint], placement, joint)

    def _fixed(self, index: int, link: str, carriers: list[str]) -> Edge:
        """What holds a link that is not in a joint: the fixed joint below it, if that is its alone."""
        frame, joint = self.frames[index], self.links[link][0]
        below = frame.parentFrame
        if frame.type == pin.FrameType.FIXED_JOINT:
            name, above = str(frame.name), below
        elif below and self._alone_on(below, frame):
            name, above = str(self.frames[below].name), self.frames[below].parentFrame
        else:
            name, above = _free(f"{link}_joint", self.taken), below
        self.taken.add(name)
        parent = self._nearest(above, joint, carriers)
        return Edge(name, parent, link, self.links[parent][1].actInv(self.links[link][1]), None)

    def _alone_on(self, edge: int, frame: Any) -> bool:
        joint = self.frames[edge]
        if joint.type != pin.FrameType.FIXED_JOINT or frame.type != pin.FrameType.BODY or edge in self.of_frame:
            return False
        first = self.frames[self.on[edge][0]]
        return str(first.name) == str(frame.name) and frame.placement.isApprox(joint.placement, 1e-12)


def _free(name: str, taken: Collection[str]) -> str:
    numbered = (f"{name}_{k}" for k in count(2))
    return name if name not in taken else next(other for other in numbered if other not in taken)
