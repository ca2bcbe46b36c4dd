"""Mistakes made on purpose, one at a time, to see whether a test notices: signs, frames and orders of the formulas.

`python -m tests.mutants` works on a copy, leaves the sources alone and prints a table in Markdown with the test that
noticed each. What the tests of its group let pass meets the whole suite. The list is `tests/data/mutants.toml`;
`tests/test_mutants.py` keeps it in step with the sources. Takes about a minute for a change of the kernel.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).parent / "data" / "mutants.toml"
LEFT_OUT = {".git", ".venv", "build", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
LONGEST = 900.0
"""Seconds after which a run of the tests counts as having noticed."""


@dataclass(frozen=True)
class Mutant:
    """A text that stands once in a file, and the mistake put in its place."""

    file: str
    change: str
    before: str
    after: str
    tests: str


def read_list() -> tuple[dict[str, list[str]], list[Mutant]]:
    """Groups of test files, and the mutants."""
    document = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return document["groups"], [Mutant(**entry) for entry in document["mutant"]]


class Copy:
    """The package built and installed apart, together with the libraries of the running interpreter."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source, self.installed = folder, folder / "source", folder / "installed"
        shutil.copytree(ROOT, self.source, ignore=shutil.ignore_patterns(*LEFT_OUT))
        venv.create(folder / "venv", with_pip=False)
        self.python = folder / "venv" / "bin" / "python"
        sites = next((folder / "venv" / "lib").glob("python*/site-packages"))
        libraries = [self.installed, *(path for path in map(Path, sys.path) if "site-packages" in path.parts)]
        (sites / "beside.pth").write_text("".join(f"{path}\n" for path in libraries), encoding="utf-8")
        self.build("*")

    def build(self, pattern: str) -> None:
        """Build the wheel and install what matches the pattern."""
        dist = self.folder / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps"]
        command += ["--no-build-isolation", "-C", f"build-dir={self.folder / 'build'}", "-w", str(dist)]
        subprocess.run([*command, str(self.source)], check=True)
        with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
            wheel.extractall(self.installed, [name for name in wheel.namelist() if Path(name).match(pattern)])

    def put(self, file: str, text: str) -> None:
        """Write a source file and install it."""
        (self.source / file).write_text(text, encoding="utf-8")
        if file.startswith("native/"):
            self.build("_core*")
        else:
            (self.installed / "knuckle" / file).write_text(text, encoding="utf-8")

    def noticed_by(self, tests: list[str]) -> str | None:
        """The first test that fails, None if all pass."""
        command = [
            self.python,
            "-m",
            "pytest",
            "-c",
            self.source / "pyproject.toml",
            "--rootdir",
            self.source,
            "-x",
            "-q",
        ]
        command += ["-p", "no:cacheprovider", *(self.source / "tests" / test for test in tests)]
        try:
            run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return "time-out"
        if run.returncode == 0:
            return None
        found = re.search(r"^(?:FAILED|ERROR) \S*?tests/(\w+\.py(?:::\w+)?)", run.stdout, re.MULTILINE)
        return found[1] if found else f"exit code {run.returncode}"


def examine(copy: Copy, mutant: Mutant, groups: dict[str, list[str]]) -> str | None:
    """The test that notices a mutant, None if none does; the copy is as it was afterwards."""
    original = (copy.source / mutant.file).read_text(encoding="utf-8")
    copy.put(mutant.file, original.replace(mutant.before, mutant.after))
    try:
        return copy.noticed_by(groups[mutant.tests]) or copy.noticed_by([""])
    finally:
        copy.put(mutant.file, original)


def main() -> int:
    """Examine the mutants whose file or change matches; 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a file's name or of a change")
    only = parser.parse_args().only
    groups, mutants = read_list()
    chosen = [m for m in mutants if only in m.file or only in m.change]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        print("| file | mistake | noticed by |\n| --- | --- | --- |")
        for mutant in chosen:
            test = examine(copy, mutant, groups)
            survivors += test is None
            print(f"| {mutant.file} | {mutant.change} | {'**survives**' if test is None else test} |", flush=True)
    print(f"\n{len(chosen) - survivors} of {len(chosen)} noticed")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
