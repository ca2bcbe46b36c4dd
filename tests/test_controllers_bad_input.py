"""Wrong use of controllers: refused when they are made or at the first step, by name, before anything is written."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpace,
    ControllerOperationalSpaceModelFree,
)

from .controller_paths import either_path  # noqa: F401
from .samples import load

ARM, SIX, LEGS = load("sevenr_arm"), load("sixr_arm"), load("quadruped")
FLEET = Fleet([ARM, SIX], ["a", "b"])
ONE_QUAT, ONE_POSE = [0.0, 0, 0, 1], [0.0, 0, 0, 0, 0, 0, 1]
IMPEDANCE: dict[str, Any] = {"stiffness": 50.0, "damping": 10.0}
TOOL: dict[str, Any] = {"tool_sites": "tool", "motion_stiffness": 50.0, "motion_damping": 10.0}
WRENCH: dict[str, Any] = {"use_wrench_feedforward": True, "wrench_selection_axes": [0, 0, 1, 0, 0, 0]}
FEEDBACK = WRENCH | {"use_wrench_feedback": True}
NULL: dict[str, Any] = {"use_null_space_control": True, "null_space_stiffness": 1.0, "null_space_damping": 1.0}

JOINT_CASES: list[tuple[dict[str, Any], str]] = [
    ({"stiffness": -1.0}, "stiffness must not be negative"),
    ({"stiffness": np.nan}, "stiffness must be finite"),
    ({"stiffness": np.inf}, "stiffness must be finite"),
    ({"stiffness": np.ones(12)}, "one per controlled dof, or (2, 1), a number per robot; got (12,)"),
    ({"stiffness": np.ones((2, 7))}, "(13,)"),
    ({"stiffness": "stiff"}, "stiffness"),
    ({"stiffness": True}, "stiffness"),
    ({"damping": [-1.0] * 13}, "damping must not be negative"),
    ({"damping": [1.0] * 12 + [np.nan]}, "damping must be finite"),
    ({"damping_ratio": 1.0}, "damping or damping_ratio"),
    ({"use_gravity_compensation": 1}, "use_gravity_compensation"),
    ({"use_gravity_compensation": [True]}, "shape (2,)"),
    ({"use_inertia_decoupling": "yes"}, "use_inertia_decoupling"),
    ({"has_qdd_feedforward": None}, "has_qdd_feedforward"),
    ({"torque_limits": -1.0}, "torque_limits must not be negative"),
    ({"torque_limits": np.nan}, "torque_limits"),
    ({"torque_limits": "none"}, "'robot'"),
    ({"torque_limit_mode": "saturate"}, "'clip', 'scale'"),
    ({"joints": "joint9"}, "joints"),
    ({"joints": ["joint1", "joint1"]}, "twice"),
    ({"articulations": 2}, "articulations"),
    ({"joints": 13}, "joints"),
]


@pytest.mark.parametrize(("change", "words"), JOINT_CASES)
def test_joint_impedance_refuses(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        ControllerJointImpedance(FLEET, **(IMPEDANCE | change))


TOOL_CASES: list[tuple[dict[str, Any], str]] = [
    ({"motion_selection_axes": [1] * 6}, "motion_selection_axes has no effect without use_wrench"),
    ({"wrench_selection_axes": [1] * 6}, "wrench_selection_axes has no effect"),
    ({"wrench_stiffness": 1.0}, "wrench_stiffness has no effect"),
    ({"linear_selection_frame_operational": [1.0, 0, 0, 0]}, "linear_selection_frame_operational has no effect"),
    ({"angular_selection_frame_operational": None}, "angular_selection_frame_operational has no effect"),
    ({"use_motion_wrench_projection": True}, "use_motion_wrench_projection has no effect"),
    ({"use_wrench_feedforward": True}, "wrench_selection_axes is required"),
    ({"use_wrench_feedback": True}, "wrench_selection_axes is required"),
    (WRENCH | {"wrench_stiffness": 1.0}, "wrench_stiffness has no effect without use_wrench_feedback"),
    (WRENCH | {"wrench_selection_axes": [0, 0, 1]}, "wrench_selection_axes"),
    (WRENCH | {"wrench_selection_axes": [[0, 0, 1, 0, 0, 0]] * 3}, "(2, 6)"),
    (WRENCH | {"motion_selection_axes": [np.nan] * 6}, "motion_selection_axes must be finite"),
    (WRENCH | {"linear_selection_frame_operational": [0.0] * 4}, "length 0"),
    (WRENCH | {"linear_selection_frame_operational": np.eye(3)}, "(2, 4)"),
    (FEEDBACK | {"wrench_stiffness": -1.0}, "wrench_stiffness must not be negative"),
    (NULL, "more than 6 controlled dofs per robot, got 6"),
    (NULL | {"articulations": "a", "joints": "joint[1-6]"}, "got 6"),
    ({"null_space_stiffness": 1.0}, "null_space_stiffness has no effect"),
    ({"null_space_damping": 1.0}, "null_space_damping has no effect"),
    ({"null_space_damping_ratio": 1.0}, "null_space_damping_ratio has no effect"),
    (NULL | {"articulations": "a", "null_space_damping_ratio": 1.0}, "not both"),
    (NULL | {"articulations": "a", "null_space_stiffness": -1.0}, "null_space_stiffness must not be negative"),
    (
        {"use_partial_inertia_decoupling": True, "use_inertia_decoupling": False},
        "use_partial_inertia_decoupling has no effect",
    ),
    ({"use_bias_acceleration": True, "use_inertia_decoupling": False}, "use_bias_acceleration has no effect"),
    ({"singularity": "ignore"}, "'damp', 'exact'"),
    ({"singularity": "exact", "joints": "joint[1-5]"}, "at least 6 controlled dofs"),
    ({"motion_stiffness": [1.0] * 5}, "motion_stiffness must be a number or have shape (6,) or (2, 6)"),
    ({"motion_stiffness": -np.ones((2, 6))}, "motion_stiffness must not be negative"),
    ({"motion_damping": np.nan}, "motion_damping must be finite"),
    ({"damping_ratio": 1.0}, "not both"),
    ({"operational_frame_pose_world": [0.0] * 7}, "length 0"),
    ({"operational_frame_pose_world": [0.0] * 6}, "operational_frame_pose_world"),
    ({"operational_frame_pose_world": np.zeros((4, 4))}, "operational_frame_pose_world"),
    ({"operational_frame_pose_world": [np.nan, 0, 0, 0, 0, 0, 1]}, "finite"),
    ({"tool_sites": "nowhere"}, "tool_sites"),
    ({"tool_sites": "*"}, "exactly one frame"),
    ({"tool_sites": ["tool", "link3"]}, "exactly one frame"),
    ({"tool_sites": None}, "tool_sites"),
    ({"tool_sites": []}, "empty"),
]


@pytest.mark.parametrize(("change", "words"), TOOL_CASES)
def test_operational_space_refuses(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        ControllerOperationalSpace(FLEET, **(TOOL | change))


def test_a_damping_is_required() -> None:
    with pytest.raises(TypeError, match="damping is required"):
        ControllerJointImpedance(ARM, stiffness=1.0)
    with pytest.raises(TypeError, match="motion_damping is required"):
        ControllerOperationalSpace(ARM, tool_sites="tool", motion_stiffness=1.0)
    with pytest.raises(TypeError, match="tool_sites"):
        ControllerOperationalSpace(ARM, motion_stiffness=1.0, motion_damping=1.0)  # type: ignore[call-arg]


@pytest.mark.parametrize("model", [None, "arm", [ARM], 3])
def test_what_is_no_fleet(model: Any) -> None:
    with pytest.raises(InputTypeError, match="Fleet or a robot"):
        ControllerJointImpedance(model, **IMPEDANCE)


def test_a_robot_without_joints_of_one_dof_cannot_be_controlled() -> None:
    with pytest.raises(InputError, match="joints"):
        ControllerJointImpedance(LEGS, joints=LEGS.joints[0], **IMPEDANCE)


@pytest.mark.parametrize(
    ("counts", "words"),
    [([], "controlled_dofs_per_robot"), ([0], "positive"), ([-1], "positive"), ([2.0], "integers"), ("7", "integers")],
)
def test_counts_without_a_model(counts: Any, words: str) -> None:
    for kind, options in (
        (ControllerJointImpedanceModelFree, IMPEDANCE),
        (ControllerOperationalSpaceModelFree, {"motion_stiffness": 1.0, "motion_damping": 1.0}),
    ):
        with pytest.raises(InputError, match=words):
            kind(counts, **options)
    with pytest.raises(InputError, match="continuous_dofs"):
        ControllerJointImpedanceModelFree([2], continuous_dofs=[True], **IMPEDANCE)
    with pytest.raises(TypeError, match="no_such_option"):
        ControllerOperationalSpaceModelFree([7], motion_stiffness=1.0, motion_damping=1.0, no_such_option=1)


def everything() -> ControllerOperationalSpace:
    live = dict.fromkeys(("motion_stiffness", "motion_damping", "operational_frame_pose_world", "wrench_stiffness"))
    live |= dict.fromkeys(("linear_selection_frame_operational", "angular_selection_frame_operational"))
    live |= dict.fromkeys(("null_space_stiffness", "null_space_damping"))
    return ControllerOperationalSpace(
        ARM, **(TOOL | FEEDBACK | NULL | live), has_acceleration_feedforward=True, use_coriolis_compensation=True
    )


PORTS = [port.name for port in everything()._ports]


@pytest.mark.parametrize("name", PORTS)
def test_every_port_checks_its_shape_and_nothing_is_written(name: str) -> None:
    controller = everything()
    inputs, outputs = controller.input(), controller.output()
    outputs.joint_f[:] = 5.0
    good = getattr(inputs, name)
    assert good is not None
    bad = [
        np.zeros((*good.shape, 1)),
        good[..., :-1],
        None,
        "x",
        [[1.0], [1.0, 2.0]],
        np.zeros(good.shape, complex),
        {},
    ]
    for value in bad:
        setattr(inputs, name, value)
        with pytest.raises(InputError, match=f"inputs.{name}"):
            controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
    setattr(inputs, name, good[..., :-1])
    with pytest.raises(InputError, match=re.escape(f"must have shape {good.shape}, got {good[..., :-1].shape}")):
        controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
    assert (outputs.joint_f == 5.0).all()


OFF = {
    "motion_stiffness": "fixed",
    "motion_damping": "fixed",
    "operational_frame_pose_world": "fixed",
    "desired_wrench_world": "wrench control is off",
    "measured_wrench_world": "use_wrench_feedback is off",
    "wrench_stiffness": "use_wrench_feedback is off",
    "linear_selection_frame_operational": "wrench control is off",
    "angular_selection_frame_operational": "wrench control is off",
    "joint_q_des_null": "use_null_space_control is off",
    "null_space_damping": "use_null_space_control is off",
    "desired_acceleration_operational": "has_acceleration_feedforward is off",
}


@pytest.mark.parametrize("name", OFF)
def test_ports_of_features_that_are_off_must_stay_none(name: str) -> None:
    controller = ControllerOperationalSpace(ARM, **TOOL)
    inputs, outputs = controller.input(), controller.output()
    assert getattr(inputs, name) is None
    setattr(inputs, name, np.zeros(6))
    with pytest.raises(InputError, match=f"inputs.{name} must stay None.*{re.escape(OFF[name])}"):
        controller.step(inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("name", ["motion_stiffness", "motion_damping", "wrench_stiffness", "null_space_stiffness"])
def test_live_gains_must_not_be_negative(name: str) -> None:
    controller = everything()
    inputs, outputs = controller.input(), controller.output()
    getattr(inputs, name)[..., 1] = -1.0
    with pytest.raises(InputError, match=f"inputs.{name} must not be negative"):
        controller.step(inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("name", ["desired_tool_pose_operational", "operational_frame_pose_world"])
def test_quaternions_of_length_zero_are_refused_before_anything_is_written(name: str) -> None:
    controller = everything()
    inputs, outputs = controller.input(), controller.output()
    outputs.joint_f[:] = 5.0
    getattr(inputs, name)[0, 3:] = 0.0
    with pytest.raises(InputError, match="quaternion"):
        controller.step(inputs=inputs, outputs=outputs)
    assert (outputs.joint_f == 5.0).all()


def test_other_quaternions_are_normalised() -> None:
    controller = everything()
    inputs, outputs = controller.input(), controller.output()
    inputs.joint_q[:] = [0.2, 0.6, -0.3, -1.3, 0.4, 1.1, 0.5]
    inputs.motion_stiffness[:] = 10.0
    controller.step(inputs=inputs, outputs=outputs)
    expected = outputs.joint_f.copy()
    inputs.desired_tool_pose_operational[0, 3:] *= -3.0
    inputs.operational_frame_pose_world[0, 3:] *= 0.5
    controller.step(inputs=inputs, outputs=outputs)
    np.testing.assert_allclose(outputs.joint_f, expected, atol=1e-12)


def test_outputs_and_wrong_structs() -> None:
    controller, other = ControllerJointImpedance(ARM, **IMPEDANCE), ControllerOperationalSpace(ARM, **TOOL)
    inputs, outputs = controller.input(), controller.output()
    frozen = np.zeros(7)
    frozen.setflags(write=False)
    for value in (np.zeros(6), np.zeros((1, 7)), None, [0.0] * 7, np.zeros(7, int), frozen):
        outputs.joint_f = value
        with pytest.raises(InputError, match=r"outputs\.joint_f"):
            controller.step(inputs=inputs, outputs=outputs)
    for given in ({"inputs": other.input(), "outputs": controller.output()}, {"inputs": inputs, "outputs": inputs}):
        with pytest.raises(InputTypeError, match="makes"):
            controller.step(**given)
    with pytest.raises(TypeError):
        controller.step(inputs, outputs)  # type: ignore[misc]


def test_scripts_are_told_what_is_wrong() -> None:
    joint = ControllerJointImpedance(ARM, **IMPEDANCE)
    live = ControllerJointImpedance(ARM, stiffness=None, damping=1.0)
    tool = ControllerOperationalSpace(ARM, **TOOL)
    q = ARM.q
    calls: list[tuple[Any, str]] = [
        (lambda: joint.torque(q[:3]), "q must have shape (7,)"),
        (lambda: joint.torque((q, [1.0])), "dq must have shape (7,)"),
        (lambda: joint.torque(q, [1.0] * 6), "q_des must have shape (7,)"),
        (lambda: joint.torque(q, {"joint99": 1.0}), "joint99"),
        (lambda: joint.torque(q, q, ddq_des=q), "has_qdd_feedforward is off"),
        (lambda: joint.torque(q, q, stiffness=1.0), "stiffness cannot be given"),
        (lambda: live.torque(q, q), "needs stiffness="),
        (lambda: live.torque(q, q, stiffness=-1.0), "must not be negative"),
        (lambda: joint.torque(q * np.nan, q), "finite"),
        (lambda: tool.torque(q, [1.0, 2.0]), "pose_des"),
        (lambda: tool.torque(q, ONE_POSE, twist_des=[1.0]), "twist_des must have shape (6,)"),
        (lambda: tool.torque(q, ONE_POSE, wrench_des=[0.0] * 6), "wrench control is off"),
        (lambda: tool.torque(q, ONE_POSE, q_null=q), "use_null_space_control is off"),
        (lambda: tool.torque(q, ONE_POSE, stiffnes=1.0), "stiffnes"),
        (lambda: tool.torque(q, ONE_POSE, operational_frame=ONE_POSE), "fixed"),
        (lambda: tool.torque(q, ONE_POSE, linear_selection_frame=ONE_QUAT), "wrench control is off"),
    ]
    for call, words in calls:
        with pytest.raises(InputError, match=re.escape(words)):
            call()


def test_a_robot_that_changed_its_size_is_refused() -> None:
    import copy

    robot = copy.deepcopy(SIX)
    controller = ControllerJointImpedance(robot, **IMPEDANCE)
    robot._model, robot._couplings = copy.deepcopy(ARM)._model, ()
    robot.refresh()
    inputs, outputs = controller.input(), controller.output()
    with pytest.raises(InputError, match="number of joints"):
        controller.step(inputs=inputs, outputs=outputs)
