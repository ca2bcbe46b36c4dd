"""Ratios against a plain counterpart measured in the same run, printed as one table at the end.

Absolute times change with the machine and its load; a ratio of two calls timed in turns holds. Bounds are shown, not
enforced: a busy machine must not turn a correct result into a failure.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # idle BLAS threads spin, and would count as processor time

import numpy as np
import pytest

from knuckle import PinRobot
from knuckle.robot import native

SAMPLES = Path(__file__).resolve().parents[1] / "urdf_samples"


@dataclass(frozen=True)
class Ratio:
    name: str
    ours: float
    bare: float
    against: str
    bound: float | None


RATIOS = pytest.StashKey[list[Ratio]]()


@pytest.fixture(scope="session")
def arm() -> PinRobot:
    return PinRobot.from_urdf(SAMPLES / "sevenr_arm.urdf")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def versus(benchmark: Any, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Benchmarks a call, times it in turns with its counterpart, and hands back what it returned."""

    def run(
        ours: Callable[[], Any],
        bare: Callable[[], Any] | float,
        *,
        against: str = "pinocchio",
        bound: float | None = None,
        per: tuple[int, int] = (1, 1),
    ) -> Any:
        """`per`: by how many units of work (targets, iterations) each of the two is divided in the table.

        A number for `bare` is a time [s] of its own, such as one that is simulated.
        """
        result = benchmark(ours)
        times = (in_turns(ours, ours)[0], bare) if isinstance(bare, float) else in_turns(ours, bare)
        own, other = (time / count for time, count in zip(times, per, strict=True))
        row = Ratio(request.node.name.removeprefix("test_"), own, other, against, bound)
        request.config.stash.setdefault(RATIOS, []).append(row)
        benchmark.extra_info["ratio"] = own / other
        return result

    return run


def in_turns(first: Callable[[], Any], second: Callable[[], Any], rounds: int = 15) -> tuple[float, float]:
    """Least processor time per call of each [s], the blocks of the two taken in turns so that load hits both."""
    sizes = [_block_size(call) for call in (first, second)]
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for i, call in enumerate((first, second)):
            best[i] = min(best[i], _block(call, sizes[i]) / sizes[i])
    return best[0], best[1]


def _block_size(call: Callable[[], Any], target: float = 5e-3) -> int:
    return max(1, int(target / max(_block(call, 3) / 3, 1e-9)))


def _block(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", metavar="FILE", help="write the ratios as a page of the documentation")


def write_page(path: Path, rows: list[Ratio]) -> None:
    """The table as Markdown, between a heading and a note, with the machine it was measured on."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Ratios",
        "",
        "Written by `make figures`, never by hand: each call timed in turns with a plain counterpart, processor time,",
        f"the least of fifteen rounds. One run of {time.strftime('%Y-%m-%d')} on {machine}, {native.isa()} lanes.",
        "",
        "| call | time | counterpart | its time | ratio |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        times = f"{_duration(row.ours)} | {row.against} | {_duration(row.bare)}"
        lines.append(f"| `{row.name}` | {times} | {row.ours / row.bare:.3g} |")
    lines += [
        "",
        "What each row measures is in `benchmarks/`. Ratios hold from machine to machine better than times do.",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(RATIOS, [])
    if not rows:
        return
    if config.getoption("--figures"):
        write_page(Path(config.getoption("--figures")), rows)
    terminalreporter.section("ratios, processor time of two calls taken in turns")
    terminalreporter.write_line(f"{'call':<34}{'ours':>12}{'counterpart':>14}{'ratio':>9}{'aim':>8}  counterpart")
    for row in rows:
        ratio = row.ours / row.bare
        aim = "-" if row.bound is None else f"<= {row.bound:g}"
        mark = " " if row.bound is None or ratio <= row.bound else "!"
        times = f"{_duration(row.ours):>12}{_duration(row.bare):>14}"
        terminalreporter.write_line(f"{row.name:<34}{times}{ratio:>8.3f}{mark}{aim:>8}  {row.against}")


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
