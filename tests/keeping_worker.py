"""What a worker process does with a robot it was sent."""

from __future__ import annotations

from typing import Any

from knuckle import PinRobot


def answers(robot: PinRobot, q: Any) -> tuple[Any, ...]:
    robot.detach("cup")
    return robot.fk(q).homogeneous, robot.id(q), robot.collision.ngeoms, list(robot.attached), robot.ik(robot.fk(q)).q
