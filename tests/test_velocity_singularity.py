"""Joint velocities where an arm is stretched out: no racing, no turning round at every step, exact elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import InputError
from knuckle.controllers import CartesianAdmittance
from knuckle.ik import DifferentialIK, VelocityStatus, solve_velocity, velocity_qp
from knuckle.ik.velocity_singularity import MARGIN, held_back

from .samples import load

ARM, TWO = load("sevenr_arm"), load("planar_2r")
BENT = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


@pytest.fixture(params=["daqp", "fallback"])
def solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "fallback":
        monkeypatch.setattr(velocity_qp, "_daqp", lambda: None)
    return str(request.param)


def turned_round(speeds: list[np.ndarray]) -> int:
    """How often a joint goes from faster than 0.05 one way to faster than 0.05 the other way in one step."""
    dq = np.array(speeds)
    return int(((dq[1:] * dq[:-1] < 0.0) & (np.abs(dq[1:]) > 0.05) & (np.abs(dq[:-1]) > 0.05)).sum())


@pytest.mark.parametrize("mode", ["least_squares", "scale"])
@pytest.mark.parametrize(("speed", "dt"), [(0.05, 1e-3), (0.5, 1e-3), (0.1, 1e-2), (2.0, 1e-2)])
def test_a_twist_into_the_stretched_arm_comes_to_rest(mode: str, speed: float, dt: float, solver: str) -> None:
    differential, q, before, speeds = DifferentialIK(ARM, dt=dt, mode=mode), BENT, np.zeros(7), []
    for _ in range(int(min(2.5 / speed, 8.0) / dt / (1 if dt > 5e-3 else 4))):
        q, result = differential.advance(q, twist=[speed, 0, 0, 0, 0, 0], dq_before=before)
        before = result.dq
        speeds.append(result.dq)
    assert turned_round(speeds) <= (speed * dt > 0.01)  # at 2 cm a step it may overshoot once
    assert (np.abs(speeds) <= ARM.joint_velocity_limits + 1e-12).all()


@pytest.mark.parametrize("force", [50.0, 300.0, 1000.0])
def test_a_push_into_the_stretched_arm_comes_to_rest(force: float) -> None:
    controller = CartesianAdmittance(ARM, distal_link="tool", stiffness=200, damping_ratio=1.0, inertia=5, dt=2e-3)
    q, speeds = BENT.copy(), []
    controller.step(q)
    for _ in range(2000):
        push = np.concatenate((ARM.fk(q).rotation.T @ [force, 0.0, 0.0], np.zeros(3)))
        result = controller.step(q, None, push)
        speeds.append(result.dq)
        q = q + 2e-3 * result.dq
    assert turned_round(speeds) == 0
    assert np.abs(speeds[-1]).max() < 0.02
    if force > 50.0:
        assert "near a singularity" in result.message


def test_a_stretched_two_link_arm_by_hand() -> None:
    """Along the tangent nothing is held back; along the arm sigma/(sigma^2 + beta^2) takes the place of 1/sigma."""
    q = np.array([0.3, 1e-5])
    J = TWO.jacobian(q, reference="LWA")
    U, sigma, _ = np.linalg.svd(J[:3], full_matrices=False)
    options = {"dt": 1e-3, "weights": [1, 1, 1, 0, 0, 0], "velocity_limits": np.inf}
    differential = DifferentialIK(TWO, **options)
    tangent = differential.step(q, twist=[*(0.2 * U[:, 0]), 0, 0, 0])
    assert tangent.status is VelocityStatus.SOLVED
    np.testing.assert_allclose(J[:3] @ tangent.dq, 0.2 * U[:, 0], atol=1e-6)
    radial = differential.step(q, twist=[*(0.2 * U[:, 1]), 0, 0, 0])
    assert radial.status is VelocityStatus.LIMITED and radial.singular and radial.message == "near a singularity"
    length = np.sqrt((sigma**2).sum())
    beta2 = max((0.5 * MARGIN * length) ** 2, 2.0 * length * 0.2 * 1e-3)
    assert np.linalg.norm(radial.dq) == pytest.approx(0.2 * sigma[1] / (sigma[1] ** 2 + beta2), rel=1e-3)
    plain = DifferentialIK(TWO, **options, singularity_margin=0.0, damping=1e-10)
    assert np.abs(plain.step(q, twist=[*(0.2 * U[:, 1]), 0, 0, 0]).dq).max() > 1e3


def test_away_from_singularities_nothing_changes() -> None:
    rng, seen = np.random.default_rng(3), 0
    for _ in range(200):
        q = rng.uniform(*ARM.joint_limits)
        J, twist = ARM.jacobian(q, reference="LWA"), rng.normal(size=6)
        bound = ARM.joint_velocity_limits
        if held_back(J, twist, -bound, bound, None, MARGIN, 1e-3) is not None:
            continue
        seen += 1
        kept = solve_velocity(J, twist, -bound, bound, singularity_margin=MARGIN, dt=1e-3)
        np.testing.assert_array_equal(kept.dq, solve_velocity(J, twist, -bound, bound).dq)
    assert seen > 150


def test_the_answer_changes_continuously_where_holding_back_sets_in() -> None:
    twist, last = np.array([0.1, 0, 0.05, 0, 0, 0]), None
    for bend in np.linspace(0.6, -0.6, 6001):
        q = BENT.copy()
        q[3] = bend
        dq = DifferentialIK(ARM, dt=1e-3, velocity_limits=np.inf).step(q, twist=twist).dq
        assert last is None or np.abs(dq - last).max() < 0.02
        last = dq


def test_a_preference_is_followed_in_what_is_held_back() -> None:
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.normal(size=(6, 6)))[0], np.linalg.qr(rng.normal(size=(6, 6)))[0]
    J = U @ np.diag([1, 1, 1, 1, 1, 1e-6]) @ V.T
    wanted = rng.normal(size=6)
    free = solve_velocity(J, J @ wanted, dq_ref=wanted, ref_weight=1e-3, singularity_margin=0.05, dt=1e-3)
    np.testing.assert_allclose(free.dq, wanted, atol=1e-4)


def test_a_limited_answer_names_the_joints_and_the_limits() -> None:
    fast = DifferentialIK(ARM, dt=1e-3, velocity_limits={"joint4": 0.01}).step(BENT, twist=[0.3, 0, 0, 0, 0, 0])
    assert fast.status is VelocityStatus.LIMITED
    assert "joint4" in fast.held_by and "joint4 at its velocity limit" in fast.message
    slow = DifferentialIK(ARM, dt=1e-3, acceleration_limits={"joint2": 1e-3}).step(BENT, twist=[0.3, 0, 0, 0, 0, 0])
    assert "joint2 at its acceleration limit" in slow.message
    edge = BENT.copy()
    edge[3] = ARM.joint_limits[0, 3]
    away = -ARM.jacobian(edge, reference="LWA")[:, 3]
    stuck = DifferentialIK(ARM, dt=1e-3, weights=[1, 1, 1, 0.1, 0.1, 0.1]).step(edge, twist=0.2 * away)
    assert "joint4 at its position limit" in stuck.message
    result = CartesianAdmittance(
        ARM,
        distal_link="tool",
        stiffness=200,
        damping_ratio=1.0,
        inertia=0.1,
        dt=1e-3,
        velocity_limits={"joint4": 0.001},
    ).step(BENT, None, [0, 0, -50, 0, 0, 0])
    assert "joint4 at its velocity limit" in result.message


@pytest.mark.parametrize("which", ["velocity_limits", "acceleration_limits"])
def test_a_mapping_leaves_the_other_limits_as_they_are(which: str) -> None:
    slow = ARM.with_limits(acceleration=5.0)
    bounds: Any = DifferentialIK(slow, dt=1e-3, **{which: {"joint4": 0.05}}).bounds
    plain = DifferentialIK(slow, dt=1e-3).bounds
    ours, others = bounds.at(BENT, np.zeros(7))[1], plain.at(BENT, np.zeros(7))[1]
    others[3] = min(others[3], 0.05 * (1.0 if which == "velocity_limits" else 1e-3))
    np.testing.assert_allclose(ours, others, rtol=1e-12)


def test_the_margin_is_checked() -> None:
    with pytest.raises(InputError, match="singularity_margin"):
        DifferentialIK(ARM, dt=1e-3, singularity_margin=-1.0)
