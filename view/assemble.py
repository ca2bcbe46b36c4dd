"""From a robot and what is wanted of it to a drawing."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot import InputError, InputTypeError, RobotBase, Task, UnsupportedError
from ..robot.appearance import LAYERS
from ..robot.arrays import Array, flag, scalar, vector_or_batch
from ..robot.base import as_robot
from ..robot.errors import unknown_name
from . import still
from .course import Course, course_of
from .drawing import Drawing, Moment, Part
from .moving import Body, Contacts, Frames, Skeleton, has_tool

FRAMES = ("tcp", "joints", "full")


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A drawing with the configuration it opens at and, perhaps, a course to be played."""

    robot: RobotBase
    drawing: Drawing
    q: Array
    course: Course | None
    asked: Mapping[str, Any]
    """The arguments of `picture` it was made from."""
    version: int
    """The robot's structure when it was drawn."""

    @property
    def is_current(self) -> bool:
        """Whether the robot has the links, shapes and frames that were drawn."""
        return self.version == _version(self.robot)

    def anew(self) -> Picture:
        """The same of the robot as it is now, at its stored configuration."""
        return picture(self.robot, **{**self.asked, "q": None, "trajectory": None, "dt": None})

    def at(self, q: Array) -> Moment:
        """Where everything is at q (nq,).

        Raises:
            InputError: if the robot was changed since it was drawn.
        """
        if not self.is_current:
            raise InputError(f"robot {self.robot.name!r} was changed since it was drawn; draw it anew")
        return self.drawing.at(q)

    def film(self, course: Course) -> list[Moment]:
        """The moments of a course."""
        return [self.at(row) for row in course.q]

    @property
    def bounds(self) -> Array:
        """The box (2, 3) [m] that a camera should see: the robot at q and along its course."""
        moments = [self.at(self.q)]
        if self.course is not None:
            moments += self.film(self.course.thinned(12))
        return self.drawing.bounds(*moments)


def _version(robot: RobotBase) -> int:
    return getattr(robot, "version", 0)


def picture(
    robot: Any,
    *,
    q: Any = None,
    frames: str | None = None,
    layers: Any = "visual",
    with_collision: bool = True,
    task: Any = None,
    contacts: bool = False,
    safety_margin: float = 0.0,
    ghosts: Any = (),
    trajectory: Any = None,
    dt: Any = None,
    target: Any = None,
    name: str | None = None,
    **strangers: Any,
) -> Picture:
    """A picture of a robot; arguments as in `knuckle.view.show`."""
    asked = {key: value for key, value in locals().items() if key in OPTIONS}
    if strangers:
        raise unknown_name("option of a drawing", next(iter(strangers)), OPTIONS)
    as_robot(robot)
    if task is not None and not isinstance(task, Task):
        raise InputTypeError(
            f"task must be a Task, got {type(task).__name__}; Task([obstacle, ...]) makes one, Task.load(path) reads it"
        )
    if name is not None and not isinstance(name, str):
        raise InputTypeError(f"name must be a string, got {type(name).__name__}")
    margin, lit = scalar(safety_margin, "safety_margin", minimum=0.0), flag(contacts, "contacts")
    shown = _layers(layers)
    if frames is not None and not (isinstance(frames, str) and frames in FRAMES):
        raise unknown_name("kind of frames", frames, FRAMES)
    course = None if trajectory is None else course_of(robot, trajectory, dt)
    start = course.q[0] if course is not None and q is None else robot._single(q)
    size = extent(robot)
    parts: list[Part] = _bodies(robot, shown, with_collision, size)
    if frames is not None:
        parts.append(Frames(robot, frames, 0.12 * size))
    if lit:
        parts.append(_contacts(robot, task, margin, size))
    parts += _around(robot, task, ghosts, course, target, size)
    drawing = Drawing.of(robot.name if name is None else name, parts)
    return Picture(robot, drawing, start, course, asked, _version(robot))


OPTIONS = tuple(name for name in inspect.signature(picture).parameters if name not in ("robot", "strangers"))
"""What a drawing can be asked for."""


def extent(robot: RobotBase) -> float:
    """Size of a robot in its home configuration [m]: what drawn axes and bars are measured by."""
    body = Drawing.of("_", _bodies(robot, LAYERS, True, 0.0))
    low, high = body.bounds(body.at(robot.home_configuration))
    return max(float(np.linalg.norm(high - low)), 1e-3)


def _bodies(robot: RobotBase, shown: tuple[str, ...], with_collision: bool, size: float) -> list[Part]:
    """Layers that exist and a skeleton for the links that none of those shown covers."""
    has = {layer: bool(robot.surfaces(layer)) for layer in LAYERS}
    if not has["visual"] and has["collision"] and "visual" in shown:
        shown = ("collision",)  # collision shapes are better than a skeleton
    parts: list[Part] = [
        Body(robot, layer, visible=layer in shown, plain=shown == ("collision",))
        for layer in LAYERS
        if has[layer] and (layer in shown or (layer == "collision" and with_collision))
    ]
    dressed = {joint for layer in shown for joint in robot.surface_joints(layer)}
    skeleton = Skeleton(robot, dressed, 0.012 * size)
    return [*parts, skeleton] if skeleton.solids() else parts


def _around(robot: RobotBase, task: Any, ghosts: Any, course: Course | None, target: Any, size: float) -> list[Part]:
    """What stands still around the robot."""
    parts: list[Part] = []
    if task is not None:
        parts += [still.obstacles(task), still.goals(task, 0.12 * size)]
    if not isinstance(ghosts, list | tuple) or ghosts:
        pale = np.atleast_2d(vector_or_batch(ghosts, robot.nq, "ghosts"))
        parts.append(still.ghosts(robot, list(pale)))
    if course is not None and has_tool(robot):
        parts.append(still.trace(robot, course.thinned(400).q, 0.003 * size))
    if target is not None:
        parts.append(still.target(target, 0.15 * size))
    return parts


def _contacts(robot: RobotBase, task: Any, margin: float, size: float) -> Contacts:
    if not hasattr(robot, "has_collisions"):
        raise UnsupportedError("contacts=True needs a robot with collision geometry, such as a PinRobot")
    return Contacts(robot, task, margin, 0.003 * size)


def _layers(layers: Any) -> tuple[str, ...]:
    if not isinstance(layers, str | Iterable):
        raise InputTypeError(f"layers must be one name or several, got {type(layers).__name__}")
    wanted = (layers,) if isinstance(layers, str) else tuple(layers)
    for layer in wanted:
        if layer not in LAYERS:
            raise unknown_name("layer", layer, LAYERS)
    return wanted
