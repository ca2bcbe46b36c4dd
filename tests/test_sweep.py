"""How far shapes move: the bound against the real change of every distance, for all kinds of joints; and the kernel."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import Obstacle, PinRobot, Task, Transformation
from knuckle.robot.sweep import Sweep, body_reach, chains_of, sweeps

from .robot_cases import fresh

TASK = Task(
    [
        Obstacle.sphere(0.1, Transformation.from_translation([0.5, 0.4, 0.6]), id="ball"),
        Obstacle.plane([0, 0, 1], -2.0, id="floor"),
    ]
)


def floating_robot() -> PinRobot:
    """A free-flyer, a ball, a sliding, a helical and a planar joint, a box on each."""
    model, geometry = pin.Model(), pin.GeometryModel()
    kinds = [
        pin.JointModelFreeFlyer(),
        pin.JointModelSpherical(),
        pin.JointModelPrismaticUnaligned(np.array([0.6, 0.0, 0.8])),
        pin.JointModelRevoluteUnaligned(np.array([0.0, 0.6, 0.8])),
        pin.JointModelPlanar(),
        pin.JointModelRUBX(),
    ]
    rng, joint = np.random.default_rng(4), 0
    for k, kind in enumerate(kinds):
        placement = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3) / 3)
        joint = model.addJoint(joint, kind, placement, f"j{k}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        model.addJointFrame(joint)
        at = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3) / 3)
        geometry.addGeometryObject(pin.GeometryObject(f"box{k}", joint, at, coal.Box(0.1, 0.06, 0.02)))
    return PinRobot(wrapper=(model, geometry, geometry.clone()), tcp="j5")


def robots() -> dict[str, Any]:
    names = ("sevenr_arm", "scara", "dual_arm", "quadruped", "cube_meshes")
    return {name: lambda name=name: fresh(name) for name in names} | {"floating": floating_robot}


@pytest.mark.parametrize("name", robots())
def test_no_distance_changes_by_more_than_the_bound(name: str) -> None:
    robot, rng = robots()[name](), np.random.default_rng(1)
    most = np.full(robot.nq, 3.5)
    tightest = 0.0
    for sweep in sweeps(robot, TASK, -most, most):
        assert isinstance(sweep, Sweep)
        for _ in range(60):
            q = np.clip(robot.random_configuration(rng), -most, most)
            q = robot._on_manifold(q)
            way = rng.normal(size=robot.nv) * rng.choice([0.02, 0.2]) * rng.integers(0, 2, robot.nv)
            far = robot.integrate(q, way)
            before, after = (np.array([d.value for d in sweep.checker.distances(at)]) for at in (q, far))
            bound = np.abs(way) @ sweep.reach.T
            apart = (before > 1e-6) & (after > 1e-6)
            change = np.abs(after - before)[apart]
            assert (change <= bound[apart] + 1e-7).all()
            tightest = max(tightest, (change / (bound[apart] + 1e-9)).max(initial=0.0))
    assert tightest > 0.2, "a bound that is never approached is a bad one"


def test_reach_of_a_planar_arm_is_what_the_textbook_says() -> None:
    """Two links of 0.5 and 0.4 m about z: a ball of 0.05 m at the tip goes 0.95 m per radian of the first joint."""
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "first")
    second = model.addJoint(first, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.2])), "second")
    geometry = pin.GeometryModel()
    at = pin.SE3(np.eye(3), np.array([0.4, 0.0, -0.7]))
    geometry.addGeometryObject(pin.GeometryObject("ball", second, at, coal.Sphere(0.05)))
    robot = PinRobot(wrapper=(model, geometry, geometry.clone()))
    far = np.hypot(0.4, 0.7) + 0.05  # of the ball from the second joint: its height counts, once there is a way before
    reach = body_reach(chains_of(model, np.ones(2)), 2, robot._bodies()[0])
    np.testing.assert_allclose(reach, [0.5 + far, 0.45], atol=1e-8)


@pytest.mark.parametrize("name", ["sevenr_arm", "floating"])
def test_margins_of_their_own_are_told_as_by_the_distances(name: str) -> None:
    robot, rng = robots()[name](), np.random.default_rng(2)
    most = np.full(robot.nq, 3.5)
    sweep = sweeps(robot, TASK, -most, most)[0]
    assert sweep is not None
    q = np.array([robot.random_configuration(rng) for _ in range(40)])
    margins = rng.uniform(0.0, 0.15, (40, len(sweep.checker.pairs)))
    distance = np.array([[d.value for d in sweep.checker.distances(one)] for one in q])
    sure = (np.abs(distance - margins) > 2e-5).all(axis=1)
    expected = (distance <= margins).any(axis=1)
    found = sweep.checker.approached(q, margins)
    assert (found == expected)[sure].all() and 0 < expected.sum() < 40
    least = sweep.least(q)
    assert least is not None and least[1].value == pytest.approx(distance.min(), abs=1e-6)
    assert distance[least[0]].min() == pytest.approx(distance.min(), abs=1e-6)
    assert sweep.least(q, distance.min() - 1e-3) is None
    assert sweep.checker.approached(q[:0], margins[:0]).shape == (0,)


def test_nothing_is_swept_where_nothing_is_checked() -> None:
    robot = PinRobot(wrapper=pin.buildSampleModelManipulator())
    assert sweeps(robot, TASK, -np.ones(robot.nq), np.ones(robot.nq)) == (None, None)
