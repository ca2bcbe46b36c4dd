"""What a controller in a closed loop gets to see: the state with noise, and late."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array, _as_float, as_generator, scalar
from ..robot.base import RobotBase
from ..robot.errors import InputError

MOST_LATE = 1_000_000
"""Ticks of delay that are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is known at a tick of the controller.

    Attributes:
        time: Of the tick [s]; what follows may be older.
        q: Configuration (nq,).
        dq: Velocity (nv,).
        tau: Torques of the drives (nv,) [N m or N], those applied before the tick.
        wrench: What the environment exerts on the robot at the tool's origin, **tool axes** (6,): a sensor's reading.
    """

    time: float
    q: Array
    dq: Array
    tau: Array
    wrench: Array


@dataclass(frozen=True, slots=True)
class Sensing:
    """Noise and delay of what is measured; the same seed gives the same noise.

    Attributes:
        q_noise: Standard deviation, a number or (nv,) [rad or m].
        dq_noise: Likewise [rad/s or m/s].
        tau_noise: Likewise [N m or N].
        wrench_noise: Likewise, a number or (6,) [N, N m].
        delay: How old a measurement is when the controller gets it [s]; rounded to ticks.
        seed: A seed or a numpy Generator.
    """

    q_noise: Any = 0.0
    dq_noise: Any = 0.0
    tau_noise: Any = 0.0
    wrench_noise: Any = 0.0
    delay: float = 0.0
    seed: Any = 0

    def channel(self, robot: RobotBase, dt: float) -> Channel:
        """The way from the plant to a controller that ticks every dt."""
        sizes = {"q_noise": robot.nv, "dq_noise": robot.nv, "tau_noise": robot.nv, "wrench_noise": 6}
        noise = {name: _deviation(getattr(self, name), size, name) for name, size in sizes.items()}
        late = scalar(self.delay, "delay", minimum=0.0) / dt
        if late > MOST_LATE:
            raise InputError(f"delay must be at most {MOST_LATE} ticks of {dt:g} s, got {self.delay:g} s")
        return Channel(robot, noise, round(late), as_generator(self.seed))


def _deviation(value: Any, size: int, name: str) -> Array:
    array = _as_float(value, name)
    if array.shape not in ((), (size,)) or not np.isfinite(array).all() or (array < 0.0).any():
        raise InputError(f"{name} must be a number or have shape ({size},), finite and not negative, got {value!r}")
    return np.array(np.broadcast_to(array, (size,)))


class Channel:
    """Passes measurements on, `ticks` late and with noise. Until the first arrives, the first is what is seen."""

    def __init__(self, robot: RobotBase, noise: dict[str, Array], ticks: int, rng: np.random.Generator) -> None:
        self._robot, self._noise, self._rng = robot, noise, rng
        self._queue: deque[Measured] = deque(maxlen=ticks + 1)
        self._noisy = any(deviation.any() for deviation in noise.values())

    def through(self, true: Measured) -> Measured:
        """What the controller sees when this is the case."""
        self._queue.append(self._blurred(true) if self._noisy else true)
        seen = self._queue[0]
        return seen if seen.time == true.time else Measured(true.time, seen.q, seen.dq, seen.tau, seen.wrench)

    def _blurred(self, true: Measured) -> Measured:
        # always drawn in this order and number, so that switching one noise on leaves the others as they were
        draw = {name: deviation * self._rng.standard_normal(len(deviation)) for name, deviation in self._noise.items()}
        return Measured(
            true.time,
            self._robot._integrate(true.q, draw["q_noise"]),
            true.dq + draw["dq_noise"],
            true.tau + draw["tau_noise"],
            true.wrench + draw["wrench_noise"],
        )
