"""The parts of a task at the door: obstacles, goals, pairs that may touch; and how they stand in a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .constraint_base import RobotConstraint
from .constraint_tool import exact_toleranced
from .errors import InputError, InputTypeError, unknown_name
from .obstacle import Obstacle, label
from .scene_document import within
from .tolerance import ToleratedPose
from .transformation import Transformation

Goal: TypeAlias = ToleratedPose | tuple[ToleratedPose, ...]
"""One toleranced pose, or several."""


def distinct_obstacles(obstacles: Any) -> tuple[Obstacle, ...]:
    """One obstacle or several, with different ids."""
    given = (obstacles,) if isinstance(obstacles, Obstacle) else obstacles
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputTypeError(f"obstacles must be a sequence of Obstacle, got {type(obstacles).__name__}")
    found: dict[str, int] = {}
    entries = tuple(given)
    for k, entry in enumerate(entries):
        if not isinstance(entry, Obstacle):
            raise InputTypeError(f"obstacles[{k}] must be an Obstacle, got {type(entry).__name__}")
        if entry.id in found:
            raise InputError(
                f"obstacles[{k}] has the id {entry.id!r} of obstacles[{found[entry.id]}]; give it another with "
                "obstacle.renamed(id)"
            )
        found[entry.id] = k
    return entries


def goals_of(goals: Any) -> dict[str, Goal]:
    """Goals by name, from a mapping, a list, or one."""
    if goals is None:
        return {}
    if isinstance(goals, ToleratedPose | Transformation):
        goals = [goals]
    if not isinstance(goals, Mapping):
        if not isinstance(goals, list | tuple):
            raise InputTypeError(f"goals must be a mapping from names to poses, got {type(goals).__name__}")
        goals = {f"goal_{k}": goal for k, goal in enumerate(goals, start=1)}
    return {label(name, "name of a goal"): _goal(goal, f"goals[{name!r}]") for name, goal in goals.items()}


def _goal(value: Any, name: str) -> Goal:
    several = isinstance(value, list | tuple) and all(isinstance(v, ToleratedPose | Transformation) for v in value)
    if not several:
        return exact_toleranced(value, name)
    if not value:
        raise InputError(f"{name} must hold at least one pose")
    return tuple(exact_toleranced(entry, f"{name}[{k}]") for k, entry in enumerate(value))


def read_goal(entry: Any, where: str) -> Goal:
    """A goal of a document; `where` is its place there."""
    if not isinstance(entry, list):
        with within(where):
            return ToleratedPose.from_dict(entry)
    poses = []
    for k, one in enumerate(entry):
        with within(f"{where}[{k}]"):
            poses.append(ToleratedPose.from_dict(one))
    return tuple(poses)


def written_goal(goal: Goal) -> Any:
    """A goal as it stands in a document."""
    return [pose.to_dict() for pose in goal] if isinstance(goal, tuple) else goal.to_dict()


def described(constraint: RobotConstraint, k: int) -> dict[str, Any]:
    """Constraint number k as it stands in a document."""
    with within(f"constraints[{k}]"):
        return constraint.to_dict()


def allowed_pairs(pairs: Any, obstacles: tuple[Obstacle, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of names, one of each an obstacle's id; each pair once."""
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
        raise InputTypeError(f"allowed_collisions must be a sequence of pairs of names, got {type(pairs).__name__}")
    ids = [obstacle.id for obstacle in obstacles]
    found: dict[tuple[str, str], None] = {}
    for k, pair in enumerate(pairs):
        name = f"allowed_collisions[{k}]"
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            raise InputTypeError(f"{name} must be a pair of names, of a link and an obstacle, got {pair!r:.60}")
        if pair[0] not in ids and pair[1] not in ids:
            raise InputError(f"{name} names no obstacle: {unknown_name('obstacle', pair[1], ids)}")
        found[pair[0], pair[1]] = None
    return tuple(found)


def still_allowed(pairs: tuple[tuple[str, str], ...], obstacles: tuple[Obstacle, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs that name one of these obstacles."""
    ids = {obstacle.id for obstacle in obstacles}
    return tuple(pair for pair in pairs if ids & set(pair))
