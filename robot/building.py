"""Building a robot joint by joint."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import pinocchio as pin

from .body import PinBody
from .collision_pairs import HOME, PairNames, hulls
from .collision_queries import CollisionQueries
from .couplings import Coupling
from .draft import Draft
from .errors import InputTypeError
from .new_joint import NewJoint
from .pairing import add_pairs
from .rearranging import require_order
from .transformation import Transformation
from .wrapper import anchor


class Building(CollisionQueries):
    """Adding bodies and joints, one by one or several at a time.

    `robot.model`, `robot.collision` and `robot.visual` show what has been added at once, and are new objects after
    each addition. With `update_kinematics=False` everything else (queries, names, sizes of q) stays as it was until
    `_update_kinematic`, or until another method changes the robot. The stored and the home configuration keep the
    values of the joints there were; new joints stand at zero, or at the bound next to it.
    """

    _draft: Draft | None = None
    _unpaired: tuple[str, ...] = ()
    _hulls = True
    """Whether meshes count by their convex hulls in collision checks."""

    @property
    def model(self) -> pin.Model:
        """Pinocchio's model: continuous joints as (cos, sin), joints that mimic uncoupled."""
        return self._model if self._draft is None else self._draft.model

    @property
    def collision(self) -> pin.GeometryModel:
        """Pinocchio's collision geometry, empty if there is none."""
        return self._collision if self._draft is None else self._draft.collision

    @property
    def visual(self) -> pin.GeometryModel:
        """Pinocchio's visual geometry, empty if there is none."""
        return self._visual if self._draft is None else self._draft.visual

    def _add_body(self, body: PinBody, parent_joint: int | str, parent_frame_id: int) -> tuple[int, list[int]]:
        """Add a body where a frame is: its link, mass and geometry.

        Its collision geometry is in no pair until a joint is added with `update_home_collisions=True`, or
        `_update_home_collisions` is called. On the world (joint 0, frame 0) it stands at the robot's base.

        Args:
            body: The body; its frame is named after it.
            parent_joint: Index or name of the joint that carries it.
            parent_frame_id: Index of a frame of that joint, on which the body is put.

        Returns:
            Index of the body's frame in `model.frames`, and the indices of its collision geometries.
        """
        draft = self._open()
        joint = draft.joint_index(parent_joint, "parent_joint")
        frame = draft.frame_of_joint(parent_frame_id, joint, "parent_frame_id")
        if not isinstance(body, PinBody):
            raise InputTypeError(f"body must be a PinBody, got {type(body).__name__}")
        draft.require_new_names([(body.name, pin.FrameType.BODY)], [body])
        first = draft.collision.ngeoms
        link = draft.add_body(body, joint, frame)
        model = draft.model
        model.inertias[joint] = model.inertias[joint] + model.frames[link].placement.act(body.spatial_inertia)
        if self._draft is None:
            self._take_over(draft)
        return link, list(range(first, first + len(body.collision)))

    def _add_joint(
        self,
        joint: Any,
        parent: int | str,
        bodies: PinBody | Iterable[PinBody] = (),
        fixed_joints: Sequence[pin.Frame] = (),
        inertia: pin.Inertia | None = None,
        update_kinematics: bool = True,
        update_home_collisions: bool = True,
        *,
        joint_placement: Any = None,
        joint_name: str = "",
        max_effort: Any = None,
        max_velocity: Any = None,
        min_config: Any = None,
        max_config: Any = None,
        friction: Any = None,
        damping: Any = None,
        armature: Any = None,
        coupling: Coupling | None = None,
    ) -> int:
        """Add a joint and the bodies it carries.

        Joints are kept in depth-first order, outside which Pinocchio's mass matrix is wrong: the new one comes after
        all that hangs on its parent, and joints further on move up by one. Keep names rather than indices.

        Args:
            joint: Pinocchio's joint model, such as `pin.JointModelRZ()`.
            parent: Index or name of the joint it hangs on; 0 or "universe" is the base.
            bodies: The links of the joint: the first in the joint's frame, each other one at the fixed joint before it.
            fixed_joints: Frames between the bodies, one fewer than these. Their placements are relative to the new
                joint, as `pin.Frame` has it; their parents are filled in.
            inertia: Inertia in the joint's frame that the joint carries in all; None is the sum of the bodies'.
            update_kinematics: False leaves queries as they are until `_update_kinematic`.
            update_home_collisions: Pair the collision geometries that are in no pair yet with all others, but for
                those fixed to them, those of neighbouring links, and those in contact at home. False leaves them out
                of collision checks.
            joint_placement: Pose of the joint in its parent joint, or in the base.
            joint_name: A new name; if empty, a random one.
            max_effort: Greatest torque or force; a number or (nv,). None is no limit; nor is 0, as in a URDF.
            max_velocity: Greatest speed, likewise.
            min_config: Lowest position, a number or (nq,) as Pinocchio has it; None is no limit.
            max_config: Highest position, likewise.
            friction: Coulomb friction, a number or (nv,).
            damping: Viscous friction, likewise.
            armature: Inertia added on the joint itself, likewise.
            coupling: The joint that this one mimics; it then has no entry in q.

        Returns:
            Index of the joint in `model.joints`.

        Raises:
            InputError: if something cannot be added; the robot is as before.
        """
        draft = self._open()
        options = {
            "min_config": min_config,
            "max_config": max_config,
            "max_velocity": max_velocity,
            "max_effort": max_effort,
            "friction": friction,
            "damping": damping,
            "armature": armature,
        }
        new = NewJoint.create(
            draft, joint, parent, joint_placement, joint_name, bodies, fixed_joints, inertia, coupling, options
        )
        index = new.put_into(draft)
        draft.pair_up |= bool(update_home_collisions)
        if update_kinematics:
            self._take_over(draft)
        else:
            self._draft = draft
        return index

    def _update_kinematic(self) -> None:
        """Take up the joints and bodies added with `update_kinematics=False`, and what was edited by hand."""
        self.refresh()

    def _update_home_collisions(self) -> None:
        """Pair the collision geometries added without pairs, as `_add_joint` does by default."""
        draft = self._open()
        draft.pair_up = True
        if self._draft is None:
            self._take_over(draft)

    def refresh(self) -> None:
        """Take up joints added so far and changes made to `model`, `collision` or `visual` by hand.

        The stored state is kept if it fits.
        """
        require_order(self.model)
        for geometry in (self.collision, self.visual):
            anchor(self.model, geometry)
        if self._draft is None:
            super().refresh()
        else:
            self._take_over(self._draft)

    def _commit(self) -> None:
        """Take up what was added before another method changes the robot."""
        if self._draft is not None:
            self._take_over(self._draft)

    def _twin(self) -> Self:
        """A copy in which all that was added is taken up."""
        twin = copy.deepcopy(self)
        twin._commit()
        return twin

    def _base_moved(self, displacement: Transformation) -> None:
        self._commit()
        super()._base_moved(displacement)

    def _open(self) -> Draft:
        """The draft there is, or a new one that is dropped unless it is taken over."""
        if self._draft is not None:
            return self._draft
        return Draft(
            self._model.copy(),
            self._collision.copy(),
            self._visual.copy(),
            self._placement.se3(),
            self._couplings,
            list(self._unpaired),
            carried=self._carried_frames,
        )

    def _take_over(self, draft: Draft) -> None:
        """Make the draft the robot; joints there were keep what is stored for them."""
        positions = [self.joint_values(q) for q in (self._home, self.q)]
        rates = [{name: rate[at] for name, (_, at) in self.coordinate_slices().items()} for rate in self._state[1:]]
        before = dict(self.__dict__)
        self._model, self._collision, self._visual = draft.model, draft.collision, draft.visual
        self._couplings, self._unpaired, self._draft = draft.couplings, tuple(draft.unpaired), None
        try:
            self._rebuild()
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        start, rest = self.clip_to_limits(self.neutral()), np.zeros(self.nv)
        home, q = (self._named(self._existing(values), start, 0, "q") for values in positions)
        dq, ddq = (self._named(self._existing(values), rest, 1, "dq") for values in rates)
        self._home = self._home_from(home)
        self.update_configuration(q, dq, ddq)
        if self._hulls:
            hulls(self._collision)
        if draft.pair_up and self._unpaired:
            self._pair_up()

    def _pair_up(self) -> None:
        """Pair the geometries that are in no pair yet, but for what touches at home."""
        names, self._unpaired = set(self._unpaired), ()
        self._excluded |= add_pairs(self._model, self._collision, names)
        self._rebuild()
        checker = self._checker()
        titles = PairNames(self._model, self._collision)
        touching = [titles.named((int(i), int(j))) for i, j in checker.pairs[checker.contacts(self._home, 0.0)]]
        self.remove_collision_pairs([pair for pair in touching if names & set(pair)], HOME)

    def _existing(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name in self._coordinates.by_name}
