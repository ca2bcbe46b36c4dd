"""Stage: the pictures that stand together in one view, and where everything in them is now."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..robot import InputError
from ..robot.arrays import Array
from ..robot.errors import unknown_name
from . import messages
from .assemble import Picture
from .drawing import NOTHING, Moment, clean
from .messages import Message


class Stage:
    """Pictures by name, in the order in which they came."""

    def __init__(self) -> None:
        self._pictures: dict[str, Picture] = {}
        self._moments: dict[str, Moment] = {}

    @property
    def names(self) -> list[str]:
        """What stands there."""
        return list(self._pictures)

    def find(self, name: Any = None) -> tuple[str, Picture]:
        """The picture of that name, however it was spelt, or the only one; with its name here."""
        if not self._pictures:
            raise InputError("the view shows nothing yet; robot.visualize(view) puts a robot into it")
        if name is None:
            if len(self._pictures) > 1:
                raise InputError(f"name is required, the view shows several robots: {', '.join(self._pictures)}")
            name = next(iter(self._pictures))
        key = clean(name) if isinstance(name, str) else ""
        if key not in self._pictures:
            raise unknown_name("robot in the view", name, self._pictures)
        return key, self._pictures[key]

    def refuse_namesake(self, shown: Picture) -> None:
        """Another robot takes the place of one only where somebody said so by giving its name."""
        name = shown.drawing.name
        before = self._pictures.get(name)
        if before is not None and before.robot is not shown.robot and shown.asked["name"] is None:
            raise InputError(
                f"name: the view shows another robot called {name!r} already; give name='...', or this very name to "
                "take its place"
            )

    def put(self, shown: Picture) -> bool:
        """Take a picture up; whether it took the place of another."""
        name = shown.drawing.name
        replaced, now = name in self._pictures, shown.at(shown.q)
        self._pictures[name], self._moments[name] = shown, now
        return replaced

    def move(self, name: str, now: Moment) -> None:
        """Say where everything of one picture is."""
        self._moments[name] = now

    def remove(self, name: str) -> None:
        """Take a picture away."""
        del self._pictures[name], self._moments[name]

    def now(self, but: str = "") -> Moment:
        """Where everything is; what belongs to the picture `but` is left out."""
        moments = [one for name, one in self._moments.items() if name != but]
        poses = {path: pose for one in moments for path, pose in one.poses.items()}
        return Moment(poses, {path: colour for one in moments for path, colour in one.marks.items()})

    def solids(self) -> list[Message]:
        """What builds everything in a browser that knows nothing yet."""
        known: set[str] = set()
        return [one for shown in self._pictures.values() for one in messages.solids(shown.drawing.solids, known)]

    def bounds(self) -> Array:
        """The box (2, 3) [m] around everything: as it is now, as it was at first, and along what is played."""
        boxes = [shown.drawing.bounds(self._moments[name]) for name, shown in self._pictures.items()]
        boxes += [shown.bounds for shown in self._pictures.values() if shown.is_current]
        if not boxes:
            return NOTHING
        return np.array([np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)])

    def __str__(self) -> str:
        return ", ".join(self._pictures)
