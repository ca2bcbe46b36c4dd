"""The memory of an admittance: its velocity in the exact form, its filter in the filter form.

Both answer one question: at the offset x and under the force F, at what rate is x to change for the next dt? The
offset itself is no memory; it is read from the robot, so nothing drifts and nothing winds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError
from .admittance_filter import WrenchFilter
from .admittance_law import ExactStep, FilterForm, exact_step, filter_form, raw_form


@dataclass(frozen=True, slots=True, eq=False)
class Impedance:
    """M, D, K of the six axes and the dt they are sampled at."""

    inertia: Array
    damping: Array
    stiffness: Array
    dt: float


class Motion(Protocol):
    """A law with a memory."""

    impedance: Impedance

    @property
    def compliance(self) -> Array:
        """What a force is multiplied by."""

    def ask(self, x: Array, force: Array) -> Array:
        """Rate of the offset for the next dt (6,)."""

    def settle(self, difference: Array) -> None:
        """What was achieved of the last rate, minus what was asked."""

    def rate(self, x: Array) -> Array:
        """The rate the memory stands for at x."""

    def resume(self, x: Array, rate: Array) -> None:
        """Go on from x at this rate."""

    def clear(self) -> None:
        """Forget everything: at rest at the reference, and no force ever felt."""


class ExactMotion:
    """Exactly sampled mass, spring and damper; the state is the velocity of the offset.

    The rate is dx/dt = (x+ - x)/dt, so that a robot that follows it arrives at x+.
    """

    def __init__(self, impedance: Impedance) -> None:
        self.impedance = impedance
        self.velocity = np.zeros(len(impedance.inertia))
        self._step: ExactStep = _exact(impedance)

    @property
    def compliance(self) -> Array:
        """1/K [m/N or rad/(N m)], infinite without a spring."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.impedance.stiffness)

    def retune(self, impedance: Impedance) -> None:
        """Other parameters; the velocity goes on."""
        step = _exact(impedance)
        self.impedance, self._step = impedance, step

    def ask(self, x: Array, force: Array) -> Array:
        """See Motion."""
        ahead, self.velocity = self._step.advance(x, self.velocity, force)
        return (ahead - x) / self.impedance.dt

    def settle(self, difference: Array) -> None:
        """See Motion."""
        self.velocity = self.velocity + difference

    def rate(self, x: Array) -> Array:
        """See Motion."""
        return self.velocity

    def resume(self, x: Array, rate: Array) -> None:
        """See Motion."""
        self.velocity = rate

    def clear(self) -> None:
        """See Motion."""
        self.velocity = np.zeros(len(self.velocity))


def _exact(impedance: Impedance) -> ExactStep:
    M, D, K = impedance.inertia, impedance.damping, impedance.stiffness
    if not (M > 0.0).all():
        raise InputError(f"inertia must be positive, got {M.min():g}")
    for name, value in (("damping", D), ("stiffness", K)):
        if not (value >= 0.0).all():
            raise InputError(f"{name} must not be negative, got {value.min():g}")
    return exact_step(M, D, K, impedance.dt)


class FilterMotion:
    """The filter form: rate = (C f - lam x)/dt; the state is the filter of the force."""

    def __init__(self, form: FilterForm) -> None:
        self.filter = WrenchFilter(len(form.compliance))
        self.zeta: float | None = None
        self._adopt(form)

    def _adopt(self, form: FilterForm) -> None:
        self.form = form
        self.filter.tune(form.cutoff, form.dt, self.zeta)
        lost = np.full(len(form.compliance), np.nan)  # with a second-order filter there are no such M and D
        inertia, damping = (form.inertia, form.damping) if self.zeta is None else (lost, lost)
        self.impedance = Impedance(inertia, damping, form.stiffness, form.dt)

    @property
    def compliance(self) -> Array:
        """C [m or rad per tick, per N or N m]."""
        return self.form.compliance

    def retune(self, form: FilterForm, x: Array) -> None:
        """Other parameters; the rate at x goes on as it was."""
        rate = self.rate(x)
        self._adopt(form)
        self.resume(x, rate)

    def set_damping(self, zeta: float | None) -> None:
        """The second-order filter with this damping; None is the first-order one."""
        self.zeta = zeta
        self._adopt(self.form)

    def ask(self, x: Array, force: Array) -> Array:
        """See Motion."""
        self.filter.advance(force)
        return self.rate(x)

    def settle(self, difference: Array) -> None:
        """See Motion: the filter takes the value that goes with what was achieved, or it would wind up."""
        self.filter.jump_to(self.filter.value + difference * self.form.dt / self.form.compliance)

    def rate(self, x: Array) -> Array:
        """See Motion."""
        rate: Array = (self.form.compliance * self.filter.value - self.form.lam * x) / self.form.dt
        return rate

    def resume(self, x: Array, rate: Array) -> None:
        """See Motion."""
        self.filter.jump_to((rate * self.form.dt + self.form.lam * x) / self.form.compliance)

    def clear(self) -> None:
        """See Motion."""
        self.filter.clear()


def impedance_of_lam(stiffness: Array, damping: Array, lam: float, dt: float) -> Impedance:
    """M, D, K that the filter form with this lam stands for."""
    form = filter_form(stiffness, damping, lam, dt)
    return Impedance(form.inertia, damping, stiffness, dt)


def impedance_of_raw(compliance: Array, cutoff: Array, lam: float, dt: float) -> Impedance:
    """M, D, K that the filter form with these parameters stands for."""
    form = raw_form(compliance, cutoff, lam, dt)
    return Impedance(form.inertia, form.damping, form.stiffness, dt)
