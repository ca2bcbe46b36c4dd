"""Kinematics of a Pinocchio model: (model, data, q) -> fresh arrays.

`q` is in Pinocchio's coordinates. Results never share memory with `data`.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .arrays import Array
from .errors import UnsupportedError
from .spatial import ReferenceFrame

PIN_REFERENCE = (pin.ReferenceFrame.WORLD, pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
"""Pinocchio's enum by the number of ours."""


LARGEST_WORKSPACE = 8e9
"""Bytes; Pinocchio 4.1 takes about 85 n^3 for n joints (2.3 GB for 300, 8 GB for 500, measured)."""


def workspace(model: pin.Model) -> pin.Data:
    """Scratch memory for a model.

    Raises:
        UnsupportedError: if the model has so many joints that it would fill the memory of a machine.
    """
    size = 85.0 * model.njoints**3
    if size > LARGEST_WORKSPACE:
        raise UnsupportedError(
            f"Pinocchio's workspace for {model.njoints - 1} joints would take about {size / 1e9:.0f} GB; such a robot "
            "is good for poses and Jacobians of its chains by the native kernel only"
        )
    return model.createData()


def pose(model: pin.Model, data: pin.Data, q: Array, frame: int) -> Array:
    """Pose of a frame (4, 4)."""
    pin.forwardKinematics(model, data, q)
    result: Array = pin.updateFramePlacement(model, data, frame).homogeneous
    return result


def jacobian(model: pin.Model, data: pin.Data, q: Array, frame: int, reference: int) -> Array:
    """Jacobian of a frame (6, nv_pin)."""
    if model.nv == 0:  # Pinocchio refuses, or crashes
        return np.zeros((6, 0))
    result: Array = pin.computeFrameJacobian(model, data, q, frame, PIN_REFERENCE[reference])
    return result.reshape(6, model.nv)  # (6,) for one joint


def error_and_jacobian(
    model: pin.Model, data: pin.Data, q: Array, frame: int, goal: Array, world: bool
) -> tuple[Array, Array]:
    """Error (6,) of a frame's pose against `goal` (4, 4) and J (6, nv_pin), see `knuckle.ik.pose_task`."""
    pin.forwardKinematics(model, data, q)
    pose, target = pin.updateFramePlacement(model, data, frame), pin.SE3(goal)
    if world:
        turn = target.rotation @ pose.rotation.T
        e = np.concatenate((target.translation - pose.translation, pin.log3(turn)))
        J = jacobian(model, data, q, frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        J[3:] = pin.Jlog3(turn).dot(J[3:])
        return e, J
    ahead = pose.actInv(target)
    J = jacobian(model, data, q, frame, ReferenceFrame.LOCAL)
    return pin.log6(ahead).vector, pin.Jlog6(ahead.inverse()).dot(J)


def jacobian_derivative(
    model: pin.Model, data: pin.Data, q: Array, dq: Array, frame: int, reference: ReferenceFrame
) -> Array:
    """Time derivative of the Jacobian of a frame (6, nv_pin)."""
    if model.nv == 0:
        return np.zeros((6, 0))
    pin.computeJointJacobiansTimeVariation(model, data, q, dq)
    pin.updateFramePlacement(model, data, frame)
    result: Array = pin.getFrameJacobianTimeVariation(model, data, frame, PIN_REFERENCE[reference])
    return result.reshape(6, model.nv)


def joint_poses(model: pin.Model, data: pin.Data, q: Array, joints: list[int]) -> Array:
    """Poses of joints (n, 4, 4)."""
    pin.forwardKinematics(model, data, q)
    return _homogeneous([data.oMi[j] for j in joints])


def frame_poses(model: pin.Model, data: pin.Data, q: Array, frames: list[int]) -> Array:
    """Poses of frames (n, 4, 4)."""
    pin.framesForwardKinematics(model, data, q)
    return _homogeneous([data.oMf[f] for f in frames])


def _homogeneous(placements: list[pin.SE3]) -> Array:
    return np.array([placement.homogeneous for placement in placements]).reshape(len(placements), 4, 4)
