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
    """Sliders for a robot in a notebook; the last expression of a cell shows them. Needs the extra `jupyter`.

    Args:
        robot: The robot; it is not moved.
        **options: `q` to start from, `height` of the drawing in pixels, and what is drawn, see `knuckle.view.show`:
            task, frames, layers, contacts, ...
    """
    from .jupyter import explore as explore_in_notebook

    return explore_in_notebook(robot, **options)


def live(robot: Any, **options: Any) -> Any:
    """A window with sliders, a target to drag, and playback of a trajectory. Needs the extra `live`.

    Args:
        robot: The robot; it is not moved.
        **options: `q` to start from, `port` (8080 or the next free one) and `host` (the loopback interface) to listen
            on, and what is drawn, see `knuckle.view.show`: task, frames, layers, trajectory, ...
    """
    from .viser_view import live as live_window

    return live_window(robot, **options)
