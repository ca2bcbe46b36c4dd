"""What a recording says about energy and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.base import RobotBase
from ..robot.errors import InputError, InputTypeError
from ..robot.spatial import ReferenceFrame
from .recording import Recording

_ROUNDING = 1e-9
"""By how much a limit may be passed and still count as kept, relative to max(1, limit)."""


@dataclass(frozen=True, slots=True)
class LimitBreach:
    """The worst passing of one limit by one joint.

    Attributes:
        kind: "position", "velocity" or "torque".
        joint: Name of the coordinate or degree of freedom.
        time: When it was worst [s].
        value: What it was then.
        limit: What it should not have passed.
    """

    kind: str
    joint: str
    time: float
    value: float
    limit: float

    def __str__(self) -> str:
        return f"{self.kind} of {self.joint} is {self.value:.6g} at t = {self.time:.6g} s, its limit {self.limit:.6g}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LoopReport:
    """Energy over a recording, and the limits that were passed; true if none was.

    Attributes:
        kinetic: Of bodies and rotors (N,) [J].
        potential: In the robot's gravity (N,) [J].
        motor_work: Done by the drives since the start (N,) [J].
        external_work: Done by the wrench on the tool (N,) [J].
        friction_loss: Taken by joint friction (N,) [J].
        breaches: The worst passing of each limit by each joint.
    """

    kinetic: Array
    potential: Array
    motor_work: Array
    external_work: Array
    friction_loss: Array
    breaches: tuple[LimitBreach, ...]

    def __bool__(self) -> bool:
        return not self.breaches

    def __repr__(self) -> str:
        limits = f"{len(self.breaches)} limits passed" if self.breaches else "limits kept"
        return f"<LoopReport: {limits}, energy drift {np.abs(self.drift).max(initial=0.0):.3g} J>"

    @property
    def energy(self) -> Array:
        """Kinetic and potential (N,) [J]."""
        return self.kinetic + self.potential

    @property
    def drift(self) -> Array:
        """Energy that no work accounts for (N,) [J]: 0 but for the errors of the integrator and of these sums."""
        supplied = self.motor_work + self.external_work - self.friction_loss
        return np.asarray(self.energy - self.energy[0] - supplied)

    @classmethod
    def of(
        cls,
        robot: RobotBase,
        recording: Recording,
        *,
        tool: Any = None,
        friction: bool = True,
        motor_inertia: bool = True,
    ) -> LoopReport:
        """The report of a recording.

        Args:
            robot: The robot that was recorded.
            recording: What `closed_loop.run` gave.
            tool: Frame where the wrench acted; None is the tcp.
            friction: As the loop was run.
            motor_inertia: As the loop was run.
        """
        if not isinstance(recording, Recording):
            raise InputTypeError(f"recording must be a Recording, got {type(recording).__name__}")
        q, dq, n = recording.q, recording.dq, len(recording)
        if q.shape != (n, robot.nq) or dq.shape != (n, robot.nv):
            raise InputError(f"recording is of a robot with {q.shape[1]} coordinates, this one has {robot.nq}")
        rotors = robot.motors.reflected_inertia if motor_inertia else np.zeros(robot.nv)
        kinetic = np.array(
            [robot.kinetic_energy(a, b) + 0.5 * float(rotors @ b**2) for a, b in zip(q, dq, strict=True)]
        )
        potential = np.array([robot.potential_energy(a) for a in q])
        return cls(
            kinetic,
            potential,
            _work(recording, recording.tau, dq, held=True),
            _external(robot, recording, robot._frame(tool)),
            _work(recording, robot._friction(dq), dq) if friction else np.zeros(n),
            tuple(_breaches(robot, recording)),
        )


def _work(recording: Recording, force: Array, rate: Array, *, held: bool = False) -> Array:
    """Integral of force times rate, by the trapezoidal rule; a force that is held counts from its own state on."""
    dt = np.diff(recording.time)
    after = force[:-1] if held else force[1:]
    power = 0.5 * ((force[:-1] * rate[:-1]).sum(axis=1) + (after * rate[1:]).sum(axis=1))
    return np.concatenate(([0.0], np.cumsum(power * dt)))


def _external(robot: RobotBase, recording: Recording, tool: str) -> Array:
    if recording.wrench is None:
        return np.zeros(len(recording))
    J = robot.frame_jacobian_batch(recording.q, tool, ReferenceFrame.LOCAL_WORLD_ALIGNED)
    twist = (J @ recording.dq[..., None])[..., 0]
    return _work(recording, recording.wrench, twist)


def _breaches(robot: RobotBase, recording: Recording) -> list[LimitBreach]:
    limits, (lower, upper) = robot.limits, robot.limits.position
    found: list[LimitBreach] = []
    signed = (
        ("position", recording.q, lower, upper, recording.q_names),
        ("velocity", recording.dq, -limits.velocity, limits.velocity, recording.dq_names),
        ("torque", recording.tau, -limits.torque, limits.torque, recording.dq_names),
    )
    for kind, values, low, high, names in signed:
        beyond = np.maximum(values - high, low - values)
        slack = _ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(high), high, 0.0)))
        for joint in np.flatnonzero((beyond > slack).any(axis=0)):
            at = int(np.argmax(beyond[:, joint]))
            value = float(values[at, joint])
            limit = float(high[joint] if value > high[joint] else low[joint])
            found.append(LimitBreach(kind, names[joint], float(recording.time[at]), value, limit))
    return found
