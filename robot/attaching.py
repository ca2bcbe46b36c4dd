"""Tools and grasped objects: bodies that come and go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import Any, Self

import pinocchio as pin

from .body import PinBody
from .building import Building
from .draft import Draft
from .errors import InputError, InputTypeError, unknown_name
from .inertia import without
from .pairing import add_pairs, part_neighbours
from .rearranging import carried_over, rearranged
from .transformation import Transformation, as_transformation


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """A body that a robot carries.

    Attributes:
        name: Name of its frame.
        body: What is carried.
        frame: Frame it is fixed to.
        tcp: Frame that became the tcp with it, if any.
        tcp_before: What the tcp had been set to, None if it was the default.
    """

    name: str
    body: PinBody
    frame: str
    tcp: str | None
    tcp_before: str | None


class Attaching(Building):
    """Attaching and detaching bodies. A robot never takes what it carries for its default tcp."""

    _attachments: tuple[Attachment, ...] = ()
    _bare: Mapping[str, tuple[pin.Inertia, pin.Inertia]] = MappingProxyType({})
    """Per joint that carries attached bodies: its inertia without them, and with them as it was last written."""

    @property
    def attached(self) -> dict[str, PinBody]:
        """The bodies attached, by name, in the order in which they were."""
        return {attachment.name: attachment.body for attachment in self._attachments}

    def attach(
        self,
        body: PinBody,
        frame: str | None = None,
        placement: Any = None,
        *,
        tcp: Any = None,
        name: str | None = None,
    ) -> str:
        """Fix a body to a frame, with its mass and geometry, until it is detached.

        Its collision geometry `name_0`, `name_1`, ... is paired with all others, but for those on the same joint and
        those of the links next to the one it is fixed to, as if it were a part of that link: what is fixed to a hand
        may touch its fingers. `excluded_pairs` lists them. What is fixed to the base moves with it.

        Args:
            body: Tool or object; the robot keeps copies of its shapes.
            frame: Frame it is fixed to; None is the tcp.
            placement: Pose of the body in that frame; None is the frame itself.
            tcp: Pose in the body of a tool center point that becomes the robot's, named `name_tcp`; None keeps the
                robot's.
            name: A new name for its frame; None is the body's name, with a number if that is taken.

        Returns:
            The name, for `detach` and as a frame.

        Raises:
            InputError: if it cannot be attached; the robot is as before.
        """
        self._commit()
        if not isinstance(body, PinBody):
            raise InputTypeError(f"body must be a PinBody, got {type(body).__name__}")
        where = self._frame(frame)
        pose = Transformation.identity() if placement is None else as_transformation(placement, "placement")
        tip = None if tcp is None else as_transformation(tcp, "tcp").se3()
        draft = self._open()
        title = self._new_name(draft, body, name)
        parent = self._table.ids[where]
        joint = draft.model.frames[parent].parentJoint
        bare = self._bare_inertia(joint)
        link = draft.add_body(
            body.renamed(title), joint, parent, draft.model.frames[parent].placement * pose.se3(), pair_later=False
        )
        things = [f"{title}_{k}" for k in range(len(body.collision))]
        left_out = add_pairs(draft.model, draft.collision, things)
        left_out |= part_neighbours(draft.model, draft.collision, things, parent)
        tcp_name = None if tip is None else f"{title}_tcp"
        if tip is not None:
            at = draft.model.frames[link].placement * tip
            draft.model.addFrame(pin.Frame(tcp_name, joint, link, at, pin.FrameType.OP_FRAME))
        new = Attachment(title, body, where, tcp_name, self._tcp)
        self._carry(draft, (*self._attachments, new), {draft.model.names[joint]: bare})
        self._excluded |= left_out
        if tcp_name is not None:
            self.tcp = tcp_name
        return title

    def detach(self, name: str) -> None:
        """Take an attached body off; everything is as if it had never been there, to the last bit.

        Frames that were added on it go with it. If one of them is the tcp, that becomes again what it was.

        Args:
            name: Name that `attach` returned.

        Raises:
            InputError: if no such body is attached, or something else is fixed to it; the robot is as before.
        """
        self._commit()
        gone = next((a for a in self._attachments if a.name == name), None)
        if gone is None:
            raise unknown_name("attached body", name, self.attached)
        model = self._model
        link = _link(model, gone.name)
        frames = _hanging_on(model, link)
        self._require_free(gone, frames)
        joint = model.frames[link].parentJoint
        bare = self._bare_inertia(joint)
        draft = self._open()
        draft.model, at = rearranged(model, range(1, model.njoints), frames)
        draft.collision, draft.visual = (
            carried_over(
                g, model, draft.model, at, {i for i, t in enumerate(g.geometryObjects) if t.parentFrame in frames}
            )
            for g in (self._collision, self._visual)
        )
        dropped = {self._table.names[index] for index in frames}
        rest = [a for a in self._attachments if a is not gone]
        rest = [replace(a, tcp_before=gone.tcp_before) if a.tcp_before in dropped else a for a in rest]
        if self._tcp in dropped:
            self._tcp = gone.tcp_before
        left = {thing.name for thing in draft.collision.geometryObjects}
        self._excluded = {pair: reason for pair, reason in self._excluded.items() if set(pair) <= left}
        self._carry(draft, tuple(rest), {model.names[joint]: bare})

    def with_attached(self, body: PinBody, frame: str | None = None, placement: Any = None, **options: Any) -> Self:
        """A new robot with a body attached, see `attach`."""
        twin = self._twin()
        twin.attach(body, frame, placement, **options)
        return twin

    def _carry(self, draft: Draft, attachments: tuple[Attachment, ...], bare: dict[str, pin.Inertia]) -> None:
        """Take over a draft with the bodies it carries, whose mass is added to what the joints weigh without them."""
        weights = dict(self._bare)
        for joint, inertia in bare.items():
            index = draft.model.getJointId(joint)
            total = pin.Inertia(inertia)
            for mass in _carried_masses(draft.model, attachments, index):
                total = total + mass
            draft.model.inertias[index] = total
            weights[joint] = inertia, pin.Inertia(draft.model.inertias[index])
        self._bare = weights
        self._attachments = attachments
        self._carried_frames = frozenset(n for a in attachments for n in (a.name, a.tcp) if n is not None)
        self._take_over(draft)

    def _bare_inertia(self, joint: int) -> pin.Inertia:
        """What a joint weighs without attached bodies: what was there before, unless it was changed meanwhile."""
        now = pin.Inertia(self._model.inertias[joint])
        known = self._bare.get(self._model.names[joint])
        if known is not None and now == known[1]:
            return known[0]
        for mass in _carried_masses(self._model, self._attachments, joint):
            now = without(now, mass)
        return now

    def _base_moved(self, displacement: Transformation) -> None:
        self._commit()
        bare = self._bare_inertia(0)
        super()._base_moved(displacement)
        if "universe" in self._bare:
            moved = displacement.se3().act(bare), pin.Inertia(self._model.inertias[0])
            self._bare = {**self._bare, "universe": moved}

    def _require_free(self, gone: Attachment, frames: set[int]) -> None:
        """Refuse to take off what other bodies or joints are fixed to."""
        own = {gone.name, gone.tcp}
        for index in frames:
            frame = self._model.frames[index]
            other = next((a for a in self._attachments if a is not gone and a.name == frame.name), None)
            if other is not None:
                raise InputError(f"body {other.name!r} is fixed to {gone.name!r}; detach it first")
            if frame.name not in own and frame.type != pin.FrameType.OP_FRAME:
                raise InputError(f"{frame.name!r} was built onto {gone.name!r}, which can no longer be detached")

    def _new_name(self, draft: Draft, body: PinBody, name: Any) -> str:
        if name is not None and (not isinstance(name, str) or not name):
            raise InputTypeError(f"name must be a non-empty string or None, got {name!r}")
        taken = {*draft.model.names, *(f.name for f in draft.model.frames)}
        things = {thing.name for g in (draft.collision, draft.visual) for thing in g.geometryObjects}
        size = max(len(body.collision), len(body.visual or ()))
        for title in _titles(body.name) if name is None else [name]:
            clash = {title, f"{title}_tcp"} & taken | {f"{title}_{k}" for k in range(size)} & things
            if not clash:
                return title
        raise InputError(f"name: {sorted(clash)[0]!r} exists already; choose another name, or leave it out")


def _titles(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{k}" for k in count(2))


def _link(model: pin.Model, name: str) -> int:
    return int(model.getFrameId(name, pin.FrameType.BODY))


def _carried_masses(model: pin.Model, attachments: tuple[Attachment, ...], joint: int) -> Iterator[pin.Inertia]:
    """The inertias, in the joint, of the attached bodies it carries."""
    for attachment in attachments:
        frame = model.frames[_link(model, attachment.name)]
        if frame.parentJoint == joint:
            yield frame.placement.act(attachment.body.spatial_inertia)


def _hanging_on(model: pin.Model, frame: int) -> set[int]:
    """A frame and those fixed to it, directly or through others."""
    found = {frame}
    while True:
        more = {i for i, f in enumerate(model.frames) if i and i not in found and f.parentFrame in found}
        if not more:
            return found
        found |= more
