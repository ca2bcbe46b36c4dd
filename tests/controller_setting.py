"""Robots, options and inputs that tests of controllers share."""

from __future__ import annotations

from typing import Any

import numpy as np

from knuckle import Fleet, Transformation
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerOperationalSpace,
)

from .controller_paths import either_path  # noqa: F401
from .robot_cases import TILTED
from .samples import load

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
