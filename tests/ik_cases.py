"""Robots and targets that the tests of inverse kinematics share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import PinRobot, Transformation
from knuckle.ik import METHODS
from knuckle.robot import CartesianSphere, RotationAbsolute, Tolerance

from .samples import ROOT, load, path_of

Array = NDArray[np.float64]

ARMS = ("planar_2r", "planar_3r", "scara", "sixr_arm", "sevenr_arm", "pan_tilt_continuous", "cube_meshes")
TIPS = (("dual_arm", "left_tool"), ("dual_arm", "right_tool"), ("gripper", "left_pad"), ("quadruped", "fl_foot"))
EVERY = tuple((name, None) for name in ARMS) + TIPS
REAL = {"panda": "panda_hand_tcp", "ur5": "tool0", "xarm7": "link7", "kinova": "j2s6s200_end_effector"}
PYTHON_METHODS = ("jacobian", "scipy")
TIGHT = CartesianSphere(1e-8) + RotationAbsolute(1e-8)


def methods_for(robot: PinRobot) -> list[str]:
    """Names of the methods that work on this robot here; without the kernel one fewer."""
    return [name for name, method in METHODS.items() if method.applies is None or method.applies(robot)]


@cache
def arm(name: str, tcp: str | None = None) -> PinRobot:
    """A sample robot with a tool, read once: only for tests that do not change it."""
    return load(name) if tcp is None else PinRobot.from_urdf(path_of(name), tcp=tcp)


@cache
def real_arm(name: str) -> PinRobot:
    return PinRobot.from_urdf(ROOT / "tests" / "data" / "urdf" / f"{name}.urdf", tcp=REAL[name])


ALL_METHODS = methods_for(arm("sevenr_arm"))


def position_only(radius: float = 1e-5) -> Tolerance:
    return CartesianSphere(radius)


def reached(robot: Any, q: Array, target: Transformation, position: float = 1e-5, rotation: float = 1e-4) -> bool:
    distance = robot.fk(q).distance(target)
    return bool(distance.translation <= position + 1e-12 and distance.rotation <= rotation + 1e-12)


def inside(robot: Any, q: Array) -> bool:
    lower, upper = robot.joint_limits
    return bool((lower <= q).all() and (q <= upper).all())


def clear_configuration(robot: Any, rng: np.random.Generator) -> Array:
    """A random configuration in which the robot does not touch itself."""
    for _ in range(1000):
        q: Array = robot.random_configuration(rng)
        if not robot.has_self_collision(q):
            return q
    raise AssertionError("every configuration collides")


def problem(seed: int = 0, name: str = "sevenr_arm") -> tuple[PinRobot, Transformation, Array]:
    """A robot, a pose it can take on, and a start somewhere else."""
    robot = arm(name)
    rng = np.random.default_rng(seed)
    return robot, robot.fk(robot.random_configuration(rng)), robot.random_configuration(rng)


def far() -> Transformation:
    """A pose within the length of the seven-joint arm that it does not get to."""
    return Transformation.from_translation([0.3, 0.2, 0.2])


STEERED = [name for name in ALL_METHODS if METHODS[name].steered]
