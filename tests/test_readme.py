"""README and docs keep their word: their Python examples and command lines run as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import coal
import numpy as np
import pytest

import knuckle
from knuckle.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("knuckle ")]


def test_python_example_is_ten_lines_at_the_top_and_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = blocks("python")[0]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    assert README.index("```bash\nmake demo") < README.index("```python") < README.index("\n## ")
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    out = capsys.readouterr().out
    assert out.startswith("converged")
    assert "holding torque" in out


def test_every_recipe_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, recipes = blocks("python")
    monkeypatch.chdir(ROOT)
    text = recipes.replace('"my.urdf", package_dirs=["meshes"]', '"urdf_samples/sevenr_arm.urdf"')
    text = text.replace('"arm.html"', repr(str(tmp_path / "arm.html")))
    q = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
    robot = knuckle.PinRobot.from_urdf("urdf_samples/sevenr_arm.urdf")
    poses = robot.fk(np.array([q + 0.01 * i for i in range(5)]))
    names = {
        "knuckle": knuckle,
        "coal": coal,
        "q": q,
        "dq": 0.1 * q,
        "ddq": q,
        "tau": q,
        "T": robot.fk(q + 0.1),
        "poses": poses,
    }
    exec(compile(text, "README.md", "exec"), names | {"mask": [True] * 6 + [False]})


@pytest.mark.parametrize("line", COMMANDS)
def test_command_lines_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(line.replace("/tmp", str(tmp_path)))[1:]) == 0
    captured = capsys.readouterr()
    assert captured.out and not captured.err


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_pages_run_as_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    text, names = page.read_text(encoding="utf-8").replace("/tmp", str(tmp_path)), {"__name__": page.stem}
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for example in examples:
        exec(compile(example, page.name, "exec"), names)
    for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("knuckle "):
                assert main(shlex.split(line)[1:]) == 0, line
    assert capsys.readouterr().out or not examples
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_every_command_is_shown() -> None:
    shown = {shlex.split(line)[1] for line in COMMANDS}
    assert shown == {"inspect", "fk", "id", "fd", "ik", "check", "simulate", "view", "demo", "doctor"}


def test_make_targets_named_in_the_text_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make (\w+)", "\n".join(blocks("bash")))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_to_files_of_the_repository_exist() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_statuses_of_the_table_are_those_of_the_code() -> None:
    from knuckle import IKStatus

    section = README.split("## Limits, and what a result says")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == {status.value for status in IKStatus}
