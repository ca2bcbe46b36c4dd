"""The command line: inspect and fk."""

from __future__ import annotations

from pathlib import Path

import pytest

import knuckle
from knuckle.cli import main

from .cli_cases import CONTINUOUS, PLANAR, QUADRUPED, SAMPLES, SEVEN, SIX, Captured, chain, run_json, run_text


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.urdf")), ids=lambda path: path.stem)
def test_every_sample_can_be_inspected(path: Path, capsys: Captured) -> None:
    text = run_text(capsys, "inspect", str(path))
    data = run_json(capsys, "inspect", str(path))
    assert data["findings"] == []
    for joint in data["joints"]:
        assert joint["name"] in text
    assert sum(link["mass"] for link in data["links"]) == pytest.approx(data["mass"], abs=1e-9)


def test_inspect_tells_types_axes_limits_and_masses(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(PLANAR)
    data = run_json(capsys, "inspect", PLANAR)
    assert [joint["name"] for joint in data["joints"]] == robot.joints
    assert data["mass"] == pytest.approx(robot.mass)
    first = data["joints"][0]
    assert first["type"] == "revolute"
    assert [first["lower"], first["upper"]] == [[robot.joint_limits[0, 0]], [robot.joint_limits[1, 0]]]
    assert set(data["frames"]) == set(robot.frames)


def test_inspect_shows_a_continuous_joint_without_limits(capsys: Captured) -> None:
    data = run_json(capsys, "inspect", CONTINUOUS)
    lower = {joint["type"]: joint["lower"] for joint in data["joints"]}
    assert lower["continuous"] == [None]
    assert "∞" in run_text(capsys, "inspect", CONTINUOUS)


def test_inspect_draws_the_links_as_a_tree(capsys: Captured) -> None:
    text = run_text(capsys, "inspect", QUADRUPED)
    assert "├─ " in text and "└─ " in text and "│  " in text


def test_inspect_tells_which_joints_mimic(capsys: Captured) -> None:
    gripper = str(SAMPLES / "gripper.urdf")
    robot = knuckle.PinRobot.from_urdf(gripper)
    data = run_json(capsys, "inspect", gripper)
    assert [entry["joint"] for entry in data["mimic"]] == [coupling.follower for coupling in robot.couplings]
    assert run_text(capsys, "inspect", gripper).count(" mimics ") == len(robot.couplings) > 0


def test_inspect_of_a_long_chain_with_long_names_stays_within_the_terminal(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(chain(60), encoding="utf-8")
    text = run_text(capsys, "inspect", str(path))
    assert "37 more below" in text and "…" in text and "0.00 0.60 0.80" in text
    assert len(run_json(capsys, "inspect", str(path))["joints"]) == 60


def test_inspect_of_a_robot_with_warnings_exits_1_only_when_strict(tmp_path: Path, capsys: Captured) -> None:
    source = Path(PLANAR).read_text(encoding="utf-8")
    path = tmp_path / "weak.urdf"
    path.write_text(source.replace('effort="', 'effort="0" was="', 1), encoding="utf-8")
    (found,) = run_json(capsys, "inspect", str(path))["findings"]
    assert found["code"] == "limit-rate-zero" and found["name"] == "shoulder" and found["line"] > 0
    assert "Findings" in run_text(capsys, "inspect", str(path))
    assert run_json(capsys, "inspect", str(path), "--strict", code=1)["joints"]


def test_inspect_of_a_broken_robot_lists_everything_and_exits_1(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "bad.urdf"
    source = Path(PLANAR).read_text(encoding="utf-8")
    path.write_text(source.replace('effort="', 'effort="-', 1).replace('link="link2"', 'link="link3"', 1))
    data = run_json(capsys, "inspect", str(path), code=1)
    assert data["robot"] is None
    assert {"limit-negative", "joint-end-unknown"} < {found["code"] for found in data["findings"]}
    text = run_text(capsys, "inspect", str(path), code=1)
    assert "no robot" in text and "did you mean" in text and "[limit-negative]" in text
    assert main(["fk", str(path)]) == 2  # others have nothing to say about it


def test_inspect_shows_geometry_with_its_files_and_what_is_missing(tmp_path: Path, capsys: Captured) -> None:
    source = (SAMPLES / "cube_meshes.urdf").read_text(encoding="utf-8")
    path = tmp_path / "lost.urdf"
    path.write_text(source.replace("meshes/cube.stl", str(SAMPLES / "meshes" / "cube.stl")), encoding="utf-8")
    status = {(g["link"], g["use"]): g["status"] for g in run_json(capsys, "inspect", str(path))["geometry"]}
    assert status[("base", "collision")] == "ok" and status[("slider", "visual")] == "mesh-missing"
    text = run_text(capsys, "inspect", str(path))
    assert "cube.stl" in text and "MESH-MISSING" in text


def test_inspect_tells_masses_with_and_without_the_base(capsys: Captured) -> None:
    data = run_json(capsys, "inspect", PLANAR)
    assert (data["mass"], data["moving_mass"]) == (pytest.approx(7.2), pytest.approx(3.6))
    data = run_json(capsys, "inspect", QUADRUPED)
    trunk = next(link["mass"] for link in data["links"] if link["parent"] is None or link["joint"] == "floating")
    assert data["moving_mass"] < data["mass"] and data["mass"] == pytest.approx(13.2)
    assert trunk >= 0


def test_robots_are_named_as_examples_and_in_other_formats(tmp_path: Path, capsys: Captured) -> None:
    assert run_json(capsys, "inspect", "planar_2r")["robot"] == "planar_2r"
    path = tmp_path / "one.xml"
    body = '<body name="a"><joint name="j"/><geom type="sphere" size="0.1"/></body>'
    path.write_text(f'<mujoco model="one"><worldbody>{body}</worldbody></mujoco>')
    assert run_json(capsys, "inspect", str(path))["robot"] == "one"
    path = tmp_path / "one.urdf.xacro"
    path.write_text(
        '<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="name" default="x"/><link name="a"/></robot>'
    )
    assert run_json(capsys, "inspect", str(path), "--xacro-arg", "name=mine")["robot"] == "mine"


def test_limits_files_override_limits(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "joint_limits.yaml"
    path.write_text("joint_limits: {elbow: {max_velocity: 0.25}}")
    joints = run_json(capsys, "inspect", PLANAR, "--joint-limits", str(path))["joints"]
    assert joints[1]["velocity_limit"] == [0.25]


def test_fk_prints_the_closed_form(capsys: Captured) -> None:
    q = [0.3, 0.4]
    data = run_json(capsys, "fk", PLANAR, "--q", *map(str, q))
    expected = knuckle.PinRobot.from_urdf(PLANAR).fk(q)
    (pose,) = data["poses"].values()
    assert pose["homogeneous"] == expected.homogeneous.tolist()
    assert pose["position"] == expected.translation.tolist()


def test_fk_takes_joints_by_name_and_the_rest_from_home(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(SEVEN)
    name = robot.joints[3]
    data = run_json(capsys, "fk", SEVEN, "--q", f"{name}=-0.5")
    expected = robot.home_configuration.copy()
    expected[3] = -0.5
    assert list(data["q"].values()) == expected.tolist()


def test_fk_reads_negative_numbers_in_every_spelling(capsys: Captured) -> None:
    data = run_json(capsys, "fk", PLANAR, "--q", "-1e-3", "-.5")
    assert list(data["q"].values()) == [-1e-3, -0.5]


@pytest.mark.parametrize("kind", ["joints", "full"])
def test_fk_kinds(kind: str, capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(SIX)
    data = run_json(capsys, "fk", SIX, "--kind", kind)
    assert list(data["poses"]) == list(robot.fk(kind=kind))
    assert len(run_text(capsys, "fk", SIX, "--kind", kind).splitlines()) == 2 + len(data["poses"])


def test_fk_of_a_named_frame(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(SIX)
    frame = robot.frames[-2]
    assert list(run_json(capsys, "fk", SIX, "--frame", frame)["poses"]) == [frame]


def test_fk_of_a_floating_base_names_all_coordinates(capsys: Captured) -> None:
    data = run_json(capsys, "fk", QUADRUPED, "--kind", "joints")
    robot = knuckle.PinRobot.from_urdf(QUADRUPED)
    assert list(data["q"]) == robot.coordinate_names


def test_fk_with_a_root_joint(capsys: Captured) -> None:
    fixed, floating = (run_json(capsys, "fk", PLANAR, "--root-joint", kind) for kind in ("fixed", "floating"))
    assert len(floating["q"]) == len(fixed["q"]) + 7
    assert floating["poses"] == fixed["poses"]
