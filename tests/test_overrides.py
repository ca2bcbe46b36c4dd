"""Other limits, motors and payloads: new robots, right in the robot's own coordinates, the old ones untouched."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from knuckle import Coupling, PinRobot, Transformation

from . import closed_forms as cf
from .robot_cases import LWA, ON_PINOCCHIO, close, fresh, mixed_model, mixed_robot, shared, state
from .samples import load

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)


class TestLimits:
    @on_pinocchio
    def test_what_is_given_changes_and_the_rest_stays(self, name: str) -> None:
        robot = shared(name)
        before = robot.limits
        for kind in ("velocity", "acceleration", "torque", "jerk"):
            one = robot.with_limits(**{kind: 3.5})
            assert (getattr(one, f"joint_{kind}_limits") == 3.5).all()
            two = one.with_limits(**{kind: np.arange(1, robot.nv + 1)})
            assert (getattr(two, f"joint_{kind}_limits") == np.arange(1, robot.nv + 1)).all()
            for other in {"velocity", "acceleration", "torque", "jerk"} - {kind}:
                np.testing.assert_array_equal(getattr(two.limits, other), getattr(before, other))
            np.testing.assert_array_equal(two.limits.position, before.position)
        assert robot.limits is before

    def test_joints_by_name(self) -> None:
        robot = shared("panda").with_limits(
            position={"panda_joint2": (-0.1, 0.2)}, velocity={"panda_joint3": 0.7}, torque={"panda_joint1": np.inf}
        )
        close(robot.joint_limits[:, 1], [-0.1, 0.2], 0)
        assert robot.joint_velocity_limits[2] == 0.7 and robot.joint_torque_limits[0] == np.inf
        rest = np.delete(np.arange(9), 1)
        assert (robot.joint_limits[:, rest] == shared("panda").joint_limits[:, rest]).all()
        drawn = np.array([robot.random_configuration(i)[1] for i in range(30)])
        assert drawn.min() >= -0.1 and drawn.max() <= 0.2

    def test_pinocchios_model_knows_them(self) -> None:
        robot = shared("panda").with_limits(position=[[-0.5] * 9, [0.5] * 9], velocity=2.0, torque=7.0)
        model = robot.model
        assert (model.lowerPositionLimit == -0.5).all() and (model.upperPositionLimit == 0.5).all()
        assert (model.velocityLimit == 2.0).all() and (model.effortLimit == 7.0).all()

    def test_a_limit_may_be_zero_or_lifted(self) -> None:
        still = shared("panda").with_limits(velocity={"panda_joint1": 0.0}, torque=0.0)
        assert still.joint_velocity_limits[0] == 0 and not still.joint_torque_limits.any()
        assert still.tau_in_torque_limits(np.zeros(9)) and not still.tau_in_torque_limits(np.full(9, 1e-9))
        free = still.with_limits(velocity=np.inf, position=[[-np.inf] * 9, [np.inf] * 9])
        assert np.isinf(free.joint_velocity_limits).all() and np.isinf(free.joint_limits).all()
        drawn = np.array([free.random_configuration(i) for i in range(20)])
        assert np.isfinite(drawn).all() and (np.abs(drawn[:, :7]) <= np.pi).all() and (np.abs(drawn[:, 7:]) <= 1).all()

    def test_one_bound_alone_anchors_the_range(self) -> None:
        robot = load("planar_2r").with_limits(position=[[1.0, -np.inf], [np.inf, 2.0]])
        drawn = np.array([robot.random_configuration(i) for i in range(200)])
        assert (drawn[:, 0] >= 1.0).all() and (drawn[:, 0] <= 1.0 + 2 * np.pi).all()
        assert (drawn[:, 1] <= 2.0).all() and (drawn[:, 1] >= 2.0 - 2 * np.pi).all()
        assert np.ptp(drawn, axis=0).min() > 5.5

    def test_those_of_a_leader_override_its_followers(self) -> None:
        robot = mixed_robot()
        wide = robot.with_limits(position={"hinge": (-9.0, 9.0)}, velocity={"hinge": 11.0})
        at, rate = wide.coordinate_slices()["hinge"]
        assert wide.joint_limits[:, at].ravel().tolist() == [-9.0, 9.0]
        assert wide.joint_velocity_limits[rate] == 11.0


class TestMotors:
    @on_pinocchio
    def test_each_parameter_by_number_vector_or_name(self, name: str) -> None:
        robot = shared(name)
        still = robot.with_motors(rotor_inertia=0.0, damping=0.0, friction=0.0)
        q, dq, ddq = state(robot)
        assert not still.friction(dq).any() and not still.motor_inertias(ddq).any()
        viscous = still.with_motors(damping=np.arange(robot.nv))
        close(viscous.friction(dq), np.arange(robot.nv) * dq, 1e-14)
        dry = still.with_motors(friction={robot.joints[-1]: 2.0})
        last = robot.coordinate_slices()[robot.joints[-1]][1]
        close(dry.friction(dq)[last], 2 * np.sin(np.arctan(100 * dq[last])), 1e-14)
        assert not np.delete(dry.friction(dq), last).any()
        geared = still.with_motors(rotor_inertia=1e-3).with_motors(gear_ratio=20.0)
        close(geared.motor_inertias(ddq), 0.4 * ddq, 1e-14)
        close(geared.fd(geared.id(q, dq, ddq), q, dq), ddq, 1e-9)
        close(robot.mass_matrix(q), geared.mass_matrix(q), 1e-15)

    def test_the_drive_of_a_follower_is_felt_at_its_leader(self) -> None:
        model = mixed_model()
        model.rotorInertia[:], model.rotorGearRatio[:] = 0.0, 1.0
        model.damping[:], model.friction[:] = 0.0, 0.0
        follower = model.idx_vs[model.getJointId("hinge_follows")]
        model.rotorInertia[follower], model.damping[follower], model.friction[follower] = 0.1, 0.2, 0.3
        robot = PinRobot(wrapper=model, couplings=[Coupling("hinge_follows", "hinge", -3.0)])
        _, dq, ddq = state(robot)
        at = robot.coordinate_slices()["hinge"][1]
        close(robot.motor_inertias(ddq)[at], 9 * 0.1 * ddq[at], 1e-14)
        speed = -3 * dq[at]
        close(robot.friction(dq)[at], -3 * (0.2 * speed + 0.3 * np.sin(np.arctan(100 * speed))), 1e-14)
        assert not np.delete(robot.friction(dq), at).any()


class TestPayload:
    def test_a_weight_at_the_tip_by_hand(self) -> None:
        robot, q = load("planar_2r"), np.array([0.3, 0.4])
        loaded = robot.with_payload(2.0)
        reach = cf.PLANAR_2R.jacobian(q)[2]
        close(loaded.gravity_force(q) - robot.gravity_force(q), 2.0 * cf.G * reach, 1e-12)
        J = cf.PLANAR_2R.jacobian(q)[:3]
        close(loaded.mass_matrix(q) - robot.mass_matrix(q), 2.0 * J.T @ J, 1e-12)
        assert loaded.mass == pytest.approx(robot.mass + 2.0, abs=1e-12)

    @on_pinocchio
    def test_a_body_on_any_frame_adds_what_its_motion_costs(self, name: str) -> None:
        robot = shared(name)
        frame, com, moments = robot.frames[-1], np.array([0.1, -0.2, 0.05]), np.diag([0.02, 0.03, 0.04])
        loaded = robot.with_payload(1.5, com, moments, frame)
        q, dq, ddq = state(robot)
        spot = fresh(name)
        spot.add_frame("spot", frame, Transformation.from_translation(com))
        R, J = robot.fk(q, frame=frame).rotation, spot.jacobian(q, "spot", LWA)
        inertia = R @ moments @ R.T
        body = 1.5 * J[:3].T @ J[:3] + J[3:].T @ inertia @ J[3:]
        close(loaded.mass_matrix(q) - robot.mass_matrix(q), body, 1e-11)
        weight = 1.5 * 9.81 * J[2]
        close(loaded.gravity_force(q) - robot.gravity_force(q), weight, 1e-11)
        w = J[3:] @ dq
        dJ = spot.jacobian_derivative(q, dq, "spot", LWA)
        centrifugal = 1.5 * J[:3].T @ dJ[:3] @ dq + J[3:].T @ (inertia @ dJ[3:] @ dq + np.cross(w, inertia @ w))
        close(loaded.coriolis_force(q, dq) - robot.coriolis_force(q, dq), centrifugal, 1e-11)
        close(loaded.fd(loaded.id(q, dq, ddq), q, dq), ddq, 1e-9)
        close(loaded.fk(q).homogeneous, robot.fk(q).homogeneous, 0)

    def test_on_the_base_it_only_weighs(self) -> None:
        robot = load("planar_2r")
        loaded = robot.with_payload(5.0, frame="base")
        assert loaded.mass == pytest.approx(robot.mass + 5.0, abs=1e-12)
        close(loaded.id([0.1, 0.2], [1, 2], [3, 4]), robot.id([0.1, 0.2], [1, 2], [3, 4]), 1e-14)


@on_pinocchio
def test_the_original_is_never_touched(name: str) -> None:
    robot, untouched = fresh(name), shared(name)
    robot.with_limits(position=robot.joint_limits, velocity=0.1)
    robot.with_motors(damping=9.0, friction=8.0)
    loaded = robot.with_payload(3.0)
    q, dq, ddq = state(robot)
    assert (robot.id(q, dq, ddq) == untouched.id(q, dq, ddq)).all()
    assert (robot.fd(ddq, q, dq) == untouched.fd(ddq, q, dq)).all()
    assert (robot.joint_velocity_limits == untouched.joint_velocity_limits).all()
    assert isinstance(loaded.model, pin.Model) and loaded.mass == pytest.approx(robot.mass + 3.0, abs=1e-12)
    assert loaded.couplings == robot.couplings and loaded.placement == robot.placement and loaded.tcp == robot.tcp
