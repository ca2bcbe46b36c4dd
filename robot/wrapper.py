"""What a PinRobot may be made from."""

from __future__ import annotations

from typing import Any

import coal
import pinocchio as pin

from .body import keepable
from .collada_triangles import repair
from .errors import InputError, InputTypeError, UnsupportedError
from .rearranging import require_order


def models_of(wrapper: Any) -> tuple[pin.Model, pin.GeometryModel, pin.GeometryModel]:
    """Copies of the model, collision and visual geometry of a RobotWrapper, a Model or a tuple of these.

    Raises:
        InputTypeError: if it is something else.
        UnsupportedError: on Pinocchio's mimic joints, or joints in an order for which its mass matrix is wrong.
    """
    if isinstance(wrapper, pin.Model):
        parts = (wrapper, None, None)
    elif isinstance(wrapper, tuple | list) and 1 <= len(wrapper) <= 3:
        parts = (*wrapper, None, None)[:3]
    elif hasattr(wrapper, "model"):
        parts = (wrapper.model, getattr(wrapper, "collision_model", None), getattr(wrapper, "visual_model", None))
    else:
        parts = (None, None, None)
    if not isinstance(parts[0], pin.Model):
        raise InputTypeError(
            f"wrapper must be a RobotWrapper, a Model or (model, collision, visual), got {type(wrapper).__name__}"
        )
    mimics = [name for name, joint in zip(parts[0].names, parts[0].joints, strict=True) if "Mimic" in joint.shortname()]
    if mimics:
        raise UnsupportedError(
            f"joint {mimics[0]!r} is Pinocchio's mimic joint, which most of its algorithms refuse; build the model "
            "with mimic=False and pass couplings=[Coupling(follower, leader, multiplier, offset)]"
        )
    for part in parts[1:]:
        if part is not None and not isinstance(part, pin.GeometryModel):
            raise InputTypeError(
                f"collision and visual must be pinocchio GeometryModel or None, got {type(part).__name__}"
            )
    require_order(parts[0])
    collision, visual = (pin.GeometryModel() if part is None else part.clone() for part in parts[1:])
    for geometry in (collision, visual):
        anchor(parts[0], geometry)
        repair(geometry)
    for thing in (*collision.geometryObjects, *visual.geometryObjects):
        if type(thing.geometry) is coal.ConvexBase:
            thing.geometry = keepable(thing.geometry)
    return parts[0].copy(), collision, visual


def anchor(model: pin.Model, geometry: pin.GeometryModel) -> None:
    """Give geometries without a frame the first one of their joint; Pinocchio leaves an impossible index there.

    Raises:
        InputError: if a geometry is on a joint that does not exist, where Pinocchio would read foreign memory.
    """
    for thing in geometry.geometryObjects:
        if thing.parentJoint >= model.njoints:
            raise InputError(f"geometry {thing.name!r} is on joint {thing.parentJoint}, but there are {model.njoints}")
        if thing.parentFrame >= model.nframes:
            frames = (i for i, frame in enumerate(model.frames) if frame.parentJoint == thing.parentJoint)
            thing.parentFrame = next(frames, 0)
