"""Pinocchio models with their joints in another order, or without some frames and geometries.

Pinocchio has joints appended only, but its mass matrix, its inverse and the Coriolis matrix are silently wrong unless
every subtree is one run of consecutive joints. So a joint that goes amid a tree means a new model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pinocchio as pin

from .errors import UnsupportedError

_PER_VELOCITY = (
    "armature",
    "rotorInertia",
    "rotorGearRatio",
    "damping",
    "lowerEffortLimit",
    "upperEffortLimit",
    "lowerVelocityLimit",
    "upperVelocityLimit",
    "lowerDryFrictionLimit",
    "upperDryFrictionLimit",
)
_PER_POSITION = ("lowerPositionLimit", "upperPositionLimit", "positionLimitMargin")


def misplaced_joint(model: pin.Model) -> int | None:
    """The first joint that does not follow its parent's subtree directly, None if there is none."""
    for joint in range(2, model.njoints):
        if model.parents[joint] not in model.supports[joint - 1]:
            return joint
    return None


def require_order(model: pin.Model) -> None:
    """Refuse a model whose mass matrix Pinocchio would get wrong.

    Raises:
        UnsupportedError: if a subtree is not one run of consecutive joints.
    """
    joint = misplaced_joint(model)
    if joint is not None:
        raise UnsupportedError(
            f"joint {model.names[joint]!r} stands apart from the subtree of its parent "
            f"{model.names[model.parents[joint]]!r}, for which Pinocchio's mass matrix is silently wrong; add joints "
            "depth first, or build the robot with PinRobot.empty and _add_joint, which keep them in order"
        )


def depth_first(model: pin.Model) -> list[int]:
    """The joints but the world, every subtree in one run, siblings in the order they have."""
    children: list[list[int]] = [[] for _ in range(model.njoints)]
    for joint in range(1, model.njoints):
        children[model.parents[joint]].append(joint)
    order, waiting = [], children[0][::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(children[joint]))
    return order


def rearranged(model: pin.Model, order: Sequence[int], dropped: Collection[int] = ()) -> tuple[pin.Model, list[int]]:
    """A model with the joints in another order and without some frames.

    Args:
        model: Left as it is.
        order: All joints but the world, parents before children.
        dropped: Indices of frames to leave out, on which none that stays may hang.

    Returns:
        The model, and the new index of every joint.
    """
    new, at = pin.Model(), [0] * model.njoints
    new.name, new.gravity = model.name, pin.Motion(model.gravity)
    for _ in range(model.nbodies - new.nbodies):
        new.appendBodyToJoint(0, pin.Inertia.Zero(), pin.SE3.Identity())  # the only way to count bodies
    new.inertias[0] = model.inertias[0]
    for joint in order:
        at[joint] = new.addJoint(
            at[model.parents[joint]], model.joints[joint], model.jointPlacements[joint], model.names[joint]
        )
        new.inertias[at[joint]] = model.inertias[joint]
    q, v = _entries(model, order)
    for name in _PER_VELOCITY:
        setattr(new, name, getattr(model, name)[v])
    for name in _PER_POSITION:
        setattr(new, name, getattr(model, name)[q])
    for entry in model.referenceConfigurations:
        new.referenceConfigurations[entry.key()] = entry.data()[q]
    _copy_frames(model, new, at, dropped)
    return new, at


def _entries(model: pin.Model, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where the new model's positions and velocities stand in the old one."""
    q = [i for j in order for i in range(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])]
    v = [i for j in order for i in range(model.idx_vs[j], model.idx_vs[j] + model.nvs[j])]
    return q, v


def _copy_frames(old: pin.Model, new: pin.Model, at: Sequence[int], dropped: Collection[int]) -> None:
    kept = [index for index in range(1, old.nframes) if index not in dropped]
    place = {0: 0} | {index: k for k, index in enumerate(kept, start=1)}
    for index in kept:
        f = old.frames[index]
        # frames may hang on later ones in models made by others, so the parent is written afterwards
        frame = pin.Frame(f.name, at[f.parentJoint], 0, f.placement, f.type, f.inertia)
        new.addFrame(frame, False)
        new.frames[place[index]].parentFrame = place[f.parentFrame]


def carried_over(
    geometry: pin.GeometryModel, old: pin.Model, new: pin.Model, at: Sequence[int], dropped: Collection[int] = ()
) -> pin.GeometryModel:
    """The geometry of a rearranged model, without some geometries and their pairs.

    Args:
        geometry: Left as it is; shapes are shared with it.
        old: The model it belongs to.
        new: The rearranged model.
        at: New index of every joint.
        dropped: Indices of geometries to leave out.
    """
    result, place = pin.GeometryModel(), {}
    names = [(f.name, f.type) for f in old.frames]
    where = {(f.name, f.type): index for index, f in enumerate(new.frames)}
    for index, thing in enumerate(geometry.geometryObjects):
        if index not in dropped:
            copy = thing.copy()
            copy.parentJoint = at[thing.parentJoint]
            if thing.parentFrame < len(names):  # else none was given
                copy.parentFrame = where[names[thing.parentFrame]]
            place[index] = result.addGeometryObject(copy)
    for pair in geometry.collisionPairs:
        if pair.first in place and pair.second in place:
            result.addCollisionPair(pin.CollisionPair(place[pair.first], place[pair.second]))
    return result
