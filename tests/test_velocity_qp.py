"""Joint velocities within bounds: against SciPy's bounded least squares, and the bounds themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear

from knuckle import InputError, InputTypeError, ik
from knuckle.ik import VelocityBounds, VelocityStatus, solve_velocity, velocity_qp

from .samples import load

ARM, LEGS = load("sevenr_arm"), load("quadruped")


def problem(rng: np.random.Generator) -> dict[str, Any]:
    n, m = int(rng.integers(3, 10)), int(rng.integers(2, 7))
    return {
        "jacobian": rng.normal(size=(m, n)),
        "twist": 3 * rng.normal(size=m),
        "lower": -rng.uniform(0, 1, n),
        "upper": rng.uniform(0, 1, n),
        "weights": rng.uniform(0.1, 3, m),
        "dq_ref": rng.normal(size=n),
        "ref_weight": 10.0 ** rng.uniform(-4, -1),
        "damping": 1e-6,
    }


def oracle(p: dict[str, Any]) -> np.ndarray:
    J, W, n = p["jacobian"], np.sqrt(p["weights"]), p["jacobian"].shape[1]
    rows = (W[:, None] * J, np.sqrt(p["damping"]) * np.eye(n), np.sqrt(p["ref_weight"]) * np.eye(n))
    right = (W * p["twist"], np.zeros(n), np.sqrt(p["ref_weight"]) * p["dq_ref"])
    found = lsq_linear(np.vstack(rows), np.concatenate(right), (p["lower"], p["upper"]), method="bvls", tol=1e-15)
    return np.asarray(found.x)


@pytest.fixture(params=["daqp", "without"])
def solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without":
        monkeypatch.setattr(velocity_qp, "_daqp", lambda: None)
    else:
        pytest.importorskip("daqp")
    return str(request.param)


def test_random_problems_have_the_answer_of_an_independent_solver(solver: str) -> None:
    rng = np.random.default_rng(0)
    for p in (problem(rng) for _ in range(200)):
        result = solve_velocity(**p)
        np.testing.assert_allclose(result.dq, oracle(p), rtol=0, atol=1e-8)
        assert (p["lower"] <= result.dq).all() and (result.dq <= p["upper"]).all()
        np.testing.assert_allclose(result.twist_error, p["jacobian"] @ result.dq - p["twist"], atol=1e-12)


def test_a_strict_preference_takes_nothing_from_the_tool(solver: str) -> None:
    rng = np.random.default_rng(1)
    for p in (problem(rng) for _ in range(60)):
        del p["weights"], p["ref_weight"], p["damping"]
        with_it = solve_velocity(**p, strict=True)
        without = solve_velocity(**(p | {"dq_ref": None}))
        np.testing.assert_allclose(p["jacobian"] @ with_it.dq, p["jacobian"] @ without.dq, atol=1e-6)
        assert np.linalg.norm(with_it.dq - p["dq_ref"]) <= np.linalg.norm(without.dq - p["dq_ref"]) + 1e-7


def test_scale_keeps_the_direction_and_as_much_as_fits(solver: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        J, twist, bound = rng.normal(size=(6, 7)), 3 * rng.normal(size=6), rng.uniform(0.1, 1, 7)
        result = solve_velocity(J, twist, -bound, bound, mode="scale")
        np.testing.assert_allclose(J @ result.dq, result.scale * twist, atol=1e-5)
        assert (np.abs(result.dq) <= bound).all() and 0.0 < result.scale <= 1.0
        shortest = np.linalg.pinv(J) @ twist
        assert result.scale >= min(1.0, float((bound / np.abs(shortest)).min())) - 1e-5  # no worse than shrinking it
        shares = greatest_share(J, twist, bound)
        assert result.scale == pytest.approx(shares, abs=1e-6) or solver == "without"
    slow = solve_velocity(J, 1e-3 * twist, -bound, bound, mode="scale")
    assert slow.status is VelocityStatus.SOLVED and slow.scale == pytest.approx(1.0, abs=1e-6)


def greatest_share(J: np.ndarray, twist: np.ndarray, bound: np.ndarray) -> float:
    """Greatest share s with J dq = s twist and |dq| <= bound, as a linear programme."""
    rows = np.column_stack((J, -twist))
    limits = [*zip(-bound, bound, strict=True), (0.0, 1.0)]
    found = linprog([0.0] * 7 + [-1.0], A_eq=rows, b_eq=np.zeros(6), bounds=limits, method="highs")
    return float(found.x[-1])


def test_a_singular_arm_moves_where_it_can(solver: str) -> None:
    J = ARM.frame_jacobian(np.zeros(7), "tool", ik.differential.LWA)
    bound = np.full(7, 2.0)
    for mode in velocity_qp.MODES:
        result = solve_velocity(J, [0.1, 0, -0.1, 0, 0, 0], -bound, bound, mode=mode)
        assert result.status is VelocityStatus.LIMITED and (J @ result.dq)[0] > 0.05
        np.testing.assert_allclose((J @ result.dq)[2], 0.0, atol=1e-9)


def test_what_is_not_finite_is_caught_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    J, twist = np.eye(6, 7), np.ones(6)
    for bad in (np.nan, np.inf):
        for change in ({"twist": np.full(6, bad)}, {"jacobian": np.full((6, 7), bad)}):
            result = solve_velocity(**({"jacobian": J, "twist": twist} | change))
            assert result.status is VelocityStatus.INVALID and not result and not result.dq.any() and result.message
    monkeypatch.setattr(velocity_qp, "_daqp", lambda: lambda *_, **__: (np.full(7, np.nan), 0.0, 1, {}))
    result = solve_velocity(J, twist)  # a solver that reports success with NaN inside
    assert result.status is VelocityStatus.FAILED and not result.dq.any()
    monkeypatch.setattr(velocity_qp, "_daqp", lambda: lambda *_, **__: (np.ones(7), 0.0, -1, {}))
    for mode in velocity_qp.MODES:  # one that gives up is stood in for
        np.testing.assert_allclose(J @ solve_velocity(J, twist, mode=mode).dq, twist, atol=1e-6)


def test_without_bounds_it_is_the_pseudo_inverse_and_without_joints_nothing(solver: str) -> None:
    J, twist = np.random.default_rng(4).normal(size=(6, 7)), np.arange(6.0)
    np.testing.assert_allclose(solve_velocity(J, twist).dq, np.linalg.pinv(J) @ twist, atol=1e-6)
    for mode in velocity_qp.MODES:
        none = solve_velocity(np.empty((6, 0)), twist, mode=mode)
        assert none.dq.shape == (0,) and none.status is VelocityStatus.LIMITED


@pytest.mark.parametrize(
    "change",
    [
        {"jacobian": np.ones(6)},
        {"twist": np.ones(5)},
        {"lower": np.ones(6)},
        {"lower": np.full(7, np.nan)},
        {"lower": np.ones(7), "upper": np.zeros(7)},
        {"weights": -np.ones(6)},
        {"weights": np.ones(3)},
        {"damping": 0.0},
        {"ref_weight": -1.0},
        {"dq_ref": np.full(7, np.nan)},
        {"mode": "fast"},
    ],
)
def test_bad_problems(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        solve_velocity(**({"jacobian": np.eye(6, 7), "twist": np.ones(6)} | change))


# Bounds


def stated(d: float, v: float, v_max: float, a: float, dt: float) -> float:
    """The upper bound, term by term."""
    return max(0.0, min(v_max, d / dt, v + a * dt, a * dt * (np.sqrt(0.25 + 2 * d / (a * dt * dt)) - 0.5)))


def test_bounds_are_the_stated_ones() -> None:
    rng, dt = np.random.default_rng(0), 2e-3
    bounds = VelocityBounds(ARM, dt, acceleration=15.0)
    (lower, upper), v_max = ARM.joint_limits, ARM.joint_velocity_limits
    for _ in range(200):
        q = lower + (upper - lower) * rng.choice([rng.uniform(), 1e-3, 1 - 1e-4], size=7)
        before = rng.uniform(-1, 1, 7) * v_max
        low, high = bounds.at(q, before)
        for i in range(7):
            assert high[i] == pytest.approx(stated(upper[i] - q[i], before[i], v_max[i], 15.0, dt), rel=1e-9)
            assert -low[i] == pytest.approx(stated(q[i] - lower[i], -before[i], v_max[i], 15.0, dt), rel=1e-9)


def test_limits_that_are_infinite_are_left_out() -> None:
    free = ARM.with_limits(velocity=np.inf)
    low, high = VelocityBounds(free, 1e-3, position=[[-np.inf] * 7, [np.inf] * 7]).at(np.zeros(7), np.zeros(7))
    assert (high >= 1e9).all() and (low <= -1e9).all() and np.isfinite(high).all()
    low, high = VelocityBounds(LEGS, 1e-3).at(LEGS.home_configuration, np.zeros(18))
    assert (high[:6] >= 1e9).all()  # the floating base
    assert (high[6:] <= LEGS.joint_velocity_limits[6:]).all()
    still = VelocityBounds(ARM, 1e-3, joint_mask=[True] * 3 + [False] * 4)
    assert not still.velocity[3:].any() and not still.at(np.zeros(7), np.zeros(7))[1][3:].any()


def test_outside_a_limit_only_the_way_back_is_open() -> None:
    bounds = VelocityBounds(ARM, 1e-3, acceleration=10.0)
    q = ARM.joint_limits[1] + 0.1
    low, high = bounds.at(q, np.zeros(7))
    assert not high.any() and (low < 0.0).all()


@pytest.mark.parametrize(
    "change",
    [
        {"dt": 0.0},
        {"velocity": -1.0},
        {"velocity": "fast"},
        {"acceleration": [1.0] * 6},
        {"acceleration": {"no_joint": 1.0}},
        {"position": np.zeros((2, 6))},
        {"position": [np.ones(7), np.zeros(7)]},
        {"joint_mask": [1] * 7},
        {"joint_mask": [True] * 6},
    ],
)
def test_bad_bounds(change: dict[str, Any]) -> None:
    with pytest.raises((InputError, InputTypeError)):
        VelocityBounds(ARM, **({"dt": 1e-3} | change))
