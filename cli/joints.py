"""The joints of a robot with their types, axes and units, as tables and JSON show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot import PinRobot
from ..robot.arrays import Array

_KINDS = {  # how the names of Pinocchio's joint models start; the first match counts
    "FreeFlyer": "floating",
    "Planar": "planar",
    "Spherical": "spherical",
    "RUB": "continuous",
    "RevoluteUnbounded": "continuous",
    "R": "revolute",
    "P": "prismatic",
}
_LENGTHS = {"prismatic": (0, 1), "floating": (0, 3), "planar": (0, 2)}  # which entries are lengths, in q and in dq


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint in the user's coordinates.

    Attributes:
        name: Name of the joint.
        kind: revolute, continuous, prismatic, floating, planar or spherical.
        parent: Name of the joint it hangs on.
        axis: Axis in the joint's own frame (3,), or None where it has more than one.
        q: Where its coordinates stand in a configuration (nq,).
        v: Where its coordinates stand in a velocity (nv,).
    """

    name: str
    kind: str
    parent: str
    axis: Array | None
    q: slice
    v: slice

    @property
    def position_units(self) -> list[str]:
        """Unit of each entry in a configuration: a quaternion and a direction have none."""
        angle = "rad" if self.kind in ("revolute", "continuous") else ""
        return ["m" if length else angle for length in self._lengths(self.q)]

    @property
    def is_length(self) -> list[bool]:
        """For each entry of a velocity whether it is a translation (m, N) or a rotation (rad, N m)."""
        return self._lengths(self.v)

    def _lengths(self, entries: slice) -> list[bool]:
        first, last = _LENGTHS.get(self.kind, (0, 0))
        return [first <= i < last for i in range(entries.stop - entries.start)]


def joints_of(robot: PinRobot) -> list[Joint]:
    """The joints of `robot` in the order of its configuration."""
    parents, found = robot.parents, []
    neutral = robot.to_pinocchio(robot.neutral())
    for name, (q, v) in robot.coordinate_slices().items():
        model = robot.model.joints[robot.model.getJointId(name)]
        axis = _axis(model, neutral) if model.nv == 1 else None
        found.append(Joint(name, kind_of(model), parents[name], axis, q, v))
    return found


def position_units(robot: PinRobot) -> list[str]:
    """Unit of every entry of a configuration (nq,)."""
    return [unit for joint in joints_of(robot) for unit in joint.position_units]


def lengths(robot: PinRobot) -> list[bool]:
    """For every entry of a velocity (nv,) whether it is a translation."""
    return [flag for joint in joints_of(robot) for flag in joint.is_length]


def kind_of(model: Any) -> str:
    """The type of a joint in the words of a URDF, from Pinocchio's model of it."""
    bare = str(model.shortname()).removeprefix("JointModel")
    return next((kind for start, kind in _KINDS.items() if bare.startswith(start)), bare)


def _axis(model: Any, q: Array) -> Array:
    """The axis in the joint's frame: its motion subspace, linear part of a slider, angular part of a hinge."""
    data = model.createData()
    model.calc(data, q)
    subspace = np.asarray(data.S, dtype=float).reshape(6)
    linear, angular = subspace[:3], subspace[3:]
    return angular if angular.any() else linear
