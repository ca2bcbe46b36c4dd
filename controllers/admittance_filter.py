"""The filter of the filter form: first order by the trapezoidal rule, or second order with a damping of its own."""

from __future__ import annotations

import numpy as np

from ..robot.arrays import Array


class WrenchFilter:
    """A low-pass filter per axis, w/(s + w) or w^2/(s^2 + 2 zeta w s + w^2), by the trapezoidal rule.

        first order   f_k = ((2 - w dt) f_(k-1) + w dt (F_k + F_(k-1)))/(2 + w dt)
        second order  f_k = (b (F_k + 2 F_(k-1) + F_(k-2)) + (8 - 2b) f_(k-1) - (4 - 4 zeta w dt + b) f_(k-2))
                            / (4 + 4 zeta w dt + b),  b = (w dt)^2

    All past values are zero after `clear`.
    """

    __slots__ = ("_F", "_F_before", "_f_before", "_feed", "_keep", "_second", "value")

    def __init__(self, size: int) -> None:
        self.value = np.zeros(size)
        """f_(k-1), the last output."""
        self._f_before, self._F, self._F_before = np.zeros(size), np.zeros(size), np.zeros(size)
        self._second = False
        self._feed = self._keep = np.zeros(size)

    def tune(self, cutoff: Array, dt: float, zeta: float | None) -> None:
        """Set w [rad/s] and, for the second order, zeta; the past values stay."""
        wdt = cutoff * dt
        self._second = zeta is not None
        if zeta is None:
            self._feed, self._keep = wdt / (2.0 + wdt), (2.0 - wdt) / (2.0 + wdt)
            return
        b, sum_ = wdt**2, 4.0 + 4.0 * zeta * wdt + wdt**2
        self._feed = b / sum_
        self._keep = np.array([(8.0 - 2.0 * b) / sum_, -(4.0 - 4.0 * zeta * wdt + b) / sum_])

    def advance(self, force: Array) -> Array:
        """The next output (n,)."""
        if self._second:
            f = self._feed * (force + 2.0 * self._F + self._F_before)
            f += self._keep[0] * self.value + self._keep[1] * self._f_before
        else:
            f = self._keep * self.value + self._feed * (force + self._F)
        self._f_before, self.value = self.value, f
        self._F_before, self._F = self._F, force
        return f

    def jump_to(self, value: Array) -> None:
        """Go on from another output, with the slope there was."""
        self._f_before = self._f_before + (value - self.value)
        self.value = value

    def clear(self) -> None:
        """Forget everything."""
        for name in ("value", "_f_before", "_F", "_F_before"):
            setattr(self, name, np.zeros(len(self.value)))
