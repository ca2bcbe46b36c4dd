"""Shapes that fleets take: gains per robot, batches of states, many draws; and what they say of themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, UnknownNameError
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpace,
    rollout,
)

from .planar_arm import PlanarArm
from .samples import SAMPLES, load

ARM, SIX = load("sevenr_arm"), load("sixr_arm")
LIKE, MIXED = Fleet([ARM] * 3), Fleet([ARM, SIX])
EACH = np.arange(1.0, 8.0)
ROBOTS = np.array([[1.0], [2.0], [3.0]])


def torque(fleet: Fleet, **gains: Any) -> np.ndarray:
    controller = ControllerJointImpedance(fleet, damping=1.0, **gains)
    inputs, outputs = controller.input(), controller.output()
    inputs.joint_q_des[:] = 0.1
    controller.step(inputs=inputs, outputs=outputs)
    return np.array(outputs.joint_f)


@pytest.mark.parametrize(
    ("given", "same"),
    [(EACH, np.tile(EACH, 3)), (ROBOTS, np.repeat(ROBOTS[:, 0], 7)), (ROBOTS * EACH, (ROBOTS * EACH).ravel())],
    ids=["a row for all", "a column", "a row each"],
)
def test_gains_of_joints_are_taken_per_robot(given: np.ndarray, same: np.ndarray) -> None:
    np.testing.assert_array_equal(torque(LIKE, stiffness=given), torque(LIKE, stiffness=same))
    free = ControllerJointImpedanceModelFree([7, 7, 7], stiffness=given, damping=given)
    np.testing.assert_array_equal(free._fixed["damping"][1], same)
    bounded = torque(LIKE, stiffness=1e6, torque_limits=given)
    np.testing.assert_array_equal(bounded, torque(LIKE, stiffness=1e6, torque_limits=same))
    null = {"use_null_space_control": True, "null_space_stiffness": given, "null_space_damping": given}
    space = ControllerOperationalSpace(LIKE, tool_sites="tool", motion_stiffness=1.0, motion_damping=1.0, **null)
    np.testing.assert_array_equal(space._fixed["null_space_stiffness"][1], same)


def test_robots_of_different_sizes_take_a_column() -> None:
    np.testing.assert_array_equal(
        torque(MIXED, stiffness=[[1.0], [2.0]]), torque(MIXED, stiffness=[1.0] * 7 + [2.0] * 6)
    )
    for wrong in (EACH, [1.0, 2.0], np.ones((2, 7))):
        with pytest.raises(InputError, match=r"\(13,\), one per controlled dof, or \(2, 1\), a number per robot; got"):
            torque(MIXED, stiffness=wrong)


@pytest.mark.parametrize(
    "wrong", [np.ones(3), np.ones((7, 3)), np.ones((1, 7, 3)), np.ones(20), -ROBOTS, ROBOTS * np.nan]
)
def test_other_shapes_are_answered_with_those_there_are(wrong: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"stiffness must"):
        torque(LIKE, stiffness=wrong)


def test_controllers_and_ports_fit_in_a_line() -> None:
    controller = ControllerJointImpedance(LIKE, stiffness=5.0, damping=None)
    assert repr(controller).startswith("<ControllerJointImpedance of 3 robots, 21 joints, ")
    assert repr(controller).endswith("; fixed: stiffness>")
    inputs = controller.input()
    inputs.joint_q_des[3] = 0.1
    text = repr(inputs)
    assert "joint_q_des (21,), joint_qd_des (21,) all 0" in text and "damping (21,) all 0; 2 not in use>" in text
    array = np.ones(30)
    inputs.joint_q_des = LIKE.view(array, controller.q_start)
    assert "joint_q_des (21,)," in repr(inputs)
    assert "\n" not in text and repr(controller.output()) == "<ControllerJointImpedance.Outputs: joint_f (21,) all 0>"
    free = ControllerJointImpedanceModelFree([7], stiffness=None, damping=None)
    assert repr(free) == "<ControllerJointImpedanceModelFree of 1 robot, 7 joints; fixed: nothing>"


def test_a_frame_that_no_robot_has_is_refused_without_walls_too() -> None:
    controller = ControllerJointImpedance(ARM, stiffness=5.0, damping=1.0)
    with pytest.raises(UnknownNameError, match="nosuch"):
        rollout(ARM, controller, (np.zeros(7), np.zeros(7)), 1e-3, 2, inputs=controller.input(), frame="nosuch")


@pytest.mark.parametrize("name", [*SAMPLES, "a robot of its own"])
def test_batches_are_what_single_states_are(name: str) -> None:
    robot: Any = load(name) if name in SAMPLES else PlanarArm()
    q = robot.random_configuration(3, count=5)
    assert q.shape == (5, robot.nq)
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(q, [robot.random_configuration(generator) for _ in range(5)])
    dq = np.random.default_rng(1).normal(size=(5, robot.nv))
    tip = robot.frames[-1]
    many = [robot.manipulability_index(q, tip), robot.kinetic_energy(q, dq), robot.potential_energy(q)]
    single = [
        [robot.manipulability_index(one, tip) for one in q],
        [robot.kinetic_energy(*each) for each in zip(q, dq, strict=True)],
        [robot.potential_energy(one) for one in q],
    ]
    np.testing.assert_allclose(many, single, rtol=1e-9, atol=1e-9)
    assert isinstance(robot.kinetic_energy(q[0], dq[0]), float) and isinstance(
        robot.manipulability_index(q[0], tip), float
    )
    values = robot.joint_values(q)
    for k, row in enumerate(q):
        for joint, value in robot.joint_values(row).items():
            np.testing.assert_array_equal(values[joint][k], value)
    np.testing.assert_allclose(
        robot.kinetic_energy(q[0], dq), [robot.kinetic_energy(q[0], one) for one in dq], rtol=1e-9
    )
    np.testing.assert_allclose(
        robot.kinetic_energy(q, dq[0]), [robot.kinetic_energy(one, dq[0]) for one in q], rtol=1e-9
    )
    with pytest.raises(InputError, match="as many, got 5 and 3"):
        robot.kinetic_energy(q, dq[:3])


@pytest.mark.parametrize("count", [0, -1, 1.5, "two", True])
def test_counts_that_are_none(count: Any) -> None:
    with pytest.raises(InputError, match="count"):
        ARM.random_configuration(count=count)


def test_distances_of_a_batch_are_found_under_another_name() -> None:
    q = ARM.random_configuration(0, count=4)
    with pytest.raises(InputError, match=r"q must have shape \(7,\), got \(4, 7\); clearance\(q\) takes a batch"):
        ARM.distance(q)
    np.testing.assert_array_equal(ARM.clearance(q), [ARM.distance(one).value for one in q])
