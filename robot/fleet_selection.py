"""Which robots of a fleet are controlled, by which joints, at which tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, InputTypeError
from .fleet_matching import Entry, check_index, entries_of, in_turn, is_explicit, matches, no_match

if TYPE_CHECKING:
    from .fleet import Fleet

Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The controlled joints of a fleet, in the order of the compact ports.

    Attributes:
        robots: Index of each controlled robot (R,).
        joints: Per controlled robot, its controlled joints as indices into its own `joints`.
        q_start: Entry of each controlled joint in the flat configuration (D,).
        qd_start: Entry of each controlled joint in the flat velocity (D,).
        dof_counts: Controlled joints of each robot (R,).
        continuous: Whether a joint is an angle without end (D,).
    """

    robots: tuple[int, ...]
    joints: tuple[tuple[int, ...], ...]
    q_start: Index
    qd_start: Index
    dof_counts: Index
    continuous: NDArray[np.bool_]


def select(fleet: Fleet, articulations: Any, joints: Any) -> Selection:
    """The selection meant by `articulations` and `joints`, see `Fleet.select`."""
    chosen = _robots(fleet, articulations)
    found = _joints(fleet, chosen, None if joints is None else entries_of(joints, "joints"))
    robots = tuple(robot for robot in chosen if found[robot])
    if not robots:
        raise InputError("joints: no robot is left with a joint of one coordinate and one degree of freedom")
    q_start, qd_start, continuous = [], [], []
    for robot in robots:
        layout = fleet.layout(robot)
        for joint in found[robot]:
            q_start.append(fleet.q_offsets[robot] + layout.q_slices[joint].start)
            qd_start.append(fleet.qd_offsets[robot] + layout.v_slices[joint].start)
            continuous.append(layout.continuous[joint])
    return Selection(
        robots,
        tuple(tuple(found[robot]) for robot in robots),
        _frozen(np.array(q_start, dtype=np.intp)),
        _frozen(np.array(qd_start, dtype=np.intp)),
        _frozen(np.array([len(found[robot]) for robot in robots], dtype=np.intp)),
        _frozen(np.array(continuous, dtype=bool)),
    )


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _robots(fleet: Fleet, articulations: Any) -> list[int]:
    if articulations is None:
        return list(range(fleet.articulation_count))
    chosen: set[int] = set()
    at = {label: i for i, label in enumerate(fleet.labels)}
    for entry in entries_of(articulations, "articulations"):
        if isinstance(entry, int):
            chosen.add(check_index(entry, fleet.articulation_count, "robot", "articulations"))
            continue
        if isinstance(entry, str) and entry in at:
            chosen.add(at[entry])
            continue
        hits = matches(entry, fleet.labels)
        if not hits:
            raise no_match(entry, "robot", "articulations", fleet.labels)
        chosen.update(hits)
    return sorted(chosen)


def _joints(fleet: Fleet, robots: list[int], entries: list[Entry] | None) -> dict[int, list[int]]:
    """Per robot the indices of its controlled joints, in the order of the entries, then model order."""
    if entries is None:
        return {robot: list(fleet.layout(robot).single) for robot in robots}
    matched = [False] * len(entries)
    concerning = in_turn(entries, fleet.joint_offsets.tolist())
    found = {robot: _joints_of_one(fleet, robot, entries, concerning(robot), matched) for robot in robots}
    for entry, hit in zip(entries, matched, strict=True):
        if not hit:
            if isinstance(entry, int):
                check_index(entry, len(fleet.joint_names), "joint", "joints")
            names = [name for robot in robots for name in fleet.layout(robot).joints]
            raise no_match(entry, "joint", "joints", names)
    return found


def _joints_of_one(
    fleet: Fleet, robot: int, entries: list[Entry], concerning: list[int], matched: list[bool]
) -> list[int]:
    layout, first = fleet.layout(robot), int(fleet.joint_offsets[robot])
    order: dict[int, None] = {}
    named: set[int] = set()
    for k in concerning:
        entry = entries[k]
        hits = layout.hits(entry, first)
        if not is_explicit(entry):
            hits = [joint for joint in hits if joint in layout.single]
        for joint in hits if is_explicit(entry) else ():
            if joint not in layout.single:
                raise InputError(
                    f"joints: {layout.joints[joint]!r} of robot {fleet.labels[robot]!r} has several degrees of "
                    "freedom; only joints of one coordinate and one degree of freedom can be controlled"
                )
            if joint in named:
                raise InputError(f"joints: {layout.joints[joint]!r} of robot {fleet.labels[robot]!r} is given twice")
            named.add(joint)
        matched[k] |= bool(hits)
        order.update(dict.fromkeys(hits))
    return list(order)


def _indices(fleet: Fleet, robots: Any) -> list[int]:
    """Robots given by index."""
    none = isinstance(robots, Sequence | np.ndarray) and not len(robots)
    entries = [] if none else entries_of(robots, "robots")
    for entry in entries:
        if not isinstance(entry, int):
            raise InputTypeError(f"robots must hold indices, got {entry!r}; fleet.select takes names and patterns")
    return [check_index(entry, fleet.articulation_count, "robot", "robots") for entry in entries if type(entry) is int]


def tools(fleet: Fleet, robots: Sequence[int], tool_sites: Any, argument: str = "tool_sites") -> tuple[str, ...]:
    """The one frame of each of `robots` that `tool_sites` selects; `argument` is what errors call it.

    Raises:
        InputError: if a robot matches none or several, or an entry matches nowhere.
    """
    entries, robots = entries_of(tool_sites, argument), _indices(fleet, robots)
    matched = [False] * len(entries)
    chosen: list[str] = []
    offsets = fleet.frame_offsets.tolist() if any(isinstance(entry, int) for entry in entries) else None
    concerning = in_turn(entries, offsets or [0])
    for robot in robots:
        layout, first = fleet.layout(robot), 0 if offsets is None else offsets[robot]
        found: dict[str, None] = {}
        for k in concerning(robot):
            entry = entries[k]
            hits = layout.frame_hits(entry, first)
            matched[k] |= bool(hits)
            found.update(dict.fromkeys(hits))
        if len(found) != 1:
            known = layout.frames
            if not found and len(entries) == 1:
                raise no_match(entries[0], "frame", f"{argument}, robot {fleet.labels[robot]!r}", known)
            listed = ", ".join(map(repr, list(found)[:8])) or "none"
            raise InputError(
                f"{argument} must match exactly one frame of each controlled robot; of {fleet.labels[robot]!r} "
                f"it matches {len(found)} ({listed}); name one of its frames, or add one with robot.add_frame"
            )
        chosen.append(next(iter(found)))
    for entry, hit in zip(entries, matched, strict=True):
        if not hit:
            raise no_match(entry, "frame", argument, [name for r in robots for name in fleet.layout(r).frames])
    return tuple(chosen)
