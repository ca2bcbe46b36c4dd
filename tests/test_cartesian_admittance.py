"""Cartesian admittance on robots: the response, the sensor, the frames."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import PinRobot, Transformation
from knuckle.controllers import AdmittanceStatus, CartesianAdmittance
from knuckle.controllers.admittance_law import exact_step, response
from knuckle.controllers.relative_task import RelativeTask
from knuckle.robot.spatial import log3

from .admittance_setting import (
    ARM,
    DUAL,
    LAW,
    LEGS,
    START,
    follow,
    in_tool,
    made,
    made_like,
    offsets,
)


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


def test_dead_zone_and_clamp_act_on_the_axes_of_the_task() -> None:
    controller = made(dead_zone=[2.0] * 3 + [0.1] * 3, wrench_limits=[8.0] * 3 + [np.inf] * 3)
    found = controller.step(START, None, in_tool(ARM, START, [1.5, -3.0, 20.0, 0.05, 0.3, 0]))
    np.testing.assert_allclose(found.wrench, [0, -1.0, 6.0, 0, 0.2, 0], atol=1e-12)
    controller.set_dead_zone(0.0)
    assert not controller.dead_zone.any()


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
