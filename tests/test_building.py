"""Robots built joint by joint equal those that were read from a file, and bare Pinocchio."""

from __future__ import annotations

import math
import pickle
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import Coupling, PinBody, PinRobot
from knuckle.robot.rearranging import misplaced_joint

from .building_cases import (
    PENDULUM,
    assert_equal_robots,
    at_origin,
    on_pinocchio,
)
from .rebuilding import rebuilt, scrambled
from .robot_cases import REAL, TILTED, close, fresh
from .samples import load, path_of


class TestEquality:
    @on_pinocchio
    @pytest.mark.parametrize("seed, defer", [(None, False), (1, False), (2, True)])
    def test_a_robot_rebuilt_in_any_order_is_the_same(self, name: str, seed: int | None, defer: bool) -> None:
        robot = at_origin(name)
        new = rebuilt(robot, None if seed is None else scrambled(robot, seed), defer)
        assert misplaced_joint(new.model) is None
        assert_equal_robots(robot, new)

    @pytest.mark.parametrize("name", ["sevenr_arm", "ur5", "kinova", "xarm7", "cube_meshes"])
    def test_chains_have_the_default_tcp_and_home_of_the_file(self, name: str) -> None:
        robot = PinRobot.from_urdf(path_of(name) if path_of(name).exists() else REAL / f"{name}.urdf")
        new = rebuilt(robot)
        assert new.joints == robot.joints and new.tcp == robot.tcp
        np.testing.assert_array_equal(new.home_configuration, robot.home_configuration)

    def test_amid_a_tree_the_mass_matrix_is_still_right(self) -> None:
        """Appended last, joint d would stand apart from b's subtree; bare Pinocchio is wrong by 1 and more then."""
        rng = np.random.default_rng(0)
        parts = {
            name: (above, pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3)), pin.Inertia.Random())
            for name, above in (("a", "universe"), ("b", "a"), ("c", "a"), ("d", "b"))
        }
        right = pin.Model()
        for name in "abdc":
            above, pose, inertia = parts[name]
            joint = right.addJoint(right.getJointId(above), pin.JointModelRZ(), pose, name)
            right.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        robot = PinRobot.empty("tree")
        indices = [
            robot._add_joint(pin.JointModelRZ(), above, (), (), inertia, joint_placement=pose, joint_name=name)
            for name, (above, pose, inertia) in parts.items()
        ]
        assert indices == [1, 2, 3, 3] and robot.joints == ["a", "b", "d", "c"]
        q, v = rng.normal(size=4), rng.normal(size=4)
        M = pin.crba(right, right.createData(), q)
        close(robot.mass_matrix(q), np.triu(M) + np.triu(M, 1).T, 1e-13)
        close(robot.id(q, v, v), pin.rnea(right, right.createData(), q, v, v), 1e-12)
        close(robot.fd(v, q, v), pin.aba(right, right.createData(), q, v, v), 1e-9)

    def test_a_pendulum_by_hand(self) -> None:
        robot = PinRobot.empty("pendulum")
        robot._add_joint(pin.JointModelRX(), 0, PENDULUM, joint_name="pivot")
        q = 0.3
        close(robot.mass_matrix([q]), [[2.0 / 3 * (1 + 0.0025) - 2.0 / 3 * 0.0025 + 2.0 / 12 * 0.01]], 1e-12)
        close(robot.gravity_force([q]), [2.0 * 9.81 * 0.5 * math.sin(q)], 1e-12)
        assert robot.tcp == "bar" and robot.mass == 2.0

    def test_several_bodies_with_fixed_joints_between(self) -> None:
        robot = PinRobot.empty()
        bars = [PinBody.solid(f"bar{k}", coal.Box(0.1, 0.1, 0.2), 1.0) for k in range(3)]
        poses = [pin.SE3(np.eye(3), np.array([k, 0.0, 0.0])) for k in (1, 2)]
        between = [pin.Frame(f"weld{k}", 0, pose, pin.FrameType.OP_FRAME) for k, pose in enumerate(poses)]
        robot._add_joint(pin.JointModelRZ(), "universe", bars, between, joint_name="z")
        assert robot.frames == ["universe", "z", "bar0", "weld0", "bar1", "weld1", "bar2"]
        close([robot.fk([0.0], frame=f"bar{k}").translation[0] for k in range(3)], [0, 1, 2], 1e-15)
        close(robot.mass_matrix([0.0]), [[0 + 1 + 4 + 3 * (0.01 + 0.01) / 12]], 1e-12)
        close(robot.model.inertias[1].lever, [1, 0, 0], 1e-15)
        lighter = PinRobot.empty()
        lighter._add_joint(pin.JointModelRZ(), 0, bars, between, pin.Inertia(5.0, np.zeros(3), np.eye(3)))
        assert lighter.mass == 5.0 and lighter.joints[0].startswith("joint_")


class TestBase:
    def test_the_base_stands_where_it_was_put_and_moves_with_all_of_it(self) -> None:
        here, there = PinRobot.empty(base_placement=TILTED), PinRobot.empty()
        for robot in (here, there):
            foot = PinBody.solid("foot", coal.Sphere(0.1), 1.0)
            assert robot._add_body(foot, 0, 0) == (1, [0])
            robot._add_body(PinBody.solid("heel", coal.Sphere(0.1), 1.0), "universe", 1)
            robot._add_joint(pin.JointModelRY(), 0, PENDULUM, joint_placement=TILTED, joint_name="j")
        there.move(TILTED)
        for frame in ("foot", "heel", "j", "bar"):
            close(here.fk([0.4], frame=frame).homogeneous, there.fk([0.4], frame=frame).homogeneous, 1e-14)
        close(here.fk([0.4], frame="heel").homogeneous, TILTED.homogeneous, 1e-15)
        close(here.model.inertias[0].lever, TILTED.translation, 1e-15)
        for one, other in zip(here.collision.geometryObjects, there.collision.geometryObjects, strict=True):
            close(one.placement.homogeneous, other.placement.homogeneous, 1e-14)
        close(here.collision.geometryObjects[0].placement.homogeneous, TILTED.homogeneous, 1e-15)

    def test_a_body_weighs_at_once(self) -> None:
        robot = PinRobot.empty()
        robot._add_joint(pin.JointModelRX(), 0, joint_name="pivot")
        assert robot.mass == 0
        link, things = robot._add_body(PENDULUM, "pivot", robot.model.getFrameId("pivot"))
        assert robot.model.frames[link].name == "bar" and things == [0] and robot.mass == 2.0
        close(robot.gravity_force([0.3]), [9.81 * math.sin(0.3)], 1e-12)


class TestOptions:
    def test_limits_are_infinite_unless_given(self) -> None:
        robot = PinRobot.empty()
        robot._add_joint(pin.JointModelRZ(), 0, joint_name="a")
        options = {"max_effort": 3.0, "max_velocity": 2, "min_config": -1, "max_config": [0.5]}
        robot._add_joint(pin.JointModelRZ(), "a", joint_name="b", friction=0.3, damping=[0.4], armature=0.1, **options)
        np.testing.assert_array_equal(robot.joint_limits, [[-np.inf, -1], [np.inf, 0.5]])
        np.testing.assert_array_equal(robot.joint_velocity_limits, [np.inf, 2])
        np.testing.assert_array_equal(robot.joint_torque_limits, [np.inf, 3])
        close(robot.friction([1.0, 2.0]), [0, 0.8 + 0.3 * math.sin(math.atan(200))], 1e-14)
        close(robot.mass_matrix([0, 0]), [[0, 0], [0, 0.1]], 1e-15)

    def test_new_joints_start_within_their_limits_and_old_ones_keep_their_state(self) -> None:
        robot = PinRobot.empty()
        robot._add_joint(pin.JointModelRZ(), 0, joint_name="a")
        robot._add_joint(pin.JointModelRUBX(), "a", joint_name="turn")
        robot.update_configuration([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        robot._add_joint(pin.JointModelFreeFlyer(), 0, joint_name="free")
        robot._add_joint(pin.JointModelPX(), "a", joint_name="b", min_config=0.7)
        assert robot.joints == ["a", "turn", "b", "free"]
        np.testing.assert_array_equal(robot.q, [0.1, 0.2, 0.7, 0, 0, 0, 0, 0, 0, 1])
        np.testing.assert_array_equal(robot.home_configuration, [0, 0, 0.7, 0, 0, 0, 0, 0, 0, 1])
        np.testing.assert_array_equal(robot.dq, [1, 2, *[0] * 7])
        np.testing.assert_array_equal(robot.ddq, [3, 4, *[0] * 7])

    def test_a_joint_may_mimic_one_there_is(self) -> None:
        robot = PinRobot.empty()
        robot._add_joint(pin.JointModelPX(), 0, PENDULUM, joint_name="left")
        coupling = Coupling("right", "left", -2.0, 0.1)
        robot._add_joint(pin.JointModelPX(), 0, joint_name="right", coupling=coupling)
        assert robot.joints == ["left"] and robot.couplings == (coupling,)
        close(robot.fk([0.3], frame="right").translation, [-0.5, 0, 0], 1e-15)

    def test_stored_configurations_of_the_model_grow_along(self) -> None:
        model = load("planar_2r").model.copy()
        model.referenceConfigurations["up"] = np.array([0.1, 0.2])
        robot = PinRobot(wrapper=model)
        robot._add_joint(pin.JointModelRUBZ(), 0)
        robot._add_joint(pin.JointModelRZ(), 1)
        (entry,) = robot.model.referenceConfigurations
        close(entry.data(), [0.1, 0.2, 0.0, 1.0, 0.0], 0)


class TestDeferral:
    def test_nothing_shows_until_it_is_asked_for(self) -> None:
        robot = fresh("dual_arm")
        q, version = robot.q, robot.version
        before = robot.id(), robot.fk().homogeneous, robot.frames
        index = robot._add_joint(pin.JointModelRZ(), "waist", PENDULUM, update_kinematics=False, joint_name="new")
        assert robot.version == version and robot.q is q and "new" not in robot.joints
        assert robot.model.names[index] == "new" and robot.collision.ngeoms == 17
        robot._add_body(PinBody("more", 1.0), index, robot.model.getFrameId("bar"))
        for ours, now in zip(before, (robot.id(), robot.fk().homogeneous, robot.frames), strict=True):
            np.testing.assert_array_equal(ours, now)
        half = pickle.loads(pickle.dumps(robot))
        for one in (robot, half):
            one._update_kinematic()
            assert "new" in one.joints and one.nv == 14 and "more" in one.frames
        close(half.id(), robot.id(), 0)

    @pytest.mark.parametrize(
        "change",
        [
            lambda robot: robot.add_frame("x", "new", np.eye(4)),
            lambda robot: robot.add_tcp_frame("new", np.eye(4)),
            lambda robot: robot.move(TILTED),
            lambda robot: robot.refresh(),
            lambda robot: robot.attach(PENDULUM, "base"),
        ],
    )
    def test_every_other_change_takes_it_up(self, change: Any) -> None:
        robot = fresh("planar_3r")
        robot._add_joint(pin.JointModelRZ(), 0, update_kinematics=False, joint_name="new")
        change(robot)
        assert robot.joints[-1] == "new" and robot.nv == robot.model.nv == 4

    def test_new_versions_of_a_half_built_robot_are_whole(self) -> None:
        robot = fresh("planar_3r")
        robot._add_joint(pin.JointModelRZ(), 0, update_kinematics=False, joint_name="new")
        for twin in (robot.with_limits(velocity=1.0), robot.with_payload(1.0, frame="tool"), robot.reduced("new")):
            assert twin.model.njoints == 5 - (twin.nv == 3)
        assert "new" not in robot.joints

    def test_long_chains_are_built_in_one_go(self) -> None:
        robot = PinRobot.empty()
        for k in range(300):
            robot._add_joint(pin.JointModelRZ(), k, PinBody(f"link{k}", 1.0), update_kinematics=False)
        robot._update_kinematic()
        assert robot.nv == 300 and robot.mass == 300
