"""The two addresses of a server: the page and its socket."""

from __future__ import annotations

import logging
from typing import Any

import tornado.httpserver
import tornado.web
import tornado.websocket

LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]")


def _refuse_other_names(handler: tornado.web.RequestHandler, server: Any) -> None:
    """A page of the internet whose name was made to mean this machine asks under that name; nobody else does."""
    name = handler.request.host_name
    if server.is_local and name not in LOCAL and not name.endswith(".localhost"):
        raise tornado.web.HTTPError(403, "this page is for this machine; open it as localhost")


class _Page(tornado.web.RequestHandler):
    def initialize(self, server: Any) -> None:
        self._server = server

    def prepare(self) -> None:
        _refuse_other_names(self, self._server)

    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish(self._server.page)


class _Socket(tornado.websocket.WebSocketHandler):
    def initialize(self, server: Any) -> None:
        self._server = server

    def prepare(self) -> None:
        _refuse_other_names(self, self._server)

    def open(self, *args: str, **kwargs: str) -> None:
        self._server.joined(self)

    def on_close(self) -> None:
        self._server.left(self)

    def on_message(self, message: str | bytes) -> None:
        self._server.answered(message)

    def tell(self, content: str) -> None:
        """Send, unless the browser has just gone."""
        try:
            sent = self.write_message(content)
        except tornado.websocket.WebSocketClosedError:
            self._server.left(self)
            return
        sent.add_done_callback(lambda future: future.cancelled() or future.exception())  # gone meanwhile: no matter


def application(server: Any) -> tornado.httpserver.HTTPServer:
    """A tornado server around the page of a `Server`."""
    logging.getLogger("tornado.access").setLevel(logging.ERROR)  # a favicon that is not there is no news
    routes = [(r"/", _Page, {"server": server}), (r"/socket", _Socket, {"server": server})]
    return tornado.httpserver.HTTPServer(tornado.web.Application(routes, websocket_max_message_size=2**28))
