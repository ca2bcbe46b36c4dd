"""The laws of a robot on Pinocchio's model, in the coordinates of its user."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from . import dynamics, kinematics, native
from .absent import absent
from .arrays import Array, vector_or_batch
from .base import RobotBase
from .coordinates import Coordinates
from .couplings import Coupling
from .errors import DescriptionError, unknown_name
from .frames import FrameTable
from .limits import JointLimits
from .motors import Motors
from .overrides import move_base
from .parameters import ExtraLimits, limits_of, model_motors, motors_of
from .spatial import ReferenceFrame
from .transformation import Transformation


class PinBackend(RobotBase):
    """The primitives of `RobotBase` by Pinocchio, or by the native kernel where it covers the chain."""

    _model: pin.Model
    _collision: pin.GeometryModel
    _visual: pin.GeometryModel
    _couplings: tuple[Coupling, ...]
    _extra: ExtraLimits
    _version = 0
    _carried_frames: frozenset[str] = frozenset()
    """Frames that are no part of the robot itself and never its default tcp."""
    _scratch: tuple[str, ...] = ()
    """Further attributes that `_rebuild` makes anew and pickles leave out."""

    def _rebuild(self) -> None:
        """Everything that follows from the model; scratch is made anew when first needed."""
        coordinates = Coordinates(self._model, self._couplings)
        limits = limits_of(self._model, coordinates, self._extra)
        motors = motors_of(self._model, coordinates)
        self._coordinates, self._limits, self._motors = coordinates, limits, motors
        self._own_motors = model_motors(self._model)
        self._frictionless = not (self._own_motors.damping.any() or self._own_motors.coulomb.any())
        self._range = coordinates.range(limits.position)
        self._table = FrameTable(self._model, self._carried_frames)
        self._weightless = self._motorised = None
        self._chains: dict[str, native.NativeChain | None] = {}
        self._local = threading.local()
        self._version += 1

    def _commit(self) -> None:
        """Take up changes that were put off, before others are made; there are none unless a robot is being built."""

    def refresh(self) -> None:
        """Take up changes made to `model`, `collision` or `visual` by hand; the stored state is kept if it fits."""
        size = self._coordinates.nq, self._coordinates.nv
        self._rebuild()
        if size != (self.nq, self.nv):
            self._home = self._home_from(None)
            self.update_configuration(self._home)

    def __getstate__(self) -> dict[str, Any]:
        """All but scratch and native arrays, which are rebuilt."""
        derived = ("_coordinates", "_table", "_weightless", "_motorised", "_chains", "_local", *self._scratch)
        return {key: value for key, value in self.__dict__.items() if key not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        version = self._version
        self._rebuild()
        self._version = version

    @property
    def version(self) -> int:
        """Counts the changes of structure; caches made for another version are stale."""
        return self._version

    @property
    def model(self) -> pin.Model:
        """Pinocchio's model: continuous joints as (cos, sin), joints that mimic uncoupled."""
        return self._model

    @property
    def collision(self) -> pin.GeometryModel:
        """Pinocchio's collision geometry, empty if there is none."""
        return self._collision

    @property
    def visual(self) -> pin.GeometryModel:
        """Pinocchio's visual geometry, empty if there is none."""
        return self._visual

    def __getattr__(self, name: str) -> Any:
        raise absent(type(self).__name__, name)

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """Joints that mimic others."""
        return self._couplings

    @property
    def tcp_id(self) -> int:
        """Index of the tcp in `model.frames`."""
        return self._table.ids[self._tip()]

    def _has_frame(self, frame: str) -> bool:
        return frame in self._table.ids

    def _default_tip(self) -> str:
        return self._table.default_tip()

    def _base_moved(self, displacement: Transformation) -> None:
        move_base(self._model, (self._collision, self._visual), displacement.se3())
        self._rebuild()

    def to_pinocchio(self, q: Any = None) -> Array:
        """Configuration in the coordinates of `model`: (nq,) or (N, nq) -> (model.nq,) or (N, model.nq)."""
        q = self._one_or_many(q)
        q_pin = self._coordinates.to_pinocchio(q)
        return q_pin.copy() if q_pin is q else q_pin

    def from_pinocchio(self, q: Any) -> Array:
        """Configuration from the coordinates of `model`; batches alike. Followers' own values are not read."""
        return self._on_manifold(self._coordinates.from_pinocchio(vector_or_batch(q, self._model.nq, "q")))

    def _on_manifold(self, q: Array, name: str = "q") -> Array:
        return self._coordinates.normalised(q, name)

    def coordinate_slices(self) -> Mapping[str, tuple[slice, slice]]:
        return {slot.name: (slot.q, slot.v) for slot in self._coordinates.slots}

    def neutral(self) -> Array:
        return self._coordinates.neutral()

    def _integrate(self, q: Array, dv: Array) -> Array:
        return self._coordinates.integrate(q, dv)

    def _difference(self, q0: Array, q1: Array) -> Array:
        return self._coordinates.difference(q0, q1)

    def _random(self, rng: np.random.Generator, box: Array) -> Array:
        return self._coordinates.random(rng, *self._range, self._limits.position, box)

    @property
    def nq(self) -> int:
        return self._coordinates.nq

    @property
    def nv(self) -> int:
        return self._coordinates.nv

    @property
    def joints(self) -> list[str]:
        return list(self._coordinates.by_name)

    @property
    def parents(self) -> dict[str, str]:
        names = [str(name) for name in self._model.names]
        return {name: names[parent] for name, parent in zip(names, self._model.parents, strict=True)}

    @property
    def frames(self) -> list[str]:
        return list(self._table.names)

    @property
    def limits(self) -> JointLimits:
        return self._limits

    @property
    def motors(self) -> Motors:
        return self._motors

    @property
    def mass(self) -> float:
        return float(sum(inertia.mass for inertia in self._model.inertias))

    def _data(self) -> pin.Data:
        try:
            return self._local.data
        except AttributeError:
            data = self._local.data = kinematics.workspace(self._model)
            return data

    def native_chain(self, frame: str) -> native.NativeChain | None:
        """The native kernel's chain to a frame, None where there is no kernel or it cannot express the chain."""
        try:
            return self._chains[frame]
        except KeyError:
            chain = native.chain(self._model, self._frame_id(frame), self._coordinates)
            self._chains[frame] = chain
            return chain

    def _frame_id(self, frame: str) -> int:
        try:
            return self._table.ids[frame]
        except KeyError:
            raise unknown_name("frame", frame, self._table.names) from None

    def pose(self, q: Array, frame: str) -> Array:
        try:
            chain = self._chains[frame]  # native_chain, without the cost of a call
        except KeyError:
            chain = self.native_chain(frame)
        if chain is not None:
            return chain.pose(q)
        return kinematics.pose(self._model, self._data(), self._coordinates.to_pinocchio(q), self._frame_id(frame))

    def frame_jacobian(self, q: Array, frame: str, reference: ReferenceFrame) -> Array:
        chain = self.native_chain(frame)
        if chain is not None:
            return chain.jacobian(q, reference)
        q_pin = self._coordinates.to_pinocchio(q)
        J = kinematics.jacobian(self._model, self._data(), q_pin, self._frame_id(frame), reference)
        return self._coordinates.torque(J)

    def error_and_jacobian(self, q: Array, frame: str, goal: Array, world: bool) -> tuple[Array, Array]:
        """Error (6,) of a frame's pose against `goal` (4, 4) and its Jacobian (6, nv), see `knuckle.ik.pose_task`."""
        q_pin = self._coordinates.to_pinocchio(q)
        e, J = kinematics.error_and_jacobian(self._model, self._data(), q_pin, self._frame_id(frame), goal, world)
        return e, self._coordinates.torque(J)

    def _jacobian_derivative(self, q: Array, dq: Array, frame: str, reference: ReferenceFrame) -> Array:
        at = self._coordinates
        J = kinematics.jacobian_derivative(
            self._model, self._data(), at.to_pinocchio(q), at.velocity(dq), self._frame_id(frame), reference
        )
        return at.torque(J)

    def joint_poses(self, q: Array) -> Array:
        joints = [self._model.getJointId(name) for name in self._coordinates.by_name]
        return kinematics.joint_poses(self._model, self._data(), self._coordinates.to_pinocchio(q), joints)

    def frame_poses(self, q: Array) -> Array:
        ids = self._table.ids_in_order
        return kinematics.frame_poses(self._model, self._data(), self._coordinates.to_pinocchio(q), ids)

    def crba(self, q: Array) -> Array:
        at = self._coordinates
        M = dynamics.mass_matrix(self._model, self._data(), at.to_pinocchio(q))
        return M if at.velocity_map is None else at.velocity_map.T @ M @ at.velocity_map

    def rnea(self, q: Array, dq: Array, ddq: Array, gravity: Array | None = None) -> Array:
        at = self._coordinates
        if gravity is None and at.identity:
            return dynamics.inverse_dynamics(self._model, self._data(), q, dq, ddq)
        q_pin, dq_pin, ddq_pin = at.to_pinocchio(q), at.velocity(dq), at.velocity(ddq)
        if gravity is None:
            return at.torque(dynamics.inverse_dynamics(self._model, self._data(), q_pin, dq_pin, ddq_pin))
        tau = dynamics.inverse_dynamics(self._without_gravity(), self._data(), q_pin, dq_pin, ddq_pin)
        if gravity.any():
            tau += dynamics.gravity_pull(self._model, self._data(), q_pin, gravity)
        return at.torque(tau)

    def _without_gravity(self) -> pin.Model:
        if self._weightless is None:
            self._weightless = dynamics.weightless(self._model)
        return self._weightless

    def potential_energy(self, q: Any = None) -> Any:
        rows, model, data = self._coordinates.to_pinocchio(self._one_or_many(q)), self._model, self._data()
        if rows.ndim == 1:
            return float(pin.computePotentialEnergy(model, data, rows))
        return np.array([pin.computePotentialEnergy(model, data, row) for row in rows])

    def _friction(self, dq: Array) -> Array:
        if self._frictionless:
            return np.zeros(dq.shape)
        return self._coordinates.torque(self._own_motors.friction(self._coordinates.velocity(dq)))

    def _joint_forces_torque(self, q: Array, f_ext: Any) -> Array:
        forces, at = dynamics.joint_forces(self._model, f_ext), self._coordinates
        model, data = self._without_gravity(), self._data()
        found = [
            at.torque(dynamics.joint_forces_torque(model, data, at.to_pinocchio(one), forces))
            for one in np.atleast_2d(q)
        ]
        return found[0] if q.ndim == 1 else np.array(found).reshape(len(q), self.nv)

    def _accelerations(self, q: Array, dq: Array, tau: Array, motor_inertia: bool) -> Array:
        if self._coordinates.velocity_map is not None:
            return super()._accelerations(q, dq, tau, motor_inertia)
        if motor_inertia and self._motorised is None:
            self._motorised = dynamics.motorised(self._model)
        model = self._motorised if motor_inertia else self._model
        ddq = dynamics.forward_dynamics(model, self._data(), self._coordinates.to_pinocchio(q), dq, tau)
        if not math.isfinite(ddq.dot(ddq)) and not np.isfinite(ddq).all():
            raise self._singular()
        return ddq

    def _singular(self) -> DescriptionError:
        joints = dynamics.massless_joints(self._model)
        listed = ", ".join(map(repr, joints[:5])) + (", ..." if len(joints) > 5 else "")
        cause = f"nothing that has mass hangs on {listed}" if joints else "check the inertias of its links"
        return DescriptionError(f"the mass matrix of robot {self.name!r} is singular: {cause}")
