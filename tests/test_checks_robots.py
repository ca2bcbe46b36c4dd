"""check_trajectory on robots and files of every kind, its options and pages."""

from __future__ import annotations

import json
import re
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
    UnsupportedError,
    check_trajectory,
)

from .robot_cases import EVERY, shared
from .samples import load, path_of
from .trajectory_check_cases import Q0, T, arm, bead, wave


def test_a_jump_is_named_with_its_joint_and_time() -> None:
    t = np.linspace(0.0, 2.0, 401)
    q = Q0 + 0.2 * np.sin(t)[:, None]
    q[200:, 5] += 0.04
    for dq in (None, 0.2 * np.cos(t)[:, None] * np.ones(7)):
        check = check_trajectory(arm(), Trajectory(t, q, dq))["continuity"]
        assert not check.ok and check.where == "joint6" and check.time == pytest.approx(t[199])
        assert "joint6 jumps: 0.0" in check.message


def test_columns_in_another_order_are_put_in_order() -> None:
    names, order = arm().joints, [3, 0, 6, 1, 5, 2, 4]
    shuffled = Trajectory(T, wave()[:, order], names=[names[i] for i in order])
    assert check_trajectory(arm(), shuffled).to_dict() == check_trajectory(arm(), Trajectory(T, wave())).to_dict()
    with pytest.raises(InputError, match=r"lacks 'joint7' and has 'gripper' \(column 7\)"):
        check_trajectory(arm(), Trajectory(T, wave(), names=[*names[:6], "gripper"]))
    with pytest.raises(InputError, match="6 columns of q, robot 'sevenr_arm' has 7: joint1, joint2"):
        check_trajectory(arm(), Trajectory(T, wave()[:, :6]))


def test_degrees_are_suspected() -> None:
    report = check_trajectory(arm(), Trajectory(T, np.degrees(wave())))
    assert not report.feasible and any("degrees=True" in note for note in report.notes)
    assert not any("degrees" in note for note in check_trajectory(arm(), Trajectory(T, wave())).notes)


def test_continuous_joints_turn_on_where_a_file_wraps_them() -> None:
    robot = load("pan_tilt_continuous")
    t = np.linspace(0.0, 4.0, 81)
    turning = np.column_stack([2.0 * t, 0.2 * np.sin(t)])
    wrapped = turning.copy()
    wrapped[:, 0] = (wrapped[:, 0] + np.pi) % (2 * np.pi) - np.pi
    reports = [check_trajectory(robot, Trajectory(t, q)) for q in (turning, wrapped)]
    assert reports[1]["velocity"].worst == pytest.approx(reports[0]["velocity"].worst)
    assert reports[1]["continuity"].ok


@pytest.mark.parametrize("name", EVERY)
def test_every_robot_can_be_checked(name: str) -> None:
    robot, rng = shared(name), np.random.default_rng(5)
    start = robot.random_configuration(rng)
    steps = np.linspace(0.0, 0.05, 12)[:, None] * rng.normal(size=robot.nv)
    q = robot.integrate(np.tile(start, (12, 1)), steps)
    flat = all(at.stop - at.start == 1 for at, _ in robot.coordinate_slices().values())
    for kind in ("linear", "cubic", "quintic"):
        path = Trajectory(np.linspace(0.0, 1.0, 12), q, interpolation=kind)
        if not flat and kind != "linear":
            with pytest.raises(UnsupportedError, match='only "linear" is defined'):
                check_trajectory(robot, path)
            continue
        report = check_trajectory(robot, path)
        assert report["velocity"].worst <= 0.05 * np.abs(rng.normal(size=200)).max() * 3
        assert report["continuity"].ok and json.loads(report.to_json())


def test_velocities_of_a_floating_base_are_those_of_its_steps() -> None:
    robot = shared("solo12_floating")
    q0, v = robot.random_configuration(3), np.random.default_rng(1).normal(size=robot.nv)
    t = np.linspace(0.0, 0.5, 6)
    q = robot.integrate(np.tile(q0, (6, 1)), t[:, None] * v)
    report = check_trajectory(
        robot.with_limits(velocity=0.9 * np.abs(v).max()), Trajectory(t, q, interpolation="linear")
    )
    assert report["velocity"].worst == pytest.approx(np.abs(v).max()) and not report["velocity"].ok
    assert report["acceleration"].worst == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"limits_scale": 0.0}, "limits_scale must be positive"),
        ({"limits_scale": {"speed": 1.0}}, "no kind of limits named 'speed'"),
        ({"safety_margin": -1.0}, "safety_margin must be at least 0"),
        ({"resolution": 0.0}, "resolution must be positive"),
        ({"payload": -1.0}, "payload must be at least 0"),
        ({"payload_com": [0, 0, 0]}, "payload_com goes with payload"),
        ({"max_linear": 0.0}, "max_linear must be positive"),
        ({"frame": "tol"}, "no frame named 'tol'"),
        ({"task": 3}, "task must be a Task"),
        ({"constraints": [3]}, "constraints"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_trajectory(arm(), Trajectory(T, wave()), **options)
    with pytest.raises(InputTypeError, match=r"Trajectory\.load reads one"):
        check_trajectory(arm(), wave())


def test_checking_moves_nothing() -> None:
    robot = PinRobot.from_urdf(path_of("sevenr_arm"))
    before = robot.q.copy(), robot.version
    check_trajectory(robot, Trajectory(T, wave()), payload=1.0)
    assert (robot.q == before[0]).all() and robot.version == before[1]


def test_plots_and_page_hold_everything(tmp_path: Any) -> None:
    path = Trajectory(T, wave())
    report = check_trajectory(arm(), path, bead(path, 1.0, 0.05), max_linear=0.1)
    page = report.save_html(tmp_path / "report.html", animation="<p id='robot'>here it moves</p>").read_text()
    assert "not feasible" in page and "<svg" in page and "here it moves" in page and "scene_collision" in page
    loading = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?(?!#)[^"\'>]+', page)
    assert not [found for found in loading if "http" in found or ".js" in found or ".css" in found]
    assert "<script" not in page and "@import" not in page
    assert page == report.save_html(tmp_path / "again.html", animation="<p id='robot'>here it moves</p>").read_text()
    for name in ("plot.png", "plot.svg"):
        assert report.save_plot(tmp_path / name).stat().st_size > 10_000
    with pytest.raises(InputError, match="path"):
        report.save_plot(tmp_path / "plot.nothing")
    floating = shared("solo12_floating")
    q = np.tile(floating.neutral(), (3, 1))
    check_trajectory(floating, Trajectory([0, 1, 2.0], q, interpolation="linear")).save_plot(tmp_path / "f.png")


def test_public_names() -> None:
    assert knuckle.check_trajectory is knuckle.checks.check_trajectory


@pytest.mark.parametrize("name", ["sevenr_arm", "scara", "dual_arm", "cube_meshes"])
def test_collisions_are_those_of_a_thousand_samples(name: str) -> None:
    """Long ways between three plates, some through them: no contact is missed, none invented."""
    robot, rng = shared(name) if name == "dual_arm" else load(name), np.random.default_rng(10)
    seen = []
    for k in range(8):
        q = np.array([robot.random_configuration(rng) for _ in range(3)])
        path = Trajectory([0.0, 1.0, 2.0], q[0] + (0.05, 0.3, 1.0)[k % 3] * (q - q[0]))
        plates = [
            Transformation.from_rpy(rng.normal(size=3), robot.fk(path.at(when)).translation + 0.2 * rng.normal(size=3))
            for when in (0.3, 0.9, 1.6)
        ]
        task = Task([Obstacle.box([0.05, 0.3, 0.02], at, id=f"plate{i}") for i, at in enumerate(plates)])
        dense = path.at(np.linspace(0.0, 2.0, 1000))
        contact = (
            robot.has_self_collision(dense).any(),
            robot.has_collisions(task, q=dense, ignore_self_collisions=True).any(),
        )
        report = check_trajectory(robot, path, task)
        assert (not report["self_collision"].ok, not report["scene_collision"].ok) == contact
        seen.append(contact)
    assert 0 < np.sum(seen) < 16


def test_retiming_never_crawls_where_the_samples_back_up_at_their_ends() -> None:
    """A spline without end velocities backs up a little: the search along the path took 118 s for a motion of 1 s."""
    pytest.importorskip("toppra")
    from knuckle.checks import retime

    s = np.linspace(0.0, 1.0, 11)
    way = (10 * s**3 - 15 * s**4 + 6 * s**5)[:, None] * [2.0, 0.8, 0.0, -0.5, 0.0, 0.3, 0.0]
    arm = PinRobot.from_urdf(path_of("sevenr_arm")).with_limits(acceleration=10.0)
    path = Trajectory(s, np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0]) + way, names=arm.joints)
    found = retime(arm, path, gridpoints=700)
    assert found.duration < 2.0 and check_trajectory(arm, found).feasible
