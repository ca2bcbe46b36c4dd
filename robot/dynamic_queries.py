"""Forces and motion: inverse and forward dynamics, mass matrix, gravity, energies, wrenches at the tcp."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Array, flag, thread_count, vector
from .errors import DescriptionError, InputError, InputTypeError, UnsupportedError
from .kinematic_queries import LWA, KinematicQueries
from .state import row, rows, wrench_array
from .transformation import Transformation

_WEIGHTLESS = np.zeros(3)
_AXES = ("world", "base", "tcp", "local")
"""Wrenches may be given in these axes, and in those of any frame."""


class DynamicQueries(KinematicQueries):
    """`tau = M(q) ddq + C(q,dq) dq + g(q) [+ friction(dq)] [+ motor(ddq)] - J(q)^T wrench_ext`, both ways round.

    The wrench is what the environment exerts on the robot at the origin of the tcp, force first [N, N m].
    """

    @property
    def placement(self) -> Transformation:
        """Pose of the base in the world."""
        raise NotImplementedError

    def mass_matrix(self, q: Any = None, *, threads: Any = None) -> Array:
        """M(q) of the bodies, armature included (nv, nv); (N, nv, nv) for a batch. `threads` as in `id`."""
        q, threads = self._one_or_many(q), thread_count(threads)
        return self.crba(q) if q.ndim == 1 else self.crba_batch(q, threads)

    def gravity_force(self, q: Any = None, *, threads: Any = None) -> Array:
        """g(q) = +dU/dq, the torque that holds the robot still (nv,); (N, nv) for a batch. `threads` as in `id`."""
        rest = np.zeros(self.nv)
        return self._forces(self._one_or_many(q), rest, rest, None, threads)

    def coriolis_force(self, q: Any = None, dq: Any = None, *, threads: Any = None) -> Array:
        """C(q, dq) dq (nv,); (N, nv) if either is a batch. `threads` as in `id`."""
        q, dq = self._one_or_many(q), self._rates(dq, self.dq, "dq")
        return self._forces(q, dq, np.zeros(self.nv), _WEIGHTLESS, threads)

    def bias_force(self, q: Any = None, dq: Any = None, *, threads: Any = None) -> Array:
        """C(q, dq) dq + g(q) (nv,); (N, nv) if either is a batch. `threads` as in `id`."""
        q, dq = self._one_or_many(q), self._rates(dq, self.dq, "dq")
        return self._forces(q, dq, np.zeros(self.nv), None, threads)

    def _forces(self, q: Array, dq: Array, ddq: Array, gravity: Array | None, threads: Any) -> Array:
        """`rnea` of one state or of many."""
        count, threads = rows(("q", q), ("dq", dq), ("ddq", ddq)), thread_count(threads)
        if count is None:
            return self.rnea(q, dq, ddq, gravity)
        return self.rnea_batch(q, dq, ddq, gravity, threads)

    def kinetic_energy(self, q: Any = None, dq: Any = None) -> Any:
        """dq^T M(q) dq / 2 of the bodies [J]: a number, or (N,) where q or dq are batches (N, nq), (N, nv)."""
        q, dq = self._one_or_many(q), self._rates(dq, self.dq, "dq")
        if q.ndim == 1:
            momentum = dq @ self.crba(q)
        elif dq.ndim == 2 and len(dq) != len(q):
            raise InputError(f"q and dq must be as many, got {len(q)} and {len(dq)}")
        else:
            momentum = np.einsum("...ij,...j->...i", self.crba_batch(q), dq)
        energy = 0.5 * (momentum * dq).sum(axis=-1)
        return float(energy) if energy.ndim == 0 else energy

    def friction(self, dq: Any = None) -> Array:
        """`damping*dq + coulomb*sin(atan(100*dq))` (nv,) or (N, nv); None is the stored velocity."""
        return self._friction(self._rates(dq, self.dq, "dq"))

    def motor_inertias(self, ddq: Any = None) -> Array:
        """`gear_ratio^2 * rotor_inertia * ddq` (nv,) or (N, nv); None is the stored acceleration."""
        return self.motors.reflected_inertia * self._rates(ddq, self.ddq, "ddq")

    def id(
        self,
        q: Any = None,
        dq: Any = None,
        ddq: Any = None,
        motor_inertia: bool = True,
        friction: bool = True,
        eef_wrench: Any = None,
        eef_wrench_frame: str = "world",
        f_ext: Any = None,
        task: Any = None,
        *,
        threads: Any = None,
    ) -> Array:
        """Inverse dynamics: the torques that move the robot with ddq.

        Args:
            q: Configuration (nq,), mapping or batch (N, nq); None is the stored one, here and below.
            dq: Velocity (nv,), mapping or batch (N, nv).
            ddq: Acceleration (nv,), mapping or batch (N, nv).
            motor_inertia: Add the torque that spins the rotors.
            friction: Add the torque that overcomes friction.
            eef_wrench: Wrench on the robot at the tcp (6,) or (N, 6) [N, N m].
            eef_wrench_frame: Axes of the wrench: "world", "base", "tcp" (or "local"), or a frame's name.
            f_ext: Forces on the joints, as in `static_torque`.
            task: Its gravity, if it has one, stands in for the robot's.
            threads: For a batch, where the native kernel serves it; None is one, or all cores from 2000 states on.

        Returns:
            Torques (nv,) [N m or N], (N, nv) if any argument is a batch.
        """
        q, axes = self._one_or_many(q), self._wrench_axes(eef_wrench_frame)
        dq, ddq = self._rates(dq, self.dq, "dq"), self._rates(ddq, self.ddq, "ddq")
        tau = self._forces(q, dq, ddq, None, threads)
        if flag(friction, "friction"):
            tau += self._friction(dq)
        if flag(motor_inertia, "motor_inertia"):
            tau += self.motors.reflected_inertia * ddq
        if eef_wrench is not None:
            tau = tau - self._wrench_torque(q, eef_wrench, axes, ("dq", dq), ("ddq", ddq))
        if f_ext is not None:
            tau = tau - self._joint_forces_torque(q, f_ext)
        return tau if task is None else tau + self._gravity_change(q, task)

    def fd(
        self,
        tau: Any,
        q: Any = None,
        dq: Any = None,
        motor_inertia: bool = True,
        friction: bool = True,
        eef_wrench: Any = None,
        eef_wrench_frame: str = "world",
        f_ext: Any = None,
        task: Any = None,
        *,
        threads: Any = None,
    ) -> Array:
        """Forward dynamics, the exact inverse of `id` with the same switches: accelerations (nv,) or (N, nv).

        Args:
            tau: Torques (nv,), batch (N, nv) or mapping (joints left out: 0) [N m or N].
            q: As in `id`.
            dq: As in `id`.
            motor_inertia: The rotors resist acceleration.
            friction: Friction takes its share of tau.
            eef_wrench: As in `id`.
            eef_wrench_frame: As in `id`.
            f_ext: As in `static_torque`.
            task: As in `id`.
            threads: As in `id`.

        Raises:
            DescriptionError: if the mass matrix is singular, so that no acceleration follows.
        """
        if tau is None:
            raise InputTypeError("tau is required: torques (nv,), a batch (N, nv), or a mapping from joint names")
        tau = self._rates(tau, np.zeros(self.nv), "tau")
        q, dq, axes = self._one_or_many(q), self._rates(dq, self.dq, "dq"), self._wrench_axes(eef_wrench_frame)
        count, threads = rows(("tau", tau), ("q", q), ("dq", dq)), thread_count(threads)
        driven = flag(motor_inertia, "motor_inertia")
        if flag(friction, "friction"):
            tau = tau - self._friction(dq)
        if eef_wrench is not None:
            tau = tau + self._wrench_torque(q, eef_wrench, axes, ("tau", tau), ("dq", dq))
        if f_ext is not None:
            tau = tau + self._joint_forces_torque(q, f_ext)
        if task is not None:
            tau = tau - self._gravity_change(q, task)
        count = len(tau) if tau.ndim == 2 else count
        if count is None:
            return self._accelerations(q, dq, tau, driven)
        return self._accelerations_batch(count, q, dq, tau, driven, threads)

    def static_torque(
        self,
        q: Any = None,
        f_ext: Any = None,
        *,
        eef_wrench: Any = None,
        eef_wrench_frame: str = "world",
        task: Any = None,
    ) -> Array:
        """Torque that holds the robot still, g(q) - J^T wrench_ext (nv,); (N, nv) for a batch.

        Args:
            q: Configuration; None is the stored one.
            f_ext: One force per joint of the model, on the body the joint moves, about the joint's origin and in its
                axes: rows (n, 6), Pinocchio's forces, or a mapping from joint names to either. Not every robot
                offers it.
            eef_wrench: As in `id`.
            eef_wrench_frame: As in `id`.
            task: As in `id`.
        """
        q, axes = self._one_or_many(q), self._wrench_axes(eef_wrench_frame)
        tau = self.gravity_force(q)
        if task is not None:
            tau = tau + self._gravity_change(q, task)
        if f_ext is not None:
            tau = tau - self._joint_forces_torque(q, f_ext)
        if eef_wrench is not None:
            tau = tau - self._wrench_torque(q, eef_wrench, axes)
        return tau

    # Derivations a backend may replace by faster ones; arguments are checked.

    def _friction(self, dq: Array) -> Array:
        return self.motors.friction(dq)

    def _accelerations(self, q: Array, dq: Array, tau: Array, motor_inertia: bool) -> Array:
        M = self.crba(q)
        if motor_inertia:
            M = M + np.diag(self.motors.reflected_inertia)
        try:
            ddq = np.linalg.solve(M, tau - self.rnea(q, dq, np.zeros(self.nv)))
        except np.linalg.LinAlgError:
            raise self._singular() from None
        if not math.isfinite(ddq.dot(ddq)) and not np.isfinite(ddq).all():
            raise self._singular()
        return np.asarray(ddq, dtype=np.float64)

    def _accelerations_batch(
        self, count: int, q: Array, dq: Array, tau: Array, motor_inertia: bool, threads: int | None
    ) -> Array:
        found = [self._accelerations(row(q, i), row(dq, i), row(tau, i), motor_inertia) for i in range(count)]
        return np.array(found).reshape(count, self.nv)

    def _singular(self) -> DescriptionError:
        return DescriptionError("the mass matrix is singular: a joint moves nothing that has mass")

    def _joint_forces_torque(self, q: Array, f_ext: Any) -> Array:
        raise UnsupportedError(f"{type(self).__name__} takes no f_ext; use eef_wrench")

    def _gravity_change(self, q: Array, task: Any) -> Array:
        """What a task's gravity adds to the torque that holds the robot, (nv,) or (N, nv); zero if it has none."""
        if not hasattr(task, "obstacles"):
            raise InputTypeError(f"task must be a Task, got {type(task).__name__}")
        pull = getattr(task, "gravity", None)
        if pull is None:
            return np.zeros(self.nv)
        rest, pull = np.zeros(self.nv), vector(pull, 3, "task.gravity")
        return self._forces(q, rest, rest, pull, None) - self._forces(q, rest, rest, None, None)

    def _wrench_axes(self, axes: Any) -> str:
        if isinstance(axes, str) and axes in _AXES:
            return axes
        return self._existing_frame(axes, "eef_wrench_frame")

    def _wrench_torque(self, q: Array, wrench: Any, axes: str, *others: tuple[str, Array]) -> Array:
        """J^T w at the tcp (nv,), or (N, nv) if q or the wrench is a batch; `others` must be as long."""
        wrench = wrench_array(wrench)
        tip = self._tip()
        name = tip if axes in ("tcp", "local") else axes
        rows(("q", q), *others, ("eef_wrench", wrench))
        count = rows(("q", q), ("eef_wrench", wrench))
        if count is None:
            return self._one_wrench_torque(q, wrench, name, tip)
        return self._wrench_torques(np.broadcast_to(q, (count, self.nq)), wrench, name, tip)

    def _wrench_torques(self, q: Array, wrench: Array, axes: str, tip: str) -> Array:
        J = self.frame_jacobian_batch(q, tip, LWA)
        wrench = np.broadcast_to(wrench, (len(q), 6))
        if axes != "world":
            R = self.placement.rotation if axes == "base" else self.pose_batch(q, axes)[:, :3, :3]
            wrench = (R[..., None, :, :] @ wrench.reshape(-1, 2, 3, 1)).reshape(-1, 6)
        return np.asarray((wrench[:, None] @ J)[:, 0])

    def _one_wrench_torque(self, q: Array, wrench: Array, axes: str, tip: str) -> Array:
        J = self.frame_jacobian(q, tip, LWA)
        if axes != "world":
            R = self.placement.rotation if axes == "base" else self.pose(q, axes)[:3, :3]
            wrench = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        return J.T @ wrench
