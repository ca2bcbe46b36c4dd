"""Options: what a trajectory is checked against, validated once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array, flag, scalar, vector
from ..robot.base import as_robot
from ..robot.errors import InputError, InputTypeError, unknown_name
from .course import States
from .limits import KINDS

RESOLUTION = 1e-3
"""Of clearances, default [m]."""
DEFAULTS: dict[str, Any] = {
    "limits_scale": 1.0,
    "position_margin": 0.0,
    "payload": None,
    "payload_com": None,
    "friction": True,
    "motor_inertia": True,
    "safety_margin": 0.0,
    "resolution": RESOLUTION,
    "collisions": True,
    "frame": None,
    "max_linear": None,
    "max_angular": None,
    "min_singular_value": None,
    "max_condition": None,
}
"""Arguments of `check_trajectory` and what they are where they are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """Validated options of `check_trajectory`; infinite bounds where none were given."""

    robot: Any
    """The robot with its payload, for torques."""
    task: Any
    frame: str | None
    """Frame of the tool; None if the robot has none."""
    scales: dict[str, float]
    position_margin: float
    safety_margin: float
    resolution: float
    friction: bool
    motor_inertia: bool
    collisions: bool
    max_linear: float
    max_angular: float
    min_singular_value: float
    max_condition: float

    def torques(self, states: States) -> Array:
        """Torques (M, nv) of states."""
        tau: Array = self.robot.id(
            states.q,
            states.dq,
            states.ddq,
            friction=self.friction,
            motor_inertia=self.motor_inertia,
            task=self.task,
        )
        return tau


def options_of(robot: Any, task: Any, given: dict[str, Any]) -> Options:
    """Options from the arguments of `check_trajectory`; those left out are `DEFAULTS`.

    Raises:
        InputError: naming the argument that cannot be used.
    """
    for name in given:
        if name not in DEFAULTS:
            raise unknown_name("option", name, DEFAULTS)
    given = DEFAULTS | given
    as_robot(robot)
    if task is not None and not hasattr(task, "obstacles"):
        raise InputTypeError(f"task must be a Task, got {type(task).__name__}")
    frame = given["frame"]
    least = given["min_singular_value"]
    return Options(
        loaded(robot, given["payload"], given["payload_com"]),
        task,
        robot._frame(frame) if frame is not None or robot.frames else None,
        _scales(given["limits_scale"]),
        scalar(given["position_margin"], "position_margin", minimum=0.0),
        scalar(given["safety_margin"], "safety_margin", minimum=0.0),
        scalar(given["resolution"], "resolution", positive=True),
        flag(given["friction"], "friction"),
        flag(given["motor_inertia"], "motor_inertia"),
        flag(given["collisions"], "collisions"),
        _bound(given["max_linear"], "max_linear"),
        _bound(given["max_angular"], "max_angular"),
        -math.inf if least is None else scalar(least, "min_singular_value", minimum=0.0),
        _bound(given["max_condition"], "max_condition"),
    )


def loaded(robot: Any, payload: Any, com: Any) -> Any:
    """The robot with a payload (kg) at its tcp; the robot itself for None."""
    if payload is None:
        if com is not None:
            raise InputError("payload_com goes with payload")
        return robot
    if not callable(getattr(robot, "with_payload", None)):
        raise InputError(f"robot {robot.name!r} takes no payload; leave payload out")
    mass = scalar(payload, "payload", minimum=0.0)
    return robot.with_payload(mass, None if com is None else vector(com, 3, "payload_com"))


def _scales(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        return dict.fromkeys(KINDS, scalar(value, "limits_scale", positive=True))
    unknown = [key for key in value if key not in KINDS]
    if unknown:
        raise unknown_name("kind of limits", unknown[0], KINDS)
    return {kind: scalar(value.get(kind, 1.0), f"limits_scale[{kind!r}]", positive=True) for kind in KINDS}


def _bound(value: Any, name: str) -> float:
    if value is None:
        return math.inf
    if isinstance(value, float) and np.isposinf(value):
        return math.inf
    return scalar(value, name, positive=True)
