"""What a joint added to a robot may be given: its bounds, friction and drive, checked for the kind of joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import Array, _as_float
from .errors import InputError, InputTypeError, UnsupportedError

JOINT_KINDS: tuple[Any, ...] = tuple(
    kind for name in dir(pin) if name.startswith("JointModel") and isinstance(kind := getattr(pin, name), type)
)
"""Pinocchio's classes of joints, which have no base class in common."""


@dataclass(frozen=True, slots=True, eq=False)
class JointOptions:
    """Arrays of the joint's own sizes: (nq,) bounds, (nv,) all else."""

    min_config: Array
    max_config: Array
    max_velocity: Array
    max_effort: Array
    friction: Array
    damping: Array
    armature: Array

    @classmethod
    def create(
        cls,
        joint: Any,
        *,
        min_config: Any = None,
        max_config: Any = None,
        max_velocity: Any = None,
        max_effort: Any = None,
        friction: Any = None,
        damping: Any = None,
        armature: Any = None,
    ) -> JointOptions:
        """Checked options; a single number holds for every entry, None is no limit, no friction, no armature.

        Raises:
            InputError: on a wrong shape, a NaN, a lower above an upper bound or a negative value.
        """
        given = [value for value in (min_config, max_config) if value is not None]
        if joint.nq != joint.nv and any(np.ndim(value) == 0 for value in given):
            raise InputError(
                f"min_config and max_config must have shape ({joint.nq},) for a joint of type {joint.shortname()}; one "
                "number bounds no angle of it (a joint that turns without end has no bounds: take JointModelRZ)"
            )
        low = _entries(min_config, joint.nq, "min_config", -np.inf)
        high = _entries(max_config, joint.nq, "max_config", np.inf)
        if (low > high).any() or (low == np.inf).any() or (high == -np.inf).any():
            raise InputError(f"min_config must not exceed max_config, got {low.tolist()} and {high.tolist()}")
        speed, effort = (
            _not_negative(_entries(value, joint.nv, name, np.inf), name)
            for name, value in (("max_velocity", max_velocity), ("max_effort", max_effort))
        )
        dry, viscous, rotor = (
            _finite(_not_negative(_entries(value, joint.nv, name, 0.0), name), name)
            for name, value in (("friction", friction), ("damping", damping), ("armature", armature))
        )
        return cls(low, high, speed, effort, dry, viscous, rotor)


def checked_joint(joint: Any) -> Any:
    """The joint, if it is one that can be added to a model.

    Raises:
        InputTypeError: if it is no joint model of Pinocchio.
        UnsupportedError: if it mimics another.
    """
    if not isinstance(joint, JOINT_KINDS):
        remedy = "; add the brackets: " + joint.__name__ + "()" if isinstance(joint, type) else ""
        raise InputTypeError(
            f"joint must be one of Pinocchio's joint models, such as pin.JointModelRZ(), got {_title(joint)}{remedy}"
        )
    if "Mimic" in joint.shortname():
        raise UnsupportedError(
            "Pinocchio's mimic joints are refused by most of its algorithms; add an ordinary joint with "
            "coupling=Coupling(follower, leader, multiplier, offset)"
        )
    if not (joint.nq > 0 and joint.nv > 0):
        raise InputTypeError(f"joint of type {joint.shortname()} is empty; choose a kind that moves")
    return joint


def _title(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__


def _entries(value: Any, size: int, name: str, default: float) -> Array:
    array = np.array(_as_float(default if value is None else value, name))
    if array.ndim == 0:
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise InputError(f"{name} must be a number or have shape ({size},) for this kind of joint, got {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"{name} must not be NaN; leave it out for no limit")
    return array


def _not_negative(array: Array, name: str) -> Array:
    if (array < 0).any():
        raise InputError(f"{name} must not be negative, got {array.min()}")
    return array


def _finite(array: Array, name: str) -> Array:
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got {array.tolist()}")
    return array
