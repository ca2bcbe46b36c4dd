"""Odd input to admittance, closed loops and `knuckle simulate`: one clear error, or a result that says why."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import Fleet, InputError, InputTypeError, KnuckleError
from knuckle.cli import main
from knuckle.controllers import CartesianAdmittance, JointAdmittance, Sensing, closed_loop
from knuckle.controllers.admittance_result import AdmittanceStatus
from knuckle.ik import DifferentialIK, solve_velocity
from knuckle.ik.velocity_bounds import VelocityBounds

from .samples import load, path_of

ARM = load("sevenr_arm")
BENT = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
ODD: list[Any] = ["stiff", [[1.0], [2.0, 3.0]], np.ones(7) * 1j, b"1234567", object()]


def admittance(**change: Any) -> CartesianAdmittance:
    options: dict[str, Any] = {"stiffness": 500, "damping_ratio": 1.0, "inertia": 5, "dt": 1e-3}
    return CartesianAdmittance(ARM, distal_link="tool", **(options | change))


TAKERS: dict[str, Callable[[Any], Any]] = {
    "stiffness": lambda x: admittance(stiffness=x),
    "setter": lambda x: admittance().set_impedance_params(stiffness=x),
    "axes": lambda x: admittance(axes=x),
    "wrench": lambda x: admittance().step(BENT, None, x),
    "q": lambda x: admittance().step(x),
    "tare": lambda x: admittance().tare(x),
    "position limits": lambda x: DifferentialIK(ARM, dt=1e-3, position_limits=x),
    "velocity limits": lambda x: DifferentialIK(ARM, dt=1e-3, velocity_limits=x),
    "joint mask": lambda x: VelocityBounds(ARM, 1e-3, joint_mask=x),
    "jacobian": lambda x: solve_velocity(x, np.zeros(6)),
    "twist": lambda x: solve_velocity(np.zeros((6, 7)), x),
    "lower": lambda x: solve_velocity(np.zeros((6, 7)), np.zeros(6), x),
    "noise": lambda x: closed_loop.run(ARM, hold, duration=0.01, sensing=Sensing(q_noise=x)),
    "command": lambda x: closed_loop.run(ARM, lambda t, q, dq: x, duration=0.01),
    "wrench_ext": lambda x: closed_loop.run(ARM, hold, duration=0.01, wrench_ext=lambda t, q, dq: x),
}


def hold(t: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
    return ARM.gravity_force(q)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_what_is_no_array_of_numbers_is_named(taker: str, odd: Any) -> None:
    with pytest.raises(KnuckleError):
        TAKERS[taker](odd)


def test_joint_admittance_forgets_numbers_that_overflow() -> None:
    controller = JointAdmittance(ARM, compliance=0.02, cutoff=40.0, dt=1e-3, posture=BENT)
    still = controller.step(BENT, np.zeros(7), np.full(7, 1.7e308))
    assert np.isfinite(still.dq).all()
    torque = ARM.gravity_force(BENT)
    for _ in range(3):
        after = controller.step(BENT, np.zeros(7), torque)
    assert after.status is AdmittanceStatus.OK
    np.testing.assert_allclose(after.dq, 0.0, atol=1e-9)


def test_a_tick_that_fails_asks_for_nothing() -> None:
    result = admittance().step(BENT, None, np.full(6, 1.7e308))
    assert np.isfinite(result.dq).all() and np.isfinite(result.twist).all() and np.isfinite(result.achieved).all()


def test_bounds_without_a_finite_velocity_are_refused() -> None:
    for lower, upper in ((np.inf, np.inf), (-np.inf, -np.inf)):
        with pytest.raises(InputError, match="finite velocity"):
            solve_velocity(np.eye(6), np.zeros(6), np.full(6, lower), np.full(6, upper))


@pytest.mark.parametrize("mode", ["least_squares", "scale"])
def test_twists_without_measure_are_not_called_solved(mode: str) -> None:
    J, bound = ARM.jacobian(BENT, reference="LWA"), ARM.joint_velocity_limits
    for size in (1e9, 1e100, 1e300):
        result = solve_velocity(J, [size, 0, 0, 0, 0, 0], -bound, bound, mode=mode)
        assert result.status.value == ("limited" if size < 1e12 else "invalid")
        assert (np.abs(result.dq) <= bound).all()
        assert result.dq.any() == (size < 1e12)


def test_an_axis_without_spring_needs_a_damping_of_its_own() -> None:
    with pytest.raises(InputError, match="give damping"):
        admittance(stiffness=[0, 500, 500, 20, 20, 20])
    admittance(stiffness=[0, 500, 500, 20, 20, 20], axes=[False, True, True, True, True, True])
    admittance(stiffness=0, damping=50, damping_ratio=None)


def test_a_controller_says_what_it_is() -> None:
    text = repr(admittance())
    assert "sevenr_arm" in text and "'tool'" in text and "500.0" in text and "exact" in text


def test_a_run_changes_neither_its_controller_nor_its_start() -> None:
    controller, start = admittance(), BENT.copy()
    push = lambda t, q, dq: np.array([0.0, 0.0, -20.0, 0.0, 0.0, 0.0])  # noqa: E731
    first = closed_loop.run(ARM, controller, q=start, duration=0.2, wrench_ext=push)
    again = closed_loop.run(ARM, controller, q=start, duration=0.2, wrench_ext=push)
    np.testing.assert_array_equal(first.q, again.q)
    np.testing.assert_array_equal(start, BENT)
    assert first.q is not None and controller.snapshot().last is None

    def spoil(measured: Any) -> np.ndarray:
        torque = ARM.gravity_force(measured.q)
        measured.q[:], measured.dq[:], measured.tau[:] = 9.0, 9.0, 9.0
        return torque

    class Spoiler:
        act = staticmethod(spoil)

    kept = closed_loop.run(ARM, Spoiler(), q=start, duration=0.05)
    np.testing.assert_allclose(kept.q, np.tile(BENT, (len(kept), 1)), atol=1e-9)
    tau = np.zeros(7)

    def reuse(t: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        tau[:] = t
        return tau

    np.testing.assert_allclose(closed_loop.run(ARM, reuse, q=start, duration=0.01).tau[:, 0], np.arange(11) * 1e-3)


def test_what_cannot_be_run_is_named() -> None:
    with pytest.raises(InputTypeError, match="rollout"):
        closed_loop.run(Fleet([ARM, ARM]), hold, duration=0.1)  # type: ignore[arg-type]
    for change in ({"control_dt": 1e308}, {"sensing": Sensing(delay=1e308)}, {"sensing": Sensing(delay=1e20)}):
        with pytest.raises(InputError, match=r"control_dt|delay"):
            closed_loop.run(ARM, hold, duration=0.01, **change)
    broken = closed_loop.run(ARM, hold, duration=0.1, wrench_ext=lambda t, q, dq: np.full(6, np.nan if t > 0.05 else 0))
    assert not broken and "wrench" in broken.message and len(broken) > 50


def test_files_are_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    recording = closed_loop.run(ARM, hold, duration=0.01)
    for path in (tmp_path / "none" / "a.npz", tmp_path / "a.txt", tmp_path):
        with pytest.raises(InputError):
            recording.save(path)
    with pytest.raises(InputError, match=r"\.png"):
        recording.plot(tmp_path / "a.nop")
    with pytest.raises(InputTypeError):
        recording.save(3)  # type: ignore[arg-type]


SIMULATE = ("simulate", str(path_of("sevenr_arm")))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--push-for", "1"), "--push"),
        (("--push-at", "1"), "--push"),
        (("--push", "0", "0", "5", "--push-at", "9"), "--duration"),
        (("--plot", "a.nop"), ".png"),
        (("--plot", "/nowhere/at/all/a.png"), "no folder"),
        (("--out", "/nowhere/at/all/a.npz"), "no folder"),
        (("--delay", "1e308"), "delay"),
        (("--delay", "1e20"), "delay"),
        (("--control-dt", "1e308"), "control_dt"),
        (("--scenario", "{binary}"), "UTF-8"),
        (("--scenario", "{nested}"), "not JSON"),
        (("--scenario", "{pipe}"), "not a file"),
        (("--scenario", "{huge}"), "larger"),
        (("--scenario", "no\0thing"), "not a file"),
    ],
)
def test_simulate_refuses_in_one_line(
    options: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "binary.yaml").write_bytes(bytes(range(128, 256)))
    (tmp_path / "nested.json").write_text("[" * 100_000)
    (tmp_path / "huge.yaml").write_text("# " + "x" * 2_000_000)
    os.mkfifo(tmp_path / "pipe.yaml")
    files = {path.stem: str(path) for path in tmp_path.iterdir()}
    assert main([*SIMULATE, *(word.format(**files) for word in options)]) == 2
    out, err = capsys.readouterr()
    assert not out and words in err and len(err.splitlines()) == 1


def test_simulate_starts_where_the_tool_can_yield_and_says_where_it_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    small = ("simulate", str(path_of("planar_2r")), "--controller", "admittance", "--duration", "0.5")
    assert main([*small, "--push", "0", "0", "-10"]) == 0  # stretched out at home, where it could not
    assert "yields" not in capsys.readouterr().out
    assert main([*small, "--push", "0", "10", "0"]) == 1  # across its plane
    assert "not at all" in capsys.readouterr().out


def test_simulate_marks_torques_over_their_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIMULATE, "--controller", "admittance", "--push", "0", "0", "-300", "--duration", "0.5"]) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("joint")]
    assert any(row[-1] == "!" and float(row[-3]) > float(row[-2]) for row in rows[1:])


def test_several_tips_need_no_tool_for_joint_impedance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(path_of("gripper")), "--duration", "0.05"]) == 0
    assert "completed" in capsys.readouterr().out
