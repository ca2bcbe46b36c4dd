"""Tasks that tests of scenes share."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st

from knuckle import (
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    CollisionFree,
    CoterminalJointAngles,
    EndEffectorPose,
    EndEffectorVelocity,
    JointBox,
    Obstacle,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
    SelfCollisionFree,
    Task,
    ToleratedPose,
    Transformation,
    WithinJointLimits,
)

from .test_shapes import CUBE, CUBE_TRIANGLES, MESHES

POSE = Transformation.from_rpy([0.1, -0.2, 0.3], [1.0, 2.0, 3.0])


TOLERANCES = [
    CartesianBox([-0.1, None, 0.0], [0.1, 0.2, None]),
    CartesianCylinder(0.1, (-1.0, 2.0), None),
    CartesianSphere(1e-3),
    RotationAbsolute(0.1),
    RotationAxes([-0.1, -0.2, None], [0.3, 0.4, 0.5]),
    RotationAxis([1.0, 2.0, 3.0], (-1.0, 0.5), 0.01),
]


def obstacles() -> list[Obstacle]:
    return [
        Obstacle.box([1, 2, 0.1], POSE, name="table top", id="table"),
        Obstacle.sphere(0.2, id="ball"),
        Obstacle.cylinder(0.1, 0.5, POSE, id="pole"),
        Obstacle.capsule(0.1, 0.5, id="pill"),
        Obstacle.cone(0.1, 0.5, id="cone"),
        Obstacle.ellipsoid([0.1, 0.2, 0.3], id="egg"),
        Obstacle.plane([0, 0, 1], -0.1, id="floor"),
        Obstacle.mesh(CUBE, CUBE_TRIANGLES, POSE, form="exact", id="shell"),
        Obstacle.mesh(MESHES / "cube.stl", placement=POSE, scale=0.1, id="cube"),
        Obstacle.point_cloud([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]], 0.05, id="cloud"),
        Obstacle.height_map([[0.1, 0.2], [0.3, 0.4]], [1, 2], 0.0, POSE, id="ground"),
    ]


def full_task() -> Task:
    goals: dict[str, Any] = {f"goal {k}": ToleratedPose(POSE, t) for k, t in enumerate(TOLERANCES)}
    goals["all"] = ToleratedPose(POSE, sum(TOLERANCES[1:], start=TOLERANCES[0]))
    goals["either"] = [POSE, ToleratedPose(POSE.inverse, TOLERANCES[2])]
    constraints = [
        WithinJointLimits(["q", "tau"]),
        CollisionFree(0.01),
        SelfCollisionFree(0.02),
        JointBox({"a": -1.0}, {"a": 1 / 3, "b": 2.0}),
        CoterminalJointAngles([0.1, 0.2], 1e-4),
        CoterminalJointAngles({"a": 0.1}),
        EndEffectorPose(ToleratedPose(POSE, RotationAxis("z")), "tool"),
        EndEffectorVelocity(0.25),
    ]
    allowed = [("base", "floor"), ("hand_0", "table")]
    gravity = [0.0, 0.1, -1.62]
    return Task(obstacles(), goals, constraints, gravity=gravity, allowed_collisions=allowed, name="moon base")


def assert_same_task(actual: Task, expected: Task) -> None:
    assert actual.to_dict() == expected.to_dict()
    for twin, one in zip(actual.obstacles, expected.obstacles, strict=True):
        assert (twin.id, twin.name, twin.description) == (one.id, one.name, one.description)
        assert twin.placement == one.placement
    assert dict(actual.goals) == dict(expected.goals)
    assert actual.allowed_collisions == expected.allowed_collisions
    assert actual._constraints == expected._constraints and actual.name == expected.name
    np.testing.assert_array_equal(actual.gravity, expected.gravity)


BAD_TASKS: list[tuple[dict[str, Any], str]] = [
    ({"obstacles": [POSE]}, r"obstacles\[0\] must be an Obstacle"),
    ({"obstacles": "box"}, "obstacles must be a sequence"),
    ({"obstacles": 3}, "obstacles must be a sequence"),
    ({"goals": {"a": [0, 0, 1]}}, r"goals\['a'\] must have shape"),
    ({"goals": {"a": []}}, r"goals\['a'\] must hold at least one"),
    ({"goals": {"a": None}}, r"goals\['a'\] must be a ToleratedPose"),
    ({"goals": {3: POSE}}, "name of a goal must be"),
    ({"goals": 3}, "goals must be a mapping"),
    ({"constraints": 3}, "constraints must be a sequence"),
    ({"constraints": [3]}, r"constraints\[0\] must be a RobotConstraint"),
    ({"constraints": [SelfCollisionFree]}, r"SelfCollisionFree\(\.\.\.\)"),
    ({"constraints": [lambda: True]}, r"constraints\[0\]: function must be callable"),
    ({"gravity": [0, 0]}, "gravity must have shape"),
    ({"gravity": [0, 0, np.nan]}, "gravity must be finite"),
    ({"name": ""}, "name must be"),
    ({"allowed_collisions": "ab"}, "allowed_collisions must be a sequence"),
    ({"allowed_collisions": [("a", 3)]}, r"allowed_collisions\[0\] must be a pair"),
    ({"allowed_collisions": [("base", "floor")]}, r"allowed_collisions\[0\] names no obstacle"),
]


def document(**changes: Any) -> str:
    return json.dumps({"format": "knuckle-task/1", **changes})


BALL = {"shape": "sphere", "radius": 1.0, "id": "a"}


BAD_DOCUMENTS: list[tuple[str | bytes, str]] = [
    ("", "line 1, column 1: not JSON"),
    ("{", "not JSON"),
    ("[]", "task must be a mapping"),
    ("null", "task must be a mapping"),
    ("{}", "format must be 'knuckle-task/1', got None"),
    ('{"format": "knuckle-task/2"}', "got 'knuckle-task/2'"),
    (b"\xff\xfe\x00", "not JSON"),
    ("[" * 100_000, "too deep"),
    ('{"a": ' * 100_000 + "1" + "}" * 100_000, "too deep"),
    ('{"format": "knuckle-task/1", "format": "knuckle-task/1"}', "'format' stands twice"),
    ('{"format": "knuckle-task/1", "gravity": [0, 0, NaN]}', "NaN is no number"),
    ('{"format": "knuckle-task/1", "gravity": [0, 0, -Infinity]}', "-Infinity is no number"),
    ('{"format": "knuckle-task/1", "gravity": [0, 0, 1e999]}', "gravity must be finite"),
    ('{"format": "knuckle-task/1", "gravity": [0, 0, ' + "9" * 400 + "]}", "gravity must be"),
    ('{"format": "knuckle-task/1", "gravity": [0, 0, ' + "9" * 9000 + "]}", "not JSON"),
    (document(obstacle=[]), "did you mean 'obstacles'"),
    (document(obstacles={}), "obstacles must be a list"),
    (document(obstacles=[BALL, 3]), r"^obstacles\[1\].obstacle must be a mapping"),
    (document(obstacles=[BALL, BALL]), r"obstacles\[1\] has the id 'a'"),
    (document(obstacles=[BALL, {"shape": "box", "size": [1, 0, 1]}]), r"^obstacles\[1\]\.size\[1\] must be a length"),
    (document(obstacles=[BALL, {"shape": "box", "size": "big"}]), r"^obstacles\[1\]\.size must be"),
    (document(obstacles=[{"shape": "bix"}]), r"^obstacles\[0\]: no shape named 'bix'; did you mean 'box'"),
    (document(obstacles=[BALL | {"color": "red"}]), r"^obstacles\[0\]: .*got radius, color"),
    (document(obstacles=[BALL | {"id": 3}]), r"^obstacles\[0\]\.id must be"),
    (document(obstacles=[BALL | {"placement": [1]}]), r"^obstacles\[0\]\.placement must have shape"),
    (document(obstacles=[BALL | {"placement": {"x": 1}}]), r"^obstacles\[0\]\.placement must be 4x4"),
    (document(obstacles=[BALL | {"placement": {"xyz": [1]}}]), r"^obstacles\[0\]\.translation must have shape"),
    (document(goals=[]), "goals must be a mapping"),
    (document(goals={"a": {"nominal": 1}}), r"^goals\['a'\]: tolerated pose needs the fields"),
    (document(goals={"a": [[]]}), r"^goals\['a'\]\[0\]: tolerated pose must be a mapping"),
    (document(constraints=[{"kind": "custom"}]), r"^constraints\[0\]: a custom constraint is a function"),
    (document(constraints=[{"kind": "joint_box"}]), r"^constraints\[0\]: .*needs the fields lower, upper"),
    (document(constraints=[{"kind": "joint_limits", "parts": "qq"}]), r"^constraints\[0\]: no part of a motion"),
    (document(constraints=[{"kind": "collision_free", "margin": -1}]), r"^constraints\[0\]\.margin must be at least"),
    (document(name=3), "name must be"),
]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
