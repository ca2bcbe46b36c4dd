"""Every pair of a robot checked by Pinocchio and coal alone, as the truth for collision queries.

`python -m tests.brute_force --count 20000` compares every sample, and every robot of example-robot-data that is
installed, and prints the mismatches.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from knuckle import PinRobot

from .samples import SAMPLES, path_of

# robot: URDF and SRDF in example-robot-data
INSTALLED = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf"),
    "kinova": ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "xarm_description/srdf/xarm7.srdf"),
}


def _pairs(robot: PinRobot, q: Any) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Row, pair number and (shape, pose, shape, pose) of every active pair at every configuration."""
    geometry = robot.collision.clone()
    data, placed = robot.model.createData(), geometry.createData()
    shapes = [thing.geometry for thing in geometry.geometryObjects]
    pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    for row, one in enumerate(np.atleast_2d(robot.to_pinocchio(q))):
        pin.updateGeometryPlacements(robot.model, data, geometry, placed, one)
        poses = [coal.Transform3s(pose.rotation, pose.translation) for pose in placed.oMg]
        for k, (i, j) in enumerate(pairs):
            yield row, k, (shapes[i], poses[i], shapes[j], poses[j])


def contacts(robot: PinRobot, q: Any, margin: float = 0.0) -> NDArray[np.bool_]:
    """Which active pairs touch at each configuration (N, P).

    Every test begins afresh: a GeometryData keeps the last direction of each pair, and with curved shapes that barely
    touch coal's answer depends on where it begins.
    """
    found = np.zeros((len(q), len(robot.collision.collisionPairs)), dtype=bool)
    for row, k, placed in _pairs(robot, q):
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin = margin
        coal.collide(*placed, request, result)
        found[row, k] = result.isCollision()
    return found


def distances(robot: PinRobot, q: Any) -> NDArray[np.float64]:
    """Signed distance of each active pair at each configuration (N, P)."""
    found = np.zeros((len(q), len(robot.collision.collisionPairs)))
    for row, k, placed in _pairs(robot, q):
        result = coal.DistanceResult()
        coal.distance(*placed, coal.DistanceRequest(), result)
        found[row, k] = result.min_distance
    return found


def random_configurations(robot: PinRobot, count: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.array([robot.random_configuration(rng) for _ in range(count)])


def share() -> Path | None:
    """The folder of example-robot-data, where it is installed."""
    found = find_spec("cmeel")
    for place in sys.path if found is None else [*(found.submodule_search_locations or []), *sys.path]:
        folder = Path(place) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    return None


def installed(name: str, **options: Any) -> PinRobot | None:
    """A robot of example-robot-data with the pairs of its SRDF, None where it is not installed."""
    folder = share()
    if folder is None:
        return None
    urdf, srdf = (folder / part for part in INSTALLED[name])
    return PinRobot.from_urdf(urdf, folder.parents[1], srdf=srdf if srdf.exists() else None, **options)


def robots() -> Iterator[tuple[str, PinRobot]]:
    """Every sample, then every installed robot, with pairs to check."""
    for name in SAMPLES:
        yield name, PinRobot.from_urdf(path_of(name))
    for name in INSTALLED:
        robot = installed(name)
        if robot is not None:
            yield name, robot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="configurations for each robot")
    count, wrong = parser.parse_args().count, 0
    print(f"{'robot':22} {'pairs':>6} {'touching':>9} {'mismatches':>11} {'ours':>10} {'all pairs':>10}")
    for name, robot in robots():
        q = random_configurations(robot, count)
        robot.has_self_collision(q[:1])
        begun = time.perf_counter()
        ours = robot.has_self_collision(q, threads=1)
        between = time.perf_counter()
        truth = contacts(robot, q).any(axis=1)
        ended = time.perf_counter()
        bad = int((ours != truth).sum())
        wrong += bad
        us = [1e6 * t / count for t in (between - begun, ended - between)]
        pairs = len(robot.active_pairs)
        print(f"{name:22} {pairs:6} {truth.mean():9.2%} {bad:11} {us[0]:7.2f} us {us[1]:7.1f} us")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
