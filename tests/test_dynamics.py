"""Forces against bare Pinocchio and textbooks, identities between them, what changes them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import DescriptionError, InputError, PinRobot, Transformation, UnknownNameError, UnsupportedError

from . import closed_forms as cf
from .planar_arm import PlanarArm
from .robot_cases import EVERY, LWA, ON_PINOCCHIO, close, fresh, mixed_model, shared, slope, state, states
from .samples import load, path_of

every_robot = pytest.mark.parametrize("name", EVERY)
UNCOUPLED = [name for name in ON_PINOCCHIO if not shared(name).couplings]
uncoupled = pytest.mark.parametrize("name", UNCOUPLED)
SWITCHES = list(itertools.product([True, False], repeat=3))


class TestAgainstPinocchio:
    @uncoupled
    def test_inverse_dynamics(self, name: str) -> None:
        robot = shared(name)
        model, data = robot.model, robot.model.createData()
        q, dq, ddq = state(robot)
        q_pin, rest = robot.to_pinocchio(q), np.zeros(robot.nv)
        close(robot.id(q, dq, ddq, False, False), pin.rnea(model, data, q_pin, dq, ddq), 1e-14)
        close(robot.gravity_force(q), pin.computeGeneralizedGravity(model, data, q_pin), 1e-12)
        close(robot.bias_force(q, dq), pin.nonLinearEffects(model, data, q_pin, dq), 1e-12)
        close(robot.coriolis_force(q, dq), pin.computeCoriolisMatrix(model, data, q_pin, dq) @ dq, 1e-11)
        close(robot.mass_matrix(q), pin.crba(model, data, q_pin), 1e-14)
        close(robot.kinetic_energy(q, dq), pin.computeKineticEnergy(model, data, q_pin, dq), 1e-12)
        close(robot.potential_energy(q), pin.computePotentialEnergy(model, data, q_pin), 1e-12)
        close(robot.fd(dq, q, ddq, False, False), pin.aba(model, data, q_pin, ddq, dq), 1e-12)
        close(robot.coriolis_force(q, rest), rest, 1e-15)

    @uncoupled
    def test_friction_is_damping_and_a_smooth_sign(self, name: str) -> None:
        robot = shared(name)
        _, dq, _ = state(robot)
        model = robot.model
        close(robot.friction(dq), model.damping * dq + model.friction * np.sin(np.arctan(100 * dq)), 1e-14)
        close(robot.friction(-dq), -robot.friction(dq), 1e-15)
        assert not robot.friction(np.zeros(robot.nv)).any()
        assert (robot.friction(dq) * dq >= 0).all()

    @uncoupled
    def test_rotors_add_gear_ratio_squared_times_inertia(self, name: str) -> None:
        robot = shared(name).with_motors(rotor_inertia=2e-4, gear_ratio=-50.0)
        q, dq, ddq = state(robot)
        close(robot.motor_inertias(ddq), 0.5 * ddq, 1e-14)
        close(robot.id(q, dq, ddq, True, False) - robot.id(q, dq, ddq, False, False), 0.5 * ddq, 1e-11)
        expected = np.linalg.solve(robot.mass_matrix(q) + 0.5 * np.eye(robot.nv), dq - robot.bias_force(q, ddq))
        close(robot.fd(dq, q, ddq, True, False), expected, 1e-11)
        close(robot.mass_matrix(q), shared(name).mass_matrix(q), 1e-14)


class TestAgainstTextbooks:
    @given(st.tuples(*[st.floats(-3, 3)] * 4))
    @settings(derandomize=True, deadline=None, max_examples=25)
    def test_two_links(self, values: tuple[float, ...]) -> None:
        robot, (q, dq) = load("planar_2r"), np.reshape(values, (2, 2))
        close(robot.mass_matrix(q), cf.planar_2r_mass_matrix(q), 1e-13)
        close(robot.coriolis_force(q, dq), cf.planar_2r_coriolis_force(q, dq), 1e-13)
        close(robot.gravity_force(q), cf.PLANAR_2R.gravity_torque(q), 1e-13)

    def test_point_masses_on_pinocchio_are_the_planar_arm(self) -> None:
        tilt = Transformation.from_rpy([0.3, -0.2, 0.5], [0.4, -0.3, 0.2])
        ours, model = PlanarArm(base_placement=tilt), pin.Model()
        model.gravity = pin.Motion(np.array([0, -9.81, 0]), np.zeros(3))
        joint = 0
        for i, (length, mass) in enumerate(zip(ours.l, ours.m, strict=True)):
            before = np.array([ours.l[i - 1] if i else 0.0, 0, 0])
            joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.eye(3), before), f"joint{i}")
            body = pin.Inertia(mass, np.array([length, 0, 0]), np.zeros((3, 3)))
            model.appendBodyToJoint(joint, body, pin.SE3.Identity())
        model.addFrame(pin.Frame("tip", joint, 0, pin.SE3(np.eye(3), np.array([ours.l[-1], 0, 0])), pin.OP_FRAME))
        theirs = PinRobot(wrapper=model, base_placement=tilt)
        q, dq, ddq = states(ours, 4)
        w = np.random.default_rng(0).normal(size=(4, 6))
        close(ours.fk(q), theirs.fk(q, frame="tip"), 1e-14)
        close(ours.mass_matrix(q), theirs.mass_matrix(q), 1e-13)
        close(ours.id(q, dq, ddq, eef_wrench=w), theirs.id(q, dq, ddq, eef_wrench=w), 1e-12)
        close(ours.fd(dq, q, ddq, eef_wrench=w), theirs.fd(dq, q, ddq, eef_wrench=w), 1e-11)
        close(ours.potential_energy(q[0]), theirs.potential_energy(q[0]), 1e-13)

    def test_a_wrench_on_a_horizontal_arm_by_hand(self) -> None:
        robot = load("planar_2r")
        q, reach = [0.0, 0.0], 0.5 + 0.4
        lift = robot.static_torque(q) - robot.static_torque(q, eef_wrench=[0, 0, 10.0, 0, 0, 0])
        close(lift, [10 * reach, 10 * 0.4], 1e-13)
        pull = robot.static_torque(q) - robot.static_torque(q, eef_wrench=[10.0, 0, 0, 0, 0, 0])
        close(pull, [0, 0], 1e-13)
        upright = [np.pi / 2, 0.0]
        along = robot.static_torque(upright, eef_wrench=[10.0, 0, 0, 0, 0, 0], eef_wrench_frame="tcp")
        close(along, robot.static_torque(upright), 1e-13)
        twist = robot.static_torque(q) - robot.static_torque(q, eef_wrench=[0, 0, 0, 0, -3.0, 0])
        close(twist, [3, 3], 1e-13)


class TestIdentities:
    @every_robot
    @pytest.mark.parametrize("motor, friction, pushed", SWITCHES)
    def test_fd_inverts_id(self, name: str, motor: bool, friction: bool, pushed: bool) -> None:
        robot = shared(name)
        for seed in range(3):
            q, dq, ddq = state(robot, seed)
            options: dict[str, Any] = {"motor_inertia": motor, "friction": friction}
            if pushed:
                options |= {"eef_wrench": np.random.default_rng(seed).normal(size=6), "eef_wrench_frame": "base"}
            close(robot.fd(robot.id(q, dq, ddq, **options), q, dq, **options), ddq, 1e-9)

    @every_robot
    def test_switches_add_their_terms_and_default_to_on(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = state(robot)
        bodies = robot.mass_matrix(q) @ ddq + robot.coriolis_force(q, dq) + robot.gravity_force(q)
        close(robot.id(q, dq, ddq, False, False), bodies, 1e-12)
        close(robot.id(q, dq, ddq, True, False), bodies + robot.motor_inertias(ddq), 1e-12)
        close(robot.id(q, dq, ddq, False, True), bodies + robot.friction(dq), 1e-12)
        close(robot.id(q, dq, ddq), bodies + robot.motor_inertias(ddq) + robot.friction(dq), 1e-12)
        close(robot.coriolis_force(q, -2 * dq), 4 * robot.coriolis_force(q, dq), 1e-12)

    @every_robot
    def test_friction_takes_the_energy_that_is_lost(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = state(robot)

        def energy(t: float) -> float:
            at, speed = robot.integrate(q, t * dq + t * t / 2 * ddq), dq + t * ddq
            rotors = speed @ robot.motor_inertias(speed) / 2
            return robot.kinetic_energy(at, speed) + rotors + robot.potential_energy(at)

        lost = robot.friction(dq) @ dq
        assert lost >= 0
        close(robot.id(q, dq, ddq) @ dq - lost, slope(energy, 2e-4), 1e-8)

    @every_robot
    def test_a_wrench_in_the_axes_of_any_frame(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = state(robot)
        w, free = np.random.default_rng(2).normal(size=6), robot.id(q, dq, ddq)
        J = robot.jacobian(q, reference=LWA)
        axes = {frame: robot.fk(q, frame=frame).rotation for frame in robot.frames[:: max(1, len(robot.frames) // 4)]}
        axes |= {"world": np.eye(3), "base": robot.placement.rotation, "tcp": robot.fk(q).rotation}
        for frame, R in axes.items():
            options: dict[str, Any] = {"eef_wrench": w, "eef_wrench_frame": frame}
            load = J.T @ np.kron(np.eye(2), R) @ w
            close(robot.id(q, dq, ddq, **options), free - load, 1e-12)
            held = robot.static_torque(q, **options)
            close(held, robot.gravity_force(q) - load, 1e-12)
            close(robot.fd(held, q, 0 * dq, **options), 0 * dq, 1e-10)

    @every_robot
    def test_gravity_is_linear_and_its_own_by_default(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = state(robot)
        pull, rest, own = np.array([1.0, -2.0, 3.0]), np.zeros(robot.nv), np.array([0, 0, -9.81])
        own = np.array([0, -9.81, 0]) if isinstance(robot, PlanarArm) else own
        close(robot.rnea(q, rest, rest, own), robot.gravity_force(q), 1e-11)
        pulled = robot.rnea(q, dq, ddq, pull) - robot.rnea(q, dq, ddq, np.zeros(3))
        close(pulled, sum(p * robot.rnea(q, rest, rest, e) for p, e in zip(pull, np.eye(3), strict=True)), 1e-11)

    @every_robot
    def test_batches_may_be_of_any_argument(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = states(robot, 3)
        w = np.random.default_rng(1).normal(size=(3, 6))
        for many in itertools.product([True, False], repeat=4):
            if any(many):
                args = [x if of else x[0] for x, of in zip((q, dq, ddq, w), many, strict=True)]
                rows = [[x[i] if of else x for x, of in zip(args, many, strict=True)] for i in range(3)]
                batch = robot.id(*args[:3], eef_wrench=args[3], eef_wrench_frame="tcp")
                close(batch, [robot.id(*r[:3], eef_wrench=r[3], eef_wrench_frame="tcp") for r in rows], 1e-13)
                batch = robot.fd(args[1], args[0], args[2], eef_wrench=args[3])
                close(batch, [robot.fd(r[1], r[0], r[2], eef_wrench=r[3]) for r in rows], 1e-11)
        held = robot.static_torque(q, eef_wrench=w)
        close(held, [robot.static_torque(*r[:1], eef_wrench=r[1]) for r in zip(q, w, strict=True)], 1e-13)

    @every_robot
    def test_an_empty_batch_gives_an_empty_batch(self, name: str) -> None:
        robot = shared(name)
        none, rest, w, one = np.zeros((0, robot.nq)), np.zeros(robot.nv), np.zeros(6), robot.neutral()
        assert robot.id(none, rest, rest, eef_wrench=w).shape == (0, robot.nv)
        assert robot.fd(np.zeros((0, robot.nv)), one, rest, eef_wrench=w).shape == (0, robot.nv)
        assert robot.static_torque(none, eef_wrench=w).shape == (0, robot.nv)
        assert robot.mass_matrix(none).shape == (0, robot.nv, robot.nv)
        assert robot.gravity_force(none).shape == (0, robot.nv)


class TestForcesPerJoint:
    @pytest.mark.parametrize("name", ON_PINOCCHIO)
    def test_one_force_at_the_tool_is_the_wrench_there(self, name: str) -> None:
        robot = shared(name)
        (q, _, _), w = state(robot), np.random.default_rng(3).normal(size=6)
        frame = robot.model.frames[robot.tcp_id]
        forces = [pin.Force.Zero()] * robot.model.njoints
        forces[frame.parentJoint] = frame.placement.act(pin.Force(w))
        expected = robot.static_torque(q, eef_wrench=w, eef_wrench_frame="tcp")
        stacked = pin.StdVec_Force()
        stacked.extend(forces)
        for form in (forces, stacked, np.array([f.vector for f in forces]), [f.vector.tolist() for f in forces]):
            close(robot.static_torque(q, form), expected, 1e-11)
        close(robot.static_torque(np.array([q, q]), f_ext=forces), [expected, expected], 1e-11)

    @pytest.mark.parametrize("name", ON_PINOCCHIO)
    def test_id_takes_them_off_and_fd_puts_them_back(self, name: str) -> None:
        robot = shared(name)
        q, dq, ddq = state(robot)
        forces = np.random.default_rng(4).normal(size=(robot.model.njoints, 6))
        pushed = robot.id(q, dq, ddq, f_ext=forces)
        close(robot.id(q, dq, ddq) - pushed, robot.gravity_force(q) - robot.static_torque(q, forces), 1e-11)
        close(robot.fd(pushed, q, dq, f_ext=forces), ddq, 1e-9)
        close(robot.id([q, q], dq, ddq, f_ext=forces), [pushed, pushed], 1e-12)
        close(robot.fd([pushed, pushed], q, dq, f_ext=forces), [ddq, ddq], 1e-9)

    def test_they_may_be_named(self) -> None:
        robot, push = shared("panda"), np.arange(6.0)
        forces = np.zeros((robot.model.njoints, 6))
        forces[robot.model.getJointId("panda_joint4")] = push
        for value in (push, push.tolist(), pin.Force(push)):
            close(robot.static_torque(f_ext={"panda_joint4": value}), robot.static_torque(f_ext=forces), 0.0)
        with pytest.raises(UnknownNameError, match="panda_joint4"):
            robot.static_torque(f_ext={"panda_joint_4": push})
        with pytest.raises(InputError, match="f_ext"):
            robot.static_torque(f_ext={"panda_joint4": [1, 2]})

    def test_there_is_one_per_joint_of_the_model(self) -> None:
        robot = shared("panda")
        for wrong in (np.zeros((3, 6)), [1.0] * 6, 5.0, [None] * 10, "forces", [pin.Force.Zero()]):
            with pytest.raises(InputError, match="f_ext"):
                robot.static_torque(f_ext=wrong)
        with pytest.raises(UnsupportedError, match="f_ext"):
            PlanarArm().static_torque(f_ext=np.zeros((4, 6)))


class TestWhatIsModelled:
    def test_armature_is_in_the_mass_matrix(self) -> None:
        model = mixed_model()
        plain = PinRobot(wrapper=model)
        model.armature = model.armature + 0.1
        thicker = PinRobot(wrapper=model)
        q, dq, ddq = state(plain)
        close(thicker.mass_matrix(q) - plain.mass_matrix(q), 0.1 * np.eye(plain.nv), 1e-12)
        close(thicker.id(q, dq, ddq) - plain.id(q, dq, ddq), 0.1 * ddq, 1e-11)
        close(thicker.fd(thicker.id(q, dq, ddq), q, dq), ddq, 1e-10)

    def test_mass_counts_the_base(self) -> None:
        assert load("planar_3r").mass == pytest.approx(3.6 + 2.4 + 1.2 + 0.6, abs=1e-12)
        floating = PinRobot.from_urdf(path_of("planar_3r"), root_joint="floating")
        assert floating.mass == pytest.approx(load("planar_3r").mass, abs=1e-12)
        close(floating.gravity_force()[:3], [0, 0, 9.81 * floating.mass], 1e-12)

    def test_gravity_is_chosen_at_loading(self) -> None:
        sideways = PinRobot.from_urdf(path_of("planar_2r"), gravity=[-9.81, 0, 0])
        q = np.array([0.4, 0.3])
        ahead = cf.PLANAR_2R.gravity_torque(np.add(q, [np.pi / 2, 0]))  # the same picture, turned by a quarter
        close(sideways.gravity_force(q), ahead, 1e-12)
        weightless = PinRobot.from_urdf(path_of("planar_2r"), gravity=[0, 0, 0])
        assert not weightless.gravity_force(q).any() and weightless.potential_energy(q) == 0

    def test_gravity_stays_in_the_world_when_the_base_is_tilted(self) -> None:
        robot = fresh("planar_3r")
        robot.set_base_placement(Transformation.from_rpy([0, -0.7, 0], [1, 2, 3]))
        q = np.array([0.4, 0.3, -0.2])
        close(robot.gravity_force(q), cf.PLANAR_3R.gravity_torque(np.add(q, [0.7, 0, 0])), 1e-12)

    def test_nothing_massive_gives_a_clear_error_or_zeros(self) -> None:
        model = pin.Model()
        model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "ghost")
        robot = PinRobot(wrapper=model)
        assert robot.mass == 0 and (robot.id([0.1], [0.2], [0.3]) == 0).all()
        assert (robot.rnea(np.zeros(1), np.zeros(1), np.zeros(1), np.array([0, 0, -1.0])) == 0).all()
        with pytest.raises(DescriptionError, match="singular: nothing that has mass hangs on 'ghost'"):
            robot.fd([1.0])
        with_arm = PinRobot.from_urdf(path_of("planar_2r"))
        with_arm.model.inertias[2] = pin.Inertia.Zero()
        with_arm.refresh()
        with pytest.raises(DescriptionError, match=f"hangs on '{with_arm.joints[1]}'$"):
            with_arm.fd([1.0, 1.0])
