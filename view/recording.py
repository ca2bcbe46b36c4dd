"""Recorder: what a view showed, moment by moment, as a page that plays it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..robot import InputError
from ..robot.arrays import scalar
from ..robot.files import write_file
from . import messages
from .course import pace
from .drawing import Moment
from .html import page
from .messages import Message


class Recorder:
    """Moments as they were shown, and when.

    Args:
        build: Gives the messages that build the scene, and its title.
        first: What is shown when it starts.
        clock: Tells the time [s].
    """

    def __init__(
        self,
        build: Callable[[], tuple[list[Message], str]],
        first: Moment,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._build, self._clock = build, clock
        self._moments, self._times = [first], [clock()]

    def __len__(self) -> int:
        return len(self._moments)

    def take(self, now: Moment) -> None:
        """Note a moment."""
        self._moments.append(now)
        self._times.append(self._clock())

    def to_html(self, path: Any = None, *, dt: Any = None, speed: float = 1.0) -> Any:
        """A page that plays what was shown.

        Args:
            path: File to write; None returns the page as text.
            dt: Time between moments [s]; None keeps the times at which they were shown.
            speed: At which it starts to play.
        """
        if len(self) < 2:
            raise InputError("nothing was recorded: call view.update inside the `with`")
        if dt is None:
            times = np.maximum.accumulate(np.array(self._times) - self._times[0]) + 1e-6 * np.arange(len(self))
        else:
            times = scalar(dt, "dt", positive=True) * np.arange(len(self))
        told, title = self._build()
        content = page([*told, messages.film(times, self._moments, speed=pace(speed))], title)
        return content if path is None else write_file(path, content)
