"""PLY files whose header promises more than the file holds: readers allocate and wait for what never comes."""

from __future__ import annotations

from pathlib import Path

_LONGEST = 2**16
"""Bytes of a header that are still read."""


def ply_fault(path: Path) -> str | None:
    """What is wrong with a PLY file's header, None if its counts may be right."""
    with path.open("rb") as stream:
        head = stream.read(_LONGEST)
    end = head.find(b"end_header")
    if not head.startswith(b"ply") or end < 0:
        return "its header is no PLY header"
    rest, promised = path.stat().st_size - end, 0
    name, count = "", 0
    for line in head[:end].decode("ascii", "replace").splitlines():
        words = line.split()
        if words[:1] == ["element"]:
            if len(words) != 3 or not words[2].isdecimal() or not words[2].isascii():
                return f"its header has no count in {line.strip()!r:.60}"
            name, count = words[1], int(words[2])
        elif words[:1] == ["property"]:
            promised += count  # a byte a number at the least
            if promised > rest:
                return f"its header promises {count} of {name!r:.40}, more than the file holds"
    return None
