"""Constraints of a tool: where it is and how fast it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .arrays import Array
from .bounds import limit_of
from .constraint_base import BoundedConstraint, ConstraintResult, Motion
from .errors import InputError, InputTypeError
from .scene_document import exact_pose
from .spatial import ReferenceFrame
from .tolerance import ToleratedPose
from .tolerance_base import set_field
from .transformation import Transformation

if TYPE_CHECKING:
    from .base import RobotBase


@dataclass(frozen=True, slots=True, init=False)
class EndEffectorPose(BoundedConstraint):
    """A frame of the robot within a toleranced pose in the world, for example a cup that is held upright."""

    pose: ToleratedPose
    frame: str | None
    kind: ClassVar[str] = "end_effector_pose"

    def __init__(self, pose: Any, frame: str | None = None) -> None:
        """The pose with its tolerance, and the frame; None is the tcp. A bare pose has the default tolerance."""
        set_field(self, "pose", exact_toleranced(pose, "pose"))
        set_field(self, "frame", _frame_name(frame))

    def _fields(self) -> dict[str, Any]:
        return {"pose": self.pose.to_dict(), "frame": self.frame}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> EndEffectorPose:
        return cls(ToleratedPose.from_dict(fields["pose"]), fields["frame"])

    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        poses = robot.pose_batch(motion.q, robot._frame(self.frame))
        return np.array([[-self.pose.violation(pose)] for pose in poses]).reshape(len(poses), 1)

    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        frame = robot._frame(self.frame)
        actual = Transformation(robot.pose(motion.q[index], frame))
        value, apart = self.pose.violation(actual), self.pose.nominal.distance(actual)
        verdict = "is within its tolerance" if ok else f"passes a bound of its tolerance by {value:.6g}"
        message = f"frame {frame!r} {verdict}: {apart.translation:.6g} m and {apart.rotation:.6g} rad from the pose"
        return ConstraintResult(ok, value, 0.0, frame, message, index)


@dataclass(frozen=True, slots=True, init=False)
class EndEffectorVelocity(BoundedConstraint):
    """A frame of the robot no faster than a linear [m/s] and an angular speed [rad/s]; None is any speed."""

    max_linear: float | None
    max_angular: float | None
    frame: str | None
    kind: ClassVar[str] = "end_effector_velocity"

    def __init__(
        self, max_linear: float | None = None, max_angular: float | None = None, frame: str | None = None
    ) -> None:
        """Greatest speeds of the frame's origin [m/s] and of its axes [rad/s]; frame None is the tcp."""
        for value, name in ((max_linear, "max_linear"), (max_angular, "max_angular")):
            limit = limit_of(value, name)
            set_field(self, name, None if math.isinf(limit) else limit)
        if self.max_linear is None and self.max_angular is None:
            raise InputError("max_linear or max_angular must be given [m/s, rad/s]")
        set_field(self, "frame", _frame_name(frame))

    def _fields(self) -> dict[str, Any]:
        return {"max_linear": self.max_linear, "max_angular": self.max_angular, "frame": self.frame}

    def _limits(self) -> list[float]:
        return [math.inf if limit is None else limit for limit in (self.max_linear, self.max_angular)]

    def _speeds(self, robot: RobotBase, motion: Motion) -> Array:
        """Linear and angular speed (N, 2); lengths do not depend on the axes."""
        frame = robot._frame(self.frame)
        J = robot.frame_jacobian_batch(motion.q, frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        twist = np.einsum("nij,nj->ni", J, motion.dq)
        return np.asarray(np.linalg.norm(twist.reshape(-1, 2, 3), axis=2))

    def _margins(self, robot: RobotBase, motion: Motion) -> Array:
        return np.asarray(np.array(self._limits()) - self._speeds(robot, motion))

    def _result(self, robot: RobotBase, motion: Motion, index: int, bound: int, ok: bool) -> ConstraintResult:
        frame, limit = robot._frame(self.frame), self._limits()[bound]
        value = float(self._speeds(robot, motion.row(index))[0, bound])
        verb, unit, verdict = ("moves", "turns")[bound], ("m/s", "rad/s")[bound], "within" if ok else "above"
        message = f"frame {frame!r} {verb} at {value:.6g} {unit}, {verdict} the {limit:.6g} allowed"
        return ConstraintResult(ok, value, limit, frame, message, index)


def exact_toleranced(value: Any, name: str) -> ToleratedPose:
    """A toleranced pose that JSON gives back bit for bit; a bare pose has the default tolerance."""
    if isinstance(value, ToleratedPose):
        return ToleratedPose(exact_pose(value.nominal, name), value.tolerance)
    if value is None:
        raise InputTypeError(f"{name} must be a ToleratedPose or a pose, got None")
    return ToleratedPose(exact_pose(value, name))


def _frame_name(frame: Any) -> str | None:
    if frame is not None and (not isinstance(frame, str) or not frame):
        raise InputTypeError(f"frame must be the name of a frame or None for the tcp, got {frame!r}")
    return frame
