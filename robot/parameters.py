"""Limits and motors of a Pinocchio model in the robot's own coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import Array
from .coordinates import Coordinates, JointSlot
from .limits import JointLimits
from .motors import Motors

_UNBOUNDED = 1e300
"""Pinocchio writes the greatest float where there is no limit."""


@dataclass(frozen=True, slots=True)
class ExtraLimits:
    """Limits that override the model's or that it has no place for, by joint: (2, nq_j) positions, (nv_j,) rates."""

    position: Mapping[str, Array] = field(default_factory=dict)
    velocity: Mapping[str, Array] = field(default_factory=dict)
    acceleration: Mapping[str, Array] = field(default_factory=dict)
    torque: Mapping[str, Array] = field(default_factory=dict)
    jerk: Mapping[str, Array] = field(default_factory=dict)


def limits_of(model: pin.Model, coordinates: Coordinates, extra: ExtraLimits) -> JointLimits:
    """Limits in the robot's coordinates; a speed or torque limit of 0 in the model means none was given.

    Limits of followers bound their leader, unless an override says otherwise.
    """
    position = np.tile([[-np.inf], [np.inf]], (1, coordinates.nq))
    velocity, torque = np.full(coordinates.nv, np.inf), np.full(coordinates.nv, np.inf)
    acceleration, jerk = velocity.copy(), velocity.copy()
    speeds, efforts = _given(model.velocityLimit), _given(model.effortLimit)
    for slot in coordinates.slots:
        velocity[slot.v], torque[slot.v] = speeds[slot.v_pin], efforts[slot.v_pin]
        if slot.flat:
            position[:, slot.q] = _bounds(model, slot)
    for leader, follower, coupling in _coupled(coordinates):
        speed = speeds[follower.v_pin] / max(abs(coupling.multiplier), 1e-300)
        velocity[leader.v] = np.minimum(velocity[leader.v], speed)
        if follower.kind != "turn" and coupling.multiplier != 0:
            with np.errstate(over="ignore"):  # a multiplier next to nothing bounds nothing
                ends = np.sort((_bounds(model, follower)[:, 0] - coupling.offset) / coupling.multiplier)
            low = max(position[0, leader.q.start], ends[0])
            high = min(position[1, leader.q.start], ends[1])
            if low < high:  # else the follower's limits contradict the coupling, and the leader's alone count
                position[:, leader.q.start] = low, high
    rates = {"velocity": velocity, "acceleration": acceleration, "torque": torque, "jerk": jerk}
    for slot in coordinates.slots:
        position[:, slot.q] = extra.position.get(slot.name, position[:, slot.q])
        for name, values in rates.items():
            values[slot.v] = getattr(extra, name).get(slot.name, values[slot.v])
    return JointLimits.create(coordinates.nq, coordinates.nv, position, **rates)


def motors_of(model: pin.Model, coordinates: Coordinates) -> Motors:
    """Motors in the robot's coordinates; a follower's are felt at its leader, geared by the multiplier."""
    own = model_motors(model)
    G = coordinates.velocity_map
    if G is None:
        return own
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is refused by name
        weight, lever = (G**2).T, np.abs(G).T
        parts = weight @ own.reflected_inertia, weight @ own.damping, lever @ own.coulomb
    return Motors.create(coordinates.nv, parts[0], 1.0, *parts[1:])


def model_motors(model: pin.Model) -> Motors:
    """Motors per velocity of the model."""
    return Motors.create(model.nv, model.rotorInertia, model.rotorGearRatio, model.damping, model.friction)


def _given(limit: Array) -> Array:
    return np.where((limit <= 0) | (limit >= _UNBOUNDED), np.inf, limit)


def _bounds(model: pin.Model, slot: JointSlot) -> Array:
    bounds = np.array([model.lowerPositionLimit[slot.q_pin], model.upperPositionLimit[slot.q_pin]])
    return np.where(np.abs(bounds) >= _UNBOUNDED, np.copysign(np.inf, bounds), bounds)


def _coupled(coordinates: Coordinates) -> Iterator[tuple[JointSlot, JointSlot, Any]]:
    for coupling in coordinates.couplings:
        yield coordinates.by_name[coupling.leader], coordinates.joint(coupling.follower), coupling
