"""The two addresses of a server: the page and its socket."""

from __future__ import annotations

import logging
from typing import Any

import tornado.httpserver
import tornado.web
import tornado.websocket


class _Page(tornado.web.RequestHandler):
    def initialize(self, server: Any) -> None:
        self._server = server

    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish(self._server.page)


class _Socket(tornado.websocket.WebSocketHandler):
    def initialize(self, server: Any) -> None:
        self._server = server

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
