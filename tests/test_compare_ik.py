"""The script that compares solvers runs, checks its answers and writes what it says it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .scripts import script

compare_ik = script("compare_ik")


def test_the_comparison_runs_with_what_is_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, picture = tmp_path / "ik.md", tmp_path / "ik.png"
    assert compare_ik.main(["--count", "10", "--table", str(table), "--plot", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert table.read_text(encoding="utf-8") == shown
    rows = [line.split("|") for line in shown.splitlines() if line.startswith("| ")][1:]
    solved = {row[1].strip(): row[3].strip() for row in rows if "---" not in row[1]}
    assert solved["knuckle"] == solved["knuckle, batch"] == "100.0%" and "loop on Pinocchio" in solved
    assert picture.read_bytes().startswith(b"\x89PNG")
