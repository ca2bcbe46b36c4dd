"""Torque envelope: how much the robot can carry where, within its torque limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array, scalar
from ..robot.base import as_robot
from ..robot.errors import InputError
from ..robot.trajectory import Trajectory
from .course import course_of
from .options import loaded

if TYPE_CHECKING:
    from ..robot.base import RobotBase


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """What can be carried in N states."""

    mass: Array
    """Greatest mass (N,) [kg]: 0 where the robot cannot even carry itself, infinite where no limit is in the way."""
    joint: NDArray[np.intp]
    """Degree of freedom that sets it (N,), -1 where none does."""
    torque: Array
    """Without anything carried (N, nv) [N m or N]."""
    torque_per_mass: Array
    """What each kilogram adds (N, nv)."""

    def __repr__(self) -> str:
        if not len(self.mass):
            return "<Envelope of no state>"
        at = int(self.mass.argmin())
        by = f", set by degree of freedom {self.joint[at]}" if self.joint[at] >= 0 else ""
        return f"<Envelope of {len(self.mass)} states: {self.mass[at]:.4g} kg at least, in state {at}{by}>"


def torque_envelope(
    robot: RobotBase,
    q: Any,
    dq: Any = None,
    ddq: Any = None,
    *,
    com: Any = None,
    limits_scale: Any = 1.0,
    friction: bool = True,
    motor_inertia: bool = True,
    task: Any = None,
) -> Envelope:
    """Greatest point mass at the tcp that can be held, or moved, within the torque limits.

    Inverse dynamics is linear in the mass m of what is carried: tau(m) = tau(0) + m (tau(1) - tau(0)). So each limit
    |tau_j(m)| <= scale * limit_j bounds m from above, and the least of these bounds is exact.

    Args:
        robot: The robot; it is not moved.
        q: Configurations (N, nq), or one (nq,), or a Trajectory, which has velocities and accelerations of its own.
        dq: Velocities (N, nv); None is at rest.
        ddq: Accelerations (N, nv); None is none.
        com: Centre of the mass in the tcp (3,) [m]; None is its origin.
        limits_scale: Part of the torque limits that may be used.
        friction: As in `robot.id`; without effect at rest.
        motor_inertia: As in `robot.id`.
        task: Its gravity, if it has one, stands in for the robot's.
    """
    as_robot(robot)
    scale = scalar(limits_scale, "limits_scale", positive=True)
    if isinstance(q, Trajectory):
        if dq is not None or ddq is not None:
            raise InputError("dq and ddq go with an array of configurations; a trajectory has its own")
        course = course_of(robot, q)
        q, dq, ddq = course.trajectory.q, course.dq, course.ddq
    q = np.atleast_2d(robot._one_or_many(q))
    still = np.zeros((len(q), robot.nv))
    dq = still if dq is None else np.atleast_2d(robot._rates(dq, still[0], "dq"))
    ddq = still if ddq is None else np.atleast_2d(robot._rates(ddq, still[0], "ddq"))
    options: dict[str, Any] = {"friction": friction, "motor_inertia": motor_inertia, "task": task}
    empty = robot.id(q, dq, ddq, **options)
    added = loaded(robot, 1.0, com).id(q, dq, ddq, **options) - empty
    limit = scale * robot.limits.torque
    room = np.where(added >= 0.0, limit - empty, limit + empty)
    room = np.where((np.abs(empty) > limit), -1.0, room)
    weight = np.abs(added)
    idle = weight <= 1e-12
    bound = np.where(idle, np.where(room < 0.0, -1.0, np.inf), room / np.where(idle, 1.0, weight))
    if not robot.nv:
        return Envelope(np.full(len(q), np.inf), np.full(len(q), -1), empty, added)
    joint = bound.argmin(axis=1)
    mass = bound[np.arange(len(q)), joint]
    return Envelope(np.maximum(mass, 0.0), np.where(np.isfinite(mass), joint, -1), empty, added)
