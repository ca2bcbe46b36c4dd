"""Course: a trajectory on a robot, columns in its order, with the motion between the samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError, UnsupportedError
from ..robot.piecewise import Piecewise
from ..robot.trajectory import Trajectory

if TYPE_CHECKING:
    from ..robot.base import RobotBase

_TURN = 2.0 * np.pi
STRIDE = 0.05
"""Where quantities have no polynomial, they are evaluated at least every 0.05 rad or m of any joint."""
_FINEST = 400
"""Parts of one interval between samples at most."""
Places = NDArray[np.intp]


class States(NamedTuple):
    """Evaluated states, M of them."""

    segment: Places
    """Interval between samples (M,)."""
    u: Array
    """Part of it that has passed (M,)."""
    t: Array
    q: Array
    dq: Array
    ddq: Array


@dataclass(frozen=True, eq=False)
class Course:
    """A trajectory on a robot.

    A robot all of whose joints have one coordinate follows the polynomials of the trajectory. Any other one goes from
    sample to sample by `robot.interpolate`, at a constant velocity, which only a linear trajectory asks for.
    """

    robot: RobotBase
    trajectory: Trajectory
    """Columns in the order of the robot; angles of continuous joints that jump at +-pi continued."""
    path: Piecewise | None
    """None where coordinates are not plain numbers."""

    @cached_property
    def speed(self) -> Piecewise | None:
        """Velocities."""
        return None if self.path is None else self.path.derivative()

    @cached_property
    def acceleration(self) -> Piecewise | None:
        """Accelerations."""
        return None if self.speed is None else self.speed.derivative()

    @cached_property
    def steps(self) -> Array:
        """From sample to sample (N - 1, nv)."""
        return self.robot.difference(self.trajectory.q[:-1], self.trajectory.q[1:])

    @cached_property
    def spans(self) -> Array:
        """Time between samples (N - 1,) [s]."""
        return np.diff(self.trajectory.t)

    @cached_property
    def dq(self) -> Array:
        """Velocities at the samples (N, nv)."""
        return self.trajectory.dq if self.path is not None or "dq" in self.trajectory.given else self._slopes[0]

    @cached_property
    def ddq(self) -> Array:
        """Accelerations at the samples (N, nv)."""
        return self.trajectory.ddq if self.path is not None or "ddq" in self.trajectory.given else self._slopes[1]

    @cached_property
    def _slopes(self) -> tuple[Array, Array]:
        slopes = self.steps / self.spans[:, None]
        edges = np.vstack([slopes[:1], slopes, slopes[-1:]])
        h = np.concatenate([self.spans[:1], self.spans, self.spans[-1:]])[:, None]
        return 0.5 * (edges[:-1] + edges[1:]), 2.0 * np.diff(edges, axis=0) / (h[:-1] + h[1:])

    @cached_property
    def ways(self) -> Array:
        """Upper bounds of how far each degree of freedom travels between samples (N - 1, nv)."""
        if self.speed is None:
            return np.abs(self.steps)
        low, high = self.speed.hull()
        return np.asarray(np.maximum(-low, high) * self.spans[:, None])

    @cached_property
    def extent(self) -> tuple[Array, Array]:
        """Bounds of q over the whole course (nq,), (nq,)."""
        if self.path is None:
            most = np.abs(self.steps).max() if self.robot.nv else 0.0
            return self.trajectory.q.min(axis=0) - most, self.trajectory.q.max(axis=0) + most
        low, high = self.path.hull()
        return low.min(axis=0), high.max(axis=0)

    def configurations(self, segment: Places, u: Array) -> Array:
        """q (M, nq) at parts u (M,) of the segments (M,)."""
        if self.path is not None:
            return self.path.evaluate(segment, u)
        return self.robot.integrate(self.trajectory.q[segment], u[:, None] * self.steps[segment])

    def states(self, segment: Places, u: Array) -> States:
        """States at parts u (M,) of the segments (M,)."""
        t, q = self.trajectory.t[segment] + u * self.spans[segment], self.configurations(segment, u)
        if self.speed is not None and self.acceleration is not None and self.trajectory.interpolation != "linear":
            return States(segment, u, t, q, self.speed.evaluate(segment, u), self.acceleration.evaluate(segment, u))
        blend = u[:, None]
        dq = self.steps[segment] / self.spans[segment, None]
        if "dq" in self.trajectory.given:
            dq = (1.0 - blend) * self.dq[segment] + blend * self.dq[segment + 1]
        return States(segment, u, t, q, dq, (1.0 - blend) * self.ddq[segment] + blend * self.ddq[segment + 1])

    def at(self, times: Array) -> States:
        """States at times (M,) within the course."""
        t = self.trajectory.t
        i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        return self.states(i, np.clip((times - t[i]) / self.spans[i], 0.0, 1.0))

    @cached_property
    def grid(self) -> States:
        """All samples, and so many states between them that no joint travels more than `STRIDE` from one to the next.

        Where accelerations jump at a sample, both sides are there.
        """
        parts = np.clip(np.ceil(self.ways.max(axis=1, initial=0.0) / STRIDE), 1, _FINEST).astype(np.intp)
        both = self._jumps()
        count = parts + both
        segment = np.repeat(np.arange(len(parts)), count)
        within = np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count)
        return self.states(segment, within / parts[segment])

    def _jumps(self) -> NDArray[np.bool_]:
        """Whether the end of a segment is a state of its own (N - 1,): the last one's is."""
        end = np.zeros(len(self.spans), dtype=bool)
        end[-1] = True
        if self.acceleration is None or self.trajectory.interpolation == "linear":
            return end
        first, last = self.acceleration.ends()
        left, right = last[:-1], first[1:]
        end[:-1] = (np.abs(left - right) > 1e-9 * (1.0 + np.abs(left))).any(axis=1)
        return end


def course_of(robot: RobotBase, trajectory: Any) -> Course:
    """A trajectory on a robot.

    Raises:
        InputError: naming the columns that are missing, left over or too many.
    """
    if all(hasattr(trajectory, name) for name in ("time", "q", "dq", "q_names")):  # what a closed loop recorded
        trajectory = Trajectory(trajectory.time, trajectory.q, trajectory.dq, names=trajectory.q_names)
    if not isinstance(trajectory, Trajectory):
        raise InputTypeError(
            f"trajectory must be a Trajectory, got {type(trajectory).__name__}; Trajectory.load reads one"
        )
    if trajectory.names is not None:
        trajectory = trajectory.ordered(robot.coordinate_names)
    if trajectory.q.shape[1] != robot.nq:
        names = ", ".join(robot.coordinate_names)
        raise InputError(
            f"trajectory has {trajectory.q.shape[1]} columns of q, robot {robot.name!r} has {robot.nq}: {names}"
        )
    flat = all(q.stop - q.start == 1 == v.stop - v.start for q, v in robot.coordinate_slices().values())
    if not flat:
        return Course(robot, _on_manifold(robot, trajectory), None)
    trajectory = _continued(robot, trajectory)
    return Course(robot, trajectory, trajectory.path)


def _on_manifold(robot: RobotBase, trajectory: Trajectory) -> Trajectory:
    if trajectory.interpolation != "linear":
        raise UnsupportedError(
            f'robot {robot.name!r} has joints of several coordinates, between whose samples only "linear" is defined; '
            'make the trajectory with interpolation="linear"'
        )
    for name in trajectory.given[1:]:
        width = getattr(trajectory, name).shape[1]
        if width != robot.nv:
            raise InputError(f"{name} has {width} columns, robot {robot.name!r} has {robot.nv} degrees of freedom")
    return trajectory._with(q=robot._on_manifold(trajectory.q, "q"))


def _continued(robot: RobotBase, trajectory: Trajectory) -> Trajectory:
    """The trajectory with the angles of continuous joints continued where they were wrapped into [-pi, pi]."""
    step = np.diff(trajectory.q, axis=0)
    turned = np.abs(robot.difference(trajectory.q[:-1], trajectory.q[1:]) - step) > 1.0
    wrapped = (np.abs(trajectory.q) <= np.pi + 1e-6).all(axis=0)
    columns = np.flatnonzero(turned.any(axis=0) & wrapped)
    if not len(columns):
        return trajectory
    q = trajectory.q.copy()
    turns = np.vstack([np.zeros((1, len(columns))), -np.cumsum(np.round(step[:, columns] / _TURN), axis=0)])
    q[:, columns] += _TURN * turns
    return trajectory._with(q=q)
