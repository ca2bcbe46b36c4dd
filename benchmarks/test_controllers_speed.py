"""Controllers against the same laws written plainly on Pinocchio and numpy, robot by robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Fleet, PinRobot
from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace

SIZES = (1, 16, 256, 4096)
KP, KD = 100.0, 20.0
POSTURE: dict[str, Any] = {
    "use_wrench_feedforward": True,
    "use_wrench_feedback": True,
    "wrench_stiffness": 0.5,
    "motion_selection_axes": [1, 1, 0, 1, 1, 1],
    "wrench_selection_axes": [0, 0, 1, 0, 0, 0],
    "use_null_space_control": True,
    "null_space_stiffness": 10.0,
    "null_space_damping": 5.0,
}


def stepping(controller: Any, arm: PinRobot, count: int, rng: np.random.Generator) -> tuple[Callable[[], Any], Any]:
    """One step of a controller as a call, and its inputs at random states near a configuration that is not singular."""
    inputs, outputs = controller.input(), controller.output()
    centre = np.tile([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0], count)
    inputs.joint_q[:] = centre + rng.uniform(-0.3, 0.3, size=7 * count)
    inputs.joint_qd[:] = rng.normal(size=7 * count)

    def call() -> Any:
        controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
        return outputs.joint_f

    return call, inputs


def plain_impedance(arm: PinRobot, inputs: Any) -> Callable[[], Any]:
    model, data = arm.model, arm.model.createData()
    states = list(zip(inputs.joint_q.reshape(-1, 7), inputs.joint_qd.reshape(-1, 7), strict=True))
    targets = inputs.joint_q_des.reshape(-1, 7)

    def call() -> Any:
        tau = []
        for (q, dq), q_des in zip(states, targets, strict=True):
            M = pin.crba(model, data, q)
            tau.append(M @ (KP * (q_des - q) - KD * dq) + pin.nonLinearEffects(model, data, q, dq))
        return np.concatenate(tau)

    return call


def plain_operational(arm: PinRobot, inputs: Any) -> Callable[[], Any]:
    model, data, frame = arm.model, arm.model.createData(), arm.tcp_id
    states = list(zip(inputs.joint_q.reshape(-1, 7), inputs.joint_qd.reshape(-1, 7), strict=True))
    goals = [pin.XYZQUATToSE3(pose) for pose in inputs.desired_tool_pose_operational]

    def call() -> Any:
        tau = []
        for (q, dq), goal in zip(states, goals, strict=True):
            J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
            pose = pin.updateFramePlacement(model, data, frame)
            e = np.concatenate((goal.translation - pose.translation, pin.log3(goal.rotation @ pose.rotation.T)))
            M = pin.crba(model, data, q)
            A = J @ np.linalg.solve(M, J.T)
            F = np.linalg.solve(A, KP * e - KD * (J @ dq))
            tau.append(J.T @ F + pin.computeGeneralizedGravity(model, data, q))
        return np.concatenate(tau)

    return call


@pytest.mark.parametrize("count", SIZES)
def test_joint_impedance(arm: PinRobot, versus: Any, rng: np.random.Generator, count: int) -> None:
    controller = ControllerJointImpedance(Fleet([arm] * count), stiffness=KP, damping=KD)
    call, inputs = stepping(controller, arm, count, rng)
    plain = plain_impedance(arm, inputs)
    tau = versus(call, plain, against=f"loop of {count}", per=(count, count))
    np.testing.assert_allclose(tau, plain(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", SIZES)
def test_operational_space(arm: PinRobot, versus: Any, rng: np.random.Generator, count: int) -> None:
    controller = ControllerOperationalSpace(
        Fleet([arm] * count), tool_sites="tool", motion_stiffness=KP, motion_damping=KD
    )
    call, inputs = stepping(controller, arm, count, rng)
    plain = plain_operational(arm, inputs)
    tau = versus(call, plain, against=f"loop of {count}", per=(count, count))
    exact = np.repeat(controller.exactness == 1.0, 7)
    np.testing.assert_allclose(tau[exact], plain()[exact], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("count", SIZES)
def test_operational_space_with_wrench_and_posture(
    arm: PinRobot, versus: Any, rng: np.random.Generator, count: int
) -> None:
    controller = ControllerOperationalSpace(
        Fleet([arm] * count), tool_sites="tool", motion_stiffness=KP, motion_damping=KD, **POSTURE
    )
    call, inputs = stepping(controller, arm, count, rng)
    tau = versus(call, plain_operational(arm, inputs), against="loop without them", per=(count, count))
    assert np.isfinite(tau).all()
