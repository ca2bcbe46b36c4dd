"""IKDebug: records what a search does, step by step and attempt by attempt, and draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError, MissingDependencyError
from .callbacks import CallbackReturn
from .problem import IntermediateIkResult


@dataclass(slots=True)
class IKDebug:
    """A recorder of one search.

    >>> debug = IKDebug()
    >>> robot.ik(target, inner_callbacks=debug.inner_callback, outer_callbacks=debug.outer_callback)  # doctest: +SKIP
    >>> debug.plot()  # doctest: +SKIP
    """

    steps: list[IntermediateIkResult] = field(default_factory=list)
    """Every configuration seen, in order."""
    attempts: list[IntermediateIkResult] = field(default_factory=list)
    """What each attempt ended with."""

    def inner_callback(self, result: IntermediateIkResult) -> CallbackReturn:
        """Record a step; pass it as one of `inner_callbacks`."""
        self.steps.append(result)
        return CallbackReturn.CONTINUE

    def outer_callback(self, result: IntermediateIkResult) -> CallbackReturn:
        """Record the end of an attempt; pass it as one of `outer_callbacks`."""
        self.attempts.append(result)
        return CallbackReturn.CONTINUE

    def clear(self) -> None:
        """Forget everything, before the next search."""
        self.steps.clear()
        self.attempts.clear()

    @property
    def restarts(self) -> int:
        """Attempts seen beyond the first."""
        return max((result.restart for result in (*self.steps, *self.attempts)), default=0)

    @property
    def costs(self) -> Array:
        """Cost of every step (n,)."""
        return np.array([step.cost for step in self.steps])

    @property
    def configurations(self) -> Array:
        """Configuration of every step (n, nq)."""
        return np.array([step.q for step in self.steps])

    def attempt(self, number: int) -> list[IntermediateIkResult]:
        """Steps of one attempt, 0 for the first."""
        return [step for step in self.steps if step.restart == number]

    def plot(self, axes: Any = None) -> Any:
        """Draw the cost over the iterations on a logarithmic scale, one line per attempt.

        Args:
            axes: Matplotlib axes to draw on; None makes a figure.

        Returns:
            The axes.

        Raises:
            InputError: if nothing was recorded.
            MissingDependencyError: if matplotlib is not installed.
        """
        if not self.steps:
            raise InputError("nothing was recorded; pass debug.inner_callback as one of inner_callbacks")
        if axes is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise MissingDependencyError("plotting needs matplotlib: pip install 'knuckle[plot]'") from error
            axes = plt.subplots()[1]
        tiny = np.finfo(np.float64).tiny
        for number in sorted({step.restart for step in self.steps}):
            steps = self.attempt(number)
            axes.plot([s.iteration for s in steps], [max(s.cost, tiny) for s in steps], marker=".")
        ends = [step for step in self.attempts if step.restart > 0]
        for end in ends:
            axes.axvline(end.iteration, color="0.85", zorder=0)
        axes.set(yscale="log", xlabel="iteration", ylabel="cost")
        return axes
