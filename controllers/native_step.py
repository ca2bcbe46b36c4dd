"""Steps of controllers in the native kernel: a group of robots at once, several to a vector, ports bound once.

The classes, ports and results are those of the path by Pinocchio and numpy, which stays as the readable reference,
the fallback for robots the kernel cannot express, and the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter, is_
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..robot import native
from ..robot.arrays import Array, thread_count
from ..robot.errors import InputError
from ..robot.fleet_pinocchio import LaneTerms
from .base import Controller
from .gains import one_of
from .groups import ModelGroup
from .laws import TaskRecord
from .model_based import FleetModel

BACKENDS = ("auto", "native", "numpy")
JOINT_IMPEDANCE, OPERATIONAL_SPACE = 0, 1
FULL, PARTIAL, OFF = 0, 1, 2
RECORD = 52
"""Numbers the kernel keeps of a step per robot: pose 12, twist 6, A lower 21, asked 6, force 6, nearness 1."""


class Flags(NamedTuple):
    """What is on in a step, in the kernel's order."""

    law: int
    decoupling: int
    gravity: bool
    coriolis: bool
    bias: bool = False
    exact: bool = False
    projection: bool = False
    feedforward: bool = False
    feedback: bool = False
    scale: bool = False


class NativeGroup:
    """The kernel's step for one group of robots.

    Args:
        controller: Whose ports, fixed values and faults it shares.
        group: The robots.
        flags: What is on.
        totals: Entries of a flat configuration and velocity, of the controlled joints; controlled robots.
        places: First entries and rows of what is stepped, if not the robots of the group in the fleet.
        live: Names of the ports that are bound, if not all.
    """

    def __init__(
        self,
        controller: NativeSteps,
        group: ModelGroup,
        flags: Flags,
        totals: tuple[int, int, int, int],
        places: tuple[Any, ...] | None = None,
        live: tuple[str, ...] | None = None,
    ) -> None:
        terms = group.terms
        assert isinstance(terms, LaneTerms)
        self._group, self.live = group, controller.live_ports if live is None else live
        numbers = {name: i for i, name in enumerate(native.core().PORTS)}
        fixed = [(numbers[name], value) for name, value in controller.fixed_values() if name in numbers]
        if group.bases is not None:
            base = np.tile(np.eye(4), (totals[3], 1, 1))
            base[group.members] = group.bases
            fixed.append((numbers["base"], base))
        gains = {port.name for port in controller._ports if port.gain}
        frame = -1, np.concatenate((np.eye(3).ravel(), np.zeros(3)))
        if group.frame is not None:
            frame = terms.bodies.frame(terms.robot._frame_id(group.frame))
        self.core = native.core().Step(
            terms.bodies.core,
            group.places() if places is None else tuple(np.array(part, dtype=np.int64) for part in places),
            group.joints(),
            _roots(terms),
            frame,
            tuple(int(flag) for flag in flags),
            totals,
            tuple(numbers[name] for name in self.live),
            tuple(name in gains for name in self.live),
            tuple(fixed),
            controller._faults.view(np.int8),
        )

    def faults(self) -> NDArray[np.bool_]:
        """Robots of the group that had no finite torque in the last step (N,)."""
        found = np.empty(len(self._group.members), dtype=np.int8)
        self.core.faults(found)
        return found.astype(bool)

    def last(self) -> tuple[Any, tuple[Array, Array], Array, TaskRecord] | None:
        """Rows of the group, tool pose (R, p), twist and record of the last step; None before the first."""
        rows = np.empty((len(self._group.members), RECORD))
        if not self.core.last(rows):
            return None
        A, lower = np.zeros((len(rows), 6, 6)), np.tril_indices(6)
        A[:, lower[0], lower[1]] = A[:, lower[1], lower[0]] = rows[:, 18:39]
        if self._group.one:
            rows, A = rows[0], A[0]
        tool = rows[..., :9].reshape(*rows.shape[:-1], 3, 3), rows[..., 9:12]
        inverse = None if self._group.switches.mode == "off" else A
        return (
            self._group.rows,
            tool,
            rows[..., 12:18],
            TaskRecord(inverse, rows[..., 39:45], rows[..., 45:51], rows[..., 51]),
        )


class NativeSteps(Controller):
    """The half of a model-based controller that knows of the kernel."""

    _model: FleetModel
    _switches: list[Any]
    _started = False
    _DERIVED: ClassVar[tuple[str, ...]] = ("_groups", "_kept", "_whole", "_values", "_off", "_bound")

    def _choose(self, backend: Any, threads: Any) -> None:
        self._backend = one_of(backend, BACKENDS, "backend")
        if self._backend == "native" and not native.AVAILABLE:
            raise InputError(f"backend='native' needs the native kernel: {native.REASON}; use backend='auto'")
        self._threads = thread_count(threads)
        self._bound: tuple[Any, ...] = ()

    def _flags(self, group: Any) -> Flags:
        raise NotImplementedError

    @property
    def backend(self) -> str:
        """What computes the steps: "native", "numpy", or "mixed" where some robots are beyond the kernel."""
        self._refresh()
        found = {"numpy" if group.native is None else "native" for group in self._groups}
        return found.pop() if len(found) == 1 else "mixed"

    @property
    def live_ports(self) -> tuple[str, ...]:
        """Names of the ports that are read."""
        return tuple(port.name for port in self._ports if port.off is None)

    def fixed_values(self) -> list[tuple[str, Array]]:
        """Values fixed when the controller was made, entries for all its joints or robots."""
        return [(name, np.ascontiguousarray(value, dtype=np.float64)) for name, (_, value) in self._fixed.items()]

    def _refresh(self) -> None:
        if not self._model.stale():
            return
        self._groups = groups = self._model.groups(self._offsets, self._switches)
        fleet = self._model.fleet
        totals = fleet.joint_coord_count, fleet.joint_dof_count, self._total, self.controlled_robot_count
        for group in groups:
            self._settle(group)
            if isinstance(group.terms, LaneTerms):
                group.native = NativeGroup(self, group, self._flags(group), totals)
            elif self._backend == "native":
                robot = fleet.labels[self._model.selection.robots[int(group.members[0])]]
                raise InputError(f"backend='native': the kernel cannot express robot {robot!r}; use backend='auto'")
        self._values, self._bound = attrgetter(*self.live_ports), ()
        self._off = [port for port in self._ports if port.off is not None]
        self._whole = groups[0].native if len(groups) == 1 else None

    def step(self, *, inputs: Any, outputs: Any, dt: Any = None) -> None:
        """One step, see `Controller.step`; by the kernel where it can."""
        self._refresh()
        if self._whole is None or not self._quick(self._whole, inputs, outputs):
            super().step(inputs=inputs, outputs=outputs, dt=dt)

    step.__doc__ = Controller.step.__doc__

    def _quick(self, whole: NativeGroup, inputs: Any, outputs: Any) -> bool:
        """A step whose arrays the kernel reads and writes as they are; False if it is not to be done that way."""
        kind: Any = type(self)
        if type(inputs) is not kind.Inputs or type(outputs) is not kind.Outputs:
            return False
        values, target = self._values(inputs), outputs.joint_f
        for port in self._off:
            if getattr(inputs, port.name) is not None:
                return False
        if not self._bound or target is not self._bound[0] or not self._same(values):
            if not self._bind(whole, values, target):
                return False
        try:
            changes = whole.core.step(values, target, native.threads_for(len(self._faults), self._threads))
        except (TypeError, ValueError):  # the output became read-only, or was reshaped
            return False
        if changes < 0:
            return False
        self._stepped(whole, changes)
        return True

    def _same(self, values: tuple[Any, ...]) -> bool:
        return all(map(is_, values, self._bound[1]))

    def _bind(self, whole: Any, values: tuple[Any, ...], target: Any) -> bool:
        """Hands the arrays to the kernel if it can take every one as it is, and none shares memory with the output."""
        self._bound = ()
        if not (_plain(target, (self._total,)) and target.flags.writeable):
            return False
        shapes = {port.name: port.shape for port in self._ports}
        for name, value in zip(self.live_ports, values, strict=True):
            if not _plain(value, shapes[name]) or np.may_share_memory(value, target):
                return False
        whole.core.bind(values)
        self._bound = target, values
        return True

    def _in_lanes(self, group: Any, ports: Mapping[str, Array], tau: Array) -> None:
        """A step from arrays that were read and checked, into a flat array of torques."""
        step = group.native
        values = tuple(np.ascontiguousarray(ports[name]) for name in step.live)
        step.core.bind(values)
        self._bound = ()
        changes = step.core.step(values, tau, native.threads_for(len(group.members), self._threads))
        if changes == -2:
            raise InputError("quaternion must not be zero: length 0 is no rotation; the identity is (0, 0, 0, 1)")
        self._stepped(step, changes)

    def _stepped(self, step: Any, changes: int) -> None:
        self._started = True
        if changes:
            self._report(step._group.members, step.faults())


def _plain(value: Any, shape: tuple[int, ...]) -> bool:
    return type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape and value.flags.c_contiguous


def _roots(terms: LaneTerms) -> tuple[Any, Any]:
    starts = np.array([(root.q, root.v) for root in terms.roots], dtype=np.int32).reshape(-1)
    return starts, np.array([root.com for root in terms.roots], dtype=np.float64).reshape(-1)
