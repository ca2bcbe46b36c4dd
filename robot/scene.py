"""Task: what a robot is to do and where: obstacles, goals, constraints, gravity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import Any, TypeAlias

from .arrays import Array, vector
from .constraint_tool import exact_toleranced
from .constraints import RobotConstraint, as_robot_constraints
from .errors import InputError, InputTypeError, unknown_name
from .obstacle import Obstacle, label
from .scene_document import parse, read_file, within, write_file
from .shapes import frozen_array
from .tolerance import ToleratedPose
from .tolerance_base import mapping_of, set_field
from .transformation import Transformation

Goal: TypeAlias = ToleratedPose | tuple[ToleratedPose, ...]
"""One toleranced pose, or several."""

FORMAT = "knuckle-task/1"
"""What a document of this version says in its field "format"."""
_FIELDS = ("format", "name", "gravity", "obstacles", "goals", "constraints")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Task:
    """A scene and what is to be done in it. Never changes; two tasks are equal only if they are one object.

    A task that was read equals the one that was written number by number. Meshes are written with their vertices,
    so that a document needs no other file.

    Attributes:
        obstacles: What stands in the world, each with an id of its own.
        goals: Toleranced poses in the world, one or a tuple of several, by name.
        gravity: Acceleration of free fall in world axes (3,) [m/s^2], read-only; it stands in for the robot's own in
            calls with this task. None leaves the robot's.
        name: What the task is called.
    """

    obstacles: tuple[Obstacle, ...]
    goals: Mapping[str, Goal]
    gravity: Array | None
    name: str
    _constraints: tuple[RobotConstraint, ...]

    def __init__(
        self,
        obstacles: Obstacle | Iterable[Obstacle] = (),
        goals: Any = None,
        constraints: Any = None,
        *,
        gravity: Any = None,
        name: str = "task",
    ) -> None:
        """Put a task together.

        Args:
            obstacles: Obstacles with different ids.
            goals: Mapping from names to a ToleratedPose, a bare pose (which has the default tolerance), or a list of
                them; a list instead of the mapping is called "goal_1", "goal_2", ...
            constraints: Constraints or functions `f(robot, q) -> bool`.
            gravity: Acceleration of free fall in world axes (3,) [m/s^2]; None leaves the robot's.
            name: What the task is called.

        Raises:
            InputError: on two obstacles with one id, or what is no obstacle, goal or constraint.
        """
        set_field(self, "obstacles", _distinct(obstacles))
        set_field(self, "goals", MappingProxyType(_goals(goals)))
        set_field(self, "gravity", None if gravity is None else frozen_array(vector(gravity, 3, "gravity")))
        set_field(self, "name", label(name, "name"))
        set_field(self, "_constraints", as_robot_constraints(constraints))

    @property
    def constraints(self) -> tuple[RobotConstraint, ...]:
        """The constraints, those that depend on a task tied to this one."""
        return tuple(constraint.for_task(self) for constraint in self._constraints)

    def obstacle(self, id: str) -> Obstacle:
        """The obstacle of that id."""
        for obstacle in self.obstacles:
            if obstacle.id == id:
                return obstacle
        raise unknown_name("obstacle", id, [obstacle.id for obstacle in self.obstacles])

    def with_obstacles(self, *obstacles: Obstacle) -> Task:
        """A new task with more obstacles."""
        return self._with(obstacles=(*self.obstacles, *obstacles))

    def without(self, *ids: str) -> Task:
        """A new task without the obstacles of these ids."""
        gone = {self.obstacle(id).id for id in ids}
        return self._with(obstacles=tuple(one for one in self.obstacles if one.id not in gone))

    def with_moved(self, id: str, placement: Any) -> Task:
        """A new task in which one obstacle stands at another pose."""
        moved = self.obstacle(id).moved(placement)
        return self._with(obstacles=tuple(moved if one.id == id else one for one in self.obstacles))

    def with_goals(self, goals: Any) -> Task:
        """A new task with more goals, or other ones of the same name."""
        return self._with(goals={**self.goals, **_goals(goals)})

    def with_constraints(self, *constraints: Any) -> Task:
        """A new task with more constraints."""
        return self._with(constraints=(*self._constraints, *as_robot_constraints(constraints)))

    def with_gravity(self, gravity: Any) -> Task:
        """A new task in another gravity (3,) [m/s^2]; None is the robot's own."""
        return self._with(gravity=gravity)

    def _with(self, **changes: Any) -> Task:
        given = {
            "obstacles": self.obstacles,
            "goals": self.goals,
            "constraints": self._constraints,
            "gravity": self.gravity,
            "name": self.name,
        }
        return Task(**(given | changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of: a read-only mapping does not pickle."""
        return _made, (self.obstacles, dict(self.goals), self._constraints, self.gravity, self.name)

    def __repr__(self) -> str:
        """Name and counts."""
        counts = f"{len(self.obstacles)} obstacles, {len(self.goals)} goals, {len(self._constraints)} constraints"
        return f"Task({self.name!r}: {counts})"

    # Documents

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers, lists and None, fit for JSON; `from_dict` reads them.

        Raises:
            UnsupportedError: if a constraint is a function.
        """
        return {
            "format": FORMAT,
            "name": self.name,
            "gravity": None if self.gravity is None else self.gravity.tolist(),
            "obstacles": [obstacle.to_dict() for obstacle in self.obstacles],
            "goals": {name: _written(goal) for name, goal in self.goals.items()},
            "constraints": [_described(k, constraint) for k, constraint in enumerate(self._constraints)],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Task:
        """The task that `to_dict` wrote; all fields but "format" may be left out.

        Raises:
            InputError: naming the place in the document, as in "obstacles[2].size must be ...".
        """
        fields = mapping_of(data, "task")
        if fields.get("format") != FORMAT:
            raise InputError(f"format must be {FORMAT!r}, got {fields.get('format')!r:.60}")
        for key in fields:
            if key not in _FIELDS:
                raise unknown_name("field of a task", key, _FIELDS)
        obstacles = []
        for k, entry in enumerate(_list(fields.get("obstacles", []), "obstacles")):
            with within(f"obstacles[{k}]"):
                obstacles.append(Obstacle.from_dict(entry))
        goals = {}
        for name, entry in mapping_of(fields.get("goals", {}), "goals").items():
            goals[name] = _read_goal(entry, f"goals[{name!r}]")
        constraints = []
        for k, entry in enumerate(_list(fields.get("constraints", []), "constraints")):
            with within(f"constraints[{k}]"):
                constraints.append(RobotConstraint.from_dict(entry))
        name = fields.get("name", "task")
        return cls(obstacles, goals, constraints, gravity=fields.get("gravity"), name=name)

    def to_json(self, *, indent: int | None = None) -> str:
        """The task as JSON text; numbers keep every digit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Task:
        """The task in JSON text.

        Raises:
            InputError: if it is no JSON, or no task, naming the place.
        """
        return cls.from_dict(parse(text))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the task to a file, which is replaced as a whole."""
        write_file(path, self.to_json())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Task:
        """The task that `save` wrote."""
        text = read_file(path)
        with within(str(path)):
            return cls.from_json(text)


def _made(obstacles: Any, goals: Any, constraints: Any, gravity: Any, name: str) -> Task:
    return Task(obstacles, goals, constraints, gravity=gravity, name=name)


def _distinct(obstacles: Any) -> tuple[Obstacle, ...]:
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


def _goals(goals: Any) -> dict[str, Goal]:
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


def _read_goal(entry: Any, where: str) -> Goal:
    if not isinstance(entry, list):
        with within(where):
            return ToleratedPose.from_dict(entry)
    poses = []
    for k, one in enumerate(entry):
        with within(f"{where}[{k}]"):
            poses.append(ToleratedPose.from_dict(one))
    return tuple(poses)


def _written(goal: Goal) -> Any:
    return [pose.to_dict() for pose in goal] if isinstance(goal, tuple) else goal.to_dict()


def _described(k: int, constraint: RobotConstraint) -> dict[str, Any]:
    with within(f"constraints[{k}]"):
        return constraint.to_dict()


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputTypeError(f"{name} must be a list, got {type(value).__name__}")
    return list(value)
