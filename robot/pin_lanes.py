"""Batches of a Pinocchio robot in the native kernel, several states to a vector; one by one where it cannot."""

from __future__ import annotations

import numpy as np

from . import native
from .arrays import Array
from .bodies import NativeBodies, native_bodies
from .pin_backend import PinBackend
from .spatial import ReferenceFrame


class PinLanes(PinBackend):
    """What `Primitives` asks of many states at once."""

    _scratch: tuple[str, ...] = ("_in_lanes",)
    _in_lanes: tuple[int, NativeBodies | None] = (-1, None)

    def native_bodies(self) -> NativeBodies | None:
        """The robot's dynamics in the native kernel, None where there is no kernel or it cannot express a joint."""
        version, bodies = self._in_lanes
        if version != self._version:
            bodies = native_bodies(self._model, self._coordinates, self._own_motors, self._motors)
            self._in_lanes = self._version, bodies
        return bodies

    def pose_batch(self, q: Array, frame: str, threads: int | None = None) -> Array:
        """See Primitives."""
        chain = self.native_chain(frame)
        if chain is not None:
            return chain.pose_batch(q, native.threads_for(len(q), threads))
        bodies = self.native_bodies()
        if bodies is None:
            return super().pose_batch(q, frame)
        return bodies.poses(q, bodies.frames([self._frame_id(frame)]), threads)[:, 0]

    def frame_jacobian_batch(
        self, q: Array, frame: str, reference: ReferenceFrame, threads: int | None = None
    ) -> Array:
        """See Primitives."""
        chain = self.native_chain(frame)
        if chain is not None:
            return chain.jacobian_batch(q, reference, native.threads_for(len(q), threads))
        bodies = self.native_bodies()
        if bodies is None:
            return super().frame_jacobian_batch(q, frame, reference)
        return bodies.pose_and_jacobian(q, bodies.frames([self._frame_id(frame)]), reference, threads)[1]

    def joint_poses_batch(self, q: Array, threads: int | None = None) -> Array:
        """See Primitives."""
        bodies = self.native_bodies()
        if bodies is None:
            return super().joint_poses_batch(q)
        joints = [self._model.getJointId(name) for name in self._coordinates.by_name]
        return bodies.poses(q, bodies.joints(joints), threads)

    def frame_poses_batch(self, q: Array, threads: int | None = None) -> Array:
        """See Primitives."""
        bodies = self.native_bodies()
        if bodies is None:
            return super().frame_poses_batch(q)
        return bodies.poses(q, bodies.frames(self._table.ids_in_order), threads)

    def crba_batch(self, q: Array, threads: int | None = None) -> Array:
        """See Primitives."""
        bodies = self.native_bodies()
        return super().crba_batch(q) if bodies is None else bodies.mass_matrix(q, threads)

    def rnea_batch(
        self, q: Array, dq: Array, ddq: Array, gravity: Array | None = None, threads: int | None = None
    ) -> Array:
        """See Primitives."""
        bodies = self.native_bodies()
        if bodies is None:
            return super().rnea_batch(q, dq, ddq, gravity)
        return bodies.inverse(q, _moving(dq), _moving(ddq), gravity, threads)

    def _accelerations_batch(
        self, count: int, q: Array, dq: Array, tau: Array, motor_inertia: bool, threads: int | None
    ) -> Array:
        bodies = self.native_bodies()
        if bodies is None:
            return super()._accelerations_batch(count, q, dq, tau, motor_inertia, threads)
        ddq = bodies.forward(q, dq, tau, motor_inertia, threads)
        if not np.isfinite(ddq).all():
            raise self._singular()
        return ddq


def _moving(rate: Array) -> Array | None:
    """None for one row of zeros, which costs nothing then."""
    return None if rate.ndim == 1 and not rate.any() else rate
