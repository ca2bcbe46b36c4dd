"""Seeing robots: a live page, self-contained pages, notebooks. One description of what is drawn, several backends."""

from __future__ import annotations

from typing import Any

from .drawing import Drawing, Moment, Solid
from .exploring import Explorer
from .html import Page, inline, to_html
from .meshcat_view import MeshcatView
from .showing import show

__all__ = [
    "Drawing",
    "Explorer",
    "MeshcatView",
    "Moment",
    "Page",
    "Solid",
    "explore",
    "inline",
    "live",
    "show",
    "to_html",
]


def explore(robot: Any, **options: Any) -> Any:
    """Sliders in a notebook, see `knuckle.view.jupyter.explore`; needs the extra `jupyter`."""
    from .jupyter import explore as explore_in_notebook

    return explore_in_notebook(robot, **options)


def live(robot: Any, **options: Any) -> Any:
    """A window with a target to drag, see `knuckle.view.viser_view.live`; needs the extra `live`."""
    from .viser_view import live as live_window

    return live_window(robot, **options)
