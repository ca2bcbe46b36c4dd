"""IKDebug: the recorder of a search."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from knuckle.ik import IKDebug
from knuckle.robot.errors import InputError, MissingDependencyError

from .ik_cases import arm, far, problem


class Paper:
    """Stands in for the axes of a plot."""

    def __init__(self) -> None:
        self.lines: list[tuple[list[int], list[float]]] = []
        self.ends: list[int] = []
        self.settings: dict[str, Any] = {}

    def plot(self, x: list[int], y: list[float], **_: Any) -> None:
        self.lines.append((x, y))

    def axvline(self, x: int, **_: Any) -> None:
        self.ends.append(x)

    def set(self, **settings: Any) -> None:
        self.settings = settings


def recorded() -> IKDebug:
    robot, _, start = problem()
    debug = IKDebug()
    robot.ik(
        far(),
        ik_method="jacobian",
        q_init=start,
        rng=0,
        max_iter=120,
        inner_callbacks=debug.inner_callback,
        outer_callbacks=debug.outer_callback,
    )
    return debug


def test_it_records_every_step_and_every_attempt() -> None:
    debug = recorded()
    assert debug.restarts > 1
    assert len(debug.attempts) == debug.restarts + 1
    assert sum(len(debug.attempt(k)) for k in range(debug.restarts + 1)) == len(debug.steps)
    assert debug.costs.shape == (len(debug.steps),)
    assert debug.configurations.shape == (len(debug.steps), 7)
    assert (np.diff([step.restart for step in debug.steps]) >= 0).all()
    robot = arm("sevenr_arm")
    step = debug.steps[3]
    assert step.cost == pytest.approx(
        (robot.fk(step.q).distance(far()).translation + robot.fk(step.q).distance(far()).rotation / (2 * np.pi))
        / (1 + 1 / (2 * np.pi))
    )


def test_what_it_recorded_does_not_change_later() -> None:
    debug = recorded()
    kept = debug.steps[0].q.copy()
    recorded()
    assert (debug.steps[0].q == kept).all()
    debug.clear()
    assert debug.steps == []
    assert debug.attempts == []
    assert debug.restarts == 0


def test_it_draws_one_line_per_attempt() -> None:
    debug, paper = recorded(), Paper()
    assert debug.plot(paper) is paper
    assert len(paper.lines) == len({step.restart for step in debug.steps})
    assert paper.settings["yscale"] == "log"
    assert all(cost > 0 for _, costs in paper.lines for cost in costs)


def test_it_draws_with_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = recorded().plot()
    assert axes.get_ylabel() == "cost"
    axes.figure.canvas.draw()


def test_nothing_recorded_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="inner_callback"):
        IKDebug().plot()


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"knuckle\[plot\]"):
        recorded().plot()
