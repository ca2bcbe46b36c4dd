"""What a tick of an admittance controller gives, and what can be logged of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..robot.arrays import Array
from ..robot.transformation import Transformation


class AdmittanceStatus(enum.Enum):
    """How a command came about."""

    OK = "ok"
    """The tool moves as the law says."""
    LIMITED = "limited"
    """Clamps, joint limits or a singularity hold it back."""
    HOLD = "hold"
    """NaN or infinity was read: the command is 0."""
    FAILED = "failed"
    """No joint velocity was found: the command is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class AdmittanceResult:
    """The command of one tick; true unless it is a stop for want of something better.

    Attributes:
        twist: Asked of the controlled point relative to the base link (6,), base axes, linear first [m/s, rad/s].
        dq: Joint velocity (nv,) to be held until the next tick [rad/s or m/s].
        status: See AdmittanceStatus.
        offset: x, from the reference (6,), control axes: metres and a rotation vector.
        wrench: Felt at the controlled point (6,), control axes, clamp and dead zone applied [N, N m].
        achieved: Twist that dq makes (6,), as `twist`.
        message: Why the command is 0, or which joints and limits hold the tool back; else empty.
    """

    twist: Array
    dq: Array
    status: AdmittanceStatus
    offset: Array
    wrench: Array
    achieved: Array
    message: str = ""

    def __bool__(self) -> bool:
        return self.status in (AdmittanceStatus.OK, AdmittanceStatus.LIMITED)


@dataclass(frozen=True, slots=True, eq=False)
class AdmittanceSnapshot:
    """All that a controller holds after a tick, copied.

    Attributes:
        form: "exact" or "filter".
        stiffness: K (6,).
        damping: D (6,); NaN with a second-order filter.
        inertia: M (6,); NaN with a second-order filter.
        compliance: C (6,), see the controller's property.
        dt: [s].
        reference: Pose of the controlled point in the base link at rest; None before the first tick.
        reference_twist: Feed-forward (6,).
        wrench_reference: (6,).
        dead_zone: (6,).
        bias: Of the sensor (6,).
        velocity: Of the offset (6,), control axes; in the filter form the last output of the filter of the force.
        dq: Last command (nv,).
        last: Result of the last tick; None before the first.
    """

    form: str
    stiffness: Array
    damping: Array
    inertia: Array
    compliance: Array
    dt: float
    reference: Transformation | None
    reference_twist: Array
    wrench_reference: Array
    dead_zone: Array
    bias: Array
    velocity: Array
    dq: Array
    last: AdmittanceResult | None
