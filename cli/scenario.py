"""Scenario files of `knuckle simulate`: its options, one a line, as a flat piece of YAML or as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..robot import InputError
from ..robot.errors import unknown_name

LARGEST = 1_000_000
"""Bytes of a scenario."""


def read(path: str) -> dict[str, Any]:
    """Options by name, each a text, a list of texts, a mapping of texts, or a boolean.

    YAML is read as far as options need it: `name: value`, `name: [1, 2]`, `name: {joint: 1}`, true and false, `#`
    comments. Nothing is nested.

    Raises:
        InputError: naming the line that is something else.
    """
    text = _text(path)
    if Path(path).suffix == ".json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not JSON: {error}") from None
        if not isinstance(found, dict):
            raise InputError(f"{path}: must hold one object of options")
        return {name: _plain(value, f"{path}: {name}") for name, value in found.items()}
    options: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        where, bare = f"{path}:{number}", _uncommented(line)
        if not bare.strip() or bare.strip() == "---":
            continue
        name, colon, value = bare.partition(":")
        if bare[0].isspace() or bare.lstrip().startswith("- ") or not colon or not value.strip():
            raise InputError(f"{where}: write 'option: value' on one line, nothing nested, got {line.strip()!r}")
        if name.strip() in options:
            raise InputError(f"{where}: {name.strip()!r} is given twice")
        options[name.strip()] = _value(value.strip(), where)
    return options


def _text(path: str) -> str:
    if "\0" in path or not Path(path).is_file():  # a pipe would never end
        raise InputError(f"--scenario: {path!r} is not a file")
    if Path(path).stat().st_size > LARGEST:
        raise InputError(f"--scenario: {path!r} is larger than {LARGEST} bytes")
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"--scenario: {path!r} is not text in UTF-8") from None
    except OSError as error:
        raise InputError(f"--scenario: {path!r} cannot be read: {error.strerror}") from None


def _uncommented(line: str) -> str:
    at = line.find(" #")
    return "" if line.lstrip().startswith("#") else line if at < 0 else line[:at]


def _value(text: str, where: str) -> Any:
    for opening, closing in ("[]", "{}"):
        if text.startswith(opening):
            if not text.endswith(closing):
                raise InputError(f"{where}: {opening} without {closing}")
            parts = [part.strip() for part in text[1:-1].split(",") if part.strip()]
            if opening == "[":
                return [_word(part) for part in parts]
            pairs = [part.partition(":") for part in parts]
            return {_word(name.strip()): _word(value.strip()) for name, _, value in pairs}
    if text in ("true", "false"):
        return text == "true"
    return _word(text)


def _word(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return [str(one) for one in value]
    if isinstance(value, dict):
        return {str(name): str(one) for name, one in value.items()}
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"{where} must be a number, a text, a list or a mapping, got {value!r}")


def merge(parser: argparse.ArgumentParser, arguments: argparse.Namespace, path: str) -> None:
    """Puts the options of a file where the command line left the default."""
    known = {
        word.removeprefix("--"): action
        for action in parser._actions
        for word in action.option_strings
        if word.startswith("--") and action.dest not in ("help", "scenario")
    }
    for name, value in read(path).items():
        if name not in known:
            raise unknown_name("option", name, known)
        action = known[name]
        if getattr(arguments, action.dest) == action.default:
            setattr(arguments, action.dest, _for_action(action, value, name))


def _for_action(action: argparse.Action, value: Any, name: str) -> Any:
    """The value as the command line would have given it."""
    if isinstance(action, argparse._StoreTrueAction):
        if not isinstance(value, bool):
            raise InputError(f"{name} must be true or false, got {value!r}")
        return value
    if isinstance(value, bool):
        raise InputError(f"{name} takes a value, got {value!r}")
    words = [f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else value
    if action.choices is not None and words not in action.choices:
        raise unknown_name(name, words, map(str, action.choices))
    if action.nargs is None and not isinstance(action, argparse._AppendAction):
        if isinstance(words, list):
            raise InputError(f"{name} takes one value, got {len(words)}")
        return words
    words = words if isinstance(words, list) else [words]
    if isinstance(action.nargs, int) and len(words) != action.nargs:
        raise InputError(f"{name} takes {action.nargs} values, got {len(words)}")
    return words
