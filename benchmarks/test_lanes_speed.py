"""Many states at once against loops over Pinocchio, and one robot's bound step against a plain law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Fleet, PinRobot
from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace, rollout
from knuckle.robot import native

from .test_controllers_speed import KD, KP, plain_impedance, plain_operational, stepping

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")
COUNT = 4096
WIDE = 0.125 if native.isa() != "baseline" else 0.5
"""Aim of a ratio: an eighth of the loop's time, on wide vectors."""


@pytest.fixture
def many(rng: np.random.Generator) -> Any:
    return rng.normal(size=(3, COUNT, 7))


def test_inverse_dynamics(arm: PinRobot, versus: Any, many: Any) -> None:
    model, data, bodies = arm.model, arm.model.createData(), arm.native_bodies()

    def loop() -> Any:
        return np.array([pin.rnea(model, data, *state) for state in zip(*many, strict=True)])

    tau = versus(
        lambda: bodies.inverse(*many, threads=1), loop, against=f"loop of {COUNT}", bound=WIDE, per=(COUNT, COUNT)
    )
    np.testing.assert_allclose(tau, loop(), rtol=1e-11, atol=1e-11)


def test_mass_matrix(arm: PinRobot, versus: Any, many: Any) -> None:
    model, data, bodies = arm.model, arm.model.createData(), arm.native_bodies()

    def loop() -> Any:
        return np.array([pin.crba(model, data, q) for q in many[0]])

    M = versus(lambda: bodies.mass_matrix(many[0], 1), loop, against=f"loop of {COUNT}", bound=WIDE, per=(COUNT, COUNT))
    np.testing.assert_allclose(M, loop(), rtol=1e-11, atol=1e-12)


def test_forward_dynamics(arm: PinRobot, versus: Any, many: Any) -> None:
    model, data, bodies = arm.model, arm.model.createData(), arm.native_bodies()

    def loop() -> Any:
        return np.array([pin.aba(model, data, *state) for state in zip(*many, strict=True)])

    ddq = versus(
        lambda: bodies.forward(*many, False, 1), loop, against=f"loop of {COUNT}", bound=WIDE, per=(COUNT, COUNT)
    )
    expected = loop()
    np.testing.assert_allclose(ddq, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_jacobian_and_pose(arm: PinRobot, versus: Any, many: Any) -> None:
    model, data, bodies, tool = arm.model, arm.model.createData(), arm.native_bodies(), arm.tcp_id

    def loop() -> Any:
        found = []
        for q in many[0]:
            J = pin.computeFrameJacobian(model, data, q, tool, pin.LOCAL_WORLD_ALIGNED)
            found.append((pin.updateFramePlacement(model, data, tool).homogeneous, J))
        return found

    frame = bodies.frames([tool])
    _, J = versus(
        lambda: bodies.pose_and_jacobian(many[0], frame, 2, 1),
        loop,
        against=f"loop of {COUNT}",
        bound=WIDE,
        per=(COUNT, COUNT),
    )
    np.testing.assert_allclose(J, np.array([one for _, one in loop()]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["joint_impedance", "operational_space"])
def test_one_robot_with_its_ports_bound(arm: PinRobot, versus: Any, rng: np.random.Generator, kind: str) -> None:
    options: dict[str, Any] = {"tool_sites": "tool", "motion_stiffness": KP, "motion_damping": KD}
    if kind == "joint_impedance":
        controller: Any = ControllerJointImpedance(arm, stiffness=KP, damping=KD)
    else:
        controller = ControllerOperationalSpace(arm, **options)
    call, inputs = stepping(controller, arm, 1, rng)
    plain = (plain_impedance if kind == "joint_impedance" else plain_operational)(arm, inputs)
    tau = versus(call, plain, against="plain law", bound=1.0)
    np.testing.assert_allclose(tau, plain(), rtol=1e-6, atol=1e-6)


def test_rollout(arm: PinRobot, versus: Any, rng: np.random.Generator) -> None:
    """Closed loops of joint impedance, 100 steps: against one forward dynamics and one law of Pinocchio a step."""
    count, steps = 256, 100
    controller = ControllerJointImpedance(Fleet([arm] * count), stiffness=KP, damping=KD)
    inputs, q0 = controller.input(), rng.uniform(-0.3, 0.3, (count, 7))
    model, data = arm.model, arm.model.createData()

    def run() -> Any:
        bare = {"friction": False, "motor_inertia": False, "threads": 1}
        return rollout(arm, controller, (q0, np.zeros(7)), 1e-3, steps, inputs=inputs, **bare).q[-1]

    def loop() -> Any:
        q, dq = q0[0], np.zeros(7)
        for _ in range(steps):
            tau = pin.rnea(model, data, q, dq, -KP * q - KD * dq)
            dq = dq + 1e-3 * pin.aba(model, data, q, dq, tau)
            q = q + 1e-3 * dq
        return q

    ends = versus(run, loop, against="plain loop", bound=WIDE, per=(count * steps, steps))
    np.testing.assert_allclose(ends[0], loop(), rtol=0, atol=1e-9)
