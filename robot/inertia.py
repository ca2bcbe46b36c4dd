"""Inertias at the door: what a body weighs, where, and how it resists turning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import matrix, scalar, vector
from .errors import InputError


def spatial_inertia(mass: Any, com: Any = None, inertia: Any = None) -> pin.Inertia:
    """A body's spatial inertia about its origin.

    Args:
        mass: [kg].
        com: Centre of mass (3,) [m]; None is the origin.
        inertia: About the centre of mass (3, 3) [kg m^2]; None is a point mass.

    Raises:
        InputError: on a negative mass, or an inertia no body has.
    """
    kilograms = scalar(mass, "mass", minimum=0.0)
    centre = np.zeros(3) if com is None else vector(com, 3, "com")
    about = np.zeros((3, 3)) if inertia is None else matrix(inertia, (3, 3), "inertia")
    moments = np.linalg.eigvalsh(0.5 * (about + about.T))
    rounding = 1e-9 * max(1e-12, float(np.abs(about).max()))
    if np.abs(about - about.T).max() > rounding:
        raise InputError("inertia must be symmetric")
    if moments[0] < -rounding or moments[0] + moments[1] < moments[2] - rounding:
        raise InputError(f"inertia: no body has the principal moments {moments.tolist()} (triangle inequality)")
    return pin.Inertia(kilograms, centre, 0.5 * (about + about.T))


def checked_inertia(inertia: pin.Inertia, name: str) -> pin.Inertia:
    """A copy of Pinocchio's inertia, taken as it is: many a real description breaks the triangle inequality.

    Raises:
        InputError: if it is not finite or its mass is negative.
    """
    parts = np.array([inertia.mass, *inertia.lever, *np.ravel(inertia.inertia)])
    if not np.isfinite(parts).all():
        raise InputError(f"{name} must be finite, got {inertia}")
    if inertia.mass < 0:
        raise InputError(f"{name} must not have a negative mass, got {inertia.mass}")
    return pin.Inertia(inertia)


def without(total: pin.Inertia, part: pin.Inertia) -> pin.Inertia:
    """What is left of an inertia when a part of it is taken away, both about the same origin."""
    mass = total.mass - part.mass
    if mass <= 1e-12 * max(total.mass, part.mass):
        return pin.Inertia.Zero()  # rounding is all that is left
    return pin.Inertia.FromDynamicParameters(total.toDynamicParameters() - part.toDynamicParameters())
