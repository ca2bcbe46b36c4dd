"""What inverse kinematics is asked, and what it answers: target, conditions of a run, status and result."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..robot.arrays import Array
from ..robot.errors import InputError, InputTypeError
from ..robot.tolerance import DEFAULT_TOLERANCE, Tolerance, ToleratedPose
from ..robot.transformation import Transformation, TransformationLike

if TYPE_CHECKING:
    from .callbacks import Constraint

Target: TypeAlias = "ToleratedPose | TransformationLike"
"""What may be asked for: a tolerated pose, or a bare pose with the default tolerance."""


class IKStatus(enum.StrEnum):
    """How a search ended. Only `CONVERGED` is a success."""

    CONVERGED = "converged"
    """Tolerance, limits and constraints are met by the q returned."""
    OUT_OF_BUDGET = "out_of_budget"
    """The iterations ran out while the cost was still falling."""
    STALLED = "stalled"
    """The cost stopped falling before the tolerance was met."""
    LIMITS = "limits"
    """Only the joint limits stand in the way."""
    COLLISION = "collision"
    """The pose was reached, but only in collision."""
    REJECTED = "rejected"
    """The pose was reached, but another constraint or a callback refused every solution."""
    UNREACHABLE = "unreachable"
    """Proven: the target is farther away than the stretched arm."""
    STOPPED = "stopped"
    """A callback asked to stop."""


_make = object.__new__


class IKResult:
    """The answer to an IK problem; true when solved, and unpacks as `(q, success)`. Never changes."""

    # One slot for all values: a tuple is built several times faster than a frozen dataclass of ten fields, and the
    # native kernel answers in the time such a dataclass takes.
    __slots__ = ("_values",)
    _values: tuple[Array, IKStatus, float, float, float, int, int, int, str, str]

    def __new__(
        cls,
        q: Array,
        status: IKStatus,
        position_error: float,
        rotation_error: float,
        cost: float,
        iterations: int,
        restarts: int,
        seed: int,
        method: str,
        message: str = "",
    ) -> IKResult:
        """Take the values as they are; `q` is taken over and made read-only."""
        self = _make(cls)
        q.setflags(False)  # type: ignore[call-arg]
        _set_values(
            self, (q, status, position_error, rotation_error, cost, iterations, restarts, seed, method, message)
        )
        return self

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a result never changes."""
        raise AttributeError(f"an IKResult never changes; {name!r} cannot be set")

    def __reduce__(self) -> tuple[type[IKResult], tuple[Any, ...]]:
        """What pickle and copy build it from."""
        return IKResult, (self._values[0].copy(), *self._values[1:])

    def refused(self, status: IKStatus, message: str) -> IKResult:
        """The same with a verdict against it."""
        q, _, distance, angle, cost, iterations, restarts, seed, method, _ = self._values
        return IKResult(q.copy(), status, distance, angle, cost, iterations, restarts, seed, method, message)

    @property
    def q(self) -> Array:
        """The configuration found (nq,), read-only.

        Without a solution it is the one of least cost seen, or, if the target is out of reach, the one closest in
        position; always within the limits.
        """
        return self._values[0]

    @property
    def status(self) -> IKStatus:
        """How the search ended."""
        return self._values[1]

    @property
    def success(self) -> bool:
        """Whether q meets tolerance, limits and constraints."""
        return self._values[1] is IKStatus.CONVERGED

    @property
    def position_error(self) -> float:
        """Distance of the tcp from the target [m]."""
        return self._values[2]

    @property
    def rotation_error(self) -> float:
        """Angle between the axes of tcp and target [rad], in [0, pi]."""
        return self._values[3]

    @property
    def cost(self) -> float:
        """Value of the cost function at q."""
        return self._values[4]

    @property
    def iterations(self) -> int:
        """Iterations used by all attempts, never more than the budget."""
        return self._values[5]

    @property
    def restarts(self) -> int:
        """Attempts beyond the first."""
        return self._values[6]

    @property
    def seed(self) -> int:
        """Passed as `rng`, it gives the same answer again."""
        return self._values[7]

    @property
    def method(self) -> str:
        """Name of the method used."""
        return self._values[8]

    @property
    def message(self) -> str:
        """The reason for the status, and notes such as a start that was moved into the limits; may be empty."""
        return self._values[9]

    def __bool__(self) -> bool:
        """Whether it is a solution."""
        return self._values[1] is IKStatus.CONVERGED

    def __iter__(self) -> Iterator[Any]:
        """The pair (q, success)."""
        return iter((self.q, self.success))

    def __repr__(self) -> str:
        """One line."""
        angles = ", ".join(f"{x:.6g}" for x in self.q)
        text = (
            f"IKResult({self.status}, position_error={self.position_error:.3g} m, "
            f"rotation_error={self.rotation_error:.3g} rad, q=[{angles}], iterations={self.iterations}, "
            f"restarts={self.restarts}, seed={self.seed}, method={self.method!r}"
        )
        return text + (f", message={self.message!r})" if self.message else ")")

    def to_dict(self) -> dict[str, Any]:
        """All values as plain Python objects, ready for JSON."""
        _, status, *rest = self._values
        keys = ("position_error", "rotation_error", "cost", "iterations", "restarts", "seed", "method", "message")
        named = dict(zip(keys, rest, strict=True))
        return {"q": self.q.tolist(), "success": self.success, "status": str(status), **named}


_set_values = IKResult.__dict__["_values"].__set__


@dataclass(frozen=True, slots=True)
class IntermediateIkResult:
    """One configuration seen during a search."""

    q: Array
    """Configuration (nq,)."""
    cost: float
    """Value of the cost function at q."""
    iteration: int = 0
    """Iterations spent before it, over all attempts."""
    restart: int = 0
    """Number of the attempt, 0 for the first."""

    @property
    def distance(self) -> float:
        """The cost, by its other name."""
        return self.cost


@dataclass(frozen=True, slots=True)
class IKMeta:
    """The conditions under which a method runs; a budget is handed over, never changed in place."""

    max_iter: int = 1000
    """Iterations the run may take."""
    allow_random_restart: bool = True
    """Whether somebody will try again from elsewhere: a method may then give a slow attempt up early."""
    joint_mask: NDArray[np.bool_] | None = None
    """Degrees of freedom that may move, (nv,) of booleans; None: all."""
    limits: Array | None = None
    """Bounds to respect (2, nq), possibly wider than the robot's; None: the robot's own."""
    constraints: tuple[Constraint, ...] = ()
    """What a solution must satisfy besides; checked by the outer loop, for information here."""
    iteration: int = 0
    """Iterations spent before this run."""
    restart: int = 0
    """Number of this run, 0 for the first."""


@dataclass(frozen=True, slots=True)
class InnerResult:
    """What one run of a method found."""

    q: Array
    """The solution, or the configuration of least cost seen (nq,)."""
    status: IKStatus
    """CONVERGED, or why it ended."""
    cost: float
    """Value of the cost function at q."""
    iterations: int
    """Iterations used."""
    restarts: int = 0
    """Attempts beyond the first that the method made by itself."""


def closest_words(distance: float, angle: float, dof: int | None = None) -> str:
    """How near the closest pose is [m], [rad], and what an arm of `dof` < 6 degrees of freedom had better be asked."""
    words = f"the closest pose found is {distance:.3g} m and {angle:.3g} rad away"
    if dof is not None:
        words += (
            f"; {dof} degrees of freedom reach few poses in full: "
            "leave the rotation free with tolerance=CartesianSphere(1e-4)"
        )
    return words


def as_target(target: Target, tolerance: Tolerance | None = None) -> ToleratedPose:
    """The tolerated pose that is meant by a ToleratedPose, a Transformation, an SE3 or a 4x4 array.

    Args:
        target: The pose asked for, world coordinates.
        tolerance: Replaces the target's own tolerance, or the default one of a bare pose.
    """
    if tolerance is not None and not isinstance(tolerance, Tolerance):
        raise InputTypeError(
            f"tolerance must be a Tolerance such as CartesianSphere(1e-3) + RotationAbsolute(1e-2), "
            f"got {type(tolerance).__name__}"
        )
    if isinstance(target, ToleratedPose):
        return _restricting(target if tolerance is None else ToleratedPose(target.nominal, tolerance))
    if target is None:
        raise InputError("target must be a ToleratedPose, a Transformation, a pinocchio.SE3 or a 4x4 array, got None")
    if isinstance(target, list | tuple | np.ndarray) and not hasattr(target, "homogeneous"):
        _refuse_other_shapes(target)
    pose = target if isinstance(target, Transformation) else Transformation(target)
    return _restricting(ToleratedPose(pose, DEFAULT_TOLERANCE if tolerance is None else tolerance))


def _refuse_other_shapes(target: Any) -> None:
    """Say what to write instead of a point or of several poses."""
    try:
        shape = np.shape(target)
    except ValueError:
        shape = (-1,)
    if shape != (4, 4):
        remedy = "see knuckle.Transformation for other ways to write a pose"
        if shape == (3,):
            remedy = "for a point: Transformation.from_translation(point) with tolerance=CartesianSphere(1e-4)"
        elif len(shape) == 3 or (len(shape) == 1 and shape != (-1,)) or shape == (-1,):
            remedy = (
                "one pose a call; for several see knuckle.ik.solve_batch and knuckle.ik.track, and for several tips "
                "at once a mapping from frames to poses"
            )
        raise InputError(f"target must be one pose, such as a 4x4 array, got shape {shape}; {remedy}")


def _restricting(goal: ToleratedPose) -> ToleratedPose:
    """The goal, unless everything would do."""
    if math.isinf(goal.tolerance.position_radius) and math.isinf(goal.tolerance.rotation_radius):
        raise InputError(
            "tolerance leaves position and rotation free, so every configuration is a solution; "
            "for a position with any rotation use CartesianSphere(radius)"
        )
    return goal
