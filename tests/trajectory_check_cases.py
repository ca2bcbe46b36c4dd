"""Trajectories and robots that tests of checks share."""

from __future__ import annotations

import numpy as np

from knuckle import (
    Obstacle,
    PinRobot,
    Task,
    Trajectory,
    Transformation,
)

from .samples import load

Q0 = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


T = np.linspace(0.0, 2.0, 21)


def arm() -> PinRobot:
    return load("sevenr_arm")


def wave(size: float = 0.2, joint: int | None = None) -> np.ndarray:
    motion = size * np.sin(T)[:, None] * np.ones(7)
    if joint is not None:
        motion[:, np.arange(7) != joint] = 0.0
    return Q0 + motion


def bead(path: Trajectory, when: float, radius: float = 0.002) -> Task:
    tip = arm().fk(path.at(when)).translation
    return Task([Obstacle.sphere(radius, Transformation.from_translation(tip), id="bead")])
