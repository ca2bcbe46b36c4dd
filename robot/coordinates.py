"""The robot's own coordinates and Pinocchio's.

A user sees one angle per continuous joint and no entry for a joint that mimics another. Pinocchio keeps (cos, sin)
for the first and knows nothing of the second. Free-flyer, planar and spherical joints are the same on both sides:
positions, unit quaternion (x, y, z, w), or (cos, sin) of a planar joint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .arrays import Array
from .errors import DescriptionError, InputError, InputTypeError, UnsupportedError, unknown_name
from .manifold import each_row, finite_range
from .spatial import wrap_angle

_QUATERNION_AT = {"JointModelFreeFlyer": 3, "JointModelSpherical": 0}


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that mimics another: `q_follower = multiplier * q_leader + offset`."""

    follower: str
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class JointSlot:
    """Where one joint stands: user and Pinocchio indices of its coordinates and velocities."""

    name: str
    kind: str
    """"line" (prismatic), "angle" (revolute), "turn" (continuous), or Pinocchio's name of anything else."""
    q: slice
    v: slice
    q_pin: slice
    v_pin: slice


class Coordinates:
    """Conversion for one model; immutable, arrays of single configurations and batches alike."""

    def __init__(self, model: pin.Model, couplings: Iterable[Coupling] = ()) -> None:
        self.model = model
        self.couplings = tuple(couplings)
        followers = {c.follower for c in self.couplings}
        self.slots, self.nq, self.nv = _slots(model, followers)
        self.by_name = {slot.name: slot for slot in self.slots}
        self.identity = self.nq == model.nq and not self.couplings
        self.plain = all(slot.kind in ("line", "angle") for slot in self.slots)
        self._lay_out_positions()
        self.velocity_map: Array | None = self._velocity_map() if self.couplings else None
        self.turns = self._indices("turn")
        self._wrapping = np.array([i for i in self.turns if self._free_to_wrap(i)], dtype=np.intp)
        self._units = self._unit_parts()
        self.many = [slot for slot in self.slots if slot.kind not in ("line", "angle", "turn")]

    def _lay_out_positions(self) -> None:
        """Per Pinocchio coordinate: the user's entry, a factor and an offset; then which are cos and sin."""
        source = np.zeros(self.model.nq, dtype=np.intp)
        scale, shift = np.ones(self.model.nq), np.zeros(self.model.nq)
        cos = []
        for slot in self.slots:
            source[slot.q_pin] = slot.q.start if slot.kind == "turn" else np.arange(slot.q.start, slot.q.stop)
            if slot.kind == "turn":
                cos.append(slot.q_pin.start)
        for coupling in self.couplings:
            follower, leader = self.joint(coupling.follower), self.by_name[coupling.leader]
            source[follower.q_pin] = leader.q.start
            scale[follower.q_pin], shift[follower.q_pin] = coupling.multiplier, coupling.offset
            if follower.kind == "turn":
                cos.append(follower.q_pin.start)
        self._source, self._scale, self._shift = source, scale, shift
        self._cos = np.array(cos, dtype=np.intp)

    def joint(self, name: str) -> JointSlot:
        """Where a joint of the model stands, follower or not; a follower has no entries of its own in q."""
        j = self.model.getJointId(name)
        q, v = self.model.idx_qs[j], self.model.idx_vs[j]
        nothing = slice(0, 0)
        return JointSlot(
            name, _kind(self.model.joints[j]), nothing, nothing, slice(q, q + self.model.nqs[j]), slice(v, v + 1)
        )

    def _velocity_map(self) -> Array:
        """G (nv_pin, nv): dq_pin = G dq."""
        G = np.zeros((self.model.nv, self.nv))
        for slot in self.slots:
            G[slot.v_pin, slot.v] = np.eye(slot.v.stop - slot.v.start)
        for coupling in self.couplings:
            G[self.joint(coupling.follower).v_pin, self.by_name[coupling.leader].v] = coupling.multiplier
        return G

    def _indices(self, kind: str) -> Array:
        found = [slot.q.start for slot in self.slots if slot.kind == kind]
        return np.array(found, dtype=np.intp)

    def _free_to_wrap(self, index: int) -> bool:
        """A full turn of a leader is no turn of a follower geared down."""
        name = next(slot.name for slot in self.slots if slot.q.start == index)
        return all(
            float(c.multiplier).is_integer() and self.joint(c.follower).kind == "turn"
            for c in self.couplings
            if c.leader == name
        )

    def _unit_parts(self) -> list[tuple[str, slice]]:
        parts = []
        for slot in self.slots:
            if slot.kind in _QUATERNION_AT:
                at = slot.q.start + _QUATERNION_AT[slot.kind]
                parts.append((f"quaternion of joint {slot.name!r}", slice(at, at + 4)))
            elif slot.kind == "JointModelPlanar":
                parts.append((f"(cos, sin) of joint {slot.name!r}", slice(slot.q.start + 2, slot.q.start + 4)))
        return parts

    def to_pinocchio(self, q: Array) -> Array:
        """(..., nq) -> (..., nq_pin)."""
        if self.identity:
            return q
        values = q[..., self._source]
        if self.couplings:
            values = values * self._scale + self._shift
        if self._cos.size:
            angle = values[..., self._cos]
            values[..., self._cos] = np.cos(angle)
            values[..., self._cos + 1] = np.sin(angle)
        return values

    def from_pinocchio(self, q_pin: Array) -> Array:
        """(..., nq_pin) -> (..., nq); angles in [-pi, pi], followers' own values are not read."""
        q = np.empty((*q_pin.shape[:-1], self.nq))
        for slot in self.slots:
            if slot.kind == "turn":
                at = slot.q_pin.start
                q[..., slot.q.start] = np.arctan2(q_pin[..., at + 1], q_pin[..., at])
            else:
                q[..., slot.q] = q_pin[..., slot.q_pin]
        return q

    def velocity(self, dq: Array) -> Array:
        """Velocity or acceleration (..., nv) -> (..., nv_pin)."""
        return dq if self.velocity_map is None else dq @ self.velocity_map.T

    def torque(self, tau_pin: Array) -> Array:
        """Torque (..., nv_pin) -> (..., nv): followers load their leader."""
        return tau_pin if self.velocity_map is None else tau_pin @ self.velocity_map

    def normalised(self, q: Array, name: str = "q") -> Array:
        """`q` with unit parts of length one; refuses parts that are off by more than rounding."""
        if not self._units:
            return q
        result = q.copy()
        for what, at in self._units:
            length = np.linalg.norm(q[..., at], axis=-1, keepdims=True)
            if (np.abs(length - 1.0) > 1e-3).any():
                worst = float(length.reshape(-1)[np.argmax(np.abs(length - 1.0))])
                raise InputError(f"{name}: the {what} must have length 1, got {worst:.6g}; divide it by its length")
            result[..., at] /= np.where(np.abs(length - 1.0) < 1e-14, 1.0, length)  # what is unit comes back unchanged
        return result

    def neutral(self) -> Array:
        """All zeros, orientations identity (nq,)."""
        return self.from_pinocchio(pin.neutral(self.model))

    def integrate(self, q: Array, dv: Array) -> Array:
        """Q moved by dv; angles are not wrapped."""
        if self.plain:
            return q + dv
        return each_row(self._integrate_one, q, dv, self.nq)

    def _integrate_one(self, q: Array, dv: Array) -> Array:
        result = np.empty(self.nq)
        moved = pin.integrate(self.model, self.to_pinocchio(q), self.velocity(dv)) if self.many else q
        for slot in self.slots:
            if slot.kind in ("line", "angle", "turn"):
                result[slot.q] = q[slot.q] + dv[slot.v]
            else:
                result[slot.q] = moved[slot.q_pin]
        return result

    def difference(self, q0: Array, q1: Array) -> Array:
        """Step from q0 to q1, the short way on continuous joints."""
        if self.plain:
            return q1 - q0
        return each_row(self._difference_one, q0, q1, self.nv)

    def _difference_one(self, q0: Array, q1: Array) -> Array:
        result = np.empty(self.nv)
        for slot in self.slots:
            if slot.kind in ("line", "angle", "turn"):
                result[slot.v] = q1[slot.q] - q0[slot.q]
        for index in self._wrapping:
            at = next(slot.v.start for slot in self.slots if slot.q.start == index)
            result[at] = wrap_angle(result[at])
        if self.many:
            step = pin.difference(self.model, self.to_pinocchio(q0), self.to_pinocchio(q1))
            for slot in self.many:
                result[slot.v] = step[slot.v_pin]
        return result

    def random(self, rng: np.random.Generator, position: Array, box: Array) -> Array:
        """Uniform within the limits (2, nq); floating bases within the box (2, 3)."""
        reach = np.full(self.nq, np.pi)
        for slot in self.slots:
            if slot.kind == "line":
                reach[slot.q] = 1.0
        lower, upper = finite_range(position, reach)
        q = rng.uniform(lower, upper)
        for slot in self.many:
            q[slot.q] = _random_pose(slot, rng, box)
        return q


def _random_pose(slot: JointSlot, rng: np.random.Generator, box: Array) -> Array:
    if slot.kind == "JointModelFreeFlyer":
        return np.concatenate([rng.uniform(box[0], box[1]), _random_unit(rng, 4)])
    if slot.kind == "JointModelSpherical":
        return _random_unit(rng, 4)
    if slot.kind == "JointModelPlanar":
        return np.concatenate([rng.uniform(box[0, :2], box[1, :2]), _random_unit(rng, 2)])
    if slot.kind == "JointModelTranslation":
        return np.asarray(rng.uniform(box[0], box[1]))
    raise UnsupportedError(f"no random configuration for joint {slot.name!r} of type {slot.kind}")


def _random_unit(rng: np.random.Generator, size: int) -> Array:
    """Uniform on the sphere: for four, a uniform rotation (Muller 1959, Marsaglia 1972)."""
    direction = rng.standard_normal(size)
    return direction / np.linalg.norm(direction)


def _kind(joint: pin.JointModel) -> str:
    name = str(joint.shortname())
    if joint.nq == 2 and joint.nv == 1:
        return "turn"
    if joint.nq == 1 and joint.nv == 1:
        return "line" if "Prismatic" in name or name in ("JointModelPX", "JointModelPY", "JointModelPZ") else "angle"
    return name


def _slots(model: pin.Model, followers: set[str]) -> tuple[list[JointSlot], int, int]:
    slots, q, v = [], 0, 0
    for j in range(1, model.njoints):
        if model.names[j] in followers:
            continue
        joint = model.joints[j]
        kind = _kind(joint)
        nq = 1 if kind == "turn" else joint.nq
        slots.append(
            JointSlot(
                model.names[j],
                kind,
                slice(q, q + nq),
                slice(v, v + joint.nv),
                slice(joint.idx_q, joint.idx_q + joint.nq),
                slice(joint.idx_v, joint.idx_v + joint.nv),
            )
        )
        q, v = q + nq, v + joint.nv
    return slots, q, v


def check_couplings(model: pin.Model, couplings: Iterable[Coupling]) -> tuple[Coupling, ...]:
    """The couplings, if every one names a joint and a leader that moves by itself.

    Raises:
        UnknownNameError: if a joint does not exist.
        InputTypeError: if they are no couplings.
        DescriptionError: if a joint mimics itself, a follower, or is not of one degree of freedom.
    """
    if not isinstance(couplings, Iterable):
        raise InputTypeError(f"couplings must be a sequence of Coupling, got {type(couplings).__name__}")
    found = tuple(couplings)
    for c in found:
        if not isinstance(c, Coupling):
            raise InputTypeError(f"couplings must hold Coupling only, got {type(c).__name__}")
    names = [str(name) for name in model.names][1:]
    followers = [c.follower for c in found]
    for c in found:
        for name in (c.follower, c.leader):
            if name not in names:
                raise unknown_name("joint", name, names)
            if model.nvs[model.getJointId(name)] != 1:
                raise DescriptionError(f"joint {name!r} has several degrees of freedom and cannot take part in mimic")
        if c.leader == c.follower:
            raise DescriptionError(f"joint {c.follower!r} mimics itself")
        if c.leader in followers:
            raise DescriptionError(
                f"joint {c.follower!r} mimics {c.leader!r}, which itself mimics another joint; name the first leader"
            )
        if followers.count(c.follower) > 1:
            raise DescriptionError(f"joint {c.follower!r} mimics two joints")
        if not (np.isfinite(c.multiplier) and np.isfinite(c.offset)):
            raise DescriptionError(f"joint {c.follower!r}: multiplier and offset of mimic must be finite")
    return found
