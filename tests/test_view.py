"""Views: what is drawn, what a page says, what a server does without a browser; none of these needs one."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle
from knuckle import InputError, InputTypeError, Obstacle, PinRobot, Task, Transformation, UnknownNameError
from knuckle.cli import main
from knuckle.robot import RobotBase
from knuckle.robot.errors import NoBrowserError
from knuckle.view.assemble import picture
from knuckle.view.course import course_of
from knuckle.view.drawing import world_pose
from knuckle.view.messages import camera
from tests.planar_arm import PlanarArm
from tests.samples import SAMPLES, load, path_of

SEVEN = str(path_of("sevenr_arm"))
Q = np.array([0.3, 0.5, -0.4, -1.4, 0.2, 1.2, 0.1])
TOUCHING = np.array([-2.2, 1.9, 0.5, -2.1, -1.3, 1.9, -1.6])


def scene_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    messages: list[dict[str, Any]] = json.loads(found.group(1))
    return messages


# What is drawn


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
    ends = [pose[:3, 3] + pose[:3, 2] for path, pose in now.poses.items() if "/bar_" in path]
    np.testing.assert_allclose(ends[-1], robot.fk(Q).translation, atol=1e-12)


def test_any_robot_can_be_drawn() -> None:
    arm = PlanarArm()
    assert isinstance(arm, RobotBase)
    shown = picture(arm)
    assert shown.drawing.solids
    with pytest.raises(knuckle.robot.UnsupportedError, match="collision geometry"):
        picture(arm, contacts=True)


def test_links_without_a_mesh_get_a_bone_and_the_others_none() -> None:
    assert not [s for s in picture(load("sevenr_arm")).drawing.solids if "/skeleton/" in s.path]


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


# Courses


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


# Pages


def test_a_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    file = load("cube_meshes").to_html(tmp_path / "a.html")
    page = file.read_text(encoding="utf-8")
    without = page.replace("http://www.w3.org/1999/xhtml", "")  # the name of a language, not an address
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)[^\"']*//", without)
    assert "http://" not in without.split("</style>")[0] and "@import" not in page
    assert len(re.findall(r"</script", page)) == 4
    kinds = [message["type"] for message in scene_of(page)]
    assert kinds.count("solid") == 6 and kinds[-1] == "moment"


def test_names_cannot_break_out_of_a_page() -> None:
    robot = load("planar_2r")
    page = robot.to_html(name="</script><script>alert(1)</script>")
    assert len(re.findall(r"</script", page)) == 4
    assert "<title>&lt;_script" in page


def test_a_film_holds_the_poses_of_every_sample() -> None:
    robot = load("planar_2r")
    q = np.linspace([0, 0], [1, 1], 7)
    film = scene_of(robot.to_html(trajectory=q, dt=0.1))[-1]
    import base64

    rows = np.frombuffer(base64.b64decode(film["poses"]), dtype=np.float32).reshape(7, len(film["paths"]), 4, 3)
    place = film["paths"].index("planar_2r/visual/link2_0")
    index = [surface.name for surface in robot.surfaces()].index("link2_0")
    for k in range(7):
        np.testing.assert_allclose(rows[k, place].T, robot.surface_poses(q[k])[index, :3], atol=1e-6)
    np.testing.assert_allclose(film["times"], 0.1 * np.arange(7))


def test_pages_are_written_where_asked_or_the_remedy_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        load("planar_2r").to_html(tmp_path)
    with pytest.raises(InputTypeError, match="path"):
        load("planar_2r").to_html(3)


# The server, without a browser


def test_nothing_waits_for_a_browser_but_wait_and_it_gives_up_with_advice() -> None:
    with load("sevenr_arm").visualize(open_browser=False) as view:
        view.update(Q)
        view.play([Q, -Q], dt=0.1)
        view.camera([1.0, 1.0, 1.0], [0.0, 0.0, 0.3])
        assert view.browsers == 0
        with pytest.raises(NoBrowserError, match=r"open it by hand .* to_html"):
            view.wait(timeout=0.05)
        with pytest.raises(NoBrowserError):
            view.image(timeout=0.05)
        page = urllib.request.urlopen(view.url).read().decode()
    assert "knuckle.connect" in page and len(scene_of(page)) == 0
    with pytest.raises(InputError, match="closed"):
        view.update(Q)
    view.close()


def test_it_listens_on_the_loopback_interface_only() -> None:
    with load("planar_2r").visualize(open_browser=False) as view:
        port = int(view.url.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(InputError, match="free port"):
            load("planar_2r").visualize(open_browser=False, port=port)
        table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        heads = [line.split()[1] for line in table.splitlines()[1:] if " 0A " in line and f":{port:04X} " in line]
        assert heads == [f"0100007F:{port:04X}"]


def test_several_robots_share_a_view() -> None:
    with load("sevenr_arm").visualize(open_browser=False) as view:
        assert load("planar_2r").visualize(view) is view
        assert load("planar_2r").visualize_self_collisions(view, name="twin") is view
        assert view.names == ["sevenr_arm", "planar_2r", "twin"]
        with pytest.raises(InputError, match="several robots"):
            view.update(Q)
        view.update(Q, name="sevenr_arm")
        view.remove("twin")
        with pytest.raises(UnknownNameError):
            view.update(Q, name="twin")
        names = {message["path"].split("/")[0] for message in scene_of(view.to_html()) if message["type"] == "solid"}
        assert names == {"sevenr_arm", "planar_2r"}
        assert "srcdoc" in view._repr_html_() and "sevenr_arm" in repr(view)
    with pytest.raises(InputTypeError, match="view that"):
        load("planar_2r").visualize(object())


def test_what_was_shown_can_be_recorded(tmp_path: Path) -> None:
    robot = load("planar_2r")
    with robot.visualize(open_browser=False) as view:
        with view.record() as recorder:
            with pytest.raises(InputError, match="recording already"), view.record():
                pass
            for angle in (0.1, 0.2, 0.3):
                view.update([angle, 0.0])
        film = scene_of(recorder.to_html(dt=0.5))[-1]
        assert film["times"] == [0.0, 0.5, 1.0, 1.5]
        assert scene_of(recorder.to_html(tmp_path / "a.html").read_text())[-1]["times"] != film["times"]
        with view.record() as empty:
            pass
        with pytest.raises(InputError, match="nothing was recorded"):
            empty.to_html()


PARENT = """
import sys, time
import knuckle
view = knuckle.PinRobot.from_urdf(sys.argv[1]).visualize(open_browser=False)
print(view.url, flush=True)
time.sleep(60)
"""


def test_a_killed_program_leaves_no_server_behind() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT, SEVEN], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        port = int(parent.stdout.readline().strip().rsplit(":", 1)[1].strip("/"))
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text()
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert children == ""
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_import_is_clean_and_lazy() -> None:
    code = textwrap.dedent(
        """
        import sys, knuckle
        assert not {"tornado", "zmq", "IPython", "meshcat", "knuckle.view"} & set(sys.modules)
        import knuckle.view
        assert not {"tornado", "zmq", "IPython", "meshcat"} & set(sys.modules)
        robot = knuckle.PinRobot.from_urdf(sys.argv[1])
        robot.to_html()
        robot.visualize(open_browser=False).close()
        assert not {"zmq", "IPython", "meshcat"} & set(sys.modules)
        """
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, SEVEN], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_window_opens_only_where_it_is_wanted() -> None:
    opened: list[Any] = []
    with load("planar_2r").visualize(open_browser=True, opener=opened.append) as view:
        assert opened == [view]
    with load("planar_2r").visualize(open_browser=False, opener=opened.append):
        assert len(opened) == 1


# The command line


def test_the_command_writes_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, scene, path = tmp_path / "a.html", tmp_path / "scene.json", tmp_path / "path.npz"
    Task([Obstacle.sphere(0.1, Transformation.from_translation([1, 0, 0]), id="ball")]).save(scene)
    np.savez(path, time=[0.0, 1.0], q=[0 * Q, Q])
    argv = ["view", SEVEN, "--html", str(page), "--scene", str(scene), "--trajectory", str(path), "--collision"]
    assert main([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == page.stat().st_size
    messages = scene_of(page.read_text(encoding="utf-8"))
    paths = {message["path"] for message in messages if message["type"] == "solid"}
    assert {"sevenr_arm/obstacles/ball", "sevenr_arm/trace", "sevenr_arm/collision/link2_0"} <= paths
    assert [messages[-1]["times"][k] for k in (0, -1)] == [0.0, 1.0]


def test_the_command_serves_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", SEVEN, "--q", *map(str, Q), "--no-open", "--seconds", "0.01"]) == 0
    assert re.search(r"sevenr_arm at http://127\.0\.0\.1:\d+/", capsys.readouterr().out)


@pytest.mark.parametrize(
    "extra", [["--trajectory", "none.csv"], ["--scene", "none.json"], ["--speed", "0"], ["--port", "-1"]]
)
def test_the_command_says_what_it_cannot_use(extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", SEVEN, "--no-open", "--seconds", "0", *extra]) == 2
    assert capsys.readouterr().err.startswith("knuckle: error: ")


def test_time_is_only_waited_for_on_request() -> None:
    with load("planar_2r").visualize(open_browser=False) as view:
        start = time.monotonic()
        view.play(np.zeros((3, 2)), dt=0.05, speed=2.0, wait=True)
        assert time.monotonic() - start >= 0.05
