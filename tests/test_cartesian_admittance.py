"""Cartesian admittance on robots: the response, the sensor, the frames, the limits, and no jumps."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, PinRobot, Transformation, UnknownNameError
from knuckle.controllers import AdmittanceStatus, CartesianAdmittance
from knuckle.controllers.admittance_law import exact_step, response
from knuckle.controllers.relative_task import RelativeTask
from knuckle.ik import velocity_qp
from knuckle.robot.spatial import exp3, log3

from .samples import load

ARM, LEGS, DUAL = load("sevenr_arm"), load("quadruped"), load("dual_arm")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
LAW: dict[str, Any] = {
    "distal_link": "tool",
    "stiffness": [1000.0] * 3 + [4.0] * 3,
    "damping": [200.0] * 3 + [2.0] * 3,
    "inertia": [10.0] * 3 + [0.2] * 3,
    "dt": 2e-3,
}
FILTER: dict[str, Any] = {k: v for k, v in LAW.items() if k != "inertia"} | {"lam": 0.05}


def made(form: str = "exact", robot: PinRobot = ARM, **change: Any) -> CartesianAdmittance:
    if form == "exact":
        return CartesianAdmittance(robot, **(LAW | change))
    return CartesianAdmittance.from_filter(robot, **(FILTER | change))


def in_tool(robot: PinRobot, q: np.ndarray, wrench: Any, frame: str = "tool") -> np.ndarray:
    """What a sensor at the tool reads of a wrench in world axes about its origin."""
    return (np.reshape(wrench, (2, 3)) @ robot.pose(q, frame)[:3, :3]).reshape(6)


def follow(
    controller: CartesianAdmittance, count: int, wrench: Any, q: np.ndarray = START, robot: PinRobot = ARM
) -> tuple[np.ndarray, list[Any]]:
    """An ideal velocity-controlled robot under a wrench in world axes: configurations and results."""
    rows, results = [q], []
    for _ in range(count):
        results.append(controller.step(q, None, in_tool(robot, q, wrench)))
        q = robot.integrate(q, controller.filter_time_step * results[-1].dq)
        rows.append(q)
    return np.array(rows), results


def offsets(q: np.ndarray, robot: PinRobot = ARM) -> np.ndarray:
    T = robot.fk(q, frame="tool") if q.ndim == 2 else robot.fk(q[None], frame="tool")
    return np.column_stack((T[:, :3, 3] - T[0, :3, 3], log3(T[:, :3, :3] @ T[0, :3, :3].T)))


# The response


@pytest.mark.parametrize(("axis", "push"), [(0, 10.0), (2, -10.0), (4, 2.0), (5, -1.0)])
def test_a_real_arm_answers_a_force_step_like_the_ideal(axis: int, push: float) -> None:
    """1e-4 of F/K at 2 ms, up to 0.5 rad."""
    wrench = np.zeros(6)
    wrench[axis] = push
    controller = made()
    q, results = follow(controller, 700, wrench)
    step = exact_step(controller.inertia, controller.damping, controller.stiffness, 2e-3)
    ideal = response(step, np.tile(wrench, (701, 1)))
    amplitude = abs(push) / controller.stiffness[axis]
    assert all(result.status is AdmittanceStatus.OK for result in results)
    np.testing.assert_allclose(offsets(q)[:, axis], ideal[:, axis], rtol=0, atol=1e-4 * amplitude)


def test_the_filter_form_on_a_real_arm_is_within_its_bound_and_halves_with_dt() -> None:
    wrench = np.array([0, 0, -10.0, 0, 0, 0])
    alpha, errors = 25.0, []
    for dt in (4e-3, 2e-3, 1e-3):
        controller = made("filter", dt=dt, lam=alpha * dt)
        q, _ = follow(controller, round(0.8 / dt), wrench)
        step = exact_step(controller.inertia, controller.damping, controller.stiffness, dt)
        ideal = response(step, np.tile(wrench, (len(q), 1)))
        errors.append(np.abs(offsets(q)[:, 2] - ideal[:, 2]).max())
        assert errors[-1] <= 0.2 * alpha * dt * 10.0 / 1000.0
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 2.0, rtol=0.1)


@pytest.mark.parametrize("form", ["exact", "filter"])
def test_the_robot_yields_along_the_push(form: str) -> None:
    for axis in range(6):
        for sign in (1.0, -1.0):
            wrench = np.zeros(6)
            wrench[axis] = sign
            q, _ = follow(made(form), 20, wrench)
            assert offsets(q)[-1, axis] * sign > 0.0


@pytest.mark.parametrize("form", ["exact", "filter"])
def test_a_newton_metre_turns_the_tool_by_one_over_k(form: str) -> None:
    controller = made(form, stiffness=[1000.0] * 3 + [40.0] * 3, damping=[200.0] * 3 + [8.0] * 3)
    q, _ = follow(controller, 1000, [0, 0, 0, 0, 1.0, 0])
    np.testing.assert_allclose(offsets(q)[-1], [0, 0, 0, 0, 1 / 40, 0], atol=1e-6)


def test_without_a_spring_the_tool_is_dragged() -> None:
    q, _ = follow(made(stiffness=0.0), 1000, [5.0, 0, 0, 0, 0, 0])
    v = (offsets(q)[-1] - offsets(q)[-2]) / 2e-3
    assert v[0] == pytest.approx(5.0 / 200.0, rel=1e-3)


# The sensor


def test_a_turned_and_offset_sensor_gives_the_same_command() -> None:
    """The same push, read about another point in other axes: its moment shifts by lever x force."""
    push, mount = (
        np.array([3.0, -2.0, 5.0, 0.4, 0.1, -0.3]),
        Transformation.from_rpy([0.3, -0.5, 1.0], [0.05, 0.02, -0.1]),
    )
    T = ARM.pose(START, "tool")
    S = T @ mount.homogeneous
    moment = push[3:] + np.cross(T[:3, 3] - S[:3, 3], push[:3])
    raw = np.concatenate((S[:3, :3].T @ push[:3], S[:3, :3].T @ moment))
    expected = made().step(START, None, in_tool(ARM, START, push))
    found = made(sensor_offset=mount).step(START, None, raw)
    np.testing.assert_allclose(found.wrench, push, atol=1e-12)
    np.testing.assert_allclose(found.dq, expected.dq, atol=1e-12)
    named = made(sensor_frame="link6")
    T6 = ARM.pose(START, "link6")
    moment = push[3:] + np.cross(T[:3, 3] - T6[:3, 3], push[:3])
    raw = np.concatenate((T6[:3, :3].T @ push[:3], T6[:3, :3].T @ moment))
    np.testing.assert_allclose(named.step(START, None, raw).wrench, push, atol=1e-12)


def test_tool_weight_and_bias_are_taken_off_in_every_pose() -> None:
    mass, com, bias = 1.3, np.array([0.01, -0.02, 0.08]), np.array([1.0, -2, 3, 0.1, 0.2, -0.3])

    def reading(q: np.ndarray) -> np.ndarray:
        weight = ARM.pose(q, "tool")[:3, :3].T @ [0, 0, -9.81 * mass]
        return bias + np.concatenate((weight, np.cross(com, weight)))

    controller = made(tool_mass=mass, tool_com=com)
    controller.tare([reading(START) + d for d in (-0.01, 0.01)], START)
    np.testing.assert_allclose(controller.bias, bias, atol=1e-12)
    for q in (START, START + 0.4, START - 0.3):
        np.testing.assert_allclose(made_like(controller, q, reading(q)), 0.0, atol=1e-12)


def made_like(controller: CartesianAdmittance, q: np.ndarray, raw: np.ndarray) -> np.ndarray:
    return np.asarray(controller.step(q, None, raw).wrench)


def test_dead_zone_and_clamp_act_on_the_axes_of_the_task() -> None:
    controller = made(dead_zone=[2.0] * 3 + [0.1] * 3, wrench_limits=[8.0] * 3 + [np.inf] * 3)
    found = controller.step(START, None, in_tool(ARM, START, [1.5, -3.0, 20.0, 0.05, 0.3, 0]))
    np.testing.assert_allclose(found.wrench, [0, -1.0, 6.0, 0, 0.2, 0], atol=1e-12)
    controller.set_dead_zone(0.0)
    assert not controller.dead_zone.any()


# Frames


@pytest.mark.parametrize(
    ("robot", "base", "distal"),
    [(ARM, "world", "tool"), (ARM, "link3", "tool"), (DUAL, "left_tool", "right_tool"), (LEGS, "fl_foot", "hr_foot")],
    ids=["world", "link", "two arms", "two feet"],
)
def test_the_relative_jacobian_is_the_derivative_of_the_relative_pose(robot: PinRobot, base: str, distal: str) -> None:
    rng, task = np.random.default_rng(3), RelativeTask(robot, base, distal)
    for _ in range(3):
        q, h = robot.random_configuration(rng), 1e-5
        placed = task.at(q)
        for v in np.eye(robot.nv):
            ahead, behind = (task.at(robot.integrate(q, s * h * v)).pose for s in (1, -1))
            slope = np.concatenate(
                ((ahead[:3, 3] - behind[:3, 3]) / (2 * h), log3(ahead[:3, :3] @ behind[:3, :3].T) / (2 * h))
            )
            np.testing.assert_allclose(placed.jacobian @ v, slope, atol=1e-8)


def test_between_two_arms_only_their_distance_yields() -> None:
    rng = np.random.default_rng(5)
    q = DUAL.random_configuration(rng)
    controller = CartesianAdmittance(DUAL, base_link="left_tool", **(LAW | {"distal_link": "right_tool"}))
    base = DUAL.pose(q, "left_tool")
    push = np.concatenate((base[:3, :3] @ [0, 4.0, 0], np.zeros(3)))
    start = RelativeTask(DUAL, "left_tool", "right_tool").at(q).pose
    for _ in range(1500):
        result = controller.step(q, None, in_tool(DUAL, q, push, "right_tool"))
        q = DUAL.integrate(q, 2e-3 * result.dq)
        push = np.concatenate((DUAL.pose(q, "left_tool")[:3, :3] @ [0, 4.0, 0], np.zeros(3)))
    moved = RelativeTask(DUAL, "left_tool", "right_tool").at(q).pose
    np.testing.assert_allclose(moved[:3, 3] - start[:3, 3], [0, 4e-3, 0], atol=1e-6)


def test_axes_of_the_tool() -> None:
    """Soft along the tool's own z alone: a push from any side moves it along z only."""
    controller = made(control_frame="tool", axes=[0, 0, 1, 0, 0, 0])
    T = ARM.pose(START, "tool")
    q, _ = follow(controller, 1500, [3.0, 2.0, 6.0, 0, 0, 0])
    along = T[:3, 2] @ [3.0, 2.0, 6.0]
    np.testing.assert_allclose(offsets(q)[-1, :3], along / 1000.0 * T[:3, 2], atol=1e-6)


def test_an_axis_that_is_not_selected_stays_stiff_and_goes_back() -> None:
    controller = made(axes=[True, False, True, True, True, True])
    q, _ = follow(controller, 500, [5.0, 50.0, 0, 0, 0, 0])
    np.testing.assert_allclose(offsets(q)[:, 1], 0.0, atol=1e-6)
    reference = ARM.fk(START)
    controller.set_reference(Transformation.from_translation([0, 0.01, 0]) @ reference)
    q, _ = follow(controller, 1000, np.zeros(6), q[-1])
    assert ARM.fk(q[-1]).translation[1] == pytest.approx(reference.translation[1] + 0.01, abs=1e-5)


# References


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


def commands_around(controller: CartesianAdmittance, change: Any) -> tuple[np.ndarray, float]:
    """How far the command moves in the tick of a change, and how far it moves in others just before."""
    wrench = np.array([6.0, -4.0, 8.0, 0.2, -0.1, 0.3])
    q, results = follow(controller, 60, wrench)
    change(controller)
    after = controller.step(q[-1], None, in_tool(ARM, q[-1], wrench)).twist
    usual = max(np.abs(b.twist - a.twist).max() for a, b in zip(results[-20:], results[-19:], strict=False))
    return np.abs(after - results[-1].twist), usual


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


# Limits


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


# Faults


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


# Parameters


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


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in LAW.items() if key != name}


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
