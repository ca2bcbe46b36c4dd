"""The methods there are: one inner loop each, under a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..robot.errors import InputError, InputTypeError, UnknownNameError, unknown_name
from .problem import IKResult, InnerResult

InnerMethod = Callable[..., InnerResult]
"""`method(robot, goal, q_init, info, *, callbacks, ik_cost_function, convergence_threshold, rng, **options)`."""
FastMethod = Callable[[Any, Any, Any, Any, int, Any, tuple[Any, ...]], IKResult | None]
"""`fast(robot, target, q_init, rng, max_iter, tolerance, constraints)`, arguments as the caller gave them, but for the
constraints, each with `is_satisfied(robot, q)` or a function; None: not my case."""

STANDARD = frozenset(("callbacks", "ik_cost_function", "convergence_threshold", "rng"))


@dataclass(frozen=True, slots=True)
class Method:
    """A way to run the inner loop."""

    name: str
    run: InnerMethod
    options: frozenset[str] | None
    """Names of its own options; None: it takes any."""
    fast: FastMethod | None = None
    """Answers a plain problem as a whole, restarts included."""
    applies: Callable[[Any], bool] | None = None
    """Whether it can work on a robot and its tcp; None: on every one."""
    steered: bool = True
    """Whether it heeds inner callbacks."""
    minimises_cost: bool = False
    """Whether a cost function of one's own is what it minimises, not only what ranks configurations."""
    trusted: bool = False
    """Whether it is known to leave alone what may not move."""
    draws: bool = True
    """Whether it uses the generator it is given."""
    closes_in: bool = True
    """Whether it ends at the closest pose when the target is out of reach; otherwise "jacobian" goes on from there."""
    prepare: Callable[..., Any] | None = None
    """`prepare(robot, goal, info, task=, **as run)` -> object whose `run(q_init, info)` is one run."""

    def takes(self, options: dict[str, Any]) -> bool:
        """Whether all the options are its own."""
        return self.options is None or options.keys() <= self.options

    def check(self, options: dict[str, Any]) -> None:
        """Refuse options that the method does not have."""
        if self.options is not None and not options.keys() <= self.options:
            foreign = sorted(options.keys() - self.options)
            known = ", ".join(sorted(self.options)) or "no options"
            listed = ", ".join(map(repr, foreign))
            raise InputError(f"method {self.name!r} has no option {listed}{_meant(foreign[0])}; it takes {known}")


METHODS: dict[str, Method] = {}
"""Registered methods by name."""
PREFERENCE = ("jacobian_cpp", "jacobian", "scipy")
"""Order in which a method is chosen where none is named."""


def register_method(
    name: str,
    run: InnerMethod,
    *,
    fast: FastMethod | None = None,
    applies: Callable[[Any], bool] | None = None,
    steered: bool = True,
    minimises_cost: bool = False,
    trusted: bool = False,
    draws: bool = True,
    closes_in: bool = True,
    prepare: Callable[..., Any] | None = None,
) -> None:
    """Make an inner loop available under a name; a method of that name is replaced.

    Args:
        name: What `ik_method` calls it.
        run: `run(robot, goal, q_init, info, *, callbacks, ik_cost_function, convergence_threshold, rng, **options)`
            -> InnerResult. Its further keyword-only arguments become options of the method.
        fast: Answers `(robot, target, q_init, rng, max_iter, tolerance, constraints)` as a whole when nothing else is
            asked for.
        applies: Says whether the method works on a robot and its tcp.
        steered: Whether the method heeds inner callbacks.
        minimises_cost: Whether a cost function of one's own is minimised.
        trusted: Whether the method itself keeps still what may not move; otherwise that is put right afterwards.
        closes_in: Whether the method ends at the closest pose when the target is out of reach; otherwise the method
            "jacobian" goes on from where it ended.
        prepare: `prepare(robot, goal, info, task=PoseTask, **as run)` gives an object whose `run(q_init, info)` does
            one run: for methods that would otherwise do the same work before each.
        draws: Whether the method uses `rng`; where not, it is given None and no generator is made.

    Raises:
        InputTypeError: if the name is no string or the method cannot be called.
    """
    if not isinstance(name, str) or not name:
        raise InputTypeError(f"name must be a non-empty string, got {name!r}")
    METHODS[name] = Method(
        name,
        _callable(run),
        _options_of(run),
        fast=fast,
        applies=applies,
        steered=steered,
        minimises_cost=minimises_cost,
        trusted=trusted,
        draws=draws,
        closes_in=closes_in,
        prepare=prepare,
    )


def method_of(ik_method: Any) -> Method:
    """The method of a name, or a callable as a method."""
    if isinstance(ik_method, str):
        if ik_method not in METHODS:
            raise unknown_name("ik_method", ik_method, METHODS)
        return METHODS[ik_method]
    name = getattr(ik_method, "__name__", type(ik_method).__name__)
    return Method(name, _callable(ik_method), _options_of(ik_method))


def default_method(robot: Any, options: dict[str, Any], *, callbacks: bool, own_cost: bool) -> Method:
    """The first preferred method that can do what is asked."""
    candidates = [METHODS[name] for name in PREFERENCE if name in METHODS]
    for method in candidates:
        if not method.takes(options) or (callbacks and not method.steered) or (own_cost and not method.minimises_cost):
            continue
        if method.applies is None or method.applies(robot):
            return method
    fitting = [method for method in candidates if method.takes(options) and (method.steered or not callbacks)]
    if not fitting:
        known = sorted({name for method in candidates for name in method.options or ()})
        foreign = [name for name in options if name not in known] or list(options)
        hint = _meant(foreign[0])
        if hint:
            raise UnknownNameError(f"ik has no argument {foreign[0]!r}{hint}")
        raise unknown_name("argument of ik", foreign[0], [*ARGUMENTS, *known])
    return fitting[0]


ARGUMENTS = (
    "ik_method",
    "q_init",
    "rng",
    "nearest",
    "objective",
    "allow_random_restart",
    "current_best",
    "ignore_self_collisions",
    "ik_cost_function",
    "inner_callbacks",
    "joint_mask",
    "max_iter",
    "outer_callbacks",
    "outer_constraints",
    "task",
    "convergence_threshold",
    "tolerance",
)
"""Arguments of `solve`; a test holds them to its signature."""
_MEANT = {
    "seed": "rng",
    "q0": "q_init",
    "start": "q_init",
    "initial": "q_init",
    "method": "ik_method",
    "solver": "ik_method",
    "constraints": "outer_constraints",
    "callbacks": "inner_callbacks",
    "mask": "joint_mask",
    "cost": "ik_cost_function",
    "tol": "tolerance",
    "iterations": "max_iter",
    "max_iterations": "max_iter",
    "scene": "task",
    "obstacles": "task",
}


def _meant(name: str) -> str:
    """What a name from elsewhere is called here."""
    if name in ("frame", "tcp", "tip", "end_effector"):
        return "; it solves for robot.tcp, which may be set to any frame"
    if name in ("safety_margin", "margin"):
        return "; outer_constraints=[CollisionFree(margin)] with a task, or SelfCollisionFree(margin), keeps a distance"
    if name in ("workers", "n_jobs", "num_threads"):
        return "; solve_batch takes threads= and executor="
    return f"; did you mean {_MEANT[name]!r}?" if name in _MEANT else ""


def _callable(run: Any) -> InnerMethod:
    if not callable(run):
        raise InputTypeError(
            f"ik_method must be a name or a callable, got {type(run).__name__}; known: {list(METHODS)}"
        )
    return run  # type: ignore[no-any-return]


def _options_of(run: Any) -> frozenset[str] | None:
    try:
        parameters = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY) - STANDARD
