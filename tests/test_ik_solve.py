"""The outer loop: options, callbacks, constraints, budget, restarts, seeds and the verdict."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from knuckle import PinRobot, ToleratedPose, Transformation, ik
from knuckle.ik import CallbackReturn, IKDebug, IKResult, IKStatus, InnerResult, IntermediateIkResult
from knuckle.robot import CartesianBox, CartesianSphere, RotationAbsolute, RotationAxis
from knuckle.robot.errors import InputError

from .ik_cases import ALL_METHODS, PYTHON_METHODS, TIGHT, arm, inside, position_only, reached
from .samples import path_of

STEERED = [name for name in ALL_METHODS if ik.METHODS[name].steered]


def problem(seed: int = 0, name: str = "sevenr_arm"):
    robot = arm(name)
    rng = np.random.default_rng(seed)
    return robot, robot.fk(robot.random_configuration(rng)), robot.random_configuration(rng)


def far() -> Transformation:
    return Transformation.from_translation([0.3, 0.2, 0.2])


# ------------------------------------------------------------------- what comes back


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


# ------------------------------------------------------------------- seeds


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


# ------------------------------------------------------------------- budget and restarts


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
    robot, _, start = problem(0)
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
    pairs = [(robot.fk(robot.random_configuration(rng)), robot.random_configuration(rng)) for _ in range(40)]
    for method in PYTHON_METHODS:
        once = sum(bool(robot.ik(T, ik_method=method, q_init=q, rng=0, allow_random_restart=False)) for T, q in pairs)
        more = sum(bool(robot.ik(T, ik_method=method, q_init=q, rng=0)) for T, q in pairs)
        assert once < more == 40


# ------------------------------------------------------------------- mask, start, current best


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


@pytest.mark.parametrize("method", ALL_METHODS)
def test_current_best_is_returned_unless_something_better_is_found(method: str) -> None:
    robot, _, start = problem(3)
    unreachable = Transformation.from_translation([0.9, 0.0, 0.9])
    good = robot.ik(unreachable, ik_method="jacobian", q_init=start, rng=0)
    known = IntermediateIkResult(good.q, good.cost)
    kept = robot.ik(unreachable, ik_method=method, q_init=start, rng=1, max_iter=2, current_best=known)
    assert not kept
    assert (kept.q == good.q).all()
    assert kept.cost == pytest.approx(good.cost)
    bad = robot.ik(unreachable, ik_method=method, q_init=start, rng=1, current_best=IntermediateIkResult(start, 0.0))
    assert bad.cost <= ik.default_ik_cost_function(robot, start, unreachable) + 1e-12
    assert robot.ik(robot.fk(start), ik_method=method, q_init=start, current_best=good)


# ------------------------------------------------------------------- callbacks


@pytest.mark.parametrize("method", STEERED)
def test_inner_callbacks_see_every_iteration(method: str) -> None:
    robot, target, start = problem(4)
    debug = IKDebug()
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, inner_callbacks=debug.inner_callback)
    assert (debug.steps[0].q == start).all()
    assert debug.steps[0].iteration == 0
    assert debug.steps[-1].iteration == answer.iterations
    assert debug.steps[-1].cost == pytest.approx(answer.cost, abs=1e-12)
    assert debug.restarts == answer.restarts


@pytest.mark.parametrize("method", STEERED)
def test_break_of_an_inner_callback_stops_the_search_at_once(method: str) -> None:
    robot, target, start = problem(4)
    seen = []

    def stop_at_third(result: IntermediateIkResult) -> CallbackReturn:
        seen.append(result)
        return CallbackReturn.BREAK if len(seen) == 3 else CallbackReturn.CONTINUE

    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, tolerance=TIGHT, inner_callbacks=stop_at_third)
    assert answer.status is IKStatus.STOPPED
    assert len(seen) == 3
    assert answer.iterations == 2
    assert "callback" in answer.message


@pytest.mark.parametrize("method", STEERED)
def test_reject_of_an_inner_callback_keeps_iterating(method: str) -> None:
    robot, target, start = problem(5)

    def elbow_on_the_other_side(result: IntermediateIkResult) -> bool:
        return bool(result.q[3] < 0.0)

    answer = robot.ik(
        target, ik_method=method, q_init=start, rng=0, inner_callbacks=elbow_on_the_other_side, max_iter=3000
    )
    plain = robot.ik(target, ik_method=method, q_init=start, rng=0)
    assert plain
    assert answer
    assert answer.q[3] < 0.0
    none = robot.ik(target, ik_method=method, q_init=start, rng=0, inner_callbacks=lambda r: False, max_iter=100)
    assert none.status is IKStatus.REJECTED
    assert none.position_error < 1e-3


@pytest.mark.parametrize("method", ALL_METHODS)
def test_outer_callbacks_see_every_attempt_and_may_reject_or_break(method: str) -> None:
    robot, target, start = problem(6)
    debug = IKDebug()
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, outer_callbacks=debug.outer_callback)
    assert len(debug.attempts) == answer.restarts + 1
    assert (debug.attempts[-1].q == answer.q).all()
    refused = robot.ik(
        target, ik_method=method, q_init=start, rng=0, max_iter=60, outer_callbacks=lambda r: CallbackReturn.REJECT
    )
    assert refused.status is IKStatus.REJECTED
    assert refused.position_error < 1e-4
    second = robot.ik(target, ik_method=method, q_init=start, rng=0, outer_callbacks=lambda r: r.restart > 0)
    assert second
    assert second.restarts == 1 + (answer.restarts if answer.restarts else 0) or second.restarts >= 1
    stopped = robot.ik(
        far(), ik_method=method, q_init=start, rng=0, max_iter=5000, outer_callbacks=lambda r: CallbackReturn.BREAK
    )
    assert stopped.status is IKStatus.STOPPED
    assert stopped.restarts == 0


def test_a_callback_that_fails_is_heard() -> None:
    robot, target, start = problem()

    def broken(result: IntermediateIkResult) -> None:
        raise RuntimeError("mine")

    for method in STEERED:
        with pytest.raises(RuntimeError, match="mine"):
            robot.ik(target, ik_method=method, q_init=start, inner_callbacks=broken)


# ------------------------------------------------------------------- constraints


@pytest.mark.parametrize("method", ALL_METHODS)
def test_constraints_are_met_by_the_answer(method: str) -> None:
    robot, target, start = problem(7)

    class ElbowBelow:
        def is_satisfied(self, robot: PinRobot, q: np.ndarray) -> bool:
            return bool(q[3] < 0.0)

    def first_joint_left(robot: PinRobot, q: np.ndarray) -> bool:
        return bool(q[0] > 0.0)

    for constraints in (ElbowBelow(), [ElbowBelow()], [first_joint_left], [ElbowBelow(), first_joint_left]):
        answer = robot.ik(
            target, ik_method=method, q_init=start, rng=0, outer_constraints=constraints, max_iter=5000
        )
        assert answer, answer
        for constraint in constraints if isinstance(constraints, list) else [constraints]:
            assert getattr(constraint, "is_satisfied", constraint)(robot, answer.q)
    task = SimpleNamespace(constraints=[ElbowBelow()])
    assert robot.ik(target, ik_method=method, q_init=start, rng=0, task=task, max_iter=5000).q[3] < 0.0


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_constraint_that_never_holds_is_named_with_its_status(method: str) -> None:
    robot, target, start = problem(7)

    class Walls:
        status = IKStatus.COLLISION

        def is_satisfied(self, robot: PinRobot, q: np.ndarray) -> bool:
            return False

    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, outer_constraints=[Walls()], max_iter=100)
    assert answer.status is IKStatus.COLLISION
    assert "Walls" in answer.message
    assert reached(robot, answer.q, target)
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, outer_constraints=lambda r, q: False, max_iter=99)
    assert answer.status is IKStatus.REJECTED


class Touchy(PinRobot):
    """A robot that touches itself whenever its elbow bends one way."""

    def has_self_collision(self, q: np.ndarray | None = None) -> bool:
        assert q is not None
        return bool(q[3] > 0.0)


@pytest.mark.parametrize("method", [None, *ALL_METHODS])
def test_self_collisions_are_avoided_unless_they_are_ignored(method: str | None) -> None:
    robot = Touchy.from_urdf(path_of("sevenr_arm"))
    rng = np.random.default_rng(0)
    sides = []
    for seed in range(5):
        target, start = robot.fk(robot.random_configuration(rng)), np.abs(robot.random_configuration(rng))
        answer = robot.ik(target, ik_method=method, q_init=start, rng=seed, max_iter=5000)
        assert answer
        assert answer.q[3] <= 0.0
        ignoring = robot.ik(target, ik_method=method, q_init=start, rng=seed, ignore_self_collisions=True)
        assert ignoring
        sides.append(ignoring.q[3] > 0.0)
    assert any(sides)


# ------------------------------------------------------------------- tolerance and cost


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_wider_tolerance_takes_fewer_iterations_a_tighter_one_is_met(method: str) -> None:
    robot, target, start = problem(8)
    loose = robot.ik(
        target, ik_method=method, q_init=start, rng=0, tolerance=CartesianSphere(0.05) + RotationAbsolute(0.2)
    )
    tight = robot.ik(target, ik_method=method, q_init=start, rng=0, tolerance=TIGHT)
    assert loose
    assert tight
    assert loose.iterations <= tight.iterations
    assert tight.position_error <= 1e-8
    assert tight.rotation_error <= 1e-8


@pytest.mark.parametrize("method", ALL_METHODS)
def test_position_alone_is_a_goal(method: str) -> None:
    for name in ("planar_2r", "planar_3r", "scara", "sixr_arm", "sevenr_arm"):
        robot = arm(name)
        rng = np.random.default_rng(1)
        for seed in range(4):
            position = robot.fk(robot.random_configuration(rng)).translation
            goal = ToleratedPose(Transformation.from_rpy([1, 2, 3], translation=position), position_only())
            answer = robot.ik(goal, ik_method=method, q_init=robot.random_configuration(rng), rng=seed)
            assert answer, answer
            assert answer.position_error <= 1e-5
            assert np.linalg.norm(robot.fk(answer.q).translation - position) <= 1e-5


@pytest.mark.parametrize("method", ALL_METHODS)
def test_regions_are_goals(method: str) -> None:
    robot, target, start = problem(9)
    spinning = CartesianBox.symmetric(1e-4) + RotationAxis("z", angle=None, tilt=1e-3)
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, tolerance=spinning)
    assert answer
    assert ToleratedPose(target, spinning).valid(robot.fk(answer.q))


def test_a_mask_of_error_terms_is_judged_on_those_terms() -> None:
    robot = arm("planar_3r")
    target = Transformation.from_rpy([0.5, 0.5, 0.5], translation=[0.4, 0.0, 0.3])
    assert not robot.ik(target, ik_method="jacobian", rng=0, max_iter=200)
    answer = robot.ik(
        target,
        ik_method="jacobian",
        q_init=[0.3, 0.3, 0.3],
        rng=0,
        error_term_mask=[1, 0, 1, 0, 0, 0],
        tcp_or_world_frame="world",
    )
    assert answer
    assert answer.position_error <= 1e-5
    assert answer.rotation_error > 0.1


def test_an_own_cost_is_minimised_by_scipy_which_is_then_the_default() -> None:
    robot, target, start = problem(10)

    def cost(robot: PinRobot, q: np.ndarray, goal: Transformation) -> float:
        assert isinstance(goal, Transformation)
        distance = robot.fk(q).distance(goal)
        return distance.translation**2 + 0.1 * distance.rotation**2

    answer = robot.ik(
        target,
        q_init=start,
        rng=0,
        ik_cost_function=cost,
        tolerance=CartesianSphere(2e-3) + RotationAbsolute(1e-2),
        convergence_threshold=1e-12,
    )
    assert answer.method == "scipy"
    assert answer
    assert answer.cost == pytest.approx(cost(robot, answer.q, target))


def test_an_own_cost_ranks_what_the_jacobian_method_sees() -> None:
    robot, _, start = problem(10)
    seen = IKDebug()

    def tilt(robot: PinRobot, q: np.ndarray, goal: Transformation) -> float:
        return float(q[0] ** 2)

    answer = robot.ik(
        far(), ik_method="jacobian", q_init=start, rng=0, ik_cost_function=tilt, max_iter=50,
        inner_callbacks=seen.inner_callback,
    )  # fmt: skip
    assert not answer
    assert answer.cost == pytest.approx(min(step.q[0] ** 2 for step in seen.steps))


# ------------------------------------------------------------------- registry


def test_a_callable_is_a_method() -> None:
    robot, target, start = problem(11)

    def guessing(robot, goal, q_init, info, *, callbacks, ik_cost_function, convergence_threshold, rng, tries=10):
        best = q_init
        for _ in range(min(tries, info.max_iter)):
            q = robot.random_configuration(rng)
            if ik_cost_function(robot, q, goal.nominal) < ik_cost_function(robot, best, goal.nominal):
                best = q
        return InnerResult(best, IKStatus.CONVERGED, ik_cost_function(robot, best, goal.nominal), tries)

    wide = CartesianSphere(0.5) + RotationAbsolute(2.0)
    answer = robot.ik(target, ik_method=guessing, q_init=start, rng=0, tolerance=wide, tries=50)
    assert answer
    assert answer.method == "guessing"
    assert (robot.ik(target, ik_method=guessing, q_init=start, rng=0, tolerance=wide, tries=50).q == answer.q).all()
    liar = robot.ik(target, ik_method=guessing, q_init=start, rng=0, max_iter=40)
    assert not liar
    with pytest.raises(InputError, match="'guessing' has no option 'trys'; it takes tries"):
        robot.ik(target, ik_method=guessing, trys=3)


def test_a_registered_method_is_known_by_name() -> None:
    robot, target, start = problem(11)
    ik.register_method("twin", ik.METHODS["jacobian"].run)
    try:
        answer = robot.ik(target, ik_method="twin", q_init=start, rng=0)
        assert answer.method == "twin"
        assert (answer.q == robot.ik(target, ik_method="jacobian", q_init=start, rng=0).q).all()
    finally:
        del ik.METHODS["twin"]
    for name, run in ((3, print), ("", print), ("x", 3)):
        with pytest.raises(InputError):
            ik.register_method(name, run)  # type: ignore[arg-type]


def test_a_method_that_moves_what_it_must_not_is_put_right() -> None:
    robot, target, start = problem(11)

    def careless(robot, goal, q_init, info, **rest):
        return InnerResult(q_init + 10.0, IKStatus.CONVERGED, 0.0, 1)

    answer = robot.ik(
        target, ik_method=careless, q_init=start, joint_mask=[False] + [True] * 6, allow_random_restart=False
    )
    assert not answer
    assert answer.q[0] == start[0]
    assert inside(robot, answer.q)


def test_a_method_that_returns_nonsense_is_refused() -> None:
    robot, target, _ = problem(11)
    for returned in (None, (np.zeros(7), True), InnerResult(np.zeros(3), IKStatus.CONVERGED, 0.0, 1)):
        with pytest.raises(InputError, match="must"):
            robot.ik(target, ik_method=lambda *a, r=returned, **k: r)
    with pytest.raises(InputError, match="finite"):
        robot.ik(target, ik_method=lambda *a, **k: InnerResult(np.full(7, np.nan), IKStatus.STALLED, 0.0, 1))


def test_options_choose_a_method_that_has_them() -> None:
    robot, target, start = problem(12)
    assert robot.ik(target, q_init=start, kind="pseudo_inverse", rng=0).method == "jacobian"
    assert robot.ik(target, q_init=start, scipy_kwargs={"method": "SLSQP"}, rng=0).method == "scipy"
    assert robot.ik(target, q_init=start, inner_callbacks=lambda r: True, rng=0).method == "jacobian"


# ------------------------------------------------------------------- one inner run


def test_one_run_of_each_method_on_the_robot() -> None:
    robot, target, start = problem(13)
    for run, method in ((robot.ik_jacobian, "jacobian"), (robot.ik_scipy, "scipy")):
        q, success = run(target, ik.IKMeta(max_iter=300), start)
        answer = run(eef_pose=target, info=ik.IKMeta(max_iter=300), q_init=start)
        assert (q == answer.q).all()
        assert success == answer.success
        assert answer.restarts == 0
        assert answer.method == method
        stopped = run(target, q_init=start, callbacks=[lambda r: CallbackReturn.BREAK])
        assert stopped.status is IKStatus.STOPPED
        held = run(target, ik.IKMeta(max_iter=20, joint_mask=np.arange(7) != 0), q_init=start)
        assert held.q[0] == start[0]
        assert held.iterations <= 20
    assert robot.ik_jacobian(target, q_init=start, kind="transpose").method == "jacobian"
    assert robot.ik_scipy(target, q_init=start, scipy_kwargs={"method": "TNC"}).method == "scipy"
    with pytest.raises(InputError, match="info must be an IKMeta"):
        robot.ik_scipy(target, {"max_iter": 3})


# ------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "options, message",
    [
        ({"ik_method": "jacobain"}, "no ik_method named 'jacobain'; did you mean 'jacobian'"),
        ({"ik_method": 3}, "a name or a callable"),
        ({"q_init": [0.0] * 6}, r"q_init must have shape \(7,\)"),
        ({"q_init": [np.nan] * 7}, "q_init must be finite"),
        ({"q_init": {"no_joint": 1.0}}, "no joint named"),
        ({"rng": "seed"}, "rng must be"),
        ({"rng": -1}, "rng must be a seed >= 0"),
        ({"rng": True}, "rng must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_iter": 2.5}, "whole number"),
        ({"max_iter": np.nan}, "max_iter must be finite"),
        ({"joint_mask": [True] * 6}, r"joint_mask must have shape \(7,\)"),
        ({"joint_mask": [0.5] * 7}, "must hold booleans"),
        ({"ik_cost_function": 3.0}, "ik_cost_function must be a function"),
        ({"inner_callbacks": [1]}, r"inner_callbacks\[0\]"),
        ({"outer_callbacks": 1}, "outer_callbacks"),
        ({"outer_constraints": [1]}, r"outer_constraints\[0\]"),
        ({"task": SimpleNamespace(constraints=[1])}, r"task.constraints\[0\]"),
        ({"current_best": 1.0}, "current_best"),
        ({"current_best": IntermediateIkResult(np.zeros(3), 1.0)}, r"current_best.q must have shape \(7,\)"),
        ({"convergence_threshold": -1.0}, "convergence_threshold"),
        ({"tolerance": 1e-3}, "tolerance must be a Tolerance"),
        ({"kinds": "transpose"}, "no option of an IK method named 'kinds'; did you mean 'kind'"),
        ({"ik_method": "scipy", "kind": "transpose"}, "method 'scipy' has no option 'kind'; it takes scipy_kwargs"),
        ({"inner_callbacks": lambda r: "stop"}, "CONTINUE, REJECT or BREAK"),
        ({"outer_callbacks": lambda r: 7}, "CONTINUE, REJECT or BREAK"),
    ],
)
def test_bad_input_is_named(options: dict, message: str) -> None:
    robot, target, _ = problem()
    before = robot.q.copy()
    with pytest.raises(InputError, match=message):
        robot.ik(target, **options)
    assert (robot.q == before).all()


@pytest.mark.parametrize("target", [None, np.eye(3), np.full((4, 4), np.nan), "home", 2 * np.eye(4)])
def test_a_bad_target_is_named(target: object) -> None:
    for method in (None, *ALL_METHODS):
        with pytest.raises(InputError):
            arm("sevenr_arm").ik(target, ik_method=method)
