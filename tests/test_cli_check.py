"""`knuckle check`: tables, JSON, files and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from knuckle import Obstacle, PinRobot, Task, Trajectory, Transformation
from knuckle.cli import main

from .samples import load, path_of
from .test_cli import Captured, run_json, run_text

SEVEN = str(path_of("sevenr_arm"))
Q0 = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
T = np.linspace(0.0, 2.0, 21)


def arm() -> PinRobot:
    return load("sevenr_arm")


def saved(tmp_path: Path, size: float = 0.2) -> str:
    path = Trajectory(T, Q0 + size * np.sin(T)[:, None] * np.ones(7), names=arm().joints)
    return str(path.save(tmp_path / "path.csv"))


def scene(tmp_path: Path) -> str:
    tip = arm().fk(Q0 + 0.2 * np.sin(1.05)).translation
    task = Task([Obstacle.sphere(0.01, Transformation.from_translation(tip), id="bead")])
    task.save(tmp_path / "scene.json")
    return str(tmp_path / "scene.json")


def test_a_feasible_trajectory(tmp_path: Path, capsys: Captured) -> None:
    file = saved(tmp_path)
    text = run_text(capsys, "check", "trajectory", SEVEN, file)
    assert re.search(r"verdict +feasible", text) and re.search(r"^torque +joint2 +ok ", text, re.MULTILINE)
    assert "no acceleration limit is known for any joint" in text
    data = run_json(capsys, "check", "trajectory", SEVEN, file)
    assert data["feasible"] and data["samples"] == 21 and len(data["checks"]) == 14 and data["file"] == file


def test_one_that_is_not_says_why_and_leaves_with_1(tmp_path: Path, capsys: Captured) -> None:
    argv = ["check", "trajectory", SEVEN, saved(tmp_path), "--scene", scene(tmp_path)]
    text = run_text(capsys, *argv, "--max-acceleration", "0.1", "--payload", "3", code=1)
    assert re.search(r"verdict +NOT feasible", text) and "acceleration: joint" in text
    assert re.search(r"^scene_collision +\w+ and bead +FAIL ", text, re.MULTILINE)
    data = run_json(capsys, *argv, code=1)
    assert [check["name"] for check in data["checks"] if not check["ok"]] == ["scene_collision"]
    assert run_json(capsys, *argv, "--no-collisions")["feasible"]


def test_options_reach_the_check(tmp_path: Path, capsys: Captured) -> None:
    def failing(*options: str, code: int = 1) -> list[str]:
        data = run_json(capsys, "check", "trajectory", SEVEN, saved(tmp_path), *options, code=code)
        return [check["name"] for check in data["checks"] if not check["ok"]]

    assert failing("--limits-scale", "0.05") == ["velocity", "torque"]
    assert failing("--limits-scale", "0.05", "--slower", "10") == ["torque"]
    assert failing("--max-linear", "0.05") == ["tool_speed"]
    assert failing("--max-angular", "0.05") == ["tool_turning"]
    assert failing("--min-singular-value", "0.5") == ["singularity"]
    assert failing("--goal-xyz", "0", "0", "0") == ["goal"]
    assert failing("--max-jerk", "0.1") == ["jerk"]
    assert failing("--position-margin", "1.5") == ["position"]
    assert failing("--safety-margin", "0.1") == ["self_collision"]
    end = arm().fk(Q0 + 0.2 * np.sin(2.0))
    goal = ["--goal-xyz", *map(repr, end.translation.tolist()), "--goal-rpy", *map(repr, end.rpy.tolist())]
    assert not failing(*goal, "--no-friction", "--no-motor-inertia", code=0)
    assert not failing("--interpolation", "linear", "--payload", "1", "--payload-com", "0", "0", "0.05", code=0)


def test_plot_and_page_are_written(tmp_path: Path, capsys: Captured) -> None:
    out = [str(tmp_path / "plot.png"), str(tmp_path / "report.html")]
    data = run_json(capsys, "check", "trajectory", SEVEN, saved(tmp_path), "--plot", out[0], "--html", out[1])
    assert data["written"] == out and all(Path(name).stat().st_size > 10_000 for name in out)


@pytest.mark.parametrize(
    "argv, message",
    [
        (["trajectory", SEVEN, "none.csv"], "there is no file 'none.csv'"),
        (["trajectory", SEVEN, "path.csv", "--payload", "much"], "--payload needs numbers"),
        (["trajectory", SEVEN, "path.csv", "--goal-rpy", "0", "0", "0"], "--goal-rpy goes with --goal-xyz"),
        (["trajectory", SEVEN, "path.csv", "--scene", "none.json"], "there is no file"),
        (["trajectory", SEVEN, "path.csv", "--plot", "none/plot.png"], "path"),
        (["trajectory", SEVEN, "bad.csv"], "line 3, column 'joint1' must be a finite number, got 'nan'"),
        (["trajectory", str(path_of("scara")), "path.csv"], "lacks"),
        (["poses", SEVEN], "give a FILE of poses or --grid"),
        (["poses", SEVEN, "none.csv"], "there is no file"),
        (["poses", SEVEN, "--grid", "0", "0", "0", "1", "1", "1", "--counts", "0", "1", "1"], "counts"),
        ([], "KIND"),
    ],
)
def test_bad_input_leaves_with_2(
    argv: list[str], message: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    (tmp_path / "bad.csv").write_text("time,joint1\n0,1\n1,nan\n")
    assert main(["check", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out and message in err and err.count("\n") == 1


def test_degrees_are_suspected_and_taken(tmp_path: Path, capsys: Captured) -> None:
    q = np.degrees(Q0 + 0.2 * np.sin(T)[:, None] * np.ones(7))
    file = str(Trajectory(T, q, names=arm().joints).save(tmp_path / "degrees.csv"))
    assert "would fit as degrees" in run_text(capsys, "check", "trajectory", SEVEN, file, code=1)
    assert run_json(capsys, "check", "trajectory", SEVEN, file, "--degrees")["feasible"]


def test_poses_of_a_grid_and_of_a_file(tmp_path: Path, capsys: Captured) -> None:
    grid = ["--grid", "0.3", "-0.2", "0.3", "0.6", "0.2", "0.5", "--counts", "2", "2", "2"]
    files = [str(tmp_path / "reach.npz"), str(tmp_path / "reach.csv")]
    text = run_text(capsys, "check", "poses", SEVEN, *grid, "--out", files[0], "--out", files[1], code=0)
    assert re.search(r"poses +8, 8 reached, 8 feasible", text) and "payload that could be held" in text
    data = run_json(capsys, "check", "poses", SEVEN, *grid, "--rpy", "0", "3.14159", "0", code=1)
    assert data["count"] == 8 and 0 < data["reachable"] < 8
    down = [*grid[:4], "0.5", "-0.1", "0.4", "--counts", "1", "1", "2", "--rpy", "0", "3.14159", "0"]
    first = run_json(capsys, "check", "poses", SEVEN, *down, "--out", files[1], code=0)
    again = run_json(capsys, "check", "poses", SEVEN, files[1], code=0)
    assert again["reachable"] == first["reachable"] == 2, "a report of poses is a file of poses"
    heavy = run_json(capsys, "check", "poses", SEVEN, files[1], "--payload", "90", "--all-solutions", code=1)
    assert heavy["reasons"] == {"torque": 2}
