"""What all controllers share: ports, gains, the step over groups of robots, limits and faults."""

from __future__ import annotations

import copy
import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError
from ..robot.fleet_selection import Index
from ..robot.spatial import wrap_angle
from .gains import check_live_gain, one_of, per_dof
from .groups import Group
from .laws import limit_torque
from .ports import Port, writable

_log = logging.getLogger(__name__)


class Controller(ABC):
    """Joint torques from states and targets, for any number of robots at once.

    Arrays go in and out through ports: `inputs = controller.input()`, fill or assign its attributes, then
    `controller.step(inputs=inputs, outputs=outputs, dt=dt)`. Assigning an array and filling it in place both work;
    a `fleet.view` reads and writes through to a larger array. A controller keeps no state between steps but what it
    reports about the last one. It is meant for one thread at a time.
    """

    Inputs: ClassVar[type]
    Outputs: ClassVar[type]
    _groups: Sequence[Group] = ()

    def __init__(self, dof_counts: Index, continuous: NDArray[np.bool_]) -> None:
        self._dof_counts, self._continuous = dof_counts, continuous
        self._offsets = np.concatenate(([0], np.cumsum(dof_counts)[:-1])).astype(np.intp)
        self._total = int(dof_counts.sum())
        self._ports: list[Port] = []
        self._fixed: dict[str, tuple[str, Array]] = {}
        self._limit_mode, self._limits_follow = "clip", False
        self._faults = np.zeros(len(dof_counts), dtype=bool)
        self._scratch = np.empty(self._total)

    # Setting up

    def _port(self, name: str, shape: tuple[int, ...], *, off: str | None = None, **options: Any) -> None:
        self._ports.append(Port(name, shape, off=off, **options))

    def _robot_port(self, name: str, size: int, *, off: str | None = None, **options: Any) -> None:
        self._port(name, (self.controlled_robot_count, size), off=off, **options)

    def _gain(self, name: str, value: Array | None, kind: str, *, off: str | None = None) -> None:
        """A gain per "dof" or "axis" that is fixed, or a port if `value` is None."""
        if off is None and value is not None:
            self._fix(name, kind, value)
            off = "it was fixed when the controller was made"
        if kind == "dof":
            self._port(name, (self._total,), off=off, gain=True)
        else:
            self._robot_port(name, 6, off=off, gain=True)

    def _fix(self, name: str, kind: str, value: Any) -> None:
        """Keep a copy of a value in plain order: products round by how an array lies, and pickles lay it out anew."""
        self._fixed[name] = kind, np.array(value, dtype=np.float64, order="C")

    def _limits(self, limits: Any, mode: Any, of_robots: Array | None) -> None:
        self._limit_mode = one_of(mode, ("clip", "scale"), "torque_limit_mode")
        if isinstance(limits, str):
            if limits != "robot" or of_robots is None:
                known = "numbers" if of_robots is None else "numbers or 'robot'"
                raise InputError(f"torque_limits must be {known}, got {limits!r}")
            limits, self._limits_follow = of_robots, True
        values = per_dof(limits, self._dof_counts, "torque_limits", infinite=True)
        if values is not None and (self._limits_follow or np.isfinite(values).any()):
            self._fix("torque_limits", "dof", values)

    def _settle(self, group: Group) -> None:
        """Fixed values of a group, taken once."""
        for name, (kind, value) in self._fixed.items():
            group.fixed[name] = (group.dofs.take if kind == "dof" else group.robots)(value)

    def _group_by_size(self, switches: list[Any]) -> None:
        """Robots without a model, grouped by their number of joints and what is on for them."""
        members: dict[Any, list[int]] = {}
        for k, (n, start) in enumerate(zip(self._dof_counts.tolist(), self._offsets.tolist(), strict=True)):
            wrap = tuple(self._continuous[start : start + n].tolist())
            members.setdefault((n, wrap, switches[k]), []).append(k)
        self._groups = [Group(which, self._offsets, n, np.array(wrap), on) for (n, wrap, on), which in members.items()]
        for group in self._groups:
            self._settle(group)

    # Ports

    def __repr__(self) -> str:
        count, joints = self.controlled_robot_count, self._total
        how = f", {self.backend}" if hasattr(self, "backend") else ""
        fixed = ", ".join(name for name in self._fixed if not name.endswith("frame")) or "nothing"
        robots = "1 robot" if count == 1 else f"{count} robots"
        return f"<{type(self).__name__} of {robots}, {joints} joints{how}; fixed: {fixed}>"

    def input(self) -> Any:
        """Inputs with every port allocated: poses at the identity, all else 0; None where a feature is off."""
        return type(self).Inputs(**{port.name: port.allocate() for port in self._ports})

    def output(self) -> Any:
        """Outputs with a compact torque array."""
        return type(self).Outputs(joint_f=np.zeros(self._total))

    def is_graphable(self) -> bool:
        """Whether steps can be captured as a graph of a device: no, they run on the CPU."""
        return False

    def step(self, *, inputs: Any, outputs: Any, dt: Any = None) -> None:
        """One step: reads `inputs`, overwrites `outputs.joint_f`.

        Robots whose torque is not finite (NaN among their inputs) get NaN for all their joints, are listed in
        `faults`, and leave the others alone.

        Args:
            inputs: What `input` made, filled in.
            outputs: What `output` made; `joint_f` may be any array or `fleet.view` of the right shape.
            dt: Not used: the laws are static. Accepted so that all controllers are called alike.

        Raises:
            InputError: if a port has another shape, or one of a feature that is off is not None; before anything
                is written.
        """
        ports = self._read(inputs)
        target = writable(self._port_of(outputs, type(self).Outputs, "outputs").joint_f, (self._total,))
        with np.errstate(all="ignore"):  # NaN and infinity are reported as faults, robot by robot
            target[...] = self._torques(ports)

    def _port_of(self, given: Any, kind: type, name: str) -> Any:
        if type(given) is not kind:
            raise InputTypeError(f"{name} must be what controller.{name[:-1]}() makes, got {type(given).__name__}")
        return given

    def _read(self, inputs: Any) -> dict[str, Array]:
        self._port_of(inputs, type(self).Inputs, "inputs")
        found: dict[str, Array] = {}
        for port in self._ports:
            value = getattr(inputs, port.name)
            if port.off is not None:
                if value is not None:
                    port.refuse(value)
                continue
            array = port.read(value)
            if port.gain:
                check_live_gain(array, port.name)
            elif port.quaternion:
                self._check_quaternions(array, port.name)
            found[port.name] = array
        return found

    def _check_quaternions(self, array: Array, name: str) -> None:
        """Refuses quaternions of length 0 at the end of the rows; NaN is let through and stays with its robot."""
        if len(array) == 1:  # in floats, several times faster
            x, y, z, w = array[0, -4:].tolist()
            squares: Any = x * x + y * y + z * z + w * w
            member = 0 if squares < 1e-24 else -1
        else:
            squares = np.square(array[:, -4:]).sum(axis=1)
            short = np.flatnonzero(squares < 1e-24)
            member = int(short[0]) if len(short) else -1
        if member >= 0:
            raise InputError(
                f"inputs.{name}: the quaternion of robot {self._label(member)} has length 0, which is no rotation; "
                "the identity is (0, 0, 0, 1)"
            )

    # The step

    def _torques(self, ports: dict[str, Array]) -> Array:
        self._refresh()
        tau = self._scratch
        for group in self._groups:
            if group.native is not None:
                self._in_lanes(group, ports, tau)
                continue
            value = self._without_faults(group, self._evaluate(group, ports))
            limits = group.fixed.get("torque_limits")
            if limits is not None:  # after the faults: limits would make infinity look like a torque
                value = limit_torque(value, limits, self._limit_mode)
            group.dofs.put(tau, value)
        return tau

    def _in_lanes(self, group: Any, ports: dict[str, Array], tau: Array) -> None:
        """A group's step in the native kernel, into the flat torques."""
        raise NotImplementedError

    @abstractmethod
    def _evaluate(self, group: Any, ports: dict[str, Array]) -> Array:
        """Torques (n,) or (N, n) of a group."""

    def _refresh(self) -> None:
        """Brings what was derived from the robots up to date."""
        return

    def _without_faults(self, group: Group, tau: Array) -> Array:
        if group.one:
            member = int(group.members[0])
            fault = not math.isfinite(tau.sum()) and not np.isfinite(tau).all()
            if fault:
                tau = np.full(tau.shape, np.nan)
            if fault != self._faults[member]:
                self._report(np.array([member]), np.array([fault]))
            return tau
        bad: NDArray[np.bool_] = np.asarray(~np.isfinite(tau).all(axis=-1))
        if bad.any():
            tau = np.where(bad[:, None], np.nan, tau)
        if (bad != group.robots(self._faults)).any():
            self._report(group.members, bad)
        return tau

    def _report(self, members: Index, bad: NDArray[np.bool_]) -> None:
        for member in members[bad & ~self._faults[members]]:
            _log.warning("no finite torque for robot %s: check its inputs for NaN", self._label(int(member)))
        self._faults[members] = bad

    def _label(self, member: int) -> str:
        return str(member)

    def _value(self, group: Group, ports: dict[str, Array], name: str, kind: str) -> Array:
        """A gain, fixed or live, as the laws take it."""
        value = group.fixed.get(name)
        if value is None:
            value = (group.dofs.take if kind == "dof" else group.robots)(ports[name])
        return value

    def _damping(self, group: Group, ports: dict[str, Array], name: str, stiffness: Array, kind: str) -> Array:
        """The damping, or 2 zeta sqrt(Kp) where a ratio was given."""
        ratio = group.fixed.get(f"{name}_ratio")
        if ratio is not None:
            return 2.0 * ratio * np.sqrt(stiffness)  # type: ignore[no-any-return]
        return self._value(group, ports, name, kind)

    def _joint_error(self, group: Group, q_des: Array, q: Array) -> Array:
        """q_des - q, the shortest way on joints that turn without end."""
        error: Array = q_des - q
        if group.wrap is not None:
            error[..., group.wrap] = wrap_angle(error[..., group.wrap])
        return error

    # What is known

    @property
    def faults(self) -> NDArray[np.bool_]:
        """Robots that had no finite torque in the last step (R,)."""
        return self._faults.copy()

    def reset(self) -> None:
        """Forget what is reported about the last step. The laws have no memory, so nothing else changes."""
        self._faults[:] = False

    @property
    def controlled_robot_count(self) -> int:
        """Number R of robots with at least one controlled joint."""
        return len(self._dof_counts)

    @property
    def max_controlled_dofs(self) -> int:
        """Most controlled joints of one robot."""
        return int(self._dof_counts.max())

    @property
    def total_controlled_dofs(self) -> int:
        """Length D of every compact port."""
        return self._total

    # Copies

    _DERIVED: ClassVar[tuple[str, ...]] = ()
    """Attributes that belong to one object alone and are made again when they are needed."""

    def __getstate__(self) -> dict[str, Any]:
        """All but what is derived from robots."""
        return {name: value for name, value in self.__dict__.items() if name not in self._DERIVED}

    def __copy__(self) -> Self:
        """A controller of the same robots with gains, faults and reports of its own."""
        twin = object.__new__(type(self))
        for name, value in self.__getstate__().items():
            twin.__dict__[name] = copy.copy(value) if isinstance(value, np.ndarray | dict | list) else value
        return twin
