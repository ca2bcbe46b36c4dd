"""Exploring: sliders, targets and what is read off, alone, in a notebook's widgets and in a live window."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, Obstacle, Task, Transformation, UnknownNameError, view
from knuckle.view.exploring import Explorer
from tests.planar_arm import PlanarArm
from tests.samples import load

Q = np.array([0.3, 0.5, -0.4, -1.4, 0.2, 1.2, 0.1])
TOUCHING = np.array([-2.2, 1.9, 0.5, -2.1, -1.3, 1.9, -1.6])


def test_sliders_span_the_limits_and_move_one_coordinate() -> None:
    robot = load("sevenr_arm")
    explorer = Explorer(robot, Q)
    lower, upper = robot.joint_limits
    assert [(s.name, s.low, s.high) for s in explorer.sliders] == list(
        zip(robot.coordinate_names, lower, upper, strict=True)
    )
    moment = explorer.turn("joint2", 0.9)
    expected = Q.copy()
    expected[1] = 0.9
    assert (explorer.q == expected).all()
    poses = [moment.poses[f"sevenr_arm/visual/{surface.name}"] for surface in robot.surfaces()]
    np.testing.assert_allclose(poses, robot.surface_poses(expected), atol=1e-12)
    with pytest.raises(UnknownNameError, match="joint2"):
        explorer.turn("joint_2", 0.0)
    assert (robot.q == robot.home_configuration).all()


def test_joints_without_limits_and_floating_bases_have_what_sliders_they_can() -> None:
    turret = Explorer(load("pan_tilt_continuous"))
    assert (turret.sliders[0].low, turret.sliders[0].high) == (-np.pi, np.pi)
    legs = Explorer(load("quadruped"))
    assert len(legs.sliders) == 12 and not legs.has_tool
    with pytest.raises(InputError, match="tcp"):
        legs.reach(Transformation.identity())


def test_a_target_is_followed_on_the_branch_where_the_robot_is() -> None:
    robot = load("sevenr_arm")
    explorer = Explorer(robot, Q)
    goal = robot.fk(Q + 0.05)
    assert explorer.reach(goal)
    np.testing.assert_allclose(robot.fk(explorer.q).homogeneous, goal.homogeneous, atol=1e-4)
    assert np.abs(explorer.q - Q).max() < 0.3
    assert explorer.readout().target.startswith("target converged")
    far = explorer.reach(Transformation.from_translation([5.0, 0.0, 0.0]))
    assert not far and "unreachable" in explorer.readout().target
    with pytest.raises(InputTypeError, match="target"):
        explorer.reach(None)


def test_the_readout_says_what_the_queries_say() -> None:
    robot = load("sevenr_arm")
    explorer = Explorer(robot, TOUCHING)
    found = explorer.readout()
    assert found.tcp is not None
    np.testing.assert_allclose(found.tcp.homogeneous, robot.fk(TOUCHING).homogeneous)
    assert found.manipulability == robot.manipulability_index(TOUCHING)
    assert found.collisions == robot.collision_info(q=TOUCHING)
    explorer.move(robot.home_configuration)
    assert explorer.readout().collisions == "" and "no collisions" in explorer.readout().lines()
    ball = Task([Obstacle.sphere(0.2, robot.fk(Q), id="ball")])
    assert "ball" in Explorer(robot, Q, task=ball).readout().collisions
    assert Explorer(PlanarArm()).readout().manipulability >= 0
    with pytest.raises(InputTypeError, match="robot must be"):
        Explorer("sevenr_arm")


# A notebook


@pytest.fixture
def exploration() -> Any:
    pytest.importorskip("anywidget")
    return view.explore(load("sevenr_arm"), q=Q)


def pose_told(exploration: Any, name: str) -> Any:
    (message,) = json.loads(exploration.scene.told)
    return np.reshape(message["poses"][name], (4, 4)).T


def test_joint_sliders_move_the_drawing_the_target_and_the_text(exploration: Any) -> None:
    robot = load("sevenr_arm")
    exploration.joints["joint1"].value = -0.4
    expected = Q.copy()
    expected[0] = -0.4
    np.testing.assert_allclose(exploration.explorer.q, expected)
    np.testing.assert_allclose(
        pose_told(exploration, "sevenr_arm/frames/tool"), robot.fk(expected).homogeneous, atol=1e-12
    )
    np.testing.assert_allclose([exploration.target[k].value for k in "xyz"], robot.fk(expected).translation, atol=1e-12)
    assert f"{robot.manipulability_index(expected):.4g}" in exploration.readout


def test_target_sliders_move_the_joints_by_inverse_kinematics(exploration: Any) -> None:
    robot = load("sevenr_arm")
    goal = robot.fk(Q).translation + np.array([0.0, 0.0, 0.03])
    exploration.target["z"].value = goal[2]
    np.testing.assert_allclose(robot.fk(exploration.explorer.q).translation, goal, atol=1e-4)
    np.testing.assert_allclose([s.value for s in exploration.joints.values()], exploration.explorer.q, atol=1e-12)
    assert "target converged" in exploration.readout
    exploration.move(Q)
    assert exploration.joints["joint2"].value == Q[1] and exploration.target["z"].value == pytest.approx(goal[2] - 0.03)


def test_what_a_browser_rounds_and_sends_back_moves_nothing(exploration: Any) -> None:
    """JupyterLab's sliders put every value on their steps and answer with it; taken as a wish, the arm never rests."""
    exploration.joints["joint1"].value = -0.4
    for sliders in (exploration.joints, exploration.target):
        before = exploration.explorer.q.copy()
        for slider in sliders.values():
            slider.value = slider.min + slider.step * round((slider.value - slider.min) / slider.step)
        np.testing.assert_array_equal(exploration.explorer.q, before)
    exploration.joints["joint1"].value += exploration.joints["joint1"].step  # a key pressed is no echo
    assert exploration.explorer.q[0] != before[0]


def test_an_output_holds_the_page_and_needs_no_server(exploration: Any) -> None:
    bundle = exploration._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].startswith("<iframe srcdoc=")
    assert "WebSocket" not in exploration.scene._esm and "http" not in exploration.scene._esm


# A live window


@pytest.fixture
def live() -> Iterator[Any]:
    pytest.importorskip("viser")
    path = np.linspace(Q, TOUCHING, 5)
    with view.live(load("sevenr_arm"), q=Q, trajectory=path, dt=0.1) as window:
        yield window


def test_a_live_window_draws_what_the_page_draws(live: Any) -> None:
    robot = load("sevenr_arm")
    page = urllib.request.urlopen(live.url).read()
    assert b"<html" in page.lower()
    for q in (Q, TOUCHING):
        live.update(q)
        for name, pose in zip([s.name for s in robot.surfaces()], robot.surface_poses(q), strict=True):
            np.testing.assert_allclose(live.scene.pose(f"sevenr_arm/visual/{name}"), pose, atol=1e-9)
        np.testing.assert_allclose(live.scene.pose("sevenr_arm/frames/tool"), robot.fk(q).homogeneous, atol=1e-9)
        assert live.sliders["joint2"].value == pytest.approx(q[1])
    assert "overlap" in live.readout


def test_sliders_and_target_of_a_live_window_follow_each_other(live: Any) -> None:
    robot = load("sevenr_arm")
    live.turn("joint1", -0.2)
    np.testing.assert_allclose(live.handle.position, robot.fk(live.explorer.q).translation, atol=1e-9)
    goal = robot.fk(live.explorer.q + 0.05)
    assert live.reach(goal)
    np.testing.assert_allclose([s.value for s in live.sliders.values()], live.explorer.q, atol=6e-4)
    assert "target converged" in live.readout


def test_a_live_window_listens_on_the_loopback_interface_only(live: Any) -> None:
    port = live.server.get_port()
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    heads = [line.split()[1] for line in table.splitlines()[1:] if " 0A " in line and f":{port:04X} " in line]
    assert heads == [f"0100007F:{port:04X}"]
    live.close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
