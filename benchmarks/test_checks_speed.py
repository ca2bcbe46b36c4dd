"""Checks of a trajectory against one `rnea`, and one `computeCollisions`, per sample; and how they grow with samples.

The collision robot comes from example-robot-data (`pip install 'knuckle[robots]'`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Obstacle, PinRobot, Task, Trajectory, Transformation, check_poses, check_trajectory
from knuckle.checks.clearance import clearance
from knuckle.checks.course import course_of
from knuckle.robot.sweep import sweeps
from tests import brute_force

COUNT = 1000
Q0 = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
CENTRES = ([0.9, 0.9, 0.9], [-0.8, 0.0, 0.5], [0.0, -0.9, 0.3], [0.0, 0.9, 0.3], [0.6, 0.0, -0.1])
SCENE = Task(
    [Obstacle.box([0.1, 0.1, 0.1], Transformation.from_translation(at), id=f"box{k}") for k, at in enumerate(CENTRES)]
)


def wave(middle: Any, count: int = COUNT) -> Trajectory:
    t = np.linspace(0.0, 4.0, count)
    size = np.where(np.arange(len(middle)) < 7, 0.3, 0.01)
    return Trajectory(t, middle + size * np.sin(t[:, None] * np.linspace(0.8, 1.4, len(middle))))


def rneas(robot: PinRobot, path: Trajectory) -> Callable[[], Any]:
    model, data = robot.model, robot.model.createData()
    rows = [tuple(row) for row in zip(path.q, path.dq, path.ddq, strict=True)]
    return lambda: [pin.rnea(model, data, *row) for row in rows]


@pytest.mark.parametrize("given", ["q", "q_dq", "q_dq_ddq"])
def test_all_but_collisions(versus: Callable[..., Any], arm: PinRobot, given: str) -> None:
    path = wave(Q0)
    path = Trajectory(path.t, path.q, *(path.dq, path.ddq)[: given.count("dq") - (given == "q_dq_ddq")])
    robot = arm.with_limits(acceleration=15.0, jerk=500.0)
    report = versus(
        lambda: check_trajectory(robot, path, collisions=False),
        rneas(arm, path),
        against="a loop of rnea",
        bound=8.0,
        per=(COUNT, COUNT),
    )
    assert report.feasible


def computed(robot: PinRobot, path: Trajectory) -> Callable[[], Any]:
    """`pinocchio.computeCollisions` of every sample with itself and the scene, ending each at the first contact."""
    model, geometry = robot.model, robot.collision.clone()
    own = len(geometry.geometryObjects)
    for obstacle in SCENE.obstacles:
        geometry.addGeometryObject(pin.GeometryObject(obstacle.id, 0, obstacle.placement.se3(), obstacle.shape))
    for i in range(own):
        for k in range(len(SCENE.obstacles)):
            geometry.addCollisionPair(pin.CollisionPair(i, own + k))
    data, shapes, rows = model.createData(), geometry.createData(), list(robot.to_pinocchio(path.q))
    return lambda: np.array([pin.computeCollisions(model, data, geometry, shapes, row, True) for row in rows])


@pytest.mark.parametrize("what", ["collisions", "everything"])
@pytest.mark.parametrize("meshes", ["hull", "exact"])
def test_with_collisions_between_the_samples(versus: Callable[..., Any], meshes: str, what: str) -> None:
    robots = [brute_force.installed("panda", tcp="panda_hand_tcp", collision_meshes=m) for m in ("hull", meshes)]
    if robots[0] is None or robots[1] is None:
        pytest.skip("needs example-robot-data: pip install 'knuckle[robots]'")
    ours, theirs = robots
    path = wave(np.append([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.8], [0.02] * (ours.nq - 7)))

    def collisions() -> Any:
        course = course_of(ours, path)
        return [clearance(course, one, 0.0) for one in sweeps(ours, SCENE, *course.extent) if one is not None]

    checks = computed(theirs, path)
    found = versus(
        collisions if what == "collisions" else lambda: check_trajectory(ours, path, SCENE),
        checks,
        against=f"computeCollisions, {meshes}",
        bound=1.0,
        per=(COUNT, COUNT),
    )
    assert not checks().any()
    assert found.feasible if what == "everything" else not any(one.violated.any() for one in found)


def test_ten_times_the_samples(versus: Callable[..., Any], arm: PinRobot) -> None:
    few, many = wave(Q0), wave(Q0, 10 * COUNT)
    reports = [check_trajectory(arm, path, SCENE) for path in (few, many)]
    versus(
        lambda: check_trajectory(arm, many, SCENE),
        lambda: check_trajectory(arm, few, SCENE),
        against="a tenth of the samples",
        bound=11.0,
    )
    for check in reports[0]:
        if np.isfinite(check.worst) and check.name not in ("time", "continuity"):
            assert check.worst == pytest.approx(reports[1][check.name].worst, rel=1e-3, abs=1.1e-3), check.name


def test_reach_study(versus: Callable[..., Any], arm: PinRobot) -> None:
    rng = np.random.default_rng(2)
    poses = arm.fk(np.array([arm.random_configuration(rng) for _ in range(500)]))
    report = versus(
        lambda: check_poses(arm, poses, rng=1, threads=1),
        lambda: [arm.ik(pose, rng=1) for pose in poses],
        against="ik alone, one at a time",
        per=(500, 500),
    )
    assert report.reachable.mean() > 0.9
