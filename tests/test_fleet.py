"""Fleets: how their arrays are laid out, and what selections mean."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError, UnknownNameError
from knuckle.robot.fleet import as_fleet

from .planar_arm import PlanarArm
from .samples import load

ARM, LEGS, HEAD = load("sevenr_arm"), load("quadruped"), load("pan_tilt_continuous")
FLEET = Fleet([ARM, LEGS, HEAD, ARM], ["left arm", "dog", "head", "right arm"])


def names(selection: Any) -> list[str]:
    found = []
    for robot, joints in zip(selection.robots, selection.joints, strict=True):
        found += [f"{FLEET.labels[robot]}/{FLEET.robots[robot].joints[joint]}" for joint in joints]
    return found


def test_counts_and_starts() -> None:
    assert FLEET.articulation_count == len(FLEET) == 4
    assert FLEET.joint_coord_count == 7 + 19 + 2 + 7
    assert FLEET.joint_dof_count == 7 + 18 + 2 + 7
    assert FLEET.max_dofs_per_articulation == 18
    assert FLEET.joint_qd_start.tolist() == [*range(7), 7, *range(13, 25), 25, 26, *range(27, 34), 34]
    assert FLEET.joint_q_start.tolist() == [*range(7), 7, *range(14, 26), 26, 27, *range(28, 35), 35]
    assert FLEET.body_count == (7 + 1) + (13 + 1) + (2 + 1) + (7 + 1) == len(FLEET.body_names)
    assert len(FLEET.joint_names) == 7 + 13 + 2 + 7
    np.testing.assert_array_equal(FLEET.joint_q()[7:26], LEGS.q)


def test_labels_are_names_numbered_where_they_repeat() -> None:
    assert Fleet([ARM, HEAD, ARM]).labels == (f"{ARM.name}_0", HEAD.name, f"{ARM.name}_1")
    assert Fleet(ARM).labels == (ARM.name,) == as_fleet(ARM).labels
    assert as_fleet(FLEET) is FLEET
    assert "left arm" in repr(FLEET)


def test_everything_of_one_coordinate_is_selected_by_default() -> None:
    selection = FLEET.select()
    assert selection.robots == (0, 1, 2, 3)
    assert selection.dof_counts.tolist() == [7, 12, 2, 7]
    assert selection.qd_start.tolist() == [*range(7), *range(13, 25), 25, 26, *range(27, 34)]
    assert selection.q_start.tolist() == [*range(7), *range(14, 26), 26, 27, *range(28, 35)]
    assert np.flatnonzero(selection.continuous).tolist() == [19, 20]


@pytest.mark.parametrize(
    ("articulations", "robots"),
    [
        (2, [2]),
        ([3, 0], [0, 3]),
        ("head", [2]),
        ("*arm", [0, 3]),
        (["head", "*arm"], [0, 2, 3]),
        (re.compile(r"(left|right) arm"), [0, 3]),
        (["left*", 0, re.compile("left.*")], [0]),
        (np.array([1, 2]), [1, 2]),
    ],
)
def test_robots_by_index_name_and_pattern(articulations: Any, robots: list[int]) -> None:
    assert list(FLEET.select(articulations).robots) == robots


@pytest.mark.parametrize(
    ("joints", "expected"),
    [
        ("joint3", ["left arm/joint3", "right arm/joint3"]),
        (["joint3", "joint1"], ["left arm/joint3", "left arm/joint1", "right arm/joint3", "right arm/joint1"]),
        ("joint[12]", ["left arm/joint1", "left arm/joint2", "right arm/joint1", "right arm/joint2"]),
        (re.compile("p.*"), ["head/pan"]),
        ([4, "pan"], ["left arm/joint5", "head/pan"]),
        (["joint[12]", "joint[23]"], [f"{a} arm/joint{i}" for a in ("left", "right") for i in (1, 2, 3)]),
        (["joint2", "joint[12]"], [f"{a} arm/joint{i}" for a in ("left", "right") for i in (2, 1)]),
    ],
)
def test_joints_by_index_name_and_pattern(joints: Any, expected: list[str]) -> None:
    assert names(FLEET.select(joints=joints)) == expected


def test_patterns_leave_joints_of_several_coordinates_out() -> None:
    assert FLEET.select("dog", "*").dof_counts.tolist() == [12]


@pytest.mark.parametrize(
    ("articulations", "joints", "error", "words"),
    [
        (4, None, InputError, "out of range"),
        (-1, None, InputError, "out of range"),
        ("cat", None, UnknownNameError, "articulations"),
        ("Head", None, UnknownNameError, "did you mean 'head'"),
        ("ead", None, UnknownNameError, "head"),
        (re.compile("hea"), None, UnknownNameError, "hea"),
        ([], None, InputError, "empty"),
        (1.5, None, InputTypeError, "1.5"),
        (True, None, InputTypeError, "True"),
        ({"head"}, None, InputTypeError, "articulations"),
        (re.compile(b"head"), None, InputTypeError, "articulations"),
        (None, "joint9", UnknownNameError, "joints"),
        (None, ["joint1", "nothing*"], UnknownNameError, "nothing"),
        ("head", "joint1", UnknownNameError, "joints"),
        ("head", 0, InputError, "index 0"),
        (None, 29, InputError, "out of range"),
        (None, ["joint1", "joint1"], InputError, "twice"),
        (None, [0, "joint1"], InputError, "twice"),
        (None, [0, 0], InputError, "twice"),
        (None, "root_joint", InputError, "several degrees of freedom"),
        (None, 7, InputError, "several degrees of freedom"),
        (None, [None], InputTypeError, "None"),
    ],
)
def test_bad_selections(articulations: Any, joints: Any, error: type[Exception], words: str) -> None:
    if joints == "root_joint":
        joints = LEGS.joints[0]
    with pytest.raises(error, match=re.escape(words)):
        FLEET.select(articulations, joints)


def test_tools_by_index_name_and_pattern() -> None:
    assert FLEET.tools([0, 3], "tool") == ("tool", "tool")
    assert FLEET.tools([0, 2], ["tool", "lens"]) == ("tool", "lens")
    assert FLEET.tools([0], re.compile("too.")) == ("tool",)
    index = int(FLEET.frame_offsets[2]) + HEAD.frames.index("lens")
    assert FLEET.tools([2], index) == ("lens",)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("lens", "tool_sites"),
        ("*", "exactly one"),
        (["tool", "link7"], "exactly one"),
        (["tool", "nowhere*"], "nowhere"),
        ([], "empty"),
        (None, "tool_sites"),
        (10_000, "10000"),
    ],
)
def test_bad_tools(tools: Any, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        FLEET.tools([0, 3], tools)


@pytest.mark.parametrize(
    ("robots", "labels", "words"),
    [
        ([], None, "at least one"),
        (3, None, "list of robots"),
        ([ARM, "arm"], None, r"robots\[1\]"),
        ([ARM, HEAD], ["a"], "2 entries"),
        ([ARM, HEAD], ["a", "a"], "differ"),
        ([ARM, HEAD], ["a", 3], "names"),
        ([ARM, HEAD], "ab", "list of names"),
    ],
)
def test_bad_fleets(robots: Any, labels: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Fleet(robots, labels)


def test_a_view_reads_and_writes_through() -> None:
    array, index = np.arange(6.0), np.array([4, 1])
    view = FLEET.view(array, index)
    array[4] = 40.0
    assert view[:].tolist() == np.asarray(view).tolist() == [40.0, 1.0] and view.shape == (2,) and len(view) == 2
    view[...] = [7.0, 8.0]
    view[1] += 1.0
    assert array.tolist() == [0, 9, 2, 3, 7, 5]
    with pytest.raises(InputError, match="index"):
        FLEET.view(array, [9])
    with pytest.raises(InputTypeError, match="live"):
        FLEET.view([1.0, 2.0], [0])  # type: ignore[arg-type]


def test_any_robot_can_join() -> None:
    fleet = Fleet([PlanarArm(), ARM])
    assert fleet.select(0).qd_start.tolist() == [0, 1, 2]
    assert fleet.version == (0, ARM.version)
