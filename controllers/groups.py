"""Robots that are evaluated together, and where each of their entries stands in the flat ports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.fleet_selection import Index
from ..robot.fleet_terms import RobotTerms


class Entries:
    """Chosen entries of a flat array as (k,) for one robot, (N, k) for several: views where they lie side by side."""

    __slots__ = ("at", "shape", "whole")

    def __init__(self, index: Index) -> None:
        flat = index.ravel()
        start = int(flat[0]) if len(flat) else 0
        side_by_side = bool((flat == np.arange(start, start + len(flat))).all())
        self.shape = index.shape if len(index) > 1 else index.shape[1:]
        self.whole = side_by_side
        self.at: Any = slice(start, start + len(flat)) if side_by_side else index.reshape(self.shape)

    def take(self, array: Array) -> Array:
        """The entries, perhaps a view."""
        seen: Array = array[self.at]
        return seen.reshape(self.shape) if self.whole and len(self.shape) == 2 else seen

    def put(self, array: Array, values: Array) -> None:
        """Writes the entries."""
        array[self.at] = values.reshape(-1) if self.whole else values


class Group:
    """Robots of one model, controlled by the same joints at the same tool with the same switches.

    Attributes:
        members: Their places among the controlled robots (N,).
        n: Controlled joints of each.
        dofs: Their entries in the compact ports.
        wrap: Which of the n joints are angles without end.
        switches: What is switched on for them.
        rows: Their entries along the first axis of ports per robot.
        fixed: Gains, limits and frames of theirs, by name, as the laws take them.
        native: Their step in the native kernel, None where there is none.
    """

    def __init__(self, members: list[int], offsets: Index, n: int, wrap: NDArray[np.bool_], switches: Any) -> None:
        self.members = np.array(members, dtype=np.intp)
        self.one = len(members) == 1
        self.n, self.switches = n, switches
        self.dofs = Entries(offsets[self.members][:, None] + np.arange(n))
        self.wrap: Index | None = np.flatnonzero(wrap) if wrap.any() else None
        self.fixed: dict[str, Any] = {}
        self.native: Any = None
        self._first = offsets[self.members]
        rows = self.members
        side_by_side = bool((rows == np.arange(rows[0], rows[0] + len(rows))).all())
        self.rows: Any = int(rows[0]) if self.one else slice(rows[0], rows[-1] + 1) if side_by_side else rows

    def robots(self, array: Array) -> Array:
        """The entries of these robots along the first axis, without that axis if it is one robot."""
        result: Array = array[self.rows]
        return result


class ModelGroup(Group):
    """A group with the terms of its model.

    Attributes:
        terms: The terms.
        frame: The tool, None for controllers without one.
        q: Entries of the robots' configurations in the fleet's.
        qd: Entries of their velocities.
        columns: The controlled joints among all nv; None if that is all of them in order.
        rest: Zero velocities.
        bases: Poses of their bases in the world (N, 4, 4) where the terms are those of a base at the origin; or None.
    """

    def bind(
        self,
        terms: RobotTerms,
        frame: str | None,
        bases: Array | None,
        indices: tuple[Index, Index],
        positions: Index,
        columns: Index,
    ) -> ModelGroup:
        """Sets what belongs to the model; returns itself."""
        self.terms, self.frame, self.bases = terms, frame, bases
        q, qd = indices
        self._starts = q[:, 0] if q.shape[1] else q.sum(axis=1), qd[:, 0] if qd.shape[1] else qd.sum(axis=1)
        self._joints = columns, positions
        self.q, self.qd = Entries(q), Entries(qd)
        nv = qd.shape[1]
        every = len(positions) == q.shape[1] and (positions == np.arange(len(positions))).all()
        self._positions = None if every else positions
        self.columns = None if len(columns) == nv and (columns == np.arange(nv)).all() else columns
        self.rest = np.zeros(self.qd.shape)
        return self

    def places(self) -> tuple[Any, ...]:
        """First entries of the robots in configuration, velocity and compact ports, and their rows (N,) each."""
        found = (*self._starts, self._first, self.members)
        return tuple(np.ascontiguousarray(part, dtype=np.int64) for part in found)

    def joints(self) -> tuple[Any, ...]:
        """Entries of the controlled joints in dq and in q, and which of them turn without end (n,) each."""
        wraps = np.zeros(self.n, dtype=np.int32)
        if self.wrap is not None:
            wraps[self.wrap] = 1
        return *(np.ascontiguousarray(part, dtype=np.int32) for part in self._joints), wraps

    def tool(self, q: Array) -> tuple[Array, Array]:
        """Pose of the tool in the world (..., 4, 4) and its Jacobian (..., 6, nv), world axes."""
        assert self.frame is not None
        T, J = self.terms.pose_and_jacobian(q, self.frame)
        return (T, J) if self.bases is None else (self.bases @ T, self._in_world(J))

    def bias_acceleration(self, q: Array, dq: Array) -> Array:
        """dJ/dt dq of the tool (..., 6), world axes."""
        assert self.frame is not None
        a = self.terms.bias_acceleration(q, dq, self.frame)
        return a if self.bases is None else self._in_world(a[..., None])[..., 0]

    def _in_world(self, columns: Array) -> Array:
        """Spatial vectors (N, 6, k) from the axes of the bases to those of the world."""
        assert self.bases is not None
        n, _, k = columns.shape
        turned: Array = self.bases[:, None, :3, :3] @ columns.reshape(n, 2, 3, k)
        return turned.reshape(n, 6, k)

    def positions(self, q: Array) -> Array:
        """The coordinates of the controlled joints along the last axis."""
        return q if self._positions is None else q[..., self._positions]

    def controlled(self, array: Array) -> Array:
        """The controlled joints along the last axis."""
        return array if self.columns is None else array[..., self.columns]

    def block(self, matrix: Array) -> Array:
        """The controlled joints along the last two axes."""
        return matrix if self.columns is None else matrix[..., self.columns[:, None], self.columns]

    def spread(self, values: Array) -> Array:
        """All nv joints, 0 where not controlled."""
        if self.columns is None:
            return values
        result = np.zeros(self.rest.shape)
        result[..., self.columns] = values
        return result
