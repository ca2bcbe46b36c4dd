"""One thing that is wrong in a description: where, what follows from it, what helps."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .errors import DescriptionError
from .finding_codes import ERROR, KINDS, NOTE, WARNING

__all__ = ["ERROR", "NOTE", "WARNING", "Finding", "Suggestions", "finding", "listed", "refusal"]

_COMPARED = 2000
"""Names among which a close one is looked for; more would take seconds."""
_LONGEST = 200
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or was guessed at."""

    code: str
    """What kind of thing it is: a key of `knuckle.robot.finding_codes.KINDS`."""
    severity: str
    """"error": no robot can be made; "warning": one can, under the assumption named; "note": good to know."""
    line: int
    """In the file; 0 where no single line is to blame."""
    element: str
    """Kind of element, for example "joint"."""
    name: str
    """Name of the link, joint or file; empty where it has none."""
    problem: str
    """What is wrong."""
    effect: str
    """What follows from it."""
    remedy: str
    """What helps."""

    @property
    def where(self) -> str:
        """The element and its name, for example "joint 'elbow'"."""
        return f"{self.element} {self.name!r}" if self.name else self.element

    @property
    def message(self) -> str:
        """What is wrong, what follows, what helps; that an error makes no robot goes without saying."""
        effect = "" if self.severity == ERROR and self.effect == KINDS[self.code].effect else self.effect
        return "; ".join(part for part in (self.problem, effect, self.remedy) if part)

    def __str__(self) -> str:
        return (f"line {self.line}: " if self.line else "") + f"{self.where}: {self.message} [{self.code}]"


def finding(
    code: str, line: int, element: str, name: str, problem: str, effect: str | None = None, remedy: str | None = None
) -> Finding:
    """A finding of a known code; the effect and remedy are the code's unless given."""
    kind = KINDS[code]
    effect = kind.effect if effect is None else effect
    remedy = kind.remedy if remedy is None else remedy
    return Finding(code, kind.severity, line, element, name, problem, effect, remedy)


class Suggestions:
    """Closest names for the ends of messages; only for the first wrong names of a description.

    Looking for one takes milliseconds, and a file may hold a hundred thousand.
    """

    def __init__(self) -> None:
        self._left = 50

    def closest(self, name: str, options: Iterable[str]) -> str:
        """The end of a message that suggests the closest name, empty if there is none."""
        if self._left == 0:
            return ""
        self._left -= 1
        close = difflib.get_close_matches(name[:_LONGEST], list(options)[:_COMPARED], n=1)
        return f"; did you mean {close[0]!r}?" if close else ""


def listed(source: str, findings: Sequence[Finding], verdict: str) -> str:
    """Findings as the lines of one message."""
    lines = [str(found) for found in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        lines.append(f"... and {len(findings) - _SHOWN} more")
    return f"{source}: {verdict}:\n  " + "\n  ".join(lines)


def refusal(code: str, source: str, problem: str, line: int = 0, effect: str | None = None) -> DescriptionError:
    """The error for a file that cannot even be judged; its one finding goes with it."""
    found = finding(code, line, "file", source, problem, effect)
    place = f"{source}:{line}" if line else source
    return DescriptionError(f"{place}: {problem}; {found.remedy}", (found,))
