"""Controllers of robots that change or nearly are others, and copies of controllers and fleets."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Fleet, InputError, Transformation, eval_inverse_dynamics_passive
from knuckle.controllers import (
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpaceModelFree,
)

from .controller_cases import ARM, NULL, SIX, SPRING, TOOL, Q, impedance, inputs_of, operational, step
from .controller_paths import either_path  # noqa: F401
from .planar_arm import PlanarArm
from .robot_cases import TILTED

# Robots that change, and robots that nearly are others


def test_the_limits_of_the_robots_are_followed() -> None:
    robot = copy.deepcopy(ARM)
    controllers: list[Any] = [impedance(robot, torque_limits="robot"), operational(robot, torque_limits="robot")]
    pair = impedance(Fleet([SIX, robot, robot]), torque_limits="robot")
    twin = copy.copy(controllers[0])
    for limit in (3.0, np.inf, 2.0):
        robot.model.effortLimit = np.full(7, limit)
        robot.refresh()
        for controller in (*controllers, twin):
            inputs = inputs_of(controller)
            free = step(controller.__class__(robot, **(SPRING if "stiffness" in dir(inputs) else TOOL)), inputs)
            np.testing.assert_allclose(step(controller, inputs), np.clip(free, -limit, limit), atol=1e-9)
        inputs = inputs_of(pair)
        inputs.joint_q_des *= 1e3
        assert np.abs(step(pair, inputs))[6:].max() == pytest.approx(limit) or limit == np.inf


def test_frames_added_later_are_found() -> None:
    robot = copy.deepcopy(ARM)
    fleet = Fleet([SIX, robot])
    with pytest.raises(InputError, match="camera"):
        fleet.tools([1], "camera")
    count = int(fleet.frame_offsets[-1])
    robot.add_frame("camera", "tool", Transformation.from_translation([0.0, 0.0, 0.1]))
    assert fleet.tools([1], "camera") == ("camera",) == fleet.tools([1], re.compile("cam.*"))
    assert int(fleet.frame_offsets[-1]) == count + 1
    assert fleet.tools([1], count) == (robot.frames[-1],)
    assert operational(fleet, articulations=1, tool_sites="camera").robot_labels == (robot.name,)
    assert Fleet([PlanarArm()]).layout(0).frames == list(PlanarArm().frames)


def nudge(model: pin.Model, what: str) -> None:
    """Changes a model by little: to what it weighs, or to where it stands."""
    T, inertia = model.jointPlacements, model.inertias[7]
    if what == "mass":
        inertia.mass *= 1.0 + 1e-12
    elif what == "lever":
        inertia.lever = inertia.lever * (1.0 + 1e-12)
    elif what == "small inertia":
        model.inertias[7] = pin.Inertia(0.001, np.zeros(3), np.diag([1e-12, 1e-12, 1e-12]))
    elif what == "armature":
        model.armature = np.full(7, 1e-12)
    elif what == "link":
        T[5].translation = T[5].translation * (1.0 + 1e-12)
    else:
        T[1].translation = T[1].translation + 1e-9


@pytest.mark.parametrize("what", ["mass", "lever", "small inertia", "armature", "link", "stand"])
def test_robots_that_differ_a_little_are_not_one(what: str) -> None:
    """Small numbers are not small differences: fingers weigh grams and turn about 1e-8 kg m^2."""
    robot, other = copy.deepcopy(ARM), copy.deepcopy(ARM)
    if what == "small inertia":
        robot.model.inertias[7] = pin.Inertia(0.001, np.zeros(3), np.diag([3e-12, 3e-12, 3e-12]))
        robot.refresh()
    nudge(other.model, what)
    other.refresh()
    upright = Transformation.from_rpy([0.0, 0.0, 1.0], [0.3, -1.0, 0.2])
    other.set_base_placement(upright)
    assert len(impedance(Fleet([robot, other]))._groups) == 2
    moved = copy.deepcopy(robot)
    for k in range(20):
        moved.set_base_placement(Transformation.from_rpy([0.0, 0.0, 0.1 * k], [10.0 * k, -1.0, 0.2]))
    assert len(impedance(Fleet([robot, moved]))._groups) == 1


def test_nothing_is_kept_of_groups_that_are_gone() -> None:
    robot = copy.deepcopy(ARM)
    controller = operational(Fleet([robot, ARM, SIX]))
    inputs = inputs_of(controller)
    for k in range(5):
        robot.set_base_placement(Transformation.from_translation([0.1 * k, 0.0, 0.0]))
        step(controller, inputs)
        assert len(list(controller._entries())) == len(controller._groups)
        assert controller.tool_pose_world[0, :3] == pytest.approx(
            robot.fk(inputs.joint_q[:7], frame="tool").translation
        )
    controller.reset()
    assert not list(controller._entries())


def test_reports_of_a_controller_without_a_model_are_its_own() -> None:
    controller = ControllerOperationalSpaceModelFree([7], motion_stiffness=1.0, motion_damping=1.0)
    inputs = inputs_of(controller)
    step(controller, inputs)
    pose, twist = controller.tool_pose_world, controller.tool_twist_world
    inputs.tool_pose_world[:], inputs.tool_twist_world[:] = 7.0, 8.0
    np.testing.assert_array_equal(controller.tool_pose_world, pose)
    np.testing.assert_array_equal(controller.tool_twist_world, twist)


# Copies


def kept(thing: Any, way: str) -> Any:
    return {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}[way](thing)


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_fleets_copy_whole(way: str) -> None:
    moved = copy.deepcopy(ARM)
    moved.set_base_placement(TILTED)
    fleet = Fleet([ARM, SIX, ARM, moved], ["a", "b", "c", "d"])
    twin = kept(fleet, way)
    assert twin.labels == fleet.labels and twin.robots[0] is twin.robots[2] and twin.robots[0] is not twin.robots[3]
    assert (twin.robots[0] is ARM) == (way == "copy")
    selection, other = fleet.select(["a", "d"]), twin.select(["a", "d"])
    assert selection.q_start.tolist() == other.q_start.tolist() and selection != other
    np.testing.assert_array_equal(twin.joint_q_start, fleet.joint_q_start)
    q, qd = np.full(27, 0.3), np.full(27, 0.1)
    for one, same in zip(
        eval_inverse_dynamics_passive(twin, q, qd), eval_inverse_dynamics_passive(fleet, q, qd), strict=True
    ):
        np.testing.assert_array_equal(one, same)


def controllers() -> list[Any]:
    moved = copy.deepcopy(ARM)
    moved.set_base_placement(TILTED)
    fleet = Fleet([ARM, ARM, moved])
    gains = {"motion_stiffness": 50.0, "motion_damping": 10.0}
    return [
        impedance(fleet, torque_limits="robot"),
        operational(fleet, **NULL, operational_frame_pose_world=TILTED),
        ControllerJointImpedanceModelFree([7, 6, 7], stiffness=None, damping=1.0),
        ControllerOperationalSpaceModelFree([7, 7, 7], **gains),
    ]


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("which", range(4))
def test_controllers_copy_whole_and_share_nothing_that_changes(which: int, way: str) -> None:
    controller = controllers()[which]
    inputs = inputs_of(controller)
    if hasattr(inputs, "joint_q_des"):
        inputs.joint_q_des[0] = np.nan
    else:
        inputs.desired_twist_operational[0] = np.nan
    tau = step(controller, inputs)
    twin = kept(controller, way)
    # products round by how arrays lie, on some machines, and pickles lay them out in plain order
    assert all(value.flags.c_contiguous for one in (controller, twin) for _, value in one._fixed.values())
    names = ("faults", "tool_pose_world", "exactness") if hasattr(controller, "exactness") else ("faults",)
    before = {name: getattr(controller, name) for name in names}
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(twin, name), value)
    assert before["faults"].tolist() == [True, False, False]
    twin_inputs = twin.input()
    for port in controller._ports:
        setattr(twin_inputs, port.name, getattr(inputs, port.name))
    np.testing.assert_array_equal(step(twin, twin_inputs), tau)
    np.testing.assert_array_equal(step(twin, kept(inputs, way)), tau)
    step(twin, inputs_of(twin, seed=5))
    twin.reset()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(controller, name), value)
    np.testing.assert_array_equal(step(controller, inputs), tau)


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_copies_of_scripts_do_not_disturb_one_another(way: str) -> None:
    robot = copy.deepcopy(ARM)
    controller = impedance(robot)
    tau = controller.torque(Q, ARM.q)
    twin = kept(controller, way)
    other = twin.torque(Q + 0.1, ARM.q)
    np.testing.assert_array_equal(controller.torque(Q, ARM.q), tau)
    np.testing.assert_array_equal(twin.torque(Q + 0.1, ARM.q), other)
    robot.set_base_placement(TILTED)
    follows = np.abs(twin.torque(Q, ARM.q) - tau).max() > 1.0
    assert follows == (way == "copy")  # a copy controls the same robot, the others took it along


def test_inputs_can_be_compared() -> None:
    for controller in controllers():
        a, b = controller.input(), controller.input()
        assert a == a and a != b and len({a, b}) == 2
        assert controller.output() != controller.output()
