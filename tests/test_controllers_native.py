"""Steps in the kernel against the path by Pinocchio and numpy, on every option, and how their arrays are bound."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Fleet, InputError, PinRobot, Transformation
from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace
from knuckle.robot import native

from .planar_arm import PlanarArm
from .robot_cases import TILTED, close, shared
from .samples import load
from .test_controllers import FULL, NULL, fill

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")
ARM, LEGS, SIX = load("sevenr_arm"), load("quadruped"), load("sixr_arm")
KINOVA, PLANAR = shared("kinova"), load("planar_3r")
FLEET = Fleet([ARM, LEGS, SIX, ARM, KINOVA, ARM] * 3)
TOOLS = ["tool", "fl_foot", "*200_end_effector"]
RATIO = {"damping_ratio": 0.7}
LIVE = {
    "motion_stiffness": None,
    "motion_damping": None,
    "operational_frame_pose_world": None,
    "wrench_stiffness": None,
    "linear_selection_frame_operational": None,
}
IMPEDANCES: list[dict[str, Any]] = [
    {},
    {"use_coriolis_compensation": False},
    {"use_gravity_compensation": False, "has_qdd_feedforward": True},
    {"use_inertia_decoupling": False},
    {"use_inertia_decoupling": False, "use_coriolis_compensation": False, "use_gravity_compensation": False},
    {"stiffness": None, "damping": None},
    {"damping_ratio": 0.7, "torque_limits": 20.0},
    {"torque_limits": 20.0, "torque_limit_mode": "scale"},
    {"use_gravity_compensation": [True, False] * 9, "use_coriolis_compensation": [True] * 9 + [False] * 9},
    {"joints": ["joint[246]", "*hip*", "*1"]},
]
MODES: list[dict[str, Any]] = [
    {},
    {"use_partial_inertia_decoupling": True},
    {"use_inertia_decoupling": False, "use_bias_acceleration": False},
]
OPERATIONALS: list[dict[str, Any]] = [
    {"use_coriolis_compensation": True},
    {"use_gravity_compensation": False, **RATIO},
    FULL,
    FULL | LIVE,
    FULL | {"use_motion_wrench_projection": True, "use_wrench_feedforward": False},
    {"torque_limits": 20.0, "torque_limit_mode": "scale"},
]


def impedance(robots: Any, **options: Any) -> ControllerJointImpedance:
    gains = {"stiffness": 50.0} | ({} if "damping_ratio" in options else {"damping": 10.0})
    return ControllerJointImpedance(robots, **(gains | options))


def operational(robots: Any, **options: Any) -> ControllerOperationalSpace:
    gains = {"motion_stiffness": 50.0} | ({} if "damping_ratio" in options else {"motion_damping": 10.0})
    return ControllerOperationalSpace(robots, **(gains | {"tool_sites": TOOLS} | options))


def step(controller: Any, inputs: Any) -> np.ndarray:
    outputs = controller.output()
    controller.step(inputs=inputs, outputs=outputs)
    return np.asarray(outputs.joint_f)


def both(make: Any, robots: Any, **options: Any) -> tuple[Any, Any, Any, np.ndarray, np.ndarray]:
    """The controller on both paths, their inputs, and the torques of each."""
    fast, plain = make(robots, **options), make(robots, **options, backend="numpy")
    assert fast.backend == "native" and plain.backend == "numpy"
    inputs = fill(fast, robots)
    return fast, plain, inputs, step(fast, inputs), step(plain, inputs)


@pytest.fixture(params=(2, 4, 8))
def width(request: pytest.FixtureRequest) -> Iterator[int]:
    if request.param > native.core().lanes():
        pytest.skip(f"this processor has no kernel of {request.param} lanes")
    native.core().use_lanes(request.param)
    yield request.param
    native.core().use_lanes(0)


@pytest.mark.parametrize("options", IMPEDANCES)
def test_joint_impedance_is_that_of_numpy(options: dict[str, Any], width: int) -> None:
    fast, _, _, tau, expected = both(impedance, FLEET, **options)
    close(tau, expected, 1e-12)
    assert not fast.faults.any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", OPERATIONALS)
def test_operational_space_is_that_of_numpy(options: dict[str, Any], mode: dict[str, Any], width: int) -> None:
    fast, plain, _, tau, expected = both(operational, FLEET, **(options | mode))
    close(tau, expected, 1e-9)
    check_reports(fast, plain)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [{}, {"null_space_damping_ratio": 1.0, "null_space_damping": None}])
def test_postures_are_those_of_numpy(mode: dict[str, Any], more: dict[str, Any], width: int) -> None:
    fast, plain, _, tau, expected = both(
        operational, Fleet([ARM] * 11), **(FULL | NULL | more | mode), tool_sites="tool"
    )
    close(tau, expected, 1e-10)
    check_reports(fast, plain)


def check_reports(fast: Any, plain: Any) -> None:
    for name in ("tool_pose_world", "tool_twist_world"):
        close(getattr(fast, name), getattr(plain, name), 1e-12)
    for name in ("exactness", "asked_acceleration", "achieved_acceleration"):
        close(getattr(fast, name), getattr(plain, name), 1e-8)
    np.testing.assert_allclose(1 / fast.condition_number, 1 / plain.condition_number, rtol=1e-6, atol=1e-12)


def near_singular(count: int) -> np.ndarray:
    """States from far off to exactly stretched out, wrists in line."""
    rng = np.random.default_rng(4)
    bend = np.concatenate((np.logspace(0, -9, count - 2), [0.0, 0.0]))
    q = np.outer(bend, [0.3, 0.5, 0.2, -1.4, 0.1, 1.2, 0.4])
    q[-1] = rng.normal(size=7) * [1, 1, 1, 0, 1, 0, 1]
    return q


@pytest.mark.parametrize("mode", MODES)
def test_through_singularities_both_paths_are_one(mode: dict[str, Any], width: int) -> None:
    options = NULL | mode | {"tool_sites": "tool", "use_gravity_compensation": False}
    options.pop("use_bias_acceleration", None)
    fleet = Fleet([ARM] * 23)
    fast, plain = operational(fleet, **options), operational(fleet, **options, backend="numpy")
    inputs = fill(fast, fleet)
    inputs.joint_q[:] = near_singular(23).ravel()
    tau, expected = step(fast, inputs), step(plain, inputs)
    close(tau, expected, 1e-8)
    close(fast.exactness, plain.exactness, 1e-8)
    assert mode.get("use_inertia_decoupling") is False or (fast.exactness < 1).any()


def test_arms_of_fewer_than_six_joints(width: int) -> None:
    fleet = Fleet([PLANAR] * 5)
    for mode in MODES[:2]:
        _, _, _, tau, expected = both(operational, fleet, **mode, tool_sites="tool")
        close(tau, expected, 1e-9)


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-9, 1e-4, 0.5, 3.0, np.pi - 1e-9, np.pi])
def test_errors_of_every_angle(turn: float, width: int) -> None:
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 2, 0.5], [0.3, -0.4, -2]], dtype=float)
    fleet = Fleet([ARM] * len(axes))
    options = {"tool_sites": "tool", "use_inertia_decoupling": False, "use_gravity_compensation": False}
    fast, plain = operational(fleet, **options), operational(fleet, **options, backend="numpy")
    inputs, T = fill(fast, fleet), np.eye(4)
    inputs.joint_q[:], inputs.joint_qd[:] = 0.0, 0.0
    T[:3, :3] = ARM.fk(np.zeros(7)).rotation
    for i, axis in enumerate(axes):
        R = Transformation(T).rotation
        R = pin.exp3(axis / np.linalg.norm(axis) * turn) @ R
        inputs.desired_tool_pose_operational[i, 3:] = pin.Quaternion(R).coeffs() * (1.0 + i)
    step(fast, inputs), step(plain, inputs)
    asked = fast._groups[0].native.last()[3].asked, plain._last[0][3].asked
    if turn == np.pi:  # either axis will do
        asked = tuple(np.linalg.norm(a[:, 3:], axis=1) for a in asked)
    close(*asked, 1e-7 if turn > 3.1 else 1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_one_robot_is_given_leaves_the_others_as_they_are_to_the_bit(value: float, width: int) -> None:
    fleet = Fleet([ARM] * 11)
    for controller in (impedance(fleet), operational(fleet, tool_sites="tool", **(FULL | NULL | LIVE))):
        inputs = fill(controller, fleet)
        inputs.joint_q[:] = near_singular(11).ravel()
        expected = step(controller, inputs)
        for port in controller.live_ports:
            spoilt = copy.deepcopy(inputs)
            array = getattr(spoilt, port)
            array.reshape(11, -1)[4] = value
            tau = step(controller, spoilt)
            np.testing.assert_array_equal(np.delete(tau.reshape(11, 7), 4, 0), np.delete(expected.reshape(11, 7), 4, 0))
            assert not controller.faults[[0, 1, 2, 3, 5]].any()
            assert np.isnan(tau[28:35]).all() == controller.faults[4]
        assert not np.isnan(step(controller, inputs)).any() and not controller.faults.any()


@pytest.mark.parametrize("threads", [2, 3, None])
def test_threads_change_nothing(threads: int | None) -> None:
    fleet = Fleet([ARM] * 2500)
    for make, options in ((impedance, {}), (operational, {"tool_sites": "tool"} | NULL)):
        one, many = make(fleet, **options, threads=1), make(fleet, **options, threads=threads)
        inputs = fill(one, fleet)
        np.testing.assert_array_equal(step(one, inputs), step(many, inputs))
        if make is operational:
            np.testing.assert_array_equal(one.tool_pose_world, many.tool_pose_world)
            np.testing.assert_array_equal(one.exactness, many.exactness)


# Arrays and how they are bound


def test_arrays_are_read_anew_at_every_step_however_they_are_handed_over() -> None:
    fleet = Fleet([ARM] * 3)
    fast, plain = operational(fleet, tool_sites="tool"), operational(fleet, tool_sites="tool", backend="numpy")
    inputs, outputs = fill(fast, fleet), fast.output()
    for change in (
        lambda: None,
        lambda: inputs.joint_q.__imul__(0.5),  # filled in place
        lambda: setattr(inputs, "joint_qd", inputs.joint_qd * 2.0),  # assigned
        lambda: setattr(inputs, "joint_q", inputs.joint_q.astype(np.float32)),
        lambda: setattr(inputs, "joint_q", np.repeat(inputs.joint_q, 2).astype(np.float64)[::2]),  # not contiguous
        lambda: setattr(inputs, "joint_qd", inputs.joint_qd.tolist()),
        lambda: setattr(inputs, "joint_qd", fleet.view(np.arange(30.0), slice(0, 21))),
        lambda: setattr(inputs, "desired_twist_operational", np.asfortranarray(np.ones((3, 6)))),
    ):
        change()
        fast.step(inputs=inputs, outputs=outputs)
        close(outputs.joint_f, step(plain, inputs), 1e-10)
    store = np.zeros(50)
    outputs.joint_f = fleet.view(store, slice(10, 31))
    fast.step(inputs=inputs, outputs=outputs)
    close(store[10:31], step(plain, inputs), 1e-10)
    outputs.joint_f = np.zeros(21, dtype=np.float32)
    fast.step(inputs=inputs, outputs=outputs)
    close(outputs.joint_f, step(plain, inputs), 1e-5)


def test_an_output_that_lies_over_an_input_is_written_after_all_was_read() -> None:
    fleet = Fleet([ARM] * 20)
    for shift in (0, 3, 7):
        fast, plain = impedance(fleet), impedance(fleet, backend="numpy")
        inputs, outputs = fill(fast, fleet), fast.output()
        store = np.random.default_rng(0).normal(size=147)
        inputs.joint_qd, outputs.joint_f = store[:140], store[shift : shift + 140]
        expected = step(plain, copy.deepcopy(inputs))
        fast.step(inputs=inputs, outputs=outputs)
        close(outputs.joint_f, expected, 1e-12)


def test_what_was_good_and_is_no_longer_is_refused_and_nothing_written() -> None:
    controller = impedance(ARM)
    inputs, outputs = fill(controller, Fleet([ARM])), controller.output()
    controller.step(inputs=inputs, outputs=outputs)
    outputs.joint_f.flags.writeable = False
    before = outputs.joint_f.copy()
    with pytest.raises(InputError, match="read-only"):
        controller.step(inputs=inputs, outputs=outputs)
    outputs.joint_f = np.zeros(7)
    controller.step(inputs=inputs, outputs=outputs)
    np.testing.assert_array_equal(outputs.joint_f, before)
    inputs.joint_qdd = np.zeros(7)
    with pytest.raises(InputError, match="joint_qdd must stay None"):
        controller.step(inputs=inputs, outputs=outputs)
    inputs.joint_qdd, inputs.joint_q = None, np.zeros(6)
    with pytest.raises(InputError, match="joint_q must have shape"):
        controller.step(inputs=inputs, outputs=outputs)


def test_values_that_are_spoilt_in_place_are_refused_and_nothing_written() -> None:
    controller = operational(ARM, tool_sites="tool", motion_stiffness=None, operational_frame_pose_world=None)
    inputs, outputs = fill(controller, Fleet([ARM])), controller.output()
    controller.step(inputs=inputs, outputs=outputs)
    before = outputs.joint_f.copy()
    for port, entry, value, words in (
        ("motion_stiffness", (0, 2), -1.0, "must not be negative"),
        ("desired_tool_pose_operational", (0, slice(3, 7)), 0.0, "quaternion"),
        ("operational_frame_pose_world", (0, slice(3, 7)), 0.0, "quaternion"),
    ):
        array = getattr(inputs, port)
        kept = array.copy()
        array[entry] = value
        with pytest.raises(InputError, match=words):
            controller.step(inputs=inputs, outputs=outputs)
        np.testing.assert_array_equal(outputs.joint_f, before)
        array[...] = kept
    controller.step(inputs=inputs, outputs=outputs)
    np.testing.assert_array_equal(outputs.joint_f, before)


def test_changes_of_a_robot_are_seen_between_bound_steps() -> None:
    robot = copy.deepcopy(ARM)
    fast, plain = operational(robot, tool_sites="tool"), operational(robot, tool_sites="tool", backend="numpy")
    inputs, outputs = fill(fast, Fleet([robot])), fast.output()
    fast.step(inputs=inputs, outputs=outputs)
    robot.set_base_placement(TILTED)
    robot.model.gravity = pin.Motion(np.array([0, 1.0, -2.0]), np.zeros(3))
    robot.refresh()
    fast.step(inputs=inputs, outputs=outputs)
    close(outputs.joint_f, step(plain, inputs), 1e-11)


def test_who_computes_is_said_and_can_be_chosen() -> None:
    with pytest.raises(InputError, match="'auto', 'native', 'numpy'"):
        impedance(ARM, backend="gpu")
    with pytest.raises(InputError, match="threads"):
        impedance(ARM, threads=0)
    assert impedance(PlanarArm()).backend == "numpy"
    assert impedance(Fleet([ARM, PlanarArm()])).backend == "mixed"
    with pytest.raises(InputError, match="cannot express robot"):
        impedance(Fleet([ARM, PlanarArm()]), backend="native")


def test_joints_beyond_the_kernel_leave_the_robot_to_numpy() -> None:
    model = pin.Model()
    cart = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "cart")
    model.appendBodyToJoint(cart, pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), np.eye(3)), pin.SE3.Identity())
    hinge = model.addJoint(cart, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3)), pin.SE3.Identity())
    robot = PinRobot(wrapper=model)
    assert impedance(robot, joints="hinge").backend == "numpy"
