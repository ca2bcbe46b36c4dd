"""How far the shapes of a robot can move against each other while its joints move: the bound behind collision checks
between samples.

While joint j turns by an angle, a point fixed to what it carries moves no farther than the angle times its distance
from the axis. That distance never exceeds

    r_j = |part of the way to the next joint that is perpendicular to the axis| + lengths of the ways beyond + |c| + R,

c and R the centre and radius of the bounding sphere of the shape in its own joint, ways between joints as the model
has them, and a sliding joint as long as it gets. While it slides, every point moves as far as the joint. Joints that
carry both shapes of a pair move both alike and count for nothing. So the distance of a pair changes by no more than

    sum_j r_j(pair) * (length of the way of joint j).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from .arrays import Array
from .collider import Body
from .collision import CollisionChecker, Distance
from .coordinates import Coordinates


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The pairs of one checker and how fast each can close."""

    checker: CollisionChecker
    reach: Array
    """Distance by which a pair changes at most, per unit of way of each degree of freedom (P, nv) [m/rad or 1]."""

    def approached(self, q: Array, way: Array, margin: float) -> NDArray[np.bool_]:
        """Whether a pair could come closer than `margin` [m] on a way of length `way` (N, nv) from q (N, nq): (N,)."""
        return self.checker.approached(q, margin + way @ self.reach.T)

    def touching(self, q: Array, margin: float) -> NDArray[np.bool_]:
        """Whether a pair is closer than `margin` [m] at q (N, nq): (N,)."""
        return self.checker.touching_batch(q, margin, 1)

    def least(self, q: Array, limit: float = np.inf) -> tuple[int, Distance] | None:
        """See CollisionChecker."""
        return self.checker.least(q, limit)

    def closing(self, way: Array) -> Array:
        """Distance (N,) by which any pair changes at most on ways (N, nv) [m]."""
        return np.asarray((way @ self.reach.T).max(axis=1, initial=0.0))


def sweeps(robot: Any, task: Any, low: Array, high: Array) -> tuple[Sweep | None, Sweep | None]:
    """Of a robot within itself and with the obstacles of a task, while its q stays between `low` and `high` (nq,).

    None where no pair is checked, or the robot knows nothing of collisions.
    """
    checker = getattr(robot, "_checker", None)
    if checker is None:
        return None, None
    own = checker()
    scene = None if task is None or not task.obstacles else robot._scene_checker(task)
    at = robot._coordinates
    most = np.maximum(np.abs(at.to_pinocchio(low)), np.abs(at.to_pinocchio(high)))
    return _sweep(robot.model, at, own, most), _sweep(robot.model, at, scene, most)


def _sweep(model: pin.Model, at: Coordinates, checker: CollisionChecker | None, most: Array) -> Sweep | None:
    if checker is None or not len(checker.pairs):
        return None
    speeds = np.array([body_reach(model, body, most) for body in checker.bodies])
    carried = speeds > 0.0
    a, b = checker.pairs[:, 0], checker.pairs[:, 1]
    reach = np.where(carried[a] & carried[b], 0.0, speeds[a] + speeds[b])
    return Sweep(checker, reach if at.velocity_map is None else reach @ np.abs(at.velocity_map))


def body_reach(model: pin.Model, body: Body, most: Array) -> Array:
    """How far any point of a shape moves at most per unit of way of each degree of freedom (nv) of the model.

    Args:
        model: Pinocchio's model.
        body: The shape.
        most: Greatest absolute value of each coordinate (model.nq,), for sliding joints.
    """
    result = np.zeros(model.nv)
    joint, centre = body.joint, np.asarray(body.placement.act(body.convex.centre))
    beyond = body.convex.radius
    way, far = centre, float(np.linalg.norm(centre)) + beyond
    while joint > 0:
        kind = model.joints[joint]
        data = kind.createData()
        kind.calc(data, pin.neutral(model))
        S = np.asarray(data.S, dtype=np.float64).reshape(6, kind.nv)
        linear, angular = np.linalg.norm(S[:3], axis=0), np.linalg.norm(S[3:], axis=0)
        if kind.nv == 1 and linear[0] < 1e-12:
            axis = S[3:, 0] / angular[0]
            arm = float(np.linalg.norm(way - axis * (axis @ way))) + beyond
        else:
            arm = far
        result[kind.idx_v : kind.idx_v + kind.nv] = np.maximum(linear + angular * arm, 1e-12)
        way = np.asarray(model.jointPlacements[joint].translation)
        beyond = far + _slide(kind, most)
        far = float(np.linalg.norm(way)) + beyond
        joint = model.parents[joint]
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
