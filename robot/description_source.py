"""A robot description before it is understood: its text, what it is called, and where its meshes start from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from .errors import InputTypeError
from .findings import refusal

LARGEST_FILE = 32 * 2**20
"""Bytes of a description that are still read; the largest known ones have half a megabyte."""
_DECLARATION = re.compile(r"<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class Source:
    """A description as bytes.

    Attributes:
        name: What it is called in messages.
        data: XML text.
        folder: From which its relative paths start.
    """

    name: str
    data: bytes
    folder: Path


def is_text(description: Any) -> bool:
    """Whether a description is XML text rather than the path of a file."""
    return isinstance(description, str) and description[:100].lstrip("\ufeff \t\r\n").startswith("<")


def read_source(description: Any) -> Source:
    """The description in a file, or that is XML text itself.

    Raises:
        DescriptionError: if there is no such file, or it is empty, too large or no file.
        InputTypeError: if it is neither a path nor text.
    """
    if is_text(description):
        text = _DECLARATION.sub("", description.lstrip("\ufeff \t\r\n"))  # it is UTF-8 now, whatever it was
        return _sized("XML text", text.encode("utf-8", "surrogatepass"), Path.cwd())
    if not isinstance(description, str | PathLike) or isinstance(fspath(description), bytes):
        kind = type(description).__name__
        raise InputTypeError(f"path must be the path of a description such as a URDF file, or XML text, got {kind}")
    file = Path(description)
    try:
        if file.is_dir():
            raise refusal("file-folder", str(file), f"{str(file)!r} is a folder")
        if not file.exists():
            raise FileNotFoundError
        if not file.is_file():  # a pipe would never end
            raise refusal("file-unreadable", str(file), f"{str(file)!r} is not a regular file")
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise refusal("file-missing", str(file), f"there is no file {str(file)!r}") from None
    except OSError as error:
        raise refusal("file-unreadable", str(file)[:200], f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        if hasattr(error, "findings"):
            raise
        raise refusal("file-unreadable", repr(str(file))[:200], f"cannot be read: {error}") from None
    return _sized(str(file), data, file.resolve().parent)


def _sized(name: str, data: bytes, folder: Path) -> Source:
    if len(data) > LARGEST_FILE:
        raise refusal("file-too-large", name, f"is larger than {LARGEST_FILE // 2**20} MB")
    if not data.strip():
        raise refusal("file-empty", name, f"{name!r} is empty")
    return Source(name, data, folder)
