"""The bound behind collision checks between samples: how far shapes move against each other while joints move.

While joint j turns by an angle, a point fixed to what it carries moves no farther than the angle times its distance
from the axis. That distance never exceeds

    r_j = |part of the way to the next joint that is perpendicular to the axis| + lengths of the ways beyond + |c| + R,

c and R the centre and radius of the bounding sphere of the shape in its own joint, ways between joints as the model
has them, and a sliding joint as long as it gets. While it slides, every point moves as far as the joint. Joints that
carry both shapes of a pair move both alike and count for nothing. So the distance of a pair changes by no more than

    sum_j r_j(pair) * (length of the way of joint j).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from .arrays import Array
from .collider import Body
from .collision import CollisionChecker, Distance
from .coordinates import Coordinates

_CHUNK = 8192
"""Configurations looked at together: a margin for each of their pairs must find room."""
_UNBOUNDED = 1e9
"""Stands in for the radius of a shape without bounds [m]: infinite times a joint that rests would be undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The pairs of one checker and how fast each can close."""

    checker: CollisionChecker
    reach: Array
    """Distance by which a pair changes at most, per unit of way of each degree of freedom (P, nv) [m/rad or 1]."""

    def approached(self, q: Array, way: Array, margin: float) -> NDArray[np.bool_]:
        """Whether a pair could come closer than `margin` [m] on a way of length `way` (N, nv) from q (N, nq): (N,)."""
        parts = [slice(k, k + _CHUNK) for k in range(0, len(q), _CHUNK)]
        found = [self.checker.approached(q[part], margin + way[part] @ self.reach.T) for part in parts]
        return np.concatenate(found) if found else np.zeros(0, dtype=bool)

    def touching(self, q: Array, margin: float) -> NDArray[np.bool_]:
        """Whether a pair is closer than `margin` [m] at q (N, nq): (N,)."""
        return self.checker.touching_batch(q, margin, 1)

    def least(self, q: Array, limit: float = np.inf) -> tuple[int, Distance] | None:
        """See CollisionChecker."""
        return self.checker.least(q, limit)

    def closing(self, way: Array) -> Array:
        """Distance (N,) by which any pair changes at most on ways (N, nv) [m]."""
        parts = [way[k : k + _CHUNK] for k in range(0, len(way), _CHUNK)]
        return np.concatenate([(part @ self.reach.T).max(axis=1) for part in parts] or [np.zeros(0)])


def sweeps(robot: Any, task: Any, low: Array, high: Array) -> tuple[Sweep | None, Sweep | None]:
    """Of a robot within itself and with the obstacles of a task, while its q stays between `low` and `high` (nq,).

    None where no pair is checked, or the robot knows nothing of collisions.
    """
    checker = getattr(robot, "_checker", None)
    if checker is None:
        return None, None
    own, scene = checker(), None
    at = robot._coordinates
    most = np.maximum(np.abs(at.to_pinocchio(low)), np.abs(at.to_pinocchio(high)))
    chains = chains_of(robot.model, most)
    speeds = np.array([body_reach(chains, robot.model.nv, body) for body in own.bodies]).reshape(-1, robot.model.nv)
    if task is not None and task.obstacles:
        scene = robot._scene_checker(task)
    still = np.zeros((0 if scene is None else len(scene.bodies) - len(own.bodies), robot.model.nv))
    return _sweep(at, own, speeds), _sweep(at, scene, np.vstack([speeds, still]))


def _sweep(at: Coordinates, checker: CollisionChecker | None, speeds: Array) -> Sweep | None:
    if checker is None or not len(checker.pairs):
        return None
    carried = speeds > 0.0
    a, b = checker.pairs[:, 0], checker.pairs[:, 1]
    reach = np.where(carried[a] & carried[b], 0.0, speeds[a] + speeds[b])
    return Sweep(checker, reach if at.velocity_map is None else reach @ np.abs(at.velocity_map))


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """What the reach of a shape needs to know of one joint."""

    parent: int
    v: slice
    linear: Array
    """How far its frame moves per unit of each of its degrees of freedom."""
    angular: Array
    axis: Array | None
    """In its own frame, if it only turns about one."""
    way: Array
    """From the parent to it, in the parent (3,)."""
    slide: float
    """How far it gets from there."""


def chains_of(model: pin.Model, most: Array) -> list[_Joint]:
    """The joints of a model, the universe first, each with its parent.

    Args:
        model: Pinocchio's model.
        most: Greatest absolute value of each coordinate (model.nq,), for sliding joints.
    """
    nothing = np.zeros(0)
    joints, neutral = [_Joint(0, slice(0, 0), nothing, nothing, None, np.zeros(3), 0.0)], pin.neutral(model)
    for j in range(1, model.njoints):
        kind = model.joints[j]
        data = kind.createData()
        kind.calc(data, neutral)
        S = np.asarray(data.S, dtype=np.float64).reshape(6, kind.nv)
        linear, angular = np.sqrt((S[:3] ** 2).sum(axis=0)), np.sqrt((S[3:] ** 2).sum(axis=0))
        axis = S[3:, 0] / angular[0] if kind.nv == 1 and linear[0] < 1e-12 else None
        v = slice(kind.idx_v, kind.idx_v + kind.nv)
        way = np.array(model.jointPlacements[j].translation)
        joints.append(_Joint(model.parents[j], v, linear, angular, axis, way, _slide(kind, most)))
    return joints


def body_reach(chains: list[_Joint], nv: int, body: Body) -> Array:
    """How far any point of a shape moves at most per unit of way of each degree of freedom (nv,) of the model."""
    result = np.zeros(nv)
    joint, beyond = body.joint, min(body.convex.radius, _UNBOUNDED)
    way = np.asarray(body.placement.act(body.convex.centre))
    while joint > 0:
        link = chains[joint]
        far = math.sqrt(way @ way) + beyond
        arm = far
        if link.axis is not None:
            along = float(link.axis @ way)
            arm = math.sqrt(max(0.0, way @ way - along * along)) + beyond
        result[link.v] = np.maximum(link.linear + link.angular * arm, 1e-12)
        way, beyond = link.way, far + link.slide
        joint = link.parent
    return result


def _slide(kind: Any, most: Array) -> float:
    """How far the frame of a joint gets from where it is mounted."""
    values = most[kind.idx_q : kind.idx_q + kind.nq]
    name = str(kind.shortname())
    if "Prismatic" in name or name in ("JointModelPX", "JointModelPY", "JointModelPZ"):
        return float(values[0])
    sizes = {"JointModelFreeFlyer": 3, "JointModelTranslation": 3, "JointModelPlanar": 2}
    if name in sizes:
        return float(np.linalg.norm(values[: sizes[name]]))
    if "Helical" in name or name.startswith("JointModelH"):
        data = kind.createData()
        kind.calc(data, np.concatenate([np.zeros(kind.idx_q), [1.0]]))
        return float(np.linalg.norm(data.M.translation) * values[0])
    return 0.0
