"""Check and TrajectoryReport: a verdict on every aspect of a trajectory, with the worst place and the reason."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..robot.errors import unknown_name


@dataclass(frozen=True, slots=True)
class Check:
    """How one aspect of a trajectory stands where it is worst. True if it is fine."""

    name: str
    ok: bool
    worst: float
    """The value at the worst place, in `unit`; NaN where nothing was to be checked."""
    limit: float
    """What it was compared with: the limit of the worst joint, scale and margin applied; infinite or NaN if none."""
    time: float
    """When [s]; NaN if at no time in particular."""
    where: str
    """The joint, the pair or the frame."""
    count: int
    """Number of intervals between samples in which it is violated."""
    margin: float
    """How far inside its bound the worst place is, negative outside, in `unit`; infinite without a bound."""
    unit: str
    message: str
    """The same in one sentence."""
    judged: bool = True
    """False where there was nothing to hold it against, such as a limit: then it is `ok`, and only told."""

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers, booleans and None (for what is infinite or undefined), fit for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrajectoryReport:
    """All checks of one trajectory. True if it is feasible."""

    robot: str
    """Name of the robot."""
    samples: int
    duration: float
    """[s]."""
    interpolation: str
    """What was taken to happen between the samples."""
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    """What the reader should know: limits that are missing, units that look wrong."""
    course: Any = field(default=None, repr=False)
    """The motion that was checked, for plots."""
    options: Any = field(default=None, repr=False)
    """What it was checked against, for plots."""

    def __bool__(self) -> bool:
        return self.feasible

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __getitem__(self, name: str) -> Check:
        """The check of that name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise unknown_name("check", name, [check.name for check in self.checks])

    @property
    def feasible(self) -> bool:
        """Whether every check is fine."""
        return all(check.ok for check in self.checks)

    @property
    def violations(self) -> tuple[Check, ...]:
        """The checks that are not fine."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def unjudged(self) -> tuple[Check, ...]:
        """The checks that had nothing to hold their values against."""
        return tuple(check for check in self.checks if not check.judged)

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers, booleans, lists and None, fit for JSON."""
        return {
            "robot": self.robot,
            "feasible": self.feasible,
            "samples": self.samples,
            "duration": self.duration,
            "interpolation": self.interpolation,
            "checks": [check.to_dict() for check in self.checks],
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The report as strict JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def save_plot(self, path: str | Path) -> Path:
        """Draw joints, torques, tool and clearance to a file (.png, .pdf, .svg), limits and worst places marked.

        Raises:
            MissingDependencyError: if matplotlib is not installed.
        """
        from .plots import save_plot

        return save_plot(self, path)

    def save_html(self, path: str | Path, *, animation: str | None = None) -> Path:
        """Write a page that holds everything: verdict, table, plots; it asks nothing of any server.

        Args:
            path: The file.
            animation: HTML to be put in as it is, for a moving robot.

        Raises:
            MissingDependencyError: if matplotlib is not installed.
        """
        from .html import save_html

        return save_html(self, path, animation)

    def __repr__(self) -> str:
        return f"<TrajectoryReport: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """The verdict and a line for every check, `--` before those that were not judged."""
        verdict = "feasible" if self.feasible else f"not feasible: {', '.join(c.name for c in self.violations)}"
        lines = [f"{verdict} ({self.samples} samples, {self.duration:g} s, {self.interpolation})"]
        lines += [f"  {word(check):4} {check.name}: {check.message}" for check in self.checks]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def skipped(name: str, reason: str) -> Check:
    """A check that had nothing to do."""
    return Check(name, True, math.nan, math.nan, math.nan, "", 0, math.inf, "", reason, judged=False)


def word(check: Check) -> str:
    """The verdict on a check in a word."""
    return "FAIL" if not check.ok else "ok" if check.judged else "--"


def moment(time: float) -> str:
    """A time in words; those of clocks, which count from 1970, to the millisecond."""
    return f"{time:.6g} s" if abs(time) < 1e6 else f"{time:.3f} s"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
