"""What a robot must be able to do: the few laws everything else is derived from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrays import Array
from .limits import JointLimits
from .motors import Motors
from .spatial import ReferenceFrame


class Primitives(ABC):
    """Tier 1: pure functions of q that trust their arguments and return arrays nobody else holds.

    Arguments are float64 arrays of the right shape in the robot's own coordinates, frames are existing names.
    Nothing here reads or writes the stored configuration. Call the facade unless every microsecond counts.
    """

    @abstractmethod
    def pose(self, q: Array, frame: str) -> Array:
        """Pose of a frame in the world (4, 4)."""

    @abstractmethod
    def frame_jacobian(self, q: Array, frame: str, reference: ReferenceFrame) -> Array:
        """Jacobian of a frame (6, nv), linear rows first: twist = J dq."""

    @abstractmethod
    def crba(self, q: Array) -> Array:
        """Mass matrix of the bodies, armature included (nv, nv), symmetric."""

    @abstractmethod
    def rnea(self, q: Array, dq: Array, ddq: Array, gravity: Array | None = None) -> Array:
        """Torques of the bodies alone, M ddq + C dq + g (nv,).

        Args:
            q: Configuration (nq,).
            dq: Velocity (nv,).
            ddq: Acceleration (nv,).
            gravity: Acceleration of free fall (3,) in world axes [m/s^2]; None is the robot's own.
        """

    @abstractmethod
    def potential_energy(self, q: Array | None = None) -> Any:
        """Energy U(q) [J] of the moving bodies in the robot's gravity: a number for (nq,), (N,) for a batch (N, nq).

        None is the stored configuration.
        """

    @property
    @abstractmethod
    def joints(self) -> list[str]:
        """Names of the joints, in the order of q."""

    @property
    @abstractmethod
    def parents(self) -> dict[str, str]:
        """Parent joint of every joint; the base is its own parent."""

    @property
    @abstractmethod
    def frames(self) -> list[str]:
        """Names of all poses that can be asked for, joints included."""

    @property
    @abstractmethod
    def nq(self) -> int:
        """Length of a configuration."""

    @property
    def nv(self) -> int:
        """Length of a velocity; differs from nq where a joint has no global coordinates."""
        return self.nq

    @property
    @abstractmethod
    def limits(self) -> JointLimits:
        """Bounds of the joints."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """Mass of the whole robot, base included [kg]."""

    @property
    def motors(self) -> Motors:
        """Reflected inertia and friction of the drives; none unless a robot says otherwise."""
        return Motors.create(self.nv)

    # Everything below has a derivation that is always right; a backend overrides it to be faster.

    def coordinate_slices(self) -> Mapping[str, tuple[slice, slice]]:
        """Where each joint stands in q and in dq."""
        return {name: (slice(i, i + 1), slice(i, i + 1)) for i, name in enumerate(self.joints)}

    def pose_batch(self, q: Array, frame: str, threads: int | None = None) -> Array:
        """Poses of a frame: (N, nq) -> (N, 4, 4). Here and below, `threads` is for backends that have use for them."""
        return stacked([self.pose(row, frame) for row in q], (4, 4))

    def frame_jacobian_batch(
        self, q: Array, frame: str, reference: ReferenceFrame, threads: int | None = None
    ) -> Array:
        """Jacobians of a frame: (N, nq) -> (N, 6, nv)."""
        return stacked([self.frame_jacobian(row, frame, reference) for row in q], (6, self.nv))

    def crba_batch(self, q: Array, threads: int | None = None) -> Array:
        """Mass matrices: (N, nq) -> (N, nv, nv)."""
        return stacked([self.crba(row) for row in q], (self.nv, self.nv))

    def rnea_batch(
        self, q: Array, dq: Array, ddq: Array, gravity: Array | None = None, threads: int | None = None
    ) -> Array:
        """`rnea` of many states (N, nv); one vector may stand for all rows."""
        count = next((len(array) for array in (q, dq, ddq) if array.ndim == 2), 1)
        found = [self.rnea(_row(q, i), _row(dq, i), _row(ddq, i), gravity) for i in range(count)]
        return stacked(found, (self.nv,))

    def joint_poses_batch(self, q: Array, threads: int | None = None) -> Array:
        """Poses of all joints: (N, nq) -> (N, n, 4, 4)."""
        return stacked([self.joint_poses(row) for row in q], (len(self.joints), 4, 4))

    def frame_poses_batch(self, q: Array, threads: int | None = None) -> Array:
        """Poses of all frames: (N, nq) -> (N, n, 4, 4)."""
        return stacked([self.frame_poses(row) for row in q], (len(self.frames), 4, 4))

    def joint_poses(self, q: Array) -> Array:
        """Poses of all joints in the order of `joints`: (nq,) -> (n, 4, 4)."""
        return stacked([self.pose(q, name) for name in self.joints], (4, 4))

    def frame_poses(self, q: Array) -> Array:
        """Poses of all frames in the order of `frames`: (nq,) -> (n, 4, 4)."""
        return stacked([self.pose(q, name) for name in self.frames], (4, 4))


def _row(array: Array, index: int) -> Array:
    return array[index] if array.ndim == 2 else array


def stacked(rows: list[Array], shape: tuple[int, ...]) -> Array:
    """Rows as one array, of the right shape even if there are none."""
    return np.stack(rows) if rows else np.empty((0, *shape))
