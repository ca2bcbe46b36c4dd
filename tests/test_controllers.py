"""Controllers as they are used: ports, fleets, live gains, limits, faults, changes of the robots."""

from __future__ import annotations

import copy
import logging
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, PinRobot, Transformation, eval_jacobian, eval_mass_matrix
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpace,
    ControllerOperationalSpaceModelFree,
)

from .controller_paths import either_path  # noqa: F401
from .planar_arm import PlanarArm
from .robot_cases import LWA, TILTED, close
from .samples import load, path_of

ARM, SIX, LEGS, HEAD = load("sevenr_arm"), load("sixr_arm"), load("quadruped"), load("pan_tilt_continuous")
MIXED = Fleet([ARM, LEGS, SIX, ARM, HEAD, SIX], ["a", "dog", "b", "c", "head", "d"])
RNG = np.random.default_rng(1)
FULL = {
    "use_wrench_feedforward": True,
    "use_wrench_feedback": True,
    "wrench_stiffness": 0.5,
    "motion_selection_axes": [1, 1, 0, 1, 1, 0.5],
    "wrench_selection_axes": [0, 0, 1, 0, 0, 0.5],
    "linear_selection_frame_operational": Transformation.from_rpy([0.3, 0.1, -0.4]).quat_xyzw,
    "operational_frame_pose_world": TILTED,
    "use_coriolis_compensation": True,
    "use_bias_acceleration": True,
    "has_acceleration_feedforward": True,
}
NULL = {"use_null_space_control": True, "null_space_stiffness": 20.0, "null_space_damping": 4.0}


def fill(controller: Any, robots: Any, seed: int = 0) -> Any:
    """Inputs with random states and targets."""
    rng, inputs = np.random.default_rng(seed), controller.input()
    for port in controller._ports:
        array = getattr(inputs, port.name)
        if array is None:
            continue
        array[...] = np.abs(rng.normal(size=array.shape)) if port.gain else rng.normal(size=array.shape)
    if "joint_q" in {port.name for port in controller._ports} and isinstance(robots, Fleet):
        inputs.joint_q[:] = np.concatenate([robot.random_configuration(rng) for robot in robots.robots])
    return inputs


def torque(controller: Any, inputs: Any) -> np.ndarray:
    outputs = controller.output()
    controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
    return np.asarray(outputs.joint_f)


def impedance(robots: Any, **options: Any) -> ControllerJointImpedance:
    return ControllerJointImpedance(robots, **{"stiffness": 50.0, "damping": 10.0, **options})


def operational(robots: Any, **options: Any) -> ControllerOperationalSpace:
    known = {robot: tool for tool, robot in (("tool", ARM), ("fl_foot", LEGS), ("lens", HEAD))}
    among = [known.get(robot, "tool") for robot in robots.robots] if isinstance(robots, Fleet) else ["tool"]
    if isinstance(robots, Fleet) and options.get("articulations"):
        among = ["tool", "lens"]
    gains = {"motion_stiffness": 50.0, "motion_damping": 10.0, "tool_sites": sorted(set(among))}
    return ControllerOperationalSpace(robots, **{**gains, **options})


# Ports and properties


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


# One robot alone, and in a fleet


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


# The laws through the adapters, term by term


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


# Joints that turn without end


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


# Gains, ratios, limits, switches


def test_live_gains_are_read_at_every_step() -> None:
    q, dq, pose = ARM.random_configuration(RNG), RNG.normal(size=7), Transformation.random(3)
    live = operational(ARM, motion_stiffness=None, motion_damping=None, operational_frame_pose_world=None)
    for k in (10.0, 30.0):
        fixed = operational(ARM, motion_stiffness=k, motion_damping=2 * k, operational_frame_pose_world=TILTED)
        gains = {"motion_stiffness": k, "motion_damping": 2 * k, "operational_frame": TILTED}
        close(live.torque((q, dq), pose, **gains), fixed.torque((q, dq), pose), 1e-12)
    own = impedance(ARM, stiffness=None, damping=None)
    for k in (10.0, 30.0):
        expected = impedance(ARM, stiffness=k, damping=k / 2).torque((q, dq), q + 1)
        close(own.torque((q, dq), q + 1, stiffness=k, damping=np.full(7, k / 2)), expected, 1e-13)


def test_live_selection_frames_and_wrench_gains() -> None:
    frame, turn = Transformation.from_rpy([0.3, 0.1, -0.4]).quat_xyzw, Transformation.from_rpy([1.0, 0, 0]).quat_xyzw
    frames = {"linear_selection_frame_operational": frame, "angular_selection_frame_operational": turn}
    fixed = operational(Fleet([SIX, SIX]), tool_sites="tool", **(FULL | frames))
    inputs = fill(fixed, Fleet([SIX, SIX]))
    options = FULL | {"wrench_stiffness": None} | dict.fromkeys(frames)
    live = operational(Fleet([SIX, SIX]), tool_sites="tool", **options)
    given = live.input()
    for port in live._ports:
        if getattr(inputs, port.name) is not None:
            setattr(given, port.name, getattr(inputs, port.name))
    given.wrench_stiffness[:] = 0.5
    given.linear_selection_frame_operational[:] = frame
    given.angular_selection_frame_operational[:] = 3 * turn  # normalised
    close(torque(live, given), torque(fixed, inputs), 1e-12)


def test_a_damping_ratio_is_twice_the_root_of_the_stiffness() -> None:
    q, dq, pose = ARM.random_configuration(RNG), RNG.normal(size=7), Transformation.random(3)
    k = RNG.uniform(1, 100, size=6)
    by_ratio = ControllerOperationalSpace(ARM, tool_sites="tool", motion_stiffness=k, damping_ratio=0.7)
    plain = operational(ARM, motion_stiffness=k, motion_damping=1.4 * np.sqrt(k))
    close(by_ratio.torque((q, dq), pose), plain.torque((q, dq), pose), 1e-13)
    kj = RNG.uniform(1, 100, size=7)
    joint = ControllerJointImpedance(ARM, stiffness=None, damping_ratio=np.full(7, 0.5))
    expected = impedance(ARM, stiffness=kj, damping=np.sqrt(kj)).torque((q, dq), q)
    close(joint.torque((q, dq), q, stiffness=kj), expected, 1e-13)
    null = NULL | {"null_space_stiffness": kj}
    ratio = {key: value for key, value in null.items() if key != "null_space_damping"} | {
        "null_space_damping_ratio": 1.0
    }
    expected = operational(ARM, **(null | {"null_space_damping": 2 * np.sqrt(kj)})).torque((q, dq), pose, q_null=q + 1)
    close(operational(ARM, **ratio).torque((q, dq), pose, q_null=q + 1), expected, 1e-13)


def test_torque_limits() -> None:
    q = np.array([0.2, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5])
    free = impedance(ARM, stiffness=1e4).torque(q, q + 1)
    limits = ARM.joint_torque_limits
    assert (np.abs(free) > limits).any()
    clipped = impedance(ARM, stiffness=1e4, torque_limits="robot").torque(q, q + 1)
    np.testing.assert_array_equal(clipped, np.clip(free, -limits, limits))
    scaled = impedance(ARM, stiffness=1e4, torque_limits=limits, torque_limit_mode="scale").torque(q, q + 1)
    np.testing.assert_allclose(scaled, free * (limits / np.abs(free)).min(), rtol=1e-12)
    assert (np.abs(operational(ARM, torque_limits=3.0).torque(q, Transformation.random(1))) <= 3.0).all()


def test_switches_may_differ_from_robot_to_robot() -> None:
    fleet = Fleet([ARM] * 3)
    switches = {"use_gravity_compensation": [True, False, True], "use_inertia_decoupling": [False, True, True]}
    controller = impedance(fleet, **switches)
    inputs = fill(controller, fleet)
    tau = torque(controller, inputs)
    for i in range(3):
        same = impedance(fleet, **{name: values[i] for name, values in switches.items()})
        np.testing.assert_allclose(torque(same, inputs)[7 * i : 7 * i + 7], tau[7 * i : 7 * i + 7], rtol=1e-12)


# Faults


@pytest.mark.parametrize("kind", [impedance, operational])
def test_nan_of_one_robot_stays_there_and_is_reported(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    fleet = Fleet([ARM, ARM, SIX, ARM], ["w", "x", "y", "z"])
    controller = kind(fleet) if kind is impedance else kind(fleet, tool_sites="tool")
    inputs = fill(controller, fleet)
    expected = torque(controller, inputs)
    assert not controller.faults.any()
    inputs.joint_q[8] = np.nan
    with caplog.at_level(logging.WARNING):
        tau = torque(controller, inputs)
        torque(controller, inputs)
    assert np.isnan(tau[7:14]).all()
    np.testing.assert_allclose(np.delete(tau, range(7, 14)), np.delete(expected, range(7, 14)), rtol=1e-12, atol=1e-12)
    assert controller.faults.tolist() == [False, True, False, False]
    assert [record.getMessage() for record in caplog.records if "'x'" in record.getMessage()].__len__() == 1
    inputs.joint_q[8] = 0.1
    torque(controller, inputs)
    assert not controller.faults.any()
    inputs.joint_q[14] = np.inf
    torque(controller, inputs)
    controller.reset()
    assert not controller.faults.any()


def test_targets_that_are_nan_stay_with_their_robot() -> None:
    fleet = Fleet([ARM, ARM])
    controller = operational(fleet, tool_sites="tool", **FULL, **NULL)
    inputs = fill(controller, fleet)
    expected = torque(controller, inputs)
    for name in ("desired_tool_pose_operational", "desired_wrench_world", "desired_twist_operational"):
        spoilt = copy.deepcopy(inputs)
        getattr(spoilt, name)[1, :] = np.nan
        tau = torque(controller, spoilt)
        np.testing.assert_allclose(tau[:7], expected[:7], rtol=1e-12)
        assert np.isnan(tau[7:]).all()


def test_an_uncontrolled_robot_is_not_evaluated() -> None:
    controller = impedance(MIXED, articulations=["a", "c"])
    inputs = fill(controller, MIXED)
    expected = torque(controller, inputs)
    inputs.joint_q[MIXED.q_offsets[1] : MIXED.q_offsets[3]] = np.nan
    np.testing.assert_array_equal(torque(controller, inputs), expected)
    assert not controller.faults.any()


# Borrowed robots


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


# Without a model


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


# The short way for scripts


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
