"""A robot built anew, joint by joint, from what Pinocchio read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from knuckle import PinBody, PinRobot
from knuckle.robot.body import BodyGeometry


def rebuilt(robot: PinRobot, order: list[int] | None = None, defer: bool = False) -> PinRobot:
    """The robot put together from its model, joints added in any order that has parents before children."""
    model = robot.model
    new = PinRobot.empty(robot.name, gravity=model.gravity.linear)
    for link, frame, body in _links(robot, 0):
        above = model.frames[frame]
        if frame and above.name not in new.frames:  # a fixed joint of the base
            parent = model.frames[above.parentFrame]
            new.add_frame(above.name, parent.name, parent.placement.actInv(above.placement))
        parent = new.model.getFrameId(model.frames[frame].name) if frame else 0
        new._add_body(body, 0, parent)
        assert new.model.frames[new.model.nframes - 1].name == model.frames[link].name
    for joint in order or scrambled(robot):
        _add(new, robot, joint, update_kinematics=not defer)
    new._update_kinematic()
    for frame in model.frames:
        if frame.type == pin.FrameType.OP_FRAME:
            parent = model.frames[frame.parentFrame]
            if parent.parentJoint != frame.parentJoint:
                parent = model.frames[model.getFrameId(model.names[frame.parentJoint])]
            new.add_frame(frame.name, parent.name, parent.placement.actInv(frame.placement))
    return new


def _add(new: PinRobot, robot: PinRobot, joint: int, **options: bool) -> None:
    model = robot.model
    q, v = model.idx_qs[joint], model.idx_vs[joint]
    at, rate = slice(q, q + model.nqs[joint]), slice(v, v + model.nvs[joint])
    links = list(_links(robot, joint))
    fixed = [pin.Frame(model.frames[frame]) for _, frame, _ in links[1:]]
    for frame in fixed:
        frame.inertia = pin.Inertia.Zero()
    name = model.names[joint]
    index = new._add_joint(
        model.joints[joint],
        model.names[model.parents[joint]],
        [body for _, _, body in links],
        fixed,
        model.inertias[joint],
        joint_placement=model.jointPlacements[joint],
        joint_name=name,
        max_effort=model.effortLimit[rate],
        max_velocity=model.velocityLimit[rate],
        min_config=model.lowerPositionLimit[at],
        max_config=model.upperPositionLimit[at],
        friction=model.friction[rate],
        damping=model.damping[rate],
        armature=model.armature[rate],
        coupling=next((c for c in robot.couplings if c.follower == name), None),
        **options,
    )
    assert new.model.names[index] == name


def _links(robot: PinRobot, joint: int) -> Iterator[tuple[int, int, PinBody]]:
    """The links of a joint: their frame, the frame they hang on, the body; the first weighs all of it."""
    model = robot.model
    first = True
    for index, frame in enumerate(model.frames):
        if frame.parentJoint == joint and frame.type == pin.FrameType.BODY:
            parts = [
                [_in_link(thing, frame.placement) for thing in geometry.geometryObjects if thing.parentFrame == index]
                for geometry in (robot.collision, robot.visual)
            ]
            whole = frame.placement.actInv(model.inertias[joint]) if first and joint == 0 else pin.Inertia.Zero()
            yield index, frame.parentFrame, PinBody(frame.name, 0.0, None, whole, parts[0], parts[1])
            first = False


def _in_link(thing: pin.GeometryObject, link: pin.SE3) -> BodyGeometry:
    own = thing.copy()
    own.placement = link.actInv(thing.placement)
    return BodyGeometry.of(own)


def scrambled(robot: PinRobot, seed: int | None = None) -> list[int]:
    """The joints in some order, parents before children, leaders before followers; without a seed the first that is."""
    model = robot.model
    leader = {model.getJointId(c.follower): model.getJointId(c.leader) for c in robot.couplings}
    rng, order, ready = np.random.default_rng(seed), [], {0}
    waiting = list(range(1, model.njoints))
    while waiting:
        free = [joint for joint in waiting if {model.parents[joint], leader.get(joint, 0)} <= ready]
        joint = free[0] if seed is None else int(rng.choice(free))
        order.append(joint)
        ready.add(joint)
        waiting.remove(joint)
    return order
