"""One tick of Cartesian admittance: pose and wrench in, twist and joint velocity out."""

from __future__ import annotations

import logging

import numpy as np

from ..ik.velocity_result import VelocityStatus
from ..robot.arrays import Array
from ..robot.spatial import exp3
from .admittance_offset import Offset
from .admittance_options import JointSolve
from .admittance_references import AdmittanceReferences
from .admittance_result import AdmittanceResult, AdmittanceStatus
from .relative_task import Placed

HOLD_GAIN = 10.0
"""Speed at which an axis that does not yield goes back to its reference [1/s]."""
_log = logging.getLogger(__name__)
_STATUS = {
    VelocityStatus.SOLVED: AdmittanceStatus.OK,
    VelocityStatus.LIMITED: AdmittanceStatus.LIMITED,
    VelocityStatus.FAILED: AdmittanceStatus.FAILED,
    VelocityStatus.INVALID: AdmittanceStatus.FAILED,
}


class AdmittanceTick(AdmittanceReferences):
    """The laws, of a configuration and a wrench that have been checked."""

    _joints: JointSolve
    _reach: Array | None
    _fastest: Array | None
    _hardest: Array | None
    _twist_before: Array
    _raw: Array
    _before: Array | None = None
    """Command of the last tick (nv,)."""
    _last: AdmittanceResult | None = None

    def _tick(self, q: Array, raw: Array) -> AdmittanceResult:
        """The laws of the class, of arrays that are finite."""
        placed, motion = self._task.at(q), self._motion
        first = self._offset is None
        if self._reference is None:
            self._reference = placed.pose.copy()
        offset = self._offset = Offset(placed.pose, self._reference, self._tool_axes)
        self._pose, self._q, self._raw = placed.pose, q, raw
        if first:
            motion.resume(offset.x, np.zeros(6))  # from rest, wherever the reference is
        felt = self._felt(q, placed, offset, raw)
        asked = motion.ask(offset.x, np.where(self._axes, felt - self._wrench_reference, 0.0))
        rate, held = self._within_reach(offset.x, asked)
        twist = offset.twist(rate, self._twist_ref)
        twist, cut = self._within_rates(twist)
        solved = self._joints.solve(q, placed.jacobian, twist, self._rest() if self._before is None else self._before)
        if solved:
            achieved = twist + solved.twist_error
            motion.settle(offset.rate(achieved, self._twist_ref) - asked)
        else:
            twist = achieved = np.zeros(6)
            motion.resume(offset.x, np.zeros(6))
        status = _STATUS[solved.status]
        if status is AdmittanceStatus.OK and (held or cut):
            status = AdmittanceStatus.LIMITED
        reasons = (solved.message, "an offset limit" if held else "", "a twist limit" if cut else "")
        message = "; ".join(filter(None, reasons)) if held or cut else solved.message
        self._before, self._twist_before = solved.dq.copy(), achieved.copy()
        self._move_reference()
        self._last = AdmittanceResult(twist, solved.dq, status, offset.x.copy(), felt, achieved, message)
        return self._last

    def _felt(self, q: Array, placed: Placed, offset: Offset, raw: Array) -> Array:
        """The wrench at the controlled point, control axes, clamp and dead zone applied (6,)."""
        axes = placed.axes
        if self._tool_axes:
            axes = offset.axes if axes is None else axes @ offset.axes
        own = self._sensor_frame is None and self._sensor.offset is None
        T = placed.world if own else self._sensor_pose(q)
        return self._sensor.felt(self._sensor.at(raw, T, placed.world[:3, 3], axes))

    def _within_reach(self, x: Array, asked: Array) -> tuple[Array, bool]:
        """The rate of the axes that yield kept within the offsets allowed, that of the others back to 0."""
        rate, dt = asked, self._motion.impedance.dt
        if not self._axes.all():
            rate = np.where(self._axes, rate, -min(HOLD_GAIN, 0.5 / dt) * x)
        if self._reach is None:
            return rate, False
        kept = np.clip(rate, np.minimum(-self._reach - x, 0.0) / dt, np.maximum(self._reach - x, 0.0) / dt)
        return kept, bool((kept != rate).any())

    def _within_rates(self, twist: Array) -> tuple[Array, bool]:
        """The twist within its limits and not too far from the one before."""
        kept = twist
        if self._fastest is not None:
            kept = np.clip(kept, -self._fastest, self._fastest)
        if self._hardest is not None:
            change = self._hardest * self._motion.impedance.dt
            kept = np.clip(kept, self._twist_before - change, self._twist_before + change)
        return kept, kept is not twist and bool((kept != twist).any())

    def _move_reference(self) -> None:
        if self._reference is not None and self._twist_ref.any():
            step = self._twist_ref * self._motion.impedance.dt
            moved = self._reference.copy()
            moved[:3, 3] += step[:3]
            moved[:3, :3] = exp3(step[3:]) @ moved[:3, :3]
            self._reference = moved

    def _hold(self, name: str) -> AdmittanceResult:
        """Stand still because of what was read."""
        x = self._present()
        self._motion.resume(x, np.zeros(6))
        if self._last is None or self._last.status is not AdmittanceStatus.HOLD:
            _log.warning("%s is not finite, or beyond measure: the command is 0", name)
        still, rest = np.zeros(6), self._rest()
        self._before, self._twist_before = rest, still
        self._last = AdmittanceResult(
            still, rest, AdmittanceStatus.HOLD, x, still.copy(), still.copy(), f"{name} is not finite"
        )
        return self._last

    def _rest(self) -> Array:
        return np.zeros(self.robot.nv)

    def _present(self) -> Array:
        return np.zeros(6) if self._offset is None else self._offset.x

    def _new_dt(self, dt: float) -> None:
        self._joints.new_dt(dt)
