"""Controllers and states that tests of rollouts share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from knuckle import PinRobot
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpace,
)

from .controller_paths import PATHS
from .robot_cases import Array, state
from .samples import load

ARM, LEGS = load("sevenr_arm"), load("quadruped")


START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


WALL = SimpleNamespace(point=[0.0, 0.0, 0.62], normal=[0.0, 0.0, 1.0], stiffness=5e3, damping=50.0)


both_paths = pytest.mark.parametrize("backend", PATHS)


def impedance(robots: Any, **options: Any) -> ControllerJointImpedance:
    return ControllerJointImpedance(robots, **({"stiffness": 64.0, "damping": 16.0} | options))


def operational(robots: Any, **options: Any) -> ControllerOperationalSpace:
    gains = {"tool_sites": "tool", "motion_stiffness": 100.0, "motion_damping": 20.0}
    return ControllerOperationalSpace(robots, **(gains | options))


def holding(controller: Any, robot: PinRobot, q: Array) -> Any:
    """Inputs whose targets are the robot at q."""
    inputs, count = controller.input(), controller.controlled_robot_count
    if isinstance(controller, ControllerJointImpedance):
        inputs.joint_q_des[:] = np.tile(q, count)
    else:
        T = robot.fk(q, frame="tool")
        inputs.desired_tool_pose_operational[:] = np.concatenate((T.translation, T.quat_xyzw))
        if inputs.joint_q_des_null is not None:
            inputs.joint_q_des_null[:] = np.tile(q, count)
    return inputs


def away(count: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return START + rng.uniform(-0.3, 0.3, (count, 7)), rng.normal(size=(count, 7)) / 4


def legs_state(count: int) -> tuple[Array, Array]:
    q, dq, _ = zip(*(state(LEGS, i) for i in range(count)), strict=True)
    return np.concatenate(q), np.concatenate(dq)


GOOD: dict[str, Any] = {"x0": (START, np.zeros(7)), "dt": 1e-3, "steps": 10}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": 3}, "model"),
    ({"controller": ControllerJointImpedanceModelFree(7, stiffness=1.0, damping=1.0)}, "controller must be"),
    ({"x0": START}, "x0 must be"),
    ({"x0": (START,)}, "x0 must be"),
    ({"x0": (START[:6], np.zeros(7))}, "x0: q must hold 7"),
    ({"x0": (START, np.zeros(8))}, "x0: dq must hold 7"),
    ({"x0": (START * np.nan, np.zeros(7))}, "x0: q must be finite"),
    ({"x0": (np.tile(START, (3, 1)), np.zeros((2, 7)))}, "as many"),
    ({"x0": ("a", "b")}, "x0: q"),
    ({"dt": 0.0}, "dt"),
    ({"dt": np.nan}, "dt"),
    ({"steps": 0}, "steps"),
    ({"steps": 1.5}, "steps"),
    ({"every": 3}, "every must divide"),
    ({"every": 0}, "every"),
    ({"friction": 1}, "friction"),
    ({"motor_inertia": None}, "motor_inertia"),
    ({"threads": 0}, "threads"),
    ({"progress": 3}, "progress"),
    ({"walls": 3}, "walls must have point"),
    ({"walls": [3]}, "walls must have point"),
    ({"walls": SimpleNamespace(point=[0, 0, 0], normal=[0, 0, 2.0], stiffness=1.0, damping=0.0)}, "unit length"),
    ({"walls": SimpleNamespace(point=[0, 0, 0], normal=[0, 0, 1.0], stiffness=-1.0, damping=0.0)}, "negative"),
    ({"walls": WALL, "frame": "tcq"}, "tcq"),
    ({"inputs": None}, "inputs"),
    ({"model": load("sixr_arm")}, "x0"),
    ({"steps": 10**9, "every": 1}, "record less often"),
]
