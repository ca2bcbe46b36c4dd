"""Robots of every kind, and states for them, that the tests of robots share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from knuckle import Coupling, PinRobot, ReferenceFrame, RobotBase, Transformation

from .planar_arm import PlanarArm
from .samples import ROOT, path_of

Array = NDArray[np.float64]

REAL = ROOT / "tests" / "data" / "urdf"
LWA, LOCAL, WORLD = ReferenceFrame.LOCAL_WORLD_ALIGNED, ReferenceFrame.LOCAL, ReferenceFrame.WORLD
TILTED = Transformation.from_rpy([0.3, -0.5, 1.1], [0.2, -0.4, 0.7])


def mixed_model() -> pin.Model:
    """A turning, a sliding and an ordinary joint, each leading another; a sphere at the end; skew masses and motors."""
    model = pin.Model()
    model.name = "mixed"
    kinds = [
        ("turn", pin.JointModelRUBZ()),
        ("slide", pin.JointModelPX()),
        ("turn_follows", pin.JointModelRUBY()),
        ("hinge", pin.JointModelRevoluteUnaligned(np.array([0.6, 0.0, 0.8]))),
        ("hinge_follows", pin.JointModelRX()),
        ("slide_follows", pin.JointModelPZ()),
        ("ball", pin.JointModelSpherical()),
    ]
    rng = np.random.default_rng(5)
    joint = 0
    for name, kind in kinds:
        joint = model.addJoint(joint, kind, pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3) / 4), name)
        model.addJointFrame(joint)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    for at in range(model.nq):
        model.lowerPositionLimit[at], model.upperPositionLimit[at] = -1.5, 1.5
    model.lowerPositionLimit[:2], model.upperPositionLimit[:2] = -1.01, 1.01
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    model.armature = rng.uniform(0.1, 0.2, model.nv)
    model.rotorInertia, model.rotorGearRatio = rng.uniform(1e-3, 2e-3, model.nv), rng.uniform(5, 10, model.nv)
    model.damping, model.friction = rng.uniform(0, 1, model.nv), rng.uniform(0, 1, model.nv)
    return model


MIXED = (
    Coupling("turn_follows", "turn", -2.0, 0.3),
    Coupling("hinge_follows", "hinge", 0.5, -0.2),
    Coupling("slide_follows", "slide", -1.5, 0.1),
)


def mixed_robot() -> PinRobot:
    pin.seed(5)
    return PinRobot(wrapper=mixed_model(), couplings=MIXED, base_placement=TILTED)


BUILDERS: dict[str, Callable[[], RobotBase]] = {
    "textbook": lambda: PlanarArm(base_placement=TILTED),
    "planar_3r": lambda: PinRobot.from_urdf(path_of("planar_3r"), base_placement=TILTED),
    "sevenr_arm": lambda: PinRobot.from_urdf(path_of("sevenr_arm")),
    "dual_arm": lambda: PinRobot.from_urdf(path_of("dual_arm"), tcp="left_tool"),
    "gripper": lambda: PinRobot.from_urdf(path_of("gripper"), tcp="left_pad"),
    "pan_tilt_continuous": lambda: PinRobot.from_urdf(path_of("pan_tilt_continuous"), base_placement=TILTED),
    "quadruped": lambda: PinRobot.from_urdf(path_of("quadruped"), tcp="fl_foot"),
    "panda": lambda: PinRobot.from_urdf(REAL / "panda.urdf", tcp="panda_hand_tcp"),
    "kinova": lambda: PinRobot.from_urdf(REAL / "kinova.urdf", tcp="j2s6s200_end_effector"),
    "panda_on_wheels": lambda: PinRobot.from_urdf(REAL / "panda.urdf", tcp="panda_hand_tcp", root_joint="planar"),
    "solo12_floating": lambda: PinRobot.from_urdf(REAL / "solo12.urdf", tcp="HL_FOOT", root_joint="floating"),
    "mixed": mixed_robot,
}
EVERY = tuple(BUILDERS)
ON_PINOCCHIO = tuple(name for name in EVERY if name != "textbook")


@cache
def shared(name: str) -> Any:
    """A robot built once for all tests: only for those that do not change it."""
    return BUILDERS[name]()


def fresh(name: str) -> Any:
    """A robot of its own for a test that changes it; samples that are no case of their own, too."""
    return BUILDERS[name]() if name in BUILDERS else PinRobot.from_urdf(path_of(name))


def state(robot: RobotBase, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random q, dq, ddq."""
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def states(robot: RobotBase, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Batches of q, dq, ddq."""
    q, dq, ddq = zip(*(state(robot, seed + i) for i in range(count)), strict=True)
    return np.array(q), np.array(dq), np.array(ddq)


def slope(function: Callable[[float], Any], h: float = 1e-3) -> Any:
    """Derivative at 0 of a function of one number, by five points: error of order h^4."""
    near = np.asarray(function(h)) - np.asarray(function(-h))
    far = np.asarray(function(2 * h)) - np.asarray(function(-2 * h))
    return (8 * near - far) / (12 * h)


def close(actual: Any, expected: Any, tolerance: float) -> None:
    """Equal to `tolerance` times the greatest entry, or times 1 if that is less."""
    scale = max(1.0, float(np.abs(np.asarray(expected)).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)
