"""Robots with some of their joints locked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Self

import pinocchio as pin

from .arrays import Array
from .attaching import Attaching
from .errors import InputError, InputTypeError, unknown_name
from .frames import KINDS
from .parameters import ExtraLimits


class Reduction(Attaching):
    """New robots in which joints no longer move.

    All frames stay, those of the locked joints too, and with them geometry, pairs, attached bodies, tcp, base and
    home; so do the limits, motors, friction and armature of the joints that are left. Joints that mimic a locked one
    are locked where it puts them.
    """

    def with_locked_joints(self, values: Mapping[str, Any]) -> Self:
        """A new robot with joints locked at given values.

        Args:
            values: Joint names to positions [rad or m], (nq_j,) for joints of several coordinates; limits do not
                matter.

        Raises:
            InputError: on an unknown joint, or one that mimics another: that one must be locked.
        """
        if not isinstance(values, Mapping):
            raise InputTypeError(f"values must be a mapping from joint names to values, got {type(values).__name__}")
        twin = self._twin()
        twin._lock(twin._lockable(values, "values"), twin.configuration_from(values))
        return twin

    def reduced(self, joints: str | Iterable[str], q: Any = None) -> Self:
        """A new robot with joints locked where they stand.

        Args:
            joints: Names of the joints to lock.
            q: Configuration (nq,) or mapping in which they stand; None is the stored one.

        Raises:
            InputError: on an unknown joint, or one that mimics another: that one must be locked.
        """
        twin = self._twin()
        twin._lock(twin._lockable(joints, "joints"), twin._single(q))
        return twin

    def _lockable(self, joints: Any, name: str) -> list[str]:
        if isinstance(joints, str):
            joints = [joints]
        if not isinstance(joints, Iterable):
            raise InputTypeError(f"{name} must be names of joints, got {type(joints).__name__}")
        leaders = {coupling.follower: coupling.leader for coupling in self._couplings}
        names = list(joints)
        for joint in names:
            if not isinstance(joint, str):
                raise InputTypeError(f"{name} must be names of joints, got {joint!r} among them")
            if joint in leaders:
                raise InputError(
                    f"{name}: joint {joint!r} mimics {leaders[joint]!r} and cannot be locked alone; lock that one"
                )
            if joint not in self._coordinates.by_name:
                raise unknown_name("joint", joint, self.joints)
        return list(dict.fromkeys(names))

    def _lock(self, joints: list[str], q: Array) -> None:
        """Lock joints of this robot, which nobody else holds yet."""
        gone = {*joints, *(c.follower for c in self._couplings if c.leader in joints)}
        draft, before = self._open(), self._model
        ids = sorted(before.getJointId(joint) for joint in gone)
        draft.model, geometries = pin.buildReducedModel(
            before, [self._collision, self._visual], ids, self._coordinates.to_pinocchio(q)
        )
        _hang_as_before(before, draft.model)
        draft.collision, draft.visual = geometries[0], geometries[1]
        draft.couplings = tuple(c for c in self._couplings if c.follower not in gone)
        self._extra = _without(self._extra, gone)
        self._bare = {}  # joints carry what locked ones did
        tcp = self._tcp_if_any()
        self._take_over(draft)
        if tcp != self._tcp_if_any():
            self._tcp = tcp

    def _tcp_if_any(self) -> str | None:
        try:
            return self._tip()
        except InputError:
            return None


def _hang_as_before(full: pin.Model, model: pin.Model) -> None:
    """Hang every frame on the one it hung on: Pinocchio hangs frames of locked joints on themselves."""
    where = {(KINDS[frame.type], frame.name): index for index, frame in enumerate(model.frames)}
    for frame in full.frames:
        parent = full.frames[frame.parentFrame]
        model.frames[where[KINDS[frame.type], frame.name]].parentFrame = where[KINDS[parent.type], parent.name]


def _without(extra: ExtraLimits, gone: set[str]) -> ExtraLimits:
    return replace(
        extra,
        **{
            field.name: {joint: value for joint, value in getattr(extra, field.name).items() if joint not in gone}
            for field in fields(extra)
        },
    )
