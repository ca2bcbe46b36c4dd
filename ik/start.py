"""Where a search starts and what its restarts draw from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.arrays import Array, vector
from ..robot.errors import InputError, InputTypeError
from .freedom import Freedom
from .problem import IKMeta

if TYPE_CHECKING:
    from ..robot.base import RobotBase

_PLAIN = IKMeta()


def seed_of(rng: Any) -> int:
    """The seed that stands for a Generator (drawn from it), a seed, or None (fresh entropy)."""
    if rng is None:
        return int.from_bytes(os.urandom(7), "little")
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 2**56))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise InputTypeError(f"rng must be a numpy Generator, a seed or None, got {type(rng).__name__}")
    if rng < 0:
        raise InputError(f"rng must be a seed >= 0, got {rng}")
    return int(rng)


def start_of(robot: RobotBase, q_init: Any, frame: str | None = None) -> tuple[Array, tuple[str, ...]]:
    """Where a search starts (nq,), within the limits, and a note if that meant moving it; for the tcp or a frame."""
    freedom = Freedom.of(robot, robot.tcp if frame is None else frame, _PLAIN)
    if q_init is None:
        q = robot.q
    elif isinstance(q_init, Mapping):
        q = robot.configuration_from(q_init)
    else:
        q = vector(q_init, robot.nq, "q_init")
        if not freedom.support.flat:
            q = robot.integrate(q, np.zeros(robot.nv))
    inside, moved = freedom.settle(q, q)
    outside = np.flatnonzero(moved)
    if not len(outside):
        return inside, ()
    names = ", ".join(robot.dof_names[v] for v in outside)
    return inside, (f"q_init was outside the limits and was moved into them: {names}",)
