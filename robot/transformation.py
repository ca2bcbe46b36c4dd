"""Transformation: an immutable pose or rigid motion, the value that goes in and out of the robot's public methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import spatial
from .arrays import Array, as_generator, matrix, scalar, vector
from .components import trailing
from .errors import InputError
from .homogeneous import IDENTITY, HasHomogeneous, homogeneous_matrix, rotation_matrix
from .pose_text import pose_block, pose_line

if TYPE_CHECKING:
    import pinocchio as pin

_OPERAND = "the other operand of @ (T.apply moves points)"
_new = object.__new__

TransformationLike: TypeAlias = "Transformation | HasHomogeneous | ArrayLike"
"""A Transformation, a pinocchio.SE3 or a 4x4 array."""


@dataclass(frozen=True, slots=True)
class PoseDistance:
    """How far two poses are apart."""

    translation: float
    """Distance of the origins [m]."""
    rotation: float
    """Angle of the turn between the axes, in [0, pi] [rad]."""


class Transformation:
    """A rigid motion: the pose of a frame b in a frame a, `p_a = T_ab.apply(p_b)`. Never changes.

    >>> T = Transformation.from_rpy([0, 0, 1.0], translation=[0.4, 0.1, 0.5])
    >>> (T @ T.inverse).isclose(Transformation.identity())
    True
    """

    __slots__ = ("_matrix",)
    # numpy leaves `array @ T` to __rmatmul__ instead of treating T as a scalar object
    __array_ufunc__ = None
    _matrix: Array

    def __init__(self, x: TransformationLike | None = None) -> None:
        """Take over a pose.

        Args:
            x: Transformation, pinocchio.SE3 or 4x4 array-like [m]; None is the identity. A rotation that is
                orthonormal to 1e-6 is moved onto the closest exact one.

        Raises:
            InputError: if it is not 4x4 and finite, the last row is not (0, 0, 0, 1) or the rotation is none.
        """
        self._matrix = IDENTITY if x is None else as_transformation(x, "transformation")._matrix

    @classmethod
    def _trusted(cls, matrix: Array) -> Transformation:
        """Wrap a fresh homogeneous matrix: no check, the array is taken over and made read-only."""
        self: Transformation = _new(cls)
        matrix.setflags(False)  # type: ignore[call-arg]  # numpy takes it by position, in half the time
        self._matrix = matrix
        return self

    @classmethod
    def _of(cls, rotation: Array | None, translation: Any) -> Transformation:
        out = IDENTITY.copy()
        if rotation is not None:
            out[:3, :3] = rotation
        if translation is not None:
            out[:3, 3] = vector(translation, 3, "translation")
        return cls._trusted(out)

    @classmethod
    def identity(cls) -> Transformation:
        """The motion that moves nothing."""
        return cls()

    @classmethod
    def from_homogeneous(cls, homogeneous: ArrayLike) -> Transformation:
        """From a homogeneous matrix (4, 4) [m]."""
        return cls(homogeneous)

    @classmethod
    def from_translation(cls, translation: ArrayLike) -> Transformation:
        """A shift without rotation: (3,) [m]."""
        return cls._of(None, translation)

    @classmethod
    def from_rotation(cls, rotation: ArrayLike, translation: ArrayLike | None = None) -> Transformation:
        """From a rotation matrix (3, 3) and a translation (3,) [m], None for zero."""
        return cls._of(rotation_matrix(rotation, "rotation"), translation)

    @classmethod
    def from_rpy(cls, rpy: ArrayLike, translation: ArrayLike | None = None) -> Transformation:
        """From URDF angles (roll, pitch, yaw) [rad], `R = Rz(yaw) Ry(pitch) Rx(roll)`, and a translation [m]."""
        return cls._of(spatial.rotation_from_rpy(vector(rpy, 3, "rpy")), translation)

    @classmethod
    def from_quat_xyzw(cls, quat_xyzw: ArrayLike, translation: ArrayLike | None = None) -> Transformation:
        """From a quaternion (x, y, z, w) of any length but zero, and a translation (3,) [m]."""
        return cls._of(spatial.rotation_from_quat_xyzw(vector(quat_xyzw, 4, "quat_xyzw")), translation)

    @classmethod
    def from_quat_wxyz(cls, quat_wxyz: ArrayLike, translation: ArrayLike | None = None) -> Transformation:
        """From a quaternion (w, x, y, z) of any length but zero, and a translation (3,) [m]."""
        w, x, y, z = vector(quat_wxyz, 4, "quat_wxyz")
        return cls._of(spatial.rotation_from_quat_xyzw(np.array([x, y, z, w])), translation)

    @classmethod
    def from_axis_angle(cls, axis: ArrayLike, angle: float, translation: ArrayLike | None = None) -> Transformation:
        """Turn by `angle` [rad] about `axis` (3,), of any length but zero, and a translation (3,) [m]."""
        direction = vector(axis, 3, "axis")
        length = math.hypot(*direction)
        if length < 1e-12:
            raise InputError("axis must not be zero: it names the direction to turn about, e.g. [0, 0, 1]")
        return cls._of(spatial.exp3(direction / length * scalar(angle, "angle")), translation)

    @classmethod
    def from_rotation_vector(cls, rotation_vector: ArrayLike, translation: ArrayLike | None = None) -> Transformation:
        """Turn by |w| about the rotation vector w (3,) [rad], and a translation (3,) [m]."""
        return cls._of(spatial.exp3(vector(rotation_vector, 3, "rotation_vector")), translation)

    @classmethod
    def from_se3(cls, se3: HasHomogeneous) -> Transformation:
        """From a pinocchio.SE3."""
        return cls(se3)

    @classmethod
    def exp(cls, twist: ArrayLike) -> Transformation:
        """Screw motion of a twist (6,), linear first [m, rad], held for unit time; inverse of `log`."""
        return cls._trusted(spatial.exp6(vector(twist, 6, "twist")))

    @classmethod
    def random(cls, rng: np.random.Generator | int | None = None, *, reach: float = 1.0) -> Transformation:
        """Uniformly distributed rotation, translation uniform in the cube [-reach, reach]^3 [m].

        Args:
            rng: Generator, seed, or None for fresh entropy.
            reach: Half edge of the cube [m].
        """
        rng = as_generator(rng)
        quat_xyzw = rng.standard_normal(4)
        translation = scalar(reach, "reach", minimum=0.0) * rng.uniform(-1.0, 1.0, 3)
        return cls._of(spatial.rotation_from_quat_xyzw(quat_xyzw), translation)

    @property
    def homogeneous(self) -> Array:
        """Homogeneous matrix (4, 4) [m], read-only."""
        return self._matrix

    @property
    def translation(self) -> Array:
        """Position of the origin (3,) [m], read-only."""
        return self._matrix[:3, 3]

    @property
    def rotation(self) -> Array:
        """Rotation matrix (3, 3), read-only."""
        return self._matrix[:3, :3]

    @property
    def quat_xyzw(self) -> Array:
        """Unit quaternion (x, y, z, w) with w >= 0."""
        return spatial.quat_xyzw_from_rotation(self._matrix[:3, :3])

    @property
    def quat_wxyz(self) -> Array:
        """Unit quaternion (w, x, y, z) with w >= 0."""
        return np.roll(self.quat_xyzw, 1)

    @property
    def rpy(self) -> Array:
        """URDF angles (roll, pitch, yaw) [rad]; yaw is 0 where pitch is +-pi/2."""
        return spatial.rpy_from_rotation(self._matrix[:3, :3])

    @property
    def rotation_vector(self) -> Array:
        """Axis times angle (3,), angle in [0, pi] [rad]."""
        return spatial.log3(self._matrix[:3, :3])

    @property
    def axis_angle(self) -> tuple[Array, float]:
        """Unit axis (3,) and angle in [0, pi] [rad]; the axis of no rotation is z."""
        w = self.rotation_vector
        angle = math.hypot(*w)
        # the largest entry goes first: dividing denormal numbers by their length loses digits
        scale = float(np.abs(w).max())
        if scale == 0.0:
            return np.array([0.0, 0.0, 1.0]), 0.0
        axis = w / scale
        return axis / math.hypot(*axis), angle

    @property
    def inverse(self) -> Transformation:
        """The motion back: `T_ba` of `T_ab`."""
        return Transformation._trusted(spatial.inverse(self._matrix))

    def inv(self) -> Transformation:
        """The motion back, as a method."""
        return self.inverse

    def se3(self) -> pin.SE3:
        """The same pose as a new pinocchio.SE3."""
        import pinocchio

        return pinocchio.SE3(self._matrix)

    @property
    def cartesian(self) -> Array:
        """Origin as (x, y, z) [m]."""
        return self._matrix[:3, 3].copy()

    @property
    def cylindrical(self) -> Array:
        """Origin as (r, phi, z): distance from the z axis [m], azimuth in [-pi, pi] [rad], height [m]."""
        x, y, z = self._matrix[:3, 3].tolist()
        return np.array([math.hypot(x, y), math.atan2(y, x), z])

    @property
    def spherical(self) -> Array:
        """Origin as (r, theta, phi): distance [m], angle from the z axis in [0, pi], azimuth in [-pi, pi] [rad]."""
        x, y, z = self._matrix[:3, 3].tolist()
        return np.array([math.hypot(x, y, z), math.atan2(math.hypot(x, y), z), math.atan2(y, x)])

    def __matmul__(self, other: TransformationLike) -> Transformation:
        """Composition `T_ac = T_ab @ T_bc`, with a Transformation, a pinocchio.SE3 or a 4x4 array."""
        right = other if type(other) is Transformation else as_transformation(other, _OPERAND)
        return Transformation._trusted(self._matrix.dot(right._matrix))

    def __rmatmul__(self, other: TransformationLike) -> Transformation:
        """Composition with a pinocchio.SE3 or a 4x4 array on the left."""
        return Transformation._trusted(as_transformation(other, _OPERAND)._matrix.dot(self._matrix))

    def apply(self, points: ArrayLike) -> Array:
        """Points of b in coordinates of a: (3,) -> (3,) or (N, 3) -> (N, 3) [m]."""
        array = trailing(points, (3,), "points")
        array = vector(array, 3, "points") if array.ndim == 1 else matrix(array, (-1, 3), "points")
        return array @ self._matrix[:3, :3].T + self._matrix[:3, 3]

    def log(self) -> Array:
        """Twist (6,), linear first [m, rad], whose screw motion this is; rotation in [0, pi]."""
        return spatial.log6(self._matrix)

    def interpolate(self, other: TransformationLike, u: float) -> Transformation:
        """The pose at fraction u of the screw motion from this pose (u = 0) to `other` (u = 1).

        Values outside [0, 1] continue the motion. From a half turn, `log3` says which way it goes.
        """
        goal = as_transformation(other, "other")
        fraction = scalar(u, "u")
        if fraction == 0.0:
            return self
        if fraction == 1.0:
            return goal
        step = spatial.log6(spatial.inverse(self._matrix) @ goal._matrix)
        return Transformation._trusted(self._matrix @ spatial.exp6(fraction * step))

    def distance(self, other: TransformationLike) -> PoseDistance:
        """Distance of the origins [m] and angle between the axes [rad]."""
        return PoseDistance(*spatial.pose_error(self._matrix, as_transformation(other, "other")._matrix))

    def isclose(self, other: TransformationLike, atol: float = 1e-9) -> bool:
        """Whether the origins are at most `atol` [m] and the axes at most `atol` [rad] apart."""
        apart, atol = self.distance(other), scalar(atol, "atol", minimum=0.0)
        return apart.translation <= atol and apart.rotation <= atol

    def __eq__(self, other: object) -> bool:
        """Equality of all sixteen numbers; see `isclose` for poses that were computed."""
        if not isinstance(other, Transformation):
            return NotImplemented
        return bool((self._matrix == other._matrix).all())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The homogeneous matrix, so that `np.asarray(T)` works."""
        return np.array(self._matrix, dtype=dtype, copy=copy)

    def __copy__(self) -> Transformation:
        """Itself: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Transformation:
        """Itself: it never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the matrix alone, and seal it again when it comes back."""
        return Transformation._trusted, (self._matrix.copy(),)

    def __repr__(self) -> str:
        """One line with position and URDF angles."""
        return f"Transformation({pose_line(self._matrix)})"

    def __str__(self) -> str:
        """Position, URDF angles in degrees, and the matrix."""
        return pose_block(self._matrix)


def as_transformation(value: TransformationLike, name: str = "pose") -> Transformation:
    """`value` as a Transformation, itself if it is one; `name` is used in the error.

    Raises:
        InputError: as the constructor of Transformation.
    """
    if isinstance(value, Transformation):
        return value
    return Transformation._trusted(homogeneous_matrix(value, name))
