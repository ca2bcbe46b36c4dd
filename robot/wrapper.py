"""What a PinRobot may be made from."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from .errors import InputTypeError, UnsupportedError


def models_of(wrapper: Any) -> tuple[pin.Model, pin.GeometryModel, pin.GeometryModel]:
    """Copies of the model, collision and visual geometry of a RobotWrapper, a Model or a tuple of these.

    Raises:
        InputTypeError: if it is something else.
        UnsupportedError: on Pinocchio's mimic joints.
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
    collision, visual = (pin.GeometryModel() if part is None else part.copy() for part in parts[1:])
    return parts[0].copy(), collision, visual
