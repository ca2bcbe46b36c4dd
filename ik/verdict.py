"""What one attempt of a search came to."""

from __future__ import annotations

from dataclasses import dataclass

from ..robot.arrays import Array
from .problem import IKStatus


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an attempt came to, checked on its q."""

    q: Array
    cost: float
    status: IKStatus
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether q is a solution."""
        return self.status is IKStatus.CONVERGED
