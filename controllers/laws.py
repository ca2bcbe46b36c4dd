"""The control laws on plain arrays: joint impedance, operational space, torque limits.

Every function broadcasts over leading axes, one robot `(n,)` or many `(..., n)`, and trusts its arguments. Spatial
vectors are linear first; *operational axes* are those of the operational frame. Letters as in the docstrings:

    Kp, Kd   stiffness and damping, diagonal            M    mass matrix of the controlled joints
    Jo       tool Jacobian in operational axes          A    Jo M^-1 Jo^T
    Lambda   operational-space inertia, A^-1            Om   selection of directions

Source of the second law: O. Khatib, "A unified approach for motion and force control of robot manipulators: the
operational space formulation", IEEE Journal of Robotics and Automation 3(1), 1987.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..robot.arrays import Array
from ..robot.spatial import log3
from .task_inertia import Singularity, block_inertia, full_inertia, isolated_solve

Decoupling = Literal["full", "partial", "off"]


def times(matrix: Array, vector: Array) -> Array:
    """Matrix times vector: (..., m, n), (..., n) -> (..., m)."""
    if matrix.ndim == 2 and vector.ndim == 1:
        return matrix @ vector
    product: Array = (matrix @ vector[..., None])[..., 0]
    return product


def transpose(matrix: Array) -> Array:
    """Matrices turned over: (..., m, n) -> (..., n, m), a view."""
    return matrix.T if matrix.ndim == 2 else matrix.swapaxes(-1, -2)


def impedance(
    error: Array, rate_error: Array, stiffness: Array, damping: Array, feedforward: Array | None = None
) -> Array:
    """a = Kp e + Kd de [+ a_ff], element by element: the spring and damper of every law here.

    Args:
        error: desired - actual [m or rad] (..., n).
        rate_error: Desired - actual rate [m/s or rad/s] (..., n).
        stiffness: Kp [1/s^2, or N/m and N m/rad] (..., n).
        damping: Kd [1/s, or N s/m and N m s/rad] (..., n).
        feedforward: Acceleration added as it is (..., n).
    """
    a: Array = stiffness * error
    a += damping * rate_error
    return a if feedforward is None else a + feedforward


def joint_impedance(
    a: Array,
    *,
    mass_matrix: Array | None = None,
    coriolis_force: Array | None = None,
    gravity_force: Array | None = None,
) -> Array:
    """tau = [M a, or a] [+ C dq] [+ g] (..., n) [N m or N].

    Args:
        a: What `impedance` gives for the joints (..., n); an acceleration where M is given, else a torque.
        mass_matrix: M (..., n, n); None leaves the inertia coupled.
        coriolis_force: C dq (..., n).
        gravity_force: g = +dU/dq (..., n).
    """
    tau = a if mass_matrix is None else times(mass_matrix, a)
    if coriolis_force is not None:
        tau = tau + coriolis_force
    return tau if gravity_force is None else tau + gravity_force


def in_frame(rotation: Array | None, spatial: Array) -> Array:
    """R6^T x: a spatial vector (..., 6), or the columns of (..., 6, n) if `rotation` stands for matrices, turned.

    Args:
        rotation: R_o, axes of the operational frame as columns (..., 3, 3); None is the identity.
        spatial: Twist or wrench in world axes (..., 6).
    """
    if rotation is None:
        return spatial
    halves = spatial.reshape(*spatial.shape[:-1], 2, 3)
    return (halves @ rotation).reshape(spatial.shape)


def jacobian_in_frame(rotation: Array | None, jacobian: Array) -> Array:
    """Jo = R6^T J (..., 6, n)."""
    if rotation is None:
        return jacobian
    n = jacobian.shape[-1]
    halves = jacobian.reshape(*jacobian.shape[:-2], 2, 3, n)
    return (transpose(rotation)[..., None, :, :] @ halves).reshape(jacobian.shape)


def pose_in_frame(rotation: Array, translation: Array, frame: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Xc = Xo^-1 Xtool as rotation (..., 3, 3) and translation (..., 3); `frame` is (R_o, p_o), None the world."""
    if frame is None:
        return rotation, translation
    R_o, p_o = frame
    return transpose(R_o) @ rotation, times(transpose(R_o), translation - p_o)


def task_error(rotation_des: Array, translation_des: Array, rotation: Array, translation: Array) -> Array:
    """e = [p_des - p ; axis * angle of R_des R^T] (..., 6), angle in [0, pi] [m, rad]."""
    turn = log3(rotation_des @ transpose(rotation))
    return np.concatenate((translation_des - translation, turn), axis=-1)


def selection_matrix(weights: Array, linear_frame: Array, angular_frame: Array) -> Array:
    """Om = blkdiag(Rf diag(s[:3]) Rf^T, Rt diag(s[3:]) Rt^T) (..., 6, 6).

    Args:
        weights: s, 0 or 1 or between, linear first (..., 6).
        linear_frame: Rf, axes of the linear half as columns, in operational coordinates (..., 3, 3).
        angular_frame: Rt, likewise for the angular half (..., 3, 3).
    """
    linear = (linear_frame * weights[..., None, :3]) @ transpose(linear_frame)
    angular = (angular_frame * weights[..., None, 3:]) @ transpose(angular_frame)
    Om = np.zeros((*np.broadcast_shapes(linear.shape[:-2], angular.shape[:-2]), 6, 6))
    Om[..., :3, :3], Om[..., 3:, 3:] = linear, angular
    return Om


def wrench_law(
    wrench_des: Array, measured: Array | None, stiffness: Array | None, rotation: Array | None, feedforward: bool
) -> Array:
    """f = [R6^T w_des if feedforward] + [Kw R6^T (w_des - w_meas) if measured], operational axes (..., 6) [N, N m].

    Wrenches are what the robot exerts on the environment at the tool point, world axes.
    """
    command = in_frame(rotation, wrench_des)
    if measured is None or stiffness is None:
        return command
    feedback = stiffness * in_frame(rotation, wrench_des - measured)
    return command + feedback if feedforward else feedback


@dataclass(slots=True, frozen=True, eq=False)
class TaskRecord:
    """What the last evaluation went through; arrays are kept, numbers are made when asked for.

    Attributes:
        inertia_inverse: A = Jo M^-1 Jo^T (..., 6, 6); None without decoupling.
        asked: Motion asked for, operational axes (..., 6).
        force: Force commanded for it, Lambda times asked (..., 6).
        nearness: 1 away from singularities, towards 0 at one (...); see `task_inertia`.
    """

    inertia_inverse: Array | None
    asked: Array
    force: Array
    nearness: Any


def operational_space(
    a: Array,
    jacobian: Array,
    *,
    mass_matrix: Array | None = None,
    decoupling: Decoupling = "full",
    singularity: Singularity = "damp",
    motion_selection: Array | None = None,
    project_motion: bool = False,
    bias_acceleration: Array | None = None,
    wrench: Array | None = None,
    wrench_selection: Array | None = None,
    posture: Array | None = None,
    passive_force: Array | None = None,
) -> tuple[Array, TaskRecord]:
    """Torques (..., n) of the operational-space law, from the motion asked for on; and how they came about.

        a <- Om_m a [- dJo/dt dq]
        F = Lambda a (decoupled), Lambda = (Jo M^-1 Jo^T)^-1, its two diagonal blocks alone if partial; else F = a
        F <- Om_m F (option)
        tau = Jo^T (F + Om_w f) + N s [+ g] [+ C dq],  s = M an if decoupled, else an
        N = I - Jo^T Lambda Jo M^-1 (full: leaves the task acceleration alone)
        N = I - Jo^T (Jo Jo^T)^-1 Jo (partial or off: only Jo N s = 0)

    In full mode `Jo^T F + N M an = Jo^T (F - Lambda Jo an) + M an`, so no projector is formed.

    Args:
        a: Motion asked for, operational axes (..., 6) [m/s^2, rad/s^2; N, N m without decoupling].
        jacobian: Jo (..., 6, n).
        mass_matrix: M (..., n, n); needed with decoupling.
        decoupling: "full", "partial" or "off".
        singularity: "damp" bounds the inverses near singularities, "exact" is the plain inverse.
        motion_selection: Om_m (..., 6, 6); None selects every axis.
        project_motion: Apply Om_m once more, to the force.
        bias_acceleration: dJo/dt dq (..., 6), taken off what is asked for.
        wrench: f (..., 6), see `wrench_law`; None for none.
        wrench_selection: Om_w (..., 6, 6).
        posture: an (..., n), see `impedance`; None for no null space task.
        passive_force: g, C dq or their sum (..., n).
    """
    if motion_selection is not None:
        a = times(motion_selection, a)
    asked = a if bias_acceleration is None else a - bias_acceleration
    JT, A, nearness = transpose(jacobian), None, 1.0
    Lambda: Array | None = None
    if decoupling != "off":
        assert mass_matrix is not None
        A = jacobian @ isolated_solve(mass_matrix, JT)
        Lambda, nearness = (full_inertia if decoupling == "full" else block_inertia)(A, singularity)
    force = F = asked if Lambda is None else times(Lambda, asked)
    if project_motion and motion_selection is not None:
        F = times(motion_selection, F)
    if wrench is not None:
        F = F + (wrench if wrench_selection is None else times(wrench_selection, wrench))
    tau, least = _with_posture(F, jacobian, JT, mass_matrix, posture, Lambda, decoupling, singularity)
    if passive_force is not None:
        tau = tau + passive_force
    return tau, TaskRecord(A, asked, force, nearness if posture is None else np.minimum(nearness, least))


def _with_posture(
    F: Array,
    J: Array,
    JT: Array,
    M: Array | None,
    posture: Array | None,
    Lambda: Array | None,
    decoupling: Decoupling,
    singularity: Singularity,
) -> tuple[Array, Any]:
    """Jo^T F + N s, and the least x of the inverse in N where it has one of its own."""
    if posture is None:
        return times(JT, F), 1.0
    if decoupling == "full":
        assert M is not None and Lambda is not None
        return times(JT, F - times(Lambda, times(J, posture))) + times(M, posture), 1.0
    s = posture if decoupling == "off" else times(M, posture)  # type: ignore[arg-type]
    B, least = full_inertia(J @ JT, singularity)
    return times(JT, F - times(B, times(J, s))) + s, least


def limit_torque(tau: Array, limits: Array, mode: str) -> Array:
    """Torques within |tau| <= limits (..., n): "clip" joint by joint, "scale" the whole vector, its direction kept."""
    if mode == "clip":
        return np.minimum(np.maximum(tau, -limits), limits)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(tau == 0.0, np.inf, limits / np.abs(tau))
    factor = np.minimum(share.min(axis=-1, keepdims=True), 1.0)
    result: Array = tau * factor
    return result
