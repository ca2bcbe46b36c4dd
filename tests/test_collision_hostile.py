"""What a hostile user tried on collisions, scenes and building: each of these once went wrong."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import (
    CollisionFree,
    Coupling,
    DescriptionError,
    InputError,
    InputTypeError,
    KnuckleError,
    Obstacle,
    PinBody,
    PinRobot,
    SelfCollisionFree,
    Srdf,
    Task,
    Transformation,
    UnknownNameError,
    WithinJointLimits,
    ik,
)
from knuckle.cli import main

from .samples import load, path_of


def lift(shape: Any, kind: Any = None) -> PinRobot:
    """A shape that one joint moves along z."""
    robot = PinRobot.empty("lift")
    robot._add_joint(kind or pin.JointModelPZ(), 0, PinBody.solid("tool", shape, 1.0), joint_name="z")
    return robot


@pytest.mark.parametrize("gap", [1e-5, 1e-4, 5e-4, 2e-3, 0.03])
@pytest.mark.parametrize(
    "shape, half",
    [(coal.Cylinder(0.178, 0.04), 0.02), (coal.Box(0.3, 0.2, 0.1), 0.05), (coal.Cone(0.1, 0.3), 0.15)],
    ids=["cylinder", "box", "cone"],
)
@pytest.mark.parametrize("table", [1.91, 0.5, 10.0])
def test_the_distance_of_parallel_faces(shape: Any, half: float, table: float, gap: float) -> None:
    robot, task = lift(shape), Task([Obstacle.box([table, table, 0.1], id="table")])
    q = [0.05 + half + gap]
    assert robot.distance(q, task).value == pytest.approx(gap, abs=1e-6)
    assert robot.clearance(np.array([q, q]), task) == pytest.approx(gap, abs=1e-6)
    assert not robot.has_collisions(task, q=q) and robot.has_collisions(task, gap * 1.01 + 1e-5, q=q)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-6, -1e-6])
def test_faces_that_lie_on_each_other_have_a_finite_distance(gap: float) -> None:
    robot = lift(coal.Box(0.2, 0.2, 0.2), pin.JointModelPX())
    found = robot.distance([1.1 + gap], Task([Obstacle.box([2.0] * 3, id="o")]))
    assert abs(found.value) < 1e-4 and np.abs(found.points).max() < 10.0


def test_any_number_of_threads_is_taken_or_cut_down() -> None:
    robot = load("sixr_arm")
    q = np.random.default_rng(0).uniform(-1, 1, (20_000, robot.nq))
    np.testing.assert_array_equal(robot.has_self_collision(q, threads=100_000), robot.has_self_collision(q, threads=1))


@pytest.mark.parametrize("task", [[1], (), "scene.json", {"obstacles": []}, 5, Obstacle.sphere(0.1)], ids=str)
def test_what_is_no_task_is_refused_everywhere(task: Any) -> None:
    robot = load("sixr_arm")
    target = robot.fk(robot.q)
    calls = [
        lambda: robot.ik(target, task=task),
        lambda: ik.solve_batch(robot, [target], task=task),
        lambda: ik.solve_all(robot, target, task=task),
        lambda: ik.track(robot, [target], task=task),
        lambda: robot.has_collisions(task),
        lambda: robot.distance(task=task),
        lambda: robot.id(task=task),
    ]
    for call in calls:
        with pytest.raises(InputTypeError, match="task must be a Task"):
            call()


def test_robots_of_one_joint_take_batches_of_one() -> None:
    robot = lift(coal.Sphere(0.1))
    task = Task([Obstacle.sphere(0.1, Transformation.from_translation([0, 0, 0.1]), id="ball")])
    assert robot.has_self_collision([[0.1]]).shape == (1,)
    assert robot.has_collisions(task, q=[[1.0]]).tolist() == [False]
    assert SelfCollisionFree().check(robot, [0.1]) and not CollisionFree(task=task).check(robot, [0.1])
    assert WithinJointLimits().is_satisfied(robot, [0.1])
    assert SelfCollisionFree().satisfied_along(robot, [[0.1]]).shape == (1,)
    assert robot.fk([[0.1]]).shape == (1, 4, 4) and robot.id([[0.1]]).shape == (1, 1)
    robot.add_frame("tip", robot.frames[-1], np.eye(4))
    robot.tcp = "tip"
    assert len(ik.track(robot, [robot.fk([0.4])], [0.4]).q) == 1


@pytest.mark.parametrize("name", ["sixr_arm", "scara", "sevenr_arm"])
def test_what_is_attached_to_a_tool_does_not_touch_the_links_beside_it(name: str) -> None:
    robot = PinRobot.from_urdf(path_of(name))
    q = np.array([robot.random_configuration(seed) for seed in range(200)])
    before = robot.has_self_collision(q)
    robot.attach(PinBody.solid("can", coal.Cylinder(0.03, 0.12), 0.4))
    assert robot.has_self_collision(q).mean() < before.mean() + 0.3 and not robot.has_self_collision()
    robot.detach("can")
    np.testing.assert_array_equal(robot.has_self_collision(q), before)


def test_a_joint_that_is_refused_changes_nothing() -> None:
    robot = lift(coal.Sphere(0.1))
    before = list(robot.model.names), robot.id([0.1], [0.0], [0.0]), robot.version
    with pytest.raises(KnuckleError):
        robot._add_joint(pin.JointModelRX(), 0, joint_name="m", coupling=Coupling("m", "z", 1e200, 0.0))
    assert list(robot.model.names) == before[0]
    np.testing.assert_array_equal(robot.id([0.1], [0.0], [0.0]), before[1])


def test_a_number_of_four_hundred_digits_in_a_scene_is_refused(tmp_path: Path) -> None:
    robot = load("sixr_arm")
    Task(goals={"there": robot.fk(robot.q)}).save(tmp_path / "scene.json")
    text = (tmp_path / "scene.json").read_text()
    data = json.loads(text)
    places = [key for key in ("r", "angle") if f'"{key}"' in text]
    assert places and data["goals"]
    for key in places:
        head, _, tail = text.partition(f'"{key}":')
        number = tail.lstrip().split(",")[0].split("}")[0].split("]")[0].strip("[ \n")
        (tmp_path / "bad.json").write_text(head + f'"{key}":' + tail.replace(number, "9" * 400, 1))
        with pytest.raises(InputError):
            Task.load(tmp_path / "bad.json")


def test_obstacles_at_the_end_of_the_world_are_far() -> None:
    robot = load("sixr_arm")
    task = Task([Obstacle.box([1.0] * 3, Transformation.from_translation([1e155, 0, 0]), id="star")])
    assert not robot.has_collisions(task) and robot.distance(task=task).value > 0
    assert "no collisions" in robot.collision_info(task)


def test_an_object_that_stands_for_a_task_may_change() -> None:
    class Scene:
        obstacles: Any = ()

    robot, scene = load("sixr_arm"), Scene()
    scene.obstacles = []
    assert not robot.has_collisions(scene)
    scene.obstacles.append(Obstacle.sphere(0.3, robot.fk(robot.q), id="ball"))
    assert robot.has_collisions(scene)


def test_small_mistakes_are_named() -> None:
    robot = PinRobot.from_urdf(path_of("sixr_arm"))
    floor = Obstacle.plane([0, 0, 1], -1.0, id="floor")
    cases: list[tuple[Any, str]] = [
        (lambda: robot.sample_collision_pairs(10, rng=-1), "rng"),
        (lambda: robot.sample_collision_pairs(10, rng=True), "rng"),
        (lambda: robot.sample_collision_pairs(1.5), "samples"),
        (lambda: robot.sample_collision_pairs(5, progress=5), "progress"),
        (lambda: robot.remove_collision_pairs([("base", "link2")], reason=5), "reason"),
        (lambda: robot.has_collisions(Task([floor], allowed_collisions=[("bas", "floor")])), "bas"),
        (lambda: PinBody("q", collision=coal.HeightFieldOBBRSS(1.0, 1.0, np.ones((3, 3)), 0.0)), "height field"),
        (lambda: robot.has_collisions([0.0] * 6), "passed as q="),
        (lambda: robot.distance(Task([floor])), "passed as task="),
        (lambda: robot.has_collisions(Task([floor]), np.zeros(6)), "passed as q="),
        (lambda: robot.attach(PinBody("p", 1.0), placement=[0.4, 0, 0]), "from_translation"),
        (lambda: Srdf("x", disabled_pairs=[("a", 3)]), "disabled_pairs"),
        (lambda: Srdf("x", states=[("home", {})]), "states"),
        (lambda: WithinJointLimits().is_satisfied(np.zeros(6), robot), "the order is"),
        (lambda: robot.ik(robot.fk(robot.q), outer_constraints=[lambda q: True]), r"function of \(q\)"),
        (lambda: robot.ik(robot.fk(robot.q), safety_margin=0.1), "CollisionFree"),
        (lambda: ik.solve_batch(robot, [Task(goals={"a": np.eye(4)}).goals["a"]]), "ToleratedPose"),
    ]
    for call, words in cases:
        with pytest.raises(KnuckleError, match=words):
            call()
    with pytest.raises(AttributeError, match=r"ik\.solve_batch"):
        robot.solve_batch  # noqa: B018
    assert Srdf("x", disabled_pairs=[("a", "b", "Never")]).disabled_pairs[0].reason == "Never"


def test_what_is_wrong_in_an_srdf_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "wrong.srdf"
    file.write_text('<robot name="x"><disable_collisions link1="lonk1" link2="link2" reason="Never"/></robot>')
    with caplog.at_level(logging.WARNING, "knuckle"):
        robot = PinRobot.from_urdf(path_of("sixr_arm"), srdf=file)
    assert "lonk1" in caplog.text and any("lonk1" in finding.message for finding in robot.findings)
    with pytest.raises(DescriptionError, match="lonk1"):
        PinRobot.from_urdf(path_of("sixr_arm"), srdf=file, strict=True)
    with pytest.raises(DescriptionError, match="URDF"):
        PinRobot.from_urdf(path_of("sixr_arm"), srdf=path_of("sixr_arm"))


def test_pairs_left_out_at_home_are_a_finding() -> None:
    arm = load("sixr_arm")
    folded = next(q for q in map(arm.random_configuration, range(200)) if arm.has_self_collision(q))
    robot = PinRobot.from_urdf(path_of("sixr_arm"), home_configuration=folded)
    assert any("home configuration" in f.message for f in robot.findings) and not robot.has_self_collision()


def test_the_goal_of_a_batch_that_failed_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    robot = load("sixr_arm")
    batch = ik.solve_batch(robot, [robot.fk(robot.q), Transformation.from_translation([9, 9, 9])], rng=0)
    assert not batch and batch[0].message == "" and "unreachable" in batch[1].message
    names = UnknownNameError, DescriptionError
    assert all(issubclass(name, KnuckleError) for name in names)
    assert main(["ik", str(path_of("sixr_arm")), "--xyz", "9", "9", "9"]) == 1
    assert "unreachable" in capsys.readouterr().out
