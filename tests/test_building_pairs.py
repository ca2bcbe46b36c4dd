"""Collision pairs of robots built joint by joint, and errors on the way."""

from __future__ import annotations

import pickle
from typing import Any

import coal
import pinocchio as pin
import pytest

from knuckle import Coupling, DescriptionError, InputError, KnuckleError, PinBody, PinRobot, Transformation
from knuckle.robot.rearranging import depth_first, misplaced_joint, rearranged

from .building_cases import (
    BAD,
    PENDULUM,
    _exact,
    on_pinocchio,
)
from .robot_cases import fresh, shared
from .samples import load, path_of


class TestPairs:
    def test_neighbours_and_what_touches_at_home_are_left_out(self) -> None:
        ball = PinBody.solid("b", coal.Sphere(0.1), 1.0)
        robot = PinRobot.empty()
        robot._add_body(ball.renamed("base"), 0, 0)
        for k, x in enumerate((1.0, 1.0, -1.95, 2.0)):
            pose = Transformation.from_translation([x, 0, 0])
            robot._add_joint(pin.JointModelRZ(), k, ball.renamed(f"b{k}"), joint_placement=pose)
        names = [thing.name for thing in robot.collision.geometryObjects]
        pairs = {(names[p.first], names[p.second]) for p in robot.collision.collisionPairs}
        # at home they stand at 0, 1, 2, 0.05, 2.05
        assert pairs == {("base_0", "b1_0"), ("base_0", "b3_0"), ("b0_0", "b2_0"), ("b0_0", "b3_0")}

    def test_meshes_count_by_their_hulls_as_at_load(self) -> None:
        mesh = PinRobot.from_urdf(path_of("cube_meshes"), tcp="tool").visual.geometryObjects[0].geometry
        for robot, kind in ((PinRobot.empty(), coal.ConvexBase), (_exact(), coal.BVHModelBase)):
            robot._add_joint(pin.JointModelRZ(), 0, PinBody("cube", collision=mesh, visual=mesh), joint_name="j")
            assert isinstance(robot.collision.geometryObjects[0].geometry, kind)
            assert isinstance(robot.visual.geometryObjects[0].geometry, coal.BVHModelBase)

    def test_pairs_may_change_while_joints_are_pending(self) -> None:
        robot = fresh("dual_arm")
        before = robot.active_pairs
        robot._add_joint(pin.JointModelRZ(), "waist", PENDULUM, update_kinematics=False, joint_name="new")
        robot.remove_collision_pairs([before[0]])
        assert robot.active_pairs[: len(before) - 1] == before[1:] and "new" in robot.joints

    def test_they_can_wait(self) -> None:
        robot = PinRobot.empty()
        ball = PinBody.solid("b", coal.Sphere(0.1), 1.0)
        pose = Transformation.from_translation([1, 0, 0])
        for k in range(3):
            options = {"update_home_collisions": False, "joint_placement": pose}
            robot._add_joint(pin.JointModelRZ(), k, ball.renamed(f"b{k}"), **options)
        assert not len(robot.collision.collisionPairs)
        pickle.loads(pickle.dumps(robot))._update_home_collisions()
        robot._update_home_collisions()
        assert [(p.first, p.second) for p in robot.collision.collisionPairs] == [(0, 2)]


class TestErrors:
    @pytest.mark.parametrize("defer", [False, True])
    @pytest.mark.parametrize("case", BAD)
    def test_what_cannot_be_added_changes_nothing(self, case: str, defer: bool) -> None:
        options, word = BAD[case]
        robot = fresh("planar_3r")
        if defer:
            robot._add_joint(pin.JointModelRZ(), 1, PENDULUM, joint_name="before", update_kinematics=False)
        before = robot.model.copy(), robot.collision.clone(), robot.visual.clone(), robot.version
        with pytest.raises(KnuckleError, match=word):
            robot._add_joint(**({"joint": pin.JointModelRZ(), "parent": "shoulder"} | options))
        assert (robot.model, robot.collision, robot.visual, robot.version) == before

    @pytest.mark.parametrize(
        "arguments, word",
        [
            (("x", 1, 2), "body"),
            ((PinBody("x"), "elbo", 2), "elbow"),
            ((PinBody("x"), 1, 99), "99"),
            ((PinBody("x"), 1, 1), "carried by"),
            ((PinBody("link1"), 1, 2), "exists already"),
            ((PinBody("x", collision=BAD["geometry there is"][0]["bodies"].collision), 1, "a"), "parent_frame_id"),
        ],
    )
    def test_bad_bodies(self, arguments: tuple[Any, ...], word: str) -> None:
        robot = fresh("planar_3r")
        before = robot.model.copy(), robot.collision.clone(), robot.version
        with pytest.raises(InputError, match=word):
            robot._add_body(*arguments)
        assert (robot.model, robot.collision, robot.version) == before

    def test_followers_lead_nobody(self) -> None:
        robot = fresh("gripper")
        with pytest.raises(DescriptionError, match="finger_right"):
            robot._add_joint(
                pin.JointModelPX(), 0, joint_name="third", coupling=Coupling("third", "finger_left", 1.0, 0.0)
            )

    def test_empty_robots(self) -> None:
        robot = PinRobot.empty("nothing")
        assert robot.nq == robot.nv == robot.mass == 0 and robot.frames == ["universe"]
        for options in ({"name": 3}, {"gravity": [1, 2]}, {"base_placement": "here"}, {"rng": "dice"}):
            with pytest.raises(InputError):
                PinRobot.empty(**options)

    def test_geometry_without_a_frame_gets_one_and_without_a_joint_is_refused(self) -> None:
        model, geometry = load("planar_2r").model, pin.GeometryModel()
        geometry.addGeometryObject(pin.GeometryObject("ball", 1, pin.SE3.Identity(), coal.Sphere(0.1)))
        robot = PinRobot(wrapper=(model, geometry))
        thing = robot.collision.geometryObjects[0]
        assert robot.model.frames[thing.parentFrame].name == robot.joints[0]
        robot.collision.addGeometryObject(pin.GeometryObject("foreign", 99, pin.SE3.Identity(), coal.Sphere(0.1)))
        for refused in (robot.refresh, lambda: PinRobot(wrapper=(model, robot.collision))):
            with pytest.raises(InputError, match="99"):
                refused()

    def test_models_out_of_order_are_refused(self) -> None:
        model = pin.Model()
        for parent, name in ((0, "a"), (1, "b"), (1, "c"), (2, "d")):
            model.addJoint(parent, pin.JointModelRZ(), pin.SE3.Identity(), name)
        with pytest.raises(NotImplementedError, match=r"'d' .* 'b'"):
            PinRobot(wrapper=model)
        assert depth_first(model) == [1, 2, 4, 3]
        assert misplaced_joint(rearranged(model, depth_first(model))[0]) is None


@on_pinocchio
def test_a_model_put_together_again_is_the_same_to_the_last_bit(name: str) -> None:
    model = shared(name).model
    again, at = rearranged(model, range(1, model.njoints))
    assert again == model and at == list(range(model.njoints))
