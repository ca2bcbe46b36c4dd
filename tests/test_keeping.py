"""Copies and pickles of robots: whole, equal, and nothing shared that can change."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinBody, PinRobot, Transformation

from .keeping_worker import answers
from .robot_cases import ON_PINOCCHIO, TILTED, close, fresh, state
from .samples import ROOT, load

CUP = PinBody.solid("cup", coal.Cylinder(0.04, 0.1), 0.3, colour=(0.1, 0.2, 0.3, 1.0))
WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda robot: pickle.loads(pickle.dumps(robot)),
    "twice": lambda robot: pickle.loads(pickle.dumps(copy.deepcopy(robot), protocol=2)),
}
every_way = pytest.mark.parametrize("way", WAYS)


def full(name: str) -> PinRobot:
    """A robot with all there is to keep."""
    robot = fresh(name).with_limits(acceleration=5.0, jerk=50.0)
    robot.collision.addAllCollisionPairs()
    robot.refresh()
    robot.add_frame("spot", robot.frames[-1], TILTED)
    robot.attach(CUP, robot.frames[-1], tcp=TILTED)
    robot.update_configuration(*state(robot))
    robot._rng = np.random.default_rng(7)
    return robot


def assert_equal(one: PinRobot, other: PinRobot) -> None:
    assert one.model == other.model and one.collision == other.collision and one.visual == other.visual
    q, dq, ddq = state(one)
    for ours, theirs in (
        (one.frame_poses(q), other.frame_poses(q)),
        (one.id(q, dq, ddq), other.id(q, dq, ddq)),
        (one.fd(dq, q, ddq), other.fd(dq, q, ddq)),
        *zip((one.q, one.dq, one.ddq), (other.q, other.dq, other.ddq), strict=True),
        (one.home_configuration, other.home_configuration),
        *((getattr(one.limits, kind), getattr(other.limits, kind)) for kind in ("position", "velocity", "jerk")),
    ):
        np.testing.assert_array_equal(ours, theirs)
    for kept in ("tcp", "frames", "joints", "placement", "couplings", "findings", "name", "version", "mass"):
        assert getattr(one, kept) == getattr(other, kept), kept
    assert list(one.attached) == list(other.attached)
    assert one.active_pairs == other.active_pairs and one.excluded_pairs == other.excluded_pairs
    assert one.has_self_collision(q) == other.has_self_collision(q)
    assert one.distance(q).value == other.distance(q).value
    np.testing.assert_array_equal(one.random_configuration(), other.random_configuration())


@every_way
@pytest.mark.parametrize("name", ON_PINOCCHIO)
def test_a_kept_robot_is_the_same(name: str, way: str) -> None:
    robot = full(name)
    assert_equal(WAYS[way](robot), robot)


@every_way
@pytest.mark.parametrize("name", ["dual_arm", "mixed"])
def test_nothing_that_can_change_is_shared(name: str, way: str) -> None:
    robot, untouched = full(name), full(name)
    twin = WAYS[way](robot)
    twin.model.armature = twin.model.armature + 1.0
    twin.model.inertias[1] = pin.Inertia.Random()
    twin.model.upperPositionLimit[:] = 0.5
    twin.model.gravity = pin.Motion.Zero()
    twin.remove_collision_pairs(twin.active_pairs)
    for thing in (*twin.collision.geometryObjects, *twin.visual.geometryObjects):
        thing.meshColor = np.zeros(4)
        thing.placement = pin.SE3.Random()
        if isinstance(thing.geometry, coal.Cylinder):
            thing.geometry.radius = 9.0
    twin.refresh()
    twin.add_frame("more", "spot", TILTED)
    twin._add_joint(pin.JointModelRZ(), 1, CUP.renamed("hook"), update_kinematics=False)
    twin.detach("cup")
    twin.tcp = "more"
    twin.move(TILTED)
    twin.update_configuration(twin.neutral())
    twin.rng.random(3)
    assert_equal(robot, untouched)


@every_way
def test_meshes_are_kept(way: str) -> None:
    robot = load("cube_meshes")
    twin = WAYS[way](robot)
    for which in ("collision", "visual"):
        for ours, theirs in zip(
            getattr(twin, which).geometryObjects, getattr(robot, which).geometryObjects, strict=True
        ):
            points = "points" if which == "collision" else "vertices"
            np.testing.assert_array_equal(getattr(ours.geometry, points)(), getattr(theirs.geometry, points)())
            assert ours.geometry == theirs.geometry
            assert ours.meshPath == theirs.meshPath and (ours.meshColor == theirs.meshColor).all()


@every_way
def test_robots_built_half_way(way: str) -> None:
    robot = PinRobot.empty("half", base_placement=TILTED, rng=3)
    robot._add_body(CUP.renamed("base"), 0, 0)
    pose = Transformation.from_translation([0, 0, 1])
    for k in range(3):
        body = CUP.renamed(f"link{k}")
        robot._add_joint(pin.JointModelRX(), k, body, joint_name=f"j{k}", joint_placement=pose, update_kinematics=False)
    twin = WAYS[way](robot)
    assert twin.nv == 0 and twin.model.njoints == 4
    twin._add_joint(pin.JointModelRZ(), "j2", joint_name="j3", armature=0.1)
    assert twin.nv == 4 and robot.nv == 0 and robot.model.njoints == 4 and len(twin.collision.collisionPairs) == 3
    robot._add_joint(pin.JointModelRZ(), "j2", joint_name="j3", armature=0.1)
    assert_equal(twin, robot)


def test_shapes_of_a_wrapper_are_the_robots_own() -> None:
    shape = coal.Sphere(0.1)
    geometry = pin.GeometryModel()
    geometry.addGeometryObject(pin.GeometryObject("ball", 0, pin.SE3.Identity(), shape))
    robot = PinRobot(wrapper=(pin.Model(), geometry))
    shape.radius = 9.0
    assert robot.collision.geometryObjects[0].geometry.radius == 0.1


def test_hulls_without_faces_are_kept() -> None:
    points = coal.StdVec_Vec3s()
    for corner in np.random.default_rng(0).normal(size=(20, 3)):
        points.append(corner)
    geometry = pin.GeometryModel()
    hull = coal.Convex.convexHull(points, False, "")
    geometry.addGeometryObject(pin.GeometryObject("hull", 0, pin.SE3.Identity(), hull))
    twin = pickle.loads(pickle.dumps(PinRobot(wrapper=(pin.Model(), geometry))))
    assert twin.collision.geometryObjects[0].geometry.num_points == hull.num_points


def test_a_worker_process_can_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # where the workers find this module, wherever the tests are run
    robot = full("sixr_arm")
    q = state(robot)[0]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pose, tau, count, attached, solution = pool.submit(answers, robot, q).result(timeout=120)
    robot.detach("cup")
    close(pose, robot.fk(q).homogeneous, 0)
    close(tau, robot.id(q), 0)
    close(robot.fk(solution).homogeneous, pose, 1e-4)
    assert count == robot.collision.ngeoms and attached == []
