"""Limits of joints in ROS's `joint_limits.yaml`, as MoveIt and ros2_control write it."""

from __future__ import annotations

import math
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


def read_limits(path: Any, joints: Iterable[str], followers: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The arguments of `with_limits` that a file gives: for each kind a mapping from joints to values.

    `has_X_limits: false` lifts a limit; without the flag, `max_X` counts when it is there. Limits of joints that mimic
    others are passed over, since they are not in q. Angles may be written `!degrees 90`.

    Args:
        path: The file.
        joints: Joints of the robot.
        followers: Joints that mimic others.

    Raises:
        DescriptionError: if it cannot be read, or does not hold limits.
        UnknownNameError: if it names a joint that does not exist.
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
    for joint, values in entries.items():
        if joint in passed:
            continue
        if joint not in known:
            raise unknown_name(f"joint (named in {fspath(path)})", joint, known)
        if not isinstance(values, Mapping):
            raise DescriptionError(f"{source.name}: joint {joint!r} must have a mapping of limits, got {values!r:.60}")
        for kind, value in _limits(values, f"{source.name}: joint {joint!r}").items():
            found.setdefault(kind, {})[joint] = value
    return found


def _document(data: bytes, source: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingDependencyError(
            "joint_limits.yaml needs the package PyYAML: pip install 'knuckle[yaml]'"
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # untyped
        """Plain data, and the two tags ROS has for angles."""

    def angle(factor: float) -> Any:
        return lambda loader, node: float(loader.construct_scalar(node)) * factor

    Loader.add_constructor("!degrees", angle(math.pi / 180))
    Loader.add_constructor("!radians", angle(1.0))
    try:
        return yaml.load(data, Loader)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise DescriptionError(f"{source}: cannot be read as YAML: {reason[:200]}") from None
    except RecursionError:
        raise DescriptionError(f"{source}: is nested too deep for a joint_limits.yaml") from None


def _entries(document: Any, depth: int) -> Mapping[Any, Any] | None:
    """What stands under joint_limits, at the top or below the names of a node and its parameters."""
    if not isinstance(document, Mapping) or depth == 0:
        return None
    entries = document.get("joint_limits")
    if isinstance(entries, Mapping):
        return entries
    below = (_entries(value, depth - 1) for value in document.values())
    return next((found for found in below if found is not None), None)


def _limits(values: Mapping[Any, Any], place: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    flag = _flag(values, "has_position_limits", place)
    bounds = [_number(values, key, place) for key in ("min_position", "max_position")]
    if flag is False:
        found["position"] = (-np.inf, np.inf)
    elif None not in bounds:
        found["position"] = tuple(bounds)
    elif flag or bounds != [None, None]:
        raise DescriptionError(f"{place}: position limits need both min_position and max_position")
    for kind, word in _RATES.items():
        flag, value = _flag(values, f"has_{word}_limits", place), _number(values, f"max_{word}", place)
        if flag is False:
            found[kind] = np.inf
        elif value is not None:
            found[kind] = value
        elif flag:
            raise DescriptionError(f"{place}: has_{word}_limits is true, but there is no max_{word}")
    return found


def _flag(values: Mapping[Any, Any], key: str, place: str) -> bool | None:
    value = values.get(key)
    if value is not None and not isinstance(value, bool):
        raise DescriptionError(f"{place}: {key} must be true or false, got {value!r:.60}")
    return value


def _number(values: Mapping[Any, Any], key: str, place: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DescriptionError(f"{place}: {key} must be a finite number, got {value!r:.60}")
    if key.startswith("max_") and key != "max_position" and value < 0:
        raise DescriptionError(f"{place}: {key} must not be negative, got {value:g}")
    return float(value)
