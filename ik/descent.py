"""Bookkeeping of one run: the best configuration seen, callbacks, and when to give up."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..robot.arrays import Array
from .callbacks import CallbackReturn, IKCallback, chain
from .problem import IKMeta, InnerResult, IntermediateIkResult, IKStatus


class Descent:
    """What one run of a method has seen.

    `threshold` ends the run once the falling of the least cost, averaged with weight `alpha` on the latest iteration
    (1: no averaging; 0: mean over all iterations), is smaller.
    """

    __slots__ = ("_alpha", "_average", "_callback", "_first", "_info", "_threshold", "best", "cost", "iterations")

    def __init__(
        self, q: Array, info: IKMeta, callbacks: Iterable[IKCallback], threshold: float, alpha: float = 0.5
    ) -> None:
        callbacks = tuple(callbacks)
        self._callback = chain(*callbacks) if callbacks else None
        self._info, self._threshold, self._alpha = info, threshold, alpha
        self.best, self.cost, self.iterations = q, math.inf, 0
        self._first = self._average = math.inf

    def see(self, q: Array, cost: float) -> CallbackReturn:
        """Take note of a configuration; returns what the callbacks want."""
        gain = self.cost - cost
        if gain > 0.0:
            if self._first == math.inf:
                self._first = gain = self._average = cost
            self.best, self.cost = q, cost
        else:
            gain = 0.0
        self._average += self._alpha * (gain - self._average)
        if self._callback is None:
            return CallbackReturn.CONTINUE
        info = self._info
        seen = IntermediateIkResult(q.copy(), cost, info.iteration + self.iterations, info.restart)
        return CallbackReturn(self._callback(seen))  # type: ignore[arg-type]

    @property
    def stalled(self) -> bool:
        """Whether the cost has stopped falling."""
        if self._alpha == 0.0:
            return self.iterations > 0 and (self._first - self.cost) / self.iterations < self._threshold
        return self._average < self._threshold

    def result(self, status: IKStatus, q: Array | None = None, cost: float | None = None) -> InnerResult:
        """The outcome: at `q`, or at the best configuration seen."""
        if q is None or cost is None:
            q, cost = self.best, self.cost
        return InnerResult(q, status, cost, self.iterations)
