"""Names of frames of a Pinocchio model, unique even where a joint and a link share one."""

from __future__ import annotations

from collections.abc import Collection

import pinocchio as pin

from .errors import InputError

KINDS = {
    pin.FrameType.OP_FRAME: "frame",
    pin.FrameType.JOINT: "joint",
    pin.FrameType.FIXED_JOINT: "joint",
    pin.FrameType.BODY: "link",
    pin.FrameType.SENSOR: "sensor",
}
_PREFERENCE = ("frame", "link", "joint", "sensor")
"""Which frame a bare name means if several bear it."""


_TOOL_WORDS = ("tcp", "tool", "end_effector", "ee_link", "gripper", "hand")
"""What tools are called."""


class FrameTable:
    """Frames by name: `ids` takes names as listed, "link:a" or "joint:a" for a shared name, and the bare name.

    Args:
        model: Pinocchio's model.
        carried: Names of frames that are no tips, nor is what hangs on them.
    """

    def __init__(self, model: pin.Model, carried: Collection[str] = ()) -> None:
        kinds = [KINDS[frame.type] for frame in model.frames]
        bare = [str(frame.name) for frame in model.frames]
        counts: dict[str, int] = {}
        for name in bare:
            counts[name] = counts.get(name, 0) + 1
        self.names = [name if counts[name] == 1 else f"{kind}:{name}" for name, kind in zip(bare, kinds, strict=True)]
        self.ids = {name: index for index, name in enumerate(self.names)}
        for preferred in _PREFERENCE:
            for index, (name, kind) in enumerate(zip(bare, kinds, strict=True)):
                if kind == preferred:
                    self.ids.setdefault(name, index)
        self.ids_in_order = list(range(len(self.names)))
        self._tips = _tips(model, carried)

    def default_tip(self) -> str:
        """The last frame on the longest chain of joints.

        Raises:
            InputError: if several chains are equally long, as for a gripper, two arms or four legs.
        """
        if len(self._tips) > 1:
            tips = ", ".join(repr(self.names[index]) for index in self._tips)
            tools = [n for n in self.names if any(word in n.lower() for word in _TOOL_WORDS)] or [
                self.names[self._tips[0]]
            ]
            raise InputError(
                f"the robot has several tips ({tips}), so the tcp must be chosen among its frames, for example "
                f"{tools[-1]!r}: tcp={tools[-1]!r} when loading, or robot.tcp = {tools[-1]!r}"
            )
        return self.names[self._tips[0]]


def _tips(model: pin.Model, carried: Collection[str]) -> list[int]:
    """The last frames of the joints of greatest depth that are no sensors, and of these those of the longest chain."""
    depth = [0] * model.njoints
    for joint in range(1, model.njoints):
        depth[joint] = depth[model.parents[joint]] + 1
    foreign: set[int] = set()
    for i, frame in enumerate(model.frames):
        if frame.name in carried or frame.parentFrame in foreign:
            foreign.add(i)
    last = {
        frame.parentJoint: i
        for i, frame in enumerate(model.frames)
        if frame.type != pin.FrameType.SENSOR and i not in foreign
    }
    deepest = max(depth)
    tips = [last[joint] for joint in range(model.njoints) if depth[joint] == deepest and joint in last]
    lengths = [_frames_above(model, tip) for tip in tips]
    return [tip for tip, length in zip(tips, lengths, strict=True) if length == max(lengths)]


def _frames_above(model: pin.Model, frame: int) -> int:
    count = 0
    while frame > 0 and count < model.nframes:
        frame, count = model.frames[frame].parentFrame, count + 1
    return count
