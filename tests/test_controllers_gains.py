"""Live gains, ratios, limits, switches and faults of controllers."""

from __future__ import annotations

import copy
import logging
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, Transformation
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerOperationalSpace,
)

from .controller_paths import either_path  # noqa: F401
from .controller_setting import ARM, FULL, MIXED, NULL, RNG, SIX, fill, impedance, operational, torque
from .robot_cases import TILTED, close


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
