"""The stored configuration, joints by name, and the door through which arguments come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import Array, vector, vector_or_batch
from .errors import InputError, InputTypeError, unknown_name
from .primitives import Primitives


class StoredState(Primitives):
    """q, dq and ddq that stand in for arguments left out; `update_configuration` alone sets them."""

    _state: tuple[Array, Array, Array]

    @property
    def q(self) -> Array:
        """Stored configuration (nq,), read-only; replaced, never rewritten, by `update_configuration`."""
        return self._state[0]

    @property
    def dq(self) -> Array:
        """Stored velocity (nv,), read-only."""
        return self._state[1]

    @property
    def ddq(self) -> Array:
        """Stored acceleration (nv,), read-only."""
        return self._state[2]

    configuration = q
    velocities = dq
    accelerations = ddq

    @property
    def dof(self) -> int:
        """Number of degrees of freedom, nv."""
        return self.nv

    def update_configuration(
        self, q: Any, dq: Any = None, ddq: Any = None, *, frames: bool = False, geometry: bool = False
    ) -> None:
        """Store a configuration; velocity and acceleration left out become zero.

        Args:
            q: Configuration (nq,), or a mapping from joint names to values (joints left out keep theirs); None
                keeps the stored one.
            dq: Velocity (nv,) or mapping; joints left out of a mapping stand still.
            ddq: Acceleration (nv,) or mapping, likewise.
            frames: Accepted for compatibility; queries always compute what they need.
            geometry: Likewise.
        """
        rest = np.zeros(self.nv)
        new = (self._single(q).copy(), self._rate(dq, rest, "dq").copy(), self._rate(ddq, rest, "ddq").copy())
        for array in new:
            array.setflags(write=False)
        self._state = new

    def joint_values(self, q: Any = None) -> dict[str, Any]:
        """Configuration by joint name: a float, or an array for a joint of several coordinates or a batch (N, nq)."""
        q = self._one_or_many(q)
        if q.ndim == 1:
            return {
                name: float(q[at.start]) if at.stop - at.start == 1 else q[at].copy()
                for name, (at, _) in self.coordinate_slices().items()
            }
        return {
            name: q[:, at.start].copy() if at.stop - at.start == 1 else q[:, at].copy()
            for name, (at, _) in self.coordinate_slices().items()
        }

    def configuration_from(self, values: Mapping[str, Any]) -> Array:
        """Configuration (nq,) with the named joints set, all others as stored.

        Raises:
            UnknownNameError: if a joint does not exist.
        """
        if not isinstance(values, Mapping):
            raise InputTypeError(f"values must be a mapping from joint names to values, got {type(values).__name__}")
        return self._on_manifold(self._named(values, self.q, 0, "values"), "values")

    def permutation(self, names: Sequence[str]) -> Array:
        """Indices into q that list the coordinates in the order of `names`: `q[permutation(names)]`.

        The way back: `q = empty(nq); q[permutation(names)] = foreign`. Integers, all joints or some.
        """
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputTypeError(f"names must be a sequence of joint names, got {names!r}")
        slices = self.coordinate_slices()
        order: list[int] = []
        for name in names:
            if not isinstance(name, str):
                raise InputTypeError(f"names must be a sequence of joint names, got {name!r} among them")
            if name not in slices:
                raise unknown_name("joint", name, slices)
            order.extend(range(*slices[name][0].indices(self.nq)))
        if len(set(order)) != len(order):
            raise InputError("names must not repeat a joint")
        return np.array(order, dtype=np.intp)

    @property
    def coordinate_names(self) -> list[str]:
        """A name per entry of q: the joint's, with an index where it has several."""
        return self._entry_names(0)

    @property
    def dof_names(self) -> list[str]:
        """A name per entry of dq, thus per column of a Jacobian."""
        return self._entry_names(1)

    def _entry_names(self, which: int) -> list[str]:
        names: list[str] = []
        for joint, slices in self.coordinate_slices().items():
            count = slices[which].stop - slices[which].start
            names += [joint] if count == 1 else [f"{joint}[{i}]" for i in range(count)]
        return names

    # The door: everything a user passes goes through one of these. Arrays are told apart first: asking whether
    # something is a Mapping costs as much as a quarter of a pose.

    def _on_manifold(self, q: Array, name: str = "q") -> Array:
        """`q` (nq,) or (N, nq) with unit parts normalised; refuses what cannot be."""
        return q

    def _single(self, q: Any) -> Array:
        if q is None:
            return self._state[0]
        if type(q) is not np.ndarray and isinstance(q, Mapping):
            return self._on_manifold(self._named(q, self.q, 0, "q"))
        return self._on_manifold(vector(q, self.nq, "q"))

    def _one_or_many(self, q: Any, name: str = "q") -> Array:
        if q is None:
            return self._state[0]
        if type(q) is not np.ndarray and isinstance(q, Mapping):
            return self._on_manifold(self._named(q, self.q, 0, name), name)
        return self._on_manifold(vector_or_batch(q, self.nq, name), name)

    def _rate(self, value: Any, default: Array, name: str) -> Array:
        if value is None:
            return default
        if type(value) is not np.ndarray and isinstance(value, Mapping):
            return self._named(value, default, 1, name)
        return vector(value, self.nv, name)

    def _rates(self, value: Any, default: Array, name: str) -> Array:
        if value is None:
            return default
        if type(value) is not np.ndarray and isinstance(value, Mapping):
            return self._named(value, default, 1, name)
        return vector_or_batch(value, self.nv, name)

    def _named(self, values: Mapping[str, Any], base: Array, which: int, name: str) -> Array:
        slices = self.coordinate_slices()
        result = base.copy()
        for joint, value in values.items():
            if joint not in slices:
                raise unknown_name("joint", joint, slices)
            at = slices[joint][which]
            entries = [value] if np.isscalar(value) or getattr(value, "ndim", 1) == 0 else value
            result[at] = vector(entries, at.stop - at.start, f"{name}[{joint!r}]")
        return result

    def _frame(self, frame: Any) -> str:
        """An existing frame's name; None is the tcp."""
        return self._tip() if frame is None else self._existing_frame(frame, "frame")

    def _existing_frame(self, frame: Any, name: str) -> str:
        if not isinstance(frame, str):
            raise InputTypeError(f"{name} must be a frame's name, got {type(frame).__name__}; see robot.frames")
        if not self._has_frame(frame):
            raise unknown_name("frame", frame, self.frames)
        return frame

    def _has_frame(self, frame: str) -> bool:
        return frame in self.frames

    def _tip(self) -> str:
        raise NotImplementedError


def rows(*arguments: tuple[str, Array]) -> int | None:
    """Common length of the batches among the arguments, None if there is no batch.

    Raises:
        InputError: if two batches differ in length.
    """
    lengths = {name: len(array) for name, array in arguments if array.ndim == 2}
    if len(set(lengths.values())) > 1:
        raise InputError("batches differ in length: " + ", ".join(f"{k} has {n}" for k, n in lengths.items()))
    return next(iter(lengths.values()), None)


def row(array: Array, index: int) -> Array:
    """Row of a batch, or the one vector that goes with every row."""
    return array[index] if array.ndim == 2 else array


def wrench_array(value: Any) -> Array:
    """A wrench (6,) or a batch (N, 6)."""
    return vector_or_batch(value, 6, "eef_wrench")
