"""Runs the tests of a module once per path of the controllers: the native kernel's, and that of Pinocchio and numpy."""

from __future__ import annotations

from typing import Any

import pytest

from knuckle.controllers.native_step import NativeSteps
from knuckle.robot import native

PATHS = ("native", "numpy") if native.AVAILABLE else ("numpy",)


@pytest.fixture(params=PATHS, autouse=True)
def either_path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Import it into a module of tests: controllers made there take this path unless they ask for one."""
    chosen: str = request.param
    original = NativeSteps._choose

    def choose(self: Any, backend: Any, threads: Any) -> None:
        original(self, "numpy" if backend == "auto" and chosen == "numpy" else backend, threads)

    monkeypatch.setattr(NativeSteps, "_choose", choose)
    return chosen
