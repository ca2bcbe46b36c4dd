"""Seeing robots: a live page, self-contained pages, notebooks. One description of what is drawn, several backends."""

from __future__ import annotations

from .drawing import Drawing, Moment, Solid
from .html import to_html
from .meshcat_view import MeshcatView
from .showing import show

__all__ = ["Drawing", "MeshcatView", "Moment", "Solid", "show", "to_html"]
