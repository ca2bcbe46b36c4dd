"""`knuckle simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle.cli import main

from .samples import path_of

ARM = str(path_of("sevenr_arm"))
START = ["--q", "0", "0.5", "0", "-1.4", "0", "1.2", "0"]
QUICK = ["--duration", "0.5", "--dt", "0.002", "--no-friction", "--no-motor-inertia"]


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert main(["simulate", ARM, *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_joint_impedance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, table = tmp_path / "run.npz", tmp_path / "run.csv"
    words = [*START, "--q-des", "joint1=0.2", "joint2=0.5", "joint4=-1.4", "joint6=1.2", "--stiffness", "400", *QUICK]
    data = run(capsys, *words, "--out", str(out), "--out", str(table))
    assert data["completed"] and data["steps"] == 250 and data["joint_error"] < 2e-3
    assert data["files"] == [str(out), str(table)]
    with np.load(out) as recorded:
        assert recorded["q"].shape == (251, 7)
        assert recorded["q"][-1, 0] == pytest.approx(data["q"]["joint1"])
    assert len(table.read_text(encoding="utf-8").splitlines()) == 252


def test_operational_space(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = ["--controller", "operational-space", *START, "--xyz", "0.4", "0.1", "0.5", "--rpy", "0", "3.1416", "0"]
    words += ["--null-space", "10", "--stiffness", "400", *QUICK, "--plot", str(tmp_path / "run.png")]
    data = run(capsys, *words, code=1)  # as stiff as that it is too fast for the joints
    assert data["position_error"] < 2e-3 and data["rotation_error"] < 2e-2
    assert "velocity of joint2" in data["limits"][0]
    assert (tmp_path / "run.png").exists()
    assert main(["simulate", ARM, *words]) == 1
    text = capsys.readouterr().out
    assert "position error" in text and "joint7" in text and max(map(len, text.splitlines())) <= 120


def test_a_loop_that_runs_away_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*START, "--stiffness", "1e9", "--no-decoupling", *QUICK]
    assert not run(capsys, *words, "--q-des", "1", "1", "1", "-1", "1", "1", "1", code=1)["completed"]


def test_torque_limits_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*START, "--stiffness", "1e4", "--torque-limits", *QUICK]
    data = run(capsys, *words, "--q-des", "1", "1", "1", "-1", "1", "1", "1", code=1)
    assert not [text for text in data["limits"] if text.startswith("torque")]
    assert max(data["largest_torque"].values()) == 90.0


@pytest.mark.parametrize(
    "words",
    [
        ["--controller", "pid"],
        ["--xyz", "1", "2", "3"],
        ["--null-space", "10"],
        ["--stiffness", "hard"],
        ["--stiffness", "-1"],
        ["--duration", "0"],
        ["--dt", "nan"],
        ["--out", "run.txt"],
        ["--controller", "operational-space", "--frame", "nowhere"],
        ["--controller", "operational-space", "--xyz", "1", "2"],
        ["--out", "no/such/folder/run.npz", "--duration", "0.01"],
    ],
)
def test_wrong_usage_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", ARM, *words]) == 2
    captured = capsys.readouterr()
    assert not captured.out and captured.err.startswith("knuckle: error:") and captured.err.count("\n") == 1
