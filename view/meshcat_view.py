"""MeshcatView: robots in a browser window that meshcat's viewer draws."""

from __future__ import annotations

import threading
import time
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ..robot import InputError
from ..robot.arrays import LONGEST, flag, seconds, vector
from ..robot.files import path_of, write_file
from . import messages
from .assemble import Picture
from .course import Course, course_of, pace
from .drawing import Moment
from .html import SAMPLES, embedded, page
from .messages import Message
from .recording import Recorder
from .server import LIVE, LOOPBACK, Server
from .stage import Stage

FARTHEST = 1e6
"""Farthest that a camera looks [m]."""


class MeshcatView:
    """A page with robots in it, served on the loopback interface by a thread of this program.

    Nothing here waits for a browser, except `wait` and `image`, which give up after a time. One that comes late, or a
    second one, shows what the first does.

    Args:
        port: To listen on; 0 takes a free one.
        host: To listen on; anything but this machine's own names lets other machines look.

    Attributes:
        url: Where a browser finds it.
    """

    def __init__(self, *, port: int = 0, host: str = LOOPBACK) -> None:
        self._stage = Stage()
        self._camera: Message | None = None
        self._film: Message | None = None
        self._sent: set[str] = set()
        self._lock = threading.RLock()
        self._recorder: Recorder | None = None
        self._server = Server(page([], "knuckle", LIVE), self._everything, port=port, host=host)
        self.url = self._server.url

    # What is shown

    def show(self, shown: Picture, *, fit: bool = True, speed: float = 1.0) -> None:
        """Show a picture, in place of an earlier one of the same name.

        Args:
            shown: What to show.
            fit: Move the camera to where it sees all of it.
            speed: At which a trajectory plays.
        """
        name, rate = shown.drawing.name, pace(speed)
        with self._lock:
            self._stage.refuse_namesake(shown)
            told = self._stopped()
            self._server.send(told)  # refuses when the view is closed, before anything is changed
            told += [{"type": "remove", "path": name}] if self._stage.put(shown) else []
            if not self._server.browsers:
                self._sent.clear()  # nobody has the meshes that were sent
            told += messages.solids(shown.drawing.solids, self._sent)
            if fit:
                self._camera = messages.camera(self._stage.bounds())
                told.append(self._camera)
            self._server.send([*told, self._now()])
        if shown.course is not None:
            self.play(shown.course, name=name, speed=rate)
        else:
            self._note()

    def update(self, q: Any = None, *, name: str | None = None) -> None:
        """Move a robot of the view; the robot's own stored configuration stays as it is.

        Args:
            q: Configuration (nq,) or mapping; None is the robot's stored one.
            name: Which robot, where there are several.
        """
        key, shown = self._find(name)
        with self._lock:
            now = self._current(key).at(shown.robot._single(q))
            told = self._stopped()
            self._stage.move(key, now)
            self._server.send([*told, self._now()])
        self._note()

    def _find(self, name: Any) -> tuple[str, Picture]:
        with self._lock:  # others may put robots in and take them out meanwhile
            return self._stage.find(name)

    def _current(self, name: str) -> Picture:
        """The picture of that name, drawn anew if its robot was changed, for example by something attached to it."""
        shown = self._stage.find(name)[1]
        if not shown.is_current:
            self.show(shown.anew(), fit=False)
        return self._stage.find(name)[1]

    def _note(self) -> None:
        with self._lock:
            if self._recorder is not None:
                self._recorder.take(self._stage.now())

    def remove(self, name: str) -> None:
        """Take a robot, and what was drawn with it, out of the view."""
        with self._lock:
            key, _ = self._stage.find(name)
            told = self._stopped()
            self._stage.remove(key)
            self._server.send([*told, {"type": "remove", "path": key}])

    def _stopped(self) -> list[Message]:
        """What ends a film that plays; it is forgotten."""
        told: list[Message] = [] if self._film is None else [{"type": "stop"}]
        self._film = None
        return told

    @property
    def names(self) -> list[str]:
        """What is shown."""
        with self._lock:
            return self._stage.names

    # Time

    def play(
        self,
        trajectory: Any,
        *,
        dt: Any = None,
        speed: float = 1.0,
        name: str | None = None,
        wait: bool = False,
    ) -> None:
        """Play a trajectory in the browser, with a time slider; it repeats until something else is shown or played.

        Args:
            trajectory: With `t` and `q`, an array (N, nq), or a file.
            dt: Time between the rows of an array [s].
            speed: Seconds of the trajectory per second.
            name: Which robot, where there are several.
            wait: Return only after it was played once.
        """
        key, shown = self._find(name)
        rate, waits = pace(speed), flag(wait, "wait")
        course = trajectory if isinstance(trajectory, Course) else course_of(shown.robot, trajectory, dt)
        kept = course.thinned(SAMPLES)
        with self._lock:
            moments = self._current(key).film(kept)
            told = self._stopped()
            self._stage.move(key, moments[-1])
            others = self._stage.now(but=key).marks  # what touches elsewhere goes on being shown
            marked = [Moment(one.poses, {**others, **one.marks}) for one in moments]
            self._film = messages.film(kept.t, marked, speed=rate)
            self._server.send([*told, self._now(), self._film])
        if waits:
            time.sleep(min(float(kept.t[-1]) / rate, LONGEST))

    @contextmanager
    def record(self) -> Iterator[Recorder]:
        """Record what `update` shows inside the `with`; the result is written by its `to_html`.

        >>> with view.record() as recorder:  # doctest: +SKIP
        ...     for q in path:
        ...         view.update(q)
        >>> recorder.to_html("run.html", dt=0.02)  # doctest: +SKIP
        """
        if self._recorder is not None:
            raise InputError("the view is recording already; leave that `with` first")
        with self._lock:
            recorder = self._recorder = Recorder(self._build, self._stage.now())
        try:
            yield recorder
        finally:
            self._recorder = None

    def _build(self) -> tuple[list[Message], str]:
        with self._lock:
            return [*self._stage.solids(), *self._cameras()], str(self._stage)

    # Looking

    def camera(self, eye: Any = None, target: Any = None) -> None:
        """Put the camera at `eye` (3,), looking at `target` (3,), in the world [m]; without them, see everything.

        Args:
            eye: Where it stands; None finds a place from which everything is seen.
            target: Where it looks; None is the middle of what is shown.
        """
        with self._lock:
            for name in self.names:
                self._current(name)
            bounds = self._stage.bounds()
        middle = bounds.mean(axis=0) if target is None else vector(target, 3, "target")
        if eye is None:
            told = messages.camera(bounds + (middle - bounds.mean(axis=0)))
        else:
            at = vector(eye, 3, "eye")
            if not 1e-6 <= np.abs(at - middle).max() <= FARTHEST:
                raise InputError(f"eye must be 1e-6 m to {FARTHEST:g} m from what the camera looks at, {middle}")
            told = messages.looking(at, middle)
        with self._lock:
            self._camera = told
            self._server.send([told])

    def open(self) -> Self:
        """Open the page in a browser of this machine."""
        if not webbrowser.open(self.url, new=2):
            warnings.warn(f"no browser could be started here; open {self.url} in one", RuntimeWarning, stacklevel=2)
        return self

    def wait(self, timeout: float = 10.0) -> None:
        """Wait until a browser looks on; NoBrowserError with advice after `timeout` seconds."""
        self._server.wait(seconds(timeout, "timeout"))

    def image(self, path: Any = None, timeout: float = 10.0) -> Any:
        """What the browser shows, as PNG: the bytes, or the path written."""
        file = None if path is None else path_of(path)
        data = self._server.image(seconds(timeout, "timeout"))
        return data if file is None else write_file(file, data)

    @property
    def browsers(self) -> int:
        """Number of browsers that look on now."""
        return self._server.browsers

    # Keeping

    def to_html(self, path: Any = None) -> Any:
        """What is shown now as a page that needs no server; the path written, or the text."""
        with self._lock:
            content = page(self._everything(), str(self._stage) or "knuckle")
        return content if path is None else write_file(path, content)

    def _repr_html_(self) -> str:
        """In a notebook: the page itself, so that it is seen wherever the notebook is."""
        return embedded(self.to_html())

    def _everything(self) -> list[Message]:
        with self._lock:
            told = [*self._stage.solids(), *self._cameras(), self._now()]
            return told if self._film is None else [*told, self._film]

    def _cameras(self) -> list[Message]:
        return [] if self._camera is None else [self._camera]

    def _now(self) -> Message:
        return messages.moment(self._stage.now())

    # Ending

    def close(self) -> None:
        """Stop serving; what a browser shows stays, but moves no more."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<MeshcatView at {self.url}: {', '.join(self.names) or 'empty'}>"
