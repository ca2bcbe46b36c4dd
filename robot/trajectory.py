"""Trajectory: what the joints are to do over time; interpolation, resampling, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.interpolate import CubicSpline

from . import piecewise
from .arrays import Array, _as_float, flag, matrix, scalar
from .errors import InputError, InputTypeError, UnsupportedError, unknown_name
from .files import path_of
from .tolerance_base import set_field
from .trajectory_arrays import checked_names, checked_samples, checked_times, even_times, kept, require_widths

INTERPOLATIONS = ("linear", "cubic", "quintic")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Trajectory:
    """Positions of joints at increasing times, and what happens between them. Never changes.

    Between the samples

    * "linear" goes straight from q to q: velocities jump at the samples;
    * "cubic" meets q and dq (Hermite), so dq is continuous; where dq is not given, it is that of the cubic spline
      through q (not-a-knot), so ddq is continuous too;
    * "quintic" meets q, dq and ddq; what is not given of the latter two is that of the cubic spline through what is.

    An angle counts as it stands, turns included.

    Attributes:
        t: Times (N,), N >= 2, increasing [s], read-only like all arrays here.
        q: Positions (N, nq) [rad or m].
        dq: Velocities (N, nv), given or derived.
        ddq: Accelerations (N, nv), given or derived; of "cubic" and "linear" that on the later side of a sample, and
            on the earlier side at the end.
        names: A name per column of q, as `robot.coordinate_names` has them, or None for the order of the robot.
        interpolation: "linear", "cubic" or "quintic".
        given: Which of "q", "dq", "ddq" were given.
    """

    t: Array
    q: Array
    names: tuple[str, ...] | None
    interpolation: str
    given: tuple[str, ...]
    _rates: tuple[Array | None, Array | None]

    def __init__(
        self,
        t: Any,
        q: Any,
        dq: Any = None,
        ddq: Any = None,
        names: Sequence[str] | None = None,
        *,
        interpolation: str | None = None,
    ) -> None:
        """Put a trajectory together.

        Args:
            t: Times (N,) [s].
            q: Positions (N, nq).
            dq: Velocities (N, nv); None derives them.
            ddq: Accelerations (N, nv); None derives them.
            names: A name per column of q.
            interpolation: None is "quintic" if ddq is given and "cubic" if not; "linear" where dq has another width
                than q, as with floating bases.

        Raises:
            InputError: on times that do not increase, on what is not finite, or shapes that do not fit.
        """
        times = checked_times(t)
        q = checked_samples(q, len(times), "q")
        rates = [None if v is None else checked_samples(v, len(times), k) for v, k in ((dq, "dq"), (ddq, "ddq"))]
        require_widths(q, *rates)
        set_field(self, "t", kept(times))
        set_field(self, "q", kept(q))
        set_field(self, "_rates", tuple(None if v is None else kept(v) for v in rates))
        set_field(self, "given", ("q", *(k for v, k in zip(rates, ("dq", "ddq"), strict=True) if v is not None)))
        set_field(self, "names", checked_names(names, q.shape[1]))
        set_field(self, "interpolation", self._kind(interpolation))

    def _kind(self, asked: str | None) -> str:
        flat = all(v is None or v.shape == self.q.shape for v in self._rates)
        if asked is None:
            return "linear" if not flat else "quintic" if "ddq" in self.given else "cubic"
        if not isinstance(asked, str) or asked not in INTERPOLATIONS:
            raise unknown_name("interpolation", asked, INTERPOLATIONS)
        if not flat and asked != "linear":
            raise UnsupportedError(f'interpolation {asked!r} needs dq and ddq as wide as q; use "linear"')
        return asked

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        """Size and span."""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s"
        return f"<Trajectory of {len(self)} samples, {self.q.shape[1]} joints, {span}, {self.interpolation}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of."""
        return _made, (self.t, self.q, *self._rates, self.names, self.interpolation)

    @property
    def duration(self) -> float:
        """From the first to the last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def dq(self) -> Array:
        """Velocities (N, nv), given or derived."""
        given = self._rates[0]
        return given if given is not None else self._derived[0]

    @property
    def ddq(self) -> Array:
        """Accelerations (N, nv), given or derived."""
        given = self._rates[1]
        return given if given is not None else self._derived[1]

    @cached_property
    def path(self) -> piecewise.Piecewise:
        """The polynomials between the samples."""
        if self.interpolation == "linear":
            return piecewise.linear(self.t, self.q)
        dq, ddq = self._rates
        if dq is None:
            dq = CubicSpline(self.t, self.q)(self.t, 1)
        if self.interpolation == "cubic":
            return piecewise.cubic(self.t, self.q, dq)
        if ddq is None:
            ddq = CubicSpline(self.t, dq)(self.t, 1) if "dq" in self.given else CubicSpline(self.t, self.q)(self.t, 2)
        return piecewise.quintic(self.t, self.q, dq, ddq)

    @cached_property
    def _derived(self) -> tuple[Array, Array]:
        speed = self.path.derivative()
        at = speed.locate(self.t)
        if self.interpolation != "linear":
            return kept(speed.evaluate(*at)), kept(speed.derivative().evaluate(*at))
        slopes = speed.coefficients[0]
        edges = np.vstack([slopes[:1], slopes, slopes[-1:]])
        h = np.diff(self.t)
        spans = np.concatenate([h[:1], h, h[-1:]])[:, None]
        dq = (edges[:-1] * spans[1:] + edges[1:] * spans[:-1]) / (spans[:-1] + spans[1:])
        return kept(dq), kept(2.0 * np.diff(edges, axis=0) / (spans[:-1] + spans[1:]))

    def at(self, times: Any, order: int = 0) -> Array:
        """Positions (nq,) at a time, (M, nq) at times (M,) [s]; `order` 1, 2, 3 for velocity, acceleration, jerk.

        Raises:
            InputError: if a time lies outside the trajectory, or order is none of 0 to 3.
        """
        if not isinstance(order, int) or order not in (0, 1, 2, 3):
            raise InputError(f"order must be 0, 1, 2 or 3, got {order!r}")
        asked = _as_float(times, "times")
        flat = matrix(np.atleast_1d(asked), (-1,), "times")
        outside = np.flatnonzero((flat < self.t[0]) | (flat > self.t[-1]))
        if len(outside):
            span = f"{self.t[0]:g} to {self.t[-1]:g} s"
            raise InputError(f"times must lie within {span}, got {flat[outside[0]]:g} at index {outside[0]}")
        poly = self.path
        for _ in range(order):
            poly = poly.derivative()
        values = poly.evaluate(*poly.locate(flat))
        return values[0] if asked.ndim == 0 else values

    def resampled(self, dt: Any = None, *, times: Any = None) -> Trajectory:
        """The same motion at other times: every `dt` [s] and at the end, or at `times` (M,).

        q, dq and ddq there are those of this trajectory; between them it is interpolated anew, in the same way.
        """
        if (dt is None) == (times is None):
            raise InputError("give dt or times, one of the two")
        if times is None:
            times = even_times(self.t, dt)
        t = checked_times(times)
        if self.interpolation == "linear":
            return Trajectory(t, self.at(t), None, None, self.names, interpolation="linear")
        ddq = self.at(t, 2) if self.interpolation == "quintic" else None
        return Trajectory(t, self.at(t), self.at(t, 1), ddq, self.names, interpolation=self.interpolation)

    def then(self, other: Trajectory, *, tolerance: Any = 1e-6) -> Trajectory:
        """This trajectory followed by another, whose first sample must be this one's last.

        Args:
            other: What follows, its times shifted to go on from here.
            tolerance: How far its first sample may be from this one's last [rad or m].

        Raises:
            InputError: if the joints differ, or the other does not start where this one ends.
        """
        if not isinstance(other, Trajectory):
            raise InputTypeError(f"other must be a Trajectory, got {type(other).__name__}")
        if self.names is not None and other.names is not None:
            other = other.ordered(self.names)
        if other.q.shape[1] != self.q.shape[1]:
            raise InputError(f"other must have {self.q.shape[1]} joints, got {other.q.shape[1]}")
        gap = np.abs(other.q[0] - self.q[-1])
        if gap.max(initial=0.0) > scalar(tolerance, "tolerance", minimum=0.0):
            at = int(gap.argmax())
            name = self.names[at] if self.names else f"joint {at}"
            raise InputError(f"other starts {gap[at]:.6g} away from this trajectory's end in {name!r}; add a way there")
        t = np.concatenate([self.t, other.t[1:] - other.t[0] + self.t[-1]])
        pairs = zip(self._rates, other._rates, strict=True)
        dq, ddq = (None if a is None or b is None else np.vstack([a, b[1:]]) for a, b in pairs)
        kind = self.interpolation if self.interpolation == other.interpolation else None
        return self._with(t=t, q=np.vstack([self.q, other.q[1:]]), dq=dq, ddq=ddq, interpolation=kind)

    def slowed(self, factor: Any) -> Trajectory:
        """The same path in `factor` times the time; velocities fall by it, accelerations by its square."""
        k = scalar(factor, "factor", positive=True)
        dq, ddq = self._rates
        dq, ddq = None if dq is None else dq / k, None if ddq is None else ddq / k**2
        with np.errstate(over="ignore"):  # such times are refused
            t = self.t[0] + k * (self.t - self.t[0])
        return self._with(t=t, dq=dq, ddq=ddq)

    def ordered(self, names: Any, *, drop: bool = False) -> Trajectory:
        """The same with its columns in the order of `names`, which must be those of this trajectory.

        Args:
            names: Names of columns, or a robot, whose `coordinate_names` they are.
            drop: Leave out the columns that are not named, such as those of a gripper that the robot does not have.

        Raises:
            InputError: naming the columns that are missing or left over.
        """
        if self.names is None:
            raise InputError("the trajectory has no names; give names=... when it is made")
        names, dropping = getattr(names, "coordinate_names", names), flag(drop, "drop")
        if isinstance(names, str | bytes) or not isinstance(names, Sequence):
            raise InputTypeError(f"names must be a robot or a sequence of joint names, got {names!r:.60}")
        wanted = list(map(str, names))
        missing = [name for name in wanted if name not in self.names]
        extra = [f"{name!r} (column {self.names.index(name) + 1})" for name in self.names if name not in wanted]
        if missing or (extra and not dropping):
            parts = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
            parts += [f"has {', '.join(extra)}, which is no joint of the robot"] if extra else []
            remedy = "" if missing else "; ordered(robot, drop=True) leaves it out"
            raise InputError(f"the trajectory {' and '.join(parts)}; wanted are {', '.join(wanted)}{remedy}")
        if list(self.names) == wanted:
            return self
        if any(v is not None and v.shape != self.q.shape for v in self._rates):
            raise UnsupportedError("columns can be taken by name only where dq is as wide as q; give them in order")
        at = [self.names.index(name) for name in wanted]
        dq, ddq = (None if v is None else v[:, at] for v in self._rates)
        return self._with(q=self.q[:, at], dq=dq, ddq=ddq, names=wanted)

    def with_interpolation(self, interpolation: str) -> Trajectory:
        """The same samples, interpolated otherwise."""
        return self._with(interpolation=interpolation)

    def _with(self, **changes: Any) -> Trajectory:
        """The same with some arguments replaced."""
        dq, ddq = self._rates
        own = {"t": self.t, "q": self.q, "dq": dq, "ddq": ddq, "names": self.names}
        return Trajectory(**{**own, "interpolation": self.interpolation, **changes})

    @classmethod
    def load(cls, path: str | PathLike[str], *, interpolation: str | None = None, degrees: bool = False) -> Self:
        """Read a .csv, .npz or .json file, see `save` and `robot.trajectory_files`.

        Args:
            path: The file.
            interpolation: Instead of the one the file names, or of the default.
            degrees: Take all numbers but times as degrees; only for robots all of whose joints turn.

        Raises:
            InputError: naming the file, the row and the column that cannot be used.
        """
        from .trajectory_files import read

        fields = read(path_of(path))
        if degrees:
            for key in ("q", "dq", "ddq"):
                fields[key] = None if fields.get(key) is None else np.radians(fields[key])
        if interpolation is not None:
            fields["interpolation"] = interpolation
        try:
            return cls(**fields)
        except InputError as error:
            raise type(error)(f"{str(path)!r}: {error}") from None

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a .csv (columns time, NAME ..., dq.NAME ..., ddq.NAME ...), .npz or .json file; every digit is kept.

        Derivatives are written where they were given.
        """
        from .trajectory_files import write

        return write(path_of(path), self)


def _made(
    t: Array, q: Array, dq: Array | None, ddq: Array | None, names: tuple[str, ...] | None, interpolation: str
) -> Trajectory:
    return Trajectory(t, q, dq, ddq, names, interpolation=interpolation)
