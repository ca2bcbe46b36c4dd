"""Controllers as they are used: ports, fleets, joints that turn without end, the laws through the adapters."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, PinRobot, Transformation
from knuckle.controllers import (
    ControllerJointImpedanceModelFree,
)

from .controller_paths import either_path  # noqa: F401
from .controller_setting import ARM, FULL, HEAD, LEGS, MIXED, NULL, RNG, SIX, fill, impedance, operational, torque
from .planar_arm import PlanarArm
from .robot_cases import LWA, TILTED, close
from .samples import path_of


def test_ports_start_at_rest_and_at_the_identity() -> None:
    inputs = operational(Fleet([ARM, SIX]), tool_sites="tool", **{k: v for k, v in FULL.items()}).input()
    assert inputs.desired_tool_pose_operational.tolist() == [[0, 0, 0, 0, 0, 0, 1]] * 2
    assert not inputs.joint_q.any() and inputs.joint_q.shape == (13,)
    assert inputs.desired_wrench_world.shape == inputs.measured_wrench_world.shape == (2, 6)
    for off in ("operational_frame_pose_world", "motion_stiffness", "joint_q_des_null", "wrench_stiffness"):
        assert getattr(inputs, off) is None
    with pytest.raises(AttributeError):
        inputs.joint_q_desired = 0


def test_counts_and_starts() -> None:
    controller = operational(MIXED, articulations=["?", "head"])
    assert (controller.model_robot_count, controller.controlled_robot_count) == (6, 5)
    assert controller.total_controlled_dofs == 7 + 6 + 7 + 2 + 6 == len(controller.output().joint_f)
    assert controller.max_controlled_dofs == 7
    assert controller.qd_start.tolist() == [*range(7), *range(25, 46)]
    assert controller.q_start.tolist() == [*range(7), *range(26, 47)]
    assert controller.robot_labels == ("a", "b", "c", "head", "d")
    assert controller.is_graphable() is False


def test_tools_and_their_bodies() -> None:
    robot = copy.deepcopy(ARM)
    robot.add_frame("site", "link4", TILTED)
    controller = operational(Fleet([HEAD, robot]), tool_sites=["lens", "site"])
    fleet = Fleet([HEAD, robot])
    assert [fleet.body_names[i] for i in controller.tool_body][1].endswith("/joint4")
    np.testing.assert_allclose(controller.tool_transform_body[1, :3], TILTED.translation)
    inputs = fill(controller, fleet)
    torque(controller, inputs)
    q, dq = inputs.joint_q[2:], inputs.joint_qd[2:]
    np.testing.assert_allclose(controller.tool_pose_world[1, :3], robot.fk(q, frame="site").translation, atol=1e-14)
    close(controller.tool_twist_world[1], robot.frame_jacobian(q, "site", LWA) @ dq, 1e-13)
    controller.reset()
    assert controller.tool_pose_world.tolist() == [[0, 0, 0, 0, 0, 0, 1]] * 2 and not controller.tool_twist_world.any()


def test_assigning_filling_float32_and_views_are_the_same() -> None:
    controller = impedance(MIXED, articulations=["a", "d"])
    inputs = fill(controller, MIXED)
    expected = torque(controller, inputs)
    q_des = MIXED.joint_q() * 0 + 3.0
    q_des[controller.q_start] = inputs.joint_q_des
    inputs.joint_q_des = MIXED.view(q_des, controller.q_start)
    joint_f = np.zeros(MIXED.joint_dof_count)
    outputs = controller.output()
    outputs.joint_f = MIXED.view(joint_f, controller.qd_start)
    controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
    np.testing.assert_array_equal(joint_f[controller.qd_start], expected)
    q_des[controller.q_start] += 1.0
    controller.step(inputs=inputs, outputs=outputs)
    assert (joint_f[controller.qd_start] != expected).all()
    assert not np.delete(joint_f, controller.qd_start).any()
    inputs.joint_q_des = (q_des[controller.q_start] - 1.0).tolist()
    np.testing.assert_allclose(torque(controller, inputs), expected, rtol=1e-12)
    inputs.joint_q_des = np.asarray(inputs.joint_q_des, np.float32)
    outputs.joint_f = np.zeros(13, np.float32)
    controller.step(inputs=inputs, outputs=outputs)
    np.testing.assert_allclose(outputs.joint_f, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "decoupling", [{}, {"use_partial_inertia_decoupling": True}, {"use_inertia_decoupling": False}]
)
@pytest.mark.parametrize("wrench", [{}, FULL])
def test_operational_space_in_a_fleet_is_as_alone(decoupling: dict[str, Any], wrench: dict[str, Any]) -> None:
    options = wrench | decoupling
    if decoupling.get("use_inertia_decoupling") is False and wrench:
        options = options | {"use_bias_acceleration": False}
    controller = operational(MIXED, **options)
    inputs = fill(controller, MIXED)
    together, alone = torque(controller, inputs), []
    for i, robot in enumerate(MIXED.robots):
        tool = {"tool_sites": controller._model.tools[i]}  # type: ignore[index]
        one = operational(robot, **options, **tool)
        own = one.input()
        own.joint_q = inputs.joint_q[MIXED.q_offsets[i] : MIXED.q_offsets[i + 1]]
        own.joint_qd = inputs.joint_qd[MIXED.qd_offsets[i] : MIXED.qd_offsets[i + 1]]
        for port in one._ports:
            if port.off is None and not port.name.startswith("joint_"):
                setattr(own, port.name, getattr(inputs, port.name)[i : i + 1])
        alone.append(torque(one, own))
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-11, atol=1e-11 * np.abs(together).max())


def test_joint_impedance_in_a_fleet_is_as_alone() -> None:
    controller = impedance(MIXED)
    inputs = fill(controller, MIXED)
    together, alone, at = torque(controller, inputs), [], 0
    for i, robot in enumerate(MIXED.robots):
        one = impedance(robot)
        own, n = one.input(), one.total_controlled_dofs
        own.joint_q = inputs.joint_q[MIXED.q_offsets[i] : MIXED.q_offsets[i + 1]]
        own.joint_qd = inputs.joint_qd[MIXED.qd_offsets[i] : MIXED.qd_offsets[i + 1]]
        own.joint_q_des, own.joint_qd_des = inputs.joint_q_des[at : at + n], inputs.joint_qd_des[at : at + n]
        alone.append(torque(one, own))
        at += n
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12, atol=1e-12 * np.abs(together).max())


def test_equal_copies_are_evaluated_together_and_other_robots_apart() -> None:
    moved = copy.deepcopy(ARM)
    moved.set_base_placement(TILTED)
    assert len(impedance(Fleet([ARM, copy.deepcopy(ARM), ARM]))._groups) == 1
    assert len(impedance(Fleet([ARM, moved, SIX, PlanarArm()]))._groups) == 4


def test_joint_impedance_term_by_term() -> None:
    q, dq, q_des = ARM.random_configuration(RNG), *RNG.normal(size=(2, 7))
    a = 50.0 * (q_des - q) - 10.0 * dq
    M, g, c = ARM.crba(q), ARM.gravity_force(q), ARM.coriolis_force(q, dq)
    for m in (True, False):
        for use_g in (True, False):
            for use_c in (True, False):
                controller = impedance(
                    ARM, use_inertia_decoupling=m, use_gravity_compensation=use_g, use_coriolis_compensation=use_c
                )
                expected = (M @ a if m else a) + use_g * g + use_c * c
                close(controller.torque((q, dq), q_des), expected, 1e-12)


def test_controlled_joints_take_their_block_of_the_mass_matrix_and_the_whole_state() -> None:
    joints, at = ["joint6", "joint2"], [5, 1]
    q, dq = ARM.random_configuration(RNG), RNG.normal(size=7)
    controller = impedance(ARM, joints=joints, has_qdd_feedforward=True)
    tau = controller.torque((q, dq), [0.1, 0.2], dq_des=[0.3, 0.4], ddq_des=[0.5, 0.6])
    a = 50.0 * ([0.1, 0.2] - q[at]) + 10.0 * ([0.3, 0.4] - dq[at]) + [0.5, 0.6]
    expected = np.zeros(7)
    expected[at] = ARM.crba(q)[np.ix_(at, at)] @ a + ARM.bias_force(q, dq)[at]
    close(tau, expected, 1e-12)


def test_floating_legs_are_held_with_the_root_as_it_is() -> None:
    q, dq = LEGS.random_configuration(RNG), RNG.normal(size=18)
    still = dq * np.r_[np.zeros(6), np.ones(12)]
    for rate in (still, dq):
        tau = impedance(LEGS).torque((q, rate), q)
        M = LEGS.crba(q)
        assert not tau[:6].any()
        if rate is still:
            close(tau[6:], (M[6:, 6:] @ (-10.0 * rate[6:])) + LEGS.bias_force(q, rate)[6:], 1e-11)


def test_a_turning_root_feeds_the_legs_as_its_centre_of_mass_moves_evenly() -> None:
    dog = LEGS.with_payload(5.0, com=[0.2, 0.1, 0.3], frame=LEGS.frames[1])
    q, dq = dog.random_configuration(RNG), RNG.normal(size=18)
    tau = impedance(dog, stiffness=0.0, damping=0.0).torque((q, dq), q)
    com, w, v = dog.model.inertias[1].lever, dq[3:6], dq[:3]
    ddq = np.zeros(18)  # the acceleration of the origin at which that of the centre of mass is 0, body axes
    ddq[:3] = -np.cross(w, np.cross(w, com)) - np.cross(w, v)
    close(tau[6:], dog.rnea(q, dq, ddq)[6:], 1e-11)


def test_the_task_accelerates_as_asked_when_everything_is_compensated() -> None:
    options = FULL | {"use_wrench_feedback": False, "wrench_stiffness": None, "use_wrench_feedforward": True}
    options |= {"motion_selection_axes": None, "wrench_selection_axes": np.zeros(6)}
    controller = operational(ARM, **options, **NULL)
    q, dq = np.array([0.2, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5]), RNG.normal(size=7)
    pose, twist, ahead = Transformation.random(4), RNG.normal(size=6), RNG.normal(size=6)
    tau = controller.torque((q, dq), pose, twist_des=twist, acceleration_des=ahead, q_null=q + 0.5)
    ddq = ARM.fd(tau, q, dq, friction=False, motor_inertia=False)
    J = ARM.frame_jacobian(q, "tool", LWA)
    reached = J @ ddq + ARM.jacobian_derivative(q, dq, "tool", LWA) @ dq
    R6 = np.kron(np.eye(2), TILTED.rotation)
    present = TILTED.inverse @ ARM.fk(q)
    turn = Transformation.from_rotation(pose.rotation @ present.rotation.T).rotation_vector
    e = np.r_[pose.translation - present.translation, turn]
    np.testing.assert_allclose(R6.T @ reached, 50 * e + 10 * (twist - R6.T @ J @ dq) + ahead, atol=1e-8)
    np.testing.assert_allclose(controller.achieved_acceleration, controller.asked_acceleration, atol=1e-8)
    assert controller.exactness.tolist() == [1.0] and 1 < controller.condition_number[0] < 1e4


def test_posture_leaves_the_task_alone_through_the_controller() -> None:
    q, dq, pose = np.array([0.2, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5]), RNG.normal(size=7), Transformation.random(2)
    J, M = ARM.frame_jacobian(q, "tool", LWA), ARM.crba(q)
    for options, effect in (
        ({}, J @ np.linalg.inv(M)),
        ({"use_partial_inertia_decoupling": True}, J),
        ({"use_inertia_decoupling": False}, J),
    ):
        plain = operational(ARM, **options).torque((q, dq), pose)
        posed = operational(ARM, **options, **NULL).torque((q, dq), pose, q_null=q + 1.0, dq_null=[1.0] * 7)
        assert np.abs(posed - plain).max() > 0.1
        np.testing.assert_allclose(effect @ (posed - plain), 0, atol=1e-10)


def test_zero_error_gives_zero_torque() -> None:
    q = np.array([0.2, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5])
    assert not impedance(ARM, use_gravity_compensation=False).torque(q, q).any()
    tau = operational(ARM, use_gravity_compensation=False, **NULL).torque(q, ARM.fk(q), q_null=q)
    np.testing.assert_allclose(tau, 0, atol=1e-11)


def test_continuous_joints_go_the_short_way() -> None:
    controller = impedance(HEAD, use_inertia_decoupling=False, use_gravity_compensation=False)
    q = np.array([3.0, -3.0])
    np.testing.assert_allclose(controller.torque(q, -q), 50 * np.array([2 * np.pi - 6, 6 - 2 * np.pi]), atol=1e-12)
    np.testing.assert_allclose(controller.torque(q, q + 20 * np.pi), 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(controller.torque(q, q + np.pi)), 50 * np.pi)
    free = ControllerJointImpedanceModelFree(
        [2],
        stiffness=50.0,
        damping=10.0,
        continuous_dofs=[True, False],
        use_gravity_compensation=False,
        use_coriolis_compensation=False,
        use_inertia_decoupling=False,
    )
    inputs = free.input()
    inputs.joint_q, inputs.joint_q_des = q, -q
    np.testing.assert_allclose(torque(free, inputs), 50 * np.array([2 * np.pi - 6, 6.0]))


def test_a_posture_of_continuous_joints_goes_the_short_way(tmp_path: Any) -> None:
    path = tmp_path / "endless.urdf"
    path.write_text(path_of("sevenr_arm").read_text(encoding="utf-8").replace('"revolute"', '"continuous"'))
    endless = PinRobot.from_urdf(path)
    q = np.array([3.0, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5])
    controller = operational(endless, **NULL)
    turns = 2 * np.pi * np.array([1, -2, 3, 0, -1, 2, 5])
    a = controller.torque(q, endless.fk(q), q_null=q + 0.1)
    np.testing.assert_allclose(controller.torque(q, endless.fk(q), q_null=q + 0.1 + turns), a, atol=1e-10)
