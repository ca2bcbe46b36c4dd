"""`knuckle simulate --controller admittance`, the world around it, and scenario files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle.cli import main

from .samples import load, path_of

ARM = str(path_of("sevenr_arm"))
START = ["--q", "0", "0.5", "0", "-1.4", "0", "1.2", "0"]
ADMITTANCE = ["--controller", "admittance", "--duration", "0.4", "--dt", "0.002"]


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert main(["simulate", ARM, *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_push_on_the_arm_at_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Home is stretched out and could not yield: the start is bent, and said."""
    pytest.importorskip("matplotlib")
    out, plot = tmp_path / "run.npz", tmp_path / "run.png"
    words = ["--controller", "admittance", "--push", "0", "0", "-10", "--out", str(out), "--plot", str(plot)]
    data = run(capsys, *words)
    assert data["completed"] and not data["limits"] and any(data["start"].values())
    assert data["displacement"] == pytest.approx(10 / 500, rel=1e-3)
    assert data["position_error"] < 2e-4 and data["energy"]["external_work"] == pytest.approx(0.2, rel=0.01)
    assert plot.stat().st_size > 1000
    with np.load(out) as recorded:
        moved = recorded["tool_pose"][-1, :3, 3] - recorded["tool_pose"][0, :3, 3]
        np.testing.assert_allclose(moved, [0, 0, -0.02], atol=1e-5)
        np.testing.assert_array_equal(recorded["wrench"][-1], [0, 0, -10, 0, 0, 0])
        assert recorded["dq_command"].shape == recorded["dq"].shape
    assert main(["simulate", ARM, *words]) == 0
    text = capsys.readouterr().out
    assert "of the ideal" in text and "limits" in text and max(map(len, text.splitlines())) <= 120


def test_the_law_is_set_by_options(capsys: pytest.CaptureFixture[str]) -> None:
    push = [*START, *ADMITTANCE, "--push", "5", "0", "0", "--push-at", "0"]
    stiff = run(capsys, *push, "--stiffness", "2000,50", "--inertia", "2,0.1", "--integrator", "rk4")
    soft = run(capsys, *push, "--stiffness", "200,50", "--lam", "0.05")
    assert stiff["ideal_displacement"] == pytest.approx(5 / 2000, rel=0.02) and stiff["displacement"] < 4e-3
    assert soft["displacement"] > 4 * stiff["displacement"]
    dead = run(capsys, *push, "--dead-zone", "6")
    assert dead["displacement"] < 1e-4
    short = run(capsys, *push, "--push-for", "0.05")
    assert short["displacement"] < 5e-3


def test_walls_noise_and_delay(capsys: pytest.CaptureFixture[str]) -> None:
    base = [*START, *ADMITTANCE, "--push", "0", "0", "-10", "0", "0", "0"]
    free = run(capsys, *base)
    height = float(load("sevenr_arm").fk([float(word) for word in START[1:]]).translation[2])
    wall = ["--wall", "0", "0", str(height - 0.002), "0", "0", "1", "2000"]
    assert run(capsys, *base, *wall)["displacement"] < 0.5 * free["displacement"]
    noisy = [run(capsys, *base, "--wrench-noise", "0.5", "--delay", "0.004", "--seed", s) for s in ("1", "1", "2")]
    assert noisy[0] == noisy[1] != noisy[2]


def test_limits_that_are_passed_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    data = run(capsys, *START, "--stiffness", "1e4", "--q-des", "1", "1", "1", "-1", "1", "1", "1", code=1)
    assert data["limits"] and "its limit" in data["limits"][0]


def test_scenarios_are_files_of_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yaml, other = tmp_path / "push.yaml", tmp_path / "push.json"
    yaml.write_text(
        "# a push\ncontroller: admittance\nq: [0, 0.5, 0, -1.4, 0, 1.2, 0]\npush: [0, 0, -10]  # newton\n"
        "duration: 0.4\ndt: 0.002\nno-friction: true\nstiffness: '1000,20'\n",
        encoding="utf-8",
    )
    options: dict[str, Any] = {"controller": "admittance", "q": [0, 0.5, 0, -1.4, 0, 1.2, 0], "push": [0, 0, -10]}
    options |= {"duration": 0.4, "dt": 0.002, "no-friction": True, "stiffness": "1000,20"}
    other.write_text(json.dumps(options), encoding="utf-8")
    words = [*START, *ADMITTANCE, "--push", "0", "0", "-10", "--no-friction", "--stiffness", "1000,20"]
    expected = run(capsys, *words)
    assert run(capsys, "--scenario", str(yaml)) == run(capsys, "--scenario", str(other)) == expected
    assert run(capsys, "--scenario", str(yaml), "--duration", "0.2")["duration"] == pytest.approx(0.2)  # flags win
    named = tmp_path / "named.yaml"
    named.write_text("---\nq-des: {joint2: 0.1}\nduration: 0.01\n", encoding="utf-8")
    assert run(capsys, "--scenario", str(named))["steps"] == 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("controler: admittance", "did you mean 'controller'"),
        ("push:\n  - 1", "push.yaml:1: write 'option: value'"),
        ("controller: pid", "pid"),
        ("duration: 1\nduration: 2", "push.yaml:2: 'duration' is given twice"),
        ("no-friction: yes please", "true or false"),
        ("duration: true", "takes a value"),
        ("duration: [1, 2]", "takes one value"),
        ("xyz: [1, 2]", "takes 3 values"),
        ("push: [1, 2", "without ]"),
        ("duration: long", "--duration needs numbers"),
    ],
)
def test_bad_scenarios(text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "push.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["simulate", ARM, "--scenario", str(path)]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and captured.err.count("\n") == 1 and not captured.out


@pytest.mark.parametrize(
    "words",
    [
        ["--push", "1", "2"],
        ["--push", "0", "0", "1", "--push-at", "-1"],
        ["--push", "0", "0", "1", "--push-for", "0"],
        ["--wall", "0", "0", "0", "0", "0", "0", "1"],
        ["--stiffness", "1,2,3", "--controller", "admittance"],
        ["--stiffness", "500", "--controller", "admittance"],
        ["--inertia", "5,0.2"],
        ["--lam", "0.1"],
        ["--dead-zone", "1"],
        ["--lam", "3", "--controller", "admittance"],
        ["--q-des", "0", "--controller", "admittance"],
        ["--no-gravity", "--controller", "admittance"],
        ["--integrator", "rk5"],
        ["--control-dt", "0.0015"],
        ["--seed", "1.5"],
        ["--scenario", "no_such.yaml"],
    ],
)
def test_wrong_usage_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", ARM, *words]) == 2
    captured = capsys.readouterr()
    assert not captured.out and captured.err.startswith("knuckle: error:") and captured.err.count("\n") == 1
