"""The laws of admittance on arrays, against matrix exponentials, SciPy's filters and worked numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.signal import bilinear, lfilter

from knuckle import InputError
from knuckle.controllers.admittance_filter import WrenchFilter
from knuckle.controllers.admittance_law import (
    FilterForm,
    dead_zone,
    exact_step,
    filter_form,
    raw_form,
    response,
)
from knuckle.controllers.admittance_motion import FilterMotion

NAMES = ("p11", "p12", "p21", "p22", "gx", "gv")


def one(*values: float) -> list[np.ndarray]:
    return [np.array([value]) for value in values]


def sampled(M: float, D: float, K: float, dt: float) -> list[float]:
    step = exact_step(*one(M, D, K), dt)
    return [float(getattr(step, name)[0]) for name in NAMES]


def exponential(M: float, D: float, K: float, dt: float) -> list[float]:
    A = np.array([[0.0, 1.0, 0.0], [-K / M, -D / M, 1.0 / M], [0.0, 0.0, 0.0]])
    P = expm(A * dt)
    return [P[0, 0], P[0, 1], P[1, 0], P[1, 1], P[0, 2], P[1, 2]]


@pytest.mark.parametrize(
    ("MDK", "expected"),
    [
        (
            (10, 200, 1000),
            (
                0.9999503320867,
                9.900498337492e-4,
                -0.09900498337492,
                0.9801493354117,
                4.966791334032e-8,
                9.900498337492e-5,
            ),
        ),
        (
            (10, 60, 1000),
            (
                0.9999501002658,
                9.969893743373e-4,
                -0.09969893743373,
                0.9939681640198,
                4.989973415340e-8,
                9.969893743373e-5,
            ),
        ),
        ((10, 100, 0), (1, 9.950166250832e-4, 0, 0.9900498337492, 4.983374916805e-8, 9.950166250832e-5)),
    ],
)
def test_worked_numbers_of_the_exact_form(MDK: tuple[float, ...], expected: tuple[float, ...]) -> None:
    np.testing.assert_allclose(sampled(*MDK, 1e-3), expected, rtol=2e-12)


@settings(deadline=None)
@given(
    st.floats(-2, 3).map(lambda e: 10**e),
    st.floats(0.0, 4.0),
    st.one_of(st.just(0.0), st.floats(-1, 5).map(lambda e: 10**e)),
    st.floats(-4, -1).map(lambda e: 10**e),
)
def test_the_exact_form_is_the_matrix_exponential(M: float, zeta: float, K: float, dt: float) -> None:
    D = 2.0 * zeta * math.sqrt(M * K) if K else 10.0 * zeta
    np.testing.assert_allclose(sampled(M, D, K, dt), exponential(M, D, K, dt), rtol=1e-8, atol=1e-14)


def test_worked_numbers_of_the_filter_form() -> None:
    form = filter_form(*one(1000.0, 200.0), 0.01, 0.001)
    np.testing.assert_allclose([form.compliance[0], form.inertia[0], form.cutoff[0]], [1e-5, 10.0, 10.0], rtol=1e-12)
    filter_, x, seen = WrenchFilter(1), 0.0, []
    filter_.tune(form.cutoff, form.dt, None)
    for _ in range(3):
        f = float(filter_.advance(np.array([10.0]))[0])
        x = (1.0 - form.lam) * x + float(form.compliance[0]) * f
        seen.append((f, x))
    expected = [(0.0497512438, 4.97512438e-7), (0.1487586941, 1.98012425e-6), (0.2467809956, 4.42813297e-6)]
    np.testing.assert_allclose(seen, expected, rtol=1e-8)
    exact = response(exact_step(form.inertia, form.damping, form.stiffness, 1e-3), np.full((4, 1), 10.0))
    np.testing.assert_allclose(exact[1:, 0], [4.966791334e-7, 1.973532271e-6, 4.411004450e-6], rtol=1e-9)


def test_filter_and_raw_parameters_are_two_ways_to_say_the_same() -> None:
    form = filter_form(*one(800.0, 150.0), 0.02, 2e-3)
    np.testing.assert_allclose([form.stiffness[0], form.damping[0]], [800.0, 150.0], rtol=1e-12)
    again = raw_form(form.compliance, form.cutoff, form.lam, form.dt)
    np.testing.assert_allclose([again.inertia[0], again.damping[0]], [form.inertia[0], 150.0], rtol=1e-12)
    assert raw_form(*one(1e-5, 10.0), 0.0, 1e-3).stiffness[0] == 0.0
    alpha = form.lam / form.dt
    assert form.damping[0] == pytest.approx(alpha * form.inertia[0] + 800.0 / alpha)  # never underdamped


@pytest.mark.parametrize(
    ("K", "D", "lam", "words"),
    [
        (1000.0, 100.0, 0.01, "damping must exceed stiffness dt/lam = 100"),
        (1000.0, 200.0, 0.0, "lam must be in"),
        (1000.0, 200.0, 1.5, "lam must be in"),
        (0.0, 200.0, 0.1, "stiffness must be positive"),
    ],
)
def test_parameters_without_a_mass_are_refused(K: float, D: float, lam: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        filter_form(*one(K, D), lam, 1e-3)


def steps_of(form: FilterForm, count: int, force: float) -> np.ndarray:
    motion, x = FilterMotion(form), np.zeros(1)
    rows = []
    for _ in range(count):
        x = x + form.dt * motion.ask(x, np.array([force]))
        rows.append(x[0])
    return np.array(rows)


@pytest.mark.parametrize(("lam", "share"), [(0.01, 0.2), (0.05, 0.2), (0.2, 0.2), (0.9, 0.35)])
def test_the_filter_form_is_within_a_fifth_of_lambda_of_the_spring(lam: float, share: float) -> None:
    K, dt, force = 1000.0, 1e-3, 10.0
    D = 2.5 * K * dt / lam
    form = filter_form(*one(K, D), lam, dt)
    assert (form.cutoff[0] * dt <= 1.0) or share == 0.35
    exact = response(exact_step(form.inertia, form.damping, form.stiffness, dt), np.full((1001, 1), force))[1:, 0]
    error = np.abs(steps_of(form, 1000, force) - exact).max()
    assert error <= share * lam * force / K


def test_the_error_of_the_filter_form_halves_with_dt() -> None:
    M, D, K = 10.0, 250.0, 1000.0
    alpha = (D - math.sqrt(D * D - 4 * M * K)) / (2 * M)  # D = alpha M + K/alpha
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        form, count = filter_form(*one(K, D), alpha * dt, dt), round(1.0 / dt)
        np.testing.assert_allclose(form.inertia, M, rtol=1e-9)
        exact = response(exact_step(*one(M, D, K), dt), np.full((count + 1, 1), 10.0))[1:, 0]
        errors.append(np.abs(steps_of(form, count, 10.0) - exact).max())
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 2.0, rtol=0.1)


@pytest.mark.parametrize(("lam", "grows"), [(1.999, False), (2.001, True)])
def test_free_motion_is_stable_below_a_lambda_of_two(lam: float, grows: bool) -> None:
    """The door lets no lambda above 1 in; this is the recursion itself."""
    motion, x = FilterMotion(FilterForm(np.array([1e-5]), np.array([10.0]), lam, 1e-3)), np.array([1.0])
    for _ in range(5000):
        x = x + 1e-3 * motion.ask(x, np.zeros(1))
    assert (abs(x[0]) > 1.0) == grows


@pytest.mark.parametrize("lam", [0.01, 0.1])
@pytest.mark.parametrize("form", ["filter", "exact"])
def test_contact_is_stable_up_to_its_bound(lam: float, form: str) -> None:
    """F_k = -Ke x_(k-1): the filter form is stable iff (K + Ke) dt < 2 D, within 1 %; the exact form then is, too."""
    K, dt = 1000.0, 1e-3
    D = 4.0 * K * dt / lam
    edge = 2.0 * D / dt - K
    made = filter_form(*one(K, D), lam, dt)
    step = exact_step(made.inertia, made.damping, made.stiffness, dt)
    grows = {}
    for share in (0.99, 1.01):
        motion, x, v = FilterMotion(made), np.array([1e-3]), np.zeros(1)
        size = []
        for _ in range(40_000 if form == "filter" else 4000):
            force = -share * edge * x
            if form == "filter":
                x = x + dt * motion.ask(x, force)
            else:
                x, v = step.advance(x, v, force)
            size.append(abs(x[0]))
            if size[-1] > 1.0:
                break
        grows[share] = size[-1] > size[0]
    assert not grows[0.99]
    assert grows[1.01] or form == "exact"


@pytest.mark.parametrize("zeta", [None, 0.5, 1.0])
def test_the_filters_are_scipys_bilinear_ones(zeta: float | None) -> None:
    w, dt, rng = 30.0, 2e-3, np.random.default_rng(0)
    force = rng.normal(size=200)
    b, a = ([w], [1.0, w]) if zeta is None else ([w * w], [1.0, 2 * zeta * w, w * w])
    expected = lfilter(*bilinear(b, a, fs=1 / dt), force)
    filter_ = WrenchFilter(1)
    filter_.tune(np.array([w]), dt, zeta)
    found = [filter_.advance(np.array([F]))[0] for F in force]
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_the_dead_zone_is_subtracted() -> None:
    found = dead_zone(np.array([-3.0, -1.0, 0.0, 0.5, 2.5]), np.full(5, 1.0))
    np.testing.assert_array_equal(found, [-2.0, 0.0, 0.0, 0.0, 1.5])
