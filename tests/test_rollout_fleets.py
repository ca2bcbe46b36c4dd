"""Rollouts of many: who moves, gains, threads, losses, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError, PinRobot
from knuckle.controllers import (
    rollout,
)

from .planar_arm import PlanarArm
from .robot_cases import shared
from .rollout_cases import (
    ARM,
    GOOD,
    REFUSED,
    START,
    away,
    both_paths,
    holding,
    impedance,
    operational,
)
from .samples import load, path_of


@both_paths
def test_what_moves_need_not_be_what_the_controller_believes(backend: str) -> None:
    """Under a load it does not know of, an arm hangs lower by M^-1 of the weight over the stiffness."""
    loads = [0.0, 0.5, 1.0]
    fleet = Fleet([ARM.with_payload(mass) if mass else ARM for mass in loads])
    controller = impedance(ARM, stiffness=400.0, damping=40.0, backend=backend)
    found = rollout(
        fleet,
        controller,
        (START, np.zeros(7)),
        1e-3,
        2000,
        inputs=holding(controller, ARM, START),
        friction=False,
        motor_inertia=False,
    )
    for q, robot in zip(found.q[-1], fleet.robots, strict=True):
        static = ARM.mass_matrix(q) @ (400.0 * (START - q)) + ARM.gravity_force(q)
        np.testing.assert_allclose(static, robot.gravity_force(q), atol=1e-3)


def test_gains_may_differ_from_trajectory_to_trajectory() -> None:
    stiffness = np.repeat([25.0, 100.0, 400.0], 7)
    controller = impedance(Fleet([ARM] * 3), stiffness=stiffness, damping=2 * np.sqrt(stiffness))
    found = rollout(
        ARM, controller, (START + 0.1, np.zeros(7)), 1e-3, 300, inputs=holding(controller, ARM, START), friction=False
    )
    error = np.abs(found.q[-1] - START).max(axis=1)
    assert error[0] > 2 * error[1] > 4 * error[2]


@pytest.mark.parametrize("threads", [2, 3, None])
def test_neither_threads_nor_who_watches_change_a_bit(threads: int | None) -> None:
    fleet = Fleet([ARM] * 50)
    controller = operational(fleet)
    inputs, x0 = holding(controller, ARM, START), away(50)
    told: list[tuple[int, int]] = []
    one = rollout(fleet, controller, x0, 1e-3, 60, inputs=inputs, every=20, threads=1)
    many = rollout(
        fleet,
        controller,
        x0,
        1e-3,
        60,
        inputs=inputs,
        every=20,
        threads=threads,
        progress=lambda done, steps: told.append((done, steps)),
    )
    for name in ("joint_q", "joint_qd", "joint_f", "time", "lost_at"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert told[-1] == (60, 60) and [done for done, _ in told] == sorted({done for done, _ in told})


@both_paths
def test_a_robot_that_is_lost_leaves_the_others_alone(backend: str) -> None:
    fleet = Fleet([ARM] * 5)
    q0, dq0 = away(5)
    stiffness, damping = np.full(35, 64.0), np.full(35, 16.0)
    controller = impedance(fleet, stiffness=stiffness, damping=damping, backend=backend)
    inputs = holding(controller, ARM, START)
    sound = rollout(fleet, controller, (q0, dq0), 1e-3, 50, inputs=inputs, every=10)
    wild, damping_of_one = damping.copy(), slice(14, 21)
    wild[damping_of_one] = 1e6
    lost = rollout(
        fleet,
        impedance(fleet, stiffness=stiffness, damping=wild, backend=backend),
        (q0, dq0),
        1e-3,
        50,
        inputs=inputs,
        every=10,
    )
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(lost.q[:, others], sound.q[:, others])
    assert sound and not lost and 0 < lost.lost_at[2] < 50 and (lost.lost_at[others] == -1).all()
    assert np.isnan(lost.q[-1, 2]).all() and "lost" in lost.recording(2).message
    assert len(lost.recording(2)) < 6 and len(lost.recording(0)) == 6
    broken = copy.deepcopy(inputs)
    broken.joint_q_des[0] = np.nan
    assert rollout(fleet, controller, (q0, dq0), 1e-3, 50, inputs=broken).lost_at.tolist() == [0, -1, -1, -1, -1]


def test_any_robot_will_do_and_kinds_may_be_mixed() -> None:
    arm = PlanarArm()
    fleet = Fleet([ARM, arm, ARM], ["a", "b", "c"])
    controller = impedance(fleet)
    assert controller.backend in ("mixed", "numpy")
    inputs = controller.input()
    q0 = np.concatenate([START, np.full(arm.nq, 0.3), START + 0.1])
    inputs.joint_q_des[:] = q0
    found = rollout(fleet, controller, (q0, np.zeros(len(q0))), 1e-3, 40, inputs=inputs, every=20, friction=False)
    assert found and np.abs(found.joint_q[-1] - q0).max() < 1e-6
    with pytest.raises(InputError, match="joint_q"):
        found.q  # noqa: B018
    assert found.recording(1).q.shape == (3, arm.nq)


def test_the_step_is_of_first_order() -> None:
    controller = impedance(ARM, stiffness=100.0, damping=10.0)
    inputs, x0 = holding(controller, ARM, START), (START + 0.2, np.zeros(7))
    ends = [
        rollout(ARM, controller, x0, 0.2 / n, n, inputs=inputs, friction=False).q[-1, 0] for n in (50, 100, 200, 3200)
    ]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert 1.6 < errors[0] / errors[1] < 2.6 and 1.6 < errors[1] / errors[2] < 2.6


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_what_is_refused(change: dict[str, Any], words: str) -> None:
    controller = impedance(ARM)
    arguments = {"model": ARM, "controller": controller, "inputs": holding(controller, ARM, START)} | GOOD | change
    with pytest.raises((InputError, InputTypeError, ValueError), match=words):
        rollout(**arguments)


def test_ports_are_checked_and_neither_they_nor_robots_are_written() -> None:
    controller = impedance(ARM)
    inputs = holding(controller, ARM, START)
    before, stored = copy.deepcopy(inputs), ARM.q.copy()
    rollout(ARM, controller, (START + 0.1, np.zeros(7)), 1e-3, 10, inputs=inputs)
    for port in controller.live_ports:
        np.testing.assert_array_equal(getattr(inputs, port), getattr(before, port))
    np.testing.assert_array_equal(ARM.q, stored)
    inputs.joint_q_des = np.zeros(6)
    with pytest.raises(InputError, match="joint_q_des must have shape"):
        rollout(ARM, controller, (START, np.zeros(7)), 1e-3, 10, inputs=inputs)
    six = impedance(load("sixr_arm"))
    with pytest.raises(InputError, match="same joints"):
        rollout(shared("kinova"), six, (np.zeros(6), np.zeros(6)), 1e-3, 10, inputs=six.input())
    half = impedance(Fleet([ARM, ARM], ["a", "b"]), articulations="a")
    with pytest.raises(InputError, match="every robot"):
        rollout(Fleet([ARM, ARM]), half, (START, np.zeros(7)), 1e-3, 10, inputs=half.input())


def test_a_description_from_disk_runs_as_the_one_in_memory() -> None:
    other = PinRobot.from_urdf(path_of("sevenr_arm"))
    controller = impedance(ARM)
    inputs = holding(controller, ARM, START)
    runs = [rollout(robot, controller, (START + 0.1, np.zeros(7)), 1e-3, 20, inputs=inputs).q for robot in (ARM, other)]
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=1e-13)


def test_spans_beyond_measure_and_indices_that_are_none_are_refused() -> None:
    robot, start = ARM, (np.zeros(7), np.zeros(7))
    controller = impedance(robot)
    inputs = holding(controller, robot, np.zeros(7))
    with pytest.raises(InputError, match="dt must be at most"):
        rollout(robot, controller, start, 1e308, 5, inputs=inputs)
    found = rollout(robot, controller, start, 1e-3, 5, inputs=inputs)
    with pytest.raises(InputTypeError, match="whole number"):
        found.recording("first")  # type: ignore[arg-type]
