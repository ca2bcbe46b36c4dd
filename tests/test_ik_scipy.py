"""Method "scipy": its options, gradient and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import ToleratedPose
from knuckle.ik import IKMeta, IKStatus, default_ik_cost_function
from knuckle.ik.scipy_method import _Run, scipy_method
from knuckle.robot.errors import InputError

from .ik_cases import TIGHT, arm, inside

RUN = IKMeta(max_iter=300, allow_random_restart=False)


@pytest.mark.parametrize("name, tcp", [("sevenr_arm", None), ("scara", None), ("quadruped", "fl_foot")])
def test_gradient_passes_finite_differences(name: str, tcp: str | None) -> None:
    robot = arm(name, tcp)
    rng = np.random.default_rng(0)
    goal = ToleratedPose(robot.fk(robot.random_configuration(rng)))
    run = _Run(robot, goal, robot.random_configuration(rng), RUN, (), default_ik_cost_function, 1e-8)
    x = np.clip(rng.uniform(-0.3, 0.3, len(run.free)), run.lower + 1e-3, run.upper - 1e-3)
    _, gradient = run.value_and_gradient(x)
    for i in range(len(x)):
        nudge = 1e-6 * (np.arange(len(x)) == i)
        numeric = (run.value_and_gradient(x + nudge)[0] - run.value_and_gradient(x - nudge)[0]) / 2e-6
        assert gradient[i] == pytest.approx(numeric, abs=1e-6)


@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP", "TNC", "BFGS", "CG", "trust-constr", "Nelder-Mead", "Powell"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Method .* does not use gradient information")
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
def test_methods_of_scipy_stay_within_limits_and_budget(method: str) -> None:
    robot = arm("sevenr_arm")
    rng = np.random.default_rng(1)
    q = robot.clip_to_limits(0.6 * robot.random_configuration(rng))
    start = robot.clip_to_limits(q + rng.uniform(-0.2, 0.2, 7))
    found = scipy_method(robot, ToleratedPose(robot.fk(q)), start, RUN, scipy_kwargs={"method": method})
    assert inside(robot, found.q)
    assert found.iterations <= 300
    assert found.cost < 0.5 * default_ik_cost_function(robot, start, robot.fk(q))
    if method in ("L-BFGS-B", "SLSQP", "BFGS"):
        assert found.status is IKStatus.CONVERGED


def test_options_reach_scipy_and_its_budget_stays_ours() -> None:
    robot = arm("sevenr_arm")
    goal = ToleratedPose(robot.fk(robot.random_configuration(1)), TIGHT)
    start = robot.random_configuration(0)
    short = scipy_method(robot, goal, start, RUN, scipy_kwargs={"options": {"maxiter": 3}})
    assert short.iterations == 3
    long = scipy_method(robot, goal, start, IKMeta(5, False), scipy_kwargs={"options": {"maxiter": 500}})
    assert long.iterations == 5
    assert long.status is IKStatus.OUT_OF_BUDGET


@pytest.mark.parametrize("kwargs", [{"fun": 1}, {"bounds": []}, {"no_such": 1}, [1]])
def test_foreign_scipy_options_are_refused(kwargs: object) -> None:
    robot = arm("sevenr_arm")
    with pytest.raises(InputError, match="scipy_kwargs"):
        robot.ik(robot.fk(), ik_method="scipy", scipy_kwargs=kwargs)


def test_an_unknown_method_of_scipy_is_refused() -> None:
    robot = arm("sevenr_arm")
    with pytest.raises(InputError, match="no method in scipy_kwargs named 'SLSPQ'; did you mean 'SLSQP'"):
        robot.ik(robot.fk(), ik_method="scipy", scipy_kwargs={"method": "SLSPQ"})
