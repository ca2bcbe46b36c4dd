"""Admittance and closed loops against plain counterparts: aims are shown, results asserted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot
from knuckle.controllers import CartesianAdmittance, ControllerOperationalSpace, closed_loop
from knuckle.ik import solve_velocity
from knuckle.ik.velocity_qp import solve_trusted

START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


def plain_tick(arm: PinRobot, wrench: np.ndarray, dt: float) -> Any:
    """Pose, Jacobian, Euler's step of the law and a clipped pseudo-inverse, written plainly."""
    model, data, frame = arm.model, arm.model.createData(), arm.tcp_id
    limits = arm.joint_velocity_limits
    reference = pin.updateFramePlacement(model, data, frame)
    state: dict[str, Any] = {"v": np.zeros(6)}

    def call() -> Any:
        J = pin.computeFrameJacobian(model, data, START, frame, pin.LOCAL_WORLD_ALIGNED)
        pose = pin.updateFramePlacement(model, data, frame)
        x = np.concatenate((pose.translation - reference.translation, pin.log3(pose.rotation @ reference.rotation.T)))
        force = np.concatenate((pose.rotation @ wrench[:3], pose.rotation @ wrench[3:]))
        state["v"] = state["v"] + dt * (force - 100.0 * state["v"] - 500.0 * x) / 5.0
        return np.clip(np.linalg.pinv(J) @ state["v"], -limits, limits)

    return call


def test_admittance_tick(arm: PinRobot, versus: Any) -> None:
    wrench, dt = np.array([1.0, -2.0, 3.0, 0.1, 0.0, -0.1]), 1e-3
    robot = arm.with_limits(acceleration=50.0)
    controller = CartesianAdmittance(
        robot, distal_link="tool", stiffness=500.0, damping=100.0, inertia=5.0, dt=dt, dead_zone=0.1
    )
    result = versus(lambda: controller.step(START, None, wrench), plain_tick(arm, wrench, dt), against="plain tick")
    J = arm.jacobian(START, reference="LWA")
    np.testing.assert_allclose(J @ result.dq, result.achieved, atol=1e-9)


def test_joint_solve(arm: PinRobot, versus: Any, rng: np.random.Generator) -> None:
    J, twist, bound = arm.jacobian(START, reference="LWA"), 0.3 * rng.normal(size=6), np.full(7, 5.0)
    result = versus(
        lambda: solve_trusted(J, twist, -bound, bound), lambda: np.linalg.pinv(J) @ twist, against="numpy pinv"
    )
    np.testing.assert_allclose(result.dq, np.linalg.pinv(J) @ twist, atol=1e-5)
    np.testing.assert_array_equal(result.dq, solve_velocity(J, twist, -bound, bound).dq)


@pytest.mark.parametrize(("integrator", "times"), [("euler", 8.0), ("rk4", 4.0)])
def test_simulated_second(arm: PinRobot, versus: Any, integrator: str, times: float) -> None:
    """Half a second of operational space control at 1 kHz; the aim is a share of real time."""
    target = arm.fk(START + 0.05)
    controller = ControllerOperationalSpace(arm, tool_sites="tool", motion_stiffness=100.0, damping_ratio=1.0)

    def simulated() -> Any:
        return closed_loop.run(
            arm, controller, target={"pose_des": target}, q=START, duration=0.5, dt=1e-3, integrator=integrator
        )

    recording = versus(simulated, 0.5, against="the time simulated", bound=1.0 / times)
    assert recording and len(recording) == 501
