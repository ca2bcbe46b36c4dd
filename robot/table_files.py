"""CSV files of numbers under a header, read a block at a time, with the line and column of every error."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .arrays import Array
from .errors import InputError

MOST_NUMBERS = 50_000_000
"""Numbers a file may hold: 400 MB of memory. Larger files are refused, to be cut or thinned out."""
MOST_BYTES = 24 * MOST_NUMBERS
_BLOCK = 20_000
_TIME = re.compile(r"t|secs?|seconds?|(time|timestamps?|stamp|clock)([ _.\[(/].*)?", re.IGNORECASE)
"""What a column of times may be called that is not called time."""
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Numbers under a header."""

    columns: list[str]
    values: Array
    """(N, columns)."""
    lines: list[int]
    """Line of the file each row stands on, the first is 1."""
    where: str
    """File and line of the header, for errors."""


def require_readable(path: Path) -> None:
    """Refuses what is no file, empty or too large."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from None
    if not path.is_file():
        raise InputError(f"{str(path)!r} is no file")
    if size == 0:
        raise InputError(f"{str(path)!r} is empty")
    if size > MOST_BYTES:
        raise InputError(f"{str(path)!r} has {size} bytes, {MOST_BYTES} at most; cut it or thin it out")


def read_table(path: Path, needed: tuple[str, ...], also: tuple[str, ...] | None = None) -> Table:
    """A CSV file; commas, semicolons or tabs between cells, lines that start with # and empty lines are skipped.

    Args:
        path: The file.
        needed: Columns that must be there.
        also: Further columns that are read, whatever the others hold; None reads all.

    Raises:
        InputError: naming the line and the column.
    """
    require_readable(path)
    try:
        with path.open(encoding="utf-8-sig", newline=None) as stream:
            lines = ((n, line.strip()) for n, line in enumerate(stream, start=1))
            content = ((n, line) for n, line in lines if line and not line.startswith("#"))
            return _table(content, needed, also, str(path))
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from None


def _table(
    content: Iterator[tuple[int, str]], needed: tuple[str, ...], also: tuple[str, ...] | None, file: str
) -> Table:
    number, header = next(content, (0, ""))
    if not header:
        raise InputError(f"{file!r} holds no header; its first line must name the columns: {', '.join(needed)}, ...")
    separator = next((mark for mark in ";\t" if mark in header), ",")
    columns = [cell.strip().strip('"') for cell in header.split(separator)]
    where = f"{file!r}, line {number}"
    _require_header(columns, needed, where)
    read = [k for k, name in enumerate(columns) if also is None or name in (*needed, *also)]
    values, rows = _numbers(content, columns, read, separator, file)
    return Table([columns[k] for k in read], values, rows, where)


def _require_header(columns: list[str], needed: tuple[str, ...], where: str) -> None:
    if all(is_number(cell) for cell in columns):
        raise InputError(f"{where}: the first line must be a header that names the columns: {', '.join(needed)}, ...")
    seen: set[str] = set()
    for k, name in enumerate(columns, start=1):
        if not name:
            raise InputError(f"{where}: column {k} has no name")
        if name in seen:
            raise InputError(f"{where}: column {k} {name!r} stands twice")
        seen.add(name)
    for name in needed:
        if name not in columns:
            alike = next(filter(_TIME.fullmatch, columns), None)
            remedy = f"; give {alike!r} that name, in seconds" if name == "time" and alike else ""
            raise InputError(f"{where}: there is no column {name!r} among {', '.join(map(repr, columns[:20]))}{remedy}")


def _numbers(
    content: Iterator[tuple[int, str]], columns: list[str], read: list[int], separator: str, file: str
) -> tuple[Array, list[int]]:
    """All numbers (N, read) and the line each row stands on; a block of lines at a time."""
    blocks: list[Array] = []
    rows: list[int] = []
    while True:
        block = [pair for pair, _ in zip(content, range(_BLOCK), strict=False)]
        if not block:
            break
        blocks.append(_block(block, columns, read, separator, file))
        rows += [n for n, _ in block]
        if len(rows) * len(read) > MOST_NUMBERS:
            raise InputError(f"{file!r} holds more than {MOST_NUMBERS} numbers; cut it or thin it out")
    return (np.vstack(blocks) if blocks else np.zeros((0, len(read)))), rows


def _block(block: list[tuple[int, str]], columns: list[str], read: list[int], separator: str, file: str) -> Array:
    try:
        lines = [line for _, line in block]
        values = np.loadtxt(lines, delimiter=separator, ndmin=2, comments=None, usecols=read)
        if all(line.count(separator) == len(columns) - 1 for line in lines) and np.isfinite(values).all():
            return np.asarray(values, dtype=np.float64)
    except ValueError:
        pass
    for n, line in block:  # something is wrong: find it
        cells = line.split(separator)
        if len(cells) != len(columns):
            raise InputError(f"{file!r}, line {n} has {len(cells)} cells; the header names {len(columns)} columns")
        for name, cell in ((columns[k], cells[k]) for k in read):
            if not is_number(cell) or not math.isfinite(float(cell)):
                got = "is empty" if not cell.strip() else f"must be a finite number, got {cell.strip()[:40]!r}"
                if _DECIMAL_COMMA.fullmatch(cell.strip()):
                    got += "; write a decimal point"
                raise InputError(f"{file!r}, line {n}, column {name!r} {got}")
    return np.array([[float(line.split(separator)[k]) for k in read] for _, line in block])


def is_number(cell: str) -> bool:
    """Whether a cell can be read as a number, infinite or undefined ones included."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
