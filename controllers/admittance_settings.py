"""The parameters of Cartesian admittance: set as a whole or not at all, read back as they are in force."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..robot.arrays import Array, _as_float, scalar, vector
from ..robot.errors import InputError
from .admittance_law import FilterForm, filter_form, raw_form
from .admittance_motion import ExactMotion, FilterMotion, Impedance, impedance_of_lam, impedance_of_raw


class AdmittanceParameters(NamedTuple):
    """What `compute_parameters` finds, (6,) each: C [m or rad per tick, per N or N m], M [kg, kg m^2], w [rad/s]."""

    compliance: Array
    inertia: Array
    cutoff: Array


def six(value: Any, name: str) -> Array:
    """A number for all axes, or (6,) linear first; a diagonal matrix (6, 6) is taken by its diagonal."""
    array = _as_float(value, name)
    if array.shape == (6, 6):
        diagonal = np.diag(array)
        if (array != np.diag(diagonal)).any():
            raise InputError(f"{name} must be diagonal: the law holds axis by axis; turn the axes with control_frame")
        value = diagonal
    found = np.full(6, scalar(value, name)) if array.ndim == 0 else vector(value, 6, name).copy()
    found.setflags(write=False)
    return found


class AdmittanceSettings:
    """Stiffness, damping, inertia and what they are in the filter form."""

    _motion: ExactMotion | FilterMotion

    def _present(self) -> Array:
        """The offset at the last tick (6,), control axes; 0 before the first."""
        raise NotImplementedError

    def _new_dt(self, dt: float) -> None:
        """Told of another dt."""
        raise NotImplementedError

    @staticmethod
    def compute_parameters(stiffness: Any, damping: Any, lam: Any, dt: Any) -> AdmittanceParameters:
        """C, M and w of the filter form for K, D, lambda and dt: what `set_impedance_params` would put in force.

            alpha = lam/dt,  C = lam/K,  M = D/alpha - K/alpha^2,  w = dt/(C M)

        Raises:
            InputError: for D <= K dt/lam, which leaves no mass, and for lam outside (0, 1].
        """
        form = filter_form(six(stiffness, "stiffness"), six(damping, "damping"), scalar(lam, "lam"), _dt(dt))
        return AdmittanceParameters(form.compliance, form.inertia, form.cutoff)

    def set_impedance_params(
        self, stiffness: Any = None, damping: Any = None, lam: Any = None, dt: Any = None, *, inertia: Any = None
    ) -> None:
        """Other impedance; what is left out stays. The command goes on without a jump.

        Args:
            stiffness: K, a number or (6,) [N/m, N m/rad].
            damping: D likewise [N s/m, N m s/rad].
            lam: Position feedback per tick, in (0, 1]: fixes M = D/alpha - K/alpha^2 with alpha = lam/dt. Larger
                values feel lighter.
            dt: Period of the ticks [s].
            inertia: M [kg, kg m^2], for the exact form only, in place of lam.

        Raises:
            InputError: for values the law does not allow; then nothing has changed.
        """
        now = self._motion.impedance
        K = now.stiffness if stiffness is None else six(stiffness, "stiffness")
        D = now.damping if damping is None else six(damping, "damping")
        step = now.dt if dt is None else _dt(dt)
        if lam is not None and inertia is not None:
            raise InputError("give lam or inertia, not both: each fixes the other")
        if isinstance(self._motion, FilterMotion):
            if inertia is not None:
                raise InputError("inertia follows from lam in the filter form; give lam, or make the controller anew")
            if damping is None and self._motion.zeta is not None:
                raise InputError("damping is required to leave the second-order filter")
            share = self._motion.form.lam if lam is None else scalar(lam, "lam")
            self._adopt_form(filter_form(K, D, share, step))
        elif lam is not None:
            self._adopt(impedance_of_lam(K, D, scalar(lam, "lam"), step))
        else:
            self._adopt(Impedance(now.inertia if inertia is None else six(inertia, "inertia"), D, K, step))

    def set_raw_params(self, compliance: Any, cutoff: Any, lam: Any, dt: Any = None) -> None:
        """The parameters of the filter form themselves; the exact form takes the M, D, K they stand for.

            D = dt/C + lam/(C w),  M = dt/(C w),  K = lam/C

        Args:
            compliance: C, a number or (6,) [m or rad per tick, per N or N m]; where C is given per second, times dt.
            cutoff: w of the filter of the force [rad/s].
            lam: Position feedback per tick, in [0, 1]; 0 leaves no spring.
            dt: Period of the ticks [s]; None leaves it.
        """
        step = self._motion.impedance.dt if dt is None else _dt(dt)
        values = six(compliance, "compliance"), six(cutoff, "cutoff"), scalar(lam, "lam"), step
        if isinstance(self._motion, FilterMotion):
            self._adopt_form(raw_form(*values))
        else:
            self._adopt(impedance_of_raw(*values))

    def _adopt(self, impedance: Impedance) -> None:
        assert isinstance(self._motion, ExactMotion)
        self._motion.retune(impedance)
        self._new_dt(impedance.dt)

    def _adopt_form(self, form: FilterForm) -> None:
        assert isinstance(self._motion, FilterMotion)
        self._motion.zeta = None
        self._motion.retune(form, self._present())
        self._new_dt(form.dt)

    def set_filter_damping(self, damping: Any) -> None:
        """Filter the force by w^2/(s^2 + 2 damping w s + w^2) in place of w/(s + w), in the filter form.

        This leaves the equivalence to a mass, a spring and a damper: `inertia` and `damping` are NaN until the next
        `set_impedance_params` or `set_raw_params`, which return to the first order. `stiffness` still holds at rest.

        Args:
            damping: Damping ratio of the filter, positive; 1 is critical.
        """
        zeta = scalar(damping, "damping", positive=True)
        if not isinstance(self._motion, FilterMotion):
            raise InputError("the exact form has no filter; make the controller with from_filter or from_raw")
        self._motion.set_damping(zeta)

    @property
    def form(self) -> str:
        """How the law is sampled: "exact" or "filter"."""
        return "filter" if isinstance(self._motion, FilterMotion) else "exact"

    @property
    def stiffness(self) -> Array:
        """K in force (6,) [N/m, N m/rad]."""
        return np.array(self._motion.impedance.stiffness)

    @property
    def damping(self) -> Array:
        """D in force (6,) [N s/m, N m s/rad]; NaN with a second-order filter."""
        return np.array(self._motion.impedance.damping)

    @property
    def inertia(self) -> Array:
        """M in force (6,) [kg, kg m^2]; NaN with a second-order filter."""
        return np.array(self._motion.impedance.inertia)

    @property
    def compliance(self) -> Array:
        """What multiplies the force (6,).

        In the filter form C = lam/K [m or rad per tick, per N or N m]; in the exact form 1/K [m/N, rad/(N m)], the
        offset at rest, infinite without a spring.
        """
        return np.array(self._motion.compliance)

    @property
    def filter_time_step(self) -> float:
        """Period dt of the ticks [s]."""
        return self._motion.impedance.dt

    @property
    def filter_cutoff(self) -> Array:
        """W of the filter form (6,) [rad/s]."""
        return np.array(self._filter_form("filter_cutoff").cutoff)

    @property
    def lam(self) -> float:
        """Position feedback per tick of the filter form."""
        return self._filter_form("lam").lam

    @lam.setter
    def lam(self, value: Any) -> None:
        self.set_lambda(value)

    def set_lambda(self, lam: Any) -> None:
        """Always refused: lambda goes with the other parameters.

        Raises:
            InputError: which names the setters that take it.
        """
        raise InputError("lambda alone cannot be set: use set_impedance_params(lam=...) or set_raw_params(..., lam)")

    def _filter_form(self, name: str) -> FilterForm:
        if not isinstance(self._motion, FilterMotion):
            raise InputError(f"{name} belongs to the filter form; this controller is exact (see inertia)")
        return self._motion.form


def _dt(value: Any) -> float:
    return scalar(value, "dt", positive=True)
