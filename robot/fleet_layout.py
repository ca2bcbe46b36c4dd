"""How one robot of a fleet is laid out: its joints, where they stand, its frames; shared by robots that are one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .base import RobotBase
from .fleet_matching import Entry, matches


class RobotLayout:
    """What the flat arrays and the selections of a fleet need to know about a robot."""

    def __init__(self, robot: RobotBase) -> None:
        self.robot = robot
        self.nq, self.nv = robot.nq, robot.nv
        self.joints: list[str] = list(robot.joints)
        slices = robot.coordinate_slices()
        self.q_slices = [slices[name][0] for name in self.joints]
        self.v_slices = [slices[name][1] for name in self.joints]
        sizes = [(q.stop - q.start, v.stop - v.start) for q, v in zip(self.q_slices, self.v_slices, strict=True)]
        self.single = dict.fromkeys(i for i, size in enumerate(sizes) if size == (1, 1))
        self.continuous = self._continuous()
        self.bodies: list[str] = list(robot.parents)
        self._hits: dict[Entry, list[int]] = {}
        self._frame_hits: dict[Entry, list[str]] = {}
        self._frames: list[str] = []
        self._frames_of: Any = None

    def _continuous(self) -> list[bool]:
        """A joint is an angle without end if a full turn is no step."""
        start = self.robot.neutral()
        turned = start.copy()
        for joint in self.single:
            turned[self.q_slices[joint]] += math.tau
        step = np.abs(self.robot._difference(start, turned))
        return [joint in self.single and bool(step[v.start] < 1.0) for joint, v in enumerate(self.v_slices)]

    @property
    def frames(self) -> list[str]:
        """Names of the frames as they are now."""
        version = getattr(self.robot, "version", None)
        if version is None or version != self._frames_of:
            self._frames, self._frames_of = list(self.robot.frames), version
            self._frame_hits.clear()
        return self._frames

    def hits(self, entry: Entry, first: int) -> list[int]:
        """The joints an entry means; `first` is the fleet's index of this robot's first joint."""
        if isinstance(entry, int):
            return [entry - first] if 0 <= entry - first < len(self.joints) else []
        if entry not in self._hits:
            self._hits[entry] = matches(entry, self.joints)
        return self._hits[entry]

    def frame_hits(self, entry: Entry, first: int) -> list[str]:
        """The frames an entry means; `first` is the fleet's index of this robot's first frame."""
        frames = self.frames
        if isinstance(entry, int):
            return [frames[entry - first]] if 0 <= entry - first < len(frames) else []
        if entry not in self._frame_hits:
            found = [frames[i] for i in matches(entry, frames)]
            if not found and isinstance(entry, str) and self.robot._has_frame(entry):
                found = [entry]  # the bare name of a link and a joint that share one
            self._frame_hits[entry] = found
        return self._frame_hits[entry]
