"""What hostile use of controllers brought up: every case refused by name, or done right."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, PinRobot, Transformation
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerOperationalSpace,
    ControllerOperationalSpaceModelFree,
)
from knuckle.controllers.task_inertia import LEAST_LEVER

from .controller_cases import ARM, NULL, SIX, WRENCH, Q, impedance, inputs_of, operational, step
from .controller_paths import either_path  # noqa: F401
from .robot_cases import TILTED

QUARTER = Transformation.from_rpy([0.0, 0.0, np.pi / 2])


# Where the controlled axes meet


def wrist(offset: float, link: str = "joint6", **options: Any) -> tuple[PinRobot, ControllerOperationalSpace]:
    robot = copy.deepcopy(ARM)
    robot.add_frame("held", link, Transformation.from_translation([offset, 0.3 * offset, 0.0]))
    options = {"tool_sites": "held", "motion_stiffness": 100.0, "motion_damping": 20.0} | options
    return robot, ControllerOperationalSpace(robot, joints=["joint5", "joint6", "joint7"], **options)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e-12, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
def test_torque_is_bounded_where_the_controlled_axes_meet(offset: float, partial: bool) -> None:
    robot, controller = wrist(offset, use_partial_inertia_decoupling=partial, use_gravity_compensation=False)
    a = 100.0 * np.array([0.1, 0.05, -0.05, 0.0, 0.0, 0.0])
    tau = controller.torque(Q, Transformation.from_translation(a[:3] / 100.0) @ robot.fk(Q, frame="held"))[4:]
    M = robot.mass_matrix(Q)[4:, 4:]
    J = robot.jacobian(Q, frame="held", reference="local_world_aligned")[:, 4:]
    w = np.trace(J[3:] @ np.linalg.solve(M, J[3:].T))
    lam0 = 1e-3 * LEAST_LEVER**2 * w / (3 if partial else 6)
    assert np.sqrt(tau @ np.linalg.solve(M, tau)) <= 1.243 / np.sqrt(lam0) * np.linalg.norm(a)
    # of a motion no joint can make, less is asked the shorter the lever
    assert np.abs(tau).max() < (1.0 + 2e6 * offset if partial else 5.0)


@pytest.mark.parametrize("partial", [False, True])
def test_both_paths_do_the_same_where_the_controlled_axes_meet(partial: bool) -> None:
    for offset in (0.0, 1e-6, 1e-4, 1e-3, 3e-2):
        pair = [wrist(offset, use_partial_inertia_decoupling=partial, backend=way)[1] for way in ("auto", "numpy")]
        target = Transformation.from_rotation_vector([0.1, -0.2, 0.3], [0.1, 0.0, 0.0]) @ ARM.fk(Q)
        fast, plain = (controller.torque(Q, target) for controller in pair)
        np.testing.assert_allclose(fast, plain, rtol=1e-8, atol=1e-8 * np.abs(plain).max())


def test_rotation_is_still_controlled_where_the_axes_meet() -> None:
    robot, controller = wrist(0.0, "joint7", use_gravity_compensation=False)
    turned = robot.fk(Q, frame="held") @ Transformation.from_rotation_vector([1e-3, -2e-3, 1.5e-3])
    tau = controller.torque(Q, turned)[4:]
    J = robot.jacobian(Q, frame="held", reference="local_world_aligned")[3:, 4:]
    M = robot.mass_matrix(Q)[4:, 4:]
    error = robot.fk(Q, frame="held").rotation @ np.array([1e-3, -2e-3, 1.5e-3])
    expected = J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), 100.0 * error)
    np.testing.assert_allclose(tau, expected, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_small_and_large_machines_are_inverted_exactly_away_from_singularities(scale: float) -> None:
    """A six-axis machine of levers of 0.5 mm or 0.5 km at a well-conditioned Jacobian."""
    rng = np.random.default_rng(3)
    J = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    J[:3] *= 0.5 * scale
    controller = ControllerOperationalSpaceModelFree(
        [6], motion_stiffness=1.0, motion_damping=0.0, use_gravity_compensation=False
    )
    inputs = controller.input()
    inputs.jacobian_world, inputs.mass_matrix = J[None], np.eye(6)[None]
    inputs.desired_tool_pose_operational[0, :3] = 0.1 * scale
    a = np.array([0.1 * scale] * 3 + [0.0] * 3)
    np.testing.assert_allclose(step(controller, inputs), np.linalg.solve(J, a), rtol=1e-9, atol=1e-12)
    assert controller.exactness[0] == 1.0


# What one call leaves for the next


def test_a_live_frame_left_out_is_the_identity_again() -> None:
    live = {"operational_frame_pose_world": None, "linear_selection_frame_operational": None}
    controller = operational(ARM, **(live | WRENCH | {"angular_selection_frame_operational": None}))
    pose, wrench = ARM.fk(Q), [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    fresh = controller.torque(Q, pose, wrench_des=wrench)
    turned = {"operational_frame": QUARTER, "linear_selection_frame": QUARTER.quat_xyzw}
    other = controller.torque(Q, pose, wrench_des=wrench, **turned, angular_selection_frame=TILTED.quat_xyzw)
    assert np.abs(other - fresh).max() > 1.0
    np.testing.assert_array_equal(controller.torque(Q, pose, wrench_des=wrench), fresh)
    with pytest.raises(InputError):
        controller.torque(Q, pose, wrench_des=[1.0], **turned)
    np.testing.assert_array_equal(controller.torque(Q, pose, wrench_des=wrench), fresh)


def test_a_failed_call_leaves_what_is_reported_alone() -> None:
    controller = operational(ARM)
    controller.torque(Q, ARM.fk(Q))
    seen = controller.tool_pose_world
    with pytest.raises(InputError, match="twist_des"):
        controller.torque(ARM.q, ARM.fk(Q), twist_des="fast")
    inputs = controller.input()
    inputs.desired_tool_pose_operational[0, 3:] = 0.0
    with pytest.raises(InputError):
        step(controller, inputs)
    np.testing.assert_array_equal(controller.tool_pose_world, seen)


LIVE: dict[str, Any] = dict.fromkeys(("motion_stiffness", "motion_damping", "operational_frame_pose_world"))
LIVE |= WRENCH | {"linear_selection_frame_operational": None, "has_acceleration_feedforward": True}
BAD: list[Any] = ["x", True, [True] * 6, [[1.0], [1.0, 2.0]], np.ones((2, 9)), [np.nan] * 6, b"123456", {}, object()]
GOOD: dict[str, Any] = {
    "motion_stiffness": 10.0,
    "motion_damping": [1.0] * 6,
    "null_space_stiffness": 1.0,
    "null_space_damping": [1.0] * 7,
}


@pytest.mark.parametrize("value", BAD, ids=[str(type(value).__name__) + str(i) for i, value in enumerate(BAD)])
@pytest.mark.parametrize(
    "argument",
    [
        *GOOD,
        *("pose_des", "twist_des", "acceleration_des", "wrench_des", "q_null", "dq_null"),
        *("operational_frame", "linear_selection_frame"),
    ],
)
def test_torque_names_the_argument_that_is_wrong(argument: str, value: Any) -> None:
    if argument in ("q_null", "dq_null") and isinstance(value, dict):
        value = {"joint1": np.nan}  # a mapping of no joints is none wrong
    controller = operational(ARM, **(LIVE | NULL))
    given = {"pose_des": ARM.fk(Q), **GOOD, argument: value}
    with pytest.raises(InputError, match=argument):
        controller.torque(Q, **given)
    partly = operational(ARM, joints="joint[1-6]", **LIVE)
    if argument not in (*NULL, "q_null", "dq_null"):
        with pytest.raises(InputError, match=argument):
            partly.torque(Q, **{key: given[key] for key in given if "null" not in key})


@pytest.mark.parametrize("value", BAD[:3] + BAD[3:5] + BAD[6:])
@pytest.mark.parametrize("argument", ["q_des", "dq_des", "stiffness", "damping"])
def test_torque_of_joints_names_the_argument_that_is_wrong(argument: str, value: Any) -> None:
    if argument in ("q_des", "dq_des") and isinstance(value, dict):
        value = {"joint1": np.nan}
    for joints in (None, "joint[1-3]"):
        controller = ControllerJointImpedance(ARM, joints=joints, stiffness=None, damping=None)
        given = {"q_des": None, "stiffness": 1.0, "damping": 1.0, argument: value}
        with pytest.raises(InputError, match=argument):
            controller.torque(Q, **given)


# Faults


@pytest.mark.parametrize("mode", ["clip", "scale"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_infinity_is_a_fault_whatever_the_limits(mode: str, bad: float) -> None:
    for robots in ([ARM], [ARM, ARM, SIX]):
        fleet = Fleet(robots)
        for make, port in ((impedance, "joint_q_des"), (operational, "desired_twist_operational")):
            controller = make(fleet, torque_limits=20.0, torque_limit_mode=mode)
            inputs = inputs_of(controller)
            expected = step(controller, inputs)
            assert np.isfinite(expected).all() and not controller.faults.any()
            getattr(inputs, port)[0, ...] = bad
            tau = step(controller, inputs)
            assert np.isnan(tau[:7]).all() and controller.faults.tolist() == [True, *[False] * (len(robots) - 1)]
            np.testing.assert_array_equal(tau[7:], expected[7:])


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("odd", [1e-320, 1e-300, 1e-160, 1e160, 1e300, 1.7e308, -1.0, 0.0])
def test_odd_numbers_of_one_robot_stay_with_it(odd: float, partial: bool) -> None:
    controller = ControllerOperationalSpaceModelFree(
        [6, 6, 6],
        motion_stiffness=1.0,
        motion_damping=1.0,
        use_partial_inertia_decoupling=partial,
        use_gravity_compensation=False,
    )
    inputs = inputs_of(controller)
    inputs.mass_matrix[:] = np.eye(6)
    expected = step(controller, inputs)
    for port in ("mass_matrix", "jacobian_world", "tool_twist_world"):
        spoilt = copy.deepcopy(inputs)
        with np.errstate(over="ignore"):
            getattr(spoilt, port)[1] *= odd
        tau = step(controller, spoilt)
        np.testing.assert_allclose(tau[[*range(6), *range(12, 18)]], expected[[*range(6), *range(12, 18)]], rtol=1e-9)
        assert np.isfinite(tau[6:12]).all() != controller.faults[1] and not controller.faults[[0, 2]].any()
        assert controller.condition_number.shape == (3,)


def test_eigenvalues_that_are_not_found_stay_with_their_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    from knuckle.controllers import task_inertia

    whole = np.linalg.eigh

    def eigh(A: Any) -> Any:
        if (np.asarray(A)[..., 0, 0] < 0.0).any():
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return whole(A)

    monkeypatch.setattr(np.linalg, "eigh", eigh)
    A = np.stack([np.diag([1e-9, 1.0, 1, 1, 1, 2]), np.diag([-1e-9, 1, 1, 1, 1, 1]), np.eye(6)])
    for function in (task_inertia.full_inertia, task_inertia.block_inertia):
        together, alone = function(A, "damp")[0], function(A[0], "damp")[0]
        np.testing.assert_allclose(together[0], alone, rtol=1e-12)
        np.testing.assert_allclose(together[2], np.eye(6), atol=1e-12)
        assert np.isnan(together[1, 0, 0])
        assert np.isnan(function(A[1], "damp")[0][0, 0])
    assert np.isnan(task_inertia.spread_of(A)[1]).all() and np.isfinite(task_inertia.spread_of(A)[[0, 2]]).all()


QUATERNIONS = ["desired_tool_pose_operational", "operational_frame_pose_world", "linear_selection_frame_operational"]


@pytest.mark.parametrize("name", [*QUATERNIONS, "angular_selection_frame_operational", "tool_pose_world"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_quaternion_of_length_zero_is_refused_by_port_and_robot(name: str, count: int) -> None:
    live = WRENCH | dict.fromkeys((*QUATERNIONS[1:], "angular_selection_frame_operational"))
    gains = {"motion_stiffness": 50.0, "motion_damping": 10.0}
    labels = ["left", "middle", "right"][:count]
    controllers: list[tuple[Any, str]] = [
        (ControllerOperationalSpaceModelFree([7] * count, **(gains | live)), str(count - 1)),
        (operational(Fleet([ARM] * count, labels), **live), f"'{labels[-1]}'"),
    ]
    for controller, robot in controllers:
        inputs, outputs = inputs_of(controller), controller.output()
        if not hasattr(inputs, name):
            continue
        getattr(inputs, name)[-1, -4:] = 0.0
        outputs.joint_f[:] = 5.0
        with pytest.raises(InputError, match=rf"inputs.{name}.*robot {robot}.*length 0"):
            controller.step(inputs=inputs, outputs=outputs)
        assert (outputs.joint_f == 5.0).all() and not controller.faults.any()
        getattr(inputs, name)[-1, -4:] = np.nan
        assert np.isnan(step(controller, inputs)[-7:]).all() and controller.faults[-1]
        assert not controller.faults[:-1].any()
