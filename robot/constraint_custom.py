"""A constraint that is a function of the user's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .constraint_base import Booleans, ConstraintResult, Motion, RobotConstraint
from .errors import InputError, InputTypeError, UnsupportedError
from .tolerance_base import set_field

if TYPE_CHECKING:
    from .base import RobotBase

_EXTRAS = ("dq", "ddq", "tau", "task")


@dataclass(frozen=True, slots=True, init=False)
class CustomConstraint(RobotConstraint):
    """A function `f(robot, q) -> bool` as a constraint.

    It is called once per configuration q (nq,), with those of `dq`, `ddq`, `tau` and `task` that its signature names;
    `tau` is None where no torque was given. It lives in the program alone: it cannot be written to a file.
    """

    function: Callable[..., Any]
    name: str
    task: Any
    _extras: tuple[str, ...]
    kind: ClassVar[str] = "custom"

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        """The function, and what it is called in messages; by default its own name."""
        if not callable(function):
            raise InputTypeError(f"function must be callable as f(robot, q) -> bool, got {type(function).__name__}")
        set_field(self, "function", function)
        set_field(self, "name", str(name or getattr(function, "__name__", type(function).__name__)))
        set_field(self, "task", None)
        set_field(self, "_extras", _named_extras(function))

    @property
    def __name__(self) -> str:
        """Its name, as functions have one."""
        return self.name

    @property
    def status(self) -> str:
        """That of the object whose method the function is, if it has one; else `IKStatus.REJECTED`."""
        own = getattr(getattr(self.function, "__self__", None), "status", None)
        return own if isinstance(own, str) else "rejected"

    def _fields(self) -> dict[str, Any]:
        raise UnsupportedError(
            f"the custom constraint {self.name!r} is a function and cannot be written; leave it out of the task and "
            "add it after loading: task.with_constraints(...)"
        )

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> RobotConstraint:
        raise InputError("a custom constraint is a function and cannot be read; add it after loading")

    @classmethod
    def _field_names(cls) -> tuple[str, ...]:
        return ()

    def _holds(self, robot: RobotBase, motion: Motion) -> Booleans:
        return np.array([self._answer(robot, motion, k) for k in range(len(motion.q))], dtype=bool)

    def _answer(self, robot: RobotBase, motion: Motion, k: int) -> bool:
        tau = None if motion.tau is None else motion.tau[k].copy()
        given = {"dq": motion.dq[k].copy(), "ddq": motion.ddq[k].copy(), "tau": tau, "task": motion.task}
        answer = self.function(robot, motion.q[k].copy(), **{name: given[name] for name in self._extras})
        if not isinstance(answer, bool | np.bool_):
            raise InputTypeError(f"the custom constraint {self.name!r} must return True or False, got {answer!r:.60}")
        return bool(answer)

    def _worst(self, robot: RobotBase, motion: Motion) -> ConstraintResult:
        holds = self._holds(robot, motion)
        ok, index = bool(holds.all()), int(np.argmin(holds))
        message = f"{self.name} is {'satisfied' if ok else 'violated'}"
        return ConstraintResult(ok, np.nan, np.nan, self.name, message, index)


def _named_extras(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        signature = inspect.signature(function)
    except ValueError:  # built-in functions need not tell
        return ()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    extras = tuple(
        name for name in _EXTRAS if name in signature.parameters and signature.parameters[name].kind in by_name
    )
    try:
        signature.bind(None, None, **dict.fromkeys(extras))
    except TypeError as error:
        raise InputTypeError(f"function must be callable as f(robot, q): {error}") from None
    return extras
