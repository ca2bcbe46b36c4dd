"""Views: what is drawn, and which courses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle
from knuckle import (
    InputError,
    InputTypeError,
    Obstacle,
    PinRobot,
    Task,
    Trajectory,
    Transformation,
    UnknownNameError,
    ik,
)
from knuckle.robot import RobotBase
from knuckle.view.assemble import picture
from knuckle.view.course import course_of
from knuckle.view.drawing import world_pose
from knuckle.view.messages import camera
from tests.planar_arm import PlanarArm
from tests.samples import SAMPLES, load

from .view_cases import TOUCHING, Q


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_drawn_where_it_is(name: str) -> None:
    robot = load(name)
    shown = picture(robot, frames="full")
    now = shown.drawing.at(shown.q)
    for solid in shown.drawing.solids:
        assert np.isfinite(world_pose(solid, now)).all()
    paths = [solid.path for solid in shown.drawing.solids]
    assert len(set(paths)) == len(paths)
    frames = robot.fk(kind="full")
    for frame, pose in frames.items():
        np.testing.assert_allclose(now.poses[f"{name}/frames/{frame}"], pose.homogeneous, atol=1e-12)
    low, high = shown.bounds
    assert (low < high).all() and (np.abs([low, high]) < 10).all()


def test_a_robot_without_meshes_is_a_skeleton_from_joint_to_joint() -> None:
    robot = PinRobot(wrapper=load("sevenr_arm").model)
    shown = picture(robot, q=Q)
    now = shown.drawing.at(Q)
    joints = robot.fk(Q, kind="joints")
    for name, pose in joints.items():
        np.testing.assert_allclose(now.poses[f"{robot.name}/skeleton/{name}"][:3, 3], pose.translation, atol=1e-12)
    ends = [pose[:3, 3] + pose[:3, 2] for path, pose in now.poses.items() if "/bones/" in path]
    np.testing.assert_allclose(ends[-1], robot.fk(Q).translation, atol=1e-12)


def test_any_robot_can_be_drawn() -> None:
    arm = PlanarArm()
    assert isinstance(arm, RobotBase)
    shown = picture(arm)
    assert shown.drawing.solids
    with pytest.raises(knuckle.robot.UnsupportedError, match="collision geometry"):
        picture(arm, contacts=True)


def test_links_without_a_mesh_get_a_bone_and_the_others_none() -> None:
    assert not [s for s in picture(load("sevenr_arm")).drawing.solids if "/skeleton/" in s.path or "/bones/" in s.path]


def test_contacts_mark_the_shapes_that_touch_and_where() -> None:
    robot = load("sevenr_arm")
    contacts = robot.collisions(q=TOUCHING)
    assert contacts
    shown = picture(robot, q=TOUCHING, contacts=True)
    now = shown.drawing.at(TOUCHING)
    marked = {path.split("/")[-1] for path in now.marks if "/contacts/" in path}
    assert marked == {name for contact in contacts for name in contact.pair}
    nearest = robot.distance(TOUCHING)
    line = now.poses["sevenr_arm/contact_lines/line_0"]
    np.testing.assert_allclose(line[:3, 3], nearest.points[0], atol=1e-12)
    np.testing.assert_allclose(line[:3, 3] + line[:3, 2], nearest.points[1], atol=1e-9)
    assert not shown.drawing.at(robot.home_configuration).marks


def test_each_pair_has_a_colour_of_its_own() -> None:
    robot = load("sevenr_arm")
    shown = picture(robot, contacts=True, safety_margin=0.3)
    now = shown.drawing.at(Q)
    lines = {colour for path, colour in now.marks.items() if "/line_" in path}
    pairs = {contact.pair for contact in robot.collisions(None, 0.3, q=Q)}
    assert len(lines) == min(len(pairs), 6) > 1


def test_ghosts_trace_obstacles_and_goals_stand_where_asked() -> None:
    robot = load("sevenr_arm")
    goal = Transformation.from_translation([0.4, 0.1, 0.5])
    task = Task([Obstacle.sphere(0.1, goal, id="a/b"), Obstacle.plane(id="floor")], goals={"there": goal})
    path = np.linspace(0 * Q, Q, 5)
    shown = picture(robot, task=task, ghosts=[Q, -Q], trajectory=path, target=goal)
    solids = {solid.path.removeprefix("sevenr_arm/"): solid for solid in shown.drawing.solids}
    np.testing.assert_allclose(solids["obstacles/a_b"].pose, goal.homogeneous)
    np.testing.assert_allclose(solids["goals/there/x"].pose[:3, 3], goal.translation)
    np.testing.assert_allclose(solids["target/z"].pose[:3, 3], goal.translation)
    for k, q in enumerate((Q, -Q)):
        for name, pose in zip([s.name for s in robot.surfaces()], robot.surface_poses(q), strict=True):
            np.testing.assert_allclose(solids[f"ghosts/{k}/visual/{name}"].pose, pose)
            assert solids[f"ghosts/{k}/visual/{name}"].colour[3] == 0.25
    tool = np.array([robot.fk(q).translation for q in path])
    near = np.linalg.norm(tool[:, None] - solids["trace"].mesh.vertices, axis=2).min(axis=1)
    assert near.max() < 0.01


def test_the_camera_sees_everything() -> None:
    bounds = np.array([[-1.0, 0.0, 0.0], [2.0, 0.5, 1.0]])
    told = camera(bounds)
    eye, at = np.array(told["eye"]), np.array(told["target"])
    np.testing.assert_allclose(at, bounds.mean(axis=0))
    corners = np.array([[bounds[i, 0], bounds[j, 1], bounds[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    rays = (corners - eye) / np.linalg.norm(corners - eye, axis=1, keepdims=True)
    forward = (at - eye) / np.linalg.norm(at - eye)
    assert np.degrees(np.arccos(rays @ forward)).max() < 22
    assert told["near"] < np.linalg.norm(corners - eye, axis=1).min() < told["far"]


def test_drawing_leaves_the_robot_as_it_was() -> None:
    robot = load("sevenr_arm")
    before = robot.q.copy()
    robot.to_html(q=Q, trajectory=[Q, -Q], contacts=True)
    assert (robot.q == before).all()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"frames": "joint"}, UnknownNameError, "joints"),
        ({"layers": "visuals"}, UnknownNameError, "visual"),
        ({"q": [0.0]}, InputError, r"\(7,\)"),
        ({"trajectory": np.zeros((3, 2))}, InputError, r"\(N, 7\)"),
        ({"trajectory": 3.0}, InputTypeError, "must have t and q"),
        ({"trajectory": "none.csv"}, InputError, "none.csv"),
        ({"safety_margin": -1.0, "contacts": True}, InputError, "safety_margin"),
        ({"ghosts": [[0.0]]}, InputError, r"\(7,\)"),
        ({"ghosts": "home"}, InputTypeError, "numbers"),
        ({"layers": 3}, InputTypeError, "layers"),
        ({"task": "scene.json"}, InputTypeError, "Task.load"),
        ({"target": [1.0, 2.0]}, InputError, "4"),
        ({"name": 3}, InputTypeError, "name"),
        ({"dt": 0.0, "trajectory": np.zeros((3, 7))}, InputError, "dt"),
    ],
)
def test_what_cannot_be_drawn_is_said(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        load("sevenr_arm").to_html(**options)


def test_courses_come_from_arrays_objects_and_files(tmp_path: Path) -> None:
    robot = load("planar_2r")
    q = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]])
    names = robot.coordinate_names
    np.testing.assert_allclose(course_of(robot, q, 0.5).t, [0.0, 0.5, 1.0])
    recording = type("R", (), {"time": np.array([1.0, 2.0, 4.0]), "q": q, "q_names": tuple(names)})()
    csv = tmp_path / "a.csv"
    rows = "\n".join(f"{t},9,{b},{a}" for t, (a, b) in zip([1.0, 2.0, 4.0], q, strict=True))
    csv.write_text(f"# a comment\ntime,tau.x,q.{names[1]},q.{names[0]}\n{rows}\n", encoding="utf-8")
    npz = tmp_path / "a.npz"
    np.savez(npz, t=[1.0, 2.0, 4.0], q=q[:, ::-1], names=names[::-1])
    for trajectory in (recording, csv, str(npz)):
        course = course_of(robot, trajectory)
        assert course.t[0] == 0.0 and course.t[-1] == 3.0
        at_samples = [int(np.abs(course.t - t).argmin()) for t in (0.0, 1.0, 3.0)]
        np.testing.assert_allclose(course.q[at_samples], q, atol=1e-12)


def test_a_curved_trajectory_is_looked_at_between_its_samples() -> None:
    robot = load("planar_2r")
    t = np.array([0.0, 1.0, 2.0])
    parabola = knuckle.Trajectory(t, np.column_stack([t**2, t]), names=robot.coordinate_names)
    course = course_of(robot, parabola)
    assert len(course.t) == 101
    np.testing.assert_allclose(course.q[:, 0], course.t**2, atol=1e-12)
    straight = knuckle.Trajectory(t, np.column_stack([t**2, t]), interpolation="linear")
    assert len(course_of(robot, straight).t) == 3


def test_bad_trajectory_files_say_what_is_wrong(tmp_path: Path) -> None:
    robot = load("planar_2r")
    for name, text, said in (
        ("a.csv", "time,shoulder\n0,0\n1,0\n", "elbow|must have shape"),
        ("b.csv", "time\n", "0 rows"),
        ("c.csv", "time,shoulder,elbow\n0,x,0\n", "column"),
        ("d.csv", "time,shoulder,elbow\n0,0,0\n0,0,0\n", "time"),
        ("e.txt", "", "must end in"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            course_of(robot, tmp_path / name)


def test_thinning_keeps_both_ends() -> None:
    course = course_of(load("planar_2r"), np.random.default_rng(0).random((1000, 2))).thinned(100)
    assert len(course.t) == 100 and course.t[0] == 0 and course.t[-1] == pytest.approx(999 * 0.02)


def test_frames_are_asked_for_by_either_name() -> None:
    arm = load("planar_2r")
    for options in ({"frames": "tcp"}, {"coordinate_systems": "tcp"}, {"frames": "tcp", "with_collision": False}):
        with arm.visualize(open_browser=False, **options) as opened:
            assert any("/frames/" in path for path in opened._stage.now().poses)
    with pytest.raises(knuckle.InputError, match="frames and coordinate_systems mean the same"):
        arm.visualize(open_browser=False, frames="tcp", coordinate_systems="full")
    arm.visualize_self_collisions(open_browser=False, contacts=True, frames="tcp").close()


def test_what_was_solved_can_be_drawn_and_what_cannot_says_what_can() -> None:
    arm = load("sevenr_arm")
    poses = ik.line(arm.fk(Q), arm.fk(Q) @ Transformation.from_translation([0.0, 0.02, 0.0]), count=5)
    for found in (ik.track(arm, poses, Q), ik.solve_batch(arm, poses, rng=0)):
        drawn = picture(arm, trajectory=found, dt=0.1)
        assert drawn.course is not None
        np.testing.assert_array_equal(drawn.course.q, found.q)
        np.testing.assert_allclose(drawn.course.t, 0.1 * np.arange(5))
    with pytest.raises(knuckle.InputTypeError, match=r"q must be an array of numbers, got IKResult .*; its q is one"):
        picture(arm, q=arm.ik(poses[0], rng=0))
    with pytest.raises(knuckle.InputTypeError, match=r"Task\(\[obstacle, ...\]\) makes one"):
        picture(arm, task=[Obstacle.sphere(0.1)])
    with pytest.raises(knuckle.InputError, match="target must have shape"):
        picture(arm, target=[0.4, 0.0, 0.5])
    wide = Trajectory([0.0, 1.0], np.zeros((2, 8)), names=[*arm.joints, "gripper"])
    with pytest.raises(knuckle.InputError, match=r"'gripper' \(column 8\).*drop=True"):
        picture(arm, trajectory=wide)
    turned = Trajectory([0.0, 1.0], [Q[::-1], Q[::-1]], names=arm.joints[::-1])
    course = picture(arm, trajectory=turned).course
    assert course is not None and (course.q[0] == Q).all()
    with pytest.raises(AttributeError, match=r"see robot\.visualize"):
        arm.show()
