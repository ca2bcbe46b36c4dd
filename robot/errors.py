"""Exceptions of the toolkit; every one names the thing that is wrong and the remedy.

::

    KnuckleError
    ├── InputError (ValueError)                 wrong shape, NaN, impossible option
    │   ├── InputTypeError (TypeError)          wrong kind or dtype
    │   └── UnknownNameError (LookupError)      no joint, frame or method of that name
    ├── DescriptionError (ValueError)           a robot description that cannot be read or makes no robot
    ├── UnsupportedError (NotImplementedError)  meaningful, but not offered by this robot
    ├── MissingDependencyError (ImportError)    an optional part that is not installed
    └── NoBrowserError (TimeoutError)           a view that nobody looks at

Numerical outcomes (not converged, out of limits) are results with a status, never exceptions.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class KnuckleError(Exception):
    """Root of all exceptions raised on purpose by this toolkit."""


class InputError(KnuckleError, ValueError):
    """An argument has a wrong shape, a non-finite entry or an impossible value."""


class InputTypeError(InputError, TypeError):
    """An argument is of a kind or dtype that cannot be used."""


class UnknownNameError(InputError, LookupError):
    """No joint, frame, method or option has the given name."""


class DescriptionError(KnuckleError, ValueError):
    """A robot description is unreadable, malformed, or does not describe a robot.

    Attributes:
        findings: Everything found in it, each a `knuckle.robot.findings.Finding`.
    """

    def __init__(self, message: str, findings: Iterable[Any] = ()) -> None:
        """The message, and what it tells about."""
        super().__init__(message)
        self.findings: tuple[Any, ...] = tuple(findings)


class UnsupportedError(KnuckleError, NotImplementedError):
    """The request makes sense, but this robot does not offer it."""


class MissingDependencyError(KnuckleError, ImportError):
    """An optional dependency is not installed."""


class NoBrowserError(KnuckleError, TimeoutError):
    """No browser connected to a view in time, or none answered."""


def unknown_name(kind: str, name: object, options: Iterable[str]) -> UnknownNameError:
    """Error for a name that does not exist, with the closest existing ones.

    Args:
        kind: What was looked up, for example ``"frame"``.
        name: The name that was not found.
        options: The names that exist.
    """
    known = [str(option) for option in options]
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.6)
    if close:
        remedy = "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    elif len(known) <= 20:
        remedy = "; known: " + (", ".join(repr(k) for k in known) or "none")
    else:
        remedy = f"; {len(known)} are known, the first are " + ", ".join(repr(k) for k in known[:8])
    return UnknownNameError(f"no {kind} named {name!r}{remedy}")
