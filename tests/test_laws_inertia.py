"""The operational-space inertia: plain away from singularities, bounded and smooth at them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from knuckle.controllers.task_inertia import EPS, GREATEST_LEVER, LEAST_LEVER, block_inertia, full_inertia, spread_of


def matrix(eigenvalues: np.ndarray, seed: int = 0) -> np.ndarray:
    """SPD with these eigenvalues; as many radians as metres, so that the level l is 1 by symmetry of the mix."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
    return np.asarray(Q @ np.diag(eigenvalues) @ Q.T)


def parts(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """S, As and lam0, straight from the law."""
    level = np.trace(A[:3, :3]) / np.trace(A[3:, 3:])
    S = np.diag([1.0] * 3 + [np.sqrt(level)] * 3)
    return S, S @ A @ S, EPS * np.trace(A[:3, :3]) / 3


def test_exact_wherever_the_levelled_condition_allows() -> None:
    for seed in range(20):
        A = matrix(np.geomspace(1, 0.2 / EPS, 6), seed)
        if np.linalg.cond(parts(A)[1]) <= 1 / EPS:
            Lambda, nearness = full_inertia(A, "damp")
            np.testing.assert_allclose(Lambda @ A, np.eye(6), atol=1e-10)
            np.testing.assert_allclose(Lambda, np.linalg.inv(A), rtol=0, atol=1e-12 * np.abs(Lambda).max())
            assert nearness == 1.0


@pytest.mark.parametrize("least", [1e-2, 1e-4, 1e-6, 1e-9, 0.0])
def test_near_a_singularity_it_follows_the_law(least: float) -> None:
    A = matrix(np.array([least, 1, 2, 3, 4, 5]), 1)
    S, As, lam0 = parts(A)
    lam, U = np.linalg.eigh(As)
    x = np.clip(lam / lam0, 0, 1)
    h = np.where(x == 1, 1 / lam, (3 - 3 * x + x**2) / lam0)
    Lambda, nearness = full_inertia(A, "damp")
    np.testing.assert_allclose(Lambda, S @ U @ np.diag(h) @ U.T @ S, rtol=1e-9, atol=1e-9 * h.max())
    np.testing.assert_allclose(nearness, x.min(), atol=1e-12)
    np.testing.assert_allclose(lam * h, 1 - (1 - x) ** 3, atol=1e-12)
    assert np.linalg.eigvalsh(Lambda)[0] > 0


def test_torque_is_bounded() -> None:
    rng = np.random.default_rng(4)
    for least in (0.0, 1e-12, 1e-6, 1e-4, 1e-3):
        A = matrix(np.array([least, least, 1, 2, 3, 4]), 2)
        S, _, lam0 = parts(A)
        Lambda, _ = full_inertia(A, "damp")
        for _ in range(50):
            a = rng.normal(size=6)
            norm = np.sqrt(max(a @ Lambda @ A @ Lambda @ a, 0.0))  # |Jo^T Lambda a| in the metric M^-1
            assert norm <= 1.243 / np.sqrt(lam0) * np.linalg.norm(S @ a)


def test_the_transition_is_smooth() -> None:
    """Value, slope and curvature along a path of matrices through x = 1 make no jump."""
    A = matrix(np.array([0.0, 1, 2, 3, 4, 5]), 3)
    S, As, lam0 = parts(A)
    U = np.linalg.eigh(As)[1][:, :1]

    def entry(x: float) -> float:
        B = np.linalg.inv(S) @ (As + x * lam0 * U @ U.T) @ np.linalg.inv(S)
        return float(full_inertia(B, "damp")[0][0, 0])

    h = 1e-3
    edge = next(x for x in np.arange(0.9, 1.2, 1e-4) if full_inertia_x(S, As, lam0, U, x) == 1.0)
    second = [(entry(x + h) - 2 * entry(x) + entry(x - h)) / h**2 for x in (edge - 2 * h, edge + 2 * h)]
    assert abs(second[0] - second[1]) < 0.05 * abs(second[1])


def full_inertia_x(S: np.ndarray, As: np.ndarray, lam0: float, U: np.ndarray, x: float) -> float:
    B = np.linalg.inv(S) @ (As + x * lam0 * U @ U.T) @ np.linalg.inv(S)
    return float(full_inertia(B, "damp")[1])


@pytest.mark.parametrize("least", [1.0, 1e-5])
def test_axes_do_not_matter(least: float) -> None:
    A, R = matrix(np.array([least, 1, 2, 3, 4, 5]), 5), Rotation.from_rotvec([0.3, 1.0, -0.7]).as_matrix()
    R6 = block_diag(R, R)
    for inertia in (full_inertia, block_inertia):
        turned = inertia(R6 @ A @ R6.T, "damp")[0]
        np.testing.assert_allclose(
            turned, R6 @ inertia(A, "damp")[0] @ R6.T, rtol=1e-8, atol=1e-8 * np.abs(turned).max()
        )


def test_blocks_are_inverted_alone() -> None:
    A = matrix(np.arange(1.0, 7.0), 6)
    expected = block_diag(np.linalg.inv(A[:3, :3]), np.linalg.inv(A[3:, 3:]))
    for singularity in ("damp", "exact"):
        np.testing.assert_allclose(block_inertia(A, singularity)[0], expected, atol=1e-13)
    weak = block_diag(np.diag([0.0, 1.0, 2.0]), np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(np.diag(block_inertia(weak, "damp")[0])[:3], [3 / (EPS * 1.0), 1.0, 0.5])


def test_one_singular_or_undefined_matrix_leaves_the_others_alone() -> None:
    A = np.stack([matrix(np.arange(1.0, 7.0), seed) for seed in range(5)])
    alone = [full_inertia(one, "damp")[0] for one in A]
    spoilt = A.copy()
    spoilt[1], spoilt[3] = np.nan, 0.0
    for singularity in ("damp", "exact"):
        Lambda, _ = full_inertia(spoilt, singularity)
        for i in (0, 2, 4):
            np.testing.assert_allclose(Lambda[i], alone[i], rtol=1e-12, atol=1e-14)
        assert np.isnan(Lambda[1]).all()
    assert (full_inertia(spoilt, "damp")[0][3] == 0).all()  # nothing moves the tool
    blocks, nearness = block_inertia(spoilt, "damp")
    assert np.isnan(blocks[1, :3, :3]).all() and np.isfinite(blocks[[0, 2, 3, 4]]).all()
    assert nearness.shape == (5,)
    assert np.isnan(spread_of(spoilt)[1]).all()


def test_many_at_once_are_each_alone_near_singularities() -> None:
    A = np.stack([matrix(np.array([10.0**-k, 1, 2, 3, 4, 5]), k) for k in range(12)])
    for inertia in (full_inertia, block_inertia):
        together, nearness = inertia(A, "damp")
        x = np.broadcast_to(nearness, len(A))
        for i, one in enumerate(A):
            alone, own = inertia(one, "damp")
            np.testing.assert_allclose(together[i], alone, rtol=1e-9, atol=1e-12 * np.abs(alone).max())
            assert x[i] == pytest.approx(own, abs=1e-12)


def at_lever(lever: float, eigenvalues: np.ndarray, seed: int) -> np.ndarray:
    """A whose linear rows are those of a tool held at a lever [m]."""
    S = np.diag([lever] * 3 + [1.0] * 3)
    return np.asarray(S @ matrix(eigenvalues, seed) @ S)


@pytest.mark.parametrize("lever", [1e-3, 1e-2, 1.0, 100.0, 1e3, 5e3])
def test_the_unit_of_length_does_not_matter_to_what_is_well_conditioned(lever: float) -> None:
    for seed in range(10):
        A = at_lever(lever, np.array([1.0, 1.5, 2, 3, 4, 5]), seed)
        for inertia, blocks in ((full_inertia, False), (block_inertia, True)):
            expected = block_diag(np.linalg.inv(A[:3, :3]), np.linalg.inv(A[3:, 3:])) if blocks else np.linalg.inv(A)
            Lambda, nearness = inertia(A, "damp")
            np.testing.assert_allclose(Lambda, expected, rtol=1e-9, atol=1e-12 * np.abs(Lambda).max())
            assert nearness == 1.0


@pytest.mark.parametrize("lever", [1e-17, 1e-9, 1e-4, 1e8, 1e17])
def test_what_is_rounding_beside_the_other_half_is_not_inverted(lever: float) -> None:
    A = at_lever(lever, np.array([1.0, 1.5, 2, 3, 4, 5]), 4)
    level = np.clip(np.sqrt(np.trace(A[:3, :3]) / np.trace(A[3:, 3:])), LEAST_LEVER, GREATEST_LEVER)
    S = np.diag([1.0] * 3 + [level] * 3)
    lam, U = np.linalg.eigh(S @ A @ S)
    lam0 = EPS * lam.sum() / 6
    x = np.clip(lam / lam0, 0, 1)
    h = np.where(x == 1, 1 / np.maximum(lam, lam0), (3 - 3 * x + x**2) / lam0)
    Lambda, nearness = full_inertia(A, "damp")
    levelled = np.linalg.inv(S) @ Lambda @ np.linalg.inv(S)
    np.testing.assert_allclose(levelled, U @ np.diag(h) @ U.T, rtol=0, atol=1e-9 * h.max())
    assert nearness < 1.0
    together = full_inertia(np.stack([A, np.eye(6)]), "damp")[0][0]
    np.testing.assert_allclose(np.diag(together), np.diag(Lambda), rtol=1e-9)
    weak = slice(0, 3) if lever < 1.0 else slice(3, 6)
    other = np.trace(A) - np.trace(A[weak, weak])
    bound = 3.0 / (EPS / 3.0 * other * (LEAST_LEVER**2 if lever < 1.0 else GREATEST_LEVER**-2))
    assert np.linalg.eigvalsh(Lambda[weak, weak])[-1] <= 2.0 * bound * (1 + 1e-9)
    for blocks in (block_inertia(A, "damp")[0], block_inertia(np.stack([np.eye(6), A]), "damp")[0][1]):
        assert np.linalg.eigvalsh(blocks[weak, weak])[-1] <= bound * (1 + 1e-9)
