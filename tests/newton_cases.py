"""The recorded cases of `tests/data/newton`: their arrays, and robots set up as they were."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import Fleet, PinRobot, Transformation

from .samples import ROOT

FOLDER = ROOT / "tests" / "data"
TOOL = "site"


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / "newton" / "cases.json").read_text(encoding="utf-8"))
    return document


@cache
def _numbers() -> dict[str, NDArray[Any]]:
    with np.load(FOLDER / "newton" / "numbers.npz") as archive:
        return dict(archive)


def cases(controller: str) -> list[Any]:
    return [case for case in _document()["cases"] if case["controller"] == controller]


def arrays(case: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """The arrays of a case, float32 as recorded but for `joint_f_ref64`."""
    found = {}
    for name, (kind, start, shape) in case["arrays"].items():
        found[name] = _numbers()[kind][start : start + int(np.prod(shape))].reshape(shape)
    return found


@cache
def _robot(key: str, gravity: tuple[float, ...], armature: float) -> PinRobot:
    spec = _document()["robots"][key]
    root = "floating" if spec["urdf"] == "solo12" else "fixed"
    robot = PinRobot.from_urdf(FOLDER / "urdf" / f"{spec['urdf']}.urdf", gravity=gravity, root_joint=root)
    if spec["base_pose"] is not None:
        robot.set_base_placement(_pose(spec["base_pose"]))
    if armature:
        robot.model.armature = np.full(robot.model.nv, armature)
        robot.refresh()
    if spec.get("tool_link"):
        robot.add_frame(TOOL, spec["tool_link"], _pose(spec["tool_offset"]))
    return robot


def _pose(values: Any) -> Transformation:
    return Transformation.from_quat_xyzw(values[3:], values[:3])


def fleet(case: dict[str, Any]) -> Fleet:
    robots = [_robot(key, tuple(case["gravity"]), case["armature"]) for key in case["robots"]]
    return Fleet(robots, [_document()["robots"][key]["label"] for key in case["robots"]])
