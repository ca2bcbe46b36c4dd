"""Damage in COLLADA meshes on which the library that reads them would never return."""

from __future__ import annotations

from pathlib import Path

from .element_checks import numbers
from .errors import DescriptionError
from .xml_tree import XmlTree

_NUMERIC = ("p", "v", "h", "vcount", "float_array", "int_array", "matrix", "translate", "rotate", "scale")
"""Elements whose text is numbers."""
_COUNTED = ("count", "stride", "offset")
"""Attributes that are whole numbers."""


def require_sound_collada(path: Path) -> None:
    """Refuse a file that is no XML, or has anything but numbers where numbers belong.

    Raises:
        DescriptionError: naming the line.
    """
    tree = XmlTree(path.read_bytes(), str(path))
    for element in tree.root.iter():
        place = f"{path}:{tree.line(element)}: <{element.tag}>"
        text = element.text or ""
        if element.tag in _NUMERIC and numbers(text, len(text.split())) is None:
            raise DescriptionError(f"{place} must hold finite numbers only")
        for key in _COUNTED:
            value = element.get(key)
            if value is not None and not (value.isascii() and value.isdigit()):
                raise DescriptionError(f"{place} must have a whole number as {key}, got {value!r:.40}")
