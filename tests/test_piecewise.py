"""Piecewise polynomials against SciPy, their extrema against roots and dense sampling, their bounds against both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline

from knuckle.robot.piecewise import Piecewise, cubic, linear, quintic

RNG = np.random.default_rng(3)
T = np.cumsum(RNG.uniform(0.1, 1.0, 25))
Q, V, A = RNG.normal(size=(3, 25, 4))
X = np.linspace(T[0], T[-1], 30_001)
PATHS = {"linear": linear(T, Q), "cubic": cubic(T, Q, V), "quintic": quintic(T, Q, V, A)}


def values(poly: Piecewise, times: np.ndarray = X) -> np.ndarray:
    return poly.evaluate(*poly.locate(times))


def test_cubic_and_quintic_are_those_of_scipy() -> None:
    theirs = CubicHermiteSpline(T, Q, V), BPoly.from_derivatives(T, np.stack([Q, V, A], axis=1))
    for ours, their in zip((PATHS["cubic"], PATHS["quintic"]), theirs, strict=True):
        for order in range(4):
            expected = their(X, nu=order)
            np.testing.assert_allclose(values(ours), expected, atol=1e-11 * np.abs(expected).max())
            ours = ours.derivative()


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("kind", PATHS)
def test_extrema_are_exact(kind: str, order: int) -> None:
    poly = PATHS[kind]
    for _ in range(order):
        poly = poly.derivative()
    none = np.full(4, np.inf)
    below, above = poly.peaks(-none, none)
    inner, step = values(poly), np.abs(values(poly.derivative())).max() * (X[1] - X[0])
    ends = np.vstack(poly.ends())
    most = np.maximum(inner.max(axis=0), ends.max(axis=0))
    least = np.minimum(inner.min(axis=0), ends.min(axis=0))
    assert (above.value >= most - 1e-9).all() and (above.value <= most + step).all()
    assert (below.value <= least + 1e-9).all() and (below.value >= least - step).all()
    if order < {"linear": 1, "cubic": 2, "quintic": 3}[kind]:  # continuous, so the time tells the value
        for peaks in (below, above):
            np.testing.assert_allclose(np.diag(values(poly, peaks.time)), peaks.value, atol=1e-9)


def test_extremum_of_one_cubic_is_that_of_its_derivative_s_roots() -> None:
    for c in RNG.normal(size=(50, 4)):
        poly = Piecewise(np.array([0.0, 1.0]), c.reshape(4, 1, 1))
        roots = np.roots((c[1:] * [1, 2, 3])[::-1])
        inside = roots[(np.abs(roots.imag) < 1e-12) & (roots.real > 0) & (roots.real < 1)].real
        expected = np.polyval(c[::-1], np.concatenate([[0.0, 1.0], inside])).max()
        assert poly.peaks(np.array([-np.inf]), np.array([np.inf]))[1].value[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", PATHS)
def test_segments_beyond_a_bound_are_all_counted(kind: str) -> None:
    poly = PATHS[kind].derivative()
    bound = 0.5 * np.abs(values(poly)).max(axis=0)
    below, above = poly.peaks(-bound, bound)
    inner, (segment, _) = values(poly), poly.locate(X)
    for column in range(4):
        seen = set(segment[inner[:, column] > bound[column]]), set(segment[inner[:, column] < -bound[column]])
        assert seen[0] <= set(np.flatnonzero(above.over[:, column]))
        assert seen[1] <= set(np.flatnonzero(below.over[:, column]))


@pytest.mark.parametrize("kind", PATHS)
def test_hull_holds_every_value(kind: str) -> None:
    poly = PATHS[kind]
    for _ in range(4):
        low, high = poly.hull()
        segment, _ = poly.locate(X)
        inner = values(poly)
        assert (inner >= low[segment] - 1e-9).all() and (inner <= high[segment] + 1e-9).all()
        poly = poly.derivative()
