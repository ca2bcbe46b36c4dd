"""The robots of `urdf_samples`: closed-form answers, and that each file describes a sound machine."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot, ReferenceFrame

from . import closed_forms as cf
from .urdf_reading import Description

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "urdf_samples"
# name: nq, nv, frame at the tip (None where the tip is a matter of choice)
SAMPLES: dict[str, tuple[int, int, str | None]] = {
    "planar_2r": (2, 2, "tool"),
    "planar_3r": (3, 3, "tool"),
    "scara": (4, 4, "tool"),
    "pan_tilt_continuous": (2, 2, "lens"),
    "sixr_arm": (6, 6, "tool"),
    "sevenr_arm": (7, 7, "tool"),
    "cube_meshes": (2, 2, "tool"),
    "gripper": (1, 1, None),
    "quadruped": (19, 18, None),
    "dual_arm": (13, 13, None),
}
EXACT = {"rtol": 0, "atol": 1e-10}
LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
LOADED: dict[str, PinRobot] = {}


def load(name: str) -> PinRobot:
    if name not in LOADED:
        LOADED[name] = PinRobot.from_urdf(FOLDER / f"{name}.urdf")
    return LOADED[name]


def description(name: str) -> Description:
    return Description(FOLDER / f"{name}.urdf")


def random_configurations(robot: PinRobot, count: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [robot.random_configuration(rng) for _ in range(count)]


def within_limits(robot: PinRobot, q: Any, margin: float = 0.0) -> bool:
    lower, upper = robot.joint_limits
    return bool(np.all(q >= lower + margin) and np.all(q <= upper - margin))


def test_every_file_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.urdf")} == set(SAMPLES)


# Closed forms: kinematics


FORWARD = {
    "planar_2r": cf.PLANAR_2R.fk,
    "planar_3r": cf.PLANAR_3R.fk,
    "scara": cf.scara_fk,
    "pan_tilt_continuous": cf.pan_tilt_fk,
    "sixr_arm": cf.sixr_fk,
    "sevenr_arm": cf.sevenr_fk,
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward_kinematics(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 20):
        np.testing.assert_allclose(robot.fk(q).homogeneous, FORWARD[name](q), **EXACT)


def test_planar_2r_at_the_angles_of_the_readme() -> None:
    x, z = 0.5 * np.cos(0.3) + 0.4 * np.cos(0.7), 0.5 * np.sin(0.3) + 0.4 * np.sin(0.7)
    np.testing.assert_allclose(load("planar_2r").fk([0.3, 0.4]).translation, [x, 0, z], **EXACT)


JACOBIANS = {"planar_2r": cf.PLANAR_2R.jacobian, "planar_3r": cf.PLANAR_3R.jacobian, "scara": cf.scara_jacobian}


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobian(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 10):
        np.testing.assert_allclose(robot.jacobian(q, "tool", LWA), JACOBIANS[name](q), **EXACT)


def test_sevenr_elbow_lies_on_the_sphere_about_the_shoulder() -> None:
    robot = load("sevenr_arm")
    for q in random_configurations(robot, 10):
        np.testing.assert_allclose(robot.fk(q, frame="link4").translation, cf.sevenr_elbow(q), **EXACT)


def test_sevenr_distance_from_shoulder_to_wrist_depends_on_the_elbow_alone() -> None:
    robot = load("sevenr_arm")
    for q in random_configurations(robot, 10):
        wrist = robot.fk(q, frame="link6").translation
        a, b = cf.SEVENR_UPPER, cf.SEVENR_FORE
        squared = a**2 + b**2 + 2 * a * b * np.cos(q[3])
        assert np.sum((wrist - [0, 0, cf.SEVENR_SHOULDER]) ** 2) == pytest.approx(squared, abs=1e-12)


def test_sevenr_wrist_does_not_move_with_the_last_three_joints() -> None:
    robot = load("sevenr_arm")
    for q in random_configurations(robot, 5):
        turned = q.copy()
        turned[4:] = 0.1, -0.2, 0.3
        wrists = [robot.fk(at, frame="link6").translation for at in (q, turned)]
        np.testing.assert_allclose(*wrists, **EXACT)


@pytest.mark.parametrize(("leg", "front", "left"), [("fl", 1, 1), ("fr", 1, -1), ("hl", -1, 1), ("hr", -1, -1)])
def test_quadruped_feet(leg: str, front: int, left: int) -> None:
    robot = load("quadruped")
    for q in random_configurations(robot, 5):
        values = robot.joint_values(q)
        angles = [values[f"{leg}_{joint}"] for joint in ("abduction", "hip", "knee")]
        trunk = robot.fk(q, frame="trunk").homogeneous
        foot = trunk[:3, :3] @ cf.quadruped_foot(front, left, angles) + trunk[:3, 3]
        np.testing.assert_allclose(robot.fk(q, frame=f"{leg}_foot").translation, foot, **EXACT)


DUAL_JOINTS = ("shoulder_pitch", "shoulder_roll", "arm_yaw", "elbow", "forearm_yaw", "wrist")


@pytest.mark.parametrize(("side", "left"), [("left", 1), ("right", -1)])
def test_dual_arm_tools(side: str, left: int) -> None:
    robot = load("dual_arm")
    for q in random_configurations(robot, 5):
        values = robot.joint_values(q)
        expected = cf.dual_arm_fk(left, values["waist"], [values[f"{side}_{joint}"] for joint in DUAL_JOINTS])
        np.testing.assert_allclose(robot.fk(q, frame=f"{side}_tool").homogeneous, expected, **EXACT)


def test_dual_arm_mirrors_equal_angles() -> None:
    robot = load("dual_arm")
    angles = dict(zip(DUAL_JOINTS, (0.4, 0.7, -0.3, -1.1, 0.5, 0.2), strict=True))
    q = robot.configuration_from(
        {"waist": 0.0} | {f"{side}_{joint}": a for side in ("left", "right") for joint, a in angles.items()}
    )
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    # A reflection on both sides keeps the frame right-handed.
    left, right = (robot.fk(q, frame=f"{side}_tool").homogeneous for side in ("left", "right"))
    np.testing.assert_allclose(mirror @ left @ mirror, right, **EXACT)


# Closed forms: dynamics


GRAVITY = {
    "planar_2r": cf.PLANAR_2R.gravity_torque,
    "planar_3r": cf.PLANAR_3R.gravity_torque,
    "scara": cf.scara_gravity_torque,
    "pan_tilt_continuous": cf.pan_tilt_gravity_torque,
    "gripper": lambda q: np.zeros(1),
    "cube_meshes": lambda q: np.zeros(2),
}


@pytest.mark.parametrize("name", GRAVITY)
def test_gravity_torque(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 10):
        np.testing.assert_allclose(robot.gravity_force(q), GRAVITY[name](q), **EXACT)


MASS = {
    "planar_2r": cf.PLANAR_2R.mass_matrix,
    "planar_3r": cf.PLANAR_3R.mass_matrix,
    "scara": cf.scara_mass_matrix,
    "gripper": lambda q: [[cf.gripper_mass()]],
}


@pytest.mark.parametrize("name", MASS)
def test_mass_matrix(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 10):
        np.testing.assert_allclose(robot.mass_matrix(q), MASS[name](q), **EXACT)


def test_planar_2r_mass_matrix_and_coriolis_force_as_printed_in_textbooks() -> None:
    robot, rng = load("planar_2r"), np.random.default_rng(1)
    for q in random_configurations(robot, 10):
        dq = rng.normal(size=2)
        np.testing.assert_allclose(robot.mass_matrix(q), cf.planar_2r_mass_matrix(q), **EXACT)
        np.testing.assert_allclose(robot.coriolis_force(q, dq), cf.planar_2r_coriolis_force(q, dq), **EXACT)


def test_tilt_inertia_does_not_depend_on_the_configuration() -> None:
    robot = load("pan_tilt_continuous")
    for q in random_configurations(robot, 5):
        assert robot.mass_matrix(q)[1, 1] == pytest.approx(cf.pan_tilt_tilt_inertia(), abs=1e-12)


def test_quadruped_weight_acts_on_the_trunk() -> None:
    robot = load("quadruped")
    q = robot.neutral()
    assert robot.mass == pytest.approx(7.2 + 4 * (0.6 + 0.6 + 0.24 + 0.06), abs=1e-12)
    np.testing.assert_allclose(robot.gravity_force(q)[:3], [0, 0, robot.mass * cf.G], **EXACT)
    np.testing.assert_allclose(robot.mass_matrix(q)[:3, :3], robot.mass * np.eye(3), **EXACT)


# Closed forms: inverse kinematics


INVERSE = {"planar_2r": (cf.planar_2r_ik, 2), "scara": (cf.scara_ik, 2), "sixr_arm": (cf.sixr_ik, 8)}


@pytest.mark.parametrize("name", INVERSE)
def test_every_inverse_solution_reaches_the_pose_it_was_asked_for(name: str) -> None:
    robot, (inverse, most) = load(name), INVERSE[name]
    position_only = name == "planar_2r"
    counts = set()
    for q in random_configurations(robot, 20):
        target = robot.fk(q).homogeneous
        found = inverse(target)
        counts.add(len(found))
        for solution in found:
            reached = robot.fk(solution).homogeneous
            rows = np.s_[:3, 3] if position_only else np.s_[:, :]
            np.testing.assert_allclose(reached[rows], target[rows], **EXACT)
        assert min(np.abs(robot.difference(solution, q)).max() for solution in found) < 1e-9
        assert all(np.abs(a - b).max() > 1e-3 for a, b in itertools.combinations(found, 2))
    assert max(counts) == most


def test_sixr_pose_of_the_readme_has_eight_solutions_within_the_limits() -> None:
    robot = load("sixr_arm")
    target = cf.shift(0.2, 0.2, 0.7) @ cf.turn(cf.Y, np.pi / 2)
    assert [within_limits(robot, q, 0.1) for q in cf.sixr_ik(target)] == [True] * 8


def test_sixr_has_no_solution_beyond_its_reach() -> None:
    reach = cf.SIXR_OFFSET + cf.SIXR_UPPER + cf.SIXR_FORE
    far = cf.shift(reach + 0.01, 0, cf.SIXR_SHOULDER - cf.SIXR_TOOL) @ cf.turn(cf.X, np.pi)
    assert len(cf.sixr_ik(far)) == 0


@pytest.mark.parametrize("arm_angle", [-2.0, 0.0, 0.7])
def test_sevenr_moves_its_elbow_on_a_circle_while_the_tool_stands_still(arm_angle: float) -> None:
    robot = load("sevenr_arm")
    shoulder = np.array([0, 0, cf.SEVENR_SHOULDER])
    for q in random_configurations(robot, 5):
        target = robot.fk(q).homogeneous
        line = target[:3, 3] - cf.SEVENR_TOOL * target[:3, 2] - shoulder
        along = [(robot.fk(q, frame="link4").translation - shoulder) @ line]
        for solution in cf.sevenr_ik(target, arm_angle):
            np.testing.assert_allclose(robot.fk(solution).homogeneous, target, **EXACT)
            along.append((robot.fk(solution, frame="link4").translation - shoulder) @ line)
        np.testing.assert_allclose(along, along[0], **EXACT)


def test_sevenr_reaches_the_pose_of_the_readme_well_within_its_limits() -> None:
    robot = load("sevenr_arm")
    target = cf.shift(0.4, 0.1, 0.5) @ cf.turn(cf.Y, 3.14159)
    assert sum(within_limits(robot, q, 0.35) for q in cf.sevenr_ik(target, 0.0)) >= 1
    angles = np.linspace(-np.pi, np.pi, 37)
    fit = [any(within_limits(robot, q, 0.05) for q in cf.sevenr_ik(target, angle)) for angle in angles]
    assert np.mean(fit) > 0.5


# Every file describes a sound machine


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
            np.testing.assert_allclose(robot.fk(q, frame=link).homogeneous, expected, **EXACT)


def test_quadruped_trunk_stands_where_the_floating_coordinates_say() -> None:
    robot = load("quadruped")
    for q in random_configurations(robot, 4):
        np.testing.assert_allclose(robot.fk(q, frame="trunk").homogeneous, pin.XYZQUATToSE3(q[:7]).homogeneous, **EXACT)


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
def test_limits_and_losses_are_finite_where_the_machine_has_them(name: str) -> None:
    robot, file = load(name), description(name)
    lower, upper = robot.joint_limits
    free = {"pan_tilt_continuous": [True, True], "quadruped": [True] * 7 + [False] * 12}.get(name, [False] * robot.nq)
    assert (np.isinf(lower) & np.isinf(upper))[7 * (name == "quadruped") :].tolist() == free[
        7 * (name == "quadruped") :
    ]
    assert np.all(lower < upper)
    actuated = np.s_[6 * (name == "quadruped") :]
    assert np.all(np.isfinite(robot.joint_velocity_limits[actuated]))
    assert np.all(np.isfinite(robot.joint_torque_limits[actuated]))
    for joint in file.moving():
        dynamics = joint.find("dynamics")
        assert dynamics is not None
        assert float(dynamics.attrib["damping"]) > 0
        assert float(dynamics.attrib["friction"]) > 0


@pytest.mark.parametrize("name", SAMPLES)
def test_torque_limits_hold_every_pose(name: str) -> None:
    robot = load(name)
    actuated = np.s_[6 * (name == "quadruped") :]
    for q in random_configurations(robot, 20):
        held = np.abs(robot.gravity_force(q)) <= 0.9 * robot.joint_torque_limits
        assert np.all(held[actuated])


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


# Meshes and mimic joints


@pytest.mark.parametrize("kind", ["stl", "obj", "dae"])
def test_mesh_is_a_centred_cube_of_a_tenth_of_a_metre(kind: str) -> None:
    robot = load("cube_meshes")
    (shape,) = [item for item in robot.collision.geometryObjects if item.meshPath.endswith(f"cube.{kind}")]
    corners = shape.geometry.vertices()
    np.testing.assert_allclose(np.min(corners, axis=0), [-0.05] * 3, atol=1e-9)
    np.testing.assert_allclose(np.max(corners, axis=0), [0.05] * 3, atol=1e-9)


def test_meshes_are_found_by_bare_pinocchio_with_the_documented_package_dirs() -> None:
    path = str(FOLDER / "cube_meshes.urdf")
    model = pin.buildModelFromUrdf(path)
    shapes = pin.buildGeomFromUrdf(model, path, pin.COLLISION, package_dirs=[str(FOLDER), str(ROOT)])
    assert shapes.ngeoms == 3


def test_gripper_followers_move_with_the_leader() -> None:
    robot = load("gripper")
    assert list(robot.joint_values([0.02])) == ["finger_right"]
    left, right = (robot.fk([0.02], frame=f"{side}_pad").translation for side in ("left", "right"))
    np.testing.assert_allclose(left, [0, 0.021, 0.13], **EXACT)
    np.testing.assert_allclose(right, [0, -0.021, 0.13], **EXACT)
    gear = robot.fk([0.02], frame="pinion_gear").homogeneous
    np.testing.assert_allclose(gear, cf.shift(0, 0, 0.03) @ cf.turn(cf.Z, 50 * 0.02 - 1.25), **EXACT)
