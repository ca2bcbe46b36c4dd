"""What hostile use of fleets brought up: selections, labels, masks and buffers."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError, PinRobot, eval_inverse_dynamics_passive
from knuckle.controllers import (
    ControllerJointImpedanceModelFree,
)

from .controller_cases import ARM, HEAD, SIX, SPRING, impedance, step

FLEET = Fleet([ARM, SIX, HEAD], ["a", "b", "head"])
MASKED = np.ma.masked_array([0, 1], mask=[False, True])


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (10**30, "out of range"),
        (-(10**30), "out of range"),
        ([0, 2**63], "out of range"),
        (np.array([[0], [1]]), "shape (2, 1)"),
        (np.array(1.5), "1.5"),
        (np.array([True, False]), "True"),
        (MASKED, "masked"),
        (bytearray(b"\x00\x01"), "bytearray"),
        (memoryview(b"\x00"), "memoryview"),
        (b"joint1", "bytes"),
        (object(), "object"),
        (iter([0]), "iterator"),
        ([[0], [1, 2]], "[0]"),
    ],
)
def test_odd_selections_are_refused_by_name(selection: Any, words: str) -> None:
    for select, name in (
        (lambda: FLEET.select(articulations=selection), "articulations"),
        (lambda: FLEET.select(joints=selection), "joints"),
        (lambda: impedance(FLEET, joints=selection), "joints"),
    ):
        with pytest.raises(InputError, match=rf"{name}.*{re.escape(words)}"):
            select()
    if words != "out of range":
        with pytest.raises(InputError, match=rf"tool_sites.*{re.escape(words)}"):
            FLEET.tools([0], selection)


def test_arrays_without_axes_and_odd_kinds_of_index_select() -> None:
    assert FLEET.select(joints=np.array(3)).joints == ((3,),)
    assert FLEET.select(articulations=np.array(1)).robots == FLEET.select(articulations=np.int8(1)).robots == (1,)
    assert FLEET.select(articulations=np.array("b")).robots == (1,)
    assert FLEET.select(joints=range(3)).joints == ((0, 1, 2),)
    assert FLEET.tools([0], np.array(ARM.frames.index("tool"))) == ("tool",)


@pytest.mark.parametrize(
    ("robots", "words"),
    [
        ([5], "out of range"),
        ([-1], "out of range"),
        (["a"], "'a'"),
        ([1.5], "1.5"),
        ([[0], [1, 2]], "[0]"),
        ({0}, "{0}"),
    ],
)
def test_tools_of_robots_that_are_not_there(robots: Any, words: str) -> None:
    with pytest.raises(InputError, match=rf"robots.*{re.escape(words)}"):
        FLEET.tools(robots, "tool")


@pytest.mark.parametrize("index", [3, np.int64(3), (), [[0], [1, 2]], "x", bytearray(b"\x01"), 1.5, [9], MASKED])
def test_views_need_an_index_of_several(index: Any) -> None:
    array = np.zeros(6)
    if isinstance(index, tuple):
        assert FLEET.view(array, index).shape == (6,)
        return
    with pytest.raises(InputError, match="index"):
        FLEET.view(array, index)
    with pytest.raises(InputTypeError, match="masked"):
        FLEET.view(np.ma.zeros(6), [1])


@pytest.mark.parametrize("mask", [[[True], [True, False]], bytearray(b"\1\1\1"), MASKED, [1, 0, 1], "abc", True])
def test_odd_masks_are_refused_by_name(mask: Any) -> None:
    q, qd = np.zeros(15), np.zeros(15)
    with pytest.raises(InputError, match="mask"):
        eval_inverse_dynamics_passive(FLEET, q, qd, mask=mask)


@pytest.mark.parametrize("odd", [bytearray(120), np.ma.masked_array(np.zeros(15), mask=[True] + [False] * 14)])
def test_look_alikes_of_arrays_are_refused_by_name(odd: Any) -> None:
    controller = impedance(FLEET)
    inputs = controller.input()
    inputs.joint_q = odd
    with pytest.raises(InputError, match=r"inputs\.joint_q"):
        step(controller, inputs)
    with pytest.raises(InputError, match="joint_q"):
        eval_inverse_dynamics_passive(FLEET, odd, np.zeros(15))
    with pytest.raises(InputTypeError, match="gravity_force"):
        eval_inverse_dynamics_passive(FLEET, np.zeros(15), np.zeros(15), gravity_force=odd)
    outputs = controller.output()
    outputs.joint_f = odd
    with pytest.raises(InputTypeError, match=r"outputs\.joint_f"):
        controller.step(inputs=controller.input(), outputs=outputs)
    for name in ("stiffness", "use_gravity_compensation", "torque_limits"):
        with pytest.raises(InputError, match=name):
            impedance(FLEET, **{name: odd})


@pytest.mark.parametrize("value", [[[True], [True, False]], bytearray(b"\1"), [[1], [1, 2]]])
def test_ragged_switches_and_counts_are_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match="use_gravity_compensation"):
        impedance(FLEET, use_gravity_compensation=value)
    with pytest.raises(InputError, match="continuous_dofs"):
        ControllerJointImpedanceModelFree([2], continuous_dofs=value, **SPRING)
    with pytest.raises(InputError, match="controlled_dofs_per_robot"):
        ControllerJointImpedanceModelFree(value, **SPRING)
    assert ControllerJointImpedanceModelFree(np.array(2), **SPRING).total_controlled_dofs == 2


def test_gravity_and_coriolis_need_buffers_of_their_own() -> None:
    q, qd, n = np.full(15, 0.2), np.full(15, 0.1), 15
    room = np.full(40, 5.0)
    overlapping: list[tuple[np.ndarray, np.ndarray]] = [
        (room[:n], room[:n]),
        (room[:n], room[n - 1 :: -1]),
        (room[:n], room[n - 1 : 2 * n - 1]),
        (room[: 2 * n : 2], room[2 * n - 2 :: -2]),
    ]
    for g, h in overlapping:
        with pytest.raises(InputError, match="share memory"):
            eval_inverse_dynamics_passive(FLEET, q, qd, gravity_force=g, coriolis_force=h)
    assert (room == 5.0).all()
    given = eval_inverse_dynamics_passive(FLEET, q, qd, gravity_force=room[:30:2], coriolis_force=room[1:31:2])
    for one, same in zip(given, eval_inverse_dynamics_passive(FLEET, q, qd), strict=True):
        np.testing.assert_array_equal(one, same)


def named(*names: str) -> list[PinRobot]:
    robots = [copy.deepcopy(HEAD) for _ in names]
    for robot, name in zip(robots, names, strict=True):
        robot._name = name
    return robots


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("a", "a", "a_0"), ("a_1", "a_2", "a_0")),
        (("a_1", "a", "a"), ("a_1", "a_0", "a_2")),
        (("a", "a", "a_0", "a_0"), ("a_0", "a_1", "a_0_0", "a_0_1")),
        (("a", "a_0", "a", "a_0_0", "a_0"), None),
    ],
)
def test_labels_made_from_names_differ(names: tuple[str, ...], labels: tuple[str, ...] | None) -> None:
    found = Fleet(named(*names)).labels
    assert len(set(found)) == len(names)
    assert labels is None or found == labels


def test_labels_and_robots_have_an_order() -> None:
    for labels in ({"a", "b"}, frozenset(("a", "b"))):
        with pytest.raises(InputTypeError, match="labels must be a list"):
            Fleet([ARM, SIX], labels)
    with pytest.raises(InputTypeError, match="robots must be a list"):
        Fleet({ARM, SIX})


def test_many_indices_are_looked_up_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    from knuckle.robot.fleet_layout import RobotLayout

    fleet, looks = Fleet([HEAD] * 300), [0]
    for name in ("hits", "frame_hits"):
        original = getattr(RobotLayout, name)

        def counted(self: Any, entry: Any, first: int, original: Any = original) -> Any:
            looks[0] += 1
            return original(self, entry, first)

        monkeypatch.setattr(RobotLayout, name, counted)
    order = np.random.default_rng(0).permutation(600)
    selection = fleet.select(joints=order)
    assert selection.dof_counts.tolist() == [2] * 300
    assert looks[0] == 600
    swapped = [order.tolist().index(2 * k) > order.tolist().index(2 * k + 1) for k in range(300)]
    assert [joints == (1, 0) for joints in selection.joints] == swapped
    sites = fleet.frame_offsets[:-1] + HEAD.frames.index("lens")
    assert fleet.tools(range(300), sites) == ("lens",) * 300
    assert looks[0] == 900
