"""Drive trains: reflected rotor inertia and joint friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, _as_float
from .errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Motors:
    """What sits behind the joints; arrays (nv,), read-only.

    Attributes:
        reflected_inertia: gear_ratio^2 * rotor_inertia [kg m^2 or kg].
        damping: Viscous coefficient [N m s/rad or N s/m].
        coulomb: Friction torque at speed [N m or N].
    """

    reflected_inertia: Array
    damping: Array
    coulomb: Array

    @classmethod
    def create(
        cls, nv: int, rotor_inertia: Any = 0.0, gear_ratio: Any = 1.0, damping: Any = 0.0, coulomb: Any = 0.0
    ) -> Motors:
        """Checked parameters; a single number holds for every joint.

        Args:
            nv: Degrees of freedom of the robot.
            rotor_inertia: Of the rotor about its own axis (nv,) [kg m^2].
            gear_ratio: Turns of the rotor per turn of the joint (nv,), or rad per metre.
            damping: Viscous friction at the joint (nv,) [N m s/rad or N s/m].
            coulomb: Friction torque at speed (nv,) [N m or N].

        Raises:
            InputError: on a wrong shape, a non-finite entry or a negative inertia, damping or friction.
        """
        given = {"rotor_inertia": rotor_inertia, "gear_ratio": gear_ratio, "damping": damping, "friction": coulomb}
        rotor, ratio, viscous, dry = (parameter(value, nv, name) for name, value in given.items())
        reflected = ratio**2 * rotor
        reflected.setflags(write=False)
        return cls(reflected, viscous, dry)

    def friction(self, dq: Array) -> Array:
        """`damping*dq + coulomb*sin(atan(100*dq))`, a smooth sign that is 0 at rest: (..., nv) -> (..., nv)."""
        slope = 100.0 * dq
        return self.damping * dq + self.coulomb * (slope / np.hypot(1.0, slope))  # sin(atan(x)) = x/sqrt(1 + x^2)


def parameter(value: Any, nv: int, name: str) -> Array:
    """A read-only (nv,) array of one motor parameter; only a gear ratio may be negative."""
    array = np.array(_as_float(value, name))
    if array.ndim == 0:
        array = np.full(nv, float(array))
    if array.shape != (nv,):
        raise InputError(f"{name} must be a number or have shape ({nv},), got {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite")
    if name != "gear_ratio" and (array < 0).any():
        raise InputError(f"{name} must not be negative, got {array.min()}")
    array.setflags(write=False)
    return array
