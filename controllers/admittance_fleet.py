"""Cartesian admittance for the robots of a fleet, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError
from ..robot.fleet import Fleet, as_fleet
from .admittance_result import AdmittanceResult
from .cartesian_admittance import CartesianAdmittance
from .ports import Port, writable


class CartesianAdmittanceFleet:
    """One `CartesianAdmittance` per controlled robot, all with the same options, each with a state of its own.

    What differs from robot to robot is set on its member: `controller["left"].set_reference(...)`.

    Args:
        fleet: A Fleet, or one robot.
        articulations: Robots by index, label or pattern, as in the other controllers; None takes all.
        make: How a member is made: `CartesianAdmittance`, its `from_filter` or `from_raw`, or a function of a robot.
        **options: Arguments of `make`.
    """

    @dataclass(slots=True)
    class Inputs:
        """State of all robots, flat, and raw readings of the controlled robots' sensors (R, 6)."""

        joint_q: Any
        joint_qd: Any
        wrench: Any

    @dataclass(slots=True)
    class Outputs:
        """Velocity commands of all robots, flat (joint_dof_count,); 0 for robots that are not controlled."""

        joint_qd: Any

    def __init__(
        self, fleet: Any, articulations: Any = None, *, make: Any = CartesianAdmittance, **options: Any
    ) -> None:
        self.fleet: Fleet = as_fleet(fleet)
        if not callable(make):
            raise InputTypeError(f"make must be a function of a robot, got {type(make).__name__}")
        self._robots = self.fleet.select(articulations, None).robots
        self.members: tuple[CartesianAdmittance, ...] = tuple(
            make(self.fleet.robots[robot], **options) for robot in self._robots
        )
        count, q, qd = len(self.members), self.fleet.joint_coord_count, self.fleet.joint_dof_count
        self._ports = [Port("joint_q", (q,)), Port("joint_qd", (qd,)), Port("wrench", (count, 6))]
        self.results: tuple[AdmittanceResult, ...] = ()
        """What each member gave at the last step."""

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, robot: Any) -> CartesianAdmittance:
        labels = self.robot_labels
        if isinstance(robot, str):
            if robot not in labels:
                raise InputError(f"no controlled robot {robot!r}; they are {', '.join(map(repr, labels))}")
            robot = labels.index(robot)
        if not isinstance(robot, int | np.integer):
            raise InputTypeError(f"a member is found by label or index, got {type(robot).__name__}")
        return self.members[int(robot)]

    @property
    def robot_labels(self) -> tuple[str, ...]:
        """Labels of the controlled robots (R,)."""
        return tuple(self.fleet.labels[robot] for robot in self._robots)

    @property
    def controlled_robot_count(self) -> int:
        """Number R of controlled robots."""
        return len(self.members)

    @property
    def faults(self) -> NDArray[np.bool_]:
        """Robots that were stopped at the last step (R,), for NaN or want of a velocity."""
        return np.array([not result for result in self.results], dtype=bool)

    def input(self) -> Inputs:
        """Inputs with every port allocated; joint_q at the robots' stored configurations."""
        inputs = self.Inputs(*(port.allocate() for port in self._ports))
        inputs.joint_q[:] = self.fleet.joint_q()
        return inputs

    def output(self) -> Outputs:
        """Outputs with an array of velocities."""
        return self.Outputs(np.zeros(self.fleet.joint_dof_count))

    def step(self, *, inputs: Inputs, outputs: Outputs, dt: Any = None) -> None:
        """One tick of every member: reads `inputs`, overwrites `outputs.joint_qd`.

        NaN in one robot's inputs stops that robot alone.

        Args:
            inputs: What `input` made, filled in.
            outputs: What `output` made.
            dt: Not used: the members keep their own. Accepted so that all controllers are called alike.
        """
        if type(inputs) is not self.Inputs or type(outputs) is not self.Outputs:
            raise InputTypeError("inputs and outputs must be what controller.input() and controller.output() make")
        q, qd, wrench = (port.read(getattr(inputs, port.name)) for port in self._ports)
        target = writable(outputs.joint_qd, (self.fleet.joint_dof_count,), "joint_qd")
        command: Array = np.zeros(self.fleet.joint_dof_count)
        results = []
        for row, (robot, member) in enumerate(zip(self._robots, self.members, strict=True)):
            at, rate = (slice(offsets[robot], offsets[robot + 1]) for offsets in self._offsets)
            results.append(member.step(q[at], qd[rate], wrench[row]))
            command[rate] = results[-1].dq
        self.results = tuple(results)
        target[...] = command

    @property
    def _offsets(self) -> tuple[Any, Any]:
        return self.fleet.q_offsets, self.fleet.qd_offsets

    def reset(self) -> None:
        """Every member to rest where it was at the last step."""
        for member in self.members:
            member.reset()
