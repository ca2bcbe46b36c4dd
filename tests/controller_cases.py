"""Controllers, inputs and steps for the tests of what hostile use and changes bring up."""

from __future__ import annotations

from typing import Any

import numpy as np

from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace

from .samples import load

ARM, SIX, HEAD = load("sevenr_arm"), load("sixr_arm"), load("pan_tilt_continuous")
TOOL: dict[str, Any] = {"tool_sites": "tool", "motion_stiffness": 50.0, "motion_damping": 10.0}
SPRING: dict[str, Any] = {"stiffness": 50.0, "damping": 10.0}
WRENCH: dict[str, Any] = {"use_wrench_feedforward": True, "wrench_selection_axes": [0, 0, 1, 0, 0, 0.5]}
NULL: dict[str, Any] = {"use_null_space_control": True, "null_space_stiffness": None, "null_space_damping": None}
Q = ARM.q + 0.37


def impedance(fleet: Any, **options: Any) -> ControllerJointImpedance:
    return ControllerJointImpedance(fleet, **(SPRING | options))


def operational(fleet: Any, **options: Any) -> ControllerOperationalSpace:
    return ControllerOperationalSpace(fleet, **(TOOL | options))


def step(controller: Any, inputs: Any) -> np.ndarray:
    outputs = controller.output()
    controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
    return np.asarray(outputs.joint_f)


def inputs_of(controller: Any, seed: int = 0) -> Any:
    """Inputs with random states and targets."""
    rng, inputs = np.random.default_rng(seed), controller.input()
    for port in controller._ports:
        array = getattr(inputs, port.name)
        if array is not None:
            array[...] = np.abs(rng.normal(size=array.shape)) if port.gain else rng.normal(size=array.shape)
    return inputs
