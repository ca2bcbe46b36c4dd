"""200 trajectories with one planted violation each, 200 without any: all of the former are found, none of the latter.

Motions are sums of sines, known in closed form; that the clean ones are clean is settled by sampling that form two
thousand times (250 times for collisions), and that a planted violation is absent at the samples by asking there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from knuckle import Obstacle, PinRobot, Task, Trajectory, Transformation, check_trajectory
from knuckle.robot import native

from .samples import path_of

COUNT = 200 if native.AVAILABLE else 40
"""Without the kernel, dense sampling takes its time; the checks themselves are the same."""
N, DURATION = 41, 4.0
T = np.linspace(0.0, DURATION, N)
DENSE = np.linspace(0.0, DURATION, 2000)
MIDDLE = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
KINDS = (
    "position",
    "velocity",
    "acceleration",
    "jerk",
    "torque",
    "continuity",
    "scene_collision",
    "self_collision",
    "tool_speed",
    "singularity",
    "goal",
)
PER_KIND = -(-COUNT // len(KINDS))


@cache
def arm() -> PinRobot:
    return PinRobot.from_urdf(path_of("sevenr_arm")).with_limits(acceleration=12.0, jerk=120.0)


@dataclass(frozen=True)
class Sines:
    """q(t) = centre + sum_k amplitude_k sin(rate_k t + phase_k)."""

    centre: np.ndarray
    amplitude: np.ndarray
    rate: np.ndarray
    phase: np.ndarray

    def at(self, t: Any, order: int = 0) -> np.ndarray:
        angle = np.asarray(t)[..., None, None] * self.rate + self.phase + order * np.pi / 2
        value = (self.amplitude * self.rate**order * np.sin(angle)).sum(axis=-2)
        return value + (self.centre if order == 0 else 0.0)


@cache
def motion(seed: int) -> Sines:
    """Random, clean."""
    rng = np.random.default_rng([11, seed])
    for _ in range(100):
        found = Sines(
            MIDDLE + rng.uniform(-0.15, 0.15, 7),
            rng.uniform(0.03, 0.2, (2, 7)),
            rng.uniform(0.5, 2.5, (2, 7)),
            rng.uniform(0.0, 6.0, (2, 7)),
        )
        if is_clean(found):
            return found
    raise AssertionError("no clean motion")


def is_clean(motion: Sines) -> bool:
    robot = arm()
    limits, q = robot.limits, motion.at(DENSE)
    rates = ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk))
    inside = all((np.abs(motion.at(DENSE, k)) < 0.9 * limit).all() for k, limit in rates)
    inside &= bool(((limits.position[0] + 0.01 < q) & (q < limits.position[1] - 0.01)).all())
    tau = robot.id(q[::10], motion.at(DENSE[::10], 1), motion.at(DENSE[::10], 2))
    inside &= bool((np.abs(tau) < 0.9 * limits.torque).all())
    return inside and not robot.has_collisions(SCENE, 0.003, q=q[::8]).any()


SCENE = Task(
    [
        Obstacle.plane([0, 0, 1], -0.3, id="floor"),
        Obstacle.box([0.1, 0.1, 1.0], Transformation.from_translation([-0.7, 0.6, 0.5]), id="post"),
        Obstacle.sphere(0.05, Transformation.from_translation([0.2, 0.2, 1.6]), id="lamp"),
    ]
)


def trajectory(motion: Sines, seed: int, **changes: Any) -> Trajectory:
    """In turn by positions alone, with velocities, with accelerations too."""
    values = {"q": motion.at(T), "dq": motion.at(T, 1), "ddq": motion.at(T, 2)} | changes
    kept = ("q", "dq", "ddq")[: 1 + seed % 3]
    return Trajectory(T, *(values[key] for key in kept), names=arm().joints)


@pytest.mark.parametrize("part", range(4))
def test_no_false_alarm(part: int) -> None:
    for seed in range(part, COUNT, 4):
        found = motion(seed)
        goal = arm().fk(found.at(DURATION))
        report = check_trajectory(
            arm(), trajectory(found, seed), SCENE, goal=goal, max_linear=3.0, min_singular_value=1e-3
        )
        assert report.feasible, (seed, str(report))


@pytest.mark.parametrize("kind", KINDS)
def test_every_planted_violation_is_found(kind: str) -> None:
    for seed in range(PER_KIND):
        report, at = PLANTERS[kind](motion(1000 + seed), seed)
        assert not report.feasible and not report[kind].ok and report[kind].count >= 1, (seed, str(report))
        if at is not None:
            assert abs(report[kind].time - at) <= 2.5 * DURATION / (N - 1), (seed, at, str(report))


def plant_rate(order: int) -> Any:
    """Limits lowered to between what the samples show and what lies between them."""

    def plant(found: Sines, seed: int) -> Any:
        path = trajectory(found, seed)
        joint = seed % 7
        dense = np.linspace(0.0, DURATION, 100 * (N - 1) + 1)
        poly = path.path
        for _ in range(order):
            poly = poly.derivative()
        values = np.abs(poly.evaluate(*poly.locate(dense))[:, joint])
        seen, most = values[::100].max(), values.max()
        if most - seen < 1e-9 * most:  # greatest at a sample: plant there
            seen = 0.999 * most
        name = ("position", "velocity", "acceleration", "jerk")[order]
        robot = arm().with_limits(**{name: {arm().joints[joint]: 0.5 * (seen + most)}})
        report = check_trajectory(robot, path)
        assert report[name].where == arm().joints[joint]
        assert report[name].worst >= most - 1e-12
        return report, float(dense[values.argmax()])

    return plant


def plant_position(found: Sines, seed: int) -> Any:
    path = trajectory(found, seed)
    joint = seed % 7
    dense = np.linspace(0.0, DURATION, 100 * (N - 1) + 1)
    values = path.at(dense)[:, joint]
    seen, most = values[::100].max(), values.max()
    seen = seen if most - seen > 1e-9 else most - 1e-4
    robot = arm().with_limits(position={arm().joints[joint]: (-3.0, 0.5 * (seen + most))})
    return check_trajectory(robot, path), float(dense[values.argmax()])


def plant_torque(found: Sines, seed: int) -> Any:
    path, robot = trajectory(found, seed), arm()
    tau = np.abs(robot.id(found.at(DENSE[::5]), found.at(DENSE[::5], 1), found.at(DENSE[::5], 2)))
    joint = (1, 3)[seed % 2]
    weak = robot.with_limits(torque={robot.joints[joint]: 0.995 * tau[:, joint].max()})
    return check_trajectory(weak, path), float(DENSE[::5][tau[:, joint].argmax()])


def plant_jump(found: Sines, seed: int) -> Any:
    """A step of 0.05 rad from one of 401 samples to the next: within all position limits."""
    t = np.linspace(0.0, DURATION, 401)
    row, joint = 50 + 15 * seed, seed % 7
    q = found.at(t)
    q[row:, joint] += 0.05
    path = Trajectory(t, q, None if seed % 2 else found.at(t, 1))
    report = check_trajectory(arm(), path)
    assert report["continuity"].where == arm().joints[joint] and report["continuity"].count <= 3
    assert t[row - 1] <= report["continuity"].time <= t[row]
    return report, t[row]


def plant_obstacle(found: Sines, seed: int) -> Any:
    """A bead of 2 mm on the way of the tool, touched between two samples alone."""
    robot, rng = arm(), np.random.default_rng([12, seed])
    path = Trajectory(T[::5], found.at(T[::5]), names=robot.joints)
    for _ in range(300):
        when = float(rng.uniform(0.1, 3.9))
        tip = robot.fk(path.at(when)).translation
        task = Task([Obstacle.sphere(0.002, Transformation.from_translation(tip), id="bead")])
        if not robot.has_collisions(task, 0.001, q=path.q).any():
            break
    else:
        raise AssertionError("no bead fits between the samples")
    report = check_trajectory(robot, path, task)
    assert "bead" in report["scene_collision"].where
    return report, None


def plant_self_collision(found: Sines, seed: int) -> Any:
    """The arm folds onto itself and back between two samples: there it is out of reach of a check of samples."""
    robot = arm()
    t = np.array([0.0, 1.0, 2.0, 3.0])
    out = np.array([0.0, 0.3, 0.0, -0.6, 0.0, 0.5, 0.0]) + 0.02 * np.random.default_rng(seed).normal(size=7)
    q = np.tile(out, (4, 1))
    dq = np.zeros((4, 7))
    dq[1], dq[2] = FOLD, -np.array(FOLD)
    path = Trajectory(t, q, dq)
    assert not robot.has_self_collision(q).any()
    assert robot.has_self_collision(path.at(np.linspace(1.0, 2.0, 200))).any(), "the plant is no collision"
    return check_trajectory(robot, path), None


FOLD = (0.0, 3.0, 0.0, -9.0, 0.0, 6.0, 0.0)


def plant_tool_speed(found: Sines, seed: int) -> Any:
    robot, path = arm(), trajectory(found, seed)
    J = robot.jacobian(found.at(DENSE), reference="LOCAL_WORLD_ALIGNED")
    speed = np.linalg.norm(np.einsum("nij,nj->ni", J[:, :3], found.at(DENSE, 1)), axis=1)
    return check_trajectory(robot, path, max_linear=0.99 * speed.max()), float(DENSE[speed.argmax()])


def plant_singularity(found: Sines, seed: int) -> Any:
    robot, path = arm(), trajectory(found, seed)
    J = robot.jacobian(found.at(DENSE), reference="LOCAL_WORLD_ALIGNED")
    least = np.linalg.svd(J, compute_uv=False)[:, -1]
    return check_trajectory(robot, path, min_singular_value=1.01 * least.min()), float(DENSE[least.argmin()])


def plant_goal(found: Sines, seed: int) -> Any:
    goal = arm().fk(found.at(DURATION)) @ Transformation.from_translation([0.0, 0.0, 1e-3])
    return check_trajectory(arm(), trajectory(found, seed), goal=goal), DURATION


PLANTERS = {
    "position": plant_position,
    "velocity": plant_rate(1),
    "acceleration": plant_rate(2),
    "jerk": plant_rate(3),
    "torque": plant_torque,
    "continuity": plant_jump,
    "scene_collision": plant_obstacle,
    "self_collision": plant_self_collision,
    "tool_speed": plant_tool_speed,
    "singularity": plant_singularity,
    "goal": plant_goal,
}
