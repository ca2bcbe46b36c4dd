"""Obstacles and tasks: what they hold and how they are changed."""

from __future__ import annotations

import copy
import gc
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
    InputError,
    Obstacle,
    SelfCollisionFree,
    Task,
    ToleratedPose,
    Transformation,
    UnknownNameError,
)
from knuckle.robot.shapes import Box

from .samples import load
from .scene_cases import (
    BAD_TASKS,
    POSE,
    assert_same_task,
    full_task,
    obstacles,
)


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


@pytest.mark.parametrize(("given_", "message"), BAD_TASKS, ids=[message for _, message in BAD_TASKS])
def test_impossible_tasks_are_named_errors(given_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task(**given_)


@pytest.mark.parametrize("placement", [np.full((4, 4), np.nan), np.zeros((4, 4)), [1, 2, 3], "here"])
def test_impossible_placements_are_named_errors(placement: Any) -> None:
    for place in (Obstacle.sphere(1).moved, lambda pose: Obstacle.sphere(1, pose)):
        with pytest.raises(InputError, match="placement must"):
            place(placement)
