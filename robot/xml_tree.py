"""XML without its dangers: no entities, no external references, bounded depth; every element knows its line."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from xml.parsers import expat

from .errors import DescriptionError
from .findings import Suggestions, refusal

DEEPEST = 100
"""Elements inside one another that are still read; robot descriptions have about six."""


class XmlTree:
    """The elements of a document.

    Attributes:
        root: The outermost element.
        source: What the document is called in messages.
        names: Suggests names for those that do not exist.
    """

    def __init__(self, data: bytes, source: str) -> None:
        self.source, self.names = source, Suggestions()
        self._lines: dict[ET.Element, int] = {}
        self.root = self._read(data)

    def line(self, element: ET.Element) -> int:
        """Line on which an element starts, counted from 1; 0 if it was made later."""
        return self._lines.get(element, 0)

    def _read(self, data: bytes) -> ET.Element:
        builder = ET.TreeBuilder()
        parser = expat.ParserCreate()
        parser.buffer_text = True
        still_open: list[tuple[str, int]] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            still_open.append((tag, parser.CurrentLineNumber))
            if len(still_open) > DEEPEST:
                raise refusal(
                    "xml-too-deep", self.source, f"elements more than {DEEPEST} deep", parser.CurrentLineNumber
                )
            self._lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

        def end(tag: str) -> None:
            still_open.pop()
            builder.end(tag)

        def entity(*_: object) -> None:
            raise refusal("xml-entity", self.source, "entity declarations are refused", parser.CurrentLineNumber)

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = builder.data
        parser.EntityDeclHandler = entity
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            if still_open:
                tag, line = still_open[-1]
                what += f"; <{tag[:60]}> of line {line} is still open"
            raise refusal("xml-malformed", self.source, f"not well-formed XML: {what}", error.lineno) from None
        except (ValueError, LookupError) as error:  # an encoding nobody knows
            if isinstance(error, DescriptionError):
                raise
            raise refusal("xml-encoding", self.source, f"cannot be decoded: {error}") from None
        return builder.close()
