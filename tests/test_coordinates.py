"""The robot's own coordinates: joints that mimic, joints that turn for ever, floating bases, names in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import Coupling, DescriptionError, InputError, PinRobot, UnknownNameError, UnsupportedError

from .robot_cases import EVERY, LWA, MIXED, ON_PINOCCHIO, close, mixed_model, mixed_robot, shared, state, states
from .samples import path_of

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)
COUPLED = ("gripper", "mixed")
coupled = pytest.mark.parametrize("name", COUPLED)
HEAD = '<robot name="r"><link name="base"/>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def uncoupled(name: str) -> PinRobot:
    """The same robot with its followers as joints of their own."""
    if name == "gripper":
        return PinRobot.from_urdf(path_of("gripper"), mimic=False, tcp="left_pad")
    return PinRobot(wrapper=shared("mixed").model)


def spread(robot: PinRobot, free: PinRobot, q: np.ndarray) -> np.ndarray:
    """Configuration of the uncoupled robot."""
    values = dict(robot.joint_values(q))
    for c in robot.couplings:
        values[c.follower] = c.multiplier * values[c.leader] + c.offset
    return free.configuration_from(values)


def lever(robot: PinRobot, free: PinRobot) -> np.ndarray:
    """G (nv of the uncoupled robot, nv): speeds of all joints for speeds of the leaders."""
    G = np.zeros((free.nv, robot.nv))
    leaders = {c.follower: (c.leader, c.multiplier) for c in robot.couplings}
    for joint, (_, rows) in free.coordinate_slices().items():
        leader, factor = leaders.get(joint, (joint, 1.0))
        G[rows, robot.coordinate_slices()[leader][1]] = factor * np.eye(rows.stop - rows.start)
    return G


class TestMimic:
    @coupled
    def test_followers_are_no_coordinates(self, name: str) -> None:
        robot, free = shared(name), uncoupled(name)
        followers = {c.follower for c in robot.couplings}
        assert robot.joints == [joint for joint in free.joints if joint not in followers]
        assert robot.nv == free.nv - len(followers)
        assert followers <= set(robot.frames)

    @coupled
    def test_poses_are_those_of_the_uncoupled_robot(self, name: str) -> None:
        robot, free = shared(name), uncoupled(name)
        for seed in range(3):
            q, _, _ = state(robot, seed)
            full = free.fk(spread(robot, free, q), "full")
            for frame, T in robot.fk(q, "full").items():
                close(T.homogeneous, full[frame].homogeneous, 1e-14)
            close(robot.to_pinocchio(q), free.to_pinocchio(spread(robot, free, q)), 1e-14)

    @coupled
    def test_forces_are_the_uncoupled_ones_through_the_lever(self, name: str) -> None:
        robot, free = shared(name), uncoupled(name)
        q, dq, ddq = state(robot)
        G, q_free = lever(robot, free), spread(robot, free, q)
        close(robot.mass_matrix(q), G.T @ free.mass_matrix(q_free) @ G, 1e-13)
        close(robot.gravity_force(q), G.T @ free.gravity_force(q_free), 1e-13)
        close(robot.friction(dq), G.T @ free.friction(G @ dq), 1e-13)
        close(robot.motor_inertias(ddq), G.T @ free.motor_inertias(G @ ddq), 1e-13)
        close(robot.id(q, dq, ddq), G.T @ free.id(q_free, G @ dq, G @ ddq), 1e-12)
        close(robot.kinetic_energy(q, dq), free.kinetic_energy(q_free, G @ dq), 1e-12)
        close(robot.potential_energy(q), free.potential_energy(q_free), 1e-12)
        for frame in robot.frames:
            close(robot.jacobian(q, frame, LWA), free.jacobian(q_free, frame, LWA) @ G, 1e-13)

    @coupled
    def test_motion_is_that_of_the_uncoupled_robot_under_constraint(self, name: str) -> None:
        """Lagrange: M a + A^T l = tau - h, A a = 0, with A the coupling of the speeds."""
        robot, free = shared(name), uncoupled(name)
        q, dq, tau = state(robot)
        G, q_free = lever(robot, free), spread(robot, free, q)
        A = np.linalg.svd(G.T)[2][robot.nv :]
        M = free.mass_matrix(q_free) + np.diag(free.motors.reflected_inertia)
        drive = np.linalg.pinv(G).T @ tau - free.bias_force(q_free, G @ dq) - free.friction(G @ dq)
        system = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        expected = np.linalg.solve(system, np.concatenate([drive, np.zeros(len(A))]))[: free.nv]
        close(G @ robot.fd(tau, q, dq), expected, 1e-9)

    def test_limits_of_followers_bound_their_leader(self) -> None:
        model = pin.Model()
        for name, at in (("a", pin.JointModelRX()), ("b", pin.JointModelRY())):
            model.addJoint(0, at, pin.SE3.Identity(), name)
        model.lowerPositionLimit[:], model.upperPositionLimit[:] = [-2, -1], [2, 1.5]
        model.velocityLimit = np.array([3.0, 4.0])
        robot = PinRobot(wrapper=model, couplings=[Coupling("b", "a", -2.0, 0.5)])
        close(robot.joint_limits, [[-0.5], [0.75]], 1e-15)
        close(robot.joint_velocity_limits, [2.0], 1e-15)
        assert PinRobot(wrapper=model, couplings=[Coupling("a", "b", 0.0, 0.1)]).joint_limits.tolist() == [[-1], [1.5]]

    def test_a_follower_may_come_before_its_leader(self) -> None:
        robot = shared("gripper")
        names = list(robot.model.names)
        assert names.index("finger_left") < names.index("finger_right")
        assert robot.joints == ["finger_right"]
        close(robot.fk([0.02], frame="left_pad").translation, [0, 0.021, 0.13], 1e-14)
        close(robot.fk([0.02], frame="right_pad").translation, [0, -0.021, 0.13], 1e-14)

    @pytest.mark.parametrize(
        "couplings, message",
        [
            ([Coupling("hinge", "hing")], "no joint named 'hing'; did you mean 'hinge'"),
            ([Coupling("hinge", "hinge")], "mimics itself"),
            ([Coupling("hinge", "turn"), Coupling("hinge_follows", "hinge")], "itself mimics another"),
            ([Coupling("hinge", "turn"), Coupling("hinge", "slide")], "mimics two"),
            ([Coupling("hinge", "ball")], "'ball' has several degrees"),
            ([Coupling("hinge", "turn", np.nan)], "must be finite"),
            ([Coupling("hinge", "turn", 1.0, np.inf)], "must be finite"),
        ],
    )
    def test_impossible_couplings_are_refused(self, couplings: list[Coupling], message: str) -> None:
        with pytest.raises((DescriptionError, UnknownNameError), match=message):
            PinRobot(wrapper=mixed_model(), couplings=couplings)


class TestContinuous:
    def test_one_angle_that_never_ends(self) -> None:
        robot = shared("pan_tilt_continuous")
        assert (robot.nq, robot.nv, robot.model.nq) == (2, 2, 4)
        assert np.isinf(robot.joint_limits).all()
        q = np.array([0.4, -0.3])
        close(robot.fk(q + 2 * np.pi * np.array([3, -5])).homogeneous, robot.fk(q).homogeneous, 1e-13)
        assert robot.q_in_joint_limits(q + 100) and (robot.clip_to_limits(q + 100) == q + 100).all()
        close(robot.integrate(q, [3.0, 3.0]), [3.4, 2.7], 1e-15)
        drawn = np.array([robot.random_configuration(i) for i in range(100)])
        assert (np.abs(drawn) <= np.pi).all() and np.ptp(drawn, axis=0).min() > 5.5

    @given(st.floats(-20, 20), st.floats(-20, 20))
    @settings(derandomize=True, deadline=None, max_examples=50)
    def test_differences_take_the_short_way(self, start: float, end: float) -> None:
        robot = shared("pan_tilt_continuous")
        step = robot.difference([start, end], [end, start])
        assert (np.abs(step) <= np.pi + 1e-12).all()
        close(np.exp(1j * (np.array([start, end]) + step)), np.exp(1j * np.array([end, start])), 1e-12)
        middle = robot.interpolate([start, 0.0], [end, 0.0], 0.5)
        assert abs(middle[0] - start) <= np.pi / 2 + 1e-12

    def test_the_short_way_across_the_seam(self) -> None:
        robot = shared("pan_tilt_continuous")
        close(robot.difference([3.1, -3.1], [-3.1, 3.1]), [2 * np.pi - 6.2, 6.2 - 2 * np.pi], 1e-14)

    def test_a_follower_that_is_geared_down_feels_every_turn(self) -> None:
        model = mixed_model()
        geared = PinRobot(wrapper=model, couplings=[Coupling("turn_follows", "turn", 0.5)])
        bound = PinRobot(wrapper=model, couplings=[Coupling("hinge", "turn", 1.0)])
        whole = mixed_robot()  # follows by -2, so a full turn of the leader is no difference
        for robot, step in ((geared, 2 * np.pi + 0.1), (bound, 2 * np.pi + 0.1), (whole, 0.1)):
            q0, q1 = robot.neutral(), robot.neutral()
            q1[0] = 2 * np.pi + 0.1
            assert robot.difference(q0, q1)[0] == pytest.approx(step, abs=1e-12)

    def test_it_may_be_bounded_by_limits(self) -> None:
        robot = shared("pan_tilt_continuous").with_limits(position={"pan": (-0.5, 1.0)})
        drawn = np.array([robot.random_configuration(i) for i in range(50)])
        assert robot.q_in_joint_limits(drawn).all() and (np.abs(drawn[:, 0] - 0.25) <= 0.75).all()
        close(robot.clip_to_limits([2.0, 9.0]), [1.0, 9.0], 0)


class TestFloating:
    @pytest.mark.parametrize("name", ["quadruped", "solo12_floating"])
    def test_a_quaternion_for_three_speeds(self, name: str) -> None:
        robot = shared(name)
        assert robot.nq == robot.nv + 1
        at, _ = robot.coordinate_slices()[robot.joints[0]]
        assert robot.coordinate_names[at][3] == f"{robot.joints[0]}[3]"
        close(np.linalg.norm(robot.neutral()[at][3:]), 1.0, 0)
        q, dv, _ = state(robot)
        close(robot.integrate(q, dv), pin.integrate(robot.model, q, dv), 1e-14)
        other = robot.random_configuration(9)
        close(robot.difference(q, other), pin.difference(robot.model, q, other), 1e-14)

    def test_the_base_is_drawn_from_a_box(self) -> None:
        robot = shared("quadruped")
        drawn = np.array([robot.random_configuration(i) for i in range(200)])
        assert (np.abs(drawn[:, :3]) <= 1).all() and np.ptp(drawn[:, :3], axis=0).min() > 1.8
        close(np.linalg.norm(drawn[:, 3:7], axis=1), np.ones(200), 1e-14)
        rotations = np.array([robot.fk(q, frame="trunk").rotation for q in drawn])
        assert np.abs(rotations.mean(axis=0)).max() < 0.2  # uniform over all rotations: the mean is 0
        box = [[1, 2, 3], [1.5, 2, 4]]
        inside = np.array([robot.random_configuration(i, base_box=box)[:3] for i in range(50)])
        assert (inside >= box[0]).all() and (inside <= box[1]).all()

    def test_limits_of_the_base_bound_the_box(self) -> None:
        robot = shared("quadruped")
        bounds = robot.joint_limits
        bounds[:, :3] = [[-0.5, 0.2, -np.inf], [0.5, 0.3, np.inf]]
        caged = robot.with_limits(position=bounds)
        drawn = np.array([caged.random_configuration(i) for i in range(50)])
        assert caged.q_in_joint_limits(drawn).all() and np.ptp(drawn[:, 2]) > 1.5

    def test_unit_parts_are_normalised_or_refused(self) -> None:
        for name, at in (("quadruped", slice(3, 7)), ("panda_on_wheels", slice(2, 4)), ("mixed", slice(3, 7))):
            robot = shared(name)
            q, _, _ = state(robot)
            off = q.copy()
            off[at] *= 1.0005
            close(robot.fk(off).homogeneous, robot.fk(q).homogeneous, 1e-12)
            off[at] *= 2
            for refused in (off, np.array([q, off]), np.where(np.arange(len(q)) == at.start, 5.0, q)):
                with pytest.raises(InputError, match=r"q: the .* must have length 1"):
                    robot.fk(refused)
            with pytest.raises(InputError, match=r"q1: the .* must have length 1"):
                robot.difference(q, off)


class TestOtherJoints:
    def test_flat_joints_of_several_coordinates_have_limits(self) -> None:
        model, pair = pin.Model(), pin.JointModelComposite()
        pair.addJoint(pin.JointModelRX())
        pair.addJoint(pin.JointModelRY())
        low, high = np.array([-0.5, 0.1]), np.array([0.5, 0.3])
        joint = model.addJoint(0, pair, pin.SE3.Identity(), "pair", np.full(2, 5.0), np.full(2, 6.0), low, high)
        model.addJoint(joint, pin.JointModelTranslation(), pin.SE3.Identity(), "slides")
        robot = PinRobot(wrapper=model)
        close(robot.joint_limits[:, :2], [low, high], 0)
        assert np.isinf(robot.joint_limits[:, 2:]).all()
        drawn = np.array([robot.random_configuration(i) for i in range(100)])
        assert robot.q_in_joint_limits(drawn).all()
        assert (np.ptp(drawn, axis=0) > [0.9, 0.18, 1.8, 1.8, 1.8]).all() and (np.abs(drawn[:, 2:]) <= 1).all()

    def test_mimic_joints_of_pinocchio_are_refused_with_the_remedy(self) -> None:
        text = path_of("gripper").read_text()
        followers = [c.follower for c in shared("gripper").couplings]
        for name in followers:  # Pinocchio insists on leaders that sort first
            text = text.replace(name, "z_" + name)
        model = pin.buildModelFromXML(text, True)
        with pytest.raises(UnsupportedError, match="couplings="):
            PinRobot(wrapper=model)


class TestConversion:
    def test_zeros_are_no_configuration_of_continuous_joints(self) -> None:
        robot = shared("kinova")
        for zeros in (np.zeros(robot.model.nq), np.zeros((2, robot.model.nq))):
            with pytest.raises(InputError, match=r"cos, sin.* of joint 'j2s6s200_joint_1' must have length 1"):
                robot.from_pinocchio(zeros)

    @on_pinocchio
    def test_there_and_back(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = states(robot, 4)
        assert robot.to_pinocchio(q).shape == (4, robot.model.nq)
        close(robot.from_pinocchio(robot.to_pinocchio(q)), q, 1e-14)
        close(robot.to_pinocchio(q)[2], robot.to_pinocchio(q[2]), 1e-15)
        assert pin.isNormalized(robot.model, robot.to_pinocchio(q[0]), 1e-12)
        assert not np.shares_memory(robot.to_pinocchio(q[0]), q[0])
        assert robot.to_pinocchio().shape == (robot.model.nq,)

    @pytest.mark.parametrize("name", EVERY)
    def test_names_in_and_out(self, name: str) -> None:
        robot = shared(name)
        q, dq, _ = state(robot)
        named = robot.joint_values(q)
        assert list(named) == robot.joints
        close(robot.configuration_from(named), q, 1e-15)
        order = list(reversed(robot.joints))
        close(q[robot.permutation(order)], np.hstack([named[joint] for joint in order]), 0)
        back = np.empty(robot.nq)
        back[robot.permutation(order)] = q[robot.permutation(order)]
        assert (back == q).all()
        speeds = {joint: dq[at] for joint, (_, at) in robot.coordinate_slices().items()}
        close(robot.id(named, speeds, speeds), robot.id(q, dq, dq), 1e-13)
        last = robot.joints[-1]
        close(robot.fk({last: named[last]}).homogeneous, robot.fk(mixture(robot, last, q)).homogeneous, 1e-15)

    def test_joints_stand_in_the_order_of_the_model_whatever_the_file(self, tmp_path: Path) -> None:
        links = "".join(f'<link name="{link}"/>' for link in "uv")
        joints = "".join(
            f'<joint name="{joint}" type="revolute"><parent link="base"/><child link="{child}"/>'
            f'<axis xyz="{axis}"/>{LIMIT}</joint>'
            for joint, child, axis in (("z_first", "u", "1 0 0"), ("a_second", "v", "0 1 0"))
        )
        path = tmp_path / "two.urdf"
        path.write_text(HEAD + links + joints + "</robot>")
        robot = PinRobot.from_urdf(path)
        assert robot.joints == list(robot.model.names)[1:] == robot.coordinate_names == robot.dof_names
        q = robot.configuration_from({"z_first": 0.3, "a_second": 0.4})
        assert q[robot.permutation(["z_first", "a_second"])].tolist() == [0.3, 0.4]
        assert robot.fk(q, frame="u").rotation_vector.tolist() == pytest.approx([0.3, 0, 0])
        assert robot.fk({"a_second": 0.4}, frame="v").rotation_vector.tolist() == pytest.approx([0, 0.4, 0])

    def test_a_link_and_a_joint_may_share_a_name(self, tmp_path: Path) -> None:
        path = tmp_path / "one.urdf"
        joint = f'<joint name="arm" type="revolute"><parent link="base"/><child link="arm"/>{LIMIT}</joint>'
        path.write_text(HEAD + '<link name="arm"/>' + joint + "</robot>")
        robot = PinRobot.from_urdf(path)
        assert robot.frames == ["universe", "base", "joint:arm", "link:arm"]
        assert robot.fk([0.3], frame="arm") == robot.fk([0.3], frame="link:arm")


def mixture(robot: PinRobot, joint: str, q: np.ndarray) -> np.ndarray:
    """The stored configuration with one joint from q."""
    at, result = robot.coordinate_slices()[joint][0], robot.q.copy()
    result[at] = q[at]
    return result


def test_the_mixed_robot_has_every_kind_of_coordinate() -> None:
    robot = mixed_robot()
    assert robot.couplings == MIXED
    assert robot.joints == ["turn", "slide", "hinge", "ball"]
    assert (robot.nq, robot.nv, robot.model.nq, robot.model.nv) == (7, 6, 12, 9)
