"""Parts that stand still: obstacles, goals, ghosts of the robot, the trace of its tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..robot import RobotBase, ToleratedPose
from ..robot.arrays import Array
from ..robot.transformation import as_transformation
from .drawing import Colour, Solid, Still, unique
from .moving import GREY, Body, triad
from .shapes import Mesh, tube

OBSTACLE: Colour = (0.45, 0.6, 0.75, 0.85)
FLOOR: Colour = (0.8, 0.8, 0.8, 0.6)
TRACE: Colour = (0.1, 0.45, 0.9, 1.0)


def obstacles(task: Any) -> Still:
    """The obstacles of a task; a plane is a square patch, however large it is."""
    things = []
    for name, obstacle in zip(unique(one.id for one in task.obstacles), task.obstacles, strict=True):
        vertices, triangles = obstacle.surface
        floor = obstacle.description.kind == "plane"
        path = f"{'floors' if floor else 'obstacles'}/{name}"
        pose = obstacle.placement.homogeneous
        things.append(Solid(path, Mesh(vertices, triangles), FLOOR if floor else OBSTACLE, pose))
    return Still(tuple(things))


def goals(task: Any, length: float) -> Still:
    """The goals of a task as axes; where a goal is several poses, each of them."""
    poses: list[tuple[str, Any]] = []
    for name, goal in task.goals.items():
        each = goal if isinstance(goal, tuple) else (goal,)
        poses += [(name if k == 0 else f"{name}_{k + 1}", one) for k, one in enumerate(each)]
    names = unique(name for name, _ in poses)
    axes = (_axes(f"goals/{name}", one, length) for name, (_, one) in zip(names, poses, strict=True))
    return Still(tuple(bar for each in axes for bar in each))


def target(pose: Any, length: float) -> Still:
    """A pose to be reached, as pale axes."""
    return Still(tuple(_axes("target", pose, length)))


def _axes(path: str, pose: Any, length: float) -> list[Solid]:
    desired = pose.nominal if isinstance(pose, ToleratedPose) else pose
    T = as_transformation(desired, "target").homogeneous
    return [
        Solid(bar.path, bar.mesh, bar.colour, T @ bar.pose if bar.pose is not None else T)
        for bar in triad(path, length, 0.55)
    ]


def ghosts(robot: RobotBase, configurations: Iterable[Array], opacity: float = 0.25) -> Still:
    """The robot at other configurations (nq,), pale."""
    things = []
    layer = "visual" if robot.surfaces("visual") else "collision"
    body = Body(robot, layer, plain=True)
    for k, q in enumerate(configurations):
        poses = body.at(q).poses
        for solid in body.solids():
            colour = (*(solid.colour or GREY)[:3], opacity)
            things.append(Solid(f"ghosts/{k}/{solid.path}", solid.mesh, colour, poses[solid.path]))
    return Still(tuple(things))


def trace(robot: RobotBase, q: Array, radius: float) -> Still:
    """The path of the tool through configurations (N, nq)."""
    points = np.array([robot.pose(row, robot.tcp)[:3, 3] for row in q])
    return Still((Solid("trace", tube(points, radius), TRACE),))
