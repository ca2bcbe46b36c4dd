"""What comes of asking joints for a twist."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..robot.arrays import Array


class VelocityStatus(enum.Enum):
    """How a joint velocity came about."""

    SOLVED = "solved"
    """The tool moves as asked."""
    LIMITED = "limited"
    """As close to it as bounds and singularities allow."""
    FAILED = "failed"
    """The solver gave up; the velocity is 0."""
    INVALID = "invalid"
    """NaN, infinity or a twist beyond all measure came in; the velocity is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class VelocityResult:
    """A joint velocity; true if it may be used as an answer.

    Attributes:
        dq: Velocity (nv,) [rad/s or m/s], within the bounds; 0 without an answer.
        status: See VelocityStatus.
        twist_error: J dq - twist (m,), what the tool does beyond what was asked [m/s, rad/s].
        scale: Share of the twist that is kept, 1 but for the mode "scale".
        message: Why there is no answer, or what keeps the tool from moving as asked; else empty.
        singular: Whether directions are held back near a singularity, and the tool does not move as asked.
        held_by: Joints (or single degrees of freedom) at a limit while the tool does not move as asked.
    """

    dq: Array
    status: VelocityStatus
    twist_error: Array
    scale: float = 1.0
    message: str = ""
    singular: bool = False
    held_by: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.status in (VelocityStatus.SOLVED, VelocityStatus.LIMITED)
