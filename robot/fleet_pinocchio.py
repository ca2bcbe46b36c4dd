"""Dynamics terms by Pinocchio for many states of one model."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pinocchio as pin

from .arrays import Array
from .bodies import Ints, NativeBodies
from .dynamics import weightless
from .fleet_roots import FreeRoot
from .fleet_terms import LWA, RobotTerms
from .kinematics import workspace
from .pin_robot import PinRobot

_WEIGHTLESS = np.zeros(3)


class PinTerms(RobotTerms):
    """The terms of one PinRobot; scratch is private, so one thread at a time."""

    robot: PinRobot

    def __init__(self, robot: PinRobot) -> None:
        super().__init__(robot)
        self._model, self._at = robot.model, robot._coordinates
        self.roots = free_roots(robot)
        self._units = [at for _, at in self._at._units]
        self._bare: dict[bool, tuple[pin.Model, pin.ModelPool | None]] = {}

    @cached_property
    def _data(self) -> pin.Data:
        return workspace(self._model)

    def normalised(self, q: Array) -> Array:
        if not self._units:
            return q
        q = q.copy()
        for at in self._units:
            q[..., at] /= np.linalg.norm(q[..., at], axis=-1, keepdims=True)
        return q

    def inverse_dynamics(self, q: Array, dq: Array, ddq: Array, gravity: bool) -> Array:
        at = self._at
        q, dq, ddq = at.to_pinocchio(q), at.velocity(dq), at.velocity(ddq)
        if q.ndim == 1:
            model = self._model if gravity else self._pool(False)[0]
            tau: Array = pin.rnea(model, self._data, q, dq, ddq)
            return at.torque(tau)
        result = np.empty((len(q), self._model.nv))
        if len(q) and self._model.nv:
            pin.rneaInParallel(1, self._pool(gravity)[1], q.T, dq.T, ddq.T, result.T)
        return at.torque(result)

    def _pool(self, gravity: bool) -> tuple[pin.Model, pin.ModelPool]:
        """The model, with or without gravity, and a pool of one for calls over columns of states."""
        if gravity not in self._bare:
            model = self._model if gravity else weightless(self._model)
            self._bare[gravity] = model, pin.ModelPool(model, 1)
        return self._bare[gravity]

    def mass_matrix(self, q: Array) -> Array:
        q, model, data, crba = self._at.to_pinocchio(q), self._model, self._data, pin.crba
        G = self._at.velocity_map
        if q.ndim == 1:
            M: Array = crba(model, data, q)
        else:
            M = np.empty((len(q), model.nv, model.nv))
            for i, one in enumerate(q):
                M[i] = crba(model, data, one)
        return M if G is None else G.T @ M @ G

    def pose_and_jacobian(self, q: Array, frame: str) -> tuple[Array, Array]:
        if self._model.nv == 0 or self.robot.native_chain(frame) is not None:
            return super().pose_and_jacobian(q, frame)
        index, q_pin = self.robot._frame_id(frame), self._at.to_pinocchio(q)
        if q.ndim == 1:
            T, J = self._pose_and_jacobian(q_pin, index)
            return T, self._at.torque(J)
        T, J = np.empty((len(q), 4, 4)), np.empty((len(q), 6, self._model.nv))
        for i, one in enumerate(q_pin):
            T[i], J[i] = self._pose_and_jacobian(one, index)
        return T, self._at.torque(J)

    def _pose_and_jacobian(self, q: Array, frame: int) -> tuple[Array, Array]:
        J = pin.computeFrameJacobian(self._model, self._data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        return pin.updateFramePlacement(self._model, self._data, frame).homogeneous, J

    def bias_acceleration(self, q: Array, dq: Array, frame: str) -> Array:
        if q.ndim == 1:
            return self._bias(self._at.to_pinocchio(q), self._at.velocity(dq), self.robot._frame_id(frame))
        index, q, dq = self.robot._frame_id(frame), self._at.to_pinocchio(q), self._at.velocity(dq)
        return self._each(lambda i: self._bias(q[i], dq[i], index), len(q), (6,))

    def _bias(self, q: Array, dq: Array, frame: int) -> Array:
        pin.forwardKinematics(self._model, self._data, q, dq, np.zeros(self._model.nv))
        a = pin.getFrameClassicalAcceleration(self._model, self._data, frame, pin.LOCAL_WORLD_ALIGNED)
        return np.concatenate((a.linear, a.angular))

    def body_of(self, frame: str) -> tuple[int, Array]:
        found = self._model.frames[self.robot._frame_id(frame)]
        return int(found.parentJoint), np.array(found.placement.homogeneous)

    def body_poses(self, q: Array) -> Array:
        if q.ndim == 2:
            return self._each(lambda i: self.body_poses(q[i]), len(q), (self._model.njoints, 4, 4))
        pin.forwardKinematics(self._model, self._data, self._at.to_pinocchio(q))
        poses = np.array([placement.homogeneous for placement in self._data.oMi])
        poses[0] = self.robot.placement.homogeneous
        return poses


class LaneTerms(PinTerms):
    """The terms of one PinRobot by the native kernel where many states are asked for at once."""

    def __init__(self, robot: PinRobot, bodies: NativeBodies, threads: int | None) -> None:
        super().__init__(robot)
        self.bodies, self._threads = bodies, threads

    def inverse_dynamics(self, q: Array, dq: Array, ddq: Array, gravity: bool) -> Array:
        if q.ndim == 1:
            return super().inverse_dynamics(q, dq, ddq, gravity)
        return self.bodies.inverse(q, dq, ddq, None if gravity else _WEIGHTLESS, self._threads)

    def mass_matrix(self, q: Array) -> Array:
        return super().mass_matrix(q) if q.ndim == 1 else self.bodies.mass_matrix(q, self._threads)

    def pose_and_jacobian(self, q: Array, frame: str) -> tuple[Array, Array]:
        if q.ndim == 1:
            return super().pose_and_jacobian(q, frame)
        return self.bodies.pose_and_jacobian(q, self._frame(frame), LWA, self._threads)

    def bias_acceleration(self, q: Array, dq: Array, frame: str) -> Array:
        if q.ndim == 1:
            return super().bias_acceleration(q, dq, frame)
        return self.bodies.bias_acceleration(q, dq, self._frame(frame))

    def body_poses(self, q: Array) -> Array:
        if q.ndim == 1:
            return super().body_poses(q)
        moved = self.bodies.poses(q, self.bodies.joints(list(range(1, self._model.njoints))), self._threads)
        base = np.broadcast_to(self.robot.placement.homogeneous, (len(q), 1, 4, 4))
        return np.concatenate((base, moved), axis=1)

    def _frame(self, frame: str) -> tuple[Ints, Array]:
        return self.bodies.frames([self.robot._frame_id(frame)])


def free_roots(robot: PinRobot) -> tuple[FreeRoot, ...]:
    """The joints of a robot that float against the world."""
    model, found = robot.model, []
    for slot in robot._coordinates.slots:
        joint = model.getJointId(slot.name)
        if slot.kind == "JointModelFreeFlyer" and model.parents[joint] == 0:
            com = np.array(model.inertias[joint].lever)
            parent = np.array(model.jointPlacements[joint].rotation)
            found.append(FreeRoot(slot.q.start, slot.v.start, com, parent))
    return tuple(found)
