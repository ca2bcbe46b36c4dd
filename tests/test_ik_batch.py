"""Many targets at once, a path of them, and all solutions of one."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    IKStatus,
    InputError,
    KnuckleError,
    MissingDependencyError,
    PinRobot,
    RotationAbsolute,
    Transformation,
    ik,
)
from knuckle.robot import native

from . import closed_forms, samples
from .ik_cases import clear_configuration

NEAR = 1e-6 if native.AVAILABLE else 1e-4
"""The kernel solves branches to 1e-8; without it they are as near as the tolerance."""
ARRAYS = ("q", "success", "status", "position_error", "rotation_error", "iterations", "restarts")


def work(robot: PinRobot, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    goals = np.array([clear_configuration(robot, rng) for _ in range(count)])
    starts = np.array([robot.random_configuration(rng) for _ in range(count)])
    return robot.fk(goals), starts


def assert_same(one: ik.BatchResult, other: ik.BatchResult) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert (one.seed, one.method) == (other.seed, other.method)


@pytest.mark.parametrize("name", ["sixr_arm", "sevenr_arm"])
def test_every_target_of_a_batch_is_solved(name: str) -> None:
    robot = samples.load(name)
    targets, starts = work(robot, 200)
    result = ik.solve_batch(robot, targets, starts, rng=1)
    assert len(result) == 200 and result.success.all() and (result.status == IKStatus.CONVERGED).all()
    found = robot.fk(result.q)
    assert np.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=1).max() <= 1e-5
    assert robot.q_in_joint_limits(result.q).all()
    one = result[7]
    assert one.success and one.seed == 1
    np.testing.assert_array_equal(one.q, result.q[7])
    assert "200 converged" in repr(result)


def test_the_answers_depend_on_nothing_but_the_work(tmp_path: Path) -> None:
    robot = samples.load("sevenr_arm")
    targets, starts = work(robot, 120, seed=3)
    targets[5, :3, 3] += 10.0  # out of reach
    plain = ik.solve_batch(robot, targets, starts, rng=4)
    assert plain.success.sum() == 119 and plain.status[5] == IKStatus.UNREACHABLE
    assert_same(plain, ik.solve_batch(robot, targets, starts, rng=4, threads=3))
    assert_same(plain, ik.solve_batch(robot, targets, starts, rng=4, chunk=17, resume=tmp_path / "a.npz"))
    assert_same(plain, ik.solve_batch(robot, list(targets), starts, rng=4))
    with ThreadPoolExecutor(2) as pool:
        assert_same(plain, ik.solve_batch(robot, targets, starts, rng=4, chunk=25, executor=pool))
    plain.save(tmp_path / "b.npz")
    assert_same(plain, ik.BatchResult.load(tmp_path / "b.npz"))


def test_processes_give_the_same_answers() -> None:
    robot = samples.load("sixr_arm")
    targets, starts = work(robot, 40, seed=6)
    with ProcessPoolExecutor(1) as pool:
        spread = ik.solve_batch(robot, targets, starts, rng=2, chunk=20, executor=pool)
    assert_same(spread, ik.solve_batch(robot, targets, starts, rng=2))


@pytest.mark.parametrize("method", ["jacobian", None])
def test_methods_without_lanes_work_as_well(method: str | None) -> None:
    robot = PinRobot.from_urdf(samples.path_of("dual_arm"), tcp="left_tool")
    targets, _ = work(robot, 6, seed=1)
    options = {} if method is None else {"ik_method": method}
    result = ik.solve_batch(robot, targets, rng=1, outer_constraints=lambda robot, q: True, **options)
    assert result.success.all()
    assert_same(result, ik.solve_batch(robot, targets, rng=1, outer_constraints=lambda robot, q: True, **options))
    for i in range(6):
        assert robot.fk(result.q[i]).distance(targets[i]).translation <= 1e-5


def test_an_interrupted_batch_is_resumed_with_nothing_lost(tmp_path: Path) -> None:
    robot = samples.load("sevenr_arm")
    targets, starts = work(robot, 100, seed=9)
    file = tmp_path / "work.npz"

    class Interrupting(ThreadPoolExecutor):
        done = 0

        def submit(self, *task, **more):
            self.done += 1
            if self.done > 3:
                raise KeyboardInterrupt
            return super().submit(*task, **more)

    with Interrupting(1) as pool, pytest.raises(KeyboardInterrupt):
        ik.solve_batch(robot, targets, starts, chunk=10, executor=pool, resume=file)
    # what was handed over is finished or not; what is in the file stays
    if not file.exists():
        ik.solve_batch(robot, targets[:1], starts[:1], rng=1)
    resumed = ik.solve_batch(robot, targets, starts, chunk=10, resume=file)
    assert resumed.success.all()
    assert_same(resumed, ik.solve_batch(robot, targets, starts, rng=resumed.seed))
    again = ik.solve_batch(robot, targets, starts, chunk=10, resume=file)  # nothing is left to do
    assert_same(resumed, again)
    for other in ({"rng": resumed.seed + 1}, {"max_iter": 7}, {"tolerance": CartesianSphere(1e-3)}):
        with pytest.raises(InputError, match="other work"):
            ik.solve_batch(robot, targets, starts, chunk=10, resume=file, **other)
    with pytest.raises(InputError, match="other work"):
        ik.solve_batch(robot, targets[::-1].copy(), starts, resume=file)


def test_files_that_are_no_batch_are_refused(tmp_path: Path) -> None:
    robot = samples.load("sevenr_arm")
    targets, _ = work(robot, 2)
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"no zip")
    for call in (lambda: ik.solve_batch(robot, targets, resume=bad), lambda: ik.BatchResult.load(bad)):
        with pytest.raises(InputError, match=r"bad\.npz"):
            call()
    assert bad.read_bytes() == b"no zip"
    with pytest.raises(InputError, match="no file"):
        ik.BatchResult.load(tmp_path / "absent.npz")
    with pytest.raises(InputError, match="cannot be written"):
        ik.solve_batch(robot, targets, resume=tmp_path / "no folder" / "x.npz")


def test_progress_is_shown_or_its_absence_explained(capsys, monkeypatch) -> None:
    robot = samples.load("sevenr_arm")
    targets, _ = work(robot, 30)
    ik.solve_batch(robot, targets, rng=1, chunk=10, progress=True)
    assert "30/30" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)  # what an absent module looks like
    with pytest.raises(MissingDependencyError, match="tqdm"):
        ik.solve_batch(robot, targets, rng=1, progress=True)
    assert isinstance(sys, ModuleType)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"targets": np.zeros((3, 4, 4))}, r"targets\[0\]"),
        ({"targets": np.full((2, 4, 4), np.nan)}, "targets"),
        ({"targets": 3}, "targets"),
        ({"targets": "abc"}, "targets"),
        ({"targets": [np.eye(4), np.eye(3)]}, r"targets\[1\]"),
        ({"q_init": np.zeros(5)}, "q_init"),
        ({"q_init": np.zeros((2, 7))}, "one row for each"),
        ({"q_init": np.full(7, np.nan)}, "q_init"),
        ({"tolerance": 1e-3}, "tolerance"),
        ({"max_iter": 0}, "max_iter"),
        ({"threads": 0}, "threads"),
        ({"chunk": 0}, "chunk"),
        ({"executor": 3}, "executor"),
        ({"rng": -1}, "rng"),
        ({"no_such": 3}, "no_such"),
        ({"ik_method": "no_such"}, "no_such"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, word: str) -> None:
    robot = samples.load("sevenr_arm")
    targets, _ = work(robot, 3)
    with pytest.raises(KnuckleError, match=word):
        ik.solve_batch(robot, **({"targets": targets} | arguments))


def test_an_empty_batch_and_a_start_outside_the_limits() -> None:
    robot = samples.load("sevenr_arm")
    assert len(ik.solve_batch(robot, np.empty((0, 4, 4)), rng=1)) == 0
    targets, starts = work(robot, 3)
    result = ik.solve_batch(robot, targets, starts + 9.0, rng=1)
    assert result.success.all() and robot.q_in_joint_limits(result.q).all()


# A path


def line(robot: PinRobot, q: np.ndarray, step: np.ndarray, count: int = 50) -> np.ndarray:
    start = robot.fk(q)
    return np.array([(Transformation.from_translation(s * step) @ start).homogeneous for s in np.linspace(0, 1, count)])


@pytest.mark.parametrize("name", ["sixr_arm", "sevenr_arm"])
def test_a_path_stays_on_its_branch(name: str) -> None:
    robot = samples.load(name)
    q = np.array([0, 0.4, 1.2, 0, 0.8, 0]) if robot.nq == 6 else np.array([0, 0.5, 0, -1.4, 0, 1.2, 0])
    poses = line(robot, q, np.array([0.05, 0.1, -0.05]))
    path = ik.track(robot, poses, q)
    assert path and path.broken_at is None and path.message == ""
    assert path.q.shape == (50, robot.nq)
    assert np.abs(np.diff(np.vstack([q, path.q]), axis=0)).max() < 0.03
    assert path.position_error.max() <= 1e-5 and path.rotation_error.max() <= 1e-4
    back = ik.track(robot, poses[::-1], path.q[-1])
    if robot.nq == 6:  # without self-motion the way back is the way
        np.testing.assert_allclose(back.q[::-1], path.q, rtol=0, atol=1e-3)


def test_a_path_that_breaks_says_where_and_why() -> None:
    robot = samples.load("sevenr_arm")
    q = np.array([0, 0.5, 0, -1.4, 0, 1.2, 0])
    out = ik.track(robot, line(robot, q, np.array([1.5, 0.0, 0.0])), q)
    assert not out and out.broken_at == len(out.q) and 0 < len(out.q) < 50
    assert out.status is not IKStatus.CONVERGED and f"pose {out.broken_at}" in out.message
    jump = line(robot, q, np.array([0.05, 0.0, 0.0]), 4)
    jump[2] = robot.fk(robot.random_configuration(3)).homogeneous
    torn = ik.track(robot, jump, q)
    assert torn.broken_at == 2 and "pose 2" in torn.message
    wide = ik.track(robot, line(robot, q, np.array([0.3, 0.2, 0.0]), 3), q, max_step=0.05)
    assert wide.broken_at == 1 and wide.status is IKStatus.REJECTED and "would step by" in wide.message
    assert len(ik.track(robot, np.empty((0, 4, 4)), q).q) == 0


def test_a_path_of_a_robot_the_kernel_does_not_cover() -> None:
    robot = PinRobot.from_urdf(samples.path_of("quadruped"), tcp="fl_foot")
    poses = line(robot, robot.q, np.array([0.02, 0.0, 0.02]), 5)
    path = ik.track(robot, poses, robot.q)
    assert path and path.q.shape == (5, robot.nq)


def test_bad_paths_are_refused() -> None:
    robot = samples.load("sevenr_arm")
    poses = line(robot, robot.q, np.array([0.0, 0.0, -0.1]))
    for arguments, word in [
        ({"q_start": np.zeros(3)}, "q_start"),
        ({"q_start": np.full(7, 9.0)}, "outside the joint limits"),
        ({"tolerance": 3}, "tolerance"),
        ({"max_step": 0.0}, "max_step"),
        ({"max_iter": 0}, "max_iter"),
        ({"poses": np.zeros((2, 3))}, "targets"),
    ]:
        with pytest.raises(KnuckleError, match=word):
            ik.track(robot, **({"poses": poses} | arguments))


# All solutions of one pose


def test_all_branches_of_the_spherical_wrist() -> None:
    robot = samples.load("sixr_arm")
    target = Transformation.from_rpy([0, np.pi / 2, 0], [0.2, 0.2, 0.7])
    found = ik.solve_all(robot, target)
    expected = np.array([q for q in closed_forms.sixr_ik(target.homogeneous) if robot.q_in_joint_limits(q)])
    assert len(found) == len(expected) == 8
    for q in expected:
        assert np.abs(found - q).max(axis=1).min() < NEAR
    order = np.abs(robot.difference(np.zeros((8, 6)), found)).max(axis=1)
    assert (np.diff(order) >= 0).all()
    np.testing.assert_array_equal(found, ik.solve_all(robot, target))


@pytest.mark.parametrize(("name", "count"), [("planar_2r", 2), ("scara", 2)])
def test_all_branches_of_small_arms(name: str, count: int) -> None:
    robot = samples.load(name)
    q = np.array([0.3, 0.9]) if robot.nq == 2 else np.array([0.3, 0.9, 0.1, 0.2])
    target = robot.fk(q)
    free = CartesianSphere(1e-6) if robot.nq == 2 else None  # two joints leave the rotation to the branch
    found = ik.solve_all(robot, target, tolerance=free)
    assert len(found) == count
    assert np.abs(found - q).max(axis=1).min() < NEAR
    for solution in found:
        assert robot.fk(solution).distance(target).translation <= 1e-6


def test_all_turns_of_a_joint_that_has_room_for_them() -> None:
    robot = samples.load("planar_2r").with_limits(position=[[-7.0, -7.0], [7.0, 7.0]])
    target = robot.fk([0.3, 0.9])
    plain = ik.solve_all(robot, target, tolerance=CartesianSphere(1e-6))
    wound = ik.solve_all(robot, target, tolerance=CartesianSphere(1e-6), windings=True)
    assert len(plain) == 2 < len(wound)
    assert robot.q_in_joint_limits(wound).all()
    assert len(np.unique(wound.round(6), axis=0)) == len(wound)


def test_a_self_motion_is_sampled_at_its_spacing() -> None:
    robot = samples.load("sevenr_arm")
    target = robot.fk([0.2, 0.5, 0.1, -1.4, 0.3, 1.2, 0.1])
    wide, fine = ik.solve_all(robot, target, spacing=1.0), ik.solve_all(robot, target, spacing=0.4)
    assert 4 <= len(wide) < len(fine)
    for found, spacing in ((wide, 1.0), (fine, 0.4)):
        apart = np.abs(found[:, None] - found[None]).max(axis=2) + 9 * np.eye(len(found))
        assert apart.min() >= spacing
        for q in found:
            assert robot.fk(q).distance(target).translation <= 1e-5
    assert len(ik.solve_all(robot, target, spacing=0.4, limit=3)) == 3


def test_no_solution_is_an_empty_answer() -> None:
    robot = samples.load("sixr_arm")
    found = ik.solve_all(robot, Transformation.from_translation([9.0, 0.0, 0.0]))
    assert found.shape == (0, 6)
    exact = CartesianSphere(1e-4) + RotationAbsolute(1e-3)
    assert ik.solve_all(robot, robot.fk([0, 0.4, 1.2, 0, 0.8, 0]), tolerance=exact).shape[1] == 6
    for arguments, word in [({"spacing": 0.0}, "spacing"), ({"limit": 0}, "limit"), ({"q_init": [0.0]}, "q_init")]:
        with pytest.raises(InputError, match=word):
            ik.solve_all(robot, robot.fk(), **arguments)


def test_a_function_is_told_how_far_a_batch_has_come() -> None:
    told: list[tuple[int, int]] = []
    arm = samples.load("sevenr_arm")
    poses = np.stack([arm.fk(q).homogeneous for q in samples.random_configurations(arm, 40)])
    ik.solve_batch(arm, poses, rng=0, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (40, 40) and [done for done, _ in told] == sorted(done for done, _ in told)
