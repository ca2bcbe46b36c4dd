"""Goals beyond one pose of the tool: directions, several tips, objectives, the nearest solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import (
    CartesianBox,
    CartesianSphere,
    IKStatus,
    InputError,
    InputTypeError,
    Obstacle,
    RotationAbsolute,
    Task,
    ToleratedPose,
    Transformation,
    UnknownNameError,
    ik,
)
from knuckle.ik.goals import as_goals, frame_of

from .ik_cases import arm, clear_configuration, inside
from .samples import load

TIGHT = CartesianSphere(1e-8) + RotationAbsolute(1e-8)


def angle(a: Any, b: Any) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["direction", "at", "pose", "position"])
def test_the_jacobian_of_a_goal_is_its_derivative(kind: str, seed: int) -> None:
    robot = load("sevenr_arm")
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng)
    T = robot.fk(q)
    axis = np.array([0.36, 0.48, 0.8])
    goal: Any = {
        "direction": ik.Pointing(axis, T.rotation @ axis),
        "at": ik.Pointing(axis, at=T.translation + 0.7 * (T.rotation @ axis)),
        "pose": ik.PoseGoal(T),
        "position": ik.PoseGoal(T, tolerance=CartesianSphere(1e-5)),
    }[kind]
    _, J = goal.error(robot, q, robot.tcp)
    h = 1e-6
    for v in range(robot.nv):
        step = np.zeros(robot.nv)
        step[v] = h
        e_plus, e_minus = (goal.error(robot, q + s, robot.tcp)[0] for s in (step, -step))
        slope = (e_plus - e_minus) / (2 * h)
        if kind in ("direction", "at"):  # the two components are taken across an axis that moves along
            assert np.linalg.norm(slope) == pytest.approx(np.linalg.norm(J[:, v]), abs=1e-5)
        else:
            np.testing.assert_allclose(-slope, J[:, v], atol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_a_tool_points_along_a_direction_or_at_a_point(seed: int) -> None:
    robot = load("sevenr_arm")
    rng = np.random.default_rng(seed)
    down = [0.0, 0.0, -1.0]
    result = robot.ik(ik.Pointing("z", down), q_init=robot.random_configuration(rng), rng=seed)
    assert result and angle(robot.fk(result.q).rotation[:, 2], down) <= 1e-4 and inside(robot, result.q)
    assert result.rotation_error <= 1e-4 and result.position_error == 0.0
    point = np.array([0.3, 0.2, 0.1])
    aimed = robot.ik(ik.Pointing("-y", at=point), rng=seed)
    T = robot.fk(aimed.q)
    assert aimed and angle(-T.rotation[:, 1], point - T.translation) <= 1e-4
    near = CartesianSphere(1e-5)
    there = ik.PoseGoal(Transformation.from_translation([0.3, 0.1, 0.5]), tolerance=near)
    both = robot.ik([there, ik.Pointing("z", down)], rng=seed)
    T = robot.fk(both.q)
    assert both and np.linalg.norm(T.translation - [0.3, 0.1, 0.5]) <= 1e-5 and angle(T.rotation[:, 2], down) <= 1e-4


def test_pointing_the_opposite_way_is_found_from_an_exact_reversal() -> None:
    robot = load("sevenr_arm")
    axis = robot.fk(robot.q).rotation[:, 2]
    assert robot.ik(ik.Pointing("z", -axis), rng=0)


@pytest.mark.parametrize("seed", range(6))
def test_two_arms_reach_two_poses_at_once(seed: int) -> None:
    robot = load("dual_arm")
    rng = np.random.default_rng(seed)
    q = clear_configuration(robot, rng)
    targets = {name: robot.fk(q, frame=name) for name in ("left_tool", "right_tool")}
    result = robot.ik(targets, q_init=robot.random_configuration(rng), rng=seed, max_iter=4000)
    assert result, result.message
    for name, target in targets.items():
        gap = robot.fk(result.q, frame=name).distance(target)
        assert gap.translation <= 1e-5 and gap.rotation <= 1e-4
    assert inside(robot, result.q) and not robot.has_self_collision(result.q)
    again = robot.ik(targets, q_init=robot.home_configuration, rng=seed, max_iter=4000)
    np.testing.assert_array_equal(
        again.q, robot.ik(targets, q_init=robot.home_configuration, rng=seed, max_iter=4000).q
    )


def test_one_arm_of_two_leaves_the_other_still() -> None:
    robot = load("dual_arm")
    start = robot.home_configuration
    target = robot.fk(robot.random_configuration(3), frame="left_tool")
    result = robot.ik({"left_tool": target}, q_init=start, rng=0, ignore_self_collisions=True)
    assert result
    right = [i for i, name in enumerate(robot.coordinate_names) if "right" in name]
    np.testing.assert_array_equal(result.q[right], start[right])


def test_a_floating_quadruped_puts_four_feet_down() -> None:
    robot = load("quadruped")
    start = robot.home_configuration
    move, legs = np.array([0.02, 0.01, 0.01]), ("fl", "fr", "hl", "hr")
    feet = {f"{leg}_foot": robot.fk(start, frame=f"{leg}_foot").translation + move for leg in legs}
    near = CartesianSphere(1e-5)
    targets = {name: ToleratedPose(Transformation.from_translation(p), near) for name, p in feet.items()}
    result = robot.ik(targets, q_init=start, rng=0)
    assert result, result.message
    for name, point in feet.items():
        assert np.linalg.norm(robot.fk(result.q, frame=name).translation - point) <= 1e-5
    assert np.linalg.norm(result.q[3:7]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_an_objective_is_made_small_and_the_pose_is_kept(seed: int) -> None:
    robot = load("sevenr_arm")
    rng = np.random.default_rng(seed)
    target = robot.fk(clear_configuration(robot, rng))
    start = robot.random_configuration(rng)
    plain = robot.ik(target, q_init=start, rng=seed, tolerance=TIGHT)
    for objective in (ik.Posture(start), ik.AwayFromLimits(), ik.Manipulability(), lambda r, q: float(q[0] ** 2)):
        result = robot.ik(target, q_init=start, rng=seed, tolerance=TIGHT, objective=objective, max_iter=3000)
        assert result and inside(robot, result.q)
        gap = robot.fk(result.q).distance(target)
        assert gap.translation <= 1e-8 and gap.rotation <= 1e-8
        value = objective.value if hasattr(objective, "value") else objective
        assert value(robot, result.q) <= value(robot, plain.q) + 1e-9
        # nothing along the self-motion makes it smaller: the gradient is orthogonal to the null space, or a limit holds
        from knuckle.ik.objectives import as_objective

        J = robot.jacobian(result.q, reference="LOCAL_WORLD_ALIGNED")
        gradient = as_objective(objective).gradient(robot, result.q)
        null = np.linalg.svd(J)[2][6:]
        lower, upper = robot.joint_limits
        at_limit = bool(((result.q <= lower + 1e-9) | (result.q >= upper - 1e-9)).any())
        assert at_limit or np.abs(null @ gradient).max() < 2e-2 * max(1.0, float(np.linalg.norm(gradient)))


@pytest.mark.parametrize("objective", [ik.Posture(np.zeros(7), 2.0), ik.AwayFromLimits(), ik.Manipulability("link5")])
def test_the_gradient_of_an_objective_is_its_derivative(objective: Any) -> None:
    from knuckle.ik.objectives import differences

    robot = load("sevenr_arm")
    for seed in range(4):
        q = robot.random_configuration(seed)
        np.testing.assert_allclose(
            objective.gradient(robot, q), differences(robot, objective.value, q), rtol=1e-5, atol=1e-6
        )


def test_a_region_is_entered_and_no_further() -> None:
    robot = load("sevenr_arm")
    q = robot.q
    box = CartesianBox([-0.05, -0.05, -0.05], [0.05, 0.05, 0.05]) + RotationAbsolute(0.3)
    goal = ToleratedPose(Transformation.from_translation([0.04, 0.0, 0.0]) @ robot.fk(q), box)
    result = robot.ik([ik.PoseGoal(goal)], q_init=q, rng=0)
    assert result and result.iterations == 0
    np.testing.assert_array_equal(result.q, q)


@pytest.mark.parametrize("name", ["sixr_arm", "sevenr_arm", "scara"])
def test_the_nearest_solution_is_nearer_than_any_other_branch(name: str) -> None:
    robot = arm(name)
    rng = np.random.default_rng(4)
    improved = 0
    for seed in range(12):
        q = clear_configuration(robot, rng)
        target, start = robot.fk(q), robot.random_configuration(rng)
        plain = robot.ik(target, q_init=start, rng=seed)
        result = robot.ik(target, q_init=start, rng=seed, nearest=True)
        assert result and inside(robot, result.q) and robot.fk(result.q).distance(target).translation <= 1e-5
        distance = np.linalg.norm(result.q - start)
        assert distance <= np.linalg.norm(plain.q - start) + 1e-6
        improved += distance < np.linalg.norm(plain.q - start) - 1e-3
        every = ik.solve_all(robot, target, q_init=start, windings=True, collision_free=True)
        assert distance <= np.linalg.norm(every - start, axis=1).min() + 1e-4
    assert improved > 0
    close = robot.ik(robot.fk(q), q_init=q + 1e-3, rng=0, nearest=True, ignore_self_collisions=True)
    if name != "sevenr_arm":
        np.testing.assert_allclose(close.q, q, atol=1e-3)
    else:
        assert np.linalg.norm(close.q - (q + 1e-3)) <= np.linalg.norm(q - (q + 1e-3)) + 1e-6


def test_weights_choose_what_may_move_far() -> None:
    robot = arm("sixr_arm")
    target = robot.fk(clear_configuration(robot, np.random.default_rng(0)))
    start = robot.home_configuration
    weights = np.array([1e4, 1, 1, 1, 1, 1.0])
    heavy = robot.ik(target, q_init=start, rng=0, nearest=weights)
    every = ik.solve_all(robot, target, q_init=start, windings=True, collision_free=True)
    cost = (weights * (every - start) ** 2).sum(axis=1)
    assert (weights * (heavy.q - start) ** 2).sum() <= cost.min() * (1 + 1e-4)


def test_goals_respect_obstacles_constraints_and_masks() -> None:
    robot = load("sevenr_arm")
    goal = ik.Pointing("z", [0, 0, -1])
    free = robot.ik(goal, rng=1)
    elbow = robot.fk(free.q, kind="joints")["joint4"].translation
    task = Task([Obstacle.sphere(0.1, Transformation.from_translation(elbow))])
    result = robot.ik(goal, rng=1, task=task)
    assert result and not robot.has_collisions(task, q=result.q)
    mask = [False, True, True, True, True, True, False]
    masked = robot.ik(goal, rng=1, joint_mask=mask)
    assert masked and (masked.q[[0, 6]] == robot.q[[0, 6]]).all()
    refused = robot.ik(goal, rng=1, outer_constraints=lambda r, q: False, max_iter=200)
    assert refused.status is IKStatus.REJECTED and refused.iterations <= 200


def test_the_only_goal_of_a_task_needs_no_target() -> None:
    robot = load("sevenr_arm")
    target = robot.fk(clear_configuration(robot, np.random.default_rng(1)))
    assert robot.ik(task=Task(goals={"there": target}), rng=0).position_error <= 1e-5
    with pytest.raises(InputError, match="it has 2"):
        robot.ik(task=Task(goals={"a": target, "b": target}))
    with pytest.raises(InputError, match="target is required"):
        robot.ik(task=Task())


def test_impossible_goals_end_with_a_reason_and_the_closest_configuration() -> None:
    robot = load("dual_arm")
    far = {"left_tool": Transformation.from_translation([5, 0, 0]), "right_tool": robot.fk(robot.q, frame="right_tool")}
    result = robot.ik(far, rng=0, max_iter=300)
    assert not result and result.iterations <= 300 and "away" in result.message
    assert 3.0 < result.position_error < 5.0 and inside(robot, result.q)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda r: r.ik({"nowhere": r.fk(r.q)}), UnknownNameError, "nowhere"),
        (lambda r: r.ik({}), InputError, "no goal"),
        (lambda r: r.ik(ik.Pointing("z", [0, 0, 0])), InputError, "direction"),
        (lambda r: r.ik(ik.Pointing("w", [0, 0, 1])), UnknownNameError, "axis"),
        (lambda r: ik.Pointing("z"), InputError, "either"),
        (lambda r: ik.Pointing("z", [0, 0, 1], at=[0, 0, 1]), InputError, "either"),
        (lambda r: ik.Pointing("z", [0, 0, 1], angle=0.0), InputError, "angle"),
        (lambda r: ik.Pointing("z", [0, 0, 1], frame=3), InputTypeError, "frame"),
        (lambda r: r.ik(r.fk(r.q), objective="posture"), InputTypeError, "objective"),
        (lambda r: r.ik(r.fk(r.q), objective=ik.Posture(np.zeros(3))), InputError, "q must have shape"),
        (lambda r: r.ik(r.fk(r.q), nearest=-np.ones(7)), InputError, "nearest"),
        (lambda r: r.ik(r.fk(r.q), nearest=np.ones(3)), InputError, "nearest"),
        (lambda r: r.ik(ik.Pointing("z", [0, 0, 1]), nearest=True), InputError, "nearest"),
        (lambda r: r.ik(ik.Pointing("z", [0, 0, 1]), inner_callbacks=[lambda x: None]), InputError, "inner_callbacks"),
        (lambda r: r.ik(r.fk(r.q), task=[1, 2]), InputTypeError, "task must be a Task"),
        (lambda r: r.ik(r.fk(r.q), task="scene.json"), InputTypeError, "task must be a Task"),
        (lambda r: r.ik(r.fk(r.q), task=5), InputTypeError, "task must be a Task"),
    ],
)
def test_bad_goals_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(load("sevenr_arm"))


def test_plain_poses_are_no_goals() -> None:
    robot = load("sevenr_arm")
    assert as_goals(robot.fk(robot.q)) is None and as_goals(np.eye(4).tolist()) is None
    assert frame_of(robot, ik.PoseGoal(np.eye(4))) == robot.tcp
