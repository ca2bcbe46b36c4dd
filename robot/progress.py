"""How far long work has come: a bar, or a function that is told."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .arrays import flag
from .errors import MissingDependencyError


@contextmanager
def progress_of(progress: Any, total: int, unit: str, begun: int = 0) -> Iterator[Callable[[int], None] | None]:
    """What is told how much is done, None if nobody wants to know.

    Args:
        progress: True shows a bar; a function is called with (done, total); False is neither.
        total: All there is to do.
        unit: What is counted.
        begun: How much of it was done before.

    Raises:
        MissingDependencyError: for a bar without tqdm.
    """
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if not flag(progress, "progress"):
        yield None
        return
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        raise MissingDependencyError("progress=True needs tqdm: pip install 'knuckle[batch]'") from None
    with tqdm.tqdm(total=total, initial=begun, unit=unit) as bar:
        yield lambda done: bar.update(done - bar.n)
