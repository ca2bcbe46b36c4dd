"""Files that users name: one reading of a path, one way of writing that leaves the old file or the new one."""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
import uuid
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

from .errors import InputError, InputTypeError


def path_of(path: Any, name: str = "path") -> Path:
    """The path of a file, however it is given.

    Raises:
        InputError: if no file can be there.
    """
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise InputTypeError(f"{name} must be the path of a file, got {type(path).__name__}")
    text = str(fspath(path))
    if not text or "\0" in text:
        raise InputError(f"{name} must be the path of a file, got {text!r:.60}")
    try:
        Path(path).exists()
    except OSError as error:
        raise InputError(f"{name} must be the path of a file: {error}") from None
    return Path(path)


def write_file(path: Any, content: str | bytes | Callable[[BinaryIO], object], name: str = "path") -> Path:
    """Put a file in the place of what is there; nobody ever sees half of it.

    Args:
        path: Where.
        content: Text, bytes, or what writes to an open file.
        name: What to call the path in complaints.

    Returns:
        The path.

    Raises:
        InputError: if it cannot be written; what was there still is.
    """
    file = path_of(path, name)
    if file.is_dir():
        raise InputError(f"{name}: {str(file)!r} is a folder; name a file in it")
    try:
        place = file.resolve()  # a link goes on leading to the file
        if place.is_symlink():
            raise OSError(errno.ELOOP, "its links lead in a circle")
        if place.exists() and not place.is_file():  # such as /dev/stdout
            with place.open("wb") as stream:
                _fill(stream, content)
            return file
        if place.exists() and not os.access(place, os.W_OK):  # replacing it would go around its permissions
            raise PermissionError(errno.EACCES, "it is write-protected")
        beside = place.with_name(f".{uuid.uuid4().hex}.part")
        try:
            with beside.open("xb") as stream:
                _fill(stream, content)
            if place.exists():
                shutil.copymode(place, beside)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, UnicodeError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: {str(file)!r:.200} cannot be written: {reason}") from None
    return file


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as comma-separated values; floats to the last digit."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _fill(stream: BinaryIO, content: str | bytes | Callable[[BinaryIO], object]) -> None:
    if callable(content):
        content(stream)
    else:
        stream.write(content.encode() if isinstance(content, str) else content)
