"""The plant, its surroundings and its sensors: order, energy, contact, reproducibility."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, PinRobot
from knuckle.controllers import (
    CartesianAdmittance,
    ControllerJointImpedance,
    ControllerOperationalSpace,
    JointAdmittance,
    LoopReport,
    Measured,
    Sensing,
    Wall,
    WrenchProfile,
    closed_loop,
)
from knuckle.controllers.lie_step import LieStep
from knuckle.controllers.plant import INTEGRATORS

from .samples import load

ARM, LEGS = load("sevenr_arm"), load("quadruped")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
FREE: dict[str, Any] = {"friction": False, "motor_inertia": False}
LAW: dict[str, Any] = {"distal_link": "tool", "stiffness": 500.0, "damping": 140.0, "inertia": 5.0, "dt": 1e-3}


def passive(robot: PinRobot) -> Any:
    return lambda t, q, dq: np.zeros(robot.nv)


def thrown(robot: PinRobot, frame: str, **options: Any) -> Any:
    rng = np.random.default_rng(1)
    q, dq = robot.random_configuration(rng), rng.normal(size=robot.nv)
    return closed_loop.run(robot, passive(robot), duration=0.16, q=q, dq=dq, frame=frame, **(FREE | options))


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("rk4", 4)])
@pytest.mark.parametrize(("robot", "frame"), [(ARM, "tool"), (LEGS, "fl_foot")], ids=["arm", "floating"])
def test_energy_of_the_passive_plant_is_kept_to_the_order_of_the_integrator(
    robot: PinRobot, frame: str, integrator: str, order: int
) -> None:
    drift = []
    for dt in (8e-3, 4e-3, 2e-3):
        found = thrown(robot, frame, dt=dt, integrator=integrator)
        report = LoopReport.of(robot, found, tool=frame, **FREE)
        drift.append(abs(report.energy[-1] - report.energy[0]))
    rate = np.log2(np.divide(drift[:-1], drift[1:]))
    assert (np.abs(rate - order) < 0.35).all(), rate


def test_runge_and_kutta_keep_their_order_on_orientations() -> None:
    best = thrown(LEGS, "fl_foot", dt=5e-4, integrator="rk4")
    errors = []
    for dt in (8e-3, 4e-3):
        found = thrown(LEGS, "fl_foot", dt=dt, integrator="rk4")
        errors.append(np.abs(LEGS.difference(found.q[-1], best.q[-1])).max())
    assert errors[0] / errors[1] > 12.0 and errors[0] < 1e-7


def test_the_bracket_of_a_floating_base_is_that_of_rigid_motions() -> None:
    rng, lie = np.random.default_rng(0), LieStep(LEGS)
    u, v = 1e-2 * rng.normal(size=18), rng.normal(size=18)
    (vu, wu), (vv, wv) = (u[:3], u[3:6]), (v[:3], v[3:6])
    bracket = np.concatenate((np.cross(wu, vv) + np.cross(vu, wv), np.cross(wu, wv)))
    found = lie.rate(u, v)
    np.testing.assert_allclose(found[:6] - v[:6], 0.5 * bracket, atol=2e-4)
    np.testing.assert_array_equal(found[6:], v[6:])
    np.testing.assert_array_equal(LieStep(ARM).rate(START, START + 1), START + 1)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_all_work_is_accounted_for(integrator: str) -> None:
    controller = ControllerJointImpedance(ARM, stiffness=60.0, damping_ratio=1.0)
    push = WrenchProfile([0.0, 0.3], [[20.0, 0, 0, 0, 1.0, 0], [0, 0, 10.0, 0, 0, 0]], linear=True)
    drift = []
    for dt in (2e-3, 1e-3):
        found = closed_loop.run(
            ARM,
            controller,
            target={"q_des": START + 0.2},
            q=START,
            duration=0.5,
            dt=dt,
            wrench_ext=push,
            integrator=integrator,
        )
        report = LoopReport.of(ARM, found)
        drift.append(np.abs(report.drift).max())
        assert report.friction_loss[-1] > 0.0
        assert np.abs(report.drift).max() < 0.06 * np.abs(report.motor_work).max()
    assert drift[1] < 0.7 * drift[0]


def test_friction_stops_a_robot_with_either_integrator() -> None:
    rest = []
    for integrator in INTEGRATORS:
        found = closed_loop.run(
            ARM,
            lambda t, q, dq: ARM.gravity_force(q),
            q=START,
            dq=np.full(7, 0.3),
            duration=1.0,
            dt=2e-3,
            integrator=integrator,
        )
        energy = LoopReport.of(ARM, found).kinetic
        assert found and energy[-1] < 0.02 * energy[0] and (np.diff(energy[::25]) <= 1e-9).all()
        rest.append(found.q[-1])
    np.testing.assert_allclose(rest[0], rest[1], atol=5e-3)


# Reproducibility, noise, delay, rates


def test_a_run_is_reproducible_to_the_bit() -> None:
    def once(seed: int = 7) -> Any:
        controller = CartesianAdmittance(ARM, **LAW)
        noisy = Sensing(1e-4, 1e-3, 0.1, 0.5, 3e-3, seed)
        return closed_loop.run(
            ARM,
            controller,
            q=START,
            duration=0.1,
            wrench_ext=WrenchProfile([0.0], [[0, 0, -10.0, 0, 0, 0]]),
            sensing=noisy,
        )

    first, second, other = once(), once(), once(8)
    for name in ("q", "dq", "tau", "tool_pose", "wrench", "dq_command"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert not np.array_equal(first.q, other.q)


class Watch:
    def __init__(self) -> None:
        self.seen: list[Measured] = []

    def act(self, measured: Measured) -> Any:
        self.seen.append(measured)
        return np.full(7, float(len(self.seen)))


def test_measurements_come_late_and_commands_are_held() -> None:
    watch = Watch()
    options: dict[str, Any] = {"q": START, "duration": 0.02, "dt": 1e-3, "control_dt": 2e-3}
    found = closed_loop.run(ARM, watch, **options, sensing=Sensing(delay=4e-3))
    assert len(watch.seen) == 11 and found.tau[:4, 0].tolist() == [1.0, 1.0, 2.0, 2.0]
    for k, measured in enumerate(watch.seen):
        np.testing.assert_array_equal(measured.q, found.q[max(0, 2 * k - 4)])
        assert measured.time == pytest.approx(2e-3 * k)


def test_noise_has_the_deviation_asked_for() -> None:
    watch = Watch()
    found = closed_loop.run(
        ARM, watch, q=START, duration=0.5, sensing=Sensing(q_noise=0.01, wrench_noise=[1.0] * 3 + [0.1] * 3)
    )
    noise = np.array([measured.q for measured in watch.seen]) - found.q
    assert noise.std() == pytest.approx(0.01, rel=0.1)
    wrench = np.array([measured.wrench for measured in watch.seen])
    np.testing.assert_allclose(wrench.std(axis=0), [1.0] * 3 + [0.1] * 3, rtol=0.15)


def test_the_wrench_is_read_in_the_axes_of_the_tool() -> None:
    watch = Watch()
    push = np.array([1.0, 2, 3, 4, 5, 6])
    closed_loop.run(ARM, watch, q=START, duration=1e-3, wrench_ext=WrenchProfile([0.0], [push]))
    R = ARM.pose(START, "tool")[:3, :3]
    np.testing.assert_allclose(watch.seen[0].wrench, np.concatenate((R.T @ push[:3], R.T @ push[3:])), atol=1e-12)


def test_torques_are_cut_off() -> None:
    found = closed_loop.run(ARM, lambda t, q, dq: np.full(7, 1e3), duration=0.01, torque_limits="robot")
    np.testing.assert_array_equal(found.tau, np.tile(ARM.joint_torque_limits, (len(found), 1)))
    found = closed_loop.run(ARM, lambda t, q, dq: np.full(7, -1e3), duration=0.01, torque_limits=3.0)
    assert found.tau.min() == -3.0


# Surroundings


def test_a_weight_on_a_spring_rests_where_it_should() -> None:
    """The tool pressed on a wall with 20 N goes in by F/k."""
    floor = ARM.fk(START).translation
    wall = Wall.create(floor, [0, 0, 2.0], 1e4, 200.0)
    controller = ControllerOperationalSpace(
        ARM,
        tool_sites="tool",
        motion_stiffness=100.0,
        damping_ratio=1.0,
        use_wrench_feedforward=True,
        motion_selection_axes=[1, 1, 0, 1, 1, 1],
        wrench_selection_axes=[0, 0, 1, 0, 0, 0],
    )
    found = closed_loop.run(
        ARM,
        controller,
        target={"pose_des": ARM.fk(START), "wrench_des": [0, 0, -20.0, 0, 0, 0]},
        q=START,
        duration=1.0,
        walls=wall,
        **FREE,
    )
    assert found.wrench is not None and found.wrench[-1, 2] == pytest.approx(20.0, rel=1e-3)
    assert floor[2] - found.tool_pose[-1, 2, 3] == pytest.approx(20.0 / 1e4, rel=1e-3)


def test_a_controller_that_feeds_forces_back_gets_what_is_measured() -> None:
    floor = ARM.fk(START).translation
    controller = ControllerOperationalSpace(
        ARM,
        tool_sites="tool",
        motion_stiffness=100.0,
        damping_ratio=1.0,
        use_wrench_feedforward=True,
        use_wrench_feedback=True,
        wrench_stiffness=0.5,
        motion_selection_axes=[1, 1, 0, 1, 1, 1],
        wrench_selection_axes=[0, 0, 1, 0, 0, 0],
    )
    target = {"pose_des": ARM.fk(START), "wrench_des": [0, 0, -15.0, 0, 0, 0]}
    wall = Wall.create(floor, [0, 0, 1], 2e3, 100.0)
    found = closed_loop.run(ARM, controller, target=target, q=START, duration=1.2, walls=wall, **FREE)
    assert found and found.wrench is not None and found.wrench[-1, 2] == pytest.approx(15.0, abs=0.05)


def test_walls_only_push() -> None:
    wall = Wall.create([0, 0, 0], [0, 0, 1], 1000.0, 50.0)
    np.testing.assert_array_equal(wall.force(np.array([0, 0, 0.1]), np.zeros(3)), np.zeros(3))
    np.testing.assert_allclose(wall.force(np.array([0, 0, -0.01]), np.array([0, 0, -0.1])), [0, 0, 15.0])
    np.testing.assert_array_equal(wall.force(np.array([0, 0, -0.01]), np.array([0, 0, 1.0])), np.zeros(3))


def test_profiles_hold_or_interpolate() -> None:
    times, wrenches = [0.1, 0.2], [np.ones(6), 3 * np.ones(6)]
    held, linear = WrenchProfile(times, wrenches), WrenchProfile(times, wrenches, linear=True)
    rows = [(t, held(t, START, START)[0], linear(t, START, START)[0]) for t in (0.0, 0.1, 0.15, 0.2, 1.0)]
    np.testing.assert_allclose(rows, [(0, 0, 0), (0.1, 1, 1), (0.15, 1, 2), (0.2, 3, 3), (1.0, 3, 3)])
    assert held(3 * 0.1 - 0.2 + 1e-17, START, START)[0] == 1.0


# Velocity controllers on dynamics


def test_an_admittance_on_forward_dynamics_yields_like_its_law() -> None:
    controller = CartesianAdmittance(ARM, **LAW)
    found = closed_loop.run(
        ARM, controller, q=START, duration=1.5, wrench_ext=WrenchProfile([0.1], [[0, 0, -10.0, 0, 0, 0]])
    )
    moved = found.tool_pose[-1, :3, 3] - found.tool_pose[0, :3, 3]
    np.testing.assert_allclose(moved, [0, 0, -0.02], atol=1e-4)
    assert found.dq_command is not None and len(found.dq_command) == len(found)
    assert LoopReport.of(ARM, found)


def test_a_joint_admittance_in_the_loop() -> None:
    """Without a spring a steady push drives the joints at C J^T w."""
    controller = JointAdmittance(ARM, compliance=5e-3, cutoff=30.0, dt=1e-3, friction=False)
    found = closed_loop.run(
        ARM,
        controller,
        q=START,
        duration=0.4,
        wrench_ext=WrenchProfile([0.0], [[0, 0, -6.0, 0, 0, 0]]),
        **FREE,
    )
    expected = 5e-3 * ARM.jacobian(found.q[-1], reference="LWA").T @ [0, 0, -6.0, 0, 0, 0]
    np.testing.assert_allclose(found.dq[-1], expected, atol=2e-3)


# Reports


def test_breaches_are_named_with_their_worst_time() -> None:
    found = closed_loop.run(ARM, lambda t, q, dq: np.full(7, 200.0 * (t > 4.5e-3)), q=START, duration=0.05)
    report = LoopReport.of(ARM, found)
    assert not report and {breach.kind for breach in report.breaches} >= {"torque", "velocity"}
    torque = next(breach for breach in report.breaches if breach.kind == "torque")
    assert (torque.joint, torque.value, torque.limit) == ("joint1", 200.0, 90.0) and torque.time == 0.005
    assert str(torque) == "torque of joint1 is 200 at t = 0.005 s, its limit 90"
    with pytest.raises(InputError, match="coordinates"):
        LoopReport.of(LEGS, found)
    with pytest.raises(InputTypeError):
        LoopReport.of(ARM, None)  # type: ignore[arg-type]


def test_progress_is_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    options: dict[str, Any] = {"q": START, "duration": 0.5}
    closed_loop.run(ARM, passive(ARM), **options, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (500, 500) and len(told) == 100
    pytest.importorskip("tqdm")
    closed_loop.run(ARM, passive(ARM), q=START, duration=0.01, progress=True)
    assert "10/10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"integrator": "rk5"}, "did you mean 'rk4'"),
        ({"control_dt": 1.5e-3}, "whole number of steps"),
        ({"control_dt": 0.0}, "control_dt must be positive"),
        ({"torque_limits": "none"}, "torque_limits"),
        ({"torque_limits": [1.0]}, "torque_limits"),
        ({"walls": [3]}, "walls must be Walls"),
        ({"walls": 3}, "walls must be Walls"),
        ({"sensing": 3}, "sensing must be a Sensing"),
        ({"sensing": Sensing(q_noise=-1.0)}, "q_noise"),
        ({"sensing": Sensing(wrench_noise=[1.0])}, "wrench_noise"),
        ({"sensing": Sensing(delay=-1.0)}, "delay"),
        ({"target": {}}, "target goes with"),
        ({"progress": 3}, "progress"),
        ({"friction": 1}, "friction"),
        ({"command": CartesianAdmittance(ARM, **(LAW | {"dt": 2e-3}))}, "set control_dt"),
    ],
)
def test_bad_loops(change: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=words):
        closed_loop.run(ARM, **({"command": passive(ARM), "duration": 0.01} | change))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Wall.create([0, 0, 0], [0, 0, 0], 1.0),
        lambda: Wall.create([0, 0, 0], [0, 0, 1], -1.0),
        lambda: WrenchProfile([0.1, 0.1], np.zeros((2, 6))),
        lambda: WrenchProfile([], np.zeros((0, 6))),
        lambda: WrenchProfile([0.1], np.zeros((2, 6))),
    ],
)
def test_bad_surroundings(make: Any) -> None:
    with pytest.raises(InputError):
        make()
