"""Dynamics of a Pinocchio model: (model, data, q, ...) -> fresh arrays.

All arguments are in Pinocchio's coordinates. Results never share memory with `data`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import Array, matrix
from .errors import unknown_name


def weightless(model: pin.Model) -> pin.Model:
    """The model without gravity."""
    copy = model.copy()
    copy.gravity = pin.Motion.Zero()
    return copy


def motorised(model: pin.Model) -> pin.Model:
    """The model with the rotors' reflected inertia as armature: crba and aba know of no other."""
    copy = model.copy()
    copy.armature = model.armature + model.rotorGearRatio**2 * model.rotorInertia
    return copy


def mass_matrix(model: pin.Model, data: pin.Data, q: Array) -> Array:
    """M(q), both triangles (nv, nv)."""
    M: Array = pin.crba(model, data, q)
    return M


def inverse_dynamics(model: pin.Model, data: pin.Data, q: Array, dq: Array, ddq: Array) -> Array:
    """M ddq + C dq + g (nv,)."""
    tau: Array = pin.rnea(model, data, q, dq, ddq)
    return tau


def gravity_pull(model: pin.Model, data: pin.Data, q: Array, gravity: Array) -> Array:
    """g(q) in another gravity (3,): -m Jcom^T gravity, exact because gravity acts at the centre of mass."""
    J = pin.jacobianCenterOfMass(model, data, q)
    if data.mass[0] == 0.0:  # J has been divided by it
        return np.zeros(model.nv)
    result: Array = -data.mass[0] * (J.T @ gravity)
    return result


def forward_dynamics(model: pin.Model, data: pin.Data, q: Array, dq: Array, tau: Array) -> Array:
    """Accelerations by the articulated-body algorithm (nv,)."""
    ddq: Array = pin.aba(model, data, q, dq, tau)
    return ddq


def joint_forces(model: pin.Model, f_ext: Any) -> pin.StdVec_Force:
    """One force per joint of the model, the universe included.

    Args:
        model: The model.
        f_ext: Pinocchio's forces or rows (njoints, 6); or a mapping from joint names to either, 0 where left out.

    Raises:
        InputError: if there are not as many, or they are no forces.
        UnknownNameError: if a joint does not exist.
    """
    if isinstance(f_ext, Mapping):
        named, names = f_ext, [str(name) for name in model.names]
        unknown = [name for name in named if name not in names]
        if unknown:
            raise unknown_name("joint", unknown[0], names)
        f_ext = [named.get(name, np.zeros(6)) for name in names]
    if isinstance(f_ext, Iterable) and not isinstance(f_ext, np.ndarray):
        f_ext = [force.vector if isinstance(force, pin.Force) else force for force in f_ext]
    stacked = pin.StdVec_Force()
    for vector in matrix(f_ext, (model.njoints, 6), "f_ext"):
        stacked.append(pin.Force(vector))
    return stacked


def joint_forces_torque(floating: pin.Model, data: pin.Data, q: Array, stacked: pin.StdVec_Force) -> Array:
    """Torque (nv,) of one force per joint, each in its joint's axes; the model must be without gravity."""
    rest = np.zeros(floating.nv)
    result: Array = -pin.rnea(floating, data, q, rest, rest, stacked)
    return result


def massless_joints(model: pin.Model) -> list[str]:
    """Joints that move nothing with mass or inertia, neither a body nor an armature."""
    heavy = [inertia.mass != 0.0 or bool(inertia.inertia.any()) for inertia in model.inertias]
    for joint in range(model.njoints - 1, 0, -1):  # children have greater indices than their parents
        heavy[model.parents[joint]] |= heavy[joint]
    armature = np.array(model.armature)
    return [
        str(model.names[joint])
        for joint in range(1, model.njoints)
        if not heavy[joint] and not armature[model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]].all()
    ]
