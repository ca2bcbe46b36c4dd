"""Inverse velocity kinematics: twists, poses, objectives and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, PinRobot, Transformation
from knuckle.ik import AwayFromLimits, DifferentialIK, Manipulability, Posture, VelocityStatus

from .planar_arm import PlanarArm
from .samples import load, within_limits

ARM, SIX, LEGS = load("sevenr_arm"), load("sixr_arm"), load("quadruped")
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


def test_a_twist_moves_the_tool_as_it_says() -> None:
    twist = np.array([0.05, -0.02, 0.03, 0.1, -0.2, 0.15])
    result = DifferentialIK(ARM, dt=1e-3).step(START, twist=twist)
    assert result.status is VelocityStatus.SOLVED
    np.testing.assert_allclose(ARM.jacobian(START, reference="LWA") @ result.dq, twist, atol=1e-6)
    J = ARM.jacobian(START, reference="LWA")
    np.testing.assert_allclose(result.dq, np.linalg.pinv(J) @ twist, atol=1e-6)  # the shortest


@pytest.mark.parametrize("dt", [1e-3, 0.02, 0.5])
def test_the_error_of_a_pose_falls_by_its_bandwidth_whatever_dt(dt: float) -> None:
    """exp(-bandwidth dt) a step, to first order in the step of the pose."""
    solver, q = (
        DifferentialIK(SIX, dt=dt, bandwidth=4.0, velocity_limits=np.inf),
        np.array([0.1, 0.3, 0.9, 0.2, 0.6, 0.0]),
    )
    target = Transformation.from_rpy([0.0, 0.01, -0.01], [0.004, -0.003, 0.002]) @ SIX.fk(q)
    before = SIX.fk(q).distance(target)
    q, result = solver.advance(q, target=target)
    after = SIX.fk(q).distance(target)
    assert result
    assert after.rotation / before.rotation == pytest.approx(np.exp(-4.0 * dt), abs=0.01)


def test_a_moving_target_is_followed_by_its_twist() -> None:
    solver, q, w = DifferentialIK(ARM, dt=1e-3, bandwidth=50.0), START, np.array([0.1, 0, -0.05, 0, 0, 0])
    for k in range(300):
        target = Transformation.from_translation(w[:3] * k * 1e-3) @ ARM.fk(START)
        assert ARM.fk(q).distance(target).translation < 1e-6
        q, _ = solver.advance(q, target=target, twist=w)


@pytest.mark.parametrize(
    "objective", [Posture(START + 0.3), AwayFromLimits(), Manipulability(), lambda robot, q: float(q[2] ** 2 + q[0])]
)
def test_objectives_are_served_without_moving_the_tool(objective: Any) -> None:
    from knuckle.ik.objectives import as_objective

    start = START + np.array([0.1, 0, 0.4, 0, -0.3, 0, 0])
    solver, q = DifferentialIK(ARM, dt=5e-3, bandwidth=20.0, objective=objective, objective_gain=2.0), start
    target, h = ARM.fk(start), as_objective(objective)
    for _ in range(200):
        q, result = solver.advance(q, target=target)
        assert result
    assert h.value(ARM, q) < h.value(ARM, start) - 1e-6
    assert ARM.fk(q).distance(target).translation < 1e-4


def test_limits_hold_on_the_way_to_a_pose_that_needs_more() -> None:
    robot = ARM.with_limits(acceleration=20.0)
    solver, q, dq = DifferentialIK(robot, dt=2e-3, bandwidth=30.0), START, np.zeros(7)
    for _ in range(500):
        q, result = solver.advance(q, target=Transformation.from_translation([2.0, 0, 0]), dq_before=dq)
        assert result and within_limits(robot, q)
        assert (np.abs(result.dq) <= robot.joint_velocity_limits).all()
        assert (np.abs(result.dq) <= np.abs(dq) + 20.0 * 2e-3 + 1e-12).all()
        dq = result.dq
    assert result.status is VelocityStatus.LIMITED


def test_scale_keeps_the_tool_on_its_line() -> None:
    line, slow = np.array([0.0, 2.0, -1.0, 0, 0, 0]), {"velocity_limits": 0.3}
    J = ARM.jacobian(START, reference="LWA")
    kept = DifferentialIK(ARM, dt=1e-3, mode="scale", **slow).step(START, twist=line)
    bent = DifferentialIK(ARM, dt=1e-3, **slow).step(START, twist=line)
    np.testing.assert_allclose(J @ kept.dq, kept.scale * line, atol=1e-6)
    assert 0.0 < kept.scale < 1.0 and np.abs(np.cross((J @ bent.dq)[:3], line[:3])).max() > 1e-4


def test_axes_without_weight_are_free_and_masks_are_kept() -> None:
    solver = DifferentialIK(ARM, dt=1e-3, weights=[1, 1, 1, 0, 0, 0], joint_mask=[True] * 4 + [False] * 3)
    result = solver.step(START, twist=[0.1, 0.05, -0.1, 5.0, 5.0, 5.0])
    np.testing.assert_allclose((ARM.jacobian(START, reference="LWA") @ result.dq)[:3], [0.1, 0.05, -0.1], atol=1e-6)
    assert not result.dq[4:].any()


def test_other_robots() -> None:
    q = LEGS.home_configuration
    result = DifferentialIK(
        LEGS, dt=1e-3, frame="fl_foot", joint_mask=[False] * 6 + [True] * 12, weights=[1, 1, 1, 0, 0, 0]
    )
    found = result.step(q, twist=[0.02, 0, 0.05, 0, 0, 0])
    assert found and not found.dq[9:].any() and not found.dq[:6].any()
    planar = PlanarArm()
    solver = DifferentialIK(planar, dt=1e-2, weights=[1, 1, 0, 0, 0, 0])
    assert solver.step(np.array([0.3, 0.4, 0.2]), twist=[0.1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"dt": 0.0}, {}),
        ({"frame": "nowhere"}, {}),
        ({"bandwidth": 0.0}, {}),
        ({"objective": 3}, {}),
        ({"objective": [AwayFromLimits()], "objective_gain": [1.0, 2.0]}, {}),
        ({"objective_gain": -1.0, "objective": AwayFromLimits()}, {}),
        ({"strict": 1}, {}),
        ({"weights": -np.ones(6)}, {}),
        ({"mode": "fast"}, {}),
        ({"robot": 3}, {}),
        ({}, {}),
        ({}, {"twist": [0.0] * 5}),
        ({}, {"twist": [np.nan] * 6}),
        ({}, {"target": np.eye(3)}),
        ({}, {"twist": [0.0] * 6, "dq_before": [0.0]}),
    ],
)
def test_bad_arguments(change: dict[str, Any], asked: dict[str, Any]) -> None:
    with pytest.raises((InputError, InputTypeError)):
        DifferentialIK(**({"robot": ARM, "dt": 1e-3} | change)).step(START, **asked)


def test_a_robot_is_not_moved() -> None:
    robot: PinRobot = load("sixr_arm")
    before = robot.q.copy()
    DifferentialIK(robot, dt=1e-3).step(target=robot.fk())
    np.testing.assert_array_equal(robot.q, before)
