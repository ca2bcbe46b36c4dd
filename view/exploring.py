"""Explorer: one robot, moved joint by joint or by a target for its tool, and what is to be read off meanwhile.

Nothing here draws: sliders in a notebook and a live window both stand on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robot import InputError, InputTypeError, RobotBase, Transformation
from ..robot.arrays import Array, scalar
from ..robot.errors import unknown_name
from .assemble import Picture, picture
from .drawing import Moment
from .moving import has_tool

UNLIMITED = np.pi
"""How far a slider goes where a joint has no limit [rad or m]."""


@dataclass(frozen=True, slots=True)
class Slider:
    """One coordinate that can be moved by hand."""

    name: str
    index: int
    """Its place in q."""
    low: float
    high: float
    """Its range [rad or m]: the limits, where there are any."""


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """What is to be read off a configuration.

    Attributes:
        tcp: Pose of the tool; None if the robot has several tips and none was chosen.
        manipulability: Yoshikawa's measure there, NaN without a tool.
        collisions: What touches, in words; empty if nothing does or nothing is checked.
        target: Status and errors of the last target, in two lines; empty before the first.
    """

    tcp: Transformation | None
    manipulability: float
    collisions: str
    target: str

    def lines(self) -> list[str]:
        """The same as text."""
        found = []
        if self.tcp is not None:
            xyz = " ".join(f"{x:7.4f}" for x in self.tcp.translation)
            rpy = " ".join(f"{x:7.2f}" for x in np.degrees(self.tcp.rpy))
            found += [f"tcp xyz [m]   {xyz}", f"    rpy [deg] {rpy}", f"manipulability {self.manipulability:.4g}"]
        found.append(self.collisions or "no collisions")
        return [*found, *self.target.splitlines()]


class Explorer:
    """A robot to play with; the robot itself is never moved.

    Args:
        robot: The robot.
        q: Where to start (nq,) or mapping; None is the stored configuration.
        **options: What is drawn, see `knuckle.view.show`; collisions are by default, and the axes of the tool.
    """

    def __init__(self, robot: Any, q: Any = None, **options: Any) -> None:
        if not isinstance(robot, RobotBase):
            raise InputTypeError(f"robot must be a robot, got {type(robot).__name__}")
        self._collides = hasattr(robot, "has_collisions")
        tool = has_tool(robot)
        defaults = {"contacts": self._collides, "frames": "tcp" if tool else None}
        self.picture: Picture = picture(robot, q=q, **(defaults | options))
        self.robot: Any = robot
        self._task, self._margin = options.get("task"), options.get("safety_margin", 0.0)
        self._q, self._tool = self.picture.q.copy(), tool
        self._said = ""
        lower, upper = self.robot.joint_limits
        self.sliders = tuple(
            Slider(name, at.start, *_range(lower[at.start], upper[at.start]))
            for name, (at, _) in self.robot.coordinate_slices().items()
            if at.stop - at.start == 1
        )

    @property
    def q(self) -> Array:
        """Where the robot is (nq,); a copy."""
        return self._q.copy()

    @property
    def has_tool(self) -> bool:
        """Whether there is one tool, so that a target means something."""
        return self._tool

    @property
    def tcp(self) -> Transformation:
        """Pose of the tool."""
        return Transformation(self.robot.fk(self._q))

    def move(self, q: Any) -> Moment:
        """Go to q (nq,) or to the values of a mapping."""
        self._q = self.robot._single(q).copy()
        self._said = ""
        return self.moment()

    def turn(self, name: str, value: Any) -> Moment:
        """Move one coordinate."""
        for slider in self.sliders:
            if slider.name == name:
                self._q[slider.index] = scalar(value, name)
                self._said = ""
                return self.moment()
        raise unknown_name("joint with a slider", name, [slider.name for slider in self.sliders])

    def reach(self, target: Any) -> Any:
        """Go as near to a pose of the tool as the search gets from here, without a jump to another branch.

        Returns:
            The IKResult.
        """
        if not self._tool:
            raise InputError("target needs a tcp, and the robot has several tips; choose one with robot.tcp = ...")
        if target is None:
            raise InputTypeError("target must be a pose of the tool")
        result = self.robot.ik(target, q_init=self._q, allow_random_restart=False, rng=0, task=self._task)
        self._q = np.array(result.q)
        off = result.position_error
        distance = f"{off:.3g} m" if off >= 1.0 else f"{1e3 * off:.3g} mm"
        self._said = f"target {result.status.value}\noff by {distance} and {np.degrees(result.rotation_error):.3g} deg"
        return result

    def moment(self) -> Moment:
        """Where everything is now."""
        return self.picture.at(self._q)

    def readout(self) -> Readout:
        """What there is to read off now."""
        found = ""
        if self._collides and self.robot.has_collisions(self._task, self._margin, q=self._q):
            found = self.robot.collision_info(self._task, self._margin, q=self._q)
        if not self._tool:
            return Readout(None, float("nan"), found, self._said)
        return Readout(self.tcp, self.robot.manipulability_index(self._q), found, self._said)


def _range(low: float, high: float) -> tuple[float, float]:
    return (float(low) if np.isfinite(low) else -UNLIMITED, float(high) if np.isfinite(high) else UNLIMITED)
