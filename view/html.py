"""Pages that show a drawing without server and without network: one file holds everything."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..robot import MissingDependencyError
from ..robot.arrays import whole
from ..robot.files import write_file
from .assemble import Picture, picture
from .course import pace
from .messages import Message, camera, film, moment, solids, text

SAMPLES = 600
"""Samples of a trajectory that a page keeps; it interpolates between them."""
STATIC = "knuckle.handle(JSON.parse(document.getElementById('scene').textContent), () => {});"
"""What starts a page that holds its scene."""


@cache
def meshcat_script() -> str:
    """The viewer that meshcat ships, three.js included; the package itself is not imported.

    Raises:
        MissingDependencyError: if meshcat is not installed.
    """
    spec = find_spec("meshcat")
    for folder in (spec and spec.submodule_search_locations) or ():
        script = Path(folder) / "viewer" / "dist" / "main.min.js"
        if script.is_file():
            return script.read_text(encoding="utf-8").replace("</script", "<\\/script")
    raise MissingDependencyError("drawing needs meshcat and its viewer: pip install meshcat")


def page(messages: Iterable[Message], title: str, start: str = STATIC) -> str:
    """A page of its own.

    Args:
        messages: What it shows when it opens.
        title: Of the window.
        start: Script that is run last.
    """
    room = files(__package__)
    filled = room.joinpath("page.html").read_text(encoding="utf-8")
    values = {
        "__TITLE__": html.escape(title),
        "__PAGE__": room.joinpath("page.js").read_text(encoding="utf-8"),
        "__START__": start,
        "__MESHCAT__": meshcat_script(),
        "__SCENE__": text(messages),
    }
    # in one go: what is put in is never searched for other places
    return re.sub("|".join(values), lambda place: values[place[0]], filled)


def scene(shown: Picture, speed: float = 1.0) -> list[Message]:
    """All messages that make a picture."""
    messages = solids(shown.drawing.solids, set())
    messages += [camera(shown.bounds), moment(shown.at(shown.q))]
    if shown.course is not None:
        kept = shown.course.thinned(SAMPLES)
        messages.append(film(kept.t, shown.film(kept), speed=speed))
    return messages


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Page:
    """A page as a value: the last line of a notebook cell shows it, `save` writes it.

    Attributes:
        content: The page.
        height: In a notebook, in pixels.
    """

    content: str
    height: int = 480

    def save(self, path: Any) -> Path:
        """Write it to a file."""
        return write_file(path, self.content)

    def __repr__(self) -> str:
        return f"<Page of {len(self.content) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        return embedded(self.content, self.height)


def inline(robot: Any, *, height: int = 480, **options: Any) -> Page:
    """A drawing for the output of a notebook cell, self-contained: it stays when the notebook is passed on.

    Args:
        robot: The robot.
        height: In pixels.
        **options: As in `to_html`.
    """
    return Page(to_html(robot, **options), height)


def to_html(robot: Any, path: Any = None, *, speed: float = 1.0, **options: Any) -> Any:
    """A page that shows a robot, self-contained: it opens from disk and asks for nothing.

    Args:
        robot: The robot.
        path: File to write; None returns the page as text.
        speed: At which a trajectory starts to play.
        **options: As in `knuckle.view.show`: q, frames, layers, task, contacts, ghosts, trajectory, target, ...

    Returns:
        The path written, or the text.
    """
    rate = pace(speed)
    shown = picture(robot, **options)
    content = page(scene(shown, rate), f"{shown.drawing.name} - knuckle")
    return content if path is None else write_file(path, content)


def embedded(content: str, height: int = 480) -> str:
    """A page inside another, such as the output of a notebook cell."""
    source, height = html.escape(content, quote=True), whole(height, "height")
    return (
        f'<iframe srcdoc="{source}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {height}px; border: none"></iframe>'
    )
