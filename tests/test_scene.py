"""Obstacles and tasks: what they hold, how they are changed, written, read and refused."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import weakref
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import (
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    CollisionFree,
    CoterminalJointAngles,
    EndEffectorPose,
    EndEffectorVelocity,
    InputError,
    InputTypeError,
    JointBox,
    Obstacle,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
    SelfCollisionFree,
    Task,
    ToleratedPose,
    Transformation,
    UnknownNameError,
    UnsupportedError,
    WithinJointLimits,
)
from knuckle.robot.shapes import Box

from .samples import load
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


def test_a_task_survives_json_number_by_number(tmp_path: Path) -> None:
    task = full_task()
    assert_same_task(Task.from_json(task.to_json()), task)
    assert_same_task(Task.from_json(task.to_json(indent=2).encode()), task)
    task.save(tmp_path / "scene.json")
    task.save(tmp_path / "scene.json")
    assert_same_task(Task.load(tmp_path / "scene.json"), task)
    assert [path.name for path in tmp_path.iterdir()] == ["scene.json"]


def test_a_task_survives_pickle_and_copies() -> None:
    task = full_task()
    _ = [obstacle.shape for obstacle in task.obstacles]  # octrees do not pickle
    for twin in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task), copy.copy(task)):
        assert_same_task(twin, task)
        assert twin.gravity is not None and not twin.gravity.flags.writeable
    assert all(a.shape is not b.shape for a, b in zip(copy.deepcopy(task).obstacles, task.obstacles, strict=True))


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_any_pose_survives_json_however_it_was_computed(seed: int, factors: int) -> None:
    rng = np.random.default_rng(seed)
    pose = Transformation.identity()
    for _ in range(factors):
        pose = pose @ Transformation.random(rng, reach=10.0)
    task = Task(Obstacle.sphere(1.0, pose, id="a"), {"g": pose})
    assert_same_task(Task.from_json(task.to_json()), task)


def test_shapes_of_obstacles_are_geometries_of_coal() -> None:
    kinds = [type(obstacle.shape).__name__ for obstacle in obstacles()]
    assert kinds[:7] == ["Box", "Sphere", "Cylinder", "Capsule", "Cone", "Ellipsoid", "Halfspace"]
    assert kinds[7:] == ["BVHModelOBBRSS", "Convex", "OcTree", "BVHModelOBBRSS"]
    table = Obstacle(coal.Box(1, 2, 3), id="table")
    assert table.description == Box([1, 2, 3]) and table.shape is table.shape
    assert table.shape.aabb_local.max_.tolist() == [0.5, 1.0, 1.5]


@pytest.mark.parametrize("obstacle", obstacles(), ids=lambda o: o.id)
def test_every_kind_of_obstacle_is_hit_where_it_stands(obstacle: Obstacle) -> None:
    robot, q = load("sixr_arm"), np.array([0.3, -0.6, 1.2, 0.4, 0.7, 0.2])
    surface = {"shell": [0.5, 0.5, 0.0], "cloud": [0.0, 0.1, 0.2], "ground": [0.0, 0.0, 0.25]}.get(
        obstacle.id, [0, 0, 0]
    )
    links = [robot.fk(q, frame=joint).translation for joint in robot.joints]
    hits, gaps, beside = [], [], Obstacle.sphere(0.1, Transformation.from_translation([50.0, 0, 0]), id="beside")
    for link in links:
        near = Task([obstacle.moved(Transformation.from_translation(link - surface)), beside])
        hits.append(robot.has_collisions(near, q=q))
        gaps.append(robot.distance(q, near).value)
    assert any(hits)
    assert all(hit == (gap <= 1e-9) for hit, gap in zip(hits, gaps, strict=True))
    far = Task(obstacle.moved(Transformation.from_translation([0.0, 0.0, -9.0])))
    assert not robot.has_collisions(far, q=q)
    assert not robot.has_collisions(far, 5.0, q=q, ignore_self_collisions=True)
    assert robot.has_collisions(far, 20.0, q=q, ignore_self_collisions=True)


def test_pairs_that_may_touch_are_not_checked() -> None:
    robot, q = load("sixr_arm"), np.zeros(6)
    floor = Obstacle.plane(offset=0.02, id="floor")
    hit = [contact.links[0] for contact in robot.collisions(Task(floor), q=q)]
    assert hit and not robot.collisions(Task(floor, allowed_collisions=[(link, "floor") for link in hit]), q=q)


def test_names_and_ids() -> None:
    assert (Obstacle.sphere(1, name="ball").id, Obstacle.sphere(1, id="b").name) == ("ball", "b")
    both = Obstacle.sphere(1, name="ball", id="b")
    assert (both.id, both.name) == ("b", "ball")
    assert len({Obstacle.sphere(1).id for _ in range(100)}) == 100
    assert (both.renamed("c").id, both.renamed("c").name, both.renamed("c", "x").name) == ("c", "c", "x")
    for bad in ("", " ", 3, b"x", "x" * 2000):
        with pytest.raises(InputError, match="id must"):
            Obstacle.sphere(1, id=bad)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="name must"):
            Obstacle.sphere(1, name=bad)  # type: ignore[arg-type]


def test_moving_makes_a_new_obstacle_of_the_same_geometry() -> None:
    ball = Obstacle.sphere(0.1, id="ball")
    shape, moved = ball.shape, ball.moved(POSE)
    assert moved.placement == POSE and ball.placement == Transformation.identity()
    assert moved.shape is shape and moved.id == "ball"


def test_values_are_frozen_and_stand_for_themselves() -> None:
    task = full_task()
    for value, name in ((task, "gravity"), (task.obstacles[0], "placement"), (task.obstacles[0].description, "size")):
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    with pytest.raises(TypeError):
        task.goals["new"] = POSE  # type: ignore[index]
    assert task != full_task() and len({task, task, copy.copy(task)}) == 2
    assert repr(task) == "Task('moon base': 11 obstacles, 8 goals, 8 constraints)"
    assert repr(task.obstacle("ball")).startswith("Obstacle('ball': sphere, xyz=[0.0")


def test_nothing_keeps_a_task_alive_but_its_user() -> None:
    task = full_task()
    gone = weakref.ref(task)
    assert task.constraints[1].task is task  # type: ignore[attr-defined]
    del task
    gc.collect()
    assert gone() is None


def test_a_task_changes_by_making_a_new_one() -> None:
    task, ball = full_task(), Obstacle.sphere(0.1, id="new")
    assert [o.id for o in task.with_obstacles(ball).obstacles] == [*(o.id for o in task.obstacles), "new"]
    assert [o.id for o in task.without("table", "floor").obstacles][:2] == ["ball", "pole"]
    assert task.with_moved("ball", POSE).obstacle("ball").placement == POSE
    assert task.obstacle("ball").placement == Transformation.identity() and len(task.obstacles) == 11
    assert "extra" in task.with_goals({"extra": POSE}).goals and len(task.goals) == 8
    assert len(task.with_constraints(SelfCollisionFree()).constraints) == 9
    assert task.with_gravity(None).gravity is None
    assert task.without("floor").allowed_collisions == (("hand_0", "table"),)
    assert task.with_allowed_collisions(("l1", "ball"), ("base", "floor")).allowed_collisions[2:] == (("l1", "ball"),)
    for unknown in (
        lambda: task.obstacle("tabel"),
        lambda: task.without("tabel"),
        lambda: task.with_moved("tabel", POSE),
    ):
        with pytest.raises(UnknownNameError, match="did you mean 'table'"):
            unknown()


def test_ids_are_unique_within_a_task() -> None:
    ball = Obstacle.sphere(0.1, id="ball")
    with pytest.raises(InputError, match=r"obstacles\[1\] has the id 'ball' of obstacles\[0\]; .*renamed"):
        Task([ball, ball.moved(POSE)])
    with pytest.raises(InputError, match=r"obstacles\[1\] has the id"):
        Task(ball).with_obstacles(ball)


def test_goals_in_all_spellings() -> None:
    exact = ToleratedPose(POSE)
    assert dict(Task(goals={"a": POSE}).goals) == {"a": exact}
    assert dict(Task(goals=[POSE, exact]).goals) == {"goal_1": exact, "goal_2": exact}
    assert dict(Task(goals=exact).goals) == {"goal_1": exact}
    assert dict(Task(goals={"a": POSE.homogeneous.tolist()}).goals) == {"a": exact}
    assert dict(Task(goals={"a": [POSE, exact]}).goals) == {"a": (exact, exact)}


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


@pytest.mark.parametrize(("given_", "message"), BAD_TASKS, ids=[message for _, message in BAD_TASKS])
def test_impossible_tasks_are_named_errors(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task(**given_)


@pytest.mark.parametrize("placement", [np.full((4, 4), np.nan), np.zeros((4, 4)), [1, 2, 3], "here"])
def test_impossible_placements_are_named_errors(placement: Any) -> None:
    for place in (Obstacle.sphere(1).moved, lambda pose: Obstacle.sphere(1, pose)):
        with pytest.raises(InputError, match="placement must"):
            place(placement)


def test_a_mesh_is_a_file_or_arrays() -> None:
    with pytest.raises(InputError, match="scale goes with a mesh file"):
        Obstacle.mesh(CUBE, CUBE_TRIANGLES, scale=2.0)
    with pytest.raises(InputTypeError, match="path must be"):
        Obstacle.mesh(CUBE)


def test_documents_written_by_hand() -> None:
    text = """{"format": "knuckle-task/1", "obstacles": [
        {"shape": "box", "size": [1, 1, 0.1], "id": "table", "placement": {"xyz": [0.5, 0, 0.2], "rpy": [0, 0, 1]}},
        {"shape": "sphere", "radius": 1}]}"""
    task = Task.from_json(text)
    assert task.obstacle("table").placement.isclose(Transformation.from_rpy([0, 0, 1], [0.5, 0, 0.2]))
    assert task.obstacles[1].placement == Transformation.identity() and task.gravity is None


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


@pytest.mark.parametrize(("text", "message"), BAD_DOCUMENTS, ids=[message for _, message in BAD_DOCUMENTS])
def test_documents_that_are_no_tasks_name_the_place(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task.from_json(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_document_damaged_anywhere_is_refused_or_read_never_a_crash(data: st.DataObject) -> None:
    document = full_task().to_dict()
    place: Any = document
    for _ in range(data.draw(st.integers(0, 5))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        inner = [key for key in keys if isinstance(place[key], dict | list) and place[key]]
        if not inner:
            break
        place = place[data.draw(st.sampled_from(inner))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    place[data.draw(st.sampled_from(keys))] = data.draw(JSON)
    try:
        Task.from_dict(document)
    except InputError as error:
        assert str(error)


def test_deeply_nested_tolerances_are_refused() -> None:
    tolerance: dict[str, Any] = CartesianSphere(0.1).to_dict()
    for _ in range(3000):
        tolerance = {"kind": "composed", "parts": [tolerance]}
    goal = {"nominal": np.eye(4).tolist(), "tolerance": tolerance}
    with pytest.raises(InputError, match=r"goals\['a'\]: .*too deep"):
        Task.from_dict({"format": "knuckle-task/1", "goals": {"a": goal}})


def test_functions_cannot_be_written() -> None:
    def upright(robot: Any, q: Any) -> bool:
        return True

    task = Task(constraints=[SelfCollisionFree(), upright])
    with pytest.raises(UnsupportedError, match=r"constraints\[1\]: the custom constraint 'upright' is a function"):
        task.to_json()
    with pytest.raises(UnsupportedError, match="tied to a task"):
        Task(constraints=CollisionFree(task=Task())).to_json()


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        Task.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        Task.load(tmp_path)
    with pytest.raises(InputTypeError, match="path must be"):
        Task.load(3)  # type: ignore[arg-type]
    (tmp_path / "bad.json").write_text('{"format": 1}')
    with pytest.raises(InputError, match=r"bad\.json.*format must be"):
        Task.load(tmp_path / "bad.json")
    for path in (tmp_path / "no" / "folder.json", tmp_path, "", "a\0b"):
        with pytest.raises(InputError, match="path"):
            Task().save(path)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]
