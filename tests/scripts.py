"""The scripts of `benchmarks`, loaded from their files: they are no part of the installed package."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from .samples import ROOT


def script(name: str) -> ModuleType:
    """The module in `benchmarks/NAME.py`, from wherever the tests are run."""
    title = f"knuckle_benchmarks_{name}"
    if title not in sys.modules:
        spec = importlib.util.spec_from_file_location(title, ROOT / "benchmarks" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[title] = module
        spec.loader.exec_module(module)
    return sys.modules[title]
