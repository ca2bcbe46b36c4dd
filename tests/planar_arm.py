"""A second backend: the planar arm of the textbooks, every law written out by hand (Craig, section 6.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from knuckle import JointLimits, ReferenceFrame, RobotBase


class PlanarArm(RobotBase):
    """n links of length l in the x-y plane, a point mass m at the end of each, joints about z, gravity along -y."""

    def __init__(self, lengths: Any = (0.5, 0.4, 0.3), masses: Any = (2.0, 1.5, 1.0), **options: Any) -> None:
        self.l, self.m = np.asarray(lengths, float), np.asarray(masses, float)
        self._limits = JointLimits.create(
            len(self.l), len(self.l), [[-3.0], [3.0]] * np.ones(len(self.l)), 2.0, 9.0, 50.0
        )
        super().__init__(name="planar", **options)

    joints = property(lambda self: [f"joint{i}" for i in range(len(self.l))])
    parents = property(
        lambda self: {"universe": "universe", **dict(zip(self.joints, ["universe", *self.joints], strict=False))}
    )
    frames = property(lambda self: [*self.joints, "tip"])
    nq = property(lambda self: len(self.l))
    limits = property(lambda self: self._limits)
    mass = property(lambda self: float(self.m.sum()))

    def _points(self, q: np.ndarray) -> np.ndarray:
        """Joints and tip in the base (n + 1, 3)."""
        angle = np.cumsum(q)
        steps = self.l[:, None] * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        return np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])

    def pose(self, q: np.ndarray, frame: str) -> np.ndarray:
        k = self.frames.index(frame)
        angle = np.cumsum(q)[min(k, self.nq - 1)]
        T = np.eye(4)
        T[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        T[:3, 3] = self._points(q)[k]
        return self.placement.homogeneous @ T

    def frame_jacobian(self, q: np.ndarray, frame: str, reference: ReferenceFrame) -> np.ndarray:
        k, z = self.frames.index(frame), np.array([0.0, 0.0, 1.0])
        points, J = self._points(q), np.zeros((6, self.nq))
        for i in range(min(k + 1, self.nq)):
            J[:3, i], J[3:, i] = np.cross(z, points[k] - points[i]), z
        R = self.placement.rotation
        J = np.vstack([R @ J[:3], R @ J[3:]])  # world axes at the frame
        T = self.pose(q, frame)
        if reference is ReferenceFrame.WORLD:
            J[:3] += np.cross(T[:3, 3], J[3:].T).T
        if reference is ReferenceFrame.LOCAL:
            J = np.vstack([T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]])
        return J

    def _point_jacobians(self, q: np.ndarray) -> np.ndarray:
        """Linear Jacobians of the masses, world axes (n, 3, n); joint i + 1, where mass i is, does not move it."""
        return np.array([self.frame_jacobian(q, f, ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3] for f in self.frames[1:]])

    def crba(self, q: np.ndarray) -> np.ndarray:
        return np.einsum("m,mki,mkj->ij", self.m, *[self._point_jacobians(q)] * 2)

    def rnea(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, gravity: Any = None) -> np.ndarray:
        pull = np.array([0.0, -9.81, 0.0]) if gravity is None else np.asarray(gravity)
        J, z = self._point_jacobians(q), self.placement.rotation @ [0.0, 0.0, 1.0]
        w, al = np.cumsum(dq), np.cumsum(ddq)
        links = np.diff(self._points(q), axis=0) @ self.placement.rotation.T
        steps = np.cross(al[:, None] * z, links) - (w**2)[:, None] * links
        return np.einsum("mki,mk,m->i", J, np.cumsum(steps, axis=0) - pull, self.m)

    def potential_energy(self, q: Any = None) -> Any:
        q = self._one_or_many(q)
        if q.ndim == 2:
            return np.array([self.potential_energy(row) for row in q])
        points = self._points(q)[1:] @ self.placement.rotation.T + self.placement.translation
        return float(9.81 * self.m @ points[:, 1])
