"""Controllers in a closed loop: targets are reached, contact forces held, singularities passed through."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, PinRobot, Transformation
from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace, Recording, closed_loop

from .controller_paths import either_path  # noqa: F401
from .planar_arm import PlanarArm
from .robot_cases import REAL
from .samples import load

ARM, LEGS = load("sevenr_arm"), load("quadruped")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
FREE: dict[str, Any] = {"friction": False, "motor_inertia": False}


def test_joint_impedance_follows_the_damped_oscillator() -> None:
    """Decoupled, every joint is ddq = -Kp e - Kd dq; critically damped: e(t) = e0 (1 + w t) exp(-w t)."""
    w, q_des = 8.0, START + 0.3
    controller = ControllerJointImpedance(ARM, stiffness=w * w, damping_ratio=1.0)
    found = closed_loop.run(
        ARM, lambda t, q, dq: controller.torque((q, dq), q_des), q=START, duration=0.5, dt=5e-4, **FREE
    )
    e = (START - q_des)[None] * ((1 + w * found.time) * np.exp(-w * found.time))[:, None]
    assert found and len(found) == 1001
    np.testing.assert_allclose(found.q - q_des, e, atol=2e-3)


def test_friction_brings_a_robot_to_rest_without_chatter() -> None:
    """At rest the smooth sign is worth 100 times the friction as damping: far too steep for an explicit step."""
    controller = ControllerJointImpedance(ARM, stiffness=0.0, damping=0.0)
    found = closed_loop.run(
        ARM, lambda t, q, dq: controller.torque((q, dq), q), q=START, dq=np.full(7, 0.5), duration=1.0, dt=2e-3
    )
    energy = np.array([ARM.kinetic_energy(q, dq) for q, dq in zip(found.q[::20], found.dq[::20], strict=True)])
    assert found and (np.diff(energy) <= 0).all() and energy[-1] < 0.01 * energy[0]


def test_operational_space_reaches_its_target() -> None:
    target = ARM.fk(np.add(START, [0.3, 0.1, -0.2, 0.2, 0.3, -0.2, 0.4]))
    controller = ControllerOperationalSpace(
        ARM,
        tool_sites="tool",
        motion_stiffness=100.0,
        damping_ratio=1.0,
        use_coriolis_compensation=True,
        use_null_space_control=True,
        null_space_stiffness=10.0,
        null_space_damping_ratio=1.0,
    )
    found = closed_loop.run(
        ARM, lambda t, q, dq: controller.torque((q, dq), target, q_null=START), q=START, duration=2.0, dt=2e-3, **FREE
    )
    distance = Transformation(found.tool_pose[-1]).distance(target)
    assert found and distance.translation < 1e-6 and distance.rotation < 1e-6


def test_a_contact_force_is_held() -> None:
    """The tool presses on a springy floor with 15 N, and stays where it is otherwise."""
    start = ARM.fk(START)
    floor, stiffness = start.translation[2], 2e3
    controller = ControllerOperationalSpace(
        ARM,
        tool_sites="tool",
        motion_stiffness=100.0,
        damping_ratio=1.0,
        use_coriolis_compensation=True,
        use_wrench_feedforward=True,
        use_wrench_feedback=True,
        wrench_stiffness=0.5,
        motion_selection_axes=[1, 1, 0, 1, 1, 1],
        wrench_selection_axes=[0, 0, 1, 0, 0, 0],
        use_null_space_control=True,
        null_space_stiffness=10.0,
        null_space_damping_ratio=1.0,
    )

    def push(t: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        T, J = ARM.pose(q, "tool"), ARM.frame_jacobian(q, "tool", 2)  # type: ignore[arg-type]
        depth = floor - T[2, 3]
        return np.array([0, 0, max(0.0, stiffness * depth - 100.0 * (J @ dq)[2]) if depth > 0 else 0.0, 0, 0, 0])

    def command(t: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        measured = -push(t, q, dq)
        down = [0, 0, -15.0, 0, 0, 0]
        return controller.torque((q, dq), start, wrench_des=down, wrench_measured=measured, q_null=START)

    found = closed_loop.run(ARM, command, q=START, duration=1.5, wrench_ext=push, **FREE)
    assert found and push(0.0, found.q[-1], found.dq[-1])[2] == pytest.approx(15.0, abs=0.02)
    np.testing.assert_allclose(found.tool_pose[-1, :2, 3], start.translation[:2], atol=1e-4)


# Singularities


def ur5(wrist: float) -> tuple[PinRobot, np.ndarray]:
    return PinRobot.from_urdf(REAL / "ur5.urdf", tcp="ee_link"), np.array([0.3, -1.1, 1.2, -0.6, wrist, 0.4])


@pytest.mark.parametrize("decoupling", [{}, {"use_partial_inertia_decoupling": True}])
def test_torques_near_a_wrist_singularity_are_bounded_and_continuous(decoupling: dict[str, Any]) -> None:
    robot, q = ur5(0.5)
    options = {"tool_sites": "ee_link", "motion_stiffness": 100.0, "motion_damping": 20.0, **decoupling}
    damped, exact = (ControllerOperationalSpace(robot, **options, singularity=kind) for kind in ("damp", "exact"))
    # an offset of pose that asks for motion along the lost direction
    off = Transformation.from_rpy([0.1, -0.2, 0.3], [0.05, -0.03, 0.04])

    def torque(controller: ControllerOperationalSpace, wrist: float) -> np.ndarray:
        q[4] = wrist
        return np.asarray(controller.torque(q, robot.fk(q) @ off))

    for wrist in (0.1, 0.01, 0.001, 0.0):
        assert np.abs(torque(damped, wrist)).max() < 500.0
    if not decoupling:
        assert np.abs(torque(exact, 0.001)).max() > 5e3
    path = np.array([torque(damped, wrist) for wrist in np.linspace(-0.3, 0.3, 1201)])
    steps = np.abs(np.diff(path, axis=0)).max(axis=1)
    assert steps.max() < 0.02 * np.abs(path).max()
    np.testing.assert_allclose(torque(damped, 0.5), torque(exact, 0.5), rtol=1e-9)
    assert damped.exactness.tolist() == [1.0]
    torque(damped, 0.0)
    assert damped.exactness[0] < 1e-6 or decoupling
    asked, achieved = damped.asked_acceleration[0], damped.achieved_acceleration[0]
    assert decoupling or np.linalg.norm(achieved) < np.linalg.norm(asked)


def test_a_posture_at_a_singularity_is_bounded() -> None:
    stretched = np.zeros(7)
    for decoupling in ({}, {"use_partial_inertia_decoupling": True}, {"use_inertia_decoupling": False}):
        controller = ControllerOperationalSpace(
            ARM,
            tool_sites="tool",
            motion_stiffness=100.0,
            motion_damping=20.0,
            use_null_space_control=True,
            null_space_stiffness=10.0,
            null_space_damping=1.0,
            **decoupling,
        )
        tau = controller.torque(stretched, ARM.fk(START), q_null=START)
        assert np.isfinite(tau).all() and np.abs(tau).max() < 2e3


def test_exactly_singular_with_the_plain_inverse_is_a_fault_not_an_error() -> None:
    robot, _ = ur5(0.0)
    robot = copy.deepcopy(ARM)
    controller = ControllerOperationalSpace(
        robot, joints="joint[1-6]", tool_sites="tool", motion_stiffness=1.0, motion_damping=1.0, singularity="exact"
    )
    tau = controller.torque(np.zeros(7), robot.fk(START))
    assert controller.faults.tolist() == [not np.isfinite(tau).all()]


def test_arms_of_fewer_joints_do_what_they_can() -> None:
    scara = load("scara")
    q = np.array([0.3, 0.9, 0.1, 0.2])
    controller = ControllerOperationalSpace(
        scara, tool_sites="tool", motion_stiffness=100.0, damping_ratio=1.0, use_coriolis_compensation=True
    )
    target = scara.fk(q)
    found = closed_loop.run(
        scara, lambda t, q, dq: controller.torque((q, dq), target), q=q + 0.05, duration=2.0, dt=2e-3, **FREE
    )
    assert found and Transformation(found.tool_pose[-1]).distance(target).translation < 1e-3


# Floating


def test_a_floating_quadruped_keeps_its_legs() -> None:
    """In free fall there is no weight to carry, so gravity is not compensated."""
    q = LEGS.home_configuration.copy()
    q[2] = 5.0
    q_des = q.copy()
    q_des[7:] += 0.2
    controller = ControllerJointImpedance(LEGS, stiffness=200.0, damping_ratio=1.0, use_gravity_compensation=False)
    found = closed_loop.run(
        LEGS,
        lambda t, q, dq: controller.torque((q, dq), q_des),
        q=q,
        duration=1.5,
        dt=2e-3,
        frame="fl_foot",
        **FREE,
    )
    assert found and not found.tau[:, :6].any()
    assert np.abs(found.q[-1, 7:] - q_des[7:]).max() < 1e-3
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:7], axis=1), 1, atol=1e-9)


# The runner


def test_the_runner_agrees_with_forward_dynamics_for_small_steps() -> None:
    q, dq, tau = START, np.full(7, 0.5), np.full(7, 2.0)
    found = closed_loop.run(ARM, lambda t, q, dq: tau, q=q, dq=dq, duration=1e-6, dt=1e-6)
    np.testing.assert_allclose((found.dq[1] - dq) / 1e-6, ARM.fd(tau, q, dq), rtol=1e-2, atol=1e-2)
    plain = closed_loop.run(ARM, lambda t, q, dq: tau, q=q, dq=dq, duration=1e-3, dt=1e-3, **FREE)
    np.testing.assert_allclose(plain.dq[1], dq + 1e-3 * ARM.fd(tau, q, dq, **FREE), atol=1e-10)
    w = np.array([1.0, 2, 3, 4, 5, 6])
    pushed = closed_loop.run(ARM, lambda t, q, dq: tau, q=q, dq=dq, duration=1e-3, wrench_ext=lambda *_: w, **FREE)
    np.testing.assert_allclose(pushed.dq[1], dq + 1e-3 * ARM.fd(tau, q, dq, eef_wrench=w, **FREE), atol=1e-10)


def test_a_loop_that_breaks_down_says_why() -> None:
    nan = closed_loop.run(ARM, lambda t, q, dq: np.full(7, np.nan if t > 0.0045 else 0.0), duration=0.1)
    assert not nan and len(nan) == 6 and "t = 0.005" in nan.message
    wild = closed_loop.run(ARM, lambda t, q, dq: 1e7 * dq + 1.0, duration=5.0, **FREE)
    assert not wild and "runs away" in wild.message
    assert np.isfinite(wild.q).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duration": 0.0}, "duration must be positive"),
        ({"duration": 1e-4}, "at least dt"),
        ({"dt": -1.0}, "dt must be positive"),
        ({"duration": 1e9}, "raise dt"),
        ({"q": [0.0]}, "q must have shape"),
        ({"dq": np.full(7, np.nan)}, "dq must be finite"),
        ({"frame": "nowhere"}, "nowhere"),
        ({"command": None}, "command must be a function"),
        ({"command": lambda t, q, dq: [0.0]}, "tau must have shape"),
        ({"wrench_ext": 3}, "wrench_ext must be a function"),
        ({"wrench_ext": lambda t, q, dq: [0.0]}, "wrench_ext must have shape"),
    ],
)
def test_bad_loops(change: dict[str, Any], words: str) -> None:
    options: dict[str, Any] = {"command": lambda t, q, dq: np.zeros(7), "duration": 0.01}
    with pytest.raises((InputError, InputTypeError), match=words):
        closed_loop.run(ARM, **(options | change))


def test_recordings_are_saved_and_drawn(tmp_path: Any) -> None:
    found = closed_loop.run(PlanarArm(), lambda t, q, dq: -dq, duration=0.02, dt=1e-2)
    assert isinstance(found, Recording) and len(found) == 3
    with np.load(found.save(tmp_path / "run.npz")) as data:
        np.testing.assert_array_equal(data["q"], found.q)
        assert data["dq_names"].tolist() == list(found.dq_names)
    lines = found.save(tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("time,q.joint0") and lines[0].endswith("tool.qw") and len(lines) == 4
    row = np.array(lines[-1].split(","), dtype=float)
    np.testing.assert_array_equal(row[:4], [found.time[-1], *found.q[-1]])
    with pytest.raises(InputError, match="npz or"):
        found.save(tmp_path / "run.txt")
    pytest.importorskip("matplotlib")
    assert found.plot(tmp_path / "run.png").stat().st_size > 1000
    with pytest.raises(InputError, match="path"):
        found.plot(tmp_path / "run.nothing")
