"""Robots of one kind on bases of their own: their common model with its base at the origin.

Placing a base moves everything fixed to the world, so machines of one kind that stand in different places have
different models. Seen from their bases they are one, as far as gravity points the same way there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .arrays import Array
from .base import RobotBase
from .fleet_pinocchio import free_roots
from .pin_robot import PinRobot

_ROUNDING = 1e-11
"""How far numbers may differ that went to a base and back."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A robot as seen from its base.

    Attributes:
        robot: A twin whose base is at the origin, gravity turned along.
        names: What must be equal for two to be of one kind.
        numbers: What must be equal up to rounding.
    """

    robot: PinRobot
    names: tuple[object, ...]
    numbers: Array

    def like(self, other: Standing) -> bool:
        """Whether both are of one kind."""
        return (
            self.names == other.names
            and self.numbers.shape == other.numbers.shape
            and bool(np.allclose(self.numbers, other.numbers, rtol=_ROUNDING, atol=_ROUNDING))
            and all(a == b for a, b in zip(self.robot.model.joints, other.robot.model.joints, strict=True))
        )


def from_its_base(robot: RobotBase) -> Standing | None:
    """The robot as seen from its base; None if it floats, or is not one of Pinocchio's."""
    if not isinstance(robot, PinRobot) or free_roots(robot):
        return None
    twin = PinRobot(wrapper=robot.model, couplings=robot.couplings, name=robot.name)
    twin.set_base_placement(robot.placement.inv())
    twin.model.gravity = pin.Motion(robot.placement.rotation.T @ robot.model.gravity.linear, np.zeros(3))
    twin.refresh()
    return Standing(twin, (robot.couplings, *_names(twin.model)), _numbers(twin.model))


def _names(model: pin.Model) -> tuple[object, ...]:
    frames = tuple((str(frame.name), int(frame.parentJoint), frame.type) for frame in model.frames)
    return (*model.names, *(int(parent) for parent in model.parents), frames)


def _numbers(model: pin.Model) -> Array:
    poses = [*model.jointPlacements, *(frame.placement for frame in model.frames)]
    bodies = [inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]]
    return np.concatenate(
        [*(pose.homogeneous[:3].ravel() for pose in poses), *bodies, model.armature, model.gravity.linear]
    )
