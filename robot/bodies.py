"""Dynamics of many states of one robot in the native kernel: how the model crosses over, and what can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from . import native
from .arrays import Array
from .motors import Motors

if TYPE_CHECKING:
    from .coordinates import Coordinates

LARGEST = 128
"""Degrees of freedom; beyond, dense matrices in lanes no longer pay."""

Ints = NDArray[np.int32]


class NativeBodies:
    """The bodies of a robot inside the kernel; good as long as the robot does not change.

    States are rows in the robot's own coordinates, with unit quaternions; answers are new arrays. One row may stand
    for all states.

    Attributes:
        core: The kernel's object.
        number: The kernel's number of each joint of the model.
        nv: Degrees of freedom.
    """

    __slots__ = ("_model", "_turned", "core", "number", "nv")

    def __init__(self, model: pin.Model, coordinates: Coordinates, own: Motors, motors: Motors, tree: Any) -> None:
        joints, self.number, self._turned = tree
        self._model, self.nv = model, coordinates.nv
        order = list(self.number)
        v_start = {model.getJointId(slot.name): slot.v.start for slot in coordinates.slots}
        for coupling in coordinates.couplings:
            v_start[model.getJointId(coupling.follower)] = coordinates.by_name[coupling.leader].v.start
        at = [i for j in order for i in range(model.idx_vs[j], model.idx_vs[j] + model.nvs[j])]
        self.core = native.core().Bodies(
            joints,
            coordinates.nq,
            coordinates.nv,
            np.array([v_start[j] for j in order], dtype=np.int32),
            np.array([_inertia(model.inertias[j], self._turned[j]) for j in order], dtype=np.float64),
            np.ascontiguousarray(np.array(model.armature)[at]),
            np.ascontiguousarray(own.damping[at]),
            np.ascontiguousarray(own.coulomb[at]),
            np.array(motors.reflected_inertia),
            np.array(motors.damping),
            np.array(motors.coulomb),
            np.array(model.gravity.linear),
        )

    def frame(self, index: int) -> tuple[int, Array]:
        """The kernel's joint a frame is fixed to, -1 for the world, and the frame's place on it (12,)."""
        frame = self._model.frames[index]
        joint = frame.parentJoint
        return self.number.get(joint, -1), native._flat(self._turned[joint].T, frame.placement, np.eye(3))

    def frames(self, indices: list[int]) -> tuple[Ints, Array]:
        """The same for several: (F,), (F, 12)."""
        return _stacked([self.frame(index) for index in indices])

    def joints(self, indices: list[int]) -> tuple[Ints, Array]:
        """Places of joints of the model as those of frames."""
        at_origin = pin.SE3.Identity()
        return _stacked([(self.number[j], native._flat(self._turned[j].T, at_origin, np.eye(3))) for j in indices])

    def inverse(
        self, q: Array, dq: Array | None, ddq: Array | None, gravity: Array | None = None, threads: int | None = None
    ) -> Array:
        """M ddq + C dq + g (N, nv); None is zero, but for gravity, where it is the robot's own."""
        count = _count(q, dq, ddq)
        out = np.empty((count, self.nv))
        given = _row_major(q), _row_major(dq), _row_major(ddq)
        self.core.evaluate(count, *given, gravity=gravity, inverse=out, threads=native.threads_for(count, threads))
        return out

    def forward(self, q: Array, dq: Array, tau: Array, rotors: bool, threads: int | None = None) -> Array:
        """Accelerations (N, nv) under tau; not finite where the mass matrix is singular."""
        count = _count(q, dq, tau)
        out = np.empty((count, self.nv))
        given = _row_major(q), _row_major(dq)
        self.core.evaluate(
            count, *given, tau=_row_major(tau), rotors=rotors, forward=out, threads=native.threads_for(count, threads)
        )
        return out

    def mass_matrix(self, q: Array, threads: int | None = None) -> Array:
        """M (N, nv, nv), armature included."""
        out = np.empty((len(q), self.nv, self.nv))
        self.core.evaluate(len(q), _row_major(q), mass=out, threads=native.threads_for(len(q), threads))
        return out

    def poses(self, q: Array, frames: tuple[Ints, Array], threads: int | None = None) -> Array:
        """Poses of frames (N, F, 4, 4)."""
        out = np.empty((len(q), len(frames[0]), 4, 4))
        self.core.evaluate(
            len(q), _row_major(q), **_named(frames), poses=out, threads=native.threads_for(len(q), threads)
        )
        return out

    def pose_and_jacobian(
        self, q: Array, frame: tuple[Ints, Array], reference: int, threads: int | None = None
    ) -> tuple[Array, Array]:
        """Pose (N, 4, 4) of one frame and its Jacobian (N, 6, nv)."""
        count = len(q)
        T, J = np.empty((count, 4, 4)), np.empty((count, 6, self.nv))
        self.core.evaluate(
            count,
            _row_major(q),
            **_named(frame),
            reference=int(reference),
            poses=T,
            jacobian=J,
            threads=native.threads_for(count, threads),
        )
        return T, J

    def bias_acceleration(self, q: Array, dq: Array, frame: tuple[Ints, Array]) -> Array:
        """dJ/dt dq of one frame (N, 6), world axes."""
        out = np.empty((len(q), 6))
        self.core.evaluate(len(q), _row_major(q), _row_major(dq), **_named(frame), bias=out)
        return out


def native_bodies(model: pin.Model, coordinates: Coordinates, own: Motors, motors: Motors) -> NativeBodies | None:
    """The bodies in the kernel, or None where there is no kernel or it cannot express one of the joints."""
    if not native.AVAILABLE or not 0 < coordinates.nv <= LARGEST or any(model.gravity.angular):
        return None
    tree = native.tree(model, set(range(1, model.njoints)), coordinates)
    return None if tree is None else NativeBodies(model, coordinates, own, motors, tree)


def _inertia(inertia: pin.Inertia, turned: Array) -> Array:
    """Mass, centre (3,), inertia about it xx xy xz yy yz zz, in the turned axes of the joint (10,)."""
    J = turned.T @ inertia.inertia @ turned
    return np.concatenate(([inertia.mass], turned.T @ inertia.lever, J[0], J[1, 1:], J[2, 2:]))


def _stacked(found: list[tuple[int, Array]]) -> tuple[Ints, Array]:
    joints = np.array([joint for joint, _ in found], dtype=np.int32)
    return joints, np.array([place for _, place in found], dtype=np.float64).reshape(len(found), 12)


def _named(frames: tuple[Ints, Array]) -> dict[str, Any]:
    return {"frame_joints": frames[0], "frame_places": frames[1]}


def _count(*arrays: Array | None) -> int:
    return next((len(array) for array in arrays if array is not None and array.ndim == 2), 1)


def _row_major(array: Array | None) -> Array | None:
    return None if array is None else np.ascontiguousarray(array)
