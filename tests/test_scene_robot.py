"""A robot among obstacles: contacts, distances, inverse kinematics around them, and the same in other processes."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import (
    CollisionFree,
    IKStatus,
    InputError,
    Obstacle,
    PinRobot,
    SelfCollisionFree,
    Task,
    Transformation,
    ik,
)
from knuckle.cli import main

from . import brute_force
from .samples import ROOT, SAMPLES, load, path_of

rng0 = np.random.default_rng


def cluttered(robot: PinRobot, seed: int = 0, count: int = 6) -> Task:
    """One obstacle of each kind around the robot, leaving most of its configurations free."""
    rng = rng0(seed)
    reach = 0.5 + float(np.abs(robot.fk(brute_force.random_configurations(robot, 30))[:, :3, 3]).max())

    def somewhere() -> Transformation:
        way = rng.normal(size=3)
        return Transformation.from_rpy(rng.uniform(-3, 3, 3), 0.6 * reach * way / np.linalg.norm(way))

    corners = rng.uniform(-0.15, 0.15, (12, 3))
    made = [
        Obstacle.box([0.2, 0.1, 0.3], somewhere(), id="crate"),
        Obstacle.sphere(0.15, somewhere(), id="ball"),
        Obstacle.cylinder(0.08, 0.4, somewhere(), id="post"),
        Obstacle.capsule(0.06, 0.4, somewhere(), id="rail"),
        Obstacle.cone(0.1, 0.3, somewhere(), id="cone"),
        Obstacle.ellipsoid([0.1, 0.15, 0.2], somewhere(), id="egg"),
        Obstacle.plane([0, 0, 1], -0.5 * reach, id="pit"),
        Obstacle.point_cloud(corners, 0.05, somewhere(), id="cloud"),
    ]
    return Task(made[:count])


def truth(robot: PinRobot, task: Task, q: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Which obstacles the robot touches at each configuration (N, obstacles)."""
    found = np.zeros((len(q), len(task.obstacles)), dtype=bool)
    geometry = robot.collision.clone()
    data, placed = robot.model.createData(), geometry.createData()
    for row, one in enumerate(robot.to_pinocchio(q)):
        pin.updateGeometryPlacements(robot.model, data, geometry, placed, one)
        for k, obstacle in enumerate(task.obstacles):
            there = coal.Transform3s(obstacle.placement.rotation, obstacle.placement.translation)
            for thing, pose in zip(geometry.geometryObjects, placed.oMg, strict=True):
                request, result = coal.CollisionRequest(), coal.CollisionResult()
                request.security_margin = margin
                here = coal.Transform3s(pose.rotation, pose.translation)
                coal.collide(thing.geometry, here, obstacle.shape, there, request, result)
                found[row, k] |= result.isCollision()
    return found


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("gripper",)])
@pytest.mark.parametrize("margin", [0.0, 0.047])
def test_contacts_with_obstacles_are_those_of_a_check_of_every_pair(name: str, margin: float) -> None:
    robot = PinRobot.from_urdf(path_of(name))
    robot.tcp = robot.frames[-1]
    task = cluttered(robot, count=8)
    q = brute_force.random_configurations(robot, 60)
    expected = truth(robot, task, q, margin)
    alone = robot.has_collisions(task, margin, q=q, ignore_self_collisions=True)
    np.testing.assert_array_equal(alone, expected.any(axis=1))
    both = expected.any(axis=1) | robot.has_self_collision(q, safety_margin=margin)
    np.testing.assert_array_equal(robot.has_collisions(task, margin, q=q), both)
    for row in range(8):
        touched = {contact[1].id for contact in robot.collisions(task, margin, q=q[row]) if contact[1] is not robot}
        assert touched == {o.id for o, hit in zip(task.obstacles, expected[row], strict=True) if hit}
        assert robot.has_collisions(task, margin, q=q[row]) == both[row]
        assert (robot.distance(q[row], task).value < margin) == both[row]


def test_an_obstacle_at_the_tool_is_touched_and_one_far_away_is_not() -> None:
    robot = load("sevenr_arm")
    tip = robot.fk(robot.q).translation
    near, far = (Task([Obstacle.sphere(0.05, Transformation.from_translation(p))]) for p in (tip, tip + 5.0))
    assert robot.has_collisions(near) and not robot.has_collisions(far)
    contact = min(robot.collisions(near), key=lambda c: c.distance)
    assert contact[0] is robot and contact[1] is near.obstacles[0] and contact.distance < 0
    assert "overlap" in robot.collision_info(near) and "no collisions" in robot.collision_info(far)
    assert robot.distance(task=far).value > 0


def test_the_margin_counts_for_obstacles_and_within_the_robot() -> None:
    robot = load("sevenr_arm")
    q = robot.q
    own = robot.distance(q).value
    assert not robot.has_self_collision(q, safety_margin=0.99 * own)
    assert robot.has_self_collision(q, safety_margin=1.01 * own)
    ball = Task([Obstacle.sphere(0.05, Transformation.from_translation([0.6, 0.0, 0.5]))])
    gap = robot.distance(q, ball).value
    apart = min(gap, own)
    assert not robot.has_collisions(ball, 0.99 * apart, q=q) and robot.has_collisions(ball, 1.01 * apart, q=q)
    with pytest.raises(InputError, match="safety_margin"):
        robot.has_collisions(ball, -0.01)


def test_a_pair_that_is_allowed_is_not_checked() -> None:
    robot = load("sixr_arm")
    floor = Obstacle.plane([0, 0, 1], 0.02, id="floor")
    assert robot.has_collisions(Task([floor]))
    links = {contact.links for contact in robot.collisions(Task([floor]))}
    assert links == {("base", "floor")}
    assert not robot.has_collisions(Task([floor], allowed_collisions=[("base", "floor")]))


def test_an_arm_goes_around_an_obstacle_by_another_branch() -> None:
    robot = load("sixr_arm")
    rng = rng0(2)
    solved = avoided = 0
    for seed in range(30):
        q = robot.random_configuration(rng)
        if robot.has_self_collision(q):
            continue
        target = robot.fk(q)
        plain = robot.ik(target, q_init=q, rng=seed)
        elbow = robot.fk(plain.q, kind="joints")["joint3"].translation
        task = Task([Obstacle.sphere(0.05, Transformation.from_translation(elbow))])
        assert robot.has_collisions(task, q=plain.q)
        result = robot.ik(target, q_init=q, rng=seed, task=task)
        if result:
            solved += 1
            assert not robot.has_collisions(task, q=result.q)
            assert result.position_error <= 1e-5 and result.rotation_error <= 1e-4
            avoided += np.abs(robot.difference(plain.q, result.q)).max() > 0.1
        else:
            assert result.status is IKStatus.COLLISION and "touches" in result.message
            every = ik.solve_all(robot, target, collision_free=True)
            assert robot.has_collisions(task, q=every).all(), "every branch is blocked"
    assert solved >= 5 and avoided == solved


@pytest.mark.parametrize("method", ["jacobian", "scipy", None])
def test_every_method_respects_a_task_and_its_constraints(method: str | None) -> None:
    robot = load("sevenr_arm")
    q = np.array([0.3, 0.5, -0.2, 1.2, 0.4, 0.9, -0.3])
    target = robot.fk(q)
    elbow = robot.fk(q, kind="joints")["joint4"].translation
    task = Task([Obstacle.sphere(0.03, Transformation.from_translation(elbow))], constraints=[CollisionFree(0.01)])
    result = robot.ik(target, q_init=q, rng=1, ik_method=method, task=task, max_iter=5000)
    assert result and robot.distance(result.q, task).value >= 0.01
    other = robot.ik(
        target, q_init=q, rng=1, ik_method=method, outer_constraints=SelfCollisionFree(0.02), max_iter=5000
    )
    assert other and robot.distance(other.q).value >= 0.02


def test_a_batch_a_path_and_all_branches_respect_obstacles() -> None:
    robot = load("sixr_arm")
    q = brute_force.random_configurations(robot, 120)
    q = q[~robot.has_self_collision(q)]
    targets = robot.fk(q)
    task = Task([Obstacle.box([0.3, 0.3, 0.3], Transformation.from_translation([0.45, 0.2, 0.5]), id="crate")])
    batch = ik.solve_batch(robot, targets, q, rng=0, task=task)
    assert not robot.has_collisions(task, q=batch.q[batch.success]).any()
    assert (batch.success | (batch.status == IKStatus.COLLISION)).all() and batch.success.sum() > len(q) // 2
    plain = ik.solve_batch(robot, targets, q, rng=0, ignore_self_collisions=True)
    assert plain.success.all() and robot.has_collisions(task, q=plain.q).any()
    everything, free = (ik.solve_all(robot, targets[0], **options) for options in ({}, {"task": task}))
    expected = everything[~robot.has_collisions(task, q=everything, ignore_self_collisions=True)]
    assert len(ik.solve_all(robot, targets[0], collision_free=True)) <= len(everything)
    np.testing.assert_allclose(np.sort(free, axis=0), np.sort(expected[~robot.has_self_collision(expected)], axis=0))
    wall = Task([Obstacle.box([0.1, 2.0, 2.0], Transformation.from_translation([0.75, 0, 0.5]), id="wall")])
    start = robot.ik(Transformation.from_rpy([0, np.pi, 0], [0.45, 0.0, 0.5]), rng=0)
    line = np.array([robot.fk(start.q).homogeneous] * 40)
    line[:, 0, 3] += np.linspace(0.0, 0.25, 40)
    followed = ik.track(robot, line, start.q, task=wall)
    assert not followed and followed.status is IKStatus.COLLISION and "wall" in followed.message
    assert 0 < followed.broken_at < 40 and not robot.has_collisions(wall, q=followed.q).any()


def solve_in_worker(robot: PinRobot, task: Task, target: np.ndarray, seed: int) -> tuple[np.ndarray, bool, bool]:
    result = robot.ik(target, rng=seed, task=task)
    return result.q, bool(result), bool(robot.has_collisions(task, q=result.q))


def test_a_robot_and_its_scene_work_in_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # where the workers find this module, wherever the tests are run
    robot = PinRobot.from_urdf(path_of("sixr_arm"))
    robot.remove_collision_pairs([("base", "link3")])
    task = cluttered(robot)
    q = brute_force.random_configurations(robot, 60)
    q = q[~robot.has_collisions(task, q=q)][:6]
    targets = robot.fk(q)
    here = [solve_in_worker(robot, task, target, i) for i, target in enumerate(targets)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = list(pool.map(solve_in_worker, [robot] * 6, [task] * 6, targets, range(6)))
        batch = ik.solve_batch(robot, targets, rng=3, task=task, executor=pool, chunk=2)
    for (ours, solved, touching), (theirs, *rest) in zip(here, there, strict=True):
        assert [solved, touching] == rest and solved and not touching
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert batch.success.all()
    twin = pickle.loads(pickle.dumps(robot))
    assert twin.active_pairs == robot.active_pairs and dict(twin.excluded_pairs) == dict(robot.excluded_pairs)
    again = pickle.loads(pickle.dumps(task))
    np.testing.assert_array_equal(robot.has_collisions(again, q=q), robot.has_collisions(task, q=q))


def test_a_task_brings_its_own_gravity() -> None:
    robot = load("sevenr_arm")
    q = brute_force.random_configurations(robot, 3)
    moon = Task(gravity=[0.3, 0.0, -1.62])
    model = robot.model.copy()
    model.gravity = pin.Motion(np.array([0.3, 0.0, -1.62]), np.zeros(3))
    there = PinRobot(wrapper=model)
    np.testing.assert_allclose(robot.id(q, task=moon), there.id(q), atol=1e-12)
    np.testing.assert_allclose(robot.static_torque(q[0], task=moon), there.static_torque(q[0]), atol=1e-12)
    tau = np.linspace(-3, 3, robot.nv)
    np.testing.assert_allclose(robot.fd(tau, q[1], task=moon), there.fd(tau, q[1]), rtol=1e-9)
    np.testing.assert_allclose(robot.id(q, task=Task()), robot.id(q), atol=0)
    assert (robot.model.gravity.linear == [0, 0, -9.81]).all()


def test_the_command_line_solves_among_obstacles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = load("sixr_arm")
    scene = tmp_path / "scene.json"
    target = ["--xyz", "0.4", "0.1", "0.3", "--rpy", "0", "3.1", "0", "--seed", "1", "--json"]
    command = ["ik", str(path_of("sixr_arm")), *target, "--avoid-collisions", "--scene", str(scene)]
    cluttered(robot).save(scene)
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    q = np.array(found["q"])
    assert found["success"] and not robot.has_collisions(Task.load(scene), q=q)
    assert found["clearance"] == pytest.approx(robot.distance(q, Task.load(scene)).value)
    Task([Obstacle.sphere(0.2, Transformation.from_translation([0.4, 0.1, 0.3]), id="ball")]).save(scene)
    assert main(command) == 1
    blocked = json.loads(capsys.readouterr().out)
    assert blocked["status"] == "collision" and "ball" in blocked["message"] and blocked["clearance"] < 0
    assert main([*command[:-1], str(tmp_path / "nothing.json")]) == 2
    assert "nothing.json" in capsys.readouterr().err


def test_the_command_line_writes_the_pairs_it_sampled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sampled.srdf"
    assert (
        main(["inspect", str(path_of("sevenr_arm")), "--srdf-out", str(file), "--samples", "300", "--seed", "2"]) == 0
    )
    shown = capsys.readouterr()
    assert "Pairs not checked for collision" in shown.out and "seed 2" in shown.err
    robot = PinRobot.from_urdf(path_of("sevenr_arm"), srdf=file)
    assert set(robot.active_pairs) == set(load("sevenr_arm").active_pairs)
    assert main(["inspect", str(path_of("sevenr_arm")), "--srdf", str(file), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["collision"]
    assert len(listed["active_pairs"]) == len(robot.active_pairs) and listed["excluded_pairs"]
