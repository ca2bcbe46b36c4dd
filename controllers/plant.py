"""The plant of a closed loop: a robot's forward dynamics over a step, by semi-implicit Euler or Runge and Kutta."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.base import RobotBase
from ..robot.errors import unknown_name
from ..robot.spatial import ReferenceFrame
from .lie_step import LieStep

INTEGRATORS = ("euler", "rk4")
Wrench = Callable[[float, Array, Array], Array | None]
"""(t, q, dq) -> wrench on the tool (6,), world axes; None for none."""
_LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
_GAMMA = 1.0 - math.sqrt(0.5)
"""Of the two-stage Rosenbrock method that is stable however steep the friction is."""


class Plant:
    """A robot under torques held for dt.

        euler   (M + dt D) ddq = tau - C dq - g - friction(dq) + J^T wrench,  D = slope of the friction
                dq <- dq + dt ddq,  q <- q (+) dt dq
        rk4     half a step of friction alone, a step of Runge and Kutta's fourth-order method without friction, half
                a step of friction: of fourth order without friction, of second with it, less where joints stick

    Friction at rest is steep, a hundred times its size per rad/s; both ways take it implicitly.
    """

    def __init__(self, robot: RobotBase, tool: str, integrator: str, friction: bool, motor_inertia: bool) -> None:
        if integrator not in INTEGRATORS:
            raise unknown_name("integrator", integrator, INTEGRATORS)
        self.robot, self.tool, self._motor_inertia = robot, tool, motor_inertia
        motors = robot.motors
        self._friction = friction and bool(motors.damping.any() or motors.coulomb.any())
        self._rotors = motors.reflected_inertia if motor_inertia else np.zeros(robot.nv)
        self._damping, self._steepness = motors.damping, 100.0 * motors.coulomb
        self.step = self._euler if integrator == "euler" else self._rk4
        """`step(t, dt, q, dq, tau, wrench)` -> q and dq at the end."""
        self._lie = LieStep(robot)

    def acceleration(self, q: Array, dq: Array, tau: Array, wrench: Array | None) -> Array:
        """Of the plant without friction (nv,)."""
        force = tau if wrench is None else tau + self.robot.frame_jacobian(q, self.tool, _LWA).T @ wrench
        return self.robot._accelerations(q, dq, force, self._motor_inertia)

    def _euler(self, t: float, dt: float, q: Array, dq: Array, tau: Array, wrench: Wrench) -> tuple[Array, Array]:
        push = wrench(t, q, dq)
        if self._friction:
            force = tau if push is None else tau + self.robot.frame_jacobian(q, self.tool, _LWA).T @ push
            rest = force - self.robot.rnea(q, dq, np.zeros(self.robot.nv)) - self.robot._friction(dq)
            dq = dq + dt * self._solve(self._inertia(q, dt * self._slope(dq)), rest)
        else:
            dq = dq + dt * self.acceleration(q, dq, tau, push)
        return self.robot._integrate(q, dt * dq), dq

    def _rk4(self, t: float, dt: float, q: Array, dq: Array, tau: Array, wrench: Wrench) -> tuple[Array, Array]:
        if self._friction:
            dq = self._slowed(q, dq, 0.5 * dt)
        move, twist = self.robot._integrate, self._lie.rate
        h = 0.5 * dt
        u1, a1 = dq, self.acceleration(q, dq, tau, wrench(t, q, dq))
        v = dq + h * a1
        p = move(q, h * u1)
        u2, a2 = twist(h * u1, v), self.acceleration(p, v, tau, wrench(t + h, p, v))
        v = dq + h * a2
        p = move(q, h * u2)
        u3, a3 = twist(h * u2, v), self.acceleration(p, v, tau, wrench(t + h, p, v))
        v = dq + dt * a3
        p = move(q, dt * u3)
        u4, a4 = twist(dt * u3, v), self.acceleration(p, v, tau, wrench(t + dt, p, v))
        q = move(q, dt / 6.0 * (u1 + 2.0 * (u2 + u3) + u4))
        dq = dq + dt / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        return q, self._slowed(q, dq, h) if self._friction else dq

    def _slowed(self, q: Array, dq: Array, h: float) -> Array:
        """M dv/dt = -friction(v) over h, M held: ROS2 (Verwer et al., SIAM J. Sci. Comput. 20(4), 1999)."""
        M = self._inertia(q, 0.0)
        inverse = np.linalg.inv(M + np.diag(_GAMMA * h * self._slope(dq)))
        k1 = inverse @ -self.robot._friction(dq)
        k2 = inverse @ (-self.robot._friction(dq + h * k1) - 2.0 * (M @ k1))
        return np.asarray(dq + h * (1.5 * k1 + 0.5 * k2))

    def _inertia(self, q: Array, more: Any) -> Array:
        """M of bodies and rotors with `more` (nv,) on its diagonal."""
        M = self.robot.crba(q)
        M.flat[:: len(M) + 1] += self._rotors + more
        return M

    def _slope(self, dq: Array) -> Array:
        """Slope of damping*dq + coulomb*sin(atan(100 dq))."""
        s = 100.0 * dq
        s = 1.0 + s * s
        slope: Array = self._damping + self._steepness / (s * np.sqrt(s))
        return slope

    def _solve(self, M: Array, rest: Array) -> Array:
        try:
            result: Any = np.linalg.solve(M, rest)
        except np.linalg.LinAlgError:
            raise self.robot._singular() from None
        return np.asarray(result)
