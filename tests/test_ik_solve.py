"""The outer loop: what comes back, seeds, budget, restarts, mask, start and current best."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from knuckle import PinRobot, ToleratedPose, Transformation, ik
from knuckle.ik import IKDebug, IKResult, IKStatus, InnerResult, IntermediateIkResult

from .ik_cases import (
    ALL_METHODS,
    PYTHON_METHODS,
    STEERED,
    TIGHT,
    arm,
    clear_configuration,
    far,
    inside,
    problem,
    reached,
)
from .samples import path_of


@pytest.mark.parametrize("method", ALL_METHODS)
def test_an_answer_reports_what_it_is(method: str) -> None:
    robot, target, start = problem()
    answer = robot.ik(target, ik_method=method, q_init=start, rng=5)
    assert type(answer) is IKResult
    assert answer.success
    assert answer.status is IKStatus.CONVERGED
    assert answer.method == method
    assert answer.seed == 5
    assert answer.q.shape == (7,)
    distance = robot.fk(answer.q).distance(target)
    assert answer.position_error == pytest.approx(distance.translation, abs=1e-12)
    assert answer.rotation_error == pytest.approx(distance.rotation, abs=1e-12)
    assert answer.cost == pytest.approx(ik.default_ik_cost_function(robot, answer.q, target), abs=1e-12)
    assert reached(robot, answer.q, target)
    assert inside(robot, answer.q)
    assert 0 <= answer.iterations <= 1000


@pytest.mark.parametrize("method", ALL_METHODS)
def test_the_robot_is_not_moved(method: str) -> None:
    robot, target, start = problem()
    before, kept = robot.q.copy(), start.copy()
    robot.ik(target, ik_method=method, q_init=start, rng=1)
    robot.ik(far(), ik_method=method, q_init=start, rng=1, max_iter=50)
    assert (robot.q == before).all()
    assert (start == kept).all()


@pytest.mark.parametrize("name, tcp", [("sevenr_arm", "tool"), ("quadruped", "fl_foot")])
def test_what_is_kept_about_a_robot_goes_with_it(name: str, tcp: str) -> None:
    robot = PinRobot.from_urdf(path_of(name), tcp=tcp)
    for method in PYTHON_METHODS:
        robot.ik(robot.fk(robot.random_configuration(0)), ik_method=method, rng=0, max_iter=50)
    watched = weakref.ref(robot)
    del robot
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("method", ALL_METHODS)
def test_every_form_of_target_gives_the_same_answer(method: str) -> None:
    robot, target, start = problem(1)
    forms = (target, target.homogeneous, target.se3(), ToleratedPose(target), target.homogeneous.tolist())
    answers = [robot.ik(form, ik_method=method, q_init=start, rng=3).q for form in forms]
    answers.append(robot.ik(eef_pose=target, ik_method=method, q_init=start, rng=3).q)
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-9)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_start_at_the_goal_is_the_answer_at_no_cost(method: str) -> None:
    robot, _, start = problem()
    answer = robot.ik(robot.fk(start), ik_method=method, q_init=start)
    assert answer
    assert answer.iterations <= 1
    np.testing.assert_allclose(answer.q, start, atol=1e-9)


def test_the_stored_configuration_is_where_it_starts_by_default() -> None:
    robot = PinRobot.from_urdf(path_of("sevenr_arm"))
    q = robot.random_configuration(4)
    robot.update_configuration(q)
    assert (robot.ik(robot.fk(), ik_method="jacobian").q == q).all()


@pytest.mark.parametrize("method", ALL_METHODS)
def test_the_same_seed_gives_the_same_answer_in_any_thread(method: str) -> None:
    robot, target, start = problem(2, "sixr_arm")
    first = robot.ik(target, ik_method=method, q_init=start, rng=11)
    answers: list[IKResult] = []
    threads = [
        threading.Thread(target=lambda: answers.append(robot.ik(target, ik_method=method, q_init=start, rng=11)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        assert (answer.q == first.q).all()
        assert answer.to_dict() == first.to_dict()


@pytest.mark.parametrize("method", ALL_METHODS)
def test_the_seed_of_a_result_repeats_it(method: str) -> None:
    robot, target, start = problem(3, "sixr_arm")
    answer = robot.ik(target, ik_method=method, q_init=start)
    again = robot.ik(target, ik_method=method, q_init=start, rng=answer.seed)
    assert (answer.q == again.q).all()
    drawn = robot.ik(target, ik_method=method, q_init=start, rng=np.random.default_rng(0))
    again = robot.ik(target, ik_method=method, q_init=start, rng=drawn.seed)
    assert (drawn.q == again.q).all()
    assert 0 <= answer.seed < 2**63


def test_seeds_lead_to_different_solutions() -> None:
    robot, target, _ = problem(4)
    not_here = [lambda seen: seen.restart > 0]
    answers = [robot.ik(target, ik_method="jacobian", outer_callbacks=not_here, rng=seed).q for seed in range(4)]
    assert np.ptp(np.array(answers), axis=0).max() > 0.5


@pytest.mark.parametrize("method", ALL_METHODS)
@pytest.mark.parametrize("budget", [1, 2, 3, 5, 10, 37, 100])
def test_the_budget_is_shared_by_all_attempts_and_never_exceeded(method: str, budget: int) -> None:
    robot, _, start = problem()
    debug = IKDebug()
    callbacks = [debug.inner_callback] if method in STEERED else None
    answer = robot.ik(
        far(), ik_method=method, q_init=start, max_iter=budget, rng=0, tolerance=TIGHT, inner_callbacks=callbacks
    )
    assert answer.iterations <= budget
    assert max((step.iteration for step in debug.steps), default=0) <= budget
    assert [step.iteration for step in debug.steps] == sorted(step.iteration for step in debug.steps)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_without_restart_there_is_one_attempt(method: str) -> None:
    robot, _, start = problem(0, "sixr_arm")
    outer = IKDebug()
    answer = robot.ik(
        far(), ik_method=method, q_init=start, allow_random_restart=False, outer_callbacks=outer.outer_callback
    )
    assert answer.restarts == 0
    assert len(outer.attempts) == 1


def test_without_restart_the_answer_stays_near_its_start() -> None:
    robot = arm("sevenr_arm")
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = robot.clip_to_limits(0.7 * robot.random_configuration(rng))
        near = robot.clip_to_limits(q + rng.uniform(-0.05, 0.05, 7))
        answer = robot.ik(robot.fk(near), ik_method="jacobian", q_init=q, allow_random_restart=False)
        assert answer
        assert np.abs(answer.q - q).max() < 0.5


def test_restarts_find_what_the_first_attempt_does_not() -> None:
    robot = arm("sixr_arm")
    rng = np.random.default_rng(0)
    pairs = [(robot.fk(clear_configuration(robot, rng)), robot.random_configuration(rng)) for _ in range(40)]
    for method in PYTHON_METHODS:
        once = sum(bool(robot.ik(T, ik_method=method, q_init=q, rng=0, allow_random_restart=False)) for T, q in pairs)
        more = sum(bool(robot.ik(T, ik_method=method, q_init=q, rng=0)) for T, q in pairs)
        assert once < more == 40


@pytest.mark.parametrize("method", ALL_METHODS)
def test_masked_joints_do_not_move_not_even_by_a_restart(method: str) -> None:
    robot, _, start = problem(1)
    mask = [True, False, True, True, True, True, False]
    rng = np.random.default_rng(0)
    moved = robot.random_configuration(rng)
    moved[[1, 6]] = start[[1, 6]]
    answer = robot.ik(robot.fk(moved), ik_method=method, q_init=start, joint_mask=mask, rng=0, max_iter=3000)
    assert (answer.q[[1, 6]] == start[[1, 6]]).all()
    hopeless = robot.ik(far(), ik_method=method, q_init=start, joint_mask=mask, rng=0, max_iter=200)
    assert (hopeless.q[[1, 6]] == start[[1, 6]]).all()
    if method != "scipy":
        assert answer


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_mask_of_nothing_only_checks_the_start(method: str) -> None:
    robot, target, start = problem(1)
    answer = robot.ik(target, ik_method=method, q_init=start, joint_mask=[False] * 7)
    assert not answer
    assert (answer.q == start).all()
    assert robot.ik(robot.fk(start), ik_method=method, q_init=start, joint_mask=[False] * 7)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_start_outside_the_limits_is_moved_into_them_with_a_note(method: str) -> None:
    robot, target, start = problem(2)
    start = start.copy()
    start[1] = robot.joint_limits[1, 1] + 0.01
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0)
    assert answer
    assert inside(robot, answer.q)
    assert "q_init was outside the limits" in answer.message
    assert robot.joints[1] in answer.message
    assert "q_init" not in robot.ik(target, ik_method=method, q_init=robot.clip_to_limits(start), rng=0).message


def test_a_start_may_name_joints() -> None:
    robot, target, _ = problem(2)
    name = robot.joints[2]
    start = robot.configuration_from({name: 0.4})
    by_name = robot.ik(target, ik_method="jacobian", q_init={name: 0.4}, rng=0)
    assert (by_name.q == robot.ik(target, ik_method="jacobian", q_init=start, rng=0).q).all()


def useless(robot, goal, q_init, info, **rest) -> InnerResult:
    return InnerResult(q_init, IKStatus.STALLED, 1.0, 1)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_current_best_is_returned_unless_something_better_is_found(method: str) -> None:
    robot, _, start = problem(3)
    unreachable = Transformation.from_translation([0.9, 0.0, 0.9])
    good = robot.ik(unreachable, ik_method="jacobian", q_init=start, rng=0)
    known = IntermediateIkResult(good.q, good.cost)
    kept = robot.ik(unreachable, ik_method=method, q_init=start, rng=1, max_iter=2, current_best=known)
    assert not kept
    assert kept.cost <= good.cost + 1e-12
    assert (kept.q == good.q).all() or kept.cost < good.cost
    assert (robot.ik(unreachable, ik_method=useless, q_init=start, current_best=known).q == good.q).all()
    bad = robot.ik(unreachable, ik_method=method, q_init=start, rng=1, current_best=IntermediateIkResult(start, 0.0))
    assert bad.cost <= ik.default_ik_cost_function(robot, start, unreachable) + 1e-12
    assert robot.ik(robot.fk(start), ik_method=method, q_init=start, current_best=good)
