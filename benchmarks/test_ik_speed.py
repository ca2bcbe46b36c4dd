"""A whole solve of each method, and one iteration, against the loop people write first on Pinocchio and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import CartesianSphere, IKMeta, PinRobot, RotationAbsolute, ToleratedPose, Transformation
from knuckle.ik.jacobian_method import jacobian_method
from knuckle.robot import native

TARGETS = 20
ITERATIONS = 40
NEEDS_KERNEL = pytest.mark.skipif(not native.AVAILABLE, reason="the native kernel is off")


def naive_iteration(
    model: pin.Model, data: pin.Data, frame: int, q: np.ndarray, goal: pin.SE3, damping: float = 1e-4
) -> tuple[np.ndarray, float]:
    """One damped least squares step, and the error before it."""
    pin.framesForwardKinematics(model, data, q)
    to_goal = data.oMf[frame].actInv(goal)
    error = pin.log6(to_goal).vector
    jacobian = -pin.Jlog6(to_goal.inverse()) @ pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
    step = -jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), error)
    return pin.integrate(model, q, step), float(np.linalg.norm(error))


def naive_solve(
    model: pin.Model,
    frame: int,
    goal: pin.SE3,
    q: np.ndarray,
    rng: np.random.Generator,
    *,
    tolerance: float = 1e-5,
    attempts: int = 50,
    iterations: int = 100,
) -> tuple[np.ndarray | None, int]:
    """A configuration inside its limits that reaches `goal`, or None, and the iterations of all random restarts."""
    data, spent = model.createData(), 0
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    for _ in range(attempts):
        for _ in range(iterations):
            following, error = naive_iteration(model, data, frame, q, goal)
            spent += 1
            if error < tolerance:
                if np.all(q >= lower) and np.all(q <= upper):
                    return q, spent
                break
            q = np.clip(following, lower, upper)
        q = rng.uniform(lower, upper)
    return None, spent


class Problem:
    """Targets that can be reached, random starts, and the two ways to solve them all."""

    def __init__(self, arm: PinRobot, rng: np.random.Generator) -> None:
        self.arm = arm
        self.goals = [arm.fk(arm.random_configuration(rng)) for _ in range(TARGETS)]
        self.starts = [arm.random_configuration(rng) for _ in range(TARGETS)]
        self.poses = [goal.se3() for goal in self.goals]

    def ours(self, method: str) -> list[Any]:
        pairs = zip(self.goals, self.starts, strict=True)
        return [self.arm.ik(goal, ik_method=method, q_init=start, rng=i) for i, (goal, start) in enumerate(pairs)]

    def naive(self) -> list[tuple[np.ndarray | None, int]]:
        model, frame = self.arm.model, self.arm.tcp_id
        pairs = zip(self.poses, self.starts, strict=True)
        return [
            naive_solve(model, frame, pose, start, np.random.default_rng(i)) for i, (pose, start) in enumerate(pairs)
        ]

    def check(self, results: list[Any]) -> None:
        for result, goal in zip(results, self.goals, strict=True):
            off = self.arm.fk(result.q).distance(goal)
            assert result.success and off.translation <= 1e-5 and off.rotation <= 1e-4
            assert self.arm.q_in_joint_limits(result.q)
        assert not any(q is None for q, _ in self.naive())


@pytest.fixture
def problem(arm: PinRobot, rng: np.random.Generator) -> Problem:
    return Problem(arm, rng)


@pytest.mark.parametrize("method", [pytest.param("jacobian_cpp", marks=NEEDS_KERNEL), "jacobian", "scipy"])
def test_solve(method: str, problem: Problem, versus) -> None:
    results = versus(lambda: problem.ours(method), problem.naive, against="naive loop", per=(TARGETS, TARGETS))
    problem.check(results)


def test_iteration_jacobian(arm: PinRobot, problem: Problem, versus) -> None:
    """Runs of the inner loop alone, towards tolerances that no iteration meets."""
    info = IKMeta(max_iter=ITERATIONS, allow_random_restart=False)
    exact = CartesianSphere(1e-300) + RotationAbsolute(1e-300)
    pairs = [(ToleratedPose(goal, exact), start) for goal, start in zip(problem.goals, problem.starts, strict=True)]
    data = arm.model.createData()
    lower, upper = arm.joint_limits

    def ours() -> list[Any]:
        return [jacobian_method(arm, goal, start, info, convergence_threshold=0.0) for goal, start in pairs]

    def naive() -> None:
        for pose, q in zip(problem.poses, problem.starts, strict=True):
            for _ in range(ITERATIONS):
                following, _error = naive_iteration(arm.model, data, arm.tcp_id, q, pose)
                q = np.clip(following, lower, upper)

    count = TARGETS * ITERATIONS
    results = versus(ours, naive, against="naive loop", bound=0.5, per=(count, count))
    assert [result.iterations for result in results] == [ITERATIONS] * TARGETS
    assert np.median([result.cost for result in results]) < 1e-12


@NEEDS_KERNEL
def test_iteration_native(arm: PinRobot, versus, rng: np.random.Generator) -> None:
    """Towards a pose within reach that no configuration has: the budget is spent on iterations alone."""
    top = arm.fk(arm.neutral())
    goal = Transformation.from_rpy([np.pi, 0, 0], top.translation * 0.95)
    start, pose, data = arm.random_configuration(rng), goal.se3(), arm.model.createData()

    def ours() -> Any:
        return arm.ik(goal, ik_method="jacobian_cpp", q_init=start, rng=1, max_iter=2000)

    def naive() -> np.ndarray:
        q = start
        for _ in range(100):
            q, _error = naive_iteration(arm.model, data, arm.tcp_id, q, pose)
        return q

    result = versus(ours, naive, against="naive loop", per=(ours().iterations, 100))
    assert not result.success and 1000 < result.iterations <= 2000
    assert result.position_error == pytest.approx(arm.fk(result.q).distance(goal).translation)
