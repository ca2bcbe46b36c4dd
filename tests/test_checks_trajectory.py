"""check_trajectory: verdicts with worst place and reason, between samples."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from knuckle import (
    CollisionFree,
    CustomConstraint,
    EndEffectorPose,
    EndEffectorVelocity,
    InputError,
    JointBox,
    Obstacle,
    SelfCollisionFree,
    Task,
    Trajectory,
    Transformation,
    check_trajectory,
)

from .samples import load
from .trajectory_check_cases import Q0, T, arm, bead, wave


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
