"""Rollouts against single closed loops, against the path in numpy, and against closed forms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet
from knuckle.controllers import (
    Wall,
    closed_loop,
    rollout,
)
from knuckle.robot import native

from .controller_paths import PATHS
from .robot_cases import close, shared, state
from .rollout_cases import (
    ARM,
    LEGS,
    START,
    away,
    both_paths,
    holding,
    impedance,
    operational,
)


@both_paths
def test_every_joint_follows_the_damped_oscillator(backend: str) -> None:
    """Decoupled and critically damped: e(t) = e0 (1 + w t) exp(-w t)."""
    controller, w = impedance(ARM, backend=backend), 8.0
    q0, _ = away(5)
    found = rollout(
        ARM,
        controller,
        (q0, np.zeros(7)),
        2.5e-4,
        1000,
        inputs=holding(controller, ARM, START),
        every=200,
        friction=False,
        motor_inertia=False,
    )
    assert found and found.q.shape == (6, 5, 7) and found.time[-1] == 0.25
    shrunk = (1 + w * found.time) * np.exp(-w * found.time)
    np.testing.assert_allclose(found.q - START, shrunk[:, None, None] * (q0 - START), atol=1e-3)


@both_paths
@pytest.mark.parametrize("kind", ["impedance", "operational", "limited"])
def test_a_rollout_is_as_many_closed_loops(kind: str, backend: str) -> None:
    fleet = Fleet([ARM] * 3)
    make: Any = impedance if kind == "impedance" else operational
    posture = {"use_null_space_control": True, "null_space_stiffness": 10.0, "null_space_damping": 6.0}
    options = {"impedance": {}, "operational": posture, "limited": {"torque_limits": 15.0}}[kind]
    controller, single = make(fleet, **options, backend=backend), make(ARM, **options, backend="numpy")
    q0, dq0 = away(3)
    found = rollout(fleet, controller, (q0, dq0), 1e-3, 100, inputs=holding(controller, ARM, START), every=1)
    target = {"q_des": START} if kind == "impedance" else {"pose_des": ARM.fk(START, frame="tool")}
    if kind == "operational":
        target["q_null"] = START
    for i in range(3):
        alone = closed_loop.run(
            ARM,
            lambda t, q, dq: single.torque((q, dq), **target),
            q=q0[i],
            dq=dq0[i],
            duration=0.1,
            dt=1e-3,
        )
        close(found.q[:, i], alone.q, 1e-9)
        close(found.dq[:, i], alone.dq, 1e-8)
        close(found.tau[:, i], alone.tau, 1e-8)
        recording = found.recording(i)
        assert recording and recording.q_names == alone.q_names
        close(recording.tool_pose, alone.tool_pose, 1e-9)


@pytest.mark.skipif(not native.AVAILABLE, reason="compares with the kernel")
@pytest.mark.parametrize("name", ["quadruped", "panda_on_wheels", "kinova", "solo12_floating", "mixed"])
def test_both_paths_agree_on_every_kind_of_joint(name: str) -> None:
    robot = LEGS if name == "quadruped" else shared(name)
    count, results = 5, []
    q0, dq0, _ = zip(*(state(robot, i) for i in range(count)), strict=True)
    for backend in PATHS:
        fleet = Fleet([robot] * count)
        # on a base that rolls away, taking the inertia out of the arm alone is unstable
        wheels = {"use_inertia_decoupling": False, "stiffness": 1.0, "damping": 0.05}
        options = wheels if name == "panda_on_wheels" else {"stiffness": 20.0, "damping": 5.0}
        controller = impedance(fleet, **options, backend=backend)
        inputs = controller.input()
        inputs.joint_q_des[:] = np.concatenate(q0)[controller.q_start]
        results.append(rollout(fleet, controller, (np.array(q0), np.array(dq0)), 2e-4, 60, inputs=inputs, every=20))
    fast, plain = results
    close(fast.q, plain.q, 1e-9)
    close(fast.dq, plain.dq, 1e-7)
    close(fast.tau, plain.tau, 1e-7)
    for q in fast.q[-1]:
        np.testing.assert_allclose(robot.clip_to_limits(q).shape, q.shape)
        robot.fk(q, kind="joints")  # unit quaternions stay so, or this is refused


def test_a_free_body_spins_and_falls_as_textbooks_say() -> None:
    """A quadruped whose joints nothing moves against is one body: its centre of mass falls freely."""
    controller = impedance(
        LEGS, stiffness=4e3, damping=120.0, use_gravity_compensation=False, use_coriolis_compensation=False
    )
    q0, dq0 = LEGS.home_configuration, np.zeros(LEGS.nv)
    dq0[:6] = [0.1, -0.2, 2.0, 0.3, 0.2, 0.5]
    inputs = controller.input()
    inputs.joint_q_des[:] = q0[controller.q_start]
    found = rollout(LEGS, controller, (q0, dq0), 5e-4, 400, inputs=inputs, every=100, friction=False)
    import pinocchio as pin

    data = LEGS.model.createData()
    com = [
        np.array(pin.centerOfMass(LEGS.model, data, q, dq)) for q, dq in zip(found.q[:, 0], found.dq[:, 0], strict=True)
    ]
    start = np.array(pin.centerOfMass(LEGS.model, data, q0, dq0))
    speed = np.array(data.vcom[0])
    t = found.time[:, None]
    expected = start + speed * t + 0.5 * np.array([0, 0, -9.81]) * t * t
    np.testing.assert_allclose(com, expected, atol=2e-3)


@both_paths
def test_a_wall_holds_the_tool_where_spring_and_wall_balance(backend: str) -> None:
    """Pressed with 20 N the tool stands 20 N / stiffness inside the wall; the force measured is the wall's."""
    options = {
        "use_wrench_feedforward": True,
        "use_wrench_feedback": True,
        "wrench_stiffness": 0.5,
        "motion_selection_axes": [1, 1, 0, 1, 1, 1],
        "wrench_selection_axes": [0, 0, 1, 0, 0, 0],
        "backend": backend,
    }
    controller = operational(ARM, **options)
    inputs = holding(controller, ARM, START)
    inputs.desired_wrench_world[:] = [0, 0, -20.0, 0, 0, 0]
    depth = ARM.fk(START, frame="tool").translation[2]
    wall = Wall.create([0, 0, depth], [0, 0, 2.0], 5e3, 400.0)
    found = rollout(
        ARM, controller, (START, np.zeros(7)), 1e-3, 1500, inputs=inputs, walls=wall, friction=False, every=1500
    )
    assert found
    z = found.recording(0).tool_pose[-1, 2, 3]
    np.testing.assert_allclose((depth - z) * 5e3, 20.0, atol=0.05)


@both_paths
def test_contact_is_that_of_a_closed_loop(backend: str) -> None:
    wall = Wall.create(ARM.fk(START, frame="tool").translation, [0.3, -0.2, 1.0], 2e3, 100.0)
    controller, single = operational(ARM, backend=backend), operational(ARM, backend="numpy")
    target = ARM.fk(START + 0.1, frame="tool")
    inputs = holding(controller, ARM, START + 0.1)
    q0, dq0 = away(2)
    found = rollout(ARM, controller, (q0, dq0), 1e-3, 100, inputs=inputs, walls=[wall, wall], every=1)
    for i in range(2):
        alone = closed_loop.run(
            ARM,
            lambda t, q, dq: single.torque((q, dq), target),
            q=q0[i],
            dq=dq0[i],
            duration=0.1,
            frame="tool",
            walls=[wall, wall],
        )
        close(found.q[:, i], alone.q, 1e-8)


def test_walls_push_only_outwards_and_where_they_are() -> None:
    controller = impedance(ARM, stiffness=0.0, damping=0.0)
    inputs = holding(controller, ARM, START)
    q0 = np.array([START, START + 0.2])
    far = SimpleNamespace(point=[0, 0, -50.0], normal=[0, 0, 1.0], stiffness=5e3, damping=50.0)
    plain = rollout(ARM, controller, (q0, np.zeros(7)), 1e-3, 50, inputs=inputs)
    close(rollout(ARM, controller, (q0, np.zeros(7)), 1e-3, 50, inputs=inputs, walls=[far]).q, plain.q, 1e-14)
    near = SimpleNamespace(point=[0, 0, 5.0], normal=[0, 0, 1.0], stiffness=50.0, damping=0.0)
    lifted = rollout(ARM, controller, (q0, np.zeros(7)), 1e-3, 50, inputs=inputs, walls=near, frame="tool")
    tool = [ARM.fk(found.q[-1], frame="tool")[:, 2, 3] for found in (plain, lifted)]
    assert (tool[1] > tool[0] + 1e-4).all()
