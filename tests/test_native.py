"""The native kernel against Pinocchio, against itself on other lane widths, and against bad arrays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot, ReferenceFrame
from knuckle.robot import native

needs_native = pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")
if native.AVAILABLE:
    from knuckle import _core

ROOT = Path(__file__).parent.parent
ROBOTS = sorted(
    p
    for p in [*(ROOT / "urdf_samples").glob("*.urdf"), *(ROOT / "tests" / "data" / "urdf").glob("*.urdf")]
    if p.stem != "quadruped"  # its chains begin with a free-flyer
)
PIN_FRAMES = (pin.ReferenceFrame.WORLD, pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)


def widths() -> list[int]:
    return [w for w in (2, 4, 8) if w <= _core.lanes()] if native.AVAILABLE else []


@pytest.fixture
def lanes():
    """Sets the lane width and puts the widest back afterwards."""
    yield _core.use_lanes
    _core.use_lanes(0)


def tip_chain(robot: PinRobot, frame: str):
    return robot.native_chain(frame).core


@needs_native
@pytest.mark.parametrize("path", ROBOTS, ids=lambda p: p.stem)
def test_fk_and_jacobian_equal_pinocchio_on_every_frame(path, lanes):
    robot = PinRobot.from_urdf(path)
    rng = np.random.default_rng(3)
    Q = np.array([robot.random_configuration(rng) for _ in range(11)])
    data = robot.model.createData()
    G = np.array([numeric_column_map(robot)])[0]
    for frame in robot.frames:
        chain = tip_chain(robot, frame)
        frame_id = robot.model.getFrameId(frame)
        for width in widths():
            lanes(width)
            poses = np.empty((len(Q), 4, 4))
            chain.fk_batch(Q, poses)
            jacobians = np.empty((3, len(Q), 6, robot.nv))
            for reference in range(3):
                chain.jacobian_batch(Q, reference, jacobians[reference])
            for i, q in enumerate(Q):
                q_pin = robot.to_pinocchio(q)
                pin.framesForwardKinematics(robot.model, data, q_pin)
                np.testing.assert_allclose(poses[i], data.oMf[frame_id].homogeneous, rtol=0, atol=1e-13)
                single = np.empty((4, 4))
                chain.fk(q, single)
                np.testing.assert_allclose(single, poses[i], rtol=0, atol=1e-14)
                for reference in range(3):
                    expected = pin.computeFrameJacobian(robot.model, data, q_pin, frame_id, PIN_FRAMES[reference]) @ G
                    np.testing.assert_allclose(jacobians[reference, i], expected, rtol=0, atol=1e-13)
                    one = np.empty((6, robot.nv))
                    chain.jacobian(q, reference, one)
                    np.testing.assert_allclose(one, expected, rtol=0, atol=1e-13)


def numeric_column_map(robot: PinRobot) -> np.ndarray:
    """dq_pin / dq from the configuration map itself, so that mimic couplings are checked from outside."""
    q = robot.neutral()
    columns = []
    for i in range(robot.nv):
        step = np.zeros(robot.nv)
        step[i] = 1e-6
        a, b = robot.to_pinocchio(q - step), robot.to_pinocchio(q + step)
        columns.append(pin.difference(robot.model, a, b) / 2e-6)
    return np.round(np.array(columns).T, 6)


@needs_native
def test_angles_far_from_zero_keep_their_sine(lanes):
    robot = PinRobot.from_urdf(ROOT / "urdf_samples" / "pan_tilt_continuous.urdf")
    chain = tip_chain(robot, robot.tcp)
    angles = np.array([0.0, 1e-300, 0.785398, 1.5707963267948966, np.pi, -np.pi, 50.0, 1e4, 9.9e4, 1.01e5, 1e9, -1e15])
    Q = np.zeros((len(angles), robot.nq))
    Q[:, 0] = angles
    expected = np.empty((len(angles), 4, 4))
    for i, q in enumerate(Q):
        chain.fk(q, expected[i])  # libm
    for width in widths():
        lanes(width)
        poses = np.empty_like(expected)
        chain.fk_batch(Q, poses)
        np.testing.assert_allclose(poses, expected, rtol=0, atol=1e-14)


@needs_native
@pytest.mark.parametrize("world", [False, True], ids=["tcp", "world"])
def test_error_and_jacobian_agree_with_finite_differences(world):
    robot = PinRobot.from_urdf(ROOT / "urdf_samples" / "sevenr_arm.urdf")
    chain = tip_chain(robot, robot.tcp)
    rng = np.random.default_rng(5)

    def error(q, goal):
        e, J = np.empty(6), np.empty((6, robot.nv))
        chain.error_and_jacobian(q, goal, world, e, J)
        return e, J

    for size in (1e-9, 1e-4, 1e-2, 0.3, 1.0, 2.5):
        for _ in range(5):
            q = robot.random_configuration(rng)
            away = rng.normal(size=3)
            twist = np.concatenate([rng.normal(size=3) * 0.3, away / np.linalg.norm(away) * size])
            T = pin.SE3(robot.fk(q).homogeneous)
            goal = (T * pin.exp6(pin.Motion(twist))).homogeneous
            e, J = error(q, goal)
            expected = twist if not world else np.r_[goal[:3, 3] - T.translation, T.rotation @ twist[3:]]
            np.testing.assert_allclose(e, expected, rtol=0, atol=1e-12)
            h = 1e-5
            numeric = np.array([(error(q + h * d, goal)[0] - error(q - h * d, goal)[0]) / (2 * h) for d in np.eye(7)]).T
            np.testing.assert_allclose(numeric, -J, rtol=0, atol=2e-8)


def tasks(robot: PinRobot, count: int, seed: int):
    rng = np.random.default_rng(seed)
    targets = np.array([robot.fk(robot.random_configuration(rng)).homogeneous for _ in range(count)])
    starts = np.array([robot.random_configuration(rng) for _ in range(count)])
    return targets, starts


def solver(robot: PinRobot, **changes):
    options = dict(
        frozen=np.zeros(robot.nv, dtype=np.int32),
        row_weight=np.array([4.0, 4.0, 4.0, 1.0, 1.0, 1.0]),
        damping=0.1,
        constant_damping=0.0,
        step=1.0,
        shrink=0.4,
        patience=3,
        attempt_iterations=30,
        free_first=robot.nv <= 6,
    )
    limits = robot.joint_limits
    return _core.Solver(
        tip_chain(robot, robot.tcp),
        np.array([0.0, 0.0, 0.0, np.inf]),
        np.ascontiguousarray(limits[0]),
        np.ascontiguousarray(limits[1]),
        **{**options, **changes},
    )


ARMS = ["sixr_arm", "sevenr_arm", "panda", "ur5", "xarm7", "kinova"]


def arm(name: str) -> PinRobot:
    folder = ROOT / "urdf_samples" if (ROOT / "urdf_samples" / f"{name}.urdf").exists() else ROOT / "tests/data/urdf"
    tcp = {"panda": "panda_hand"}.get(name)
    return PinRobot.from_urdf(folder / f"{name}.urdf", tcp=tcp)


def batch(s, robot, targets, starts, seed=1, threads=1, first=0, limit=20000, tolerance=(1e-6, 1e-6)):
    n = len(targets)
    base = np.tile(robot.neutral(), (n, 1))
    errors, counts = np.empty((n, 2)), np.empty((n, 5), dtype=np.int64)
    s.solve_batch(targets, starts, base, errors, counts, *tolerance, 10**6, limit, seed, first, threads)
    return base, errors, counts


@needs_native
@pytest.mark.parametrize("name", ARMS)
def test_every_reachable_pose_is_solved_within_limits(name):
    robot = arm(name)
    targets, starts = tasks(robot, 300, 11)
    q, errors, counts = batch(solver(robot), robot, targets, starts)
    assert counts[:, 0].all()
    assert (q >= robot.joint_limits[0]).all() and (q <= robot.joint_limits[1]).all()
    found = robot.fk(q)
    np.testing.assert_allclose(found[:, :3, 3], targets[:, :3, 3], rtol=0, atol=1.1e-6)
    np.testing.assert_allclose(found[:, :3, :3], targets[:, :3, :3], rtol=0, atol=1.1e-6)
    assert (errors <= 1e-6).all()


@needs_native
@pytest.mark.parametrize("name", ["sixr_arm", "panda"])
def test_the_answer_is_the_same_alone_in_a_batch_and_on_threads(name):
    robot = arm(name)
    targets, starts = tasks(robot, 600, 4)
    s = solver(robot)
    for limit in (15, 100, 20000):
        q, errors, counts = batch(s, robot, targets, starts, limit=limit)
        again = batch(s, robot, targets, starts, limit=limit, threads=3)
        for a, b in zip((q, errors, counts), again, strict=True):
            np.testing.assert_array_equal(a, b)
        part = batch(s, robot, targets[100:], starts[100:], first=100, limit=limit)
        np.testing.assert_array_equal(part[0], q[100:])
        for i in range(40):
            one = robot.neutral().copy()
            got = s.solve(targets[i], starts[i], one, 1e-6, 1e-6, 10**6, limit, 1, i, _core.lanes())
            np.testing.assert_array_equal(one, q[i])
            assert got == (
                bool(counts[i, 0]),
                *errors[i],
                counts[i, 1],
                counts[i, 2],
                bool(counts[i, 3]),
                bool(counts[i, 4]),
            )
            assert got[3] <= limit


@needs_native
def test_lane_widths_find_the_same_solutions(lanes):
    robot = arm("sevenr_arm")
    targets, starts = tasks(robot, 200, 8)
    answers = []
    for width in widths():
        lanes(width)
        answers.append(batch(solver(robot), robot, targets, starts))
    for other in answers[1:]:
        same = np.abs(other[0] - answers[0][0]).max(axis=1) < 1e-6
        assert same.mean() > 0.97  # rounding may turn a knife-edge test of stagnation


@needs_native
def test_frozen_joints_rows_and_starts_are_kept():
    robot = arm("sevenr_arm")
    targets, starts = tasks(robot, 50, 2)
    frozen = np.zeros(7, dtype=np.int32)
    frozen[[1, 4]] = 1
    position_only = np.array([4.0, 4.0, 4.0, 0.0, 0.0, 0.0])
    q, _, counts = batch(solver(robot, frozen=frozen, row_weight=position_only), robot, targets, starts)
    np.testing.assert_array_equal(q[:, [1, 4]], starts[:, [1, 4]])
    solved = counts[:, 0] == 1
    assert solved.sum() >= 5  # with two joints still, some positions are out of reach
    reached = robot.fk(q)[:, :3, 3]
    np.testing.assert_allclose(reached[solved], targets[solved, :3, 3], rtol=0, atol=1.1e-6)
    exact = robot.fk(starts)
    q, _, counts = batch(solver(robot), robot, exact, starts)
    np.testing.assert_array_equal(q, starts)  # already there: nothing moves
    assert (counts[:, 1] == 0).all()


@needs_native
def test_half_a_turn_away_is_no_solution():
    """The orientation error of a half turn has a vanishing vector part in one formula; it must not pass as met."""
    robot = PinRobot.from_urdf(ROOT / "urdf_samples" / "pan_tilt_continuous.urdf")
    q = np.zeros(robot.nq)
    T = robot.fk(q).homogeneous
    for axis in np.eye(3):
        goal = T.copy()
        goal[:3, :3] = T[:3, :3] @ pin.exp3(np.pi * axis)
        out = q.copy()
        got = solver(robot).solve(goal, q, out, 1e-3, 1e-3, 1, 1, 0, 0, 0)
        assert not got[0]
        assert got[2] == pytest.approx(np.pi, abs=1e-6)


@needs_native
def test_bad_arrays_are_refused_before_anything_is_written():
    robot = arm("sevenr_arm")
    chain = tip_chain(robot, robot.tcp)
    out = np.full((4, 4), 7.0)
    good = np.zeros(7)
    for bad, error in [
        (np.zeros(6), ValueError),
        (np.zeros(7, dtype=np.float32), TypeError),
        (np.zeros(14)[::2], TypeError),
        ([0.0] * 7, TypeError),
        (None, TypeError),
    ]:
        with pytest.raises(error):
            chain.fk(bad, out)
    read_only = out.copy()
    read_only.setflags(write=False)
    for bad_out, error in [
        (np.empty(15), ValueError),
        (read_only, TypeError),
        (np.empty((4, 4), dtype=int), TypeError),
    ]:
        with pytest.raises(error):
            chain.fk(good, bad_out)
    with pytest.raises(ValueError):
        chain.fk_batch(np.zeros((3, 7)), np.empty((2, 4, 4)))
    with pytest.raises(ValueError):
        chain.fk_batch(np.zeros(8), np.empty((1, 4, 4)))
    assert (out == 7.0).all()
    with pytest.raises(ValueError):
        _core.use_lanes(3)


@needs_native
def test_floating_bases_and_moved_robots():
    quadruped = PinRobot.from_urdf(ROOT / "urdf_samples" / "quadruped.urdf")
    assert quadruped.native_chain(quadruped.frames[-1]) is None  # a free-flyer is not a chain of angles
    robot = arm("sevenr_arm")
    before = tip_chain(robot, robot.tcp)
    robot.set_base_placement(pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3])), np.array([1.0, 2.0, 3.0])).homogeneous)
    after = tip_chain(robot, robot.tcp)
    assert after is not before
    q = robot.random_configuration(1)
    pose = np.empty((4, 4))
    after.fk(q, pose)
    np.testing.assert_allclose(pose, robot.fk(q).homogeneous, rtol=0, atol=1e-13)


def test_switching_the_kernel_off_changes_no_number():
    script = (
        "import numpy as np, knuckle\n"
        "from knuckle.robot import native\n"
        f"r = knuckle.PinRobot.from_urdf(r'{ROOT / 'urdf_samples' / 'sevenr_arm.urdf'}')\n"
        "q = np.linspace(-0.5, 0.6, 7)\n"
        "J = r.jacobian(q, reference=knuckle.ReferenceFrame.LOCAL)\n"
        "print(int(native.AVAILABLE), repr(native.REASON))\n"
        "print(r.fk(q).homogeneous.tolist())\n"
        "print(J.tolist())\n"
    )
    import os

    env = {**os.environ, "KNUCKLE_NO_NATIVE": "1"}
    lines = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout
    flag, pose, jacobian = lines.splitlines()
    assert flag.startswith("0") and "KNUCKLE_NO_NATIVE" in flag
    robot = arm("sevenr_arm")
    q = np.linspace(-0.5, 0.6, 7)
    np.testing.assert_allclose(robot.fk(q).homogeneous, eval(pose), rtol=0, atol=1e-13)
    np.testing.assert_allclose(robot.jacobian(q, reference=ReferenceFrame.LOCAL), eval(jacobian), rtol=0, atol=1e-13)
