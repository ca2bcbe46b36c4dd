"""check_trajectory: verdicts with worst place and reason, between samples, on robots of every kind."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import knuckle
from knuckle import (
    CollisionFree,
    CustomConstraint,
    EndEffectorPose,
    EndEffectorVelocity,
    InputError,
    InputTypeError,
    JointBox,
    Obstacle,
    PinRobot,
    SelfCollisionFree,
    Task,
    Trajectory,
    Transformation,
    UnsupportedError,
    check_trajectory,
)

from .robot_cases import EVERY, shared
from .samples import load, path_of

Q0 = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
T = np.linspace(0.0, 2.0, 21)


def arm() -> PinRobot:
    return load("sevenr_arm")


def wave(size: float = 0.2, joint: int | None = None) -> np.ndarray:
    motion = size * np.sin(T)[:, None] * np.ones(7)
    if joint is not None:
        motion[:, np.arange(7) != joint] = 0.0
    return Q0 + motion


def test_report_says_everything_of_every_check() -> None:
    report = check_trajectory(arm(), Trajectory(T, wave()))
    assert report and report.feasible and not report.violations
    names = [check.name for check in report]
    assert names == [
        "time", "continuity", "position", "velocity", "acceleration", "jerk", "torque", "tool_speed", "tool_turning",
        "singularity", "condition", "goal", "self_collision", "scene_collision",
    ]  # fmt: skip
    document = json.loads(report.to_json())
    assert document["feasible"] and [check["name"] for check in document["checks"]] == names
    assert "no acceleration limit is known for any joint" in " ".join(document["notes"])
    assert "NaN" not in report.to_json() and "feasible (21 samples" in str(report)
    with pytest.raises(InputError, match="no check named 'velocty'; did you mean 'velocity'"):
        report["velocty"]


def test_a_velocity_passed_only_between_the_samples() -> None:
    """From rest to rest a cubic goes at 3/2 of its mean speed, half-way; at the samples it stands."""
    robot = arm().with_limits(velocity={"joint3": 0.7})
    q = np.tile(Q0, (3, 1))
    q[1:, 2] += 0.5
    path = Trajectory([0.0, 1.0, 2.0], q, np.zeros((3, 7)))
    check = check_trajectory(robot, path)["velocity"]
    assert not check and check.where == "joint3" and check.count == 1
    assert check.worst == pytest.approx(0.75, rel=1e-12) and check.time == pytest.approx(0.5, abs=1e-6)
    assert check.margin == pytest.approx(-0.05) and check.limit == 0.7
    assert check.message == "joint3 passes its limit 0.7 rad/s with 0.75 at 0.5 s"
    assert check_trajectory(arm().with_limits(velocity={"joint3": 0.7501}), path)["velocity"].ok
    assert not check_trajectory(arm().with_limits(velocity={"joint3": 1.0}), path, limits_scale=0.7)["velocity"].ok
    scaled = check_trajectory(arm().with_limits(velocity={"joint3": 1.0}), path, limits_scale={"torque": 0.7})
    assert scaled["velocity"].ok and scaled["velocity"].limit == 1.0


def test_acceleration_and_jerk_of_a_cubic_from_rest_to_rest() -> None:
    q = np.tile(Q0, (2, 1))
    q[1, 4] += 0.5
    robot = arm().with_limits(acceleration=2.9, jerk=5.9)
    report = check_trajectory(robot, Trajectory([0.0, 1.0], q, np.zeros((2, 7))))
    assert report["acceleration"].worst == pytest.approx(3.0) and not report["acceleration"].ok  # 6 dq / h^2
    assert report["jerk"].worst == pytest.approx(6.0) and report["jerk"].where == "joint5"  # 12 dq / h^3


def test_position_limits_with_a_margin() -> None:
    """A quarter cubic between equal positions with opposite speeds v rises by v h / 4."""
    q, dq = np.tile(Q0, (2, 1)), np.zeros((2, 7))
    dq[:, 1] = 1.0, -1.0
    robot = arm().with_limits(position={"joint2": (-1.0, 0.76)})
    path = Trajectory([0.0, 1.0], q, dq)
    check = check_trajectory(robot, path)["position"]
    assert check.ok and check.worst == pytest.approx(0.75) and check.where == "joint2"
    check = check_trajectory(robot, path, position_margin=0.02)["position"]
    assert not check.ok and check.limit == pytest.approx(0.74) and check.margin == pytest.approx(-0.01)


def test_torques_are_those_of_inverse_dynamics() -> None:
    robot = arm()
    path = Trajectory(T, wave(0.4))
    options = dict(friction=False, motor_inertia=False)
    fine = np.linspace(0.0, 2.0, 4001)
    for payload, off in ((None, {}), (2.0, {}), (2.0, options)):
        check = check_trajectory(robot, path, payload=payload, **off)["torque"]
        carrying = robot if payload is None else robot.with_payload(payload)
        tau = np.abs(carrying.id(path.at(fine), path.at(fine, 1), path.at(fine, 2), **off))
        share = (tau / robot.limits.torque).max(axis=0)
        joint = int(share.argmax())
        assert check.where == robot.joints[joint]
        assert check.worst == pytest.approx(tau[:, joint].max(), rel=1e-5)
    space = Task(gravity=[0.0, 0.0, 0.0])
    assert check_trajectory(robot, path, space)["torque"].worst < 0.5 * check_trajectory(robot, path)["torque"].worst


def test_tool_speed_and_singularity_are_those_of_the_jacobian() -> None:
    robot, path, fine = arm(), Trajectory(T, wave(0.4)), np.linspace(0.0, 2.0, 8001)
    J = robot.jacobian(path.at(fine), reference="LOCAL_WORLD_ALIGNED")
    twist = np.einsum("nij,nj->ni", J, path.at(fine, 1))
    s = np.linalg.svd(J, compute_uv=False)
    report = check_trajectory(robot, path, max_linear=10.0, min_singular_value=1e-3, max_condition=1e3)
    assert report["tool_speed"].worst == pytest.approx(np.linalg.norm(twist[:, :3], axis=1).max(), rel=1e-6)
    assert report["tool_turning"].worst == pytest.approx(np.linalg.norm(twist[:, 3:], axis=1).max(), rel=1e-6)
    assert report["singularity"].worst == pytest.approx(s[:, -1].min(), rel=1e-5)
    assert report["condition"].worst == pytest.approx((s[:, 0] / s[:, -1]).max(), rel=1e-5)
    assert report["singularity"].margin > 0 and report["singularity"].limit == 1e-3
    straight = np.tile(np.zeros(7), (3, 1)) + [[0.1], [0.0], [0.1]] * np.eye(7)[0]  # stretched out all along
    singular = check_trajectory(robot, Trajectory([0, 1, 2.0], straight), min_singular_value=1e-3)["singularity"]
    assert not singular.ok and singular.worst < 1e-9


def bead(path: Trajectory, when: float, radius: float = 0.002) -> Task:
    tip = arm().fk(path.at(when)).translation
    return Task([Obstacle.sphere(radius, Transformation.from_translation(tip), id="bead")])


def test_a_collision_only_between_two_samples() -> None:
    q = np.array([Q0, Q0])
    q[1, 0] = 1.5
    path = Trajectory([0.0, 1.0], q)
    task = bead(path, 0.47)
    assert not arm().has_collisions(task, q=path.q).any()
    check = check_trajectory(arm(), path, task)["scene_collision"]
    assert not check.ok and "bead" in check.where and check.worst <= 0.0
    assert check.time == pytest.approx(0.47, abs=0.08)
    again = check_trajectory(arm(), Trajectory([0.0, 1.0], Q0 + np.zeros((2, 7))), task)["scene_collision"]
    assert again.ok


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_clearance_is_the_least_there_is_to_within_the_resolution(margin: float) -> None:
    robot, rng = arm(), np.random.default_rng(8)
    for _ in range(5):
        path = Trajectory([0.0, 1.0, 2.0], Q0 + rng.uniform(-0.4, 0.4, (3, 7)))
        ball = Obstacle.sphere(0.05, Transformation.from_translation([0.55, 0.35, 0.3]), id="ball")
        task = Task([ball])
        dense = np.array([robot.distance(q, task).value for q in path.at(np.linspace(0.0, 2.0, 1500))])
        report = check_trajectory(robot, path, task, resolution=1e-3, safety_margin=margin)
        checks = [report["self_collision"], report["scene_collision"]]
        found = min(check.worst for check in checks)
        if dense.min() > margin:
            assert found == pytest.approx(dense.min(), abs=1.1e-3)
        assert all(check.ok for check in checks) == (dense.min() > margin)
        for check in checks:
            if check.ok:
                proven = float(re.search(r"nearer than (\S+) m", check.message)[1])  # type: ignore[index]
                assert check.worst - 1.1e-3 <= proven <= check.worst


def test_what_grazes_is_not_taken_for_free() -> None:
    """A ball that slides 20 um above a floor: free in truth, but not provably so at a resolution of 1 mm."""
    robot = load("scara")
    q = np.array([[0.0, 0.3, -0.05, 0.0], [0.5, 0.3, -0.05, 0.0]])
    floor = Task([Obstacle.plane([0, 0, 1], -1.0, id="floor")], allowed_collisions=[("base", "floor")])
    gap = min(d.value for d in robot.distances(q[0], floor) if d.pair is not None and "floor" in d.pair)
    for height, ok in ((gap - 2e-5, False), (gap - 5e-3, True), (gap + 1e-3, False)):
        task = floor.with_moved("floor", Transformation.from_translation([0.0, 0.0, height]))
        check = check_trajectory(robot, Trajectory([0.0, 1.0], q), task)["scene_collision"]
        assert check.ok == ok, (height, check.message)
        assert ("graze" in check.message) == (height == gap - 2e-5)


def test_goal_of_a_task_by_name_or_given() -> None:
    robot, path = arm(), Trajectory(T, wave())
    end = robot.fk(path.q[-1])
    task = Task(goals={"there": end, "elsewhere": Transformation.from_translation([0.3, 0, 0]) @ end})
    assert check_trajectory(robot, path, task)["goal"].ok
    assert check_trajectory(robot, path, task, goal="there")["goal"].where == "there"
    check = check_trajectory(robot, path, task, goal="elsewhere")["goal"]
    assert not check.ok and "0.3 m" in check.message and check.time == 2.0
    assert check_trajectory(robot, path, goal=end)["goal"].ok
    with pytest.raises(InputError, match="no goal named 'ther'"):
        check_trajectory(robot, path, task, goal="ther")


def test_constraints_of_a_task() -> None:
    robot, path = arm(), Trajectory(T, wave())
    upright = EndEffectorPose(robot.fk(Q0))
    task = Task(
        [Obstacle.sphere(0.05, Transformation.from_translation([0.0, 0.9, 0.9]), id="lamp")],
        constraints=[
            JointBox(upper={"joint2": 0.6}),
            EndEffectorVelocity(max_linear=5.0),
            SelfCollisionFree(0.01),
            CollisionFree(0.01),
            CustomConstraint(lambda robot, q: q[0] < 1.0, "left"),
        ],
    )
    report = check_trajectory(robot, path, task, constraints=[upright, SelfCollisionFree(0.2)])
    verdicts = {check.name: check.ok for check in report if check.name.startswith("constraint")}
    assert verdicts == {
        "constraint_1_joint_box": False,
        "constraint_2_end_effector_velocity": True,
        "constraint_3_self_collision_free": True,
        "constraint_4_collision_free": True,
        "constraint_5_custom": True,
        "constraint_6_end_effector_pose": False,
        "constraint_7_self_collision_free": False,
    }
    box = report["constraint_1_joint_box"]
    assert box.where == "joint2" and box.worst == pytest.approx(0.7, abs=1e-3) and 0 < box.count < 20
    assert box.margin == pytest.approx(-0.1, abs=1e-3)


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
