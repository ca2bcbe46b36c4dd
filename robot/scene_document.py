"""Documents at the door: JSON without its traps, and errors that name the place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

from .errors import InputError, InputTypeError, KnuckleError
from .files import path_of
from .transformation import Transformation, TransformationLike, as_transformation

T = TypeVar("T")

LARGEST_DOCUMENT = 256 * 2**20
"""Bytes of a document that are still read; a mesh of a million vertices takes about 80 MB."""
_TOO_DEEP = "lists or objects too deep inside one another"
_FIELD = re.compile(r"[a-z_]+(\[[^\]]*\])*( must | has | needs )")


def parse(text: str | bytes) -> Any:
    """The value of JSON text: no NaN or infinity, no key twice.

    Raises:
        InputError: naming line and column.
    """
    if not isinstance(text, str | bytes):
        raise InputTypeError(f"text must be JSON text, got {type(text).__name__}")
    if len(text) > LARGEST_DOCUMENT:
        raise InputError(f"the document is larger than {LARGEST_DOCUMENT // 2**20} MB")
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=distinct_keys)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"not a document: {_TOO_DEEP}") from None
    except KnuckleError:
        raise
    except ValueError as error:  # undecodable bytes, or integers of thousands of digits
        raise InputError(f"not JSON: {error}") from None


@contextmanager
def within(place: str) -> Iterator[None]:
    """Errors of what is read inside name the place: "obstacles[2].size must be ..."."""
    try:
        yield
    except KnuckleError as error:
        text = str(error)
        dot = "." if _FIELD.match(text) else ": "
        raise type(error)(f"{place}{dot}{text}") from None
    except RecursionError:
        raise InputError(f"{place}: {_TOO_DEEP}") from None


def listed(value: Any, name: str, read: Callable[[Any], T]) -> list[T]:
    """The entries of a list of a document, each read with its place in errors."""
    if not isinstance(value, list | tuple):
        raise InputTypeError(f"{name} must be a list, got {type(value).__name__}")
    found = []
    for k, entry in enumerate(value):
        with within(f"{name}[{k}]"):
            found.append(read(entry))
    return found


def exact_pose(value: TransformationLike, name: str) -> Transformation:
    """A pose that a document gives back bit for bit: products of many poses are moved onto an exact rotation here."""
    return as_transformation(as_transformation(value, name).homogeneous, name)


def read_file(path: str | PathLike[str]) -> bytes:
    """The bytes of a document."""
    file = path_of(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_DOCUMENT + 1)
    except FileNotFoundError:
        raise InputError(f"path: there is no file {str(file)!r}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"path: {str(file)!r} cannot be read: {error}") from None
    return data


def _refuse_constant(name: str) -> Any:
    raise InputError(f"{name} is no number that a document may hold; leave an open bound out with null")


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON each of whose keys stands once."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"the key {key[:60]!r} stands twice in one object; keep one")
        found[key] = value
    return found
