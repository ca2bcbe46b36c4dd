"""Task: what a robot is to do and where: obstacles, goals, constraints, gravity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import Any

from .arrays import Array, vector, whole
from .constraints import RobotConstraint, as_robot_constraints
from .errors import InputError, unknown_name
from .files import write_file
from .obstacle import Obstacle, label
from .scene_document import listed, parse, read_file, within
from .scene_parts import (
    Goal,
    allowed_pairs,
    described,
    distinct_obstacles,
    goals_of,
    read_goal,
    still_allowed,
    written_goal,
)
from .shapes import frozen_array
from .tolerance_base import mapping_of, set_field

FORMAT = "knuckle-task/1"
"""What a document of this version says in its field "format"."""
_FIELDS = ("format", "name", "gravity", "obstacles", "allowed_collisions", "goals", "constraints")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Task:
    """A scene and what is to be done in it. Never changes; `==` tells whether two are one object.

    A task that was read has the numbers of the one that was written, to the last bit. Meshes are written with their
    vertices, so that a document needs no other file.

    Attributes:
        obstacles: What stands in the world, each with an id of its own.
        goals: Toleranced poses in the world, one or a tuple of several, by name.
        gravity: Acceleration of free fall in world axes (3,) [m/s^2], read-only; it stands in for the robot's own in
            calls with this task. None leaves the robot's.
        allowed_collisions: Pairs (name, name) of a link or geometry of the robot and an obstacle's id that may touch,
            as the base and the floor it stands on; they are never checked.
        name: What the task is called.
    """

    obstacles: tuple[Obstacle, ...]
    goals: Mapping[str, Goal]
    gravity: Array | None
    allowed_collisions: tuple[tuple[str, str], ...]
    name: str
    _constraints: tuple[RobotConstraint, ...]

    def __init__(
        self,
        obstacles: Obstacle | Iterable[Obstacle] = (),
        goals: Any = None,
        constraints: Any = None,
        *,
        gravity: Any = None,
        allowed_collisions: Any = (),
        name: str = "task",
    ) -> None:
        """Put a task together.

        Args:
            obstacles: Obstacles with different ids.
            goals: Mapping from names to a ToleratedPose, a bare pose (which has the default tolerance), or a list of
                them; a list instead of the mapping is called "goal_1", "goal_2", ...
            constraints: Constraints or functions `f(robot, q) -> bool`.
            gravity: Acceleration of free fall in world axes (3,) [m/s^2]; None leaves the robot's.
            allowed_collisions: Pairs of a link or geometry of the robot and the id of an obstacle.
            name: What the task is called.

        Raises:
            InputError: on two obstacles with one id, or what is no obstacle, goal or constraint.
        """
        set_field(self, "obstacles", distinct_obstacles(obstacles))
        set_field(self, "goals", MappingProxyType(goals_of(goals)))
        set_field(self, "allowed_collisions", allowed_pairs(allowed_collisions, self.obstacles))
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
            if isinstance(id, str) and obstacle.id == id:
                return obstacle
        raise unknown_name("obstacle", id, [obstacle.id for obstacle in self.obstacles])

    def with_obstacles(self, *obstacles: Obstacle) -> Task:
        """A new task with more obstacles."""
        return self._with(obstacles=(*self.obstacles, *obstacles))

    def without(self, *ids: str) -> Task:
        """A new task without the obstacles of these ids."""
        gone = {self.obstacle(id).id for id in ids}
        left = tuple(one for one in self.obstacles if one.id not in gone)
        return self._with(obstacles=left, allowed_collisions=still_allowed(self.allowed_collisions, left))

    def with_moved(self, id: str, placement: Any) -> Task:
        """A new task in which the obstacle called `id` stands at another `placement`, a pose in the world."""
        moved = self.obstacle(id).moved(placement)
        return self._with(obstacles=tuple(moved if one.id == id else one for one in self.obstacles))

    def with_goals(self, goals: Any) -> Task:
        """A new task with more goals, or other ones of the same name."""
        return self._with(goals={**self.goals, **goals_of(goals)})

    def with_constraints(self, *constraints: Any) -> Task:
        """A new task with more constraints."""
        return self._with(constraints=(*self._constraints, *as_robot_constraints(constraints)))

    def with_allowed_collisions(self, *pairs: tuple[str, str]) -> Task:
        """A new task in which these pairs may touch as well."""
        return self._with(allowed_collisions=(*self.allowed_collisions, *pairs))

    def with_gravity(self, gravity: Any) -> Task:
        """A new task in another gravity (3,) [m/s^2]; None is the robot's own."""
        return self._with(gravity=gravity)

    def _with(self, **changes: Any) -> Task:
        return Task(**(self._given() | changes))

    def _given(self) -> dict[str, Any]:
        return {
            "obstacles": self.obstacles,
            "goals": dict(self.goals),
            "constraints": self._constraints,
            "gravity": self.gravity,
            "allowed_collisions": self.allowed_collisions,
            "name": self.name,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of: a read-only mapping does not pickle."""
        return _made, (self._given(),)

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
            "allowed_collisions": [list(pair) for pair in self.allowed_collisions],
            "goals": {name: written_goal(goal) for name, goal in self.goals.items()},
            "constraints": [described(constraint, k) for k, constraint in enumerate(self._constraints)],
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
        obstacles = listed(fields.get("obstacles", []), "obstacles", Obstacle.from_dict)
        constraints = listed(fields.get("constraints", []), "constraints", RobotConstraint.from_dict)
        named = mapping_of(fields.get("goals", {}), "goals").items()
        return cls(
            obstacles,
            {name: read_goal(entry, f"goals[{name!r}]") for name, entry in named},
            constraints,
            gravity=fields.get("gravity"),
            allowed_collisions=fields.get("allowed_collisions", ()),
            name=fields.get("name", "task"),
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """The task as JSON text; numbers keep every digit."""
        spaces = None if indent is None else min(whole(indent, "indent"), 16)
        return json.dumps(self.to_dict(), indent=spaces, allow_nan=False)

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


def _made(fields: dict[str, Any]) -> Task:
    return Task(**fields)
