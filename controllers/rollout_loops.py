"""The loops of a rollout: in the kernel group by group, or step by step on any robot."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot import native
from ..robot.arrays import Array
from ..robot.base import RobotBase
from ..robot.errors import InputError
from ..robot.fleet import Fleet
from ..robot.fleet_pinocchio import LaneTerms
from ..robot.fleet_selection import Index
from ..robot.fleet_terms import terms_of
from .native_step import NativeGroup, NativeSteps
from .rollout_plain import PlainLoop, Plant
from .rollout_result import Rollout

_SEGMENTS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Checked arguments of a rollout."""

    dt: float
    steps: int
    every: int
    friction: bool
    motor_inertia: bool
    walls: Array
    frame: str | None
    threads: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Bundle:
    """Trajectories of one plant under one group of the controller.

    Attributes:
        group: The group.
        plant: The robot that moves.
        tool: Its frame where walls push, None without walls.
        which: The trajectories (N,).
        members: The controlled robot of each (N,).
    """

    group: Any
    plant: RobotBase
    tool: str | None
    which: Index
    members: Index


class Loops:
    """Robots, controller and targets, ready to run."""

    def __init__(self, fleet: Fleet, controller: NativeSteps, inputs: Any, setting: Setting, count: int) -> None:
        self._controller, self._setting = controller, setting
        controller._refresh()
        self.robots = fleet.robots if len(fleet) == count else fleet.robots * count
        self._q_at = np.concatenate(([0], np.cumsum([robot.nq for robot in self.robots])))
        self._v_at = np.concatenate(([0], np.cumsum([robot.nv for robot in self.robots])))
        self._ports = self._read(inputs)
        self._bundles = self._gathered(count)

    def _read(self, inputs: Any) -> dict[str, Array]:
        """Ports checked as for a step; the state is the loop's own."""
        controller, given = self._controller, copy.copy(inputs)
        if type(inputs) is type(controller).Inputs:
            fleet = controller._model.fleet
            given.joint_q, given.joint_qd = np.zeros(fleet.joint_coord_count), np.zeros(fleet.joint_dof_count)
        ports = controller._read(given)
        return {name: np.array(values) for name, values in ports.items()}  # what changes meanwhile is not seen

    def _gathered(self, count: int) -> list[_Bundle]:
        controller, selection = self._controller, self._controller._model.selection
        if len(selection.robots) != controller._model.fleet.articulation_count:
            raise InputError("controller must control every robot of its fleet; leave `articulations` out")
        group_of: dict[int, Any] = {int(k): group for group in controller._groups for k in group.members}
        found: dict[tuple[int, int], list[int]] = {}
        for i in range(count):
            member = i if controller.controlled_robot_count > 1 else 0
            found.setdefault((id(group_of[member]), id(self.robots[i])), []).append(i)
        bundles = []
        for which in found.values():
            members = np.array(which if controller.controlled_robot_count > 1 else [0] * len(which), dtype=np.intp)
            group, plant = group_of[int(members[0])], self.robots[which[0]]
            self._check(group, plant)
            frame = group.frame if self._setting.frame is None else self._setting.frame
            known = plant._frame(frame) if len(self._setting.walls) or self._setting.frame is not None else None
            tool = known if len(self._setting.walls) else None
            bundles.append(_Bundle(group, plant, tool, np.array(which, dtype=np.intp), members))
        return bundles

    def _check(self, group: Any, plant: RobotBase) -> None:
        believed = group.terms.robot
        if (plant.nq, plant.nv) != (believed.nq, believed.nv) or list(plant.joints) != list(believed.joints):
            raise InputError(
                f"robot {plant.name!r} that moves and {believed.name!r} that is controlled must have the same joints"
            )

    def run(self, q: Array, dq: Array, told: Callable[[int], None] | None) -> Rollout:
        """All trajectories from flat states."""
        s = self._setting
        records = s.steps // s.every + 1
        flat = np.empty((records, q.size)), np.empty((records, dq.size)), np.zeros((records, dq.size))
        lost = np.full(len(self.robots), -1, dtype=np.int64)
        loops = self._loops(q, dq, flat, lost)
        stride = s.steps if told is None else max(1, s.steps // _SEGMENTS)
        for start in range(0, s.steps, stride):
            end = min(start + stride, s.steps)
            for loop in loops:
                loop(start, end)
            if told is not None:
                told(end)
        tools = tuple(self._tool_of(i) for i in range(len(self.robots)))
        time: Array = np.arange(records, dtype=np.float64) * (s.every * s.dt)
        return Rollout(time, *flat, lost, self.robots, tools)

    def _tool_of(self, i: int) -> str | None:
        controlled = self._controller._model.tools
        if self._setting.frame is not None or controlled is None:
            return self._setting.frame
        return controlled[i if len(controlled) > 1 else 0]

    def _loops(
        self, q: Array, dq: Array, flat: tuple[Array, Array, Array], lost: NDArray[np.int64]
    ) -> list[Callable[[int, int], None]]:
        """In the kernel plant by plant, in numpy all plants of a group together."""
        found: list[Callable[[int, int], None]] = []
        plain: dict[int, list[_Bundle]] = {}
        for bundle in self._bundles:
            terms = terms_of(bundle.plant) if bundle.group.native is not None else None
            if isinstance(terms, LaneTerms):
                found.append(self._native(bundle, terms, q, dq, flat, lost))
            else:
                plain.setdefault(id(bundle.group), []).append(bundle)
        return found + [self._plain(bundles, q, dq, flat, lost) for bundles in plain.values()]

    def _native(
        self,
        bundle: _Bundle,
        plant: LaneTerms,
        q: Array,
        dq: Array,
        flat: tuple[Array, Array, Array],
        lost: NDArray[np.int64],
    ) -> Callable[[int, int], None]:
        s, controller = self._setting, self._controller
        starts = controller._offsets[bundle.members]
        places = self._q_at[bundle.which], self._v_at[bundle.which], starts, bundle.members
        totals = q.size, dq.size, controller.total_controlled_dofs, controller.controlled_robot_count
        live = tuple(name for name in controller.live_ports if name not in ("joint_q", "joint_qd"))
        step = NativeGroup(controller, bundle.group, controller._flags(bundle.group), totals, places, live)
        step.core.bind(tuple(self._ports[name] for name in live))
        tool = plant.bodies.frame(plant.robot._frame_id(bundle.tool)) if bundle.tool else (-1, np.zeros(12))
        own, threads = np.ascontiguousarray(lost[bundle.which]), native.threads_for(len(bundle.which), s.threads)

        def run(start: int, end: int) -> None:
            settings = start, end, int(end == s.steps), s.every, int(s.friction), int(s.motor_inertia)
            step.core.rollout(plant.bodies.core, settings, s.dt, tool, s.walls, q, dq, own, *flat, threads)
            lost[bundle.which] = own

        return run

    def _plain(
        self, bundles: list[_Bundle], q: Array, dq: Array, flat: tuple[Array, Array, Array], lost: NDArray[np.int64]
    ) -> Callable[[int, int], None]:
        which = np.concatenate([bundle.which for bundle in bundles])
        members = np.concatenate([bundle.members for bundle in bundles])
        ends = np.cumsum([len(bundle.which) for bundle in bundles])
        plants = [
            Plant(bundle.plant, bundle.tool, np.arange(end - len(bundle.which), end))
            for bundle, end in zip(bundles, ends.tolist(), strict=True)
        ]
        loop = PlainLoop(self._controller, bundles[0].group, members, self._ports, plants, self._setting)
        q_at = self._q_at[which][:, None] + np.arange(bundles[0].plant.nq)
        v_at = self._v_at[which][:, None] + np.arange(bundles[0].plant.nv)

        def run(start: int, end: int) -> None:
            states, own = (q[q_at], dq[v_at]), lost[which]
            records = flat[0][:, q_at], flat[1][:, v_at], flat[2][:, v_at]
            loop.run(states, records, own, start, end)
            q[q_at], dq[v_at], lost[which] = *states, own
            for record, at, rows in zip(flat, (q_at, v_at, v_at), records, strict=True):
                record[:, at] = rows

        return run
