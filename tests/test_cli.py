"""The command line: what it answers, what it exits with, and how it complains."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle
from knuckle.cli import main

SAMPLES = Path(__file__).resolve().parents[1] / "urdf_samples"
PLANAR = str(SAMPLES / "planar_2r.urdf")
SEVEN = str(SAMPLES / "sevenr_arm.urdf")
SIX = str(SAMPLES / "sixr_arm.urdf")
DUAL = str(SAMPLES / "dual_arm.urdf")
QUADRUPED = str(SAMPLES / "quadruped.urdf")
CONTINUOUS = str(SAMPLES / "pan_tilt_continuous.urdf")
IK = ["ik", SEVEN, "--xyz", "0.4", "0.1", "0.5", "--rpy", "0", "3.14159", "0", "--seed", "1"]
Captured = pytest.CaptureFixture[str]


def run_json(capsys: Captured, *argv: str, code: int = 0) -> dict[str, Any]:
    """The JSON a command prints; it must parse strictly and nothing may stand on standard error."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert main([*argv, "--json"]) == code
    out, err = capsys.readouterr()
    assert not err
    data: dict[str, Any] = json.loads(out, parse_constant=refuse)
    return data


def run_text(capsys: Captured, *argv: str, code: int = 0) -> str:
    """The text a command prints; no line passes 100 columns or holds a colour code."""
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert not err
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "\x1b" not in out
    return out


# inspect


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


def chain(length: int) -> str:
    """A serial arm whose names are long enough to need cutting."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    link = '<link name="{0}_{1:04}"><inertial><mass value="1"/>' + inertia + "</inertial></link>"
    joint = (
        '<joint name="{0}_{1:04}" type="revolute"><parent link="{2}_{1:04}"/><child link="{2}_{3:04}"/>'
        '<origin xyz="0.1 0 0"/><axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    links = [link.format("link_" + "x" * 40, i) for i in range(length + 1)]
    joints = [joint.format("joint_" + "y" * 40, i, "link_" + "x" * 40, i + 1) for i in range(length)]
    return f'<robot name="chain">{"".join(links + joints)}</robot>'


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


# fk


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


# id, fd


def test_id_and_fd_are_inverse(capsys: Captured) -> None:
    state = ["--q", "0.3", "0.4", "--dq", "0.5", "-0.2"]
    tau = run_json(capsys, "id", PLANAR, *state, "--ddq", "1", "-2")["tau"]
    ddq = run_json(capsys, "fd", PLANAR, *state, "--tau", *map(repr, tau.values()))["ddq"]
    assert list(ddq.values()) == pytest.approx([1, -2], abs=1e-9)


def test_id_switches_and_wrench_reach_the_robot(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(PLANAR)
    wrench = [1.0, -2.0, 0.0, 0.0, 0.0, 0.5]
    argv = ["id", PLANAR, "--q", "0.3", "0.4", "--dq", "1", "1", "--no-friction", "--no-motor-inertia"]
    data = run_json(capsys, *argv, "--wrench", *map(str, wrench), "--wrench-frame", "tcp")
    expected = robot.id(
        [0.3, 0.4], [1, 1], [0, 0], motor_inertia=False, friction=False, eef_wrench=wrench, eef_wrench_frame="tcp"
    )
    assert list(data["tau"].values()) == expected.tolist()


def test_torques_are_shown_beside_their_limits(capsys: Captured) -> None:
    text = run_text(capsys, "id", SEVEN)
    assert "N m" in text and "%" in text


# ik


def test_ik_reaches_the_pose_and_answers_the_same_twice(capsys: Captured) -> None:
    first, second = run_json(capsys, *IK), run_json(capsys, *IK)
    assert first == second
    assert first["success"] and first["status"] == "converged"
    robot = knuckle.PinRobot.from_urdf(SEVEN)
    target = knuckle.Transformation.from_rpy([0, 3.14159, 0], [0.4, 0.1, 0.5])
    off = robot.fk(first["q"]).distance(target)
    assert off.translation <= 1e-5 and off.rotation <= 1e-4
    assert robot.q_in_joint_limits(first["q"])


@pytest.mark.parametrize("method", ["jacobian", "scipy"])
def test_ik_by_method_and_quaternion(method: str, capsys: Captured) -> None:
    argv = ["ik", SIX, "--xyz", "0.3", "0.1", "0.4", "--quat-xyzw", "0", "1", "0", "0", "--seed", "3"]
    data = run_json(capsys, *argv, "--method", method)
    assert data["success"] and data["method"] == method


def test_ik_without_orientation_leaves_the_rotation_free(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(PLANAR)
    goal = robot.fk([0.5, 0.7]).translation
    argv = ["ik", PLANAR, "--xyz", *map(repr, goal.tolist()), "--seed", "1"]
    data = run_json(capsys, *argv)
    assert data["success"] and data["rotation_error"] is None
    assert np.linalg.norm(robot.fk(data["q"]).translation - goal) <= 1e-5
    assert "free" in run_text(capsys, *argv)


def test_ik_of_a_frame_that_is_not_the_tcp(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(SIX)
    frame = robot.joints[3]
    q = robot.random_configuration(5)
    goal = robot.fk(q, frame=frame).translation
    data = run_json(capsys, "ik", SIX, "--frame", frame, "--xyz", *map(repr, goal.tolist()), "--seed", "1")
    assert data["success"] and data["frame"] == frame
    assert np.linalg.norm(robot.fk(data["q"], frame=frame).translation - goal) <= 1e-5


def test_ik_starts_where_it_is_told(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(SIX)
    q = robot.random_configuration(8)
    goal = robot.fk(q)
    argv = ["ik", SIX, "--xyz", *map(repr, goal.translation.tolist())]
    argv += ["--quat-xyzw", *map(repr, goal.quat_xyzw.tolist()), "--q-init", *map(repr, q.tolist()), "--no-restart"]
    data = run_json(capsys, *argv)
    assert data["success"] and data["restarts"] == 0
    assert np.allclose(data["q"], q, atol=1e-3)


def test_ik_out_of_reach_exits_1_with_the_residual(capsys: Captured) -> None:
    argv = ["ik", PLANAR, "--xyz", "50", "0", "0", "--seed", "1", "--max-iter", "100"]
    data = run_json(capsys, *argv, code=1)
    assert not data["success"] and data["status"] != "converged" and data["position_error"] > 40
    assert data["status"] in run_text(capsys, *argv, code=1)


# demo, doctor


@pytest.mark.parametrize("path", [SEVEN, SIX, str(SAMPLES / "scara.urdf"), CONTINUOUS])
def test_demo_goes_all_the_way(path: str, capsys: Captured) -> None:
    data = run_json(capsys, "demo", path)
    assert data == run_json(capsys, "demo", path)
    assert data["success"]
    assert max(abs(a) for a in data["acceleration_left"].values()) < 1e-8
    text = run_text(capsys, "demo", path)
    for part in ("converged", "N m", "pose reached", "difference"):
        assert part in text


def test_doctor_names_versions_and_the_kernel(capsys: Captured) -> None:
    from knuckle.robot import native

    data = run_json(capsys, "doctor", code=0)
    assert data["versions"]["numpy"] == np.__version__
    assert data["native"]["available"] == native.AVAILABLE
    assert (data["native"]["isa"] is None) == bool(data["native"]["reason"])
    assert ("in use" if native.AVAILABLE else native.REASON) in run_text(capsys, "doctor")


def test_doctor_exits_1_when_the_kernel_is_broken(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    from knuckle.robot import native

    monkeypatch.delenv("KNUCKLE_NO_NATIVE", raising=False)
    monkeypatch.setattr(native, "AVAILABLE", False)
    monkeypatch.setattr(native, "REASON", "undefined symbol: nothing")
    assert run_json(capsys, "doctor", code=1)["healthy"] is False
    assert "undefined symbol: nothing" in run_text(capsys, "doctor", code=1)


# complaints


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "COMMAND"),
        (["fly", PLANAR], "fly"),
        (["fk"], "ROBOT"),
        (["fk", PLANAR, "--wings"], "--wings"),
        (["fk", "no_such_file.urdf"], "no_such_file.urdf"),
        (["fk", str(SAMPLES)], SAMPLES.name),
        (["fk", str(SAMPLES / "README.md")], "README.md"),
        (["fk", PLANAR, "--q", "1"], "--q needs 2 numbers, got 1"),
        (["fk", PLANAR, "--q", "1", "2", "3"], "--q needs 2 numbers, got 3"),
        (["fk", PLANAR, "--q", "a", "b"], "'a'"),
        (["fk", PLANAR, "--q", "nan", "0"], "finite"),
        (["fk", PLANAR, "--q", "-inf", "0"], "finite"),
        (["fk", PLANAR, "--q", "elbow_x=1"], "elbow_x"),
        (["fk", PLANAR, "--q", "a=1", "2"], "mixes"),
        (["fk", PLANAR, "--frame", "tcq"], "tcq"),
        (["fk", PLANAR, "--tcp", "tcq"], "tcq"),
        (["fk", PLANAR, "--kind", "some"], "some"),
        (["fk", DUAL], "tcp"),
        (["id", PLANAR, "--dq", "1"], "--dq needs 2"),
        (["id", PLANAR, "--wrench", "1", "2"], "--wrench"),
        (["id", PLANAR, "--wrench", "1", "2", "3", "4", "5", "x"], "'x'"),
        (["id", PLANAR, "--wrench", "1", "2", "3", "4", "5", "6", "--wrench-frame", "moon"], "moon"),
        (["fd", PLANAR, "--tau", "1", "2", "3"], "--tau needs 2"),
        (["ik", PLANAR], "--xyz"),
        (["ik", PLANAR, "--xyz", "1", "2"], "--xyz"),
        (["ik", PLANAR, "--xyz", "1", "2", "nan"], "finite"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--rpy", "0", "0", "0", "--quat-xyzw", "0", "0", "0", "1"], "--rpy"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--quat-xyzw", "0", "0", "0", "0"], "quat"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--method", "jacobean"], "jacobian"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--seed", "-1"], "seed"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--max-iter", "0"], "max_iter"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--max-iter", "many"], "many"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--frame", "tcq"], "tcq"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--position-tolerance", "0"], "--position-tolerance"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--rotation-tolerance", "x"], "--rotation-tolerance"),
        (["inspect", PLANAR, "--xacro-arg", "x"], "--xacro-arg"),
        (["inspect", "planar_2"], "planar_2"),
        (["inspect", PLANAR, "--joint-limits", "none.yaml"], "none.yaml"),
        (["demo", DUAL], "tcp"),
        (["doctor", "--q", "1"], "--q"),
    ],
    ids=lambda value: " ".join(Path(word).name for word in value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_on_standard_error_and_exit_2(argv: list[str], says: str, capsys: Captured) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("knuckle: error: ") and err.count("\n") == 1
    assert says in err


def test_warnings_of_a_lenient_load_go_to_standard_error(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "weak.urdf"
    source = Path(PLANAR).read_text(encoding="utf-8")
    path.write_text(source.replace('effort="', 'effort="0" was="', 1), encoding="utf-8")
    assert main(["fk", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) and err.startswith("knuckle: warning: ") and err.count("\n") == 1
    assert main(["fk", str(path), "--strict"]) == 2


def test_a_configuration_outside_its_limits_is_taken_with_a_warning(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(PLANAR)
    assert main(["fk", PLANAR, "--q", "0", "90", "--json"]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["q"].values()) == [0, 90]
    assert err == f"knuckle: warning: --q is outside the limits of {robot.joints[1]}\n"


@pytest.mark.parametrize("argv", [["--help"], ["ik", "--help"], ["--version"]])
def test_help_and_version(argv: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(argv)
    assert left.value.code == 0
    assert "knuckle" in capsys.readouterr().out


# as a process


def test_the_installed_command_answers_in_a_plain_terminal() -> None:
    command = Path(sys.executable).with_name("knuckle")
    done = subprocess.run(
        [command, "inspect", PLANAR], capture_output=True, env={"PYTHONIOENCODING": "ascii"}, timeout=60, check=False
    )
    assert done.returncode == 0 and not done.stderr
    assert b"`- " in done.stdout and b"?" not in done.stdout


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    code = "import sys; from knuckle.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "inspect", QUADRUPED], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    process.wait(timeout=60)
