"""Each file of `urdf_samples` describes a sound machine, and is loaded as it is written."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot

from . import closed_forms as cf
from .samples import FOLDER, ROOT, SAMPLES, assert_same, load, path_of, random_configurations
from .urdf_reading import Description, part

INFINITE = float("inf")


def actuated_from(name: str) -> int:
    """How many velocity coordinates come before those of the joints."""
    return 6 if name == "quadruped" else 0


def description(name: str) -> Description:
    return Description(path_of(name))


def test_every_file_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.urdf")} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_loads_without_a_warning(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="knuckle"):
        robot = PinRobot.from_urdf(FOLDER / f"{name}.urdf", strict=True)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("knuckle")] == []
    nq, nv, tip = SAMPLES[name]
    assert (robot.nq, robot.nv, robot.name) == (nq, nv, name)
    if tip is not None:
        assert robot.tcp == tip


@pytest.mark.parametrize("name", SAMPLES)
def test_link_poses_are_the_products_along_the_tree(name: str) -> None:
    robot, file = load(name), description(name)
    for q in random_configurations(robot, 4):
        values = robot.joint_values(q)
        trunk = robot.fk(q, frame="trunk").homogeneous if "trunk" in file.links else None
        for link in file.links:
            expected = file.link_pose(link, values, trunk)
            assert_same(robot.fk(q, frame=link).homogeneous, expected)


def test_quadruped_trunk_stands_where_the_floating_coordinates_say() -> None:
    robot = load("quadruped")
    for q in random_configurations(robot, 4):
        assert_same(robot.fk(q, frame="trunk").homogeneous, pin.XYZQUATToSE3(q[:7]).homogeneous)


@pytest.mark.parametrize("name", SAMPLES)
def test_mass_matrix_is_positive_definite(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 20):
        mass_matrix = robot.mass_matrix(q)
        np.testing.assert_allclose(mass_matrix, mass_matrix.T, rtol=0, atol=1e-12)
        assert np.linalg.eigvalsh(mass_matrix)[0] > 1e-6


@pytest.mark.parametrize("name", SAMPLES)
def test_inertias_are_those_of_the_solids(name: str) -> None:
    file = description(name)
    for link in file.links:
        inertial = file.inertial(link)
        if inertial is None:
            assert file.links[link].find("collision") is None
            continue
        mass, centre, inertia = inertial
        expected_centre, expected = file.solid(link, mass, mesh_cube=0.1)
        np.testing.assert_allclose(centre, expected_centre, rtol=0, atol=1e-9)
        np.testing.assert_allclose(inertia, expected, rtol=0, atol=1e-11)
        a, b, c = np.linalg.eigvalsh(inertia)
        assert 0 < a <= b <= c < a + b, f"{link} breaks the triangle inequality"


@pytest.mark.parametrize("name", SAMPLES)
def test_mass_is_the_sum_over_the_links(name: str) -> None:
    file = description(name)
    masses = [inertial[0] for inertial in map(file.inertial, file.links) if inertial is not None]
    assert load(name).mass == pytest.approx(sum(masses), abs=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_limits_are_those_of_the_file(name: str) -> None:
    robot, file = load(name), description(name)
    leaders = [joint for joint in robot.joint_values(robot.neutral()) if joint != "floating_base"]
    written = [part(file.joints[joint], "limit").attrib for joint in leaders]
    start = actuated_from(name)
    lower, upper = robot.joint_limits[:, -len(leaders) :]
    np.testing.assert_array_equal(lower, [float(limit.get("lower", -INFINITE)) for limit in written])
    np.testing.assert_array_equal(upper, [float(limit.get("upper", INFINITE)) for limit in written])
    np.testing.assert_array_equal(robot.joint_velocity_limits[start:], [float(limit["velocity"]) for limit in written])
    np.testing.assert_array_equal(robot.joint_torque_limits[start:], [float(limit["effort"]) for limit in written])


@pytest.mark.parametrize("name", SAMPLES)
def test_only_continuous_joints_are_without_end_and_every_joint_loses_energy(name: str) -> None:
    for joint in description(name).moving():
        limit, losses = part(joint, "limit"), part(joint, "dynamics")
        assert ("lower" in limit.attrib and "upper" in limit.attrib) == (joint.attrib["type"] != "continuous")
        assert min(float(losses.attrib["damping"]), float(losses.attrib["friction"])) > 0


@pytest.mark.parametrize("name", SAMPLES)
def test_torque_limits_hold_every_pose(name: str) -> None:
    robot, start = load(name), actuated_from(name)
    for q in random_configurations(robot, 20):
        held = np.abs(robot.gravity_force(q)) <= 0.9 * robot.joint_torque_limits
        assert np.all(held[start:])


@pytest.mark.parametrize("name", SAMPLES)
def test_home_is_neutral_and_free_of_self_collision(name: str) -> None:
    robot, file = load(name), description(name)
    home = robot.home_configuration
    np.testing.assert_array_equal(home, robot.neutral())
    model, geometry = robot.model, robot.collision.copy()
    owner = [model.frames[item.parentFrame].name for item in geometry.geometryObjects]
    geometry.removeAllCollisionPairs()
    for i, k in itertools.combinations(range(len(owner)), 2):
        if owner[i] != owner[k] and not file.neighbours(owner[i], owner[k]):
            geometry.addCollisionPair(pin.CollisionPair(i, k))
    data, contacts = model.createData(), geometry.createData()
    pin.updateGeometryPlacements(model, data, geometry, contacts, robot.to_pinocchio(home))
    pin.computeDistances(geometry, contacts)
    for pair, result in zip(geometry.collisionPairs, contacts.distanceResults, strict=True):
        assert result.min_distance > 1e-3, (owner[pair.first], owner[pair.second])


@pytest.mark.parametrize("name", SAMPLES)
def test_every_solid_is_seen_and_collides(name: str) -> None:
    robot, file = load(name), description(name)
    for kind, geometry in (("collision", robot.collision), ("visual", robot.visual)):
        written = sum(len(link.findall(kind)) for link in file.links.values())
        assert geometry.ngeoms == written > 0
    assert all(0 < shape.meshColor[3] <= 1 for shape in robot.visual.geometryObjects)
    with_mass = {link for link in file.links if file.inertial(link) is not None}
    assert {link for link, element in file.links.items() if element.find("visual") is not None} == with_mass


@pytest.mark.parametrize("name", SAMPLES)
def test_what_collides_is_what_is_seen(name: str) -> None:
    for link in description(name).links.values():
        seen, solid = (
            [
                (part(element, "origin").attrib, part(element, "geometry")[0].tag, part(element, "geometry")[0].attrib)
                for element in link.findall(kind)
            ]
            for kind in ("visual", "collision")
        )
        assert all(shape in seen for shape in solid), link.attrib["name"]


# Meshes and mimic joints


@pytest.mark.parametrize("kind", ["stl", "obj", "dae"])
def test_mesh_is_a_centred_cube_of_a_tenth_of_a_metre(kind: str) -> None:
    robot = load("cube_meshes")
    (shape,) = [item for item in robot.collision.geometryObjects if item.meshPath.endswith(f"cube.{kind}")]
    shape.geometry.computeLocalAABB()
    np.testing.assert_allclose(shape.geometry.aabb_local.min_, [-0.05] * 3, atol=1e-9)
    np.testing.assert_allclose(shape.geometry.aabb_local.max_, [0.05] * 3, atol=1e-9)
    assert shape.geometry.computeVolume() == pytest.approx(0.001)  # negative if the faces looked inwards


def test_meshes_are_found_by_bare_pinocchio_with_the_documented_package_dirs() -> None:
    path = str(FOLDER / "cube_meshes.urdf")
    model = pin.buildModelFromUrdf(path)
    shapes = pin.buildGeomFromUrdf(model, path, pin.COLLISION, package_dirs=[str(FOLDER), str(ROOT)])
    assert shapes.ngeoms == 3


def test_gripper_followers_move_with_the_leader() -> None:
    robot = load("gripper")
    assert list(robot.joint_values([0.02])) == ["finger_right"]
    left, right = (robot.fk([0.02], frame=f"{side}_pad").translation for side in ("left", "right"))
    assert_same(left, [0, 0.021, 0.13])
    assert_same(right, [0, -0.021, 0.13])
    gear = robot.fk([0.02], frame="pinion_gear").homogeneous
    assert_same(gear, cf.shift(0, 0, 0.03) @ cf.turn(cf.Z, 50 * 0.02 - 1.25))
