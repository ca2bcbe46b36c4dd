"""Joint admittance: the joints yield to torques that the model does not explain."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ik.velocity_bounds import VelocityBounds
from ..robot.arrays import Array, _as_float, believable, flag, matrix, measured, scalar, vector
from ..robot.base import RobotBase, as_robot
from ..robot.errors import InputError, InputTypeError
from .admittance_filter import WrenchFilter
from .admittance_law import dead_zone
from .admittance_result import AdmittanceStatus
from .gains import per_dof

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class JointAdmittanceResult:
    """The command of one tick; true unless it is a stop for want of something better.

    Attributes:
        dq: Joint velocity (nv,) to be held until the next tick [rad/s or m/s].
        status: See AdmittanceStatus; FAILED does not occur.
        torque: External torque after the filter (nv,) [N m or N].
        message: Why the command is 0, else empty.
    """

    dq: Array
    status: AdmittanceStatus
    torque: Array
    message: str = ""

    def __bool__(self) -> bool:
        return self.status in (AdmittanceStatus.OK, AdmittanceStatus.LIMITED)


class JointAdmittance:
    """Makes a velocity-controlled robot yield at its joints.

        dq_command = C LPF(dead_zone(tau_model - tau_measured - tau_ref)) [+ k (q_ref - q)],  LPF = w/(s + w)

    tau_model = robot.id(q, dq, 0) without motor inertia, what the drives would need if nothing pushed; what the
    environment does to the robot, J^T wrench_ext at a tool, is tau_model - tau_measured, so the joints yield along a
    push. Acceleration counts as none, which is right at rest and near it. The command is kept within the limits of
    position, velocity and acceleration.

    Args:
        robot: The robot; it is not moved.
        compliance: C: a number, (nv,), or symmetric and positive definite (nv, nv) [rad/s per N m, and so on].
        cutoff: w of the filter, a number or (nv,) [rad/s].
        dt: Period of the ticks [s].
        posture: q_ref (nq,); None for no spring.
        posture_gain: k [1/s].
        dead_zone: Band per joint within which a torque is ignored, beyond which it is subtracted [N m or N].
        friction: Whether the model counts friction, as in `robot.id`.
        velocity_limits: Greatest speeds, a number, (nv,) or a mapping; None is the robot's.
        acceleration_limits: Likewise.
        position_limits: (2, nq); None is the robot's.
        joint_mask: Which joints may move (nv,) of booleans.
    """

    def __init__(
        self,
        robot: RobotBase,
        *,
        compliance: Any,
        cutoff: Any,
        dt: Any,
        posture: Any = None,
        posture_gain: Any = 1.0,
        dead_zone: Any = 0.0,
        friction: bool = True,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        position_limits: Any = None,
        joint_mask: Any = None,
    ) -> None:
        self.robot, self._dt = as_robot(robot), scalar(dt, "dt", positive=True)
        self._filter = WrenchFilter(robot.nv)
        self._C: Array = np.empty((0, 0))
        self.set_params(compliance, cutoff)
        self._posture = None if posture is None else robot._single(posture).copy()
        self._gain = scalar(posture_gain, "posture_gain", minimum=0.0)
        self.set_dead_zone(dead_zone)
        self._friction = flag(friction, "friction")
        self._bounds = VelocityBounds(
            robot,
            self._dt,
            velocity=velocity_limits,
            acceleration=acceleration_limits,
            position=position_limits,
            joint_mask=joint_mask,
        )
        self._reference = np.zeros(robot.nv)
        self._before: Array | None = None
        self._raw = np.zeros(robot.nv)
        self._holding = False

    def set_params(self, compliance: Any, cutoff: Any) -> None:
        """Other compliance and cutoff; a filter value that keeps the command continuous is taken.

        Raises:
            InputError: for a compliance that is not positive definite or a cutoff that is not positive; then nothing
                has changed.
        """
        C, w = self._compliance_of(compliance), self._positive(cutoff, "cutoff")
        if self._C.size:
            self._filter.jump_to(np.asarray(np.linalg.inv(C) @ self._C @ self._filter.value))
        self._C, self._w = C, w
        self._filter.tune(w, self._dt, None)

    def _compliance_of(self, value: Any) -> Array:
        n = self.robot.nv
        if _as_float(value, "compliance").ndim < 2:
            return np.diag(self._positive(value, "compliance"))
        C = matrix(value, (n, n), "compliance").copy()
        if not np.allclose(C, C.T, rtol=1e-9, atol=0.0) or not np.linalg.eigvalsh(C)[0] > 0.0:
            raise InputError("compliance must be symmetric and positive definite")
        return C

    def _positive(self, value: Any, name: str) -> Array:
        array = per_dof(value, self.robot.nv, name)
        if array is None or not (array > 0.0).all():
            raise InputError(f"{name} must be positive, got {value!r}")
        return array

    def set_dead_zone(self, band: Any) -> None:
        """The band per joint, a number or (nv,), not negative [N m or N]."""
        found = per_dof(band, self.robot.nv, "dead_zone")
        if found is None:
            raise InputTypeError("dead_zone must be a number or one per joint, got None")
        self._band = found

    def set_torque_reference(self, tau: Any) -> None:
        """The external torque the environment is to exert (nv,) [N m or N]."""
        self._reference = vector(tau, self.robot.nv, "tau").copy()

    @property
    def compliance(self) -> Array:
        """C in force (nv, nv)."""
        return self._C.copy()

    @property
    def cutoff(self) -> Array:
        """W in force (nv,) [rad/s]."""
        return np.array(self._w)

    @property
    def filter_time_step(self) -> float:
        """Period of the ticks [s]."""
        return self._dt

    def step(self, q: Any, dq: Any, tau: Any) -> JointAdmittanceResult:
        """The command for the next dt.

        NaN, infinity or numbers beyond 1e12 in what is measured give the command 0, status HOLD and a cleared filter.

        Args:
            q: Configuration (nq,) as measured.
            dq: Velocity (nv,) as measured.
            tau: Torques (nv,) as measured in the drives [N m or N].
        """
        robot = self.robot
        given = [measured(v, n, k) for v, n, k in ((q, robot.nq, "q"), (dq, robot.nv, "dq"), (tau, robot.nv, "tau"))]
        bad = [name for name, value in zip(("q", "dq", "tau"), given, strict=True) if not believable(value)]
        if bad:
            return self._hold(bad[0])
        q, dq, tau = robot._on_manifold(given[0]), given[1], given[2]
        self._holding, self._raw = False, self._external(q, dq, tau)
        torque = self._filter.advance(dead_zone(self._raw - self._reference, self._band))
        asked = self._C @ torque
        if self._posture is not None:
            asked += self._gain * robot._difference(q, self._posture)
        before = np.zeros(robot.nv) if self._before is None else self._before
        lower, upper = self._bounds.at(q, before)
        command = np.minimum(np.maximum(asked, lower), upper)
        self._before = command.copy()
        status = AdmittanceStatus.OK if (command == asked).all() else AdmittanceStatus.LIMITED
        return JointAdmittanceResult(command, status, torque.copy())

    def _external(self, q: Array, dq: Array, tau: Array) -> Array:
        model = self.robot.rnea(q, dq, np.zeros(self.robot.nv))
        if self._friction:
            model = model + self.robot._friction(dq)
        return np.asarray(model - tau)

    def _hold(self, name: str) -> JointAdmittanceResult:
        if not self._holding:
            _log.warning("%s is not finite, or beyond measure: the command is 0", name)
        rest = np.zeros(self.robot.nv)
        self._holding, self._before = True, rest
        self._filter.clear()
        return JointAdmittanceResult(rest.copy(), AdmittanceStatus.HOLD, rest.copy(), f"{name} is not finite")

    def reset(self) -> None:
        """Be at rest: the external torque felt last becomes the reference, the filter is cleared.

        The next command is 0, apart from a posture that is not where the robot is.
        """
        self._reference = self._raw.copy()
        self._filter.clear()
        self._before, self._holding = np.zeros(self.robot.nv), False
