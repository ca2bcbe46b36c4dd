"""Changes to a Pinocchio model in the robot's own coordinates: limits, motors, payloads, where the base stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import Array, _as_float
from .coordinates import Coordinates
from .errors import InputError, unknown_name
from .inertia import spatial_inertia
from .limits import JointLimits
from .motors import parameter
from .parameters import ExtraLimits

RATES = ("velocity", "acceleration", "torque", "jerk")


def with_limits(
    model: pin.Model,
    coordinates: Coordinates,
    now: JointLimits,
    extra: ExtraLimits,
    position: Any,
    rates: dict[str, Any],
) -> ExtraLimits:
    """The overriding limits; those that Pinocchio's model has a place for are written into it as well.

    Args:
        model: Changed in place.
        coordinates: Where each joint stands.
        now: Limits in force, which what is not given keeps.
        extra: Overrides in force.
        position: (2, nq), a mapping from joint names to (lower, upper), or None.
        rates: For each name in RATES a number, (nv,), a mapping from joint names to numbers, or None.

    Raises:
        InputError: on a wrong shape, a NaN, a lower above an upper limit or a negative limit.
    """
    wanted = {name: _merged(rates[name], getattr(now, name), coordinates, f"{name} limits") for name in RATES}
    bounds = _merged_bounds(position, now.position, coordinates)
    new = JointLimits.create(coordinates.nq, coordinates.nv, bounds, **wanted)
    for slot in coordinates.slots:
        if slot.flat:
            model.lowerPositionLimit[slot.q_pin] = new.position[0, slot.q]
            model.upperPositionLimit[slot.q_pin] = new.position[1, slot.q]
        model.upperVelocityLimit[slot.v_pin], model.lowerVelocityLimit[slot.v_pin] = (
            new.velocity[slot.v],
            -new.velocity[slot.v],
        )
        model.upperEffortLimit[slot.v_pin], model.lowerEffortLimit[slot.v_pin] = (
            new.torque[slot.v],
            -new.torque[slot.v],
        )
    changed: dict[str, Any] = {}
    if position is not None:
        changed["position"] = {**extra.position, **{s.name: new.position[:, s.q] for s in coordinates.slots}}
    for name in RATES:
        if rates[name] is not None:
            values = getattr(new, name)
            changed[name] = {**getattr(extra, name), **{s.name: values[s.v] for s in coordinates.slots}}
    return replace(extra, **changed)


def with_motors(model: pin.Model, coordinates: Coordinates, given: dict[str, Any]) -> None:
    """Write motor parameters into a model; a number, (nv,), a mapping from joint names to numbers, or None to keep.

    What is given for a joint that others follow is felt there in all, so the followers' own part becomes zero.
    """
    fields = {
        "rotor_inertia": model.rotorInertia,
        "gear_ratio": model.rotorGearRatio,
        "damping": model.damping,
        "friction": model.friction,
    }
    new = {}
    for name, field in fields.items():
        now = np.empty(coordinates.nv)
        for slot in coordinates.slots:
            now[slot.v] = field[slot.v_pin]
        new[name] = parameter(_merged(given[name], now, coordinates, name), coordinates.nv, name)
    for name, values in new.items():
        for slot in coordinates.slots:
            fields[name][slot.v_pin] = values[slot.v]
    for coupling in coordinates.couplings:
        for name in ("rotor_inertia", "damping", "friction"):
            if _names_joint(given[name], coupling.leader):
                fields[name][coordinates.joint(coupling.follower).v_pin] = 0.0
    friction = model.friction
    model.upperDryFrictionLimit, model.lowerDryFrictionLimit = friction, -friction


def with_payload(model: pin.Model, frame: pin.Frame, mass: Any, com: Any, inertia: Any) -> None:
    """Add a body to the joint that carries a frame.

    Args:
        model: Changed in place.
        frame: Frame of the model in whose axes the rest is given.
        mass: [kg].
        com: Centre of mass (3,) [m]; None is the frame's origin.
        inertia: About the centre of mass (3, 3) [kg m^2]; None is a point mass.

    Raises:
        InputError: on a negative mass, or an inertia no body has.
    """
    body = spatial_inertia(mass, com, inertia)
    model.inertias[frame.parentJoint] = model.inertias[frame.parentJoint] + frame.placement.act(body)


def move_base(model: pin.Model, geometries: tuple[pin.GeometryModel, ...], displacement: pin.SE3) -> None:
    """Move every joint, frame, inertia and geometry fixed to the world; the frame "universe" is the world itself."""
    for joint in range(1, model.njoints):
        if model.parents[joint] == 0:
            model.jointPlacements[joint] = displacement * model.jointPlacements[joint]
    for index in range(1, model.nframes):
        frame = model.frames[index]  # a slice would hold copies
        in_world = frame.type == pin.FrameType.OP_FRAME and frame.parentFrame == 0  # added to the world itself
        if frame.parentJoint == 0 and not in_world:
            frame.placement = displacement * frame.placement
    model.inertias[0] = displacement.act(model.inertias[0])
    for geometry in geometries:
        for thing in geometry.geometryObjects:
            if thing.parentJoint == 0:
                thing.placement = displacement * thing.placement


def _merged(value: Any, now: Array, coordinates: Coordinates, name: str) -> Any:
    """The new values (nv,): all of them, or those in force with the named joints' replaced."""
    if value is None:
        return now
    if not isinstance(value, Mapping):
        return value
    result = now.copy()
    for joint, entry in value.items():
        if joint not in coordinates.by_name:
            raise unknown_name("joint", joint, coordinates.by_name)
        at = coordinates.by_name[joint].v
        result[at] = _entry(entry, at.stop - at.start, f"{name} of joint {joint!r}")
    return result


def _names_joint(value: Any, joint: str) -> bool:
    return joint in value if isinstance(value, Mapping) else value is not None


def _merged_bounds(value: Any, now: Array, coordinates: Coordinates) -> Any:
    if value is None:
        return now
    if not isinstance(value, Mapping):
        return value
    result = now.copy()
    for joint, pair in value.items():
        if joint not in coordinates.by_name:
            raise unknown_name("joint", joint, coordinates.by_name)
        at = coordinates.by_name[joint].q
        try:
            lower, upper = pair
        except (TypeError, ValueError):
            raise InputError(f"position limits of joint {joint!r} must be (lower, upper), got {pair!r}") from None
        for row, bound in enumerate((lower, upper)):
            result[row, at] = _entry(bound, at.stop - at.start, f"position limits of joint {joint!r}")
    return result


def _entry(value: Any, size: int, name: str) -> Array:
    """A number or (size,), infinite allowed."""
    try:
        return np.broadcast_to(_as_float(value, name), (size,))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} must be a number" + (f" or {size} numbers" if size > 1 else "")) from None
