"""The examples of docs/controllers.md run as printed, in one session."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .samples import ROOT

TEXT = (ROOT / "docs" / "controllers.md").read_text(encoding="utf-8")


def test_examples_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    session: dict[str, Any] = {"__name__": "notebook"}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, "controllers.md", "exec"), session)


def test_counts_of_the_parity_table_add_up() -> None:
    rows = re.findall(
        r"^\| (?:joint impedance|operational space|inverse dynamics) \|.*?\| (\d+) \|", TEXT, re.MULTILINE
    )
    assert sum(map(int, rows)) == 193 - 1
