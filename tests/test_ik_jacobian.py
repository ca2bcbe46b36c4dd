"""Method "jacobian": its three inverses, gains, masks, frames and stopping rules, one run at a time."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import ReferenceFrame, ToleratedPose, Transformation
from knuckle.ik import IKMeta, IKStatus
from knuckle.ik import jacobian_method as jm
from knuckle.ik import jacobian_step as js
from knuckle.ik.pose_task import error_and_jacobian
from knuckle.robot import spatial
from knuckle.robot.errors import InputError

from .ik_cases import TIGHT, arm, inside, reached

RUN = IKMeta(max_iter=300, allow_random_restart=False)


def near_problem(name: str = "sevenr_arm", seed: int = 0, spread: float = 0.15):
    robot = arm(name)
    rng = np.random.default_rng(seed)
    middle = robot.clip_to_limits(0.6 * robot.random_configuration(rng))
    start = robot.clip_to_limits(middle + rng.uniform(-spread, spread, robot.nv))
    return robot, middle, start


def first_step(robot, q, goal, **options):
    """The step from q, seen by a callback at the second configuration."""
    seen = []
    jm.jacobian_method(
        robot, ToleratedPose(goal, TIGHT), q, IKMeta(max_iter=1), callbacks=[lambda s: seen.append(s.q)], **options
    )
    return seen[1] - q


@pytest.mark.parametrize("world", [False, True], ids=["tcp", "world"])
@pytest.mark.parametrize("name", ["sixr_arm", "sevenr_arm", "scara"])
def test_damped_step_is_the_law(name: str, world: bool) -> None:
    robot, middle, start = near_problem(name)
    goal = robot.fk(middle)
    e, J = error_and_jacobian(robot, start, robot.tcp, goal.homogeneous, world)
    frame = "world" if world else "tcp"
    for damp in (0.5, 1e-3):
        step = first_step(robot, start, goal, damp=damp, tcp_or_world_frame=frame)
        np.testing.assert_allclose(step, J.T @ np.linalg.solve(J @ J.T + damp * np.eye(6), e), rtol=0, atol=1e-9)
    step = first_step(robot, start, goal, tcp_or_world_frame=frame)
    mu = js.DAMPING * (e @ e)
    np.testing.assert_allclose(step, J.T @ np.linalg.solve(J @ J.T + mu * np.eye(6), e), rtol=0, atol=1e-7)


def test_pseudo_inverse_step_is_the_law() -> None:
    robot, middle, start = near_problem()
    goal = robot.fk(middle)
    e, J = error_and_jacobian(robot, start, robot.tcp, goal.homogeneous, False)
    step = first_step(robot, start, goal, kind="pseudo_inverse")
    np.testing.assert_allclose(step, np.linalg.pinv(J) @ e, rtol=0, atol=1e-9)


def test_transpose_step_minimises_the_linear_error_along_it() -> None:
    robot, middle, start = near_problem()
    goal = robot.fk(middle)
    e, J = error_and_jacobian(robot, start, robot.tcp, goal.homogeneous, False)
    step = first_step(robot, start, goal, kind="transpose")
    assert np.linalg.matrix_rank(np.array([step, J.T @ e]), tol=1e-9) == 1
    left = [np.linalg.norm(e - factor * (J @ step)) for factor in (0.99, 1.0, 1.01)]
    assert left[1] < min(left[0], left[2])


def test_damping_shortens_the_step() -> None:
    robot, middle, start = near_problem()
    lengths = [np.linalg.norm(first_step(robot, start, robot.fk(middle), damp=d)) for d in (1e-6, 1e-2, 1.0, 100.0)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < 0.1 * lengths[0]


@pytest.mark.parametrize("kind, most", [("transpose", 300), ("pseudo_inverse", 8), ("damped_ls_inverse", 8)])
@pytest.mark.parametrize("frame", ["tcp", "world"])
def test_every_kind_reaches_a_target_nearby(kind: str, most: int, frame: str) -> None:
    for seed in range(5):
        robot, middle, start = near_problem(seed=seed)
        goal = robot.fk(middle)
        tolerance = ToleratedPose(goal) if kind == "transpose" else ToleratedPose(goal, TIGHT)
        found = jm.jacobian_method(
            robot, tolerance, start, RUN, kind=kind, tcp_or_world_frame=frame, convergence_threshold=0.0
        )
        if kind != "transpose":
            assert found.status is IKStatus.CONVERGED
            assert found.iterations <= most
        else:
            begin = jm.default_ik_cost_function(robot, start, goal)
            assert found.cost < 0.05 * begin


def test_convergence_is_quadratic_in_both_frames() -> None:
    robot, middle, start = near_problem(spread=0.05)
    for frame in ("tcp", "world"):
        costs = []
        jm.jacobian_method(
            robot,
            ToleratedPose(robot.fk(middle), TIGHT),
            start,
            RUN,
            kind="pseudo_inverse",
            tcp_or_world_frame=frame,
            callbacks=[lambda seen, costs=costs: costs.append(seen.cost)],
        )
        assert costs[1] < 5.0 * costs[0] ** 2 + 1e-12
        assert costs[2] < 5.0 * costs[1] ** 2 + 1e-12


def test_gain_as_number_vector_and_matrix() -> None:
    robot, middle, start = near_problem()
    goal = robot.fk(middle)
    whole = first_step(robot, start, goal)
    np.testing.assert_allclose(first_step(robot, start, goal, gain=0.5), 0.5 * whole, atol=1e-12)
    factors = np.linspace(0.1, 0.7, 7)
    np.testing.assert_allclose(first_step(robot, start, goal, gain=factors), factors * whole, atol=1e-12)
    np.testing.assert_allclose(first_step(robot, start, goal, gain=np.diag(factors)), factors * whole, atol=1e-12)
    coupling = np.random.default_rng(0).normal(size=(7, 7)) * 0.2
    np.testing.assert_allclose(first_step(robot, start, goal, gain=coupling), coupling @ whole, atol=1e-12)


def test_position_only_leaves_the_rotation_where_it_falls() -> None:
    robot, _, start = near_problem()
    goal = Transformation.from_rpy([2.0, 0.3, 1.0], translation=np.add(robot.fk(start).translation, [0.05, -0.1, 0.02]))
    found = jm.jacobian_method(
        robot,
        ToleratedPose(goal),
        start,
        RUN,
        error_term_mask=[True] * 3 + [False] * 3,
        tcp_or_world_frame="world",
    )
    assert found.status is IKStatus.CONVERGED
    distance = robot.fk(found.q).distance(goal)
    assert distance.translation < 1e-5
    assert distance.rotation > 0.5


def test_a_mask_in_the_tool_frame_leaves_the_spin_about_its_z_free() -> None:
    robot, middle, start = near_problem("sixr_arm")
    goal = robot.fk(middle) @ Transformation.from_rpy([0, 0, 1.0])
    found = jm.jacobian_method(
        robot, ToleratedPose(goal), start, RUN, error_term_mask=[1, 1, 1, 1, 1, 0], tcp_or_world_frame="tcp"
    )
    assert found.status is IKStatus.CONVERGED
    tilt = robot.fk(found.q).rotation[:, 2] @ goal.rotation[:, 2]
    assert tilt == pytest.approx(1.0, abs=1e-8)
    assert robot.fk(found.q).distance(goal).translation < 1e-5


def test_a_held_joint_does_not_stop_the_others() -> None:
    robot = arm("sevenr_arm")
    upper = robot.joint_limits[1]
    rng = np.random.default_rng(0)
    solved = 0
    for _ in range(20):
        q = robot.random_configuration(rng)
        q[1] = upper[1]
        start = robot.clip_to_limits(q + rng.uniform(-0.2, 0.2, 7))
        found = jm.jacobian_method(robot, ToleratedPose(robot.fk(q)), start, RUN)
        assert inside(robot, found.q)
        solved += found.status is IKStatus.CONVERGED
    assert solved >= 18


def test_every_iterate_is_within_the_limits() -> None:
    robot = arm("sixr_arm")
    lower, upper = robot.joint_limits
    bounded = upper - lower < 2 * np.pi
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(10):
        start, goal = robot.random_configuration(rng), robot.fk(robot.random_configuration(rng))
        jm.jacobian_method(robot, ToleratedPose(goal), start, RUN, callbacks=[lambda s: seen.append(s.q)])
    iterates = np.array(seen)
    assert bounded.any()
    assert (iterates >= lower - 1e-12)[:, bounded].all()
    assert (iterates <= upper + 1e-12)[:, bounded].all()


def test_masked_joints_stay_to_the_last_bit() -> None:
    robot = arm("sevenr_arm")
    mask = np.array([True, True, False, True, True, False, True])
    start, goal = robot.random_configuration(0), robot.fk(robot.random_configuration(1))
    for options in ({}, {"kind": "pseudo_inverse"}, {"kind": "transpose"}, {"gain": np.full((7, 7), 0.3)}):
        found = jm.jacobian_method(robot, ToleratedPose(goal), start, IKMeta(60, False, mask), **options)
        assert (found.q[~mask] == start[~mask]).all()
        assert found.iterations > 0


def test_limits_of_the_run_replace_those_of_the_robot() -> None:
    robot = arm("sevenr_arm")
    q = robot.random_configuration(7)
    q[3] = robot.joint_limits[1, 3] + 0.3
    start = robot.clip_to_limits(q)
    free = np.array([[-np.inf], [np.inf]]) * np.ones(7)
    wide = jm.jacobian_method(robot, ToleratedPose(robot.fk(q)), start, IKMeta(100, False, limits=free))
    assert wide.status is IKStatus.CONVERGED
    assert reached(robot, wide.q, robot.fk(q))


def test_budget_is_never_exceeded_and_the_status_says_so() -> None:
    robot, goal = arm("sevenr_arm"), arm("sevenr_arm").fk(arm("sevenr_arm").random_configuration(1))
    for budget in (1, 2, 3):
        found = jm.jacobian_method(
            robot, ToleratedPose(goal, TIGHT), robot.random_configuration(0), IKMeta(budget, False)
        )
        assert found.iterations == budget
        assert found.status is IKStatus.OUT_OF_BUDGET


def test_a_larger_threshold_ends_a_hopeless_run_sooner() -> None:
    robot = arm("sevenr_arm")
    far = ToleratedPose(Transformation.from_translation([3.0, 0.5, 0.4]))
    start = robot.random_configuration(0)
    runs = [jm.jacobian_method(robot, far, start, RUN, convergence_threshold=t) for t in (1e-2, 1e-6)]
    assert runs[0].iterations < runs[1].iterations
    assert runs[1].cost <= runs[0].cost
    mean = jm.jacobian_method(robot, far, start, RUN, convergence_threshold=1e-2, alpha_average=0.0)
    abrupt = jm.jacobian_method(robot, far, start, RUN, convergence_threshold=1e-2, alpha_average=1.0)
    assert abrupt.iterations <= runs[0].iterations <= mean.iterations


def test_q_of_a_failed_run_is_the_one_of_least_cost_seen() -> None:
    robot = arm("sevenr_arm")
    far = Transformation.from_translation([2.0, 0.5, 0.4])
    seen = []
    found = jm.jacobian_method(
        robot, ToleratedPose(far), robot.random_configuration(0), RUN, callbacks=[lambda s: seen.append((s.cost, s.q))]
    )
    assert found.cost == min(cost for cost, _ in seen)
    assert any((found.q == q).all() for _, q in seen)
    assert found.cost == pytest.approx(jm.default_ik_cost_function(robot, found.q, far), abs=1e-12)


def test_damped_step_of_any_shape_is_least_squares() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((6, 7), (6, 6), (6, 3), (3, 7), (1, 2), (6, 1)):
        J, e = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        expected = np.linalg.lstsq(np.vstack([J, np.sqrt(0.1) * np.eye(columns)]), np.append(e, np.zeros(columns)))[0]
        np.testing.assert_allclose(js.damped_step(J, e, 0.1), expected, atol=1e-12)
        np.testing.assert_allclose(js.damped_step(np.asfortranarray(J), e, 0.1), expected, atol=1e-12)
    singular = np.outer(np.arange(6.0), np.ones(7))
    assert np.isfinite(js.damped_step(singular, np.ones(6), 0.0)).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": "dampd_ls_inverse"}, "did you mean 'damped_ls_inverse'"),
        ({"tcp_or_world_frame": "base"}, "tcp_or_world_frame"),
        ({"error_term_mask": [True, False]}, "error_term_mask must have shape"),
        ({"error_term_mask": [0.5] * 6}, "must hold booleans"),
        ({"error_term_mask": [False] * 6}, "at least one"),
        ({"gain": np.ones(3)}, "gain must "),
        ({"gain": np.nan}, "gain must "),
        ({"gain": "large"}, "gain"),
        ({"damp": -1.0}, "damp must be at least"),
        ({"damp": np.inf}, "damp must be finite"),
        ({"alpha_average": 1.5}, "alpha_average"),
        ({"alpha_average": -0.1}, "alpha_average"),
    ],
)
def test_impossible_options_are_refused(options: dict, message: str) -> None:
    robot = arm("sevenr_arm")
    with pytest.raises(InputError, match=message):
        robot.ik(robot.fk(), ik_method="jacobian", **options)


def test_lwa_and_local_jacobians_are_not_mistaken_for_one_another() -> None:
    robot, middle, start = near_problem()
    goal = robot.fk(middle).homogeneous
    _, tcp = error_and_jacobian(robot, start, robot.tcp, goal, False)
    _, world = error_and_jacobian(robot, start, robot.tcp, goal, True)
    assert np.abs(tcp - world).max() > 1e-2
    local = robot.jacobian(start, reference=ReferenceFrame.LOCAL)
    assert np.abs(tcp - local).max() > 1e-3, "the factor Jlog6 is missing"
    assert spatial.pose_error(robot.pose(start, robot.tcp), goal)[1] > 1e-2
