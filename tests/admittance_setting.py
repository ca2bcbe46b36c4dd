"""Laws, robots and ideal drives that tests of admittance share."""

from __future__ import annotations

from typing import Any

import numpy as np

from knuckle import PinRobot
from knuckle.controllers import CartesianAdmittance
from knuckle.robot.spatial import log3

from .samples import load

ARM, LEGS, DUAL = load("sevenr_arm"), load("quadruped"), load("dual_arm")


START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


LAW: dict[str, Any] = {
    "distal_link": "tool",
    "stiffness": [1000.0] * 3 + [4.0] * 3,
    "damping": [200.0] * 3 + [2.0] * 3,
    "inertia": [10.0] * 3 + [0.2] * 3,
    "dt": 2e-3,
}


FILTER: dict[str, Any] = {k: v for k, v in LAW.items() if k != "inertia"} | {"lam": 0.05}


def made(form: str = "exact", robot: PinRobot = ARM, **change: Any) -> CartesianAdmittance:
    if form == "exact":
        return CartesianAdmittance(robot, **(LAW | change))
    return CartesianAdmittance.from_filter(robot, **(FILTER | change))


def in_tool(robot: PinRobot, q: np.ndarray, wrench: Any, frame: str = "tool") -> np.ndarray:
    """What a sensor at the tool reads of a wrench in world axes about its origin."""
    return (np.reshape(wrench, (2, 3)) @ robot.pose(q, frame)[:3, :3]).reshape(6)


def follow(
    controller: CartesianAdmittance, count: int, wrench: Any, q: np.ndarray = START, robot: PinRobot = ARM
) -> tuple[np.ndarray, list[Any]]:
    """An ideal velocity-controlled robot under a wrench in world axes: configurations and results."""
    rows, results = [q], []
    for _ in range(count):
        results.append(controller.step(q, None, in_tool(robot, q, wrench)))
        q = robot.integrate(q, controller.filter_time_step * results[-1].dq)
        rows.append(q)
    return np.array(rows), results


def offsets(q: np.ndarray, robot: PinRobot = ARM) -> np.ndarray:
    T = robot.fk(q, frame="tool") if q.ndim == 2 else robot.fk(q[None], frame="tool")
    return np.column_stack((T[:, :3, 3] - T[0, :3, 3], log3(T[:, :3, :3] @ T[0, :3, :3].T)))


def made_like(controller: CartesianAdmittance, q: np.ndarray, raw: np.ndarray) -> np.ndarray:
    return np.asarray(controller.step(q, None, raw).wrench)


def commands_around(controller: CartesianAdmittance, change: Any) -> tuple[np.ndarray, float]:
    """How far the command moves in the tick of a change, and how far it moves in others just before."""
    wrench = np.array([6.0, -4.0, 8.0, 0.2, -0.1, 0.3])
    q, results = follow(controller, 60, wrench)
    change(controller)
    after = controller.step(q[-1], None, in_tool(ARM, q[-1], wrench)).twist
    usual = max(np.abs(b.twist - a.twist).max() for a, b in zip(results[-20:], results[-19:], strict=False))
    return np.abs(after - results[-1].twist), usual


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in LAW.items() if key != name}
