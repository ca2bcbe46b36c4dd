"""References, contact, limits: nothing jumps and nothing winds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import Transformation
from knuckle.controllers import AdmittanceStatus
from knuckle.robot.spatial import exp3

from .admittance_setting import (
    ARM,
    START,
    commands_around,
    follow,
    in_tool,
    made,
    offsets,
)


def test_a_moving_reference_is_followed_without_lag_by_its_twist() -> None:
    controller, q = made(), START
    start, w = ARM.fk(START), np.array([0.05, -0.03, 0.02, 0.1, 0.2, -0.1])
    for k in range(400):
        t = k * 2e-3
        pose = Transformation.from_rotation(exp3(w[3:] * t) @ start.rotation, start.translation + w[:3] * t)
        if k == 0:
            controller.set_reference(pose, w)
        result = controller.step(q, None, None)
        np.testing.assert_allclose(result.offset, 0.0, atol=5e-5)
        q = q + 2e-3 * result.dq
    assert controller.reference is not None  # it has moved on by itself
    np.testing.assert_allclose(controller.reference.translation, start.translation + w[:3] * 0.8, atol=1e-12)


def test_a_wrench_reference_is_pressed_for() -> None:
    """In contact with a spring of 2000 N/m and none of its own the tool presses with what is asked."""
    controller, q = made(stiffness=0.0), START
    controller.set_wrench_reference([0, 0, 5.0, 0, 0, 0])
    floor = ARM.pose(START, "tool")[2, 3]
    for _ in range(2500):
        force = 2000.0 * (floor - ARM.pose(q, "tool")[2, 3])
        q = q + 2e-3 * controller.step(q, None, in_tool(ARM, q, [0, 0, force, 0, 0, 0])).dq
    assert force == pytest.approx(5.0, abs=1e-3)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_contact_of_a_real_arm_is_stable_up_to_the_bound(share: float) -> None:
    """F_k = -Ke x_(k-1) along z: stable iff (K + Ke) dt < 2 D, within 1 %."""
    K, dt, lam = 1000.0, 2e-3, 0.5
    D = 2.0 * K * dt / lam
    edge = 2.0 * D / dt - K
    controller = made("filter", stiffness=K, damping=D, lam=lam, dt=dt, axes=[0, 0, 1, 0, 0, 0])
    controller.set_reference(ARM.fk(START))
    q, size = START, []
    for k in range(1500):
        z = ARM.pose(q, "tool")[2, 3] - ARM.pose(START, "tool")[2, 3] + (1e-6 if k < 2 else 0.0)
        q = q + dt * controller.step(q, None, in_tool(ARM, q, [0, 0, -share * edge * z, 0, 0, 0])).dq
        size.append(abs(z))
    assert (max(size[-50:]) > max(size[:50])) == (share > 1.0)


@pytest.mark.parametrize("form", ["exact", "filter"])
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.set_impedance_params(stiffness=2 * c.stiffness),
        lambda c: c.set_impedance_params(damping=2 * c.damping, stiffness=0.5 * c.stiffness),
        lambda c: c.set_reference(Transformation.from_rpy([0.0, 0.02, 0.0], [0.004, -0.002, 0.003]) @ ARM.fk(START)),
        lambda c: c.set_wrench_reference([2.0, 0, 0, 0, 0.05, 0]),
        lambda c: c.set_dead_zone(0.2),
    ],
    ids=["stiffer", "damped", "reference", "wrench reference", "dead zone"],
)
def test_changes_make_no_jump_in_the_command(form: str, change: Any) -> None:
    """The velocity goes on; its slope may change, by the force of the change over the mass."""
    jump, usual = commands_around(made(form), change)
    assert (jump[:3] < 2e-3 * 2.0 + usual).all() and (jump[3:] < 2e-3 * 4.0 + usual).all()


@pytest.mark.parametrize("form", ["exact", "filter"])
def test_after_a_reset_the_next_command_is_zero(form: str) -> None:
    controller = made(form, dead_zone=0.5)
    wrench = np.array([6.0, -4.0, 8.0, 0.2, -0.1, 0.3])
    q, _ = follow(controller, 100, wrench)
    raw = in_tool(ARM, q[-1], wrench)
    controller.reset(q[-1], raw)
    result = controller.step(q[-1], None, raw)
    np.testing.assert_allclose(result.dq, 0.0, atol=1e-15)
    assert controller.reference is not None and controller.reference.distance(ARM.fk(q[-1])).translation < 1e-12
    controller.reset()  # where it last was, under what it last felt
    np.testing.assert_allclose(controller.step(q[-1], None, raw).dq, 0.0, atol=1e-15)


def test_the_first_tick_starts_from_rest_wherever_the_reference_is() -> None:
    for form in ("exact", "filter"):
        controller = made(form)
        controller.set_reference(Transformation.from_translation([0.05, 0, 0]) @ ARM.fk(START))
        result = controller.step(START, None, None)
        assert 0 < result.twist[0] < 0.02


def test_limits_are_never_broken_in_ten_thousand_random_pushes() -> None:
    rng, a, dt = np.random.default_rng(0), 30.0, 2e-3
    robot = ARM.with_limits(acceleration=a, position={"joint4": (-1.6, -1.2), "joint6": (1.0, 1.4)})
    controller = made(robot=robot, stiffness=[50.0] * 3 + [1.0] * 3, dt=dt)
    (lower, upper), v_max = robot.joint_limits, robot.joint_velocity_limits
    q, before, push, statuses = START, np.zeros(7), np.zeros(6), set()
    for k in range(10_000):
        if k % 20 == 0:
            push = rng.normal(size=6) * ([300.0] * 3 + [30.0] * 3) * rng.choice([0.1, 1.0])
        result = controller.step(q, None, push)
        q = q + dt * result.dq
        assert (q >= lower).all() and (q <= upper).all()
        assert (np.abs(result.dq) <= v_max).all()
        faster = np.abs(result.dq) > np.abs(before) + a * dt + 1e-12  # slowing down is always allowed
        assert not faster.any()
        before = result.dq
        statuses.add(result.status)
    assert statuses == {AdmittanceStatus.OK, AdmittanceStatus.LIMITED}


def test_from_outside_a_limit_the_robot_only_comes_back() -> None:
    robot = ARM.with_limits(position={"joint4": (-1.3, 0.0)})
    controller = made(robot=robot)
    for push in ([0, 0, -50.0, 0, 0, 0], [50.0, 0, 0, 0, 0, 0], [-50.0, 0, 50.0, 0, 0, 0]):
        q, _ = follow(controller, 50, push, START, robot)
        assert (np.diff(q[:, 3]) >= 0.0).all()


@pytest.mark.parametrize("form", ["exact", "filter"])
def test_saturation_winds_nothing_up(form: str) -> None:
    """A second of a push far beyond what the joints can do; a push back turns the tool around at once."""
    controller = made(form, velocity_limits=0.05, stiffness=[100.0] * 3 + [4.0] * 3, damping=[100.0] * 3 + [2.0] * 3)
    q, results = follow(controller, 500, [0, 0, -100.0, 0, 0, 0])
    assert results[-1].status is AdmittanceStatus.LIMITED
    q, results = follow(controller, 100, [0, 0, 100.0, 0, 0, 0], q[-1])
    turned = next(k for k, result in enumerate(results) if result.achieved[2] > 0.0)
    assert turned * 2e-3 <= 0.02


def test_offsets_twists_and_their_rates_are_bounded() -> None:
    controller = made(offset_limits=[0.004] * 3 + [0.1] * 3)
    q, results = follow(controller, 800, [0, 0, -30.0, 0, 0, 0])
    assert offsets(q)[:, 2].min() >= -0.004 - 1e-6
    q, results = follow(controller, 60, np.zeros(6), q[-1])
    assert results[5].twist[2] > 0.0  # it comes away from the bound without delay
    controller = made(twist_limits=0.01)
    _, results = follow(controller, 200, [0, 0, -30.0, 0, 0, 0])
    assert max(np.abs(result.twist).max() for result in results) == 0.01
    controller = made(twist_rate_limits=0.2)
    twists = np.array([result.twist for result in follow(controller, 200, [0, 0, -30.0, 0, 0, 0])[1]])
    assert np.abs(np.diff(twists, axis=0)).max() <= 0.2 * 2e-3 + 1e-6
