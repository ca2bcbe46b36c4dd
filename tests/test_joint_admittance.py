"""Joint admittance, and admittance in a fleet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError
from knuckle.controllers import AdmittanceStatus, CartesianAdmittance, CartesianAdmittanceFleet, JointAdmittance

from .samples import load

ARM, SIX = load("sevenr_arm"), load("sixr_arm")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
STILL = np.zeros(7)
LAW: dict[str, Any] = {"compliance": 0.02, "cutoff": 40.0, "dt": 2e-3}


def measured(push: Any, q: np.ndarray = START) -> np.ndarray:
    """What the drives feel at rest while something pushes at the tool."""
    return ARM.static_torque(q, eef_wrench=push)


def test_the_joints_yield_along_a_push() -> None:
    push = np.array([4.0, -3.0, -10.0, 0.1, 0.2, 0.0])
    controller, q = JointAdmittance(ARM, **LAW), START
    expected = 0.02 * ARM.jacobian(START, reference="LWA").T @ push
    for _ in range(200):
        result = controller.step(START, STILL, measured(push))
    np.testing.assert_allclose(result.dq, expected, rtol=1e-6, atol=1e-12)
    assert push @ (ARM.jacobian(q, reference="LWA") @ result.dq) > 0.0


def test_the_filter_is_of_first_order() -> None:
    controller = JointAdmittance(ARM, **LAW)
    wdt = 40.0 * 2e-3
    first = controller.step(START, STILL, measured(np.ones(6))).dq
    np.testing.assert_allclose(first, 0.02 * wdt / (2 + wdt) * ARM.jacobian(START, reference="LWA").T @ np.ones(6))


def test_a_full_compliance_couples_the_joints() -> None:
    C = 0.01 * (np.eye(7) + 0.3 * np.ones((7, 7)))
    controller = JointAdmittance(ARM, **(LAW | {"compliance": C}))
    torque = np.zeros(7)
    torque[3] = 5.0
    for _ in range(300):
        result = controller.step(START, STILL, ARM.gravity_force(START) - torque)
    np.testing.assert_allclose(result.dq, C @ torque, rtol=1e-6)
    np.testing.assert_array_equal(controller.compliance, C)


def test_changes_make_no_jump_and_reset_stops() -> None:
    controller = JointAdmittance(ARM, **LAW)
    tau = measured([0, 0, -10.0, 0, 0, 0])
    for _ in range(30):
        before = controller.step(START, STILL, tau).dq
    controller.set_params(0.05, 20.0)
    after = controller.step(START, STILL, tau).dq
    assert np.abs(after - before).max() < 0.1 * np.abs(before).max()
    controller.reset()
    np.testing.assert_allclose(controller.step(START, STILL, tau).dq, 0.0, atol=1e-15)


def test_dead_zone_limits_posture_and_nan() -> None:
    tau = measured([0, 0, -10.0, 0, 0, 0])
    assert not JointAdmittance(ARM, **LAW, dead_zone=50.0).step(START, STILL, tau).dq.any()
    fast = JointAdmittance(ARM, **(LAW | {"compliance": 100.0}), acceleration_limits=5.0)
    result = fast.step(START, STILL, tau)
    assert result.status is AdmittanceStatus.LIMITED and np.abs(result.dq).max() <= 5.0 * 2e-3 + 1e-15
    held = JointAdmittance(ARM, **LAW, posture=START, posture_gain=2.0)
    found = held.step(START + 0.01, STILL, ARM.gravity_force(START + 0.01)).dq
    np.testing.assert_allclose(found, -0.02, rtol=1e-9)
    for bad in (
        (np.full(7, np.nan), STILL, tau),
        (START, np.full(7, np.nan), tau),
        (START, STILL, np.full(7, np.inf)),
    ):
        result = fast.step(*bad)
        assert result.status is AdmittanceStatus.HOLD and not result and not result.dq.any()


def test_friction_of_the_model_is_no_push() -> None:
    dq = np.full(7, 0.3)
    tau = ARM.id(START, dq, STILL, motor_inertia=False)
    assert np.abs(JointAdmittance(ARM, **LAW).step(START, dq, tau).dq).max() < 1e-15
    assert np.abs(JointAdmittance(ARM, **LAW, friction=False).step(START, dq, tau).dq).max() > 1e-6


@pytest.mark.parametrize(
    "change",
    [
        {"compliance": 0.0},
        {"compliance": -np.eye(7)},
        {"compliance": np.triu(np.ones((7, 7)))},
        {"compliance": None},
        {"cutoff": 0.0},
        {"cutoff": [1.0] * 6},
        {"dt": 0.0},
        {"dead_zone": -1.0},
        {"dead_zone": None},
        {"posture": [1.0]},
        {"friction": 1},
        {"robot": None},
    ],
)
def test_bad_arguments(change: dict[str, Any]) -> None:
    with pytest.raises((InputError, InputTypeError)):
        JointAdmittance(**({"robot": ARM} | LAW | change))


# Fleets

CARTESIAN: dict[str, Any] = {"distal_link": "tool", "stiffness": 500.0, "damping": 100.0, "inertia": 5.0, "dt": 2e-3}


def test_a_fleet_does_what_its_robots_do_alone() -> None:
    fleet = Fleet([ARM, SIX, ARM], labels=["left", "welder", "right"])
    controller = CartesianAdmittanceFleet(fleet, ["left", "welder"], **CARTESIAN)
    inputs, outputs = controller.input(), controller.output()
    q6 = np.array([0.1, 0.3, 0.9, 0.0, 0.6, 0.0])
    inputs.joint_q[:] = np.concatenate((START, q6, np.full(7, np.nan)))  # the right arm is not controlled
    inputs.wrench[:] = [[1.0, 2, 3, 0.1, 0, 0], [0, 0, -5.0, 0, 0, 0]]
    alone = [CartesianAdmittance(robot, **CARTESIAN) for robot in (ARM, SIX)]
    for _ in range(3):
        controller.step(inputs=inputs, outputs=outputs, dt=2e-3)
        a = [c.step(q, None, w).dq for c, q, w in zip(alone, (START, q6), inputs.wrench, strict=True)]
    np.testing.assert_array_equal(outputs.joint_qd, np.concatenate((*a, np.zeros(7))))
    assert len(controller) == controller.controlled_robot_count == 2 and controller.robot_labels == ("left", "welder")
    assert controller["welder"] is controller[1] is controller.members[1]


def test_nan_stops_one_robot_alone() -> None:
    controller = CartesianAdmittanceFleet(Fleet([ARM, ARM]), **CARTESIAN)
    inputs, outputs = controller.input(), controller.output()
    inputs.joint_q[:] = np.tile(START, 2)
    inputs.wrench[:] = 1.0
    inputs.wrench[0, 2] = np.nan
    controller.step(inputs=inputs, outputs=outputs)
    assert controller.faults.tolist() == [True, False]
    assert not outputs.joint_qd[:7].any() and outputs.joint_qd[7:].any()
    controller.reset()


def test_a_fleet_of_filters_and_bad_use() -> None:
    filtered = {k: v for k, v in CARTESIAN.items() if k != "inertia"} | {"lam": 0.05}
    controller = CartesianAdmittanceFleet(ARM, make=CartesianAdmittance.from_filter, **filtered)
    assert controller[0].form == "filter"
    inputs, outputs = controller.input(), controller.output()
    inputs.wrench = np.zeros((2, 6))
    with pytest.raises(InputError, match=r"inputs.wrench must have shape \(1, 6\)"):
        controller.step(inputs=inputs, outputs=outputs)
    with pytest.raises(InputTypeError):
        controller.step(inputs=outputs, outputs=inputs)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no controlled robot 'right'"):
        controller["right"]
    with pytest.raises(InputTypeError, match="make"):
        CartesianAdmittanceFleet(ARM, make=3)
