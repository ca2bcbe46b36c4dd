"""Rollouts against single closed loops, against the path in numpy, and against closed forms."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError, PinRobot
from knuckle.controllers import (
    ControllerJointImpedance,
    ControllerJointImpedanceModelFree,
    ControllerOperationalSpace,
    Wall,
    closed_loop,
    rollout,
)
from knuckle.robot import native

from .controller_paths import PATHS
from .planar_arm import PlanarArm
from .robot_cases import Array, close, shared, state
from .samples import load, path_of

ARM, LEGS = load("sevenr_arm"), load("quadruped")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
WALL = SimpleNamespace(point=[0.0, 0.0, 0.62], normal=[0.0, 0.0, 1.0], stiffness=5e3, damping=50.0)
both_paths = pytest.mark.parametrize("backend", PATHS)


def impedance(robots: Any, **options: Any) -> ControllerJointImpedance:
    return ControllerJointImpedance(robots, **({"stiffness": 64.0, "damping": 16.0} | options))


def operational(robots: Any, **options: Any) -> ControllerOperationalSpace:
    gains = {"tool_sites": "tool", "motion_stiffness": 100.0, "motion_damping": 20.0}
    return ControllerOperationalSpace(robots, **(gains | options))


def holding(controller: Any, robot: PinRobot, q: Array) -> Any:
    """Inputs whose targets are the robot at q."""
    inputs, count = controller.input(), controller.controlled_robot_count
    if isinstance(controller, ControllerJointImpedance):
        inputs.joint_q_des[:] = np.tile(q, count)
    else:
        T = robot.fk(q, frame="tool")
        inputs.desired_tool_pose_operational[:] = np.concatenate((T.translation, T.quat_xyzw))
        if inputs.joint_q_des_null is not None:
            inputs.joint_q_des_null[:] = np.tile(q, count)
    return inputs


def away(count: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return START + rng.uniform(-0.3, 0.3, (count, 7)), rng.normal(size=(count, 7)) / 4


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


def legs_state(count: int) -> tuple[Array, Array]:
    q, dq, _ = zip(*(state(LEGS, i) for i in range(count)), strict=True)
    return np.concatenate(q), np.concatenate(dq)


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


GOOD: dict[str, Any] = {"x0": (START, np.zeros(7)), "dt": 1e-3, "steps": 10}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": 3}, "model"),
    ({"controller": ControllerJointImpedanceModelFree(7, stiffness=1.0, damping=1.0)}, "controller must be"),
    ({"x0": START}, "x0 must be"),
    ({"x0": (START,)}, "x0 must be"),
    ({"x0": (START[:6], np.zeros(7))}, "x0: q must hold 7"),
    ({"x0": (START, np.zeros(8))}, "x0: dq must hold 7"),
    ({"x0": (START * np.nan, np.zeros(7))}, "x0: q must be finite"),
    ({"x0": (np.tile(START, (3, 1)), np.zeros((2, 7)))}, "as many"),
    ({"x0": ("a", "b")}, "x0: q"),
    ({"dt": 0.0}, "dt"),
    ({"dt": np.nan}, "dt"),
    ({"steps": 0}, "steps"),
    ({"steps": 1.5}, "steps"),
    ({"every": 3}, "every must divide"),
    ({"every": 0}, "every"),
    ({"friction": 1}, "friction"),
    ({"motor_inertia": None}, "motor_inertia"),
    ({"threads": 0}, "threads"),
    ({"progress": 3}, "progress"),
    ({"walls": 3}, "walls must have point"),
    ({"walls": [3]}, "walls must have point"),
    ({"walls": SimpleNamespace(point=[0, 0, 0], normal=[0, 0, 2.0], stiffness=1.0, damping=0.0)}, "unit length"),
    ({"walls": SimpleNamespace(point=[0, 0, 0], normal=[0, 0, 1.0], stiffness=-1.0, damping=0.0)}, "negative"),
    ({"walls": WALL, "frame": "tcq"}, "tcq"),
    ({"inputs": None}, "inputs"),
    ({"model": load("sixr_arm")}, "x0"),
    ({"steps": 10**9, "every": 1}, "record less often"),
]


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
