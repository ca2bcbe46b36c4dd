"""Parts that move with a robot: its surfaces, a skeleton, frames, contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..robot import InputError, RobotBase
from ..robot.arrays import Array
from .drawing import Colour, Moment, Solid, unique
from .shapes import Mesh, ball, ball_pose, bar, bar_pose

GREY: Colour = (0.75, 0.75, 0.78, 1.0)
COLLISION: Colour = (0.95, 0.55, 0.1, 0.45)
BONE: Colour = (0.35, 0.4, 0.5, 1.0)
AXES: tuple[tuple[str, Colour], ...] = (
    ("x", (0.9, 0.15, 0.15, 1.0)),
    ("y", (0.1, 0.7, 0.15, 1.0)),
    ("z", (0.15, 0.3, 0.95, 1.0)),
)
PAIRS: tuple[Colour, ...] = (
    (0.9, 0.1, 0.1, 1.0),
    (0.75, 0.1, 0.85, 1.0),
    (0.95, 0.55, 0.0, 1.0),
    (0.0, 0.6, 0.7, 1.0),
    (0.55, 0.6, 0.0, 1.0),
    (0.95, 0.3, 0.55, 1.0),
)
"""One colour a pair in contact, from the start again after the last."""
LINES = 24
"""Contacts that have a line of their own; more are coloured only."""


class Body:
    """The surfaces of one layer of a robot."""

    def __init__(self, robot: RobotBase, layer: str, *, visible: bool = True, plain: bool = False) -> None:
        self._robot, self._layer, self._visible = robot, layer, visible
        self._surfaces = robot.surfaces(layer)
        self._paths = [f"{layer}/{name}" for name in unique(surface.name for surface in self._surfaces)]
        self._default = GREY if plain or layer == "visual" else COLLISION

    def solids(self) -> Sequence[Solid]:
        """One per geometry, in the colours of the description."""
        pairs = zip(self._paths, self._surfaces, strict=True)
        return [
            Solid(path, Mesh(s.vertices, s.triangles), s.colour or self._default, visible=self._visible)
            for path, s in pairs
        ]

    def at(self, q: Array) -> Moment:
        """Their poses."""
        return Moment(dict(zip(self._paths, self._robot.surface_poses(q, self._layer), strict=True)))


class Skeleton:
    """A bar for each link that has no surface, from joint to joint, and a ball for each joint such a link follows."""

    def __init__(self, robot: RobotBase, dressed: set[str], radius: float) -> None:
        self._robot, self._radius = robot, radius
        names, parents = list(robot.joints), robot.parents
        self._joints = {name: k for k, name in enumerate(names)}
        self._bars = [(above, name) for name in names if (above := _carrier(name, parents, names)) not in dressed]
        below = {parents[name] for name in names}
        self._tool = bool(names) and has_tool(robot) and names[-1] not in dressed and names[-1] not in below
        balls = [name for name in names if name not in dressed]
        self._balls = {name: f"skeleton/{path}" for name, path in zip(balls, unique(balls), strict=True)}

    def solids(self) -> Sequence[Solid]:
        """Bars and balls."""
        rod, knob = bar(), ball()
        bars = [Solid(f"bones/{k}", rod, BONE) for k in range(len(self._bars) + self._tool)]
        return bars + [Solid(path, knob, GREY) for path in self._balls.values()]

    def at(self, q: Array) -> Moment:
        """Bars from joint to joint, whatever lies between."""
        poses = self._robot.joint_poses(q)
        base = self._robot.placement.translation
        ends = [
            (base if above not in self._joints else poses[self._joints[above], :3, 3], poses[self._joints[name], :3, 3])
            for above, name in self._bars
        ]
        if self._tool:
            ends.append((poses[-1, :3, 3], self._robot.pose(q, self._robot.tcp)[:3, 3]))
        where = {f"bones/{k}": bar_pose(*pair, self._radius) for k, pair in enumerate(ends)}
        for name, path in self._balls.items():
            centre = poses[self._joints[name], :3, 3]
            where[path] = ball_pose(centre, 1.6 * self._radius)
        return Moment(where)


def has_tool(robot: RobotBase) -> bool:
    """Whether the robot has one tip, or one was chosen."""
    try:
        return bool(robot.tcp)
    except InputError:
        return False


def _carrier(name: str, parents: Any, joints: Sequence[str]) -> str:
    """The nearest joint above that has a coordinate of its own, or the base."""
    above = parents[name]
    while above not in joints and parents[above] != above:
        above = parents[above]
    return str(above)


class Frames:
    """Axes of named frames: red x, green y, blue z."""

    def __init__(self, robot: RobotBase, kind: str, length: float) -> None:
        names = {"tcp": lambda: [robot.tcp], "joints": lambda: robot.joints, "full": lambda: robot.frames}[kind]()
        self._paths = [f"frames/{name}" for name in unique(names)]
        self._length = length
        poses: dict[str, Callable[[Array], Array]] = {
            "tcp": lambda q: robot.pose(q, robot.tcp)[None],
            "joints": robot.joint_poses,
            "full": robot.frame_poses,
        }
        self._poses = poses[kind]

    def solids(self) -> Sequence[Solid]:
        """Three bars a frame."""
        return [solid for path in self._paths for solid in triad(path, self._length)]

    def at(self, q: Array) -> Moment:
        """Poses of the frames; the bars hang below."""
        return Moment(dict(zip(self._paths, self._poses(q), strict=True)))


def triad(path: str, length: float, opacity: float = 1.0, in_front: bool = True) -> list[Solid]:
    """Three bars along the axes of the frame at a path."""
    rod = bar()
    poses = [bar_pose(np.zeros(3), length * along, 0.035 * length) for along in np.eye(3)]
    return [
        Solid(f"{path}/{name}", rod, (*colour[:3], opacity), pose, in_front=in_front)
        for (name, colour), pose in zip(AXES, poses, strict=True)
    ]


class Contacts:
    """Shapes in contact, each pair in a colour of its own, and a line between the points where it is deepest."""

    def __init__(self, robot: Any, task: Any, margin: float, radius: float) -> None:
        self._robot, self._task, self._margin, self._radius = robot, task, margin, radius
        self._surfaces = robot.surfaces("collision")
        paths = [f"contacts/{name}" for name in unique(surface.name for surface in self._surfaces)]
        self._paths = {surface.name: path for surface, path in zip(self._surfaces, paths, strict=True)}

    def solids(self) -> Sequence[Solid]:
        """The collision shapes once more, shown only while they touch, and lines in reserve."""
        shapes = [
            Solid(self._paths[s.name], Mesh(s.vertices, s.triangles), PAIRS[0], marked=True) for s in self._surfaces
        ]
        rod, knob = bar(), ball()
        lines = [
            Solid(f"contact_lines/{kind}_{k}", mesh, PAIRS[0], marked=True, in_front=True)
            for k in range(LINES)
            for kind, mesh in (("line", rod), ("first", knob), ("second", knob))
        ]
        return shapes + lines

    def at(self, q: Array) -> Moment:
        """Marks of what is in contact."""
        poses = dict(zip(self._paths.values(), self._robot.surface_poses(q, "collision"), strict=True))
        marks: dict[str, Colour] = {}
        if not self._robot.has_collisions(self._task, self._margin, q=q):
            return Moment(poses, marks)
        touching = {contact.pair for contact in self._robot.collisions(self._task, self._margin, q=q)}
        found = [distance for distance in self._robot.distances(q, self._task) if distance.pair in touching]
        for k, distance in enumerate(sorted(found, key=lambda d: d.value)):
            colour = PAIRS[k % len(PAIRS)]
            for name in distance.pair:
                if name in self._paths:
                    marks.setdefault(self._paths[name], (*colour[:3], 0.75))
            if k < LINES and np.isfinite(distance.points).all():
                self._line(k, distance.points, colour, poses, marks)
        return Moment(poses, marks)

    def _line(self, k: int, points: Array, colour: Colour, poses: dict[str, Array], marks: dict[str, Colour]) -> None:
        poses[f"contact_lines/line_{k}"] = bar_pose(points[0], points[1], self._radius)
        for name, point in (("first", points[0]), ("second", points[1])):
            poses[f"contact_lines/{name}_{k}"] = ball_pose(point, 2.0 * self._radius)
        red, green, blue = (0.4 * part for part in colour[:3])  # darker than the shapes it lies on
        for name in ("line", "first", "second"):
            marks[f"contact_lines/{name}_{k}"] = (red, green, blue, 1.0)
