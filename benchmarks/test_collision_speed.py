"""Collision checks against Pinocchio's, and inverse kinematics with and without them; answers compared inside.

The robots come from example-robot-data (`pip install 'knuckle[robots]'`), with the pairs of their SRDF.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot
from tests import brute_force

COUNT = 2000
TIPS = {"panda": "panda_hand_tcp", "ur5": "tool0"}


@cache
def robot_of(name: str, meshes: str = "hull") -> PinRobot:
    robot = brute_force.installed(name, collision_meshes=meshes, tcp=TIPS[name])
    if robot is None:
        pytest.skip("needs example-robot-data: pip install 'knuckle[robots]'")
    return robot


def pinocchio_checks(robot: PinRobot, q: Any) -> Callable[[], np.ndarray]:
    """`pinocchio.computeCollisions` over all configurations, ending each at the first contact."""
    model, geometry = robot.model, robot.collision.clone()
    data, shapes = model.createData(), geometry.createData()
    rows = list(robot.to_pinocchio(q))
    return lambda: np.array([pin.computeCollisions(model, data, geometry, shapes, row, True) for row in rows])


@pytest.mark.parametrize("meshes, bound", [("exact", 1 / 10), ("hull", 1 / 5)])
@pytest.mark.parametrize("name", TIPS)
def test_self_collision_in_a_batch(versus: Callable[..., Any], name: str, meshes: str, bound: float) -> None:
    ours, theirs = robot_of(name), robot_of(name, meshes)
    q = brute_force.random_configurations(ours, COUNT)
    checks = pinocchio_checks(theirs, q)
    found = versus(
        lambda: ours.has_self_collision(q, threads=1),
        checks,
        against=f"computeCollisions, {meshes}",
        bound=bound,
        per=(COUNT, COUNT),
    )
    if meshes == "hull":
        np.testing.assert_array_equal(found, checks())
    else:
        assert found[checks()].all(), "a hull holds its mesh"


@pytest.mark.parametrize("name", TIPS)
def test_self_collision_of_one(versus: Callable[..., Any], name: str) -> None:
    robot = robot_of(name)
    q = brute_force.random_configurations(robot, 100)
    checks = pinocchio_checks(robot, q)
    found = versus(
        lambda: [robot.has_self_collision(one) for one in q],
        checks,
        against="computeCollisions, hull",
        per=(100, 100),
    )
    assert (np.array(found) == checks()).all()


@pytest.mark.parametrize("name", TIPS)
def test_ik_that_avoids_collisions(versus: Callable[..., Any], name: str) -> None:
    robot = robot_of(name)
    q = brute_force.random_configurations(robot, 300)
    targets = robot.fk(q[~robot.has_self_collision(q)])
    starts = brute_force.random_configurations(robot, len(targets), seed=1)

    def solve(ignore: bool) -> list[Any]:
        return [
            robot.ik(target, q_init=start, rng=1, max_iter=5000, ignore_self_collisions=ignore)
            for target, start in zip(targets, starts, strict=True)
        ]

    found = versus(
        lambda: solve(False),
        lambda: solve(True),
        against="the same without collisions",
        bound=3.0,
        per=(len(targets), len(targets)),
    )
    assert all(found) and not robot.has_self_collision(np.array([result.q for result in found])).any()
