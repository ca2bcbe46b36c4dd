"""The laws against the same formulas written out with matrices, and what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from knuckle.controllers import laws

RNG = np.random.default_rng(3)
N = 7
MODES = ("full", "partial", "off")


def spd(n: int, rng: np.random.Generator = RNG) -> np.ndarray:
    X = rng.normal(size=(n, n))
    return X @ X.T + n * np.eye(n)


def rotation(rng: np.random.Generator = RNG) -> np.ndarray:
    return np.asarray(Rotation.random(rng=rng).as_matrix())


@pytest.fixture
def case() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    return {
        "a": rng.normal(size=6),
        "J": rng.normal(size=(6, N)),
        "M": spd(N, rng),
        "an": rng.normal(size=N),
        "f": rng.normal(size=6),
        "g": rng.normal(size=N),
        "Om": laws.selection_matrix(rng.uniform(size=6), rotation(rng), rotation(rng)),
        "Ow": laws.selection_matrix(rng.uniform(size=6), rotation(rng), rotation(rng)),
        "b": rng.normal(size=6),
    }


def plain_lambda(mode: str, J: np.ndarray, M: np.ndarray) -> np.ndarray:
    A = J @ np.linalg.inv(M) @ J.T
    if mode == "off":
        return np.eye(6)
    return np.linalg.inv(A) if mode == "full" else block_diag(np.linalg.inv(A[:3, :3]), np.linalg.inv(A[3:, 3:]))


def projector(mode: str, J: np.ndarray, M: np.ndarray) -> np.ndarray:
    if mode == "full":
        return np.eye(N) - J.T @ plain_lambda("full", J, M) @ J @ np.linalg.inv(M)
    return np.eye(N) - J.T @ np.linalg.inv(J @ J.T) @ J


def test_impedance_is_a_spring_a_damper_and_what_is_fed_forward() -> None:
    e, de, kp, kd, ff = RNG.normal(size=(5, 4))
    np.testing.assert_allclose(laws.impedance(e, de, kp, kd), np.diag(kp) @ e + np.diag(kd) @ de, rtol=1e-15)
    np.testing.assert_allclose(laws.impedance(e, de, kp, kd, ff) - laws.impedance(e, de, kp, kd), ff, atol=1e-14)


def test_joint_impedance_term_by_term() -> None:
    a, c, g = RNG.normal(size=(3, 5))
    M = spd(5)
    assert laws.joint_impedance(a) is a
    np.testing.assert_allclose(laws.joint_impedance(a, mass_matrix=M), M @ a, rtol=1e-14)
    np.testing.assert_allclose(laws.joint_impedance(a, coriolis_force=c), a + c, rtol=1e-14)
    np.testing.assert_allclose(
        laws.joint_impedance(a, mass_matrix=M, coriolis_force=c, gravity_force=g), M @ a + c + g, rtol=1e-13
    )


def test_spatial_vectors_turn_into_the_operational_frame() -> None:
    R, x, J = rotation(), RNG.normal(size=6), RNG.normal(size=(6, N))
    np.testing.assert_allclose(laws.in_frame(R, x), block_diag(R, R).T @ x, atol=1e-14)
    np.testing.assert_allclose(laws.jacobian_in_frame(R, J), block_diag(R, R).T @ J, atol=1e-14)
    assert laws.in_frame(None, x) is x and laws.jacobian_in_frame(None, J) is J


def test_pose_in_the_operational_frame() -> None:
    R_o, R, p_o, p = rotation(), rotation(), RNG.normal(size=3), RNG.normal(size=3)
    X_o, X = np.eye(4), np.eye(4)
    X_o[:3, :3], X_o[:3, 3], X[:3, :3], X[:3, 3] = R_o, p_o, R, p
    Rc, pc = laws.pose_in_frame(R, p, (R_o, p_o))
    np.testing.assert_allclose(np.column_stack((Rc, pc)), (np.linalg.inv(X_o) @ X)[:3], atol=1e-14)


def test_task_error_is_axis_times_angle_from_actual_to_desired() -> None:
    R, turn = rotation(), np.array([0.3, -0.4, 1.2])
    desired = Rotation.from_rotvec(turn).as_matrix() @ R
    e = laws.task_error(desired, np.array([1.0, 2.0, 3.0]), R, np.array([0.5, 2.5, 3.0]))
    np.testing.assert_allclose(e, [0.5, -0.5, 0.0, *turn], atol=1e-14)


def test_task_error_at_exactly_half_a_turn_is_pi_long() -> None:
    half = np.diag([-1.0, -1.0, 1.0])
    e = laws.task_error(half, np.zeros(3), np.eye(3), np.zeros(3))
    np.testing.assert_allclose(np.linalg.norm(e[3:]), np.pi, rtol=1e-15)


def test_selection_is_diagonal_in_its_frames() -> None:
    s, Rf, Rt = RNG.uniform(size=6), rotation(), rotation()
    expected = block_diag(Rf @ np.diag(s[:3]) @ Rf.T, Rt @ np.diag(s[3:]) @ Rt.T)
    np.testing.assert_allclose(laws.selection_matrix(s, Rf, Rt), expected, atol=1e-15)


def test_complementary_selections_are_projectors_that_share_the_space() -> None:
    s, Rf, Rt = np.array([1.0, 0, 1, 0, 0, 1]), rotation(), rotation()
    Om, Ow = laws.selection_matrix(s, Rf, Rt), laws.selection_matrix(1 - s, Rf, Rt)
    np.testing.assert_allclose(Om @ Om, Om, atol=1e-15)
    np.testing.assert_allclose(Om + Ow, np.eye(6), atol=1e-15)
    np.testing.assert_allclose(Om @ Ow, 0, atol=1e-15)


def test_wrench_law_term_by_term() -> None:
    R, w, m, k = rotation(), *RNG.normal(size=(2, 6)), RNG.uniform(size=6)
    R6 = block_diag(R, R)
    np.testing.assert_allclose(laws.wrench_law(w, None, None, R, True), R6.T @ w, atol=1e-14)
    np.testing.assert_allclose(laws.wrench_law(w, m, k, R, False), k * (R6.T @ (w - m)), atol=1e-14)
    np.testing.assert_allclose(laws.wrench_law(w, m, k, R, True), R6.T @ w + k * (R6.T @ (w - m)), atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("singularity", ["damp", "exact"])
def test_every_term_against_matrices(case: dict[str, Any], mode: Any, singularity: Any) -> None:
    J, M, Om = case["J"], case["M"], case["Om"]
    Lambda, kind = plain_lambda(mode, J, M), {"decoupling": mode, "singularity": singularity}
    s = case["an"] if mode == "off" else M @ case["an"]
    motion = J.T @ Lambda @ case["a"]
    for options, expected in (
        ({}, motion),
        ({"motion_selection": Om}, J.T @ Lambda @ Om @ case["a"]),
        ({"motion_selection": Om, "project_motion": True}, J.T @ Om @ Lambda @ Om @ case["a"]),
        ({"wrench": case["f"], "wrench_selection": case["Ow"]}, motion + J.T @ case["Ow"] @ case["f"]),
        ({"posture": case["an"]}, motion + projector(mode, J, M) @ s),
        ({"passive_force": case["g"]}, motion + case["g"]),
        ({"bias_acceleration": case["b"]}, J.T @ Lambda @ (case["a"] - case["b"])),
    ):
        tau, _ = laws.operational_space(case["a"], J, mass_matrix=M, **kind, **options)
        np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-11)


def test_posture_with_full_decoupling_leaves_the_task_acceleration_alone(case: dict[str, Any]) -> None:
    J, M = case["J"], case["M"]
    without, _ = laws.operational_space(case["a"], J, mass_matrix=M)
    with_it, _ = laws.operational_space(case["a"], J, mass_matrix=M, posture=100 * case["an"])
    assert np.abs(with_it - without).max() > 1
    np.testing.assert_allclose(J @ np.linalg.solve(M, with_it - without), 0, atol=1e-10)


@pytest.mark.parametrize("mode", ["partial", "off"])
def test_posture_otherwise_exerts_nothing_at_the_tool(case: dict[str, Any], mode: Any) -> None:
    J, M = case["J"], case["M"]
    zero, options = np.zeros(6), {"mass_matrix": M, "decoupling": mode}
    tau, _ = laws.operational_space(zero, J, posture=100 * case["an"], **options)
    assert np.abs(tau).max() > 1
    np.testing.assert_allclose(J @ tau, 0, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_projecting_twice_is_projecting_once(case: dict[str, Any], mode: str) -> None:
    P = projector(mode, case["J"], case["M"])
    np.testing.assert_allclose(P @ P, P, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_zero_error_gives_zero_torque(case: dict[str, Any], mode: Any) -> None:
    options = {"mass_matrix": case["M"], "decoupling": mode, "posture": np.zeros(N), "wrench": np.zeros(6)}
    tau, _ = laws.operational_space(np.zeros(6), case["J"], **options)
    assert (tau == 0).all()


def test_full_decoupling_gives_the_acceleration_asked_for(case: dict[str, Any]) -> None:
    tau, record = laws.operational_space(case["a"], case["J"], mass_matrix=case["M"])
    np.testing.assert_allclose(case["J"] @ np.linalg.solve(case["M"], tau), case["a"], atol=1e-10)
    assert record.nearness == 1.0


@pytest.mark.parametrize("mode", MODES)
def test_many_robots_at_once_are_each_alone(mode: Any) -> None:
    rng, count = np.random.default_rng(5), 9
    a, J, an, f, g = (rng.normal(size=(count, *shape)) for shape in ((6,), (6, N), (N,), (6,), (N,)))
    M = np.array([spd(N, rng) for _ in range(count)])
    Om = np.array([laws.selection_matrix(rng.uniform(size=6), rotation(rng), rotation(rng)) for _ in range(count)])
    arrays = {"mass_matrix": M, "posture": an, "wrench": f, "passive_force": g}
    arrays |= {"motion_selection": Om, "wrench_selection": Om}
    together, _ = laws.operational_space(a, J, decoupling=mode, **arrays)
    for i in range(count):
        one = {name: value[i] for name, value in arrays.items()}
        alone, _ = laws.operational_space(a[i], J[i], decoupling=mode, **one)
        np.testing.assert_allclose(together[i], alone, rtol=1e-12, atol=1e-12)


def test_torque_limits_clip_each_joint_or_scale_them_all() -> None:
    tau, limits = np.array([3.0, -8.0, 0.0, 1.0]), np.array([6.0, 4.0, 0.0, np.inf])
    assert laws.limit_torque(tau, limits, "clip").tolist() == [3.0, -4.0, 0.0, 1.0]
    assert laws.limit_torque(tau, limits, "scale").tolist() == [1.5, -4.0, 0.0, 0.5]
    inside = np.array([1.0, -1.0, 0.0, 9.0])
    assert (laws.limit_torque(inside, limits, "scale") == inside).all()
