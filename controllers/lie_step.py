"""Steps of higher order on configurations that do not add, such as orientations."""

from __future__ import annotations

import numpy as np

from ..robot.arrays import Array
from ..robot.base import RobotBase


class LieStep:
    """The rate of u where q = q0 (+) u(t) moves with the velocity v.

        du/dt = v + [u, v]/2 + [u, [u, v]]/12,  exact to the order of u^3

    (H. Munthe-Kaas, Applied Numerical Mathematics 29, 1999). The bracket is that of the robot's own joints, found by
    trying: `q (+) y (+) x` and `q (+) x (+) y` differ by [x, y]. It is zero where q is plain coordinates.
    """

    def __init__(self, robot: RobotBase) -> None:
        self._blocks: list[tuple[slice, Array]] = []
        for _, rate in robot.coordinate_slices().values():
            if rate.stop - rate.start > 1:
                self._blocks.append((rate, _constants(robot, rate)))

    def rate(self, u: Array, v: Array) -> Array:
        """du/dt (nv,)."""
        if not self._blocks:
            return v
        result = v.copy()
        for at, c in self._blocks:
            bracket = c @ v[at] @ u[at]
            result[at] += 0.5 * bracket + (c @ bracket @ u[at]) / 12.0
        return result


def _constants(robot: RobotBase, at: slice) -> Array:
    """Structure constants c (n, n, n) of a joint: [x, y]_k = sum_ij c_kij x_i y_j; they are 0, 1 or -1."""
    n, step = at.stop - at.start, 1e-3
    c, q = np.zeros((n, n, n)), robot.neutral()
    for i in range(n):
        for j in range(n):
            x, y = np.zeros(robot.nv), np.zeros(robot.nv)
            x[at.start + i] = y[at.start + j] = step
            first = robot._integrate(robot._integrate(q, x), y)
            second = robot._integrate(robot._integrate(q, y), x)
            c[:, i, j] = np.round(robot._difference(second, first)[at] / step**2)
    return c
