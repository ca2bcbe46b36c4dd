"""MeshcatView: robots in a browser window that meshcat's viewer draws."""

from __future__ import annotations

import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ..robot import InputError
from ..robot.arrays import Array, scalar, vector
from ..robot.errors import unknown_name
from ..robot.files import write_file
from . import messages
from .assemble import Picture, film
from .course import Course, course_of
from .drawing import Moment
from .html import SAMPLES, embedded, page
from .messages import Message
from .recording import Recorder
from .server import LIVE, LOOPBACK, Server


class MeshcatView:
    """A page with robots in it, served on the loopback interface by a thread of this program.

    Nothing here waits for a browser, except `wait` and `image`, which give up after a time. One that comes late, or a
    second one, shows what the first does.

    Args:
        port: To listen on; 0 takes a free one.
        host: To listen on; anything but the default lets other machines look.

    Attributes:
        url: Where a browser finds it.
    """

    def __init__(self, *, port: int = 0, host: str = LOOPBACK) -> None:
        self._pictures: dict[str, Picture] = {}
        self._moments: dict[str, Moment] = {}
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
        name, rate = shown.drawing.name, scalar(speed, "speed", positive=True)
        with self._lock:
            told = self._stopped()
            self._server.send(told)  # refuses when the view is closed, before anything is changed
            told += [{"type": "remove", "path": name}] if name in self._pictures else []
            if not self._server.browsers:
                self._sent.clear()  # nobody has the meshes that were sent
            self._pictures[name] = shown
            self._moments[name] = shown.drawing.at(shown.q)
            told += messages.solids(shown.drawing.solids, self._sent)
            if fit:
                self._camera = messages.camera(self._bounds())
                told.append(self._camera)
            self._server.send([*told, self._now()])
        if shown.course is not None:
            self.play(shown.course, name=name, speed=rate)
        elif self._recorder is not None:
            self._recorder.take(self._all())

    def update(self, q: Any = None, *, name: str | None = None) -> None:
        """Move a robot of the view; the robot's own stored configuration stays as it is.

        Args:
            q: Configuration (nq,) or mapping; None is the robot's stored one.
            name: Which robot, where there are several.
        """
        key, shown = self._picture(name)
        self._move(key, shown.drawing.at(shown.robot._single(q)))

    def _move(self, name: str, now: Moment) -> None:
        with self._lock:
            told = self._stopped()
            self._moments[name] = now
            self._server.send([*told, self._now()])
        if self._recorder is not None:
            self._recorder.take(self._all())

    def remove(self, name: str) -> None:
        """Take a robot, and what was drawn with it, out of the view."""
        key, _ = self._picture(name)
        with self._lock:
            told = self._stopped()
            del self._pictures[key], self._moments[key]
            self._server.send([*told, {"type": "remove", "path": key}])

    def _stopped(self) -> list[Message]:
        """What ends a film that plays; it is forgotten."""
        told: list[Message] = [] if self._film is None else [{"type": "stop"}]
        self._film = None
        return told

    @property
    def names(self) -> list[str]:
        """What is shown."""
        return list(self._pictures)

    def _picture(self, name: str | None) -> tuple[str, Picture]:
        if not self._pictures:
            raise InputError("the view shows nothing yet; robot.visualize(view) puts a robot into it")
        if name is None:
            if len(self._pictures) > 1:
                raise InputError(f"name is required, the view shows several robots: {', '.join(self._pictures)}")
            name = next(iter(self._pictures))
        if name not in self._pictures:
            raise unknown_name("robot in the view", name, self._pictures)
        return name, self._pictures[name]

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
        """Play a trajectory in the browser, with a time slider; it repeats until something else is shown.

        Args:
            trajectory: With `t` and `q`, an array (N, nq), or a file.
            dt: Time between the rows of an array [s].
            speed: Seconds of the trajectory per second.
            name: Which robot, where there are several.
            wait: Return only after it was played once.
        """
        key, shown = self._picture(name)
        rate = scalar(speed, "speed", positive=True)
        course = trajectory if isinstance(trajectory, Course) else course_of(shown.robot, trajectory, dt)
        kept = course.thinned(SAMPLES)
        moments = film(shown.drawing, kept)
        with self._lock:
            self._moments[key] = moments[-1]
            self._film = messages.film(kept.t, moments, speed=rate)
            self._server.send([self._film])
        if wait:
            time.sleep(float(kept.t[-1]) / rate)

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
        recorder = self._recorder = Recorder(self._build, self._all())
        try:
            yield recorder
        finally:
            self._recorder = None

    def _build(self) -> tuple[list[Message], str]:
        with self._lock:
            return [*self._solids(), *self._cameras()], ", ".join(self._pictures)

    # Looking

    def camera(self, eye: Any = None, target: Any = None) -> None:
        """Put the camera at `eye` (3,), looking at `target` (3,), in the world [m]; without them, see everything.

        Args:
            eye: Where it stands; None finds a place from which everything is seen.
            target: Where it looks; None is the middle of what is shown.
        """
        bounds = self._bounds()
        middle = bounds.mean(axis=0) if target is None else vector(target, 3, "target")
        if eye is None:
            told = messages.camera(bounds + (middle - bounds.mean(axis=0)))
        else:
            at = vector(eye, 3, "eye")
            if np.linalg.norm(at - middle) < 1e-6:
                raise InputError("eye must not be where the camera looks at")
            told = messages.looking(at, middle)
        with self._lock:
            self._camera = told
            self._server.send([told])

    def _bounds(self) -> Array:
        boxes = [shown.bounds for shown in self._pictures.values()]
        if not boxes:
            return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
        return np.array([np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)])

    def open(self) -> Self:
        """Open the page in a browser of this machine."""
        webbrowser.open(self.url, new=2)
        return self

    def wait(self, timeout: float = 10.0) -> None:
        """Wait until a browser looks on; NoBrowserError with advice after `timeout` seconds."""
        self._server.wait(scalar(timeout, "timeout", minimum=0.0))

    def image(self, path: Any = None, timeout: float = 10.0) -> Any:
        """What the browser shows, as PNG: the bytes, or the path written."""
        data = self._server.image(scalar(timeout, "timeout", positive=True))
        if path is None:
            return data
        return write_file(path, data)

    @property
    def browsers(self) -> int:
        """Number of browsers that look on now."""
        return self._server.browsers

    # Keeping

    def to_html(self, path: Any = None) -> Any:
        """What is shown now as a page that needs no server; the path written, or the text."""
        with self._lock:
            content = page(self._everything(), ", ".join(self._pictures) or "knuckle")
        return content if path is None else write_file(path, content)

    def _repr_html_(self) -> str:
        """In a notebook: the page itself, so that it is seen wherever the notebook is."""
        return embedded(self.to_html())

    def _everything(self) -> list[Message]:
        with self._lock:
            told = [*self._solids(), *self._cameras(), self._now()]
            return told if self._film is None else [*told, self._film]

    def _solids(self) -> list[Message]:
        known: set[str] = set()
        return [one for shown in self._pictures.values() for one in messages.solids(shown.drawing.solids, known)]

    def _cameras(self) -> list[Message]:
        return [] if self._camera is None else [self._camera]

    def _all(self) -> Moment:
        poses = {path: pose for one in self._moments.values() for path, pose in one.poses.items()}
        return Moment(poses, {path: colour for one in self._moments.values() for path, colour in one.marks.items()})

    def _now(self) -> Message:
        return messages.moment(self._all())

    # Ending

    def close(self) -> None:
        """Stop serving; what a browser shows stays, but moves no more."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<MeshcatView at {self.url}: {', '.join(self._pictures) or 'empty'}>"
