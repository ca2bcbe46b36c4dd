"""A joint that is to be added to a robot, with all it carries, checked as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .body import PinBody
from .couplings import Coupling
from .draft import Draft
from .errors import DescriptionError, InputError, InputTypeError, unknown_name
from .inertia import checked_inertia
from .joint_options import JointOptions, checked_joint
from .transformation import as_transformation


@dataclass(frozen=True, slots=True, eq=False)
class NewJoint:
    """What is added to a draft; see `Building._add_joint`."""

    kind: Any
    parent: int
    placement: pin.SE3
    name: str
    links: tuple[PinBody, ...]
    fixed: tuple[pin.Frame, ...]
    inertia: pin.Inertia | None
    coupling: Coupling | None
    options: JointOptions

    @classmethod
    def create(
        cls,
        draft: Draft,
        joint: Any,
        parent: Any,
        placement: Any,
        name: Any,
        bodies: Any,
        fixed_joints: Any,
        inertia: Any,
        coupling: Any,
        options: Mapping[str, Any],
    ) -> NewJoint:
        """Arguments as in `Building._add_joint`; the draft is only read.

        Raises:
            InputError: if any of it cannot be added.
        """
        kind, above = checked_joint(joint), draft.joint_index(parent, "parent")
        pose = pin.SE3.Identity() if placement is None else as_transformation(placement, "joint_placement").se3()
        checked = JointOptions.create(kind, **options)
        links, fixed = _links(bodies), _fixed(fixed_joints)
        if len(fixed) != max(0, len(links) - 1):
            raise InputError(
                f"fixed_joints must hold one frame fewer than there are bodies, got {len(fixed)} for {len(links)}"
            )
        if inertia is not None and not isinstance(inertia, pin.Inertia):
            raise InputTypeError(f"inertia must be a pinocchio Inertia or None, got {type(inertia).__name__}")
        whole = None if inertia is None else checked_inertia(inertia, "inertia")
        title = _name(draft, name)
        joints = [(title, pin.FrameType.JOINT), *((frame.name, pin.FrameType.FIXED_JOINT) for frame in fixed)]
        draft.require_new_names([*joints, *((body.name, pin.FrameType.BODY) for body in links)], links)
        if coupling is not None:
            _check_coupling(draft, kind, title, coupling)
        return cls(kind, above, pose if above else draft.base * pose, title, links, fixed, whole, coupling, checked)

    def put_into(self, draft: Draft) -> int:
        """Add the joint, its frames and bodies; its index, the draft's joints being in order again."""
        index = draft.add_joint(self.kind, self.parent, self.placement, self.name, self.options)
        frame = draft.model.addJointFrame(index, draft.last_link(self.parent))
        total = pin.Inertia.Zero()
        for k, body in enumerate(self.links):
            if k:
                frame, mass = _add_fixed(draft.model, self.fixed[k - 1], index, frame)
                total += mass
            frame = draft.add_body(body, index, frame)
            total += draft.model.frames[frame].placement.act(body.spatial_inertia)
        draft.model.appendBodyToJoint(index, total if self.inertia is None else self.inertia, pin.SE3.Identity())
        draft.couplings += () if self.coupling is None else (self.coupling,)
        return draft.put_in_order()[index]


def _add_fixed(model: pin.Model, frame: pin.Frame, joint: int, parent: int) -> tuple[int, pin.Inertia]:
    """Add a fixed joint; its index, and its own inertia in the joint."""
    pose, inertia = frame.placement, frame.inertia
    return model.addFrame(
        pin.Frame(frame.name, joint, parent, pose, pin.FrameType.FIXED_JOINT, inertia), False
    ), pose.act(inertia)


def _links(bodies: Any) -> tuple[PinBody, ...]:
    found = (bodies,) if isinstance(bodies, PinBody) else bodies
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise InputTypeError(f"bodies must be one PinBody or several, got {type(bodies).__name__}")
    links = tuple(found)
    for body in links:
        if not isinstance(body, PinBody):
            raise InputTypeError(f"bodies must hold PinBody only, got {type(body).__name__}")
    return links


def _fixed(frames: Any) -> tuple[pin.Frame, ...]:
    if isinstance(frames, str | pin.Frame) or not isinstance(frames, Iterable):
        raise InputTypeError(f"fixed_joints must be a sequence of pinocchio Frames, got {type(frames).__name__}")
    found = tuple(frames)
    for frame in found:
        if not isinstance(frame, pin.Frame):
            raise InputTypeError(f"fixed_joints must hold pinocchio Frames only, got {type(frame).__name__}")
        as_transformation(frame.placement, f"placement of fixed joint {frame.name!r}")
        checked_inertia(frame.inertia, f"inertia of fixed joint {frame.name!r}")
    return found


def _name(draft: Draft, given: Any) -> str:
    """The name given, or one drawn at random until it is new."""
    if not isinstance(given, str):
        raise InputTypeError(f"joint_name must be a string, got {type(given).__name__}")
    name = str(given)
    if draft.model.existJointName(name):
        raise InputError(f"a joint named {name!r} exists already; choose another name")
    if name:
        return name
    rng, taken = np.random.default_rng(), {*draft.model.names, *(frame.name for frame in draft.model.frames)}
    while not name or name in taken:
        name = f"joint_{rng.integers(2**32):08x}"
    return name


def _check_coupling(draft: Draft, kind: Any, name: str, coupling: Any) -> None:
    if not isinstance(coupling, Coupling):
        raise InputTypeError(f"coupling must be a Coupling, got {type(coupling).__name__}")
    if coupling.follower != name:
        raise InputError(f"coupling: its follower must be the new joint {name!r}, got {coupling.follower!r}")
    names = list(draft.model.names)[1:]
    if coupling.leader not in names:
        raise unknown_name("joint", coupling.leader, names)
    for joint, size in ((name, kind.nv), (coupling.leader, draft.model.nvs[names.index(coupling.leader) + 1])):
        if size != 1:
            raise DescriptionError(f"joint {joint!r} has several degrees of freedom and cannot take part in mimic")
    for other in draft.couplings:
        if other.follower == coupling.leader:
            raise DescriptionError(
                f"joint {name!r} mimics {coupling.leader!r}, which itself mimics {other.leader!r}; name that one"
            )
    if not np.isfinite([coupling.multiplier, coupling.offset]).all():
        raise DescriptionError(f"joint {name!r}: multiplier and offset of mimic must be finite")
