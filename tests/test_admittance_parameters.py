"""Faults, copies and parameters of admittance controllers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, UnknownNameError
from knuckle.controllers import AdmittanceStatus, CartesianAdmittance
from knuckle.ik import velocity_qp

from .admittance_setting import (
    ARM,
    LAW,
    START,
    _without,
    follow,
    in_tool,
    made,
    offsets,
)


@pytest.mark.parametrize("form", ["exact", "filter"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_in_the_wrench_holds_still(form: str, bad: float, caplog: pytest.LogCaptureFixture) -> None:
    controller, wrench = made(form), np.array([5.0, 0, 0, 0, 0, 0])
    q, _ = follow(controller, 50, wrench)
    for _ in range(3):
        result = controller.step(q[-1], None, np.full(6, bad))
        assert (
            result.status is AdmittanceStatus.HOLD and not result and not result.dq.any() and "wrench" in result.message
        )
    assert len(caplog.records) == 1
    after = controller.step(q[-1], None, in_tool(ARM, q[-1], wrench))
    assert after and np.abs(after.twist).max() < 2e-3  # it goes on from rest
    assert controller.step(np.full(7, bad), None, wrench).status is AdmittanceStatus.HOLD


def test_what_is_returned_is_the_users() -> None:
    one, two = made(), made()
    q, wrench = START.copy(), np.array([5.0, 1, 2, 0, 0.1, 0])
    for _ in range(5):
        a, b = one.step(q, None, wrench), two.step(START, None, wrench.copy())
        np.testing.assert_array_equal(a.dq, b.dq)
        for array in (a.dq, a.twist, a.offset, a.wrench, a.achieved):
            array[:] = 7.0


def test_without_daqp_the_response_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    push = [3.0, 0, -10.0, 0, 0.2, 0]
    expected, _ = follow(made(), 100, push)
    monkeypatch.setattr(velocity_qp, "_daqp", lambda: None)
    found, results = follow(made(), 100, push)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert all(results)


def test_near_and_at_singularities_commands_stay_bounded_and_are_found() -> None:
    """The stretched arm and its surroundings, pushed hard."""
    rng = np.random.default_rng(2)
    for mode in velocity_qp.MODES:
        controller = made(mode=mode, acceleration_limits=50.0)
        for scale in (0.0, 1e-9, 1e-6, 1e-3, 0.1):
            q = scale * rng.normal(size=7)
            controller.reset(q)
            for _ in range(40):
                result = controller.step(q, None, rng.normal(size=6) * [100, 100, 100, 10, 10, 10])
                q = q + 2e-3 * result.dq
                assert result and (np.abs(result.dq) <= ARM.joint_velocity_limits).all()


def test_a_copy_goes_on_by_itself() -> None:
    controller = made("filter")
    q, _ = follow(controller, 20, [5.0, 0, 0, 0, 0, 0])
    twins = [copy.deepcopy(controller), pickle.loads(pickle.dumps(controller))]
    expected = controller.step(q[-1], None, np.ones(6)).dq
    for twin in twins:
        np.testing.assert_array_equal(twin.step(q[-1], None, np.ones(6)).dq, expected)


def test_getters_return_what_is_in_force() -> None:
    controller = made("filter", stiffness=1000.0, damping=200.0, lam=0.01, dt=1e-3)
    np.testing.assert_allclose(controller.compliance, 1e-5)
    np.testing.assert_allclose([controller.inertia[0], controller.filter_cutoff[0], controller.lam], [10, 10, 0.01])
    C, M, w = CartesianAdmittance.compute_parameters(1000.0, 200.0, 0.01, 1e-3)
    np.testing.assert_allclose([C[0], M[0], w[0]], [1e-5, 10.0, 10.0])
    controller.set_raw_params(2e-5, 20.0, 0.02, 1e-3)
    np.testing.assert_allclose([controller.stiffness[0], controller.damping[0]], [1000.0, 100.0])
    controller.set_filter_damping(0.7)
    assert np.isnan(controller.inertia).all() and np.isnan(controller.damping).all()
    np.testing.assert_allclose(controller.stiffness, 1000.0)
    controller.set_impedance_params(1000.0, 200.0, 0.02, 2e-3)
    assert controller.filter_time_step == 2e-3 and np.isfinite(controller.inertia).all()
    exact = made()
    exact.set_impedance_params(500.0, 100.0, 0.01, 1e-3)
    np.testing.assert_allclose(exact.inertia, 100.0 / 10.0 - 500.0 / 100.0)
    exact.set_impedance_params(inertia=3.0)
    np.testing.assert_allclose([exact.inertia[0], exact.compliance[0]], [3.0, 1 / 500.0])
    assert exact.form == "exact" and controller.form == "filter"
    raw = CartesianAdmittance.from_raw(ARM, distal_link="tool", compliance=1e-5, cutoff=10.0, lam=0.01, dt=1e-3)
    np.testing.assert_allclose([raw.stiffness[0], raw.damping[0], raw.inertia[0]], [1000, 200, 10])
    shown = raw.snapshot()
    assert shown.form == "filter" and shown.last is None and shown.reference is None and not shown.dq.any()
    np.testing.assert_allclose(
        CartesianAdmittance(ARM, **(_without("damping") | {"damping_ratio": 1.0})).damping[0], 200.0
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.set_impedance_params(stiffness=-1.0), "stiffness"),
        (lambda c: c.set_impedance_params(damping=[1.0] * 5), "damping"),
        (lambda c: c.set_impedance_params(damping=0.01), "damping must exceed"),
        (lambda c: c.set_impedance_params(lam=2.0), "lam must be in"),
        (lambda c: c.set_impedance_params(inertia=1.0), "inertia follows from lam"),
        (lambda c: c.set_impedance_params(lam=0.1, inertia=1.0), "not both"),
        (lambda c: c.set_impedance_params(dt=0.0), "dt must be positive"),
        (lambda c: c.set_impedance_params(stiffness=np.ones((6, 6))), "diagonal"),
        (lambda c: c.set_raw_params(0.0, 10.0, 0.1), "compliance must be positive"),
        (lambda c: c.set_raw_params(1e-5, -1.0, 0.1), "cutoff must be positive"),
        (lambda c: c.set_raw_params(1e-5, 1.0, np.nan), "lam must be finite"),
        (lambda c: c.set_filter_damping(0.0), "damping must be positive"),
        (lambda c: c.set_lambda(0.1), "set_impedance_params"),
        (lambda c: setattr(c, "lam", 0.1), "set_raw_params"),
        (lambda c: c.set_dead_zone(-1.0), "dead_zone must not be negative"),
        (lambda c: c.set_wrench_reference([np.nan] * 6), "wrench must be finite"),
        (lambda c: c.set_reference(np.eye(3)), "pose"),
        (lambda c: c.set_reference(np.eye(4), [1.0]), "twist"),
        (lambda c: c.tare(np.ones(5)), "wrench"),
        (lambda c: c.set_tool(-1.0), "mass"),
        (lambda c: setattr(c, "axes", [1, 2, 0, 0, 0, 0]), "axes"),
        (lambda c: c.step(START[:5]), "q must have shape"),
        (lambda c: c.step(START, None, [1.0, 2.0]), "wrench must have shape"),
        (lambda c: c.step("here"), "q must be"),
    ],
)
def test_bad_values_raise_and_change_nothing(call: Any, words: str) -> None:
    controller, twin = made("filter"), made("filter")
    for c in (controller, twin):
        follow(c, 10, [5.0, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match=words):
        call(controller)
    a, b = (c.step(START, None, np.ones(6)) for c in (controller, twin))
    np.testing.assert_array_equal(a.dq, b.dq)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"distal_link": "tol"}, UnknownNameError),
        ({"base_link": "wrld"}, UnknownNameError),
        ({"sensor_frame": "nowhere"}, UnknownNameError),
        ({"inertia": 0.0}, InputError),
        ({"damping": None}, InputTypeError),
        ({"control_frame": "sensor"}, InputError),
        ({"mode": "fast"}, InputError),
        ({"offset_limits": [-1.0] * 6}, InputError),
        ({"twist_limits": np.nan}, InputError),
        ({"posture": [0.0]}, InputError),
        ({"velocity_limits": "fast"}, InputError),
        ({"robot": "arm"}, InputTypeError),
        ({"colour": "red"}, TypeError),
    ],
)
def test_bad_controllers(change: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        CartesianAdmittance(**({"robot": ARM} | LAW | change))


def test_the_exact_form_has_no_filter() -> None:
    for call in (lambda c: c.set_filter_damping(1.0), lambda c: c.lam, lambda c: c.filter_cutoff):
        with pytest.raises(InputError, match="exact"):
            call(made())


def test_a_posture_is_kept_behind_the_tool() -> None:
    posture = START + np.array([0.4, 0, -0.3, 0, 0.2, 0, 0.1])
    controller = made(posture=posture, posture_gain=2.0, posture_strict=True)
    q, _ = follow(controller, 1500, np.zeros(6))
    assert np.abs(offsets(q)).max() < 1e-4
    assert np.linalg.norm(q[-1] - posture) < 0.9 * np.linalg.norm(START - posture)
