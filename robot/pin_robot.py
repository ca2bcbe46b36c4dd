"""PinRobot: a robot on Pinocchio."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin

from . import overrides
from .arrays import vector
from .couplings import Coupling, check_couplings
from .described import Described
from .errors import InputError, InputTypeError, unknown_name
from .findings import Finding, finding
from .parameters import ExtraLimits
from .transformation import as_transformation
from .wrapper import models_of


class PinRobot(Described):
    """A robot whose laws are Pinocchio's, in the coordinates of its user.

    Args:
        wrapper: A pinocchio RobotWrapper, a Model, or (model, collision, visual); copied.
        home_configuration: Configuration to start in (nq,) or mapping; by default neutral, moved into the limits.
        base_placement: Pose of the base in the world.
        rng: Generator or seed used where a call brings none; None draws fresh entropy.
        tcp: Frame of the tool; by default the last frame on the longest chain of joints.
        couplings: Joints that mimic others; they vanish from the robot's coordinates.
        name: Name of the robot; by default the model's.
        findings: What reading its description brought up.
        collision_meshes: "hull": meshes count by their convex hulls in collision checks, so that what is inside
            touches and overlaps have a depth; "exact": by their triangles, which miss what is wholly inside and know
            no depth.
        disabled_pairs: (link, link, reason) that are not checked for collision, as an SRDF lists them; then nothing
            else is left out but what is fixed to each other. By default neighbouring links and pairs that touch in
            the home configuration are. Pairs that a given collision model brings stay as they are.

    Scratch memory is private, one per thread, so any number of threads may ask one robot; builders (`add_frame`,
    `set_base_placement`, ...) must not run meanwhile. Who edits `model` by hand calls `refresh` afterwards.
    """

    def __init__(
        self,
        *,
        wrapper: Any,
        home_configuration: Any = None,
        base_placement: Any = None,
        rng: Any = None,
        tcp: str | None = None,
        couplings: Iterable[Coupling] = (),
        name: str | None = None,
        findings: Iterable[Finding] = (),
        collision_meshes: str = "hull",
        disabled_pairs: Iterable[tuple[str, str, str]] | None = None,
    ) -> None:
        if collision_meshes not in ("hull", "exact"):
            raise InputError(f'collision_meshes must be "hull" or "exact", got {collision_meshes!r}')
        self._model, self._collision, self._visual = models_of(wrapper)
        self._couplings = check_couplings(self._model, couplings)
        self._extra = ExtraLimits()
        self._findings = tuple(findings)
        self._rebuild()
        super().__init__(
            name=self._model.name if name is None else name,
            home_configuration=home_configuration,
            base_placement=base_placement,
            rng=rng,
            tcp=tcp,
        )
        if home_configuration is None:
            self._findings += self._moved_home()
        self._set_up_collisions(collision_meshes, disabled_pairs)

    def _moved_home(self) -> tuple[Finding, ...]:
        neutral = self.neutral()
        moved = np.flatnonzero(self._home != neutral)
        if not len(moved):
            return ()
        names = ", ".join(f"{self.coordinate_names[i]} to {self._home[i]:.4g}" for i in moved)
        problem = f"zero is outside the limits; moved to the nearest bound: {names}"
        return (finding("home-moved", 0, "home", "", problem),)

    @classmethod
    def empty(
        cls, name: str = "robot", *, base_placement: Any = None, gravity: Any = (0.0, 0.0, -9.81), rng: Any = None
    ) -> PinRobot:
        """A robot without joints, to be built with `_add_body` and `_add_joint`.

        Args:
            name: Name of the robot.
            base_placement: Pose of the base in the world.
            gravity: Acceleration of free fall (3,) in world axes [m/s^2].
            rng: Generator or seed used where a call brings none.
        """
        if not isinstance(name, str):
            raise InputTypeError(f"name must be a string, got {type(name).__name__}")
        model = pin.Model()
        model.name, model.gravity = name, pin.Motion(vector(gravity, 3, "gravity"), np.zeros(3))
        return cls(wrapper=model, base_placement=base_placement, rng=rng)

    def add_frame(self, name: str, parent_frame: str, placement: Any) -> int:
        """Add a frame fixed to another.

        Args:
            name: A new name.
            parent_frame: Name of the frame it is fixed to.
            placement: Its pose in the parent frame.

        Returns:
            Index of the frame in `model.frames`.
        """
        self._commit()
        index = self._table.ids[self._existing_frame(parent_frame, "parent_frame")]
        parent = self._model.frames[index]
        pose = parent.placement * as_transformation(placement, "placement").se3()
        return self._append_frame(name, parent.parentJoint, index, pose)

    def add_tcp_frame(self, parent_joint: str, placement: Any) -> int:
        """Add a frame named "tcp" (or "tcp_2", ...) fixed to a joint and make it the tcp.

        Args:
            parent_joint: Name of the joint.
            placement: Pose of the tcp in the joint's frame.

        Returns:
            Index of the frame in `model.frames`.
        """
        self._commit()
        if not isinstance(parent_joint, str):
            raise InputTypeError(f"parent_joint must be the name of a joint, got {type(parent_joint).__name__}")
        if not self._model.existJointName(parent_joint):
            raise unknown_name("joint", parent_joint, list(self._model.names))
        joint = self._model.getJointId(parent_joint)
        pose = as_transformation(placement, "placement").se3()
        taken = {frame.name for frame in self._model.frames}
        name = next(n for n in ("tcp", *(f"tcp_{k}" for k in range(2, len(taken) + 3))) if n not in taken)
        parent_frame = next(i for i, f in enumerate(self._model.frames) if f.parentJoint == joint)
        index = self._append_frame(name, joint, parent_frame, pose)
        self.tcp = name
        return index

    def _append_frame(self, name: str, joint: int, parent_frame: int, pose: pin.SE3) -> int:
        if not isinstance(name, str) or not name:
            raise InputTypeError(f"name must be a non-empty string, got {name!r}")
        if name in self._table.ids:
            raise InputError(f"a frame named {name!r} exists already")
        index: int = self._model.addFrame(pin.Frame(name, joint, parent_frame, pose, pin.FrameType.OP_FRAME))
        self._rebuild()
        return index

    # Other versions of the same robot

    def __deepcopy__(self, memo: dict[int, Any]) -> PinRobot:
        """A robot that shares nothing that can change."""
        twin = type(self).__new__(type(self))
        state = {
            key: value for key, value in self.__getstate__().items() if key not in ("_model", "_collision", "_visual")
        }
        twin._model = self._model.copy()
        twin._collision, twin._visual = self._collision.clone(), self._visual.clone()
        twin.__setstate__(copy.deepcopy(state, memo))
        return twin

    def with_limits(
        self,
        *,
        position: Any = None,
        velocity: Any = None,
        acceleration: Any = None,
        torque: Any = None,
        jerk: Any = None,
    ) -> PinRobot:
        """A new robot with other limits; what is left out stays. Home and stored configuration are moved into them.

        Args:
            position: (2, nq) lower above upper [rad or m], or a mapping from joint names to (lower, upper).
            velocity: A number, (nv,), or a mapping from joint names to numbers; infinite for no limit.
            acceleration: Likewise.
            torque: Likewise.
            jerk: Likewise.
        """
        rates = {"velocity": velocity, "acceleration": acceleration, "torque": torque, "jerk": jerk}
        twin = self._twin()
        at, now = twin._coordinates, twin._limits
        twin._extra = overrides.with_limits(twin._model, at, now, twin._extra, position, rates)
        twin._rebuild()
        if not twin.q_in_joint_limits(twin._home):
            twin._home = twin._home_from(twin.clip_to_limits(twin._home))
        if not twin.q_in_joint_limits(twin.q):
            twin.update_configuration(twin.clip_to_limits(twin.q))
        return twin

    def with_motors(
        self, *, rotor_inertia: Any = None, gear_ratio: Any = None, damping: Any = None, friction: Any = None
    ) -> PinRobot:
        """A new robot with other motors; each a number, (nv,), or a mapping from joint names; what is left out stays.

        What is given for a joint that others mimic is all that is felt there, their own drives included.

        Args:
            rotor_inertia: Of the rotor about its axis [kg m^2]; felt at the joint times gear_ratio^2.
            gear_ratio: Turns of the rotor per turn of the joint.
            damping: Viscous friction [N m s/rad or N s/m].
            friction: Coulomb friction [N m or N].
        """
        given = {"rotor_inertia": rotor_inertia, "gear_ratio": gear_ratio, "damping": damping, "friction": friction}
        twin = self._twin()
        overrides.with_motors(twin._model, twin._coordinates, given)
        twin._rebuild()
        return twin

    def with_payload(self, mass: Any, com: Any = None, inertia: Any = None, frame: str | None = None) -> PinRobot:
        """A new robot that carries a body.

        Args:
            mass: [kg].
            com: Centre of mass in the frame (3,) [m]; None is its origin.
            inertia: About the centre of mass, axes of the frame (3, 3) [kg m^2]; None is a point mass.
            frame: Frame the body is fixed to; None is the tcp.
        """
        name = self._frame(frame)
        twin = self._twin()
        overrides.with_payload(twin._model, twin._model.frames[twin._frame_id(name)], mass, com, inertia)
        twin._rebuild()
        return twin
