"""A headless chromium with software WebGL, shared by the tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REQUIRED = os.environ.get("KNUCKLE_NEED_BROWSER") == "1"
"""Set where a skipped browser test has to count as a failure."""


def missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"{what}, and KNUCKLE_NEED_BROWSER=1 asks for it")
    pytest.skip(what)


@contextmanager
def chromium() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("no chromium: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright: pip install 'knuckle[browser]'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Page:
    """A page that notes what it asks for and what goes wrong in it."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_page(viewport={"width": 480, "height": 360})
        self.frame = self.page.main_frame
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.drawn()

    def drawn(self) -> None:
        # two triangles are the background, before anything else has come
        self.frame.wait_for_function("knuckle.viewer.renderer.info.render.triangles > 10", timeout=20_000)

    def run(self, script: str) -> Any:
        return self.frame.evaluate(script)

    def matrix(self, path: str) -> Any:
        """Pose of a path in the page's own axes (4, 4), column by column as three.js has it."""
        names = "".join(f".children[{name!r}]" for name in path.split("/"))
        return self.run(
            f"(() => {{ const node = knuckle.viewer.scene_tree{names}.object; node.updateWorldMatrix(true, false);"
            " return node.matrixWorld.toArray(); })()"
        )

    def pixels(self) -> bytes:
        return bytes(self.page.screenshot())

    def settled(self) -> None:
        """Two frames later: what was sent is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def close(self) -> None:
        self.page.close()
