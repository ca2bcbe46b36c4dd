"""Robots that tests of building share."""

from __future__ import annotations

import math
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import Coupling, PinBody, PinRobot, Transformation

from .robot_cases import ON_PINOCCHIO, close, fresh, state

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)


WELD = pin.Frame("weld", 0, pin.SE3.Identity(), pin.FrameType.FIXED_JOINT)


PENDULUM = PinBody.solid("bar", coal.Box(0.1, 0.1, 1.0), 2.0, Transformation.from_translation([0, 0, -0.5]))


def _exact() -> PinRobot:
    return PinRobot(wrapper=pin.Model(), collision_meshes="exact")


def at_origin(name: str) -> PinRobot:
    robot = fresh(name)
    robot.set_base_placement(Transformation.identity())
    return robot


def moved_over(values: Any, old: PinRobot, new: PinRobot, which: int) -> Any:
    """Values of one robot's joints in the order of another's."""
    result = np.zeros(new.nv if which else new.nq)
    for joint, at in new.coordinate_slices().items():
        result[at[which]] = values[old.coordinate_slices()[joint][which]]
    return result


def assert_equal_robots(old: PinRobot, new: PinRobot) -> None:
    q, dq, ddq = state(old)
    p, dp, ddp = moved_over(q, old, new, 0), moved_over(dq, old, new, 1), moved_over(ddq, old, new, 1)
    ours, theirs = new.fk(p, kind="full"), old.fk(q, kind="full")
    assert set(ours) == set(theirs)
    for frame, pose in theirs.items():
        close(ours[frame].homogeneous, pose.homogeneous, 1e-12)
    order = moved_over(np.arange(old.nv), old, new, 1).astype(int)
    close(new.mass_matrix(p), old.mass_matrix(q)[np.ix_(order, order)], 1e-11)
    close(new.id(p, dp, ddp, motor_inertia=False), old.id(q, dq, ddq, motor_inertia=False)[order], 1e-11)
    close(new.friction(dp), old.friction(dq)[order], 1e-13)
    for kind in ("velocity", "torque"):
        np.testing.assert_array_equal(getattr(new.limits, kind), getattr(old.limits, kind)[order])
    bounds = [moved_over(row, old, new, 0) for row in old.limits.position]
    np.testing.assert_allclose(new.limits.position, bounds, rtol=1e-15)
    assert new.mass == pytest.approx(old.mass, rel=1e-12)
    assert_equal_geometry(old, new, q, p)
    assert set(map(frozenset, new.active_pairs)) == set(map(frozenset, old.active_pairs))
    theirs_out = {frozenset(pair): reason for pair, reason in old.excluded_pairs.items()}
    assert {frozenset(pair): reason for pair, reason in new.excluded_pairs.items()} == theirs_out


def assert_equal_geometry(old: PinRobot, new: PinRobot, q: Any, p: Any) -> None:
    for which in ("collision", "visual"):
        placed = []
        for robot, at in ((old, q), (new, p)):
            model, geometry = robot.model, getattr(robot, which)
            data, scratch = model.createData(), geometry.createData()
            pin.updateGeometryPlacements(model, data, geometry, scratch, robot.to_pinocchio(at))
            placed.append(
                {t.name: (t, M.homogeneous) for t, M in zip(geometry.geometryObjects, scratch.oMg, strict=True)}
            )
        before, after = placed
        assert set(before) == set(after)
        for name, (thing, pose) in before.items():
            twin, there = after[name]
            close(there, pose, 1e-12)
            for shape in (twin.geometry, thing.geometry):
                shape.computeLocalAABB()  # it is part of what is compared
            assert twin.geometry == thing.geometry and twin.meshPath == thing.meshPath
            assert (twin.meshColor == thing.meshColor).all() and (twin.meshScale == thing.meshScale).all()
            assert new.model.frames[twin.parentFrame].name == old.model.frames[thing.parentFrame].name


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no joint model": ({"joint": "revolute"}, "joint must be"),
    "a class": ({"joint": pin.JointModelRZ}, "brackets"),
    "an empty model": ({"joint": pin.JointModelComposite()}, "empty|moves"),
    "unknown parent": ({"parent": "sholder"}, "shoulder"),
    "parent out of range": ({"parent": 99}, "99"),
    "negative parent": ({"parent": -1}, "-1"),
    "boolean parent": ({"parent": True}, "parent"),
    "no parent": ({"parent": None}, "parent"),
    "joint there is": ({"joint_name": "elbow"}, "exists already"),
    "the world's name": ({"joint_name": "universe"}, "exists already"),
    "name of a wrong kind": ({"joint_name": 3}, "joint_name"),
    "link there is": ({"bodies": PinBody("link1")}, "exists already"),
    "twice the same link": ({"bodies": [PinBody("x"), PinBody("x")], "fixed_joints": [WELD]}, "exists|named"),
    "geometry there is": ({"bodies": PinBody("y", collision=coal.Sphere(1.0)).renamed("link1")}, "exists already"),
    "no body": ({"bodies": ["x"]}, "bodies"),
    "a name for bodies": ({"bodies": "x"}, "bodies"),
    "fixed joints without bodies": ({"fixed_joints": [WELD]}, "fixed_joints"),
    "bodies without fixed joints": ({"bodies": [PinBody("x"), PinBody("y")]}, "fixed_joints"),
    "one frame bare": ({"fixed_joints": WELD}, "fixed_joints"),
    "no frames": ({"fixed_joints": ["x"]}, "fixed_joints"),
    "no inertia": ({"inertia": 3.0}, "inertia"),
    "inertia of nothing": ({"inertia": pin.Inertia(math.nan, np.zeros(3), np.eye(3))}, "inertia"),
    "no pose": ({"joint_placement": np.zeros((4, 4))}, "joint_placement"),
    "NaN pose": ({"joint_placement": np.full((4, 4), math.nan)}, "joint_placement"),
    "negative effort": ({"max_effort": -1.0}, "max_effort"),
    "NaN speed": ({"max_velocity": math.nan}, "max_velocity"),
    "too many bounds": ({"min_config": [0, 1]}, "min_config"),
    "crossed bounds": ({"min_config": 1, "max_config": 0}, "min_config"),
    "one bound of a turn": ({"joint": pin.JointModelRUBZ(), "max_config": 1.0}, "JointModelRZ"),
    "negative friction": ({"friction": -1}, "friction"),
    "infinite damping": ({"damping": math.inf}, "damping"),
    "no number": ({"armature": "much"}, "armature"),
    "no coupling": ({"coupling": "elbow"}, "coupling"),
    "coupling of another": ({"coupling": Coupling("elbow", "shoulder")}, "follower"),
    "unknown leader": ({"joint_name": "new", "coupling": Coupling("new", "elbo")}, "elbow"),
    "its own leader": ({"joint_name": "new", "coupling": Coupling("new", "new")}, "new"),
    "endless gear": ({"joint_name": "new", "coupling": Coupling("new", "elbow", math.nan)}, "finite"),
    "ball that mimics": (
        {"joint": pin.JointModelSpherical(), "joint_name": "new", "coupling": Coupling("new", "elbow")},
        "degrees of freedom",
    ),
}
