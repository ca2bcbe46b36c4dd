"""Contacts and distances against coal's own answer for every pair, and against closed forms."""

from __future__ import annotations

import itertools

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot
from knuckle.robot import native

from . import brute_force
from .moving_shape import SHAPES, robot_of, swept
from .samples import SAMPLES, path_of

LANES = [lanes for lanes in (2, 4, 8) if native.AVAILABLE]
PAIRS = [(a, b) for a, b in itertools.combinations_with_replacement(SHAPES, 2) if not {a, b} <= {"halfspace", "plane"}]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_samples_touch_where_a_check_of_every_pair_says_so(name: str, margin: float) -> None:
    robot = PinRobot.from_urdf(path_of(name))
    q = brute_force.random_configurations(robot, 400)
    truth = brute_force.contacts(robot, q, margin)
    np.testing.assert_array_equal(robot.has_self_collision(q, safety_margin=margin), truth.any(axis=1))
    checker = robot._checker()
    for row in range(40):
        assert robot.has_self_collision(q[row], safety_margin=margin) == truth[row].any()
        np.testing.assert_array_equal(checker.contacts(q[row], margin), np.flatnonzero(truth[row]))


@pytest.mark.parametrize("name", brute_force.INSTALLED)
@pytest.mark.parametrize("meshes", ["hull", "exact"])
def test_real_robots_touch_where_a_check_of_every_pair_says_so(name: str, meshes: str) -> None:
    robot = brute_force.installed(name, collision_meshes=meshes)
    if robot is None:
        pytest.skip("needs example-robot-data: pip install 'knuckle[robots]'")
    q = brute_force.random_configurations(robot, 600 if meshes == "hull" else 150)
    truth = brute_force.contacts(robot, q)
    np.testing.assert_array_equal(robot.has_self_collision(q), truth.any(axis=1))


@pytest.mark.parametrize("first, second", PAIRS, ids=str)
def test_every_kind_of_shape_against_every_other(first: str, second: str) -> None:
    robot = robot_of(SHAPES[first](), SHAPES[second]())
    q = brute_force.random_configurations(robot, 400)
    for margin in (0.0, 0.04):
        truth = brute_force.contacts(robot, q, margin)[:, 0]
        assert 0 < truth.sum() and ("plane" in (first, second) or "halfspace" in (first, second) or not truth.all())
        np.testing.assert_array_equal(robot.has_self_collision(q, safety_margin=margin), truth)


@pytest.mark.parametrize("first, second", PAIRS, ids=str)
def test_distances_are_those_of_coal(first: str, second: str) -> None:
    robot = robot_of(SHAPES[first](), SHAPES[second]())
    q = brute_force.random_configurations(robot, 60)
    truth = brute_force.distances(robot, q)[:, 0]
    found = [robot.distance(one) for one in q]
    values = np.array([float(d) for d in found])
    apart = truth > 1e-6
    np.testing.assert_allclose(values[apart], truth[apart], atol=2e-6)
    np.testing.assert_allclose(values[~apart], truth[~apart], atol=1e-4)
    for d in itertools.compress(found, apart):
        assert np.linalg.norm(d.points[1] - d.points[0]) == pytest.approx(d.value, abs=2e-6)
        np.testing.assert_allclose(d.points[1] - d.points[0], d.value * d.normal, atol=1e-5)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("first, second", [("hull", "hull"), ("cylinder", "cone"), ("capsule", "box")])
def test_every_width_of_the_kernel_gives_the_same_verdicts(lanes: int, first: str, second: str) -> None:
    if lanes > native.core().lanes():
        pytest.skip(f"this processor has no vectors of {lanes}")
    robot = robot_of(SHAPES[first](), SHAPES[second]())
    q = brute_force.random_configurations(robot, 333)
    truth = brute_force.contacts(robot, q)[:, 0]
    try:
        native.core().use_lanes(lanes)
        np.testing.assert_array_equal(robot.has_self_collision(q), truth)
        values = [float(robot.distance(one)) for one in q[:40]]
    finally:
        native.core().use_lanes(0)
    np.testing.assert_allclose(values, [float(robot.distance(one)) for one in q[:40]], atol=1e-9)


def test_shapes_swept_by_a_radius_are_thicker_by_it() -> None:
    robot = robot_of(swept(coal.Box(0.1, 0.1, 0.1), 0.03), swept(coal.Cone(0.1, 0.2), 0.02))
    q = brute_force.random_configurations(robot, 300)
    np.testing.assert_array_equal(robot.has_self_collision(q), brute_force.contacts(robot, q)[:, 0])


def test_two_spheres_by_hand() -> None:
    robot = robot_of(coal.Sphere(0.1), coal.Sphere(0.2))
    data, shapes = robot.model.createData(), robot.collision.createData()
    for q in brute_force.random_configurations(robot, 50):
        pin.updateGeometryPlacements(robot.model, data, robot.collision, shapes, q)
        a, b = (shapes.oMg[k].translation for k in (0, 1))
        between = np.linalg.norm(b - a)
        found = robot.distance(q)
        assert found.value == pytest.approx(between - 0.3, abs=1e-9)
        assert found.pair == ("fixed", "moving") and found.links == ("world_link", "hand")
        assert robot.has_self_collision(q) == (between < 0.3)
        np.testing.assert_allclose(found.points[0], a + 0.1 * (b - a) / between, atol=1e-6)
        for margin in (0.01, 0.05, 0.2):
            assert robot.has_self_collision(q, safety_margin=margin) == (between < 0.3 + margin)


def test_a_box_deep_in_another_and_a_mesh_inside_a_mesh() -> None:
    cube = robot_of(coal.Box(1.0, 1.0, 1.0), coal.Box(1.0, 1.0, 1.0))
    inner, outer = SHAPES["hull"](), coal.Box(2.0, 2.0, 2.0)
    for robot in (cube, robot_of(outer, inner), robot_of(SHAPES["hull"](), coal.Sphere(0.001))):
        q = np.zeros(6)
        assert robot.has_self_collision(q) and robot.has_self_collision(q[None]).all()
        assert robot.distance(q).value < 0
    free = pin.Model()
    free.name = "cubes"
    joint = free.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    geometry = pin.GeometryModel()
    for name, parent in (("a", 0), ("b", joint)):
        geometry.addGeometryObject(pin.GeometryObject(name, parent, pin.SE3.Identity(), coal.Box(0.5, 0.5, 0.5)))
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    robot = PinRobot(wrapper=(free, geometry, None))
    assert robot.distance([0.35]).value == pytest.approx(-0.15, abs=1e-6), "0.15 deep"
    assert robot.distance([0.7]).value == pytest.approx(0.2, abs=1e-9)
    assert robot.has_self_collision([0.35]) and not robot.has_self_collision([0.55])


def test_the_answer_does_not_depend_on_threads_or_memory_order() -> None:
    robot = PinRobot.from_urdf(path_of("sixr_arm"))
    q = brute_force.random_configurations(robot, 5000)
    one = robot.has_self_collision(q, threads=1)
    for threads in (2, 3, 8, None):
        np.testing.assert_array_equal(robot.has_self_collision(q, threads=threads), one)
    np.testing.assert_array_equal(robot.has_self_collision(np.asfortranarray(q)), one)
    assert robot.has_self_collision(q[::2][1]) == one[2]
    assert robot.has_self_collision(q[:0]).shape == (0,)
    assert robot.has_self_collision(q[0].tolist()) == one[0]


def test_a_query_moves_nothing() -> None:
    robot = PinRobot.from_urdf(path_of("dual_arm"))
    before = robot.q.copy()
    q = brute_force.random_configurations(robot, 3)
    robot.has_self_collision(q[0])
    robot.distance(q[1])
    robot.collision_info(q=q[2])
    assert (robot.q == before).all()


def test_a_touching_pair_is_reported_with_its_links_and_depth() -> None:
    robot = PinRobot.from_urdf(path_of("sixr_arm"))
    q = next(q for q in brute_force.random_configurations(robot, 200) if robot.has_self_collision(q))
    found = robot.collisions(q=q)
    assert found and all(contact[0] is robot and contact[1] is robot for contact in found)
    assert all(len(contact) == 2 and contact.distance < 0 for contact in found)
    deepest = min(found, key=lambda contact: contact.distance)
    assert deepest.distance == pytest.approx(robot.distance(q).value, abs=1e-6)
    report = robot.collision_info(q=q)
    assert repr(deepest.pair[0]) in report and "overlap by" in report
    robot.update_configuration(q)
    names = [body.name for body in robot._checker().bodies]
    assert [tuple(names[k] for k in pair) for pair in robot.collision_pairs] == [c.pair for c in found]
    objects = robot.collision_objects
    for i, j in robot.collision_pairs:
        assert coal.collide(objects[i], objects[j], coal.CollisionRequest(), coal.CollisionResult())


def test_the_nearest_pair_is_the_least_of_all_pairs() -> None:
    robot = PinRobot.from_urdf(path_of("sevenr_arm"))
    q = brute_force.random_configurations(robot, 60)
    truth = brute_force.distances(robot, q)
    for one, row in zip(q, truth, strict=True):
        assert robot.distance(one).value == pytest.approx(row.min(), abs=2e-6)
        np.testing.assert_allclose([float(d) for d in robot.distances(one)], row, atol=1e-9)


def test_a_robot_without_geometry_is_never_in_collision() -> None:
    robot = PinRobot(wrapper=pin.buildSampleModelManipulator())
    assert robot.has_self_collision() is False
    assert not robot.has_self_collision(np.zeros((4, robot.nq))).any()
    nothing = robot.distance()
    assert nothing.value == np.inf and nothing.pair is None and np.isnan(nothing.points).all()
    assert robot.collisions() == [] and robot.collision_pairs.shape == (0, 2)
    assert "no pairs" in robot.collision_info()
