"""RobotBase: what every robot offers, derived from a few primitives."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from .appearance import Appearance
from .arrays import Array, as_generator
from .errors import InputError, InputTypeError, unknown_name
from .kinematic_queries import alias
from .transformation import Transformation, as_transformation

_solver: Any = None


class RobotBase(Appearance):
    """A robot on a base, with a stored configuration.

    A backend implements the primitives of `Primitives` and calls this constructor once they work; about sixty lines
    make a full robot. Its primitives must read `placement` to know where the base stands, or override `_base_moved`.

    Args:
        name: Name of the robot.
        home_configuration: Configuration to start in (nq,) or mapping; by default neutral, moved into the limits.
        base_placement: Pose of the base in the world.
        rng: Generator or seed used where a call brings none; None draws fresh entropy.
        tcp: Frame of the tool; by default the last frame.
    """

    def __init__(
        self,
        *,
        name: str,
        home_configuration: Any = None,
        base_placement: Any = None,
        rng: Any = None,
        tcp: str | None = None,
    ) -> None:
        self._name = str(name)
        self._rng = as_generator(rng)
        self._placement = Transformation.identity()
        self._tcp: str | None = None
        if tcp is not None:
            self.tcp = tcp
        neutral = self.neutral()
        self._state = (neutral, np.zeros(self.nv), np.zeros(self.nv))
        self._home = self._home_from(home_configuration)
        self.update_configuration(self._home)
        if base_placement is not None:
            self.set_base_placement(base_placement)

    def _home_from(self, home: Any) -> Array:
        q = self.clip_to_limits(self.neutral()) if home is None else self._single(home).copy()
        q.setflags(write=False)
        return q

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies of read-only arrays are not read-only; make them so again."""
        self.__dict__.update(state)
        for array in (*self._state, self._home):
            array.setflags(write=False)

    def __copy__(self) -> Self:
        """A robot that shares nothing that can change: a shallow copy would move with the original."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}: {self.nv} dof, {len(self.frames)} frames>"

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._name

    @property
    def home_configuration(self) -> Array:
        """Configuration the robot starts in (nq,), read-only."""
        return self._home

    @property
    def tcp(self) -> str:
        """Name of the frame of the tool (tool center point); may be set to any frame.

        Raises:
            InputError: on reading, if none was chosen and the robot has several tips.
        """
        return self._tip()

    @tcp.setter
    def tcp(self, frame: str) -> None:
        if not isinstance(frame, str):
            raise InputTypeError(f"tcp must be the name of a frame, got {type(frame).__name__}")
        if not self._has_frame(frame):
            raise unknown_name("frame", frame, self.frames)
        self._tcp = frame

    def _tip(self) -> str:
        return self._tcp if self._tcp is not None else self._default_tip()

    def _default_tip(self) -> str:
        if not self.frames:
            raise InputError(f"robot {self._name!r} has no frames, so no tcp")
        return self.frames[-1]

    @property
    def placement(self) -> Transformation:
        """Pose of the base in the world."""
        return self._placement

    def set_base_placement(self, placement: Any) -> None:
        """Put the base at a pose in the world; everything fixed to the base moves along."""
        new = as_transformation(placement, "placement")
        self._base_moved(new @ self._placement.inv())
        self._placement = new

    def move(self, displacement: Any) -> None:
        """Move the whole robot by a displacement given in world axes about the world's origin."""
        self.set_base_placement(as_transformation(displacement, "displacement") @ self._placement)

    def _base_moved(self, displacement: Transformation) -> None:
        """Told before the placement changes, for backends that keep poses in the world."""

    @property
    def joint_limits(self) -> Array:
        """Lower above upper position limits (2, nq), infinite where there is none."""
        return self.limits.position.copy()

    @property
    def joint_velocity_limits(self) -> Array:
        """Greatest speeds (nv,) [rad/s or m/s], infinite where there is no limit."""
        return self.limits.velocity.copy()

    @property
    def joint_acceleration_limits(self) -> Array:
        """Greatest accelerations (nv,) [rad/s^2 or m/s^2], infinite where there is no limit."""
        return self.limits.acceleration.copy()

    @property
    def joint_torque_limits(self) -> Array:
        """Greatest torques or forces (nv,) [N m or N], infinite where there is no limit."""
        return self.limits.torque.copy()

    @property
    def joint_jerk_limits(self) -> Array:
        """Greatest jerks (nv,) [rad/s^3 or m/s^3], infinite where there is no limit."""
        return self.limits.jerk.copy()

    def ik(self, target: Any = None, *, eef_pose: Any = None, **options: Any) -> Any:
        """Inverse kinematics, see `knuckle.ik.solve`.

        Args:
            target: ToleratedPose, Transformation, SE3 or (4, 4) pose of the tcp in the world; or goals of several
                frames, see `knuckle.ik.solve`; may be left out with a task that has one goal.
            eef_pose: Alias of target.
            **options: Arguments of `knuckle.ik.solve`, all optional:

                * q_init: where to start (nq,); the stored configuration by default;
                * rng: generator or seed of the restarts;
                * tolerance: for example `CartesianSphere(1e-4)` for a position with any rotation;
                * max_iter: iterations of all attempts together, 1000 by default;
                * allow_random_restart: False keeps to the solution that belongs to q_init;
                * ik_method: "jacobian_cpp", "jacobian", "scipy" or a function;
                * joint_mask: degrees of freedom that may move (nv,);
                * nearest: True for the solution nearest to q_init; objective: see `knuckle.ik.Posture`;
                * outer_constraints: `f(robot, q) -> bool`, one or several;
                * task, ignore_self_collisions, current_best, ik_cost_function, convergence_threshold,
                  inner_callbacks, outer_callbacks, and the options of the method.

        Returns:
            An IKResult; true if solved, unpacks as `(q, success)`. Its status and message say why not.
        """
        if target is None and eef_pose is None and options.get("task") is not None:
            return _solving().solve(self, None, **options)
        return _solving().solve(self, _target(target, eef_pose), **options)

    def ik_scipy(self, target: Any = None, *args: Any, eef_pose: Any = None, **options: Any) -> Any:
        """One run of the method "scipy" without restarts, see `knuckle.ik`."""
        return _solving().ik_scipy(self, _target(target, eef_pose), *args, **options)

    def ik_jacobian(self, target: Any = None, *args: Any, eef_pose: Any = None, **options: Any) -> Any:
        """One run of the method "jacobian" without restarts, see `knuckle.ik`."""
        return _solving().ik_jacobian(self, _target(target, eef_pose), *args, **options)

    def ik_jacobian_cpp(self, target: Any = None, *args: Any, eef_pose: Any = None, **options: Any) -> Any:
        """One run of the native method without restarts, see `knuckle.ik`."""
        return _solving().ik_jacobian_cpp(self, _target(target, eef_pose), *args, **options)


def _target(target: Any, eef_pose: Any) -> Any:
    if eef_pose is not None:
        return alias(target, eef_pose, "target", "eef_pose")
    if target is None:
        raise InputTypeError("target is required: a ToleratedPose, Transformation, SE3 or (4, 4) array")
    return target


def _solving() -> Any:
    """The solver, imported at the first call: `ik` stands on `robot`, not the other way round."""
    global _solver
    if _solver is None:
        from ..ik import solver

        _solver = solver
    return _solver


def as_robot(value: Any, name: str = "robot") -> RobotBase:
    """The value, if it is a robot.

    Raises:
        InputTypeError: if it is something else.
    """
    if not isinstance(value, RobotBase):
        raise InputTypeError(f"{name} must be a robot (RobotBase), got {type(value).__name__}")
    return value
