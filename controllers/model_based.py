"""The half of a controller that asks robots for their dynamics."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError
from ..robot.fleet import Fleet, as_fleet
from ..robot.fleet_bases import from_its_base
from ..robot.fleet_selection import Index, Selection
from ..robot.fleet_terms import RobotTerms, same_model, terms_of
from .gains import UNSET
from .groups import Group, ModelGroup

if TYPE_CHECKING:
    from .base import Controller

    _Base = Controller
else:
    _Base = object


class ModelProperties(_Base):
    """What model-based controllers say about their selection, and what they keep of it."""

    _model: FleetModel
    _DERIVED: ClassVar[tuple[str, ...]] = ("_groups", "_kept")

    @property
    def model_robot_count(self) -> int:
        """Number of robots of the fleet, controlled or not."""
        return self._model.fleet.articulation_count

    @property
    def q_start(self) -> Index:
        """Entry of each controlled joint in a flat configuration (D,)."""
        return self._model.selection.q_start

    @property
    def qd_start(self) -> Index:
        """Entry of each controlled joint in a flat velocity (D,): `joint_f[controller.qd_start] = outputs.joint_f`."""
        return self._model.selection.qd_start

    @property
    def robot_labels(self) -> tuple[str, ...]:
        """Labels of the controlled robots (R,)."""
        return tuple(self._model.fleet.labels[robot] for robot in self._model.selection.robots)

    def _label(self, member: int) -> str:
        return repr(self.robot_labels[member])

    def _settle(self, group: Group) -> None:
        if self._limits_follow:  # the robots' own limits may have changed with them
            limits = self._model.torque_limits(group.members).reshape(group.dofs.shape)
            group.dofs.put(self._fixed["torque_limits"][1], limits)
        super()._settle(group)

    def __copy__(self) -> Self:
        twin: Self = super().__copy__()
        twin._model, twin._fixed = copy.copy(self._model), copy.deepcopy(self._fixed)
        return twin


class FleetModel:
    """A fleet, what is controlled of it, and its robots in groups of one model.

    The groups follow the robots: a change of structure (a base moved, a frame added, `refresh` after an edit of the
    model) is taken up at the next step.
    """

    def __init__(
        self, fleet: Any, articulations: Any, joints: Any, tool_sites: Any = UNSET, *, native: bool = True
    ) -> None:
        self.native = native
        self.fleet: Fleet = as_fleet(fleet)
        self.selection: Selection = self.fleet.select(articulations, joints)
        self.tools: tuple[str, ...] | None = None
        if tool_sites is not UNSET:
            self.tools = self.fleet.tools(self.selection.robots, tool_sites)
        self._seen: Any = None

    def stale(self) -> bool:
        """Whether a robot has changed since the groups were made."""
        return bool(self._seen != self.fleet.version)

    def __getstate__(self) -> dict[str, Any]:
        """All but which versions were seen: copies make groups of their own."""
        self._check_sizes()  # a copy of the fleet is laid out anew, the selection is not
        return self.__dict__ | {"_seen": None}

    def torque_limits(self, members: Index | None = None) -> Array:
        """The robots' own torque limits at the controlled joints (D,), or those of some of the controlled robots."""
        parts = []
        for k in range(len(self.selection.robots)) if members is None else members.tolist():
            robot, joints = self.selection.robots[k], self.selection.joints[k]
            columns = self._columns(robot, joints)
            parts.append(self.fleet.robots[robot].limits.torque[columns])
        return np.concatenate(parts)

    def _columns(self, robot: int, joints: tuple[int, ...]) -> Index:
        layout = self.fleet.layout(robot)
        return np.array([layout.v_slices[joint].start for joint in joints], dtype=np.intp)

    def tool_bodies(self) -> tuple[Index, Array]:
        """Body of each tool among the fleet's (R,), and the tool's pose in it (R, 4, 4)."""
        assert self.tools is not None
        fleet, found = self.fleet, []
        for robot, frame in zip(self.selection.robots, self.tools, strict=True):
            body, T = terms_of(fleet.robots[robot]).body_of(frame)
            found.append((fleet.body_offsets[robot] + body, T))
        return np.array([body for body, _ in found], dtype=np.intp), np.array([T for _, T in found])

    def groups(self, offsets: Index, switches: list[Any]) -> list[ModelGroup]:
        """The controlled robots in groups; `switches` holds what is on for each of them."""
        members: dict[Any, list[int]] = {}
        models = self._models()
        for k, (robot, joints) in enumerate(zip(self.selection.robots, self.selection.joints, strict=True)):
            frame = None if self.tools is None else self.tools[k]
            members.setdefault((models[id(self.fleet.robots[robot])], joints, frame, switches[k]), []).append(k)
        made = []
        for (model, joints, frame, on), which in members.items():
            made.append(self._group(which, offsets, joints, on, model, frame))
        self._seen = self.fleet.version
        return made

    def _group(
        self, which: list[int], offsets: Index, joints: tuple[int, ...], on: Any, model: SharedModel, frame: str | None
    ) -> ModelGroup:
        fleet, robots = self.fleet, np.array([self.selection.robots[k] for k in which])
        layout = fleet.layout(int(robots[0]))
        wrap = np.array([layout.continuous[joint] for joint in joints])
        group = ModelGroup(which, offsets, len(joints), wrap, on)
        q = fleet.q_offsets[robots][:, None] + np.arange(layout.nq)
        qd = fleet.qd_offsets[robots][:, None] + np.arange(layout.nv)
        positions = np.array([layout.q_slices[joint].start for joint in joints], dtype=np.intp)
        terms, bases = model.terms, None
        if model.moved and group.one:
            terms = terms_of(fleet.robots[robots[0]], self.native, 1)
        elif model.moved:
            bases = np.array([fleet.robots[robot].placement.homogeneous for robot in robots])
        return group.bind(terms, frame, bases, (q, qd), positions, self._columns(int(robots[0]), joints))

    def _models(self) -> dict[int, SharedModel]:
        """For each robot object the model it shares with others, or has alone."""
        self._check_sizes()
        kinds: dict[Any, list[list[int]]] = {}
        for i, robot in enumerate(self.fleet.distinct):
            sets = kinds.setdefault((robot.name, robot.nq, robot.nv), [])
            same = next((found for found in sets if same_model(robot, self.fleet.distinct[found[0]])), None)
            if same is None:
                sets.append([i])
            else:
                same.append(i)
        shared: dict[int, SharedModel] = {}
        for sets in kinds.values():
            for model, which in _across_bases(sets, self.fleet, self.native):
                shared.update({id(self.fleet.distinct[i]): model for i in which})
        return shared

    def _check_sizes(self) -> None:
        for robot in self.fleet.distinct:
            layout = self.fleet._layouts[id(robot)]
            if (robot.nq, robot.nv) != (layout.nq, layout.nv):
                raise InputError(
                    f"robot {robot.name!r} has changed its number of joints since the fleet was made; make it anew"
                )


@dataclass(frozen=True, slots=True, eq=False)
class SharedModel:
    """Terms that several robots share; `moved` if they are those of a base at the origin."""

    terms: RobotTerms
    moved: bool


def _across_bases(sets: list[list[int]], fleet: Fleet, native: bool) -> list[tuple[SharedModel, list[int]]]:
    """Robots of equal models, joined where only their bases differ."""
    if len(sets) == 1:
        return [(SharedModel(terms_of(fleet.distinct[sets[0][0]], native, 1), False), sets[0])]
    kinds: list[tuple[Any, list[list[int]]]] = []
    for which in sets:
        standing = from_its_base(fleet.distinct[which[0]])
        alike = None if standing is None else next((k for k in kinds if k[0] is not None and standing.like(k[0])), None)
        if alike is None:
            kinds.append((standing, [which]))
        else:
            alike[1].append(which)
    found = []
    for standing, joined in kinds:
        robot = fleet.distinct[joined[0][0]] if len(joined) == 1 else standing.robot
        found.append((SharedModel(terms_of(robot, native, 1), len(joined) > 1), [i for which in joined for i in which]))
    return found


def one_state(fleet: Fleet, state: Any) -> tuple[Array, Array]:
    """Configuration (nq,) and velocity (nv,) of the one robot of a fleet, as scripts give them.

    Args:
        fleet: A fleet of one robot.
        state: A robot (its stored state), (q, dq), q alone, or None for the stored state; arrays or mappings.
    """
    if len(fleet) != 1:
        raise InputError(f"torque() is for one robot, but this controller has a fleet of {len(fleet)}; use step()")
    robot = fleet.robots[0]
    if state is None:
        return robot.q, robot.dq
    if hasattr(state, "update_configuration"):
        return robot._single(state.q), robot._rate(state.dq, robot.dq, "dq")
    if isinstance(state, tuple) and len(state) == 2:
        return robot._single(state[0]), robot._rate(state[1], np.zeros(robot.nv), "dq")
    return robot._single(state), np.zeros(robot.nv)
