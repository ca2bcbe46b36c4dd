"""Limits of joints in ROS's `joint_limits.yaml`, as MoveIt and ros2_control write it."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from .description_source import is_text, read_source
from .errors import DescriptionError, InputTypeError, MissingDependencyError, unknown_name

LARGEST_FILE = 2**18
"""Bytes that are still read: a reader in Python takes a second for them."""
_RATES = {"velocity": "velocity", "acceleration": "acceleration", "jerk": "jerk", "torque": "effort"}
"""Limits here, and what the file calls them."""
_DEEPEST = 4
_SHOWN = 20
_MOST_ALIASES = 200
_KEYS = [
    *("has_position_limits", "min_position", "max_position"),
    *(key for word in _RATES.values() for key in (f"has_{word}_limits", f"max_{word}")),
]


def read_limits(path: Any, joints: Iterable[str], followers: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The arguments of `with_limits` that a file gives: for each kind a mapping from joints to values.

    `has_X_limits: false` lifts a limit; without the flag, `max_X` counts when it is there. Limits of joints that mimic
    others are passed over, since they are not in q. Angles may be written `!degrees 90`. Keys that belong to others
    (soft limits, say) are passed over; those that are a slip of one that counts are not.

    Args:
        path: The file.
        joints: Joints of the robot.
        followers: Joints that mimic others.

    Raises:
        DescriptionError: if it cannot be read, or with everything in it that is no limit.
        UnknownNameError: if all that is wrong is the name of one joint that does not exist.
    """
    if is_text(path) or not isinstance(path, str | PathLike):
        raise InputTypeError(f"path must be the path of a joint_limits.yaml, got {type(path).__name__}")
    source, known, passed = read_source(path), list(joints), set(followers)
    if len(source.data) > LARGEST_FILE:
        raise DescriptionError(f"{source.name} is larger than {LARGEST_FILE // 2**10} kB; this is no joint_limits.yaml")
    entries = _entries(_document(source.data, source.name), _DEEPEST)
    if entries is None:
        raise DescriptionError(f"{source.name}: there is no mapping joint_limits: in it")
    found: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    strangers = [joint for joint in entries if joint not in known and joint not in passed]
    for joint, values in entries.items():
        if joint in passed or joint in strangers:
            continue
        if not isinstance(values, Mapping):
            problems.append(f"joint {joint!r} must have a mapping of limits, got {_shown(values)}")
            continue
        for kind, value in _Limits(values, f"joint {joint!r}", problems).found().items():
            found.setdefault(kind, {})[joint] = value
    if len(strangers) == 1 and not problems:
        raise unknown_name(f"joint (named in {fspath(path)})", strangers[0], known)
    problems += [str(unknown_name("joint", joint, known)) for joint in strangers]
    if problems:
        more = [f"... and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise DescriptionError("\n  ".join([f"{source.name}: holds what is no limit:", *problems[:_SHOWN], *more]))
    return found


def _document(data: bytes, source: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingDependencyError(
            "joint_limits.yaml needs the package PyYAML: pip install 'knuckle[yaml]'"
        ) from None

    class Loader(yaml.SafeLoader):
        """Plain data, each key once, no aliases in what is anchored itself, and the two tags ROS has for angles."""

        _anchored = _aliases = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent):
                self._aliases += 1
                if self._aliases > _MOST_ALIASES:
                    raise yaml.YAMLError(f"more than {_MOST_ALIASES} aliases")
                if self._anchored:  # a few lines of them would unfold to any size
                    raise yaml.YAMLError(f"*{event.anchor} stands inside of what is anchored; write the values out")
                return super().compose_node(parent, index)
            anchored = getattr(event, "anchor", None) is not None
            self._anchored += anchored
            try:
                return super().compose_node(parent, index)
            finally:
                self._anchored -= anchored

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            twice = next((name for name, count in names.items() if count > 1), None)
            if twice is not None:
                line = node.start_mark.line + 1
                raise yaml.YAMLError(f"the key {twice!r:.60} stands twice in the mapping at line {line}")
            return super().construct_mapping(node, deep)

    def angle(factor: float) -> Any:
        return lambda loader, node: float(loader.construct_scalar(node)) * factor

    Loader.add_constructor("!degrees", angle(math.pi / 180))
    Loader.add_constructor("!radians", angle(1.0))
    try:
        return yaml.load(data, Loader)
    except RecursionError:
        raise DescriptionError(f"{source}: is nested too deep for a joint_limits.yaml") from None
    except Exception as error:  # PyYAML's constructors raise what the text makes them: KeyError, IndexError, ...
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DescriptionError(f"{source}: cannot be read as YAML: {reason[:200]}") from None


def _entries(document: Any, depth: int) -> Mapping[Any, Any] | None:
    """What stands under joint_limits, at the top or below the names of a node and its parameters."""
    if not isinstance(document, Mapping) or depth == 0:
        return None
    entries = document.get("joint_limits")
    if isinstance(entries, Mapping):
        return entries
    below = (_entries(value, depth - 1) for value in document.values())
    return next((found for found in below if found is not None), None)


class _Limits:
    """The limits of one joint; what is wrong with them goes to `problems`."""

    def __init__(self, values: Mapping[Any, Any], place: str, problems: list[str]) -> None:
        self._values, self._place, self._problems = values, place, problems

    def found(self) -> dict[str, Any]:
        """Limits by kind."""
        for key in self._values:
            close = difflib.get_close_matches(str(key)[:40], _KEYS, n=1, cutoff=0.85) if key not in _KEYS else []
            if close:
                self._note(f"{key!r:.40} means nothing; did you mean {close[0]!r}?")
        found: dict[str, Any] = {}
        flag, bounds = (
            self._flag("has_position_limits"),
            [self._number(key) for key in ("min_position", "max_position")],
        )
        if flag is False:
            found["position"] = (-np.inf, np.inf)
        elif None not in bounds:
            found["position"] = tuple(bounds)
        elif flag or bounds != [None, None]:
            self._note("position limits need both min_position and max_position")
        for kind, word in _RATES.items():
            flag, value = self._flag(f"has_{word}_limits"), self._number(f"max_{word}")
            if flag is False:
                found[kind] = np.inf
            elif value is not None:
                found[kind] = value
            elif flag:
                self._note(f"has_{word}_limits is true, but there is no max_{word}")
        return found

    def _note(self, problem: str) -> None:
        self._problems.append(f"{self._place}: {problem}")

    def _flag(self, key: str) -> bool | None:
        value = self._values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self._note(f"{key} must be true or false, got {_shown(value)}")
        return None

    def _number(self, key: str) -> float | None:
        value = self._values.get(key)
        if value is None:
            return None
        try:
            number = math.nan if isinstance(value, bool | str) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self._note(f"{key} must be a finite number, got {_shown(value)}")
            return None
        if key.startswith("max_") and key != "max_position" and number < 0:
            self._note(f"{key} must not be negative, got {number:g}")
            return None
        return number


def _shown(value: Any) -> str:
    if isinstance(value, Mapping | list | set | tuple):
        return f"a {type(value).__name__}"
    try:
        return f"{value!r:.60}"
    except ValueError:  # a whole number of more digits than Python writes
        return "a number without end"
