"""Callbacks and constraints: how a caller watches, steers and restricts a search."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputTypeError
from .problem import IKStatus, IntermediateIkResult

if TYPE_CHECKING:
    from ..robot.base import RobotBase


class CallbackReturn(enum.IntEnum):
    """What a callback wants; the strongest answer of several wins."""

    CONTINUE = 0
    """Nothing to object. `True` and `None` mean the same."""
    REJECT = 1
    """Not this configuration: keep iterating, even if it meets the tolerance. `False` means the same."""
    BREAK = 2
    """Stop the whole search at once."""


IKCallback = Callable[[IntermediateIkResult], "CallbackReturn | bool | None"]
"""Called with what was just seen: after each iteration (inner), or after each attempt (outer)."""


class Satisfiable(Protocol):
    """A condition on configurations. May carry `status`, the IKStatus that reports its violation."""

    def is_satisfied(self, robot: Any, q: Array) -> bool:
        """Whether configuration q (nq,) of the robot, at rest, is allowed."""


Constraint = Satisfiable | Callable[[Any, Array], bool]


def answer_of(value: object) -> CallbackReturn:
    """The callback answer that a returned value stands for."""
    if value is None or value is True:
        return CallbackReturn.CONTINUE
    if value is False:
        return CallbackReturn.REJECT
    if isinstance(value, CallbackReturn):
        return value
    if isinstance(value, np.bool_):
        return CallbackReturn.CONTINUE if value else CallbackReturn.REJECT
    raise InputTypeError(
        f"a callback must return CallbackReturn.CONTINUE, REJECT or BREAK, a bool or None, got {value!r}"
    )


def chain(*callbacks: IKCallback) -> IKCallback:
    """One callback that calls all of them, in order, and gives the strongest answer."""

    def chained(result: IntermediateIkResult) -> CallbackReturn:
        return max((answer_of(callback(result)) for callback in callbacks), default=CallbackReturn.CONTINUE)

    return chained


def as_callbacks(callbacks: IKCallback | Iterable[IKCallback] | None, name: str) -> tuple[IKCallback, ...]:
    """A tuple of callbacks from one, several or none."""
    return _as_callables(callbacks, name, "IKCallback (called with an IntermediateIkResult)", callable)


def as_constraints(constraints: Constraint | Iterable[Constraint] | None, name: str) -> tuple[Constraint, ...]:
    """A tuple of constraints from one, several or none."""
    wanted = "object with is_satisfied(robot, q) or a function f(robot, q)"
    return _as_callables(constraints, name, wanted, _takes_robot_and_q)


def _takes_robot_and_q(constraint: Any) -> bool:
    check = getattr(constraint, "is_satisfied", constraint)
    if not callable(check):
        return False
    try:
        inspect.signature(check).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # built-in functions need not tell
        return True
    return True


def _as_callables(value: Any, name: str, wanted: str, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
    if value is None:
        return ()
    if fits(value):
        return (value,)
    if not isinstance(value, Iterable):
        raise InputTypeError(f"{name} must be a sequence, each entry an {wanted}; got {_described(value)}")
    entries = tuple(value)
    for i, entry in enumerate(entries):
        if not fits(entry):
            raise InputTypeError(f"{name}[{i}] must be an {wanted}; got {_described(entry)}")
    return entries


def violation(constraints: Iterable[Constraint], robot: RobotBase, q: Array) -> tuple[IKStatus, str] | None:
    """The first constraint that q violates: its status and a sentence that names it; None when all hold."""
    for constraint in constraints:
        if not satisfied(constraint, robot, q):
            status = getattr(constraint, "status", "")
            known = status if isinstance(status, str) and status in set(IKStatus) else IKStatus.REJECTED
            return IKStatus(known), _why(constraint, robot, q)
    return None


def _described(value: Any) -> str:
    """What somebody passed, with the arguments it takes if it is a function."""
    kind = type(value).__name__
    try:
        return f"a {kind} of {inspect.signature(value)}" if callable(value) else kind
    except (TypeError, ValueError):
        return kind


def satisfied(constraint: Constraint, robot: RobotBase, q: Array) -> bool:
    """Whether q satisfies a constraint."""
    check: Any = getattr(constraint, "is_satisfied", constraint)
    answer = check(robot, q.copy())  # what a constraint writes into it is nobody's answer
    try:
        return bool(answer)
    except ValueError:
        name = getattr(constraint, "__name__", type(constraint).__name__)
        raise InputTypeError(f"constraint {name} must return True or False, got an array") from None


def all_satisfied(constraints: Iterable[Constraint], robot: RobotBase, q: Array) -> NDArray[np.bool_]:
    """Which configurations (N, nq) satisfy all constraints (N,)."""
    allowed = np.ones(len(q), dtype=np.bool_)
    for constraint in constraints:
        left = np.flatnonzero(allowed)
        if not len(left):
            break
        along = getattr(constraint, "satisfied_along", None)
        if along is None:
            allowed[left] = [satisfied(constraint, robot, q[i]) for i in left]
        else:
            allowed[left] = along(robot, q[left])
    return allowed


def _why(constraint: Any, robot: RobotBase, q: Array) -> str:
    explain = getattr(constraint, "explain", None)
    if explain is not None:
        return str(explain(robot, q.copy()))
    return f"constraint {getattr(constraint, '__name__', type(constraint).__name__)} is violated"


class NoSelfCollision:
    """The constraint that the robot does not collide with itself."""

    status = IKStatus.COLLISION

    def is_satisfied(self, robot: Any, q: Array) -> bool:
        """Whether no checked pair of the robot's bodies touches at q (nq,)."""
        return not robot.has_self_collision(q)

    def satisfied_along(self, robot: Any, q: Array) -> NDArray[np.bool_]:
        """The same for (N, nq) -> (N,)."""
        return ~np.asarray(robot.has_self_collision(q))

    def explain(self, robot: Any, q: Array) -> str:
        """Which links touch."""
        return _contact_words(robot, q, None)


class NoObstacleCollision:
    """The constraint that the robot touches no obstacle of a task."""

    status = IKStatus.COLLISION

    def __init__(self, task: Any) -> None:
        self.task = task

    def is_satisfied(self, robot: Any, q: Array) -> bool:
        """Whether no body of the robot touches an obstacle at q (nq,)."""
        return not robot.has_collisions(self.task, q=q, ignore_self_collisions=True)

    def satisfied_along(self, robot: Any, q: Array) -> NDArray[np.bool_]:
        """The same for (N, nq) -> (N,)."""
        return ~np.asarray(robot.has_collisions(self.task, q=q, ignore_self_collisions=True))

    def explain(self, robot: Any, q: Array) -> str:
        """Which link touches which obstacle."""
        return _contact_words(robot, q, self.task)


def _contact_words(robot: Any, q: Array, task: Any) -> str:
    """The deepest contact with a task's obstacles, or of the robot with itself, in words."""
    search = getattr(robot, "collisions", None)
    found = [] if search is None else [c for c in search(task, q=q) if task is None or c[1] is not robot]
    if not found:
        return "in collision"
    first, second = min(found, key=lambda contact: contact.distance).links
    return f"in collision: {first!r} touches {second!r}"
