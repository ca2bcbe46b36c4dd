"""What every constraint of a robot is: a condition on configurations or motions, that can be asked and explained."""

from __future__ import annotations

import abc
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array
from .errors import InputTypeError, UnsupportedError, unknown_name
from .state import rows
from .tolerance_base import mapping_of, require_fields, set_field

if TYPE_CHECKING:
    from .base import RobotBase

Booleans = NDArray[np.bool_]

_ROUNDING = 1e-12
"""By how much a bound may be passed without being broken: rounding."""
_KINDS: dict[str, type[RobotConstraint]] = {}


@dataclass(frozen=True, slots=True)
class ConstraintResult:
    """How a constraint stands, at the worst place. True if it is satisfied."""

    ok: bool
    """Whether it is satisfied."""
    value: float
    """What was found, in the unit of the bound; NaN where nothing is measured."""
    limit: float
    """The bound it was compared with."""
    name: str
    """The joint, pair or frame at which it is worst."""
    message: str
    """The same in one sentence."""
    index: int = 0
    """Which configuration of a batch it is."""

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class Motion:
    """Checked configurations (N, nq) with velocities and accelerations (N, nv); torques (N, nv) if they are given."""

    q: Array
    dq: Array
    ddq: Array
    tau: Array | None
    task: Any

    def row(self, index: int) -> Motion:
        """One of them, as a batch of one."""
        at = slice(index, index + 1)
        tau = None if self.tau is None else self.tau[at]
        return Motion(self.q[at], self.dq[at], self.ddq[at], tau, self.task)


class RobotConstraint(abc.ABC):
    """A condition that a robot has to meet: in inverse kinematics, at rest, or all along a trajectory."""

    __slots__: tuple[str, ...] = ()
    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Make the kind known to `from_dict`."""
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @property
    def status(self) -> str:
        """The `IKStatus` that reports its violation."""
        return "rejected"

    def is_satisfied(
        self, robot: RobotBase, q: Any, dq: Any = None, ddq: Any = None, tau: Any = None, task: Any = None
    ) -> bool:
        """Whether the robot meets the constraint, in every configuration if there are several.

        Args:
            robot: The robot.
            q: Configuration (nq,), mapping or batch (N, nq).
            dq: Velocity (nv,), mapping or batch (N, nv); None is at rest.
            ddq: Acceleration, likewise; None is none.
            tau: Torque, likewise; None is what the motion takes by inverse dynamics.
            task: The task in which it is asked, where that matters.
        """
        return bool(self._holds(robot, self._motion(robot, q, dq, ddq, tau, task)).all())

    def satisfied_along(
        self, robot: RobotBase, q: Any, dq: Any = None, ddq: Any = None, tau: Any = None, task: Any = None
    ) -> Booleans:
        """Whether the robot meets the constraint in each configuration (N, nq): (N,). Arguments as in `is_satisfied`.

        One velocity, acceleration or torque goes with every configuration.
        """
        return self._holds(robot, self._motion(robot, q, dq, ddq, tau, task))

    def check(
        self, robot: RobotBase, q: Any, dq: Any = None, ddq: Any = None, tau: Any = None, task: Any = None
    ) -> ConstraintResult:
        """How the constraint stands where it is worst, with the reason. Arguments as in `is_satisfied`."""
        motion = self._motion(robot, q, dq, ddq, tau, task)
        if not len(motion.q):
            return ConstraintResult(True, np.nan, np.nan, "", "there is no configuration to check")
        return self._worst(robot, motion)

    def explain(self, robot: RobotBase, q: Any) -> str:
        """The reason of `check` at q (nq,), at rest."""
        return self.check(robot, q).message

    def for_task(self, task: Any) -> Self:
        """The same constraint tied to a task, if it means different things in different tasks and has none yet."""
        if getattr(self, "task", self) is not None:
            return self
        tied = copy.copy(self)
        set_field(tied, "task", task)
        return tied

    def _motion(self, robot: RobotBase, q: Any, dq: Any, ddq: Any, tau: Any, task: Any) -> Motion:
        own = getattr(self, "task", None)
        return motion_of(robot, q, dq, ddq, tau, task if own is None else own)

    @abc.abstractmethod
    def _holds(self, robot: RobotBase, motion: Motion) -> Booleans:
        """Whether each configuration is allowed (N,)."""

    @abc.abstractmethod
    def _worst(self, robot: RobotBase, motion: Motion) -> ConstraintResult:
        """How it stands at the worst of one or more configurations."""

    @abc.abstractmethod
    def _fields(self) -> dict[str, Any]:
        """The constructor's arguments, fit for JSON."""

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> RobotConstraint:
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers, lists and None, fit for JSON; `from_dict` reads them.

        Raises:
            UnsupportedError: if it is a function, or tied to a task.
        """
        if getattr(self, "task", None) is not None:
            raise UnsupportedError(
                f"a {type(self).__name__} tied to a task cannot be written; write the task that lists it instead"
            )
        return {"kind": self.kind, **self._fields()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RobotConstraint:
        """The constraint that `to_dict` wrote.

        Raises:
            InputError: if the kind is unknown or its fields are not those of the kind.
        """
        fields = mapping_of(data, "constraint")
        kind = fields.pop("kind", None)
        cls = _KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            raise unknown_name("constraint kind", kind, _KINDS)
        require_fields(fields, cls._field_names(), f"constraint {kind!r}")
        return cls._from_fields(fields)

    @classmethod
    def _field_names(cls) -> tuple[str, ...]:
        return tuple(name for name in cls.__slots__ if name != "task")


class BoundedConstraint(RobotConstraint):
    """A constraint of numbers against bounds: it holds where no margin is negative."""

    __slots__ = ()

    @abc.abstractmethod
    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        """How far inside each bound lies what is bounded (N, m)."""

    @abc.abstractmethod
    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        """How configuration `index` stands against bound number `bound`."""

    def _holds(self, robot: RobotBase, motion: Motion) -> Booleans:
        return np.asarray(self._margins(robot, motion).min(axis=1, initial=np.inf) >= -_ROUNDING)

    def _worst(self, robot: RobotBase, motion: Motion) -> ConstraintResult:
        margins = self._margins(robot, motion)
        if not margins.shape[1]:
            return ConstraintResult(True, np.nan, np.nan, "", "there is nothing to check")
        index, bound = np.unravel_index(int(np.argmin(margins)), margins.shape)
        ok = bool(margins[index, bound] >= -_ROUNDING)
        return self._result(robot, motion, int(index), int(bound), ok)


def motion_of(robot: Any, q: Any, dq: Any, ddq: Any, tau: Any, task: Any) -> Motion:
    """Arguments at the door, every one as a batch of the same length."""
    if not hasattr(robot, "_one_or_many"):
        raise InputTypeError(f"robot must be a robot, got {type(robot).__name__}; the order is (robot, q)")
    if q is None:
        raise InputTypeError("q is required: a configuration (nq,), a mapping from joint names, or a batch (N, nq)")
    q = robot._one_or_many(q)
    rest = np.zeros(robot.nv)
    dq, ddq = robot._rates(dq, rest, "dq"), robot._rates(ddq, rest, "ddq")
    tau = None if tau is None else robot._rates(tau, rest, "tau")
    given = [("q", q), ("dq", dq), ("ddq", ddq), *([] if tau is None else [("tau", tau)])]
    count = rows(*given)
    batch = [np.broadcast_to(array, (1 if count is None else count, array.shape[-1])) for _, array in given]
    return Motion(batch[0], batch[1], batch[2], None if tau is None else batch[3], task)
