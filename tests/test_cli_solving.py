"""The command line: id, fd, ik, demo and doctor."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle

from .cli_cases import CONTINUOUS, IK, PLANAR, SAMPLES, SEVEN, SIX, Captured, run_json, run_text


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
