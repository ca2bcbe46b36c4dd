"""Robots of `urdf_samples` against the textbook: poses, Jacobians, torques, inertias and all inverse solutions."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from knuckle import ReferenceFrame

from . import closed_forms as cf
from .samples import Array, assert_same, load, random_configurations, within_limits

Law = Callable[[Array], Array]
LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED


# Closed forms: kinematics


FORWARD: dict[str, Law] = {
    "planar_2r": cf.PLANAR_2R.fk,
    "planar_3r": cf.PLANAR_3R.fk,
    "scara": cf.scara_fk,
    "pan_tilt_continuous": cf.pan_tilt_fk,
    "sixr_arm": cf.sixr_fk,
    "sevenr_arm": cf.sevenr_fk,
    "cube_meshes": lambda q: cf.shift(0, 0, 0.10) @ cf.turn(cf.Z, q[0]) @ cf.shift(q[1], 0, 0.22),
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward_kinematics(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 20):
        assert_same(robot.fk(q).homogeneous, FORWARD[name](q))


def test_planar_2r_written_out() -> None:
    x, z = 0.5 * np.cos(0.3) + 0.4 * np.cos(0.7), 0.5 * np.sin(0.3) + 0.4 * np.sin(0.7)
    assert_same(load("planar_2r").fk([0.3, 0.4]).translation, [x, 0, z])


JACOBIANS: dict[str, Law] = {
    "planar_2r": cf.PLANAR_2R.jacobian,
    "planar_3r": cf.PLANAR_3R.jacobian,
    "scara": cf.scara_jacobian,
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobian(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 10):
        assert_same(robot.jacobian(q, "tool", LWA), JACOBIANS[name](q))


def test_sevenr_elbow_lies_on_the_sphere_about_the_shoulder() -> None:
    robot = load("sevenr_arm")
    for q in random_configurations(robot, 10):
        assert_same(robot.fk(q, frame="link4").translation, cf.sevenr_elbow(q))


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
        assert_same(*wrists)


@pytest.mark.parametrize(
    ("name", "q"),
    [("sixr_arm", (0, 0.4, 1.2, 0, 0.8, 0)), ("sevenr_arm", (0, 0.5, 0, -1.4, 0, 1.2, 0))],
)
def test_only_one_of_the_two_configurations_of_the_readme_is_singular(name: str, q: tuple[float, ...]) -> None:
    robot = load(name)
    smallest = [np.linalg.svd(robot.jacobian(at, "tool", LWA), compute_uv=False)[5] for at in (q, robot.neutral())]
    assert smallest[0] > 0.15
    assert smallest[1] < 1e-12


@pytest.mark.parametrize(("leg", "front", "left"), [("fl", 1, 1), ("fr", 1, -1), ("hl", -1, 1), ("hr", -1, -1)])
def test_quadruped_feet(leg: str, front: int, left: int) -> None:
    robot = load("quadruped")
    for q in random_configurations(robot, 5):
        values = robot.joint_values(q)
        angles = [values[f"{leg}_{joint}"] for joint in ("abduction", "hip", "knee")]
        trunk = robot.fk(q, frame="trunk").homogeneous
        foot = trunk[:3, :3] @ cf.quadruped_foot(front, left, angles) + trunk[:3, 3]
        assert_same(robot.fk(q, frame=f"{leg}_foot").translation, foot)


DUAL_JOINTS = ("shoulder_pitch", "shoulder_roll", "arm_yaw", "elbow", "forearm_yaw", "wrist")


@pytest.mark.parametrize(("side", "left"), [("left", 1), ("right", -1)])
def test_dual_arm_tools(side: str, left: int) -> None:
    robot = load("dual_arm")
    for q in random_configurations(robot, 5):
        values = robot.joint_values(q)
        expected = cf.dual_arm_fk(left, values["waist"], [values[f"{side}_{joint}"] for joint in DUAL_JOINTS])
        assert_same(robot.fk(q, frame=f"{side}_tool").homogeneous, expected)


def test_dual_arm_mirrors_equal_angles() -> None:
    robot = load("dual_arm")
    angles = dict(zip(DUAL_JOINTS, (0.4, 0.7, -0.3, -1.1, 0.5, 0.2), strict=True))
    q = robot.configuration_from(
        {"waist": 0.0} | {f"{side}_{joint}": a for side in ("left", "right") for joint, a in angles.items()}
    )
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    # A reflection on both sides keeps the frame right-handed.
    left, right = (robot.fk(q, frame=f"{side}_tool").homogeneous for side in ("left", "right"))
    assert_same(mirror @ left @ mirror, right)


# Closed forms: dynamics


GRAVITY: dict[str, Law] = {
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
        assert_same(robot.gravity_force(q), GRAVITY[name](q))


MASS: dict[str, Law] = {
    "planar_2r": cf.PLANAR_2R.mass_matrix,
    "planar_3r": cf.PLANAR_3R.mass_matrix,
    "scara": cf.scara_mass_matrix,
    "gripper": lambda q: np.array([[cf.gripper_mass()]]),
}


@pytest.mark.parametrize("name", MASS)
def test_mass_matrix(name: str) -> None:
    robot = load(name)
    for q in random_configurations(robot, 10):
        assert_same(robot.mass_matrix(q), MASS[name](q))


def test_planar_2r_mass_matrix_and_coriolis_force_as_printed_in_textbooks() -> None:
    robot, rng = load("planar_2r"), np.random.default_rng(1)
    for q in random_configurations(robot, 10):
        dq = rng.normal(size=2)
        assert_same(robot.mass_matrix(q), cf.planar_2r_mass_matrix(q))
        assert_same(robot.coriolis_force(q, dq), cf.planar_2r_coriolis_force(q, dq))


README_TORQUES = [
    ("planar_2r", [0, 0], [11.772 + 2.3544, 2.3544]),
    ("planar_3r", [0, 0, 0], [11.772 + 3.5316 + 0.5886, 3.5316 + 0.5886, 0.5886]),
    ("scara", [0, 0, 0, 0], [0, 0, -8.829, 0]),
    ("pan_tilt_continuous", [0, 0], [0, 0.11772]),
]


@pytest.mark.parametrize(("name", "q", "torque"), README_TORQUES)
def test_gravity_torques_of_the_readme(name: str, q: list[float], torque: list[float]) -> None:
    assert_same(load(name).gravity_force(q), torque)


def test_mass_matrices_of_the_readme() -> None:
    upright = load("planar_2r").mass_matrix([0, np.pi / 2])
    assert_same(upright, [[0.56488, 0.06416], [0.06416, 0.06416]])
    straight = load("planar_2r").mass_matrix([0, 0])
    assert_same(straight - upright, [[0.24, 0.12], [0.12, 0]])
    assert_same(load("gripper").mass_matrix([0.01]), [[0.27]])


def test_tilt_inertia_does_not_depend_on_the_configuration() -> None:
    robot = load("pan_tilt_continuous")
    for q in random_configurations(robot, 5):
        assert robot.mass_matrix(q)[1, 1] == pytest.approx(cf.pan_tilt_tilt_inertia(), abs=1e-12)


def test_quadruped_weight_acts_on_the_trunk() -> None:
    robot = load("quadruped")
    q = robot.neutral()
    assert robot.mass == pytest.approx(7.2 + 4 * (0.6 + 0.6 + 0.24 + 0.06), abs=1e-12)
    assert_same(robot.gravity_force(q)[:3], [0, 0, robot.mass * cf.G])
    assert_same(robot.mass_matrix(q)[:3, :3], robot.mass * np.eye(3))


# Closed forms: inverse kinematics


INVERSE = {
    "planar_2r": (cf.planar_2r_ik, 2),
    "planar_3r": (cf.planar_3r_ik, 2),
    "scara": (cf.scara_ik, 2),
    "sixr_arm": (cf.sixr_ik, 8),
}


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
            assert_same(reached[rows], target[rows])
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


def test_pan_tilt_looks_in_the_same_direction_upside_down() -> None:
    robot = load("pan_tilt_continuous")
    upright, over = robot.fk([0.3, 0.4]), robot.fk([0.3 + np.pi, np.pi - 0.4])
    assert_same(over.translation, upright.translation)
    assert_same(over.rotation, upright.rotation @ np.diag([1, -1, -1]))


@pytest.mark.parametrize("arm_angle", [-2.0, 0.0, 0.7])
def test_sevenr_moves_its_elbow_on_a_circle_while_the_tool_stands_still(arm_angle: float) -> None:
    robot = load("sevenr_arm")
    shoulder = np.array([0, 0, cf.SEVENR_SHOULDER])
    for q in random_configurations(robot, 5):
        target = robot.fk(q).homogeneous
        line = target[:3, 3] - cf.SEVENR_TOOL * target[:3, 2] - shoulder
        along = [(robot.fk(q, frame="link4").translation - shoulder) @ line]
        for solution in cf.sevenr_ik(target, arm_angle):
            assert_same(robot.fk(solution).homogeneous, target)
            along.append((robot.fk(solution, frame="link4").translation - shoulder) @ line)
        assert_same(along, along[0])


def test_sevenr_reaches_the_pose_of_the_readme_well_within_its_limits() -> None:
    robot = load("sevenr_arm")
    target = cf.shift(0.4, 0.1, 0.5) @ cf.turn(cf.Y, 3.14159)
    assert sum(within_limits(robot, q, 0.35) for q in cf.sevenr_ik(target, 0.0)) >= 1
    angles = np.linspace(-np.pi, np.pi, 37)
    fit = [any(within_limits(robot, q, 0.05) for q in cf.sevenr_ik(target, angle)) for angle in angles]
    assert np.mean(fit) > 0.5
