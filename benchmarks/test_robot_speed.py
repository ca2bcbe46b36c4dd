"""Queries of a robot against the same computation called on Pinocchio directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot, ReferenceFrame

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
BATCH = 1000


@pytest.fixture
def state(arm: PinRobot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return arm.random_configuration(rng), rng.normal(size=arm.nv), rng.normal(size=arm.nv)


@pytest.fixture
def batch(arm: PinRobot, rng: np.random.Generator) -> np.ndarray:
    return np.stack([arm.random_configuration(rng) for _ in range(BATCH)])


def bare_fk(arm: PinRobot, q: np.ndarray) -> Callable[[], Any]:
    model, data, frame = arm.model, arm.model.createData(), arm.tcp_id

    def call() -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, frame)

    return call


def bare_jacobian(arm: PinRobot, q: np.ndarray) -> Callable[[], Any]:
    model, data, frame = arm.model, arm.model.createData(), arm.tcp_id
    return lambda: pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)


def bare_rnea(arm: PinRobot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> Callable[[], Any]:
    model, data = arm.model, arm.model.createData()
    return lambda: pin.rnea(model, data, q, dq, ddq)


def test_fk(arm, versus, state) -> None:
    q = state[0]
    bare = bare_fk(arm, q)
    pose = versus(lambda: arm.fk(q), bare, bound=6)
    assert np.allclose(pose.homogeneous, bare().homogeneous, atol=1e-13)


def test_fk_primitive(arm, versus, state) -> None:
    q = state[0]
    bare = bare_fk(arm, q)
    pose = versus(lambda: arm.pose(q, arm.tcp), bare, bound=2)
    assert np.allclose(pose, bare().homogeneous, atol=1e-13)


def test_jacobian(arm, versus, state) -> None:
    q = state[0]
    bare = bare_jacobian(arm, q)
    jacobian = versus(lambda: arm.jacobian(q, reference=LWA), bare)
    assert np.allclose(jacobian, bare(), atol=1e-13)


def test_jacobian_primitive(arm, versus, state) -> None:
    q = state[0]
    bare = bare_jacobian(arm, q)
    jacobian = versus(lambda: arm.frame_jacobian(q, arm.tcp, LWA), bare)
    assert np.allclose(jacobian, bare(), atol=1e-13)


def test_id_rigid_body(arm, versus, state) -> None:
    bare = bare_rnea(arm, *state)
    tau = versus(lambda: arm.id(*state, motor_inertia=False, friction=False), bare, bound=5)
    assert np.allclose(tau, bare(), atol=1e-12)


def test_id_with_friction_and_motors(arm, versus, state) -> None:
    q, dq, ddq = state
    bare = bare_rnea(arm, q, dq, ddq)
    tau = versus(lambda: arm.id(q, dq, ddq), bare, bound=8)
    assert np.allclose(tau, bare() + arm.friction(dq) + arm.motor_inertias(ddq), atol=1e-12)


def test_fd(arm, versus, state) -> None:
    q, dq, ddq = state
    model, data = arm.model, arm.model.createData()
    tau = pin.rnea(model, data, q, dq, ddq)
    found = versus(
        lambda: arm.fd(tau, q, dq, motor_inertia=False, friction=False), lambda: pin.aba(model, data, q, dq, tau)
    )
    assert np.allclose(found, ddq, atol=1e-8)


def test_fk_batch(arm, versus, batch) -> None:
    calls = [bare_fk(arm, q) for q in batch]
    poses = versus(lambda: arm.fk(batch), lambda: [call() for call in calls], against=f"loop of {BATCH}")
    assert np.allclose(poses[-1], calls[-1]().homogeneous, atol=1e-13)


def test_jacobian_batch(arm, versus, batch) -> None:
    calls = [bare_jacobian(arm, q) for q in batch]
    found = versus(
        lambda: arm.jacobian(batch, reference=LWA), lambda: [call() for call in calls], against=f"loop of {BATCH}"
    )
    assert np.allclose(found[-1], calls[-1](), atol=1e-13)


def test_id_batch(arm, versus, batch) -> None:
    still = np.zeros_like(batch)
    calls = [bare_rnea(arm, q, dq, dq) for q, dq in zip(batch, still, strict=True)]
    found = versus(
        lambda: arm.id(batch, still, still, motor_inertia=False, friction=False),
        lambda: [call() for call in calls],
        against=f"loop of {BATCH}",
    )
    assert np.allclose(found[-1], calls[-1](), atol=1e-12)
