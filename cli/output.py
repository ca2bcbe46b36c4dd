"""What the commands print: aligned tables, trees with box characters and JSON, each made as one string.

Nothing here uses colour, so that a pipe, a file and a terminal receive the same text.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..robot.arrays import Array

WIDTH = 100
"""Columns of the terminal everything is laid out for."""

_PLAIN = str.maketrans({"─": "-", "│": "|", "├": "|", "└": "`", "∞": "inf", "°": "deg", "…": "~", "²": "^2"})


def emit(text: str) -> None:
    """Writes `text` and a newline to standard output, in plain ASCII where its encoding has no box characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    print(text)


def report(as_json: bool, data: Callable[[], Mapping[str, Any]], text: Callable[[], str]) -> None:
    """Emits what `data` makes as JSON, or what `text` makes as it is."""
    emit(as_json_text(data()) if as_json else text())


def as_json_text(data: Mapping[str, Any]) -> str:
    """Strict JSON with arrays as lists; infinite and undefined numbers, which JSON does not have, become null."""
    return json.dumps(_jsonable(data), indent=2, ensure_ascii=False, allow_nan=False)


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def number(value: float, digits: int = 4) -> str:
    """`value` with `digits` decimals and no negative zero; ∞ where it is infinite, - where it is undefined."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value != 0 and abs(value) >= 1e7:
        return f"{value:.{digits}e}"
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def small(value: float) -> str:
    """An error with three significant digits, `-` where it is undefined."""
    return "-" if math.isnan(value) else f"{value:.3g}"


def numbers(values: Sequence[float] | Array, digits: int = 4) -> str:
    """Several numbers in columns of equal width."""
    return " ".join(f"{number(float(value), digits):>{digits + 4}}" for value in values)


def heading(text: str) -> str:
    """A line that opens a section."""
    return f"── {text} " + "─" * max(0, WIDTH - len(text) - 4)


def fields(pairs: Sequence[tuple[str, str]]) -> str:
    """Lines of name and value, the values starting in one column."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in pairs)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns under their headers: the first `left` ones read from the left, the others align right.

    A text column gives way with an ellipsis where the table would pass `WIDTH`.
    """
    widths = [max(len(text) for text in column) for column in zip(headers, *rows, strict=True)]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        widest = max(range(left), key=lambda column: widths[column])
        if widths[widest] <= 8:
            break
        widths[widest] -= 1
    lines = [_line(row, widths, left) for row in (headers, *rows)]
    return "\n".join([lines[0], "─" * (sum(widths) + 2 * (len(widths) - 1)), *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = []
    for column, (text, width) in enumerate(zip(row, widths, strict=True)):
        shown = shortened(text, width)
        cells.append(shown.ljust(width) if column < left else shown.rjust(width))
    return "  ".join(cells).rstrip()


def shortened(text: str, width: int) -> str:
    """`text`, its end replaced by an ellipsis where it is longer than `width`."""
    return text if len(text) <= width else text[: width - 1] + "…"


def tree(root: str, children: Mapping[str, Sequence[str]], label: Callable[[str], str], *, depth: int = 24) -> str:
    """A tree drawn with box characters, one node a line.

    Args:
        root: Key of the top node.
        children: Keys below each key; a key may be absent.
        label: Text of a node.
        depth: Levels drawn; what lies deeper is counted instead.
    """
    lines = [shortened(label(root), WIDTH)]
    stack = [(key, "", level == 0, 1) for level, key in enumerate(reversed(children.get(root, ())))]
    while stack:
        key, prefix, last, level = stack.pop()
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        inner = list(children.get(key, ()))
        if level >= depth and inner:
            lines.append(f"{prefix}{branch}{_count(key, children)} more below …")
            continue
        lines.append(shortened(prefix + branch + label(key), WIDTH))
        stack.extend((child, prefix + below, i == 0, level + 1) for i, child in enumerate(reversed(inner)))
    return "\n".join(lines)


def _count(key: str, children: Mapping[str, Sequence[str]]) -> int:
    total, queue = 0, [key]
    while queue:
        total += 1
        queue.extend(children.get(queue.pop(), ()))
    return total


def matrix_text(matrix: Array, digits: int = 4) -> str:
    """A matrix between box brackets."""
    rows = [numbers(row, digits) for row in matrix]
    width = max(len(row) for row in rows)
    return "\n".join(f"│ {row:<{width}} │" for row in rows)
