"""check_poses, grids and files of poses, the torque envelope, and retiming."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    InputError,
    MissingDependencyError,
    Obstacle,
    PinRobot,
    Task,
    Trajectory,
    Transformation,
    UnsupportedError,
    check_poses,
    check_trajectory,
    torque_envelope,
)
from knuckle.checks import PoseReport, pose_grid, read_poses, retime

from .planar_arm import PlanarArm
from .samples import load, random_configurations

Q0 = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


def arm() -> PinRobot:
    return load("sevenr_arm")


def free_configurations(count: int, seed: int = 0) -> np.ndarray:
    q = np.array(random_configurations(arm(), 4 * count, seed))
    return q[~arm().has_self_collision(q)][:count]


def test_poses_that_are_reached_are_told_from_those_that_are_not() -> None:
    robot = arm()
    poses = np.concatenate([robot.fk(free_configurations(20)), pose_grid([3, 0, 0], [4, 0, 0], [3, 1, 1])])
    report = check_poses(robot, poses, rng=1)
    assert not report and len(report) == 23 and report.reachable[:20].all() and not report.reachable[20:].any()
    assert set(report.status[20:]) == {"unreachable"} and report.reasons() == {"converged": 20, "unreachable": 3}
    assert np.isnan(report.manipulability[20:]).all() and str(report).startswith("20 of 23 poses feasible")
    for i in range(20):
        q = report.q[i]
        assert Transformation(robot.fk(q)).distance(Transformation(poses[i])).translation < 1e-5
        assert report.manipulability[i] == pytest.approx(robot.manipulability_index(q))
        assert report.clearance[i] == pytest.approx(robot.distance(q).value) and report.clearance[i] > 0
        share = np.abs(robot.static_torque(q)) / robot.limits.torque
        assert report.torque_used[i] == pytest.approx(share.max())
        lower, upper = robot.limits.position
        margin = np.minimum(q - lower, upper - q) / (0.5 * (upper - lower))
        assert report.limit_margin[i] == pytest.approx(margin.min())


def test_obstacles_and_payload_take_poses_away() -> None:
    robot = arm()
    pose = robot.fk(Q0)
    wall = Task([Obstacle.sphere(0.1, Transformation.from_translation(pose.translation), id="ball")])
    assert check_poses(robot, [pose]).feasible
    blocked = check_poses(robot, [pose], wall, max_iter=300)
    assert blocked.status[0] == "collision" and not blocked.feasible
    heavy = check_poses(robot, [pose], payload=60.0)
    assert heavy.reachable[0] and not heavy.ok[0] and heavy.reasons() == {"torque": 1} and heavy.torque_used[0] > 1
    assert check_poses(robot, [pose], payload=0.9 * heavy.payload[0]).feasible
    assert not check_poses(robot, [pose], payload=1.01 * heavy.payload[0]).feasible


def test_all_solutions_are_counted_and_the_best_is_kept() -> None:
    robot = load("sixr_arm")
    q = np.array([0.2, 0.5, 1.2, 0.3, 1.0, 0.1])
    one, every = (check_poses(robot, [robot.fk(q)], all_solutions=flag) for flag in (False, True))
    assert every.solutions[0] > 1 and every.manipulability[0] >= one.manipulability[0] - 1e-12
    assert robot.fk(every.q[0]).distance(robot.fk(q)).translation < 1e-6


def test_answers_depend_on_the_seed_alone_and_work_resumes(tmp_path: Path) -> None:
    robot, poses = arm(), arm().fk(free_configurations(12, seed=3))
    first = check_poses(robot, poses, rng=4, resume=tmp_path / "kept.npz")
    with ThreadPoolExecutor(2) as executor:
        others = [
            check_poses(robot, poses, rng=4, executor=executor),
            check_poses(robot, poses, rng=4, threads=2),
            check_poses(robot, poses, resume=tmp_path / "kept.npz", rng=4),
        ]
    for other in others:
        np.testing.assert_array_equal(other.q, first.q)


def test_report_is_written(tmp_path: Path) -> None:
    report = check_poses(arm(), pose_grid([0.3, -0.2, 0.3], [0.6, 0.2, 0.5], 2), tolerance=CartesianSphere(1e-4))
    document = json.loads(report.to_json())
    assert document["count"] == 8 and document["reachable"] == int(report.reachable.sum()) > 0
    with np.load(report.save(tmp_path / "reach.npz")) as data:
        np.testing.assert_array_equal(data["q"], report.q)
        assert data["joints"].tolist() == arm().joints
    rows = list(csv.DictReader(report.save(tmp_path / "reach.csv").read_text().splitlines()))
    assert len(rows) == 8 and float(rows[3]["q.joint2"]) == report.q[3, 1] and rows[3]["status"] == report.status[3]
    with pytest.raises(InputError, match=r"must end in \.npz or \.csv"):
        report.save(tmp_path / "reach.txt")
    assert isinstance(report, PoseReport) and bool(check_poses(arm(), np.zeros((0, 4, 4))))


def test_grid_goes_through_corners_and_orientations() -> None:
    poses = pose_grid([0, 0, 0], [1, 2, 4], [2, 3, 1], [[0, 0, 0], [0, 0, np.pi / 2]])
    assert poses.shape == (12, 4, 4)
    np.testing.assert_allclose(poses[0, :3, 3], [0, 0, 2])
    np.testing.assert_allclose(poses[-1], Transformation.from_rpy([0, 0, np.pi / 2], [1, 2, 2]).homogeneous, atol=1e-15)
    for arguments, message in (
        (([0, 0, 0], [-1, 0, 0], 2), "lower must not exceed upper"),
        (([0, 0, 0], [1, 1, 1], 0), "counts must be whole numbers"),
        (([0, 0, 0], [1, 1, 1], 1000), "more than"),
    ):
        with pytest.raises(InputError, match=message):
            pose_grid(*arguments)


def test_files_of_poses(tmp_path: Path) -> None:
    def read(text: str) -> Any:
        (tmp_path / "poses.csv").write_text(text)
        return read_poses(tmp_path / "poses.csv")

    poses, free = read("x,y,z\n1,2,3\n")
    assert free and poses[0, :3, 3].tolist() == [1, 2, 3]
    turned, free = read("name,x,y,z,roll,pitch,yaw\ncup,1,2,3,0.1,0.2,0.3\n")
    expected = Transformation.from_rpy([0.1, 0.2, 0.3], [1, 2, 3])
    np.testing.assert_allclose(turned[0], expected.homogeneous, atol=1e-15)
    same, free = read("x,y,z,qx,qy,qz,qw\n1,2,3," + ",".join(map(repr, expected.quat_xyzw.tolist())) + "\n")
    assert not free
    np.testing.assert_allclose(same, turned, atol=1e-12)
    np.savez(tmp_path / "poses.npz", poses=turned)
    np.testing.assert_allclose(read_poses(tmp_path / "poses.npz")[0], turned, atol=1e-15)
    for text, message in (
        ("x,y\n1,2\n", "no column 'z'"),
        ("x,y,z\n", "holds no poses"),
        ("x,y,z,qx\n1,2,3,0\n", "no column 'qy'"),
        ("x,y,z,qx,roll\n1,2,3,0,0\n", "not both"),
        ("x,y,z,qx,qy,qz,qw\n1,2,3,0,0,0,0\n", "line 2: "),
        ("x,y,z\n1,nan,3\n", "line 2, column 'y' must be a finite number"),
    ):
        with pytest.raises(InputError, match=message):
            read(text)
    np.savez(tmp_path / "other.npz", q=turned)
    with pytest.raises(InputError, match="no array 'poses'"):
        read_poses(tmp_path / "other.npz")
    with pytest.raises(InputError, match="must end in"):
        read_poses(tmp_path / "poses.txt")


# Torque envelope


def test_envelope_is_where_a_torque_meets_its_limit() -> None:
    robot, q = arm(), free_configurations(30, seed=5)
    found = torque_envelope(robot, q, com=[0.0, 0.02, 0.05])
    for i in range(30):
        assert np.isfinite(found.mass[i]) and found.mass[i] > 0
        tau = robot.with_payload(found.mass[i], [0.0, 0.02, 0.05]).static_torque(q[i])
        share = np.abs(tau) / robot.limits.torque
        assert share.max() == pytest.approx(1.0, abs=1e-9) and int(share.argmax()) == found.joint[i]


def test_envelope_of_a_motion_and_of_a_part_of_the_limits() -> None:
    robot, rng = arm(), np.random.default_rng(6)
    q, dq, ddq = free_configurations(10, seed=7), rng.normal(size=(10, 7)), 3 * rng.normal(size=(10, 7))
    found = torque_envelope(robot, q, dq, ddq, limits_scale=0.8)
    for i in range(10):
        tau = robot.with_payload(found.mass[i]).id(q[i], dq[i], ddq[i])
        assert (np.abs(tau) / robot.limits.torque).max() == pytest.approx(0.8, abs=1e-9)


def test_envelope_of_a_level_arm_is_the_lever_law() -> None:
    """Stretched out level, the mass hangs on the whole length: m g (l1 + l2) = limit - own weight."""
    robot = load("planar_2r")
    q = np.zeros(2)
    tip = robot.fk(q).translation
    lever = float(np.hypot(tip[0], tip[1]))
    own = abs(robot.static_torque(q)[0])
    strong = robot.with_limits(torque={"shoulder": own + 20.0, "elbow": np.inf})
    expected = 20.0 / (9.81 * lever) if own > 0 else np.inf
    found = torque_envelope(strong, q)
    assert found.mass.shape == (1,) and found.mass[0] == pytest.approx(expected)
    if own > 0:
        assert torque_envelope(robot.with_limits(torque={"shoulder": 0.9 * own}), q).mass[0] == 0.0
    free = torque_envelope(robot.with_limits(torque=np.inf), q)
    assert free.mass[0] == np.inf and free.joint[0] == -1
    with pytest.raises(InputError, match="takes no payload"):
        torque_envelope(PlanarArm(), np.zeros((1, 3)))


# Retiming


def test_retiming_is_fast_and_passes_the_check() -> None:
    pytest.importorskip("toppra")
    robot = arm().with_limits(acceleration=10.0)
    rng = np.random.default_rng(9)
    for seed in range(3):
        path = Trajectory(np.arange(5.0), Q0 + rng.uniform(-0.4, 0.4, (5, 7)), names=robot.joints)
        found = retime(robot, path, limits_scale=0.9)
        report = check_trajectory(robot, found, limits_scale=0.9)
        for kind in ("velocity", "acceleration", "torque", "continuity", "position"):
            assert report[kind].ok, (seed, report[kind].message)
        used = [report[kind].worst / report[kind].limit for kind in ("velocity", "acceleration", "torque")]
        assert max(used) > 0.99, "somewhere a limit is met, or it could be faster"
        assert found.duration < path.duration
        np.testing.assert_allclose(found.q[[0, -1]], path.q[[0, -1]], atol=1e-9)
        np.testing.assert_allclose(found.dq[[0, -1]], 0.0, atol=1e-9)
        dense = path.at(np.linspace(0.0, 4.0, 4000))
        off = np.abs(found.q[:, None] - dense).max(axis=2).min(axis=1)
        assert off.max() < 2e-3, "it stays on the path"


def test_retiming_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("toppra")
    robot = arm().with_limits(acceleration=10.0)
    path = Trajectory([0.0, 1.0], [Q0, Q0 + 0.1])
    with pytest.raises(InputError, match="retiming needs acceleration limits, joint1"):
        retime(arm(), path)
    with pytest.raises(UnsupportedError, match="corners"):
        retime(robot, path.with_interpolation("linear"))
    with pytest.raises(InputError, match="nothing to retime"):
        retime(robot, Trajectory([0.0, 1.0], [Q0, Q0]))
    back = Trajectory([0.0, 1.0, 2.0], [Q0, Q0 + 0.5, Q0], np.zeros((3, 7)))
    there_and_back = check_trajectory(robot, retime(robot, back))
    assert all(there_and_back[kind].ok for kind in ("velocity", "acceleration", "torque"))
    with pytest.raises(InputError, match="corners, such as turning points"):
        retime(robot, back, path_tolerance=1e-6)
    with pytest.raises(
        InputError, match=r"joint2 needs .* N m to stand still where the trajectory is at 1 s, 1 are allowed"
    ):
        retime(robot.with_limits(torque=1.0), path)
    with pytest.raises(InputError, match="no option named 'payloda'; did you mean 'payload'"):
        retime(robot, path, payloda=1.0)
    monkeypatch.setitem(__import__("sys").modules, "toppra", None)
    with pytest.raises(MissingDependencyError, match="needs toppra"):
        retime(robot, path)
