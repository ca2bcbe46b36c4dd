"""Bookkeeping of one run: the best configuration seen, callbacks, and when to give up."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..robot.arrays import Array
from .callbacks import CallbackReturn, IKCallback, answer_of, chain
from .problem import IKMeta, IKStatus, InnerResult, IntermediateIkResult


class Descent:
    """What one run of a method has seen.

    `threshold` ends the run once the falling of the least cost, averaged with weight `alpha` on the latest iteration
    (1: no averaging; 0: mean over all iterations), is smaller.
    """

    __slots__ = (
        "_alpha",
        "_average",
        "_callback",
        "_first",
        "_info",
        "_rejected",
        "_threshold",
        "best",
        "cost",
        "iterations",
    )

    def __init__(
        self, q: Array, info: IKMeta, callbacks: Iterable[IKCallback], threshold: float, alpha: float = 0.5
    ) -> None:
        callbacks = tuple(callbacks)
        self._callback = chain(*callbacks) if callbacks else None
        self._info, self._threshold, self._alpha = info, threshold, alpha
        self.best, self.cost, self.iterations = q, math.inf, 0
        self._first = self._average = math.inf
        self._rejected = False

    def see(self, q: Array, cost: float, shown: Array) -> CallbackReturn:
        """Take note of a configuration; returns what the callbacks want, which are shown it as `shown`."""
        gain = self.cost - cost
        better = gain > 0.0
        if better:
            if self._first == math.inf:
                self._first = gain = self._average = cost
            self.best, self.cost = q, cost
        else:
            gain = 0.0
        self._average += self._alpha * (gain - self._average)
        if self._callback is None:
            return CallbackReturn.CONTINUE
        info = self._info
        seen = IntermediateIkResult(shown.copy(), cost, info.iteration + self.iterations, info.restart)
        answer = answer_of(self._callback(seen))
        if better:
            self._rejected = answer is CallbackReturn.REJECT
        return answer

    @property
    def stalled(self) -> bool:
        """Whether the cost has stopped falling."""
        if self._alpha == 0.0:
            return self.iterations > 0 and (self._first - self.cost) / self.iterations < self._threshold
        return self._average < self._threshold

    def ended(self, status: IKStatus, q: Array, cost: float) -> InnerResult:
        """The outcome at the configuration just seen."""
        return InnerResult(q, status, cost, self.iterations)

    def failed(self, status: IKStatus) -> InnerResult:
        """The outcome at the best configuration seen; REJECTED if the callbacks rejected that one."""
        return InnerResult(self.best, IKStatus.REJECTED if self._rejected else status, self.cost, self.iterations)
