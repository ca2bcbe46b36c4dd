"""Joints that follow others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .errors import DescriptionError, InputTypeError, unknown_name


@dataclass(frozen=True, slots=True)
class Coupling:
    """A joint that mimics another: `q_follower = multiplier * q_leader + offset`."""

    follower: str
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


def check_couplings(model: pin.Model, couplings: Iterable[Coupling]) -> tuple[Coupling, ...]:
    """The couplings, if every one names a joint and a leader that moves by itself.

    Raises:
        UnknownNameError: if a joint does not exist.
        InputTypeError: if they are no couplings.
        DescriptionError: if a joint mimics itself, a follower, or is not of one degree of freedom.
    """
    if not isinstance(couplings, Iterable):
        raise InputTypeError(f"couplings must be a sequence of Coupling, got {type(couplings).__name__}")
    found = tuple(couplings)
    for c in found:
        if not isinstance(c, Coupling):
            raise InputTypeError(f"couplings must hold Coupling only, got {type(c).__name__}")
    names = [str(name) for name in model.names][1:]
    followers = [c.follower for c in found]
    for c in found:
        for name in (c.follower, c.leader):
            if name not in names:
                raise unknown_name("joint", name, names)
            if model.nvs[model.getJointId(name)] != 1:
                raise DescriptionError(f"joint {name!r} has several degrees of freedom and cannot take part in mimic")
        if c.leader == c.follower:
            raise DescriptionError(f"joint {c.follower!r} mimics itself")
        if c.leader in followers:
            raise DescriptionError(
                f"joint {c.follower!r} mimics {c.leader!r}, which itself mimics another joint; name the first leader"
            )
        if followers.count(c.follower) > 1:
            raise DescriptionError(f"joint {c.follower!r} mimics two joints")
        if not (np.isfinite(c.multiplier) and np.isfinite(c.offset)):
            raise DescriptionError(f"joint {c.follower!r}: multiplier and offset of mimic must be finite")
    return found
