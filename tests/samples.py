"""The robots of `urdf_samples` for the tests: what they are called, how large they are, and how to get one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import PinRobot

Array = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "urdf_samples"
# name: nq, nv, frame at the tip (None where several tips are of equal rank)
SAMPLES: dict[str, tuple[int, int, str | None]] = {
    "planar_2r": (2, 2, "tool"),
    "planar_3r": (3, 3, "tool"),
    "scara": (4, 4, "tool"),
    "sixr_arm": (6, 6, "tool"),
    "sevenr_arm": (7, 7, "tool"),
    "gripper": (1, 1, None),
    "pan_tilt_continuous": (2, 2, "lens"),
    "quadruped": (19, 18, None),
    "dual_arm": (13, 13, None),
    "cube_meshes": (2, 2, "tool"),
}


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.urdf"


@cache
def load(name: str) -> PinRobot:
    """The robot, read once for all tests: only for those that do not change it."""
    return PinRobot.from_urdf(path_of(name))


def random_configurations(robot: PinRobot, count: int, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [robot.random_configuration(rng) for _ in range(count)]


def assert_same(actual: Any, expected: Any) -> None:
    """Equal to 1e-10 in every entry."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10)


def within_limits(robot: PinRobot, q: Array, margin: float = 0.0) -> bool:
    lower, upper = robot.joint_limits
    return bool(np.all(q >= lower + margin) and np.all(q <= upper - margin))
