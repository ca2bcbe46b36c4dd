"""The robot's own coordinates and Pinocchio's.

A user sees one angle per continuous joint and no entry for a joint that mimics another. Pinocchio keeps (cos, sin)
for the first and knows nothing of the second. Free-flyer, planar and spherical joints are the same on both sides:
positions, unit quaternion (x, y, z, w), or (cos, sin) of a planar joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .arrays import Array
from .couplings import Coupling
from .errors import InputError, UnsupportedError
from .manifold import each_row, finite_range
from .spatial import wrap_angle

_ROUNDING = 1e-3
"""How far the length of what should be a unit vector may be off; float32 and printed digits stay well below."""
_QUATERNION_AT = {"JointModelFreeFlyer": 3, "JointModelSpherical": 0}


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

    @property
    def flat(self) -> bool:
        """Whether its coordinates are plain numbers that may have limits, one per velocity."""
        return self.kind != "turn" and self.q.stop - self.q.start == self.v.stop - self.v.start


class Coordinates:
    """Conversion for one model; immutable, arrays of single configurations and batches alike."""

    def __init__(self, model: pin.Model, couplings: Iterable[Coupling] = ()) -> None:
        self.model = model
        self.couplings = tuple(couplings)
        followers = {c.follower for c in self.couplings}
        self.slots, self.nq, self.nv = _slots(model, followers)
        self.by_name = {slot.name: slot for slot in self.slots}
        self.identity = self.nq == model.nq and not self.couplings
        self._lay_out_positions()
        self.velocity_map: Array | None = self._velocity_map() if self.couplings else None
        self._units = self._unit_parts()
        self.many = [slot for slot in self.slots if slot.kind not in ("line", "angle", "turn")]
        single = [slot for slot in self.slots if slot.kind in ("line", "angle", "turn")]
        self._single_q, self._single_v = [s.q.start for s in single], [s.v.start for s in single]
        self._wrapping = [s.v.start for s in single if s.kind == "turn" and self._free_to_wrap(s.name)]

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
        self._cos, self._sin = cos, [at + 1 for at in cos]

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

    def _free_to_wrap(self, name: str) -> bool:
        """A full turn of a leader is no turn of a follower geared down."""
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
        values = q.take(self._source, axis=-1)
        if self.couplings:
            values = values * self._scale + self._shift
        if values.ndim == 1:
            for at in self._cos:  # for the few there are, faster than indexing by an array
                angle = values.item(at)
                values[at], values[at + 1] = math.cos(angle), math.sin(angle)
        elif self._cos:
            angles = values[:, self._cos]
            values[:, self._cos], values[:, self._sin] = np.cos(angles), np.sin(angles)
        return values

    def from_pinocchio(self, q_pin: Array) -> Array:
        """(..., nq_pin) -> (..., nq); angles in [-pi, pi], followers' own values are not read.

        Raises:
            InputError: if the (cos, sin) of a continuous joint is no point of the unit circle.
        """
        q = np.empty((*q_pin.shape[:-1], self.nq))
        for slot in self.slots:
            if slot.kind == "turn":
                cos, sin = q_pin[..., slot.q_pin.start], q_pin[..., slot.q_pin.start + 1]
                if (np.abs(np.hypot(cos, sin) - 1.0) > _ROUNDING).any():
                    raise InputError(f"q: the (cos, sin) of joint {slot.name!r} must have length 1, as in pin.neutral")
                q[..., slot.q.start] = np.arctan2(sin, cos)
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
            if (np.abs(length - 1.0) > _ROUNDING).any():
                worst = float(length.reshape(-1)[np.argmax(np.abs(length - 1.0))])
                raise InputError(f"{name}: the {what} must have length 1, got {worst:.6g}; divide it by its length")
            result[..., at] /= np.where(np.abs(length - 1.0) < 1e-14, 1.0, length)  # what is unit comes back unchanged
        return result

    def neutral(self) -> Array:
        """All zeros, orientations identity (nq,)."""
        return self.from_pinocchio(pin.neutral(self.model))

    def integrate(self, q: Array, dv: Array) -> Array:
        """Q moved by dv; angles are not wrapped."""
        if not self.many:
            return q + dv
        return each_row(self._integrate_one, q, dv, self.nq)

    def _integrate_one(self, q: Array, dv: Array) -> Array:
        result = np.empty(self.nq)
        moved = pin.integrate(self.model, self.to_pinocchio(q), self.velocity(dv))
        result[self._single_q] = q[self._single_q] + dv[self._single_v]
        for slot in self.many:
            result[slot.q] = moved[slot.q_pin]
        return result

    def difference(self, q0: Array, q1: Array) -> Array:
        """Step from q0 to q1, the short way on continuous joints."""
        if self.many:
            return each_row(self._difference_one, q0, q1, self.nv)
        step = q1 - q0
        if step.ndim == 1:
            for at in self._wrapping:
                step[at] = wrap_angle(step.item(at))
        elif self._wrapping:
            step[:, self._wrapping] = wrap_angle(step[:, self._wrapping])
        return step

    def _difference_one(self, q0: Array, q1: Array) -> Array:
        result = np.empty(self.nv)
        result[self._single_v] = q1[self._single_q] - q0[self._single_q]
        result[self._wrapping] = wrap_angle(result[self._wrapping])
        step = pin.difference(self.model, self.to_pinocchio(q0), self.to_pinocchio(q1))
        for slot in self.many:
            result[slot.v] = step[slot.v_pin]
        return result

    def range(self, position: Array) -> tuple[Array, Array]:
        """Bounds and widths (nq,) to draw from, given the limits (2, nq)."""
        reach = np.full(self.nq, np.pi)
        for slot in self.slots:
            if slot.kind in ("line", "JointModelTranslation"):
                reach[slot.q] = 1.0
        lower, upper = finite_range(position, reach)
        return lower, upper - lower

    def random(self, rng: np.random.Generator, lower: Array, width: Array, position: Array, box: Array) -> Array:
        """Uniform within bounds of `range`; floating bases within the box (2, 3) as far as the limits (2, nq) allow."""
        q = lower + width * rng.random(self.nq)
        for slot in self.many:
            if not slot.flat:
                q[slot.q] = _random_pose(slot, rng, position[:, slot.q], box)
        return q


def _random_pose(slot: JointSlot, rng: np.random.Generator, limits: Array, box: Array) -> Array:
    if slot.kind == "JointModelFreeFlyer":
        low, high = np.clip(box, *limits[:, :3])
        return np.concatenate([rng.uniform(low, high), _random_unit(rng, 4)])
    if slot.kind == "JointModelSpherical":
        return _random_unit(rng, 4)
    if slot.kind == "JointModelPlanar":
        low, high = np.clip(box[:, :2], *limits[:, :2])
        return np.concatenate([rng.uniform(low, high), _random_unit(rng, 2)])
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
