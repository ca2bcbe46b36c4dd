"""A page served from inside the program: one thread, one listener on the loopback interface, gone with the program."""

from __future__ import annotations

import asyncio
import base64
import errno
import itertools
import json
import logging
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ..robot import InputError, InputTypeError, MissingDependencyError
from ..robot.errors import NoBrowserError
from .messages import Message, text

_log = logging.getLogger(__name__)

LIVE = "knuckle.connect(`${location.protocol.replace('http', 'ws')}//${location.host}/socket`);"
"""What starts a page that is moved by a server."""
LOOPBACK = "127.0.0.1"
_PATIENCE = 10.0
"""Seconds that anything inside the program may take."""


class Server:
    """Serves a page and keeps it up to date; a browser that comes late is told everything first.

    Args:
        page: What is served.
        greeting: The messages that bring a new browser up to date.
        port: To listen on; 0 takes a free one.
        host: To listen on; anything but the loopback interface lets other machines look, and has to be wanted.
    """

    def __init__(
        self, page: str, greeting: Callable[[], Iterable[Message]], *, port: int = 0, host: str = LOOPBACK
    ) -> None:
        self._page, self._greeting = page, greeting
        self._listener = listener(host, port)
        self._process = os.getpid()
        at = self._listener.getsockname()
        self.is_local = at[0] in ("127.0.0.1", "::1")
        """Whether only this machine can ask."""
        self.url = address(host, at[1])
        self._sockets: set[Any] = set()
        self._connected = threading.Event()
        self._images: dict[int, asyncio.Future[bytes]] = {}
        self._numbers = itertools.count()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="knuckle-view", daemon=True)
        self._thread.start()
        try:
            self._run(self._serve())
        except BaseException:
            self.close()
            raise

    async def _serve(self) -> None:
        try:
            from .handlers import application  # tornado is imported by the first server, not with the package
        except ImportError as error:
            raise MissingDependencyError(f"a page is served by tornado: pip install tornado ({error})") from error
        self._http = application(self)
        self._http.add_sockets([self._listener])

    def _run(self, work: Awaitable[Any], timeout: float = _PATIENCE) -> Any:
        async def done() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(timeout)

    @property
    def browsers(self) -> int:
        """Number of browsers that look on now."""
        return len(self._sockets)

    def send(self, messages: Iterable[Message]) -> None:
        """Tell all browsers; without one nothing happens."""
        self._require_open()
        if self._sockets:
            self._loop.call_soon_threadsafe(self._write, text(messages))

    def _require_open(self) -> None:
        if self._closed:
            raise InputError("the view is closed; open a new one")
        if self._process != os.getpid():
            raise InputError("the view belongs to the process that opened it, which was forked; open a new one here")

    def _write(self, content: str) -> None:
        for one in tuple(self._sockets):
            one.tell(content)

    def wait(self, timeout: float = _PATIENCE) -> None:
        """Wait until a browser looks on.

        Raises:
            NoBrowserError: after `timeout` seconds without one.
        """
        self._require_open()
        if not self._connected.wait(timeout):
            raise NoBrowserError(
                f"no browser opened {self.url} within {timeout:g} s; open it by hand (from another machine through "
                f"ssh -L), or write a page with to_html, which needs no server"
            )

    def image(self, timeout: float = _PATIENCE) -> bytes:
        """What a browser shows, as PNG.

        Raises:
            NoBrowserError: if there is none, or it does not answer in time.
        """
        self.wait(timeout)
        try:
            return bytes(self._run(self._image(timeout), timeout + 1.0))
        except TimeoutError:
            raise NoBrowserError(
                f"the browser at {self.url} sent no picture within {timeout:g} s; bring its window to the front"
            ) from None

    async def _image(self, timeout: float) -> bytes:
        number = next(self._numbers)
        answer = self._images[number] = self._loop.create_future()
        for one in tuple(self._sockets)[:1]:
            one.tell(text([{"type": "image", "number": number}]))
        try:
            return await asyncio.wait_for(answer, timeout)
        finally:
            del self._images[number]

    # Called by the handlers, in the thread of the loop

    @property
    def page(self) -> str:
        """What is served."""
        return self._page

    def joined(self, browser: Any) -> None:
        """A browser opened its socket."""
        self._sockets.add(browser)  # first: what is sent meanwhile is written after the greeting, not lost
        browser.tell(text(self._greeting()))
        self._connected.set()

    def left(self, browser: Any) -> None:
        """A browser went away."""
        self._sockets.discard(browser)
        if not self._sockets:
            self._connected.clear()

    def answered(self, content: str | bytes) -> None:
        """A browser said something."""
        try:
            answer = json.loads(content)
            waiting = self._images.get(int(answer["number"]))
            picture = base64.b64decode(str(answer["data"]).partition(",")[2])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            _log.warning("a browser sent what is no answer: %.80r", content)
            return
        if waiting is not None and not waiting.done():
            waiting.set_result(picture)

    def close(self) -> None:
        """Stop serving; browsers keep what they show."""
        if self._closed:
            return
        self._closed = True
        if self._process != os.getpid():  # the thread that serves is not in this process
            self._listener.close()
            return
        try:
            self._run(self._shut())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_PATIENCE)
            if not self._thread.is_alive():
                self._loop.close()

    async def _shut(self) -> None:
        for one in tuple(self._sockets):
            one.close()
        self._sockets.clear()
        self._connected.clear()
        if hasattr(self, "_http"):
            self._http.stop()
            await self._http.close_all_connections()
        self._listener.close()


def listener(host: Any, port: Any, tries: int = 1) -> socket.socket:
    """A socket that listens.

    Args:
        host: A name or address of this machine.
        port: 0 takes a free one.
        tries: Ports from this one on that are tried where somebody has it.

    Raises:
        InputError: if none can be had.
    """
    if not isinstance(host, str):
        raise InputTypeError(f"host must be a name or address of this machine, got {type(host).__name__}")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise InputError(f"port must be a whole number from 0 to 65535, got {port!r}; 0 takes a free port")
    try:
        host.encode("idna")
    except UnicodeError as error:
        raise InputError(f"host must be a name or address of this machine, got {host!r:.60} ({error})") from None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason: object = None
    for one in range(port, min(port + tries, 65536)):
        try:
            opened = socket.create_server((host, one), family=family)
            opened.setblocking(False)
            return opened
        except OSError as error:
            reason = error.strerror
            if error.errno != errno.EADDRINUSE:
                break
    raise InputError(f"port: cannot listen on {host:.60}:{port} ({reason}); 0 takes a free port")


def address(host: str, port: int) -> str:
    """Where a browser of this machine finds what listens there."""
    name = {"": LOOPBACK, "0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
