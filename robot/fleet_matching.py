"""Which names a selection means: indices, names, globs, regular expressions, alone or in a list."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from .arrays import refuse_look_alikes
from .errors import InputError, InputTypeError, unknown_name

Entry = int | str | re.Pattern[str]
_GLOB = frozenset("*?[")


def entries_of(selection: Any, name: str) -> list[Entry]:
    """The entries of a selection given alone or in a list.

    Raises:
        InputTypeError: if an entry is no index, name or pattern.
        InputError: if there is none.
    """
    refuse_look_alikes(selection, name)
    if isinstance(selection, np.ndarray):
        if selection.ndim > 1:
            raise InputError(f"{name} must be a list, got an array of shape {selection.shape}")
        selection = selection.reshape(-1)  # an array without axes is one entry
    if isinstance(selection, str | re.Pattern) or np.isscalar(selection):
        selection = [selection]
    elif not isinstance(selection, Sequence | np.ndarray):
        raise InputTypeError(f"{name} must be an index, a name, a pattern or a list of these, got {selection!r}")
    found: list[Entry] = []
    for entry in selection:
        if isinstance(entry, re.Pattern) and isinstance(entry.pattern, str):
            found.append(entry)
        elif isinstance(entry, str):
            found.append(entry)
        elif isinstance(entry, int | np.integer) and not isinstance(entry, bool):
            found.append(int(entry))
        else:
            raise InputTypeError(f"{name} must hold indices, names or compiled patterns, got {entry!r}")
    if not found:
        raise InputError(f"{name} is an empty list, which selects nothing; leave it out to select all")
    return found


def is_explicit(entry: Entry) -> bool:
    """Whether an entry means one thing: an index or a plain name, not a pattern."""
    return isinstance(entry, int) or (isinstance(entry, str) and not _GLOB & set(entry))


def matches(entry: str | re.Pattern[str], names: Sequence[str]) -> list[int]:
    """Where a name or pattern matches: the whole name, case-sensitive; a name that exists is no pattern."""
    if isinstance(entry, re.Pattern):
        return [i for i, name in enumerate(names) if entry.fullmatch(name)]
    exact = [i for i, name in enumerate(names) if name == entry]
    if exact or not _GLOB & set(entry):
        return exact
    return [i for i, name in enumerate(names) if fnmatchcase(name, entry)]


def no_match(entry: Entry, kind: str, argument: str, names: Sequence[str]) -> InputError:
    """The error for an entry that matches nothing."""
    if isinstance(entry, int):
        return InputError(f"{argument}: no {kind} of the robots that are controlled has index {entry}")
    shown = entry.pattern if isinstance(entry, re.Pattern) else entry
    error = unknown_name(kind, shown, dict.fromkeys(names))
    return type(error)(f"{argument}: {error}")


def in_turn(entries: Sequence[Entry], offsets: Sequence[int]) -> Callable[[int], list[int]]:
    """For each robot, the places of the entries that may mean something of it, in order.

    Indices mean things of one robot each, the one between whose `offsets` they lie; going through all of them for
    every robot would take the square of the time.
    """
    general = [k for k, entry in enumerate(entries) if not isinstance(entry, int)]
    own: dict[int, list[int]] = {}
    for k, entry in enumerate(entries):
        if isinstance(entry, int):
            own.setdefault(bisect_right(offsets, entry) - 1, []).append(k)
    return lambda robot: sorted(general + own[robot]) if robot in own else general


def check_index(index: int, count: int, kind: str, argument: str) -> int:
    """An index in 0 .. count-1."""
    if not 0 <= index < count:
        raise InputError(f"{argument}: index {index} is out of range; there are {count} {kind}s, counted from 0")
    return index
