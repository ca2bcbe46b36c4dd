"""What a hostile user tried on inverse kinematics beyond one pose: each of these once went wrong."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    IKStatus,
    InputError,
    KnuckleError,
    PinBody,
    PinRobot,
    RotationAbsolute,
    Transformation,
    ik,
)

from .ik_cases import arm, clear_configuration
from .samples import load, path_of

TIGHT = CartesianSphere(1e-8) + RotationAbsolute(1e-8)


def nothing_will_do(robot: Any, q: Any) -> bool:
    return False


def elbow_up(robot: Any, q: Any) -> bool:
    return bool(q[2] > 0.0)


@pytest.mark.parametrize("name, joint", [("sixr_arm", 2), ("scara", 1)])
def test_a_path_that_turns_back_beside_a_singularity_stays_on_its_branch(name: str, joint: int) -> None:
    robot = arm(name)
    rng = np.random.default_rng(0)
    for _ in range(60):
        there = 0.6 * robot.random_configuration(rng)
        back = there.copy()
        back[joint] = 0.05 * np.sign(there[joint]) * (1.0 + rng.random())
        u = np.linspace(0.0, 1.0, 6)[:, None]
        joints = np.vstack([there + (back - there) * u, back + (there - back) * u[1:]])
        followed = ik.track(robot, robot.fk(joints), there, tolerance=TIGHT)
        assert followed, followed.message
        np.testing.assert_allclose(followed.q, joints, atol=5e-3)


@pytest.mark.parametrize("options", [{}, {"nearest": True}, {"objective": ik.AwayFromLimits()}])
def test_constraints_given_as_an_iterator_count(options: dict[str, Any]) -> None:
    robot = load("sevenr_arm")
    target = robot.fk(robot.random_configuration(1))
    result = robot.ik(target, rng=1, outer_constraints=iter([nothing_will_do]), max_iter=300, **options)
    assert result.status is IKStatus.REJECTED
    batch = ik.solve_batch(robot, [target], rng=1, outer_constraints=iter([nothing_will_do]), max_iter=300)
    assert batch.status.tolist() == ["rejected"]


@pytest.mark.parametrize(
    "goal",
    [
        ik.Pointing("z", [0, 0, 1], angle=4.0),
        {"link1": Transformation.from_translation([0, 0, 0.3])},
        {"tool": Transformation.from_translation([1e200, 0, 0])},
    ],
    ids=["all directions", "a link that cannot move", "the end of the world"],
)
def test_searches_that_take_no_step_end(goal: Any) -> None:
    robot = load("sevenr_arm")
    result = robot.ik(goal, rng=1, tolerance=CartesianSphere(10.0), outer_constraints=nothing_will_do, max_iter=50)
    assert not result and result.iterations <= 50


def test_goals_of_which_one_is_out_of_reach_are_unreachable() -> None:
    robot = load("dual_arm")
    far = {"left_tool": Transformation.from_translation([9, 0, 0]), "right_tool": robot.fk(robot.q, frame="right_tool")}
    result = robot.ik(far, rng=0, max_iter=2000)
    assert result.status is IKStatus.UNREACHABLE and "out of reach" in result.message and result.iterations < 1000


@pytest.mark.parametrize("direction", [[0, 0, 1e160], [0, 1e300, 1], [1e-9, 0, 0]])
def test_directions_of_any_length_are_directions(direction: Any) -> None:
    goal = ik.Pointing("z", direction)
    assert np.linalg.norm(goal.direction) == pytest.approx(1.0)
    assert goal == goal and isinstance(hash(goal), int) and not goal.axis.flags.writeable


def test_all_branches_where_the_tolerance_is_what_makes_the_pose_possible() -> None:
    two, six = load("planar_2r"), load("sixr_arm")
    reach = float(np.linalg.norm(two.fk([0.0, 0.0]).translation - two.fk([0.0, 0.0], frame="link1").translation))
    pose = two.fk([0.3, 0.0])
    beyond = Transformation.from_translation(0.03 * pose.translation / max(reach, 0.1)) @ pose
    assert len(ik.solve_all(two, beyond, tolerance=CartesianSphere(0.2)))
    free = ik.solve_all(six, six.fk(six.q + 0.3), tolerance=RotationAbsolute(0.01), limit=20)
    assert len(free) > 4
    for q in free:
        assert six.fk(q).distance(six.fk(six.q + 0.3)).rotation <= 0.01


def test_self_motion_is_sampled_wherever_there_is_some() -> None:
    three, six = load("planar_3r"), load("sixr_arm")
    position = ik.solve_all(three, three.fk([0.3, 0.8, -0.6]), tolerance=CartesianSphere(1e-5))
    singular = ik.solve_all(six, six.fk([0.2, 0.5, 0.7, 0.0, 0.0, 0.0]), limit=500)
    for solutions in (position, singular):
        assert 1 < len(solutions) < 200
        for i, q in enumerate(solutions):
            gap = np.abs(solutions[:i] - q)
            gap = np.abs(gap - 2 * np.pi * np.round(gap / (2 * np.pi)))
            assert i == 0 or gap.max(axis=1).min() > 0.4


def test_windings_of_very_wide_limits_are_the_nearest_ones() -> None:
    robot = load("sixr_arm").with_limits(position=np.array([[-12 * np.pi] * 6, [12 * np.pi] * 6]))
    target = robot.fk([0.2, 0.5, 0.7, 0.3, 0.4, 0.1])
    found = ik.solve_all(robot, target, np.zeros(6), windings=True, limit=50)
    assert len(found) == 50 and np.abs(found[0]).max() <= np.pi + 1e-9
    assert (np.diff(np.abs(found).max(axis=1)) >= -1e-9).all()


@pytest.mark.parametrize("method", ["jacobian", "jacobian_cpp"])
def test_a_budget_of_one_iteration_is_one(method: str) -> None:
    robot = load("sevenr_arm")
    if method not in ik.METHODS or (ik.METHODS[method].applies and not ik.METHODS[method].applies(robot)):  # type: ignore[misc]
        pytest.skip("needs the native kernel")
    rng = np.random.default_rng(0)
    pairs = [(robot.fk(robot.random_configuration(rng)), robot.random_configuration(rng)) for _ in range(50)]
    solved = sum(bool(robot.ik(T, q_init=q, rng=0, max_iter=1, ik_method=method)) for T, q in pairs)
    assert solved <= 2


@pytest.mark.parametrize("method", ["jacobian", None])
@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "sixr_arm", "sevenr_arm"])
def test_what_is_out_of_reach_ends_at_the_closest_position(name: str, method: str | None) -> None:
    robot = load(name)
    rng = np.random.default_rng(0)
    for _ in range(6):
        way = rng.normal(size=3) * [1, 0 if name.startswith("planar") else 1, 1]
        target = Transformation.from_translation(3.0 * way / np.linalg.norm(way))
        result = robot.ik(target, rng=1, ik_method=method)
        assert result.status is IKStatus.UNREACHABLE
        reached = robot.fk(np.array([robot.random_configuration(rng) for _ in range(4000)]))[:, :3, 3]
        assert result.position_error <= np.linalg.norm(reached - target.translation, axis=1).min() + 0.005


class Floor:
    def __init__(self, height: float) -> None:
        self.height = height

    def __repr__(self) -> str:
        return "<a floor>"

    def is_satisfied(self, robot: Any, q: Any) -> bool:
        return bool(robot.fk(q).translation[2] > self.height)


def test_a_file_of_other_work_is_refused_whatever_makes_it_other(tmp_path: Path) -> None:
    robot = PinRobot.from_urdf(path_of("sixr_arm"))
    rng = np.random.default_rng(0)
    targets = robot.fk(np.array([clear_configuration(robot, rng) for _ in range(20)]))
    file = tmp_path / "work.npz"
    ik.solve_batch(robot, targets, rng=1, resume=file, outer_constraints=Floor(0.1))
    ik.solve_batch(robot, targets, rng=1, resume=file, outer_constraints=Floor(0.1))
    carrying = robot.with_attached(PinBody.solid("can", coal.Cylinder(0.05, 1.2), 0.4))
    for other, constraint in ((robot, Floor(0.2)), (carrying, Floor(0.1)), (robot, elbow_up)):
        with pytest.raises(InputError, match="other work"):
            ik.solve_batch(other, targets, rng=1, resume=file, outer_constraints=constraint)
    ik.solve_batch(robot, targets, rng=1, resume=tmp_path / "b.npz", outer_constraints=elbow_up)
    ik.solve_batch(robot, targets, rng=1, resume=tmp_path / "b.npz", outer_constraints=elbow_up)
    with pytest.raises(InputError, match="other work"):
        ik.solve_batch(
            robot, targets, rng=1, resume=tmp_path / "b.npz", outer_constraints=elbow_up, ik_method="jacobian"
        )


def test_a_start_outside_the_limits_changes_its_own_answer_alone() -> None:
    robot = load("sixr_arm")
    rng = np.random.default_rng(1)
    targets = robot.fk(np.array([clear_configuration(robot, rng) for _ in range(120)]))
    starts = np.array([robot.random_configuration(rng) for _ in range(120)])
    plain = ik.solve_batch(robot, targets, starts, rng=3)
    starts[7, 1] = 50.0
    whole = ik.solve_batch(robot, targets, starts, rng=3)
    parts = ik.solve_batch(robot, targets, starts, rng=3, chunk=50, resume=None, threads=2)
    np.testing.assert_array_equal(whole.q, parts.q)
    others = np.arange(120) != 7
    np.testing.assert_array_equal(whole.q[others], plain.q[others])


def test_damaged_and_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    robot = load("sixr_arm")
    targets = [robot.fk(robot.q)]
    good = tmp_path / "good.npz"
    ik.solve_batch(robot, targets, rng=2**64 + 5, resume=good)
    assert ik.solve_batch(robot, targets, rng=2**64 + 5, resume=good) and ik.BatchResult.load(good).seed == 2**64 + 5
    np.save(tmp_path / "array.npy", np.zeros(3))
    shutil.copy(tmp_path / "array.npy", tmp_path / "array.npz")
    bad: list[Any] = [tmp_path / "array.npz", 123, b"x", "a\0b", "", "n" * 300, tmp_path / "no" / "where.npz"]
    raw = bytearray(good.read_bytes())
    rng = np.random.default_rng(0)
    for k in range(40):
        flipped = bytearray(raw)
        flipped[int(rng.integers(len(raw)))] ^= 1 << int(rng.integers(8))
        (tmp_path / f"{k}.npz").write_bytes(bytes(flipped))
        try:
            ik.BatchResult.load(tmp_path / f"{k}.npz")
        except KnuckleError:
            pass
    for path in bad:
        with pytest.raises(KnuckleError):
            ik.solve_batch(robot, targets, rng=1, resume=path)
        with pytest.raises(KnuckleError):
            ik.BatchResult.load(path)
    assert not list(tmp_path.glob("*.part"))


def test_small_mistakes_with_batches_and_goals_are_named() -> None:
    robot = load("sevenr_arm")
    target = robot.fk(robot.q)
    cases: list[tuple[Any, str]] = [
        (lambda: robot.ik(target, objective=ik.Manipulability), r"Manipulability\(\)"),
        (lambda: robot.ik(target, objective=lambda q: 0.0), "objective"),
        (lambda: robot.ik(Transformation.from_translation([9, 9, 9]), objective=ik.Posture([0.0, 1.0])), "shape"),
        (lambda: robot.ik(ik.Pointing("z", [0, 0, 1]), tolerance="rubbish"), "tolerance"),
        (lambda: robot.ik(ik.Pointing("z", [0, 0, 1]), ik_method="nonsense"), "ik_method"),
        (lambda: robot.ik(ik.Pointing("z", [0, 0, 1]), foo=3), "foo"),
        (lambda: robot.ik(target, outer_constraints=lambda r, q: q), "True or False"),
        (lambda: ik.solve_batch(robot, [target], [[0.0] * 7, [1.0]]), "one length"),
        (lambda: ik.solve_batch(robot, [target], target=3), "target"),
        (lambda: ik.solve_batch(robot, [{"tool": target}]), "one pose of the tcp"),
        (lambda: ik.solve_all(robot, target, limit=1.7), "limit"),
    ]
    for call, words in cases:
        with pytest.raises(KnuckleError, match=words):
            call()
    assert robot.ik(ik.PoseGoal(target, robot.tcp), nearest=True, rng=0)
