"""Views of robots that change, of several robots, and views that end: in a fork, by a failure, when closed."""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import coal
import numpy as np
import pytest

from knuckle import InputError, KnuckleError, Obstacle, PinBody, PinRobot, Task, Transformation, UnknownNameError, view
from knuckle.view import MeshcatView
from knuckle.view.assemble import picture

from .browser import Page, chromium
from .samples import load
from .view_cases import TOUCHING, Q

KNOB = PinBody.solid("knob", coal.Sphere(0.05), 1.0)


@pytest.fixture
def window() -> Iterator[MeshcatView]:
    with load("sevenr_arm").visualize(open_browser=False, q=Q, coordinate_systems="full") as opened:
        yield opened


# Robots that change


def test_what_is_attached_appears_with_the_next_move() -> None:
    arm = copy.deepcopy(load("sevenr_arm"))
    with arm.visualize(open_browser=False, q=Q, coordinate_systems="full", contacts=True) as shown:
        arm.attach(KNOB)
        shown.update(Q + 0.1)
        now = shown._stage.now()
        np.testing.assert_allclose(now.poses["sevenr_arm/frames/knob"], arm.fk(Q + 0.1, frame="knob").homogeneous)
        assert "sevenr_arm/visual/knob_0" in now.poses
        arm.detach("knob")
        shown.play([Q, Q + 0.1])
        shown.camera()
        assert "sevenr_arm/frames/knob" not in shown._stage.now().poses


def test_a_picture_of_a_robot_that_was_changed_says_so() -> None:
    arm = copy.deepcopy(load("sevenr_arm"))
    drawn = picture(arm, q=Q, frames="joints")
    arm.attach(KNOB)
    with pytest.raises(InputError, match=r"'sevenr_arm' was changed since it was drawn; draw it anew"):
        drawn.at(Q)
    assert drawn.anew().at(Q).poses


# Several robots


def test_names_are_found_as_they_were_given(window: MeshcatView) -> None:
    other = load("planar_2r")
    other.visualize(window, name="left/arm")
    window.update([0.1, 0.2], name="left/arm")
    window.update([0.1, 0.2], name="left_arm")
    for unknown in (["left"], 3, "right"):
        with pytest.raises(UnknownNameError, match="robot in the view"):
            window.update([0.1, 0.2], name=unknown)  # type: ignore[arg-type]
    window.remove("left/arm")
    assert window.names == ["sevenr_arm"]


def test_another_robot_of_the_same_name_takes_its_place_only_when_told(window: MeshcatView) -> None:
    twin = copy.deepcopy(load("sevenr_arm"))
    with pytest.raises(InputError, match=r"another robot called 'sevenr_arm' already; give name="):
        twin.visualize(window)
    twin.visualize(window, name="right")
    assert window.names == ["sevenr_arm", "right"]
    twin.visualize(window, name="sevenr_arm")
    assert window.names == ["sevenr_arm", "right"] and window._stage.find("sevenr_arm")[1].robot is twin


def test_a_film_of_one_robot_keeps_the_marks_of_the_others(window: MeshcatView) -> None:
    load("sevenr_arm").visualize(window, name="stuck", q=TOUCHING, contacts=True)
    stuck = set(window._stage.now().marks)
    assert stuck
    window.play([Q, Q + 0.1], name="sevenr_arm")
    assert window._film is not None and all(set(marks) == stuck for marks in window._film["marks"])
    window.play([TOUCHING, Q], name="stuck")
    assert stuck == set(window._film["marks"][0]) and not window._film["marks"][-1]


def test_paths_of_a_drawing_are_all_different() -> None:
    pose, other = Transformation.from_translation([0.3, 0, 0.3]), Transformation.from_translation([0, 0.3, 0.3])
    task = Task(goals={"a": (pose, other), "a_2": pose, "a/b": other, "a_b": pose})
    paths = [solid.path for solid in picture(load("sevenr_arm"), task=task).drawing.solids]
    assert len(paths) == len(set(paths)) and sum("/goals/" in path for path in paths) == 3 * 5


def test_joints_whose_names_differ_by_a_slash_have_a_ball_each() -> None:
    text = "".join(
        f'<link name="l{k}"/><joint name="{name}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/>'
        '<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k, name in enumerate(["a/b", "a_b", "bar_0"], 1)
    )
    robot = PinRobot.from_urdf(f'<robot name="r"><link name="l0"/>{text}</robot>')
    drawn = picture(robot)
    paths = [solid.path for solid in drawn.drawing.solids]
    assert len(paths) == len(set(paths))
    heights = sorted(pose[2, 3] for path, pose in drawn.at(drawn.q).poses.items() if "/skeleton/" in path)
    np.testing.assert_allclose(heights, [0.3, 0.6, 0.9])


# Odd arguments


@pytest.mark.parametrize(
    ("call", "options", "names"),
    [
        ("camera", {"eye": [1e300, 0, 0]}, "eye"),
        ("camera", {"eye": [np.nan, 0, 0]}, "eye"),
        ("camera", {"target": [0, 0]}, "target"),
        ("wait", {"timeout": 1e300}, "timeout"),
        ("wait", {"timeout": "soon"}, "timeout"),
        ("image", {"timeout": 1e12}, "timeout"),
        ("image", {"path": 3}, "path"),
        ("image", {"path": ""}, "path"),
        ("play", {"trajectory": [Q, Q], "speed": 1e-300, "wait": True}, "speed"),
        ("play", {"trajectory": [Q, Q], "wait": "yes"}, "wait"),
        ("play", {"trajectory": 3}, "trajectory"),
        ("update", {"q": Q[:3]}, "q"),
    ],
    ids=str,
)
def test_calls_of_a_view_name_what_is_wrong(
    window: MeshcatView, call: str, options: dict[str, Any], names: str
) -> None:
    with pytest.raises(KnuckleError, match=names):
        getattr(window, call)(**options)


@pytest.mark.parametrize("host", [None, 3, "ü" * 70, "no such host", "192.0.2.1"])
@pytest.mark.parametrize("live", [False, True])
def test_hosts_that_cannot_be_listened_on(host: Any, live: bool) -> None:
    if live:
        pytest.importorskip("viser")
    with pytest.raises(InputError, match=r"host|cannot listen"):
        (view.live if live else view.show)(load("planar_2r"), host=host)


@pytest.mark.parametrize(
    ("host", "url"), [("::1", "http://[::1]:"), ("", "http://127.0.0.1:"), ("localhost", "http://l")]
)
def test_addresses_are_such_as_a_browser_takes(host: str, url: str) -> None:
    try:
        opened = load("planar_2r").visualize(host=host, open_browser=False)
    except InputError as error:
        assert host == "::1" and "Cannot assign" in str(error)  # a machine without that protocol
        return
    with opened:
        assert opened.url.startswith(url)


# Ends


def test_what_fails_leaves_no_server_behind() -> None:
    before = threading.active_count()
    for options in ({"speed": 0}, {"fit": 3}, {"open_browser": "no"}):
        with pytest.raises(InputError):
            load("sevenr_arm").visualize(trajectory=[Q, Q + 0.1], **{"open_browser": False, **options})

    def none(_: MeshcatView) -> None:
        raise OSError("no display")

    with pytest.raises(OSError, match="no display"):
        view.show(load("sevenr_arm"), open_browser=True, opener=none)
    assert threading.active_count() == before


def test_a_browser_that_cannot_be_started_is_told_of(window: MeshcatView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url, new: False)
    with pytest.warns(RuntimeWarning, match=window.url):
        window.open()


def test_a_closed_view_answers_at_once(window: MeshcatView) -> None:
    window.close()
    for call in (window.wait, window.image, window.update, window.camera):
        with pytest.raises(InputError, match="closed"):
            call()
    assert window.browsers == 0


def test_a_fork_has_no_view_and_harms_none(window: MeshcatView) -> None:
    child = os.fork()
    if child == 0:
        try:
            try:
                window.update(Q)
            except InputError as error:
                window.close()
                os._exit(0 if "forked" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    window.update(Q)


def test_threads_that_share_a_view_do_not_trip_each_other(window: MeshcatView) -> None:
    other, wrong, done = load("planar_2r"), list[BaseException](), threading.Event()
    calls: list[Callable[[], object]] = [
        lambda: window.update(Q, name="sevenr_arm"),
        lambda: window.play([Q, Q + 0.1], name="sevenr_arm"),
        lambda: other.visualize(window, name="other"),
        lambda: window.remove("other"),
        lambda: window.update(Q, name="nobody"),
        lambda: window.remove("nobody"),
        window.to_html,
        window.camera,
        lambda: repr(window),
    ]

    def repeat(call: Callable[[], object]) -> None:
        while not done.is_set():
            try:
                call()
            except UnknownNameError:  # not there just now
                pass
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        for thread in threads:
            thread.start()
        done.wait(2.0)
    finally:
        done.set()
        for thread in threads:
            thread.join(20.0)
        sys.setswitchinterval(interval)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_answers_that_are_none_are_passed_over(window: MeshcatView) -> None:
    for answer in ("{", "[]", '{"number": Infinity, "data": ""}', '{"number": 1}', b"\xff", "[" * 100_000):
        window._server.answered(answer)
    window.update(Q)


@pytest.mark.browser
def test_names_that_mean_something_to_scripts_are_names() -> None:
    names = ["constructor", "toString", "hasOwnProperty", "__proto__", "Axes", "Grid", "<object>", "\u200b"]
    obstacles = [
        Obstacle.sphere(0.1, Transformation.from_translation([0.5, 0, k]), id=name) for k, name in enumerate(names)
    ]
    with chromium() as browser, load("planar_2r").visualize(open_browser=False, task=Task(obstacles)) as opened:
        for name in names:
            load("sevenr_arm").visualize(opened, name=name, q=TOUCHING, contacts=True)
        page = Page(browser)
        page.open(opened.url)
        assert not page.errors and page.run("knuckle.errors") == []
        count = "let n = 0; knuckle.viewer.scene.traverseVisible(x => n += x.isMesh ? 1 : 0); n"
        visible = page.run(count)
        for name in names:
            opened.remove(name)
        opened.image()  # what was told before it is done
        assert page.run(count) < visible / 2 and page.run("knuckle.errors") == []


@pytest.mark.browser
@pytest.mark.parametrize("size", [(800, 300), (300, 800)])
@pytest.mark.parametrize("name", ["sevenr_arm", "quadruped", "planar_2r"])
def test_a_window_of_any_shape_sees_the_whole_robot(name: str, size: tuple[int, int], tmp_path: Any) -> None:
    robot = load(name)
    robot.to_html(tmp_path / "a.html")
    with chromium() as browser:
        page = Page(browser)
        page.page.set_viewport_size({"width": size[0], "height": size[1]})
        page.open((tmp_path / "a.html").as_uri())
        seen = page.run(
            """(() => { const {viewer} = knuckle, found = []; viewer.camera.updateMatrixWorld();
            viewer.scene.traverseVisible(x => { if (!x.isMesh || !x.geometry.attributes.normal) return;
              const at = x.geometry.attributes.position;
              for (let k = 0; k < at.count; k++) {
                const p = new MeshCat.THREE.Vector3().fromBufferAttribute(at, k);
                found.push(x.localToWorld(p).project(viewer.camera).toArray()); } });
            return found; })()"""
        )
    seen = np.array(seen)
    inside = np.abs(seen[:, :2]).max(axis=0)
    assert (inside < 1.0).all() and inside.max() > 0.25, inside
