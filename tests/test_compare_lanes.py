"""The script behind docs/performance.md runs and checks its results."""

from __future__ import annotations

import pytest

from knuckle.robot import native

from .scripts import script

compare_lanes = script("compare_lanes")


@pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")
def test_the_comparison_runs_and_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    compare_lanes.main(["--sizes", "3", "--rounds", "1", "--robots", "5", "--seconds", "0.02"])
    shown = capsys.readouterr().out
    rows = [line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| ")]
    assert {"inverse dynamics", "forward dynamics", "joint impedance", "operational space", "quadruped"} <= set(rows)
    assert "All runs end in the same states, to the bit." in shown
