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

_ROUNDING = 1e-12
"""How far numbers may differ that went to a base and back, as a share of the quantity they belong to."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A robot as seen from its base.

    Attributes:
        robot: A twin whose base is at the origin, gravity turned along.
        names: What must be equal for two to be of one kind.
        own: Numbers that no base touches, which must be equal.
        fixed: Poses of what is fixed to the base, and gravity: equal up to rounding.
        slack: How much rounding that is.
    """

    robot: PinRobot
    names: tuple[object, ...]
    own: Array
    fixed: Array
    slack: Array

    def like(self, other: Standing) -> bool:
        """Whether both are of one kind."""
        return (
            self.names == other.names
            and np.array_equal(self.own, other.own)
            and self.fixed.shape == other.fixed.shape
            and bool((np.abs(self.fixed - other.fixed) <= np.maximum(self.slack, other.slack)).all())
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
    far = float(np.linalg.norm(robot.placement.translation))
    return Standing(twin, (robot.couplings, *_names(twin.model)), _own(twin.model), *_fixed(twin.model, far))


def _names(model: pin.Model) -> tuple[object, ...]:
    frames = tuple((str(frame.name), int(frame.parentJoint), frame.type) for frame in model.frames)
    return (*model.names, *(int(parent) for parent in model.parents), frames)


def _placements(model: pin.Model, on_base: bool) -> list[pin.SE3]:
    """Poses of the joints and frames fixed to the base, or of all others."""
    found = [T for T, parent in zip(model.jointPlacements, model.parents, strict=True) if (parent == 0) == on_base]
    return found + [frame.placement for frame in model.frames if (frame.parentJoint == 0) == on_base]


def _own(model: pin.Model) -> Array:
    poses = [pose.homogeneous[:3].ravel() for pose in _placements(model, False)]
    bodies = [inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]]
    return np.concatenate([*poses, *bodies, model.armature])


def _fixed(model: pin.Model, far: float) -> tuple[Array, Array]:
    """The numbers that went to a base `far` [m] from the origin and back, and the rounding they may have."""
    numbers, slack = [model.gravity.linear], [np.full(3, np.linalg.norm(model.gravity.linear))]
    for pose in _placements(model, True):
        numbers.append(pose.homogeneous[:3].ravel())
        reach = far + float(np.linalg.norm(pose.translation))
        slack.append(np.tile([1.0, 1.0, 1.0, reach], 3))
    return np.concatenate(numbers), _ROUNDING * np.concatenate(slack)
