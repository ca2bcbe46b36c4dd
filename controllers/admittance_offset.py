"""The offset of a pose from a reference, its rate, and the twist that goes with it."""

from __future__ import annotations

import numpy as np

from ..robot.arrays import Array
from ..robot.components import assemble, log_terms, polynomial, square
from ..robot.spatial import jexp3, log3


class Offset:
    """x = (p - p_ref, log3(R R_ref^T)) in base axes, or turned into those of the reference pose.

        twist = (dx_p, J_l(x_r) dx_r) + (v_ref, exp(x_r) omega_ref),  J_l the left Jacobian of the rotation

    Attributes:
        x: The offset (6,), control axes.
        axes: Control axes in the base link (3, 3).
    """

    __slots__ = ("_Rx", "_lever", "_tool", "axes", "x")

    def __init__(self, pose: Array, reference: Array, tool_axes: bool) -> None:
        self.axes, self._tool = reference[:3, :3], tool_axes
        self._Rx = pose[:3, :3] @ self.axes.T
        x = np.empty(6)
        x[:3] = pose[:3, 3] - reference[:3, 3]
        self._lever = x[3:] = log3(self._Rx)
        self.x = self.turned_back(x)

    def turned(self, x: Array) -> Array:
        """From control axes to base axes."""
        return (x.reshape(2, 3) @ self.axes.T).reshape(6) if self._tool else x

    def turned_back(self, x: Array) -> Array:
        """From base axes to control axes."""
        return (x.reshape(2, 3) @ self.axes).reshape(6) if self._tool else x

    def twist(self, rate: Array, forward: Array) -> Array:
        """Twist (6,), base axes, that changes the offset at a rate (6,) while the reference moves with `forward`."""
        twist = self.turned(rate).copy()
        twist[3:] = jexp3(-self._lever) @ twist[3:] + self._Rx @ forward[3:]
        twist[:3] += forward[:3]
        return twist

    def rate(self, twist: Array, forward: Array) -> Array:
        """The rate of the offset (6,) under a twist; the inverse of `twist`."""
        rate = twist - forward
        x = self._lever.tolist()
        # J_l(x)^-1 = jlog3(Rx^T), whose logarithm -x is at hand
        inverse = assemble(polynomial(x, -0.5, log_terms(square(x))[0]), (3, 3))
        rate[3:] = inverse @ (twist[3:] - self._Rx @ forward[3:])
        return self.turned_back(rate)
