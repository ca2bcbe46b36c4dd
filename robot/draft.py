"""A robot's models while joints and bodies are added to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pinocchio as pin

from .body import BodyGeometry, PinBody
from .couplings import Coupling
from .errors import InputError, InputTypeError, unknown_name
from .frames import KINDS
from .joint_options import JointOptions
from .rearranging import carried_over, depth_first, rearranged


@dataclass(slots=True, eq=False)
class Draft:
    """Copies of a robot's models; what is added shows in the robot only when it takes them over.

    Attributes:
        model: Pinocchio's model.
        collision: Its collision geometry.
        visual: Its visual geometry.
        base: Pose of the robot's base in the world.
        couplings: Joints that mimic others.
        unpaired: Names of collision geometries that are in no pair yet.
        pair_up: Whether they are to be paired when the robot takes the draft over.
        carried: Frames of attached bodies, on which no joint is hung.
    """

    model: pin.Model
    collision: pin.GeometryModel
    visual: pin.GeometryModel
    base: pin.SE3
    couplings: tuple[Coupling, ...] = ()
    unpaired: list[str] = field(default_factory=list)
    pair_up: bool = False
    carried: frozenset[str] = frozenset()

    def __deepcopy__(self, memo: dict[int, Any]) -> Draft:
        """A draft that shares nothing: Pinocchio's own copies of geometry share shapes."""
        return replace(
            self,
            model=self.model.copy(),
            collision=self.collision.clone(),
            visual=self.visual.clone(),
            base=pin.SE3(self.base),
            unpaired=list(self.unpaired),
        )

    def joint_index(self, joint: Any, name: str) -> int:
        """The index of a joint given by index or name, the world's included.

        Raises:
            InputError: if there is none.
        """
        if isinstance(joint, str):
            if not self.model.existJointName(joint):
                raise unknown_name("joint", joint, list(self.model.names))
            return int(self.model.getJointId(joint))
        return _index(joint, self.model.njoints, name, "index or name of a joint", "joints")

    def frame_of_joint(self, frame: Any, joint: int, name: str) -> int:
        """The index of a frame, if that joint carries it.

        Raises:
            InputError: if there is none, or another joint carries it.
        """
        index = _index(frame, self.model.nframes, name, "index in model.frames", "frames")
        carrier = self.model.frames[index].parentJoint
        if carrier != joint:
            raise InputError(
                f"{name} {index} ({self.model.frames[index].name!r}) is carried by joint "
                f"{self.model.names[carrier]!r}, not by {self.model.names[joint]!r}"
            )
        return index

    def last_link(self, joint: int) -> int:
        """The frame of a joint that what is added to the joint hangs on: its last link, else its first frame."""
        frames = enumerate(self.model.frames)
        ours = [i for i, frame in frames if frame.parentJoint == joint and frame.name not in self.carried]
        links = [i for i in ours if self.model.frames[i].type == pin.FrameType.BODY]
        return links[-1] if links else ours[0] if ours else 0

    def require_new_names(self, frames: Sequence[tuple[str, pin.FrameType]], geometries: Sequence[PinBody]) -> None:
        """Refuse names that exist already, or twice among the new ones.

        Raises:
            InputError: naming the first.
        """
        taken = {(KINDS[f.type], f.name) for f in self.model.frames}
        for name, kind in frames:
            if not isinstance(name, str) or not name:
                raise InputTypeError(f"name of a {KINDS[kind]} must be a non-empty string, got {name!r}")
            if (KINDS[kind], name) in taken:
                raise InputError(f"a {KINDS[kind]} named {name!r} exists already; choose another name")
            taken.add((KINDS[kind], name))
        for which in ("collision", "visual"):
            used = {thing.name for thing in getattr(self, which).geometryObjects}
            for name in (n for body in geometries for n in geometry_names(body, getattr(body, which))):
                if name in used:
                    raise InputError(f"a {which} geometry named {name!r} exists already; choose another name")
                used.add(name)

    def add_joint(self, joint: Any, parent: int, placement: pin.SE3, name: str, options: JointOptions) -> int:
        """Append a joint without a frame or mass, last among its siblings; its index until the draft is put in order.

        Everything has been checked.
        """
        o = options
        index: int = self.model.addJoint(
            parent,
            joint,
            placement,
            name,
            -o.max_effort,
            o.max_effort,
            -o.max_velocity,
            o.max_velocity,
            o.min_config,
            o.max_config,
            -o.friction,
            o.friction,
            o.damping,
        )
        armature = self.model.armature.copy()
        armature[self.model.idx_vs[index] :] = o.armature
        self.model.armature = armature
        rest = pin.neutral(self.model)[self.model.idx_qs[index] :]
        for entry in self.model.referenceConfigurations:
            self.model.referenceConfigurations[entry.key()] = np.concatenate([entry.data(), rest])
        return index

    def add_body(
        self, body: PinBody, joint: int, frame: int, pose: pin.SE3 | None = None, *, pair_later: bool = True
    ) -> int:
        """Add a link and the geometry of a body; not its mass. All of it has been checked.

        Args:
            body: What is added.
            joint: Joint that carries it.
            frame: Frame it hangs on.
            pose: Pose in the joint; None is that of the frame, on the world that of the robot's base.
            pair_later: Note its collision geometry as in no pair yet.

        Returns:
            Index of the link's frame.
        """
        if pose is None:
            pose = self.model.frames[frame].placement if frame else self.base
        link: int = self.model.addBodyFrame(body.name, joint, pose, frame)
        for geometry, parts in ((self.collision, body.collision), (self.visual, body.visual or ())):
            for part, name in zip(parts, geometry_names(body, parts), strict=True):
                geometry.addGeometryObject(part.as_object(name, joint, link, pose))
        if pair_later:
            self.unpaired += geometry_names(body, body.collision)
        return link

    def put_in_order(self) -> list[int]:
        """Move the joints into depth-first order; the new index of every joint."""
        order = depth_first(self.model)
        if order == list(range(1, self.model.njoints)):
            return [0, *order]
        old = self.model
        self.model, at = rearranged(old, order)
        self.collision = carried_over(self.collision, old, self.model, at)
        self.visual = carried_over(self.visual, old, self.model, at)
        return at


def geometry_names(body: PinBody, parts: Sequence[BodyGeometry] | None) -> list[str]:
    """The names of a body's geometries: their own, or the body's with a number."""
    return [f"{body.name}_{k}" if part.name is None else part.name for k, part in enumerate(parts or ())]


def _index(value: Any, count: int, name: str, what: str, plural: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"{name} must be the {what}, got {type(value).__name__}")
    if not 0 <= value < count:
        raise unknown_name(f"{plural[:-1]} index", int(value), map(str, range(count)))
    return int(value)
