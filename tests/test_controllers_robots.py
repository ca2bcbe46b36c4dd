"""Controllers and their robots: borrowed, without a model, by name in scripts."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, Transformation, eval_jacobian, eval_mass_matrix
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpaceModelFree,
)

from .controller_paths import either_path  # noqa: F401
from .controller_setting import ARM, FULL, NULL, RNG, SIX, fill, impedance, operational, torque
from .planar_arm import PlanarArm
from .robot_cases import LWA, TILTED, close


def test_robots_are_not_moved_and_their_changes_are_seen() -> None:
    robot = copy.deepcopy(ARM)
    q, q_des = robot.random_configuration(RNG), robot.random_configuration(RNG)
    before = robot.q.copy(), robot.model.copy()
    controller, tool = impedance(robot), operational(robot)
    level = controller.torque(q, q_des)
    tool.torque(q, Transformation.random(1))
    assert (robot.q == before[0]).all() and robot.model == before[1]
    robot.set_base_placement(TILTED)
    close(controller.torque(q, q_des), impedance(robot).torque(q, q_des), 1e-13)
    assert np.abs(controller.torque(q, q_des) - level).max() > 0.1
    robot.model.armature = np.full(7, 5.0)
    robot.refresh()
    close(controller.torque(q, q_des), impedance(robot).torque(q, q_des), 1e-13)
    tool.torque(q, Transformation.random(1))
    np.testing.assert_allclose(tool.tool_pose_world[0, :3], robot.fk(q).translation, atol=1e-13)


def test_any_robot_will_do() -> None:
    robot = PlanarArm(base_placement=TILTED)
    q, dq = np.array([0.3, 0.5, -0.4]), np.array([0.1, -0.2, 0.3])
    expected = robot.crba(q) @ (50.0 * (0.2 - q) - 10.0 * dq) + robot.rnea(q, dq, 0 * dq)
    close(impedance(robot).torque((q, dq), [0.2] * 3), expected, 1e-12)
    tau = operational(robot, tool_sites="tip", use_coriolis_compensation=True).torque((q, dq), robot.fk(q))
    assert np.isfinite(tau).all() and operational(robot, tool_sites="tip").controlled_robot_count == 1
    with pytest.raises(NotImplementedError):
        _ = operational(robot, tool_sites="tip").tool_body


def test_joint_impedance_without_a_model_is_the_same() -> None:
    fleet = Fleet([ARM, SIX, ARM])
    based, free = impedance(fleet), ControllerJointImpedanceModelFree([7, 6, 7], stiffness=50.0, damping=10.0)
    inputs, given = fill(based, fleet), free.input()
    for name in ("joint_q", "joint_qd", "joint_q_des", "joint_qd_des"):
        setattr(given, name, getattr(inputs, name))
    parts = [inputs.joint_q[:7], inputs.joint_q[7:13], inputs.joint_q[13:]]
    rates = [inputs.joint_qd[:7], inputs.joint_qd[7:13], inputs.joint_qd[13:]]
    given.mass_matrix = eval_mass_matrix(fleet, inputs.joint_q)
    given.gravity_force = np.concatenate([r.gravity_force(q) for r, q in zip(fleet.robots, parts, strict=True)])
    states = zip(fleet.robots, parts, rates, strict=True)
    given.coriolis_force = np.concatenate([r.coriolis_force(q, dq) for r, q, dq in states])
    np.testing.assert_allclose(torque(free, given), torque(based, inputs), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("options", [{}, FULL, NULL, FULL | NULL | {"use_motion_wrench_projection": True}])
def test_operational_space_without_a_model_is_the_same(options: dict[str, Any]) -> None:
    fleet = Fleet([ARM, SIX, ARM]) if "use_null_space_control" not in options else Fleet([ARM, ARM])
    sizes = [robot.nv for robot in fleet.robots]
    based = operational(fleet, tool_sites="tool", **options)
    free = ControllerOperationalSpaceModelFree(sizes, motion_stiffness=50.0, motion_damping=10.0, **options)
    inputs, given = fill(based, fleet), free.input()
    for port in based._ports:
        if port.off is None and getattr(given, port.name) is not None:
            setattr(given, port.name, getattr(inputs, port.name))
    expected = torque(based, inputs)
    given.tool_pose_world, given.tool_twist_world = based.tool_pose_world, based.tool_twist_world
    given.jacobian_world = eval_jacobian(fleet, inputs.joint_q, frames="tool")
    given.mass_matrix = eval_mass_matrix(fleet, inputs.joint_q)
    q = np.split(inputs.joint_q, fleet.q_offsets[1:-1])
    dq = np.split(inputs.joint_qd, fleet.qd_offsets[1:-1])
    robots = list(zip(fleet.robots, q, dq, strict=True))
    given.gravity_force = np.concatenate([r.gravity_force(q) for r, q, _ in robots])
    if given.coriolis_force is not None:
        given.coriolis_force = np.concatenate([r.coriolis_force(q, dq) for r, q, dq in robots])
    if given.bias_acceleration_world is not None:
        rows = [r.jacobian_derivative(q, dq, "tool", LWA) @ dq for r, q, dq in robots]
        given.bias_acceleration_world = np.array(rows)
    np.testing.assert_allclose(torque(free, given), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_scripts_speak_of_joints_by_name() -> None:
    controller = impedance(ARM)
    q = ARM.random_configuration(RNG)
    q_des = ARM.q.copy()
    q_des[[1, 4]] = 0.3, -0.2
    tau = controller.torque(q, {"joint2": 0.3, "joint5": -0.2}, dq_des={"joint1": 0.5})
    np.testing.assert_array_equal(tau, controller.torque((q, np.zeros(7)), q_des, dq_des=[0.5, 0, 0, 0, 0, 0, 0]))
    robot = copy.deepcopy(ARM)
    robot.update_configuration(q, 0.1 * q)
    np.testing.assert_array_equal(controller.torque(robot, q_des), controller.torque((q, 0.1 * q), q_des))
    np.testing.assert_array_equal(impedance(robot).torque(), impedance(robot).torque((q, 0.1 * q), q))
    tool = operational(robot, operational_frame_pose_world=TILTED)
    expected = tool.torque((q, 0 * q), TILTED.inverse @ robot.fk(q))
    np.testing.assert_allclose(tool.torque((q, 0 * q)), expected, atol=1e-9)
    close(tool.torque(q, TILTED.homogeneous), tool.torque(q, np.r_[TILTED.translation, TILTED.quat_xyzw]), 1e-12)


def test_scripts_are_for_one_robot() -> None:
    with pytest.raises(InputError, match="use step"):
        impedance(Fleet([ARM, ARM])).torque(ARM.q, ARM.q)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_whatever_one_robot_is_given_the_other_does_not_notice(value: float) -> None:
    fleet = Fleet([ARM, ARM])
    live = {"motion_stiffness": None, "motion_damping": None, "wrench_stiffness": None}
    live |= {"null_space_stiffness": None, "null_space_damping": None, "operational_frame_pose_world": None}
    for options in ({}, {"use_partial_inertia_decoupling": True}, {"use_inertia_decoupling": False}):
        compensated = {} if "use_inertia_decoupling" not in options else {"use_bias_acceleration": False}
        controller = operational(fleet, **(FULL | NULL | live | options | compensated))
        inputs = fill(controller, fleet)
        expected = torque(controller, inputs)
        for port in controller._ports:
            if port.off is None:
                spoilt = copy.deepcopy(inputs)
                getattr(spoilt, port.name).reshape(-1)[0] = value
                np.testing.assert_allclose(torque(controller, spoilt)[7:], expected[7:], rtol=1e-11, err_msg=port.name)


def test_robots_that_differ_in_their_base_alone_are_evaluated_together() -> None:
    places = [TILTED, Transformation.from_rpy([0, 0, 1.0], [3.0, -2.0, 0.5]), Transformation.from_rpy([0, 0, -2.0])]
    level = [copy.deepcopy(ARM) for _ in range(4)]
    for robot, place in zip(level, [*places, Transformation.identity()], strict=True):
        robot.set_base_placement(place)
    fleet = Fleet(level)
    for kind in (impedance(fleet), operational(fleet, tool_sites="tool", **FULL, **NULL)):
        assert [len(group.members) for group in kind._groups] == [1, 3]  # gravity points elsewhere in the tilted one
        inputs = fill(kind, fleet)
        together = torque(kind, inputs)
        for i, robot in enumerate(level):
            one = impedance(robot) if isinstance(kind, ControllerJointImpedance) else operational(robot, **FULL, **NULL)
            own = one.input()
            for port in one._ports:
                if port.off is None:
                    array = getattr(inputs, port.name)
                    setattr(own, port.name, array[7 * i : 7 * i + 7] if array.ndim == 1 else array[i : i + 1])
            close(together[7 * i : 7 * i + 7], torque(one, own), 1e-10)
    level[1].model.armature = np.full(7, 0.1)
    level[1].refresh()
    level[2].add_frame("camera", "tool", TILTED)
    assert len(impedance(fleet)._groups) == 4
