"""Callbacks and constraints: watching, steering and restricting a search."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from knuckle import PinRobot
from knuckle.ik import CallbackReturn, IKDebug, IKStatus, IntermediateIkResult

from .ik_cases import ALL_METHODS, STEERED, TIGHT, far, problem, reached
from .samples import path_of


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
def test_break_stops_even_at_a_pose_that_a_constraint_refuses(method: str) -> None:
    robot, _, start = problem(4)
    stopping = {"inner_callbacks": lambda r: CallbackReturn.BREAK, "outer_constraints": lambda r, q: False}
    answer = robot.ik(robot.fk(start), ik_method=method, q_init=start, **stopping)
    assert answer.status is IKStatus.STOPPED
    assert answer.restarts == 0
    assert robot.ik(robot.fk(start), ik_method=method, q_init=start, inner_callbacks=lambda r: CallbackReturn.BREAK)


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
    calls: list[int] = []

    def stop(seen: IntermediateIkResult) -> CallbackReturn:
        calls.append(seen.restart)
        return CallbackReturn.BREAK

    stopped = robot.ik(far(), ik_method=method, q_init=start, rng=0, max_iter=5000, outer_callbacks=stop)
    assert stopped.status is IKStatus.STOPPED
    assert calls == [0]


def test_a_callback_that_fails_is_heard() -> None:
    robot, target, start = problem()

    def broken(result: IntermediateIkResult) -> None:
        raise RuntimeError("mine")

    for method in STEERED:
        with pytest.raises(RuntimeError, match="mine"):
            robot.ik(target, ik_method=method, q_init=start, inner_callbacks=broken)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_constraints_are_met_by_the_answer(method: str) -> None:
    robot, target, start = problem(7)

    class ElbowBelow:
        def is_satisfied(self, robot: PinRobot, q: np.ndarray) -> bool:
            return bool(q[3] < 0.0)

    def first_joint_left(robot: PinRobot, q: np.ndarray) -> bool:
        return bool(q[0] > 0.0)

    for constraints in (ElbowBelow(), [ElbowBelow()], [first_joint_left], [ElbowBelow(), first_joint_left]):
        answer = robot.ik(target, ik_method=method, q_init=start, rng=0, outer_constraints=constraints, max_iter=5000)
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
