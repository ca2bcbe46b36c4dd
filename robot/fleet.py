"""Fleet: several robots side by side, their states in flat arrays, selections by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .arrays import Array, refuse_look_alikes
from .base import RobotBase
from .errors import InputError, InputTypeError
from .fleet_layout import RobotLayout
from .fleet_selection import Index, Selection, select, tools


class IndexedView:
    """A live view of chosen entries of an array: reading gathers, writing scatters.

    Bind one to a port once, and each step reads or writes through to the array. (`array[index]` alone is a copy.)
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array, self.index = array, index

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is seen."""
        return tuple(self.array[self.index].shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.array[self.index], dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.array[self.index][key]

    def __setitem__(self, key: Any, value: Any) -> None:
        seen = self.array[self.index]
        seen[key] = value
        self.array[self.index] = seen

    def __len__(self) -> int:
        return int(self.shape[0])


class Fleet:
    """Robots controlled together. They are borrowed: never written, and their later changes are seen.

    Flat arrays hold one robot after the other: `joint_q (joint_coord_count,)`, `joint_qd (joint_dof_count,)`. The
    same robot may appear several times, as machines of one kind with states of their own. Robots of one kind are
    evaluated together, so hand in the same object rather than copies where you can.

    Args:
        robots: The robots, any `RobotBase`.
        labels: One name per robot, all different; by default the robots' names, numbered where they repeat.
    """

    def __init__(self, robots: Iterable[RobotBase], labels: Iterable[str] | None = None) -> None:
        if isinstance(robots, RobotBase):
            robots = [robots]
        if not isinstance(robots, Iterable) or isinstance(robots, set | frozenset):
            raise InputTypeError(f"robots must be a list of robots, got {type(robots).__name__}")
        self.robots: tuple[RobotBase, ...] = tuple(robots)
        if not self.robots:
            raise InputError("robots is empty; a fleet needs at least one robot")
        for i, robot in enumerate(self.robots):
            if not isinstance(robot, RobotBase):
                raise InputTypeError(f"robots[{i}] must be a robot (RobotBase), got {type(robot).__name__}")
        self.labels = _labels(self.robots, labels)
        self._distinct = tuple({id(robot): robot for robot in self.robots}.values())
        self._layouts = {id(robot): RobotLayout(robot) for robot in self._distinct}
        self._count()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are laid out anew: layouts are kept by the identity of the robots."""
        return type(self), (self.robots, self.labels)

    def _count(self) -> None:
        layouts = [self._layouts[id(robot)] for robot in self.robots]
        self.q_offsets = _offsets([layout.nq for layout in layouts])
        self.qd_offsets = _offsets([layout.nv for layout in layouts])
        self.joint_offsets = _offsets([len(layout.joints) for layout in layouts])
        self.body_offsets = _offsets([len(layout.bodies) for layout in layouts])

    def layout(self, robot: int) -> RobotLayout:
        """How the robot of this index is laid out."""
        return self._layouts[id(self.robots[robot])]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.labels[:4])) + (", ..." if len(self.labels) > 4 else "")
        return f"<Fleet of {self.articulation_count} robots ({shown}), {self.joint_dof_count} dof>"

    def __len__(self) -> int:
        return len(self.robots)

    @property
    def version(self) -> tuple[Any, ...]:
        """Changes when the structure of a robot does; what was derived for another version is stale."""
        return tuple([getattr(robot, "version", 0) for robot in self._distinct])

    @property
    def distinct(self) -> tuple[RobotBase, ...]:
        """The robots, each once."""
        return self._distinct

    @property
    def articulation_count(self) -> int:
        """Number of robots."""
        return len(self.robots)

    @property
    def joint_coord_count(self) -> int:
        """Length of a flat configuration."""
        return int(self.q_offsets[-1])

    @property
    def joint_dof_count(self) -> int:
        """Length of a flat velocity."""
        return int(self.qd_offsets[-1])

    @property
    def body_count(self) -> int:
        """Number of bodies: per robot its base and what each joint moves."""
        return int(self.body_offsets[-1])

    @property
    def max_dofs_per_articulation(self) -> int:
        """Degrees of freedom of the largest robot."""
        return int(np.diff(self.qd_offsets).max())

    @property
    def joint_names(self) -> list[str]:
        """Names of all joints, robot by robot: what a joint's index counts."""
        return [name for i in range(len(self.robots)) for name in self.layout(i).joints]

    @property
    def body_names(self) -> list[str]:
        """Names of all bodies, `label/joint that moves it`; the first of each robot is its base."""
        return [f"{label}/{name}" for i, label in enumerate(self.labels) for name in self.layout(i).bodies]

    @property
    def frame_offsets(self) -> Index:
        """Index of each robot's first frame, and the total (A + 1,)."""
        return _offsets([len(self.layout(i).frames) for i in range(len(self.robots))])

    @property
    def joint_q_start(self) -> Index:
        """First entry of every joint in the flat configuration, and the total (J + 1,)."""
        return self._starts(self.q_offsets, 0)

    @property
    def joint_qd_start(self) -> Index:
        """First entry of every joint in the flat velocity, and the total (J + 1,)."""
        return self._starts(self.qd_offsets, 1)

    def _starts(self, offsets: Index, which: int) -> Index:
        starts = []
        for i, offset in enumerate(offsets[:-1]):
            layout = self.layout(i)
            starts += [offset + at.start for at in (layout.q_slices, layout.v_slices)[which]]
        return np.array([*starts, offsets[-1]], dtype=np.intp)

    def joint_q(self) -> Array:
        """The stored configurations of the robots as one flat array (joint_coord_count,)."""
        return np.concatenate([robot.q for robot in self.robots])

    def select(self, articulations: Any = None, joints: Any = None) -> Selection:
        """The joints to control.

        Args:
            articulations: Robots by index, label, glob or compiled regular expression (full match), alone or in a
                list; None takes all.
            joints: Joints likewise, by index into `joint_names` or name; None takes every joint of one coordinate
                and one degree of freedom. Patterns leave other joints out.

        Raises:
            InputError: if an entry matches nothing, a joint is given twice, or one that is named or indexed has
                several degrees of freedom.
        """
        return select(self, articulations, joints)

    def tools(self, robots: Sequence[int], tool_sites: Any) -> tuple[str, ...]:
        """The frame of each of `robots` that `tool_sites` (index, name, pattern, or a list of these) selects."""
        return tools(self, robots, tool_sites)

    def view(self, array: Array, index: Any) -> IndexedView:
        """A live view of `array[index]`, for ports: `inputs.joint_q_des = fleet.view(q, controller.q_start)`."""
        if not isinstance(array, np.ndarray):
            raise InputTypeError(f"array must be a numpy array, so that the view is live, got {type(array).__name__}")
        refuse_look_alikes(index, "index")
        if isinstance(array, np.ma.MaskedArray):
            raise InputTypeError("array must be a plain numpy array, got a masked one; use its .data or fill it in")
        try:
            seen = array[index]
        except (IndexError, TypeError, ValueError) as error:
            raise InputError(f"index does not fit an array of shape {array.shape}: {error}") from None
        if not isinstance(seen, np.ndarray):
            raise InputError(f"index must choose an array, not the one number at {index!r}; give [{index!r}]")
        return IndexedView(array, index)


def as_fleet(fleet: Any, name: str = "fleet") -> Fleet:
    """A fleet, or the fleet of one robot."""
    if isinstance(fleet, Fleet):
        return fleet
    if isinstance(fleet, RobotBase):
        return Fleet([fleet])
    raise InputTypeError(f"{name} must be a Fleet or a robot, got {type(fleet).__name__}")


def _offsets(sizes: list[int]) -> Index:
    offsets = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=offsets[1:])
    offsets.setflags(write=False)
    return offsets


def _numbered(names: list[str]) -> tuple[str, ...]:
    """The names, numbered where they repeat, past numbers that are another robot's name."""
    counts, next_number = Counter(names), Counter[str]()
    taken = {name for name, count in counts.items() if count == 1}
    found = []
    for name in names:
        label = name
        while counts[name] > 1 and (label == name or label in taken):
            label = f"{name}_{next_number[name]}"
            next_number[name] += 1
        taken.add(label)
        found.append(label)
    return tuple(found)


def _labels(robots: Sequence[RobotBase], labels: Iterable[str] | None) -> tuple[str, ...]:
    if labels is None:
        return _numbered([robot.name for robot in robots])
    if isinstance(labels, str | set | frozenset) or not isinstance(labels, Iterable):
        raise InputTypeError(f"labels must be a list of names, got {labels!r}")
    given = tuple(labels)
    for label in given:
        if not isinstance(label, str):
            raise InputTypeError(f"labels must be names, got {label!r} among them")
    if len(given) != len(robots):
        raise InputError(f"labels must have {len(robots)} entries, one per robot, got {len(given)}")
    label, count = Counter(given).most_common(1)[0]
    if count > 1:
        raise InputError(f"labels must differ, but {label!r} is given {count} times")
    return given
