"""Robots built joint by joint equal those that were read from a file, and bare Pinocchio."""

from __future__ import annotations

import math
import pickle
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import Coupling, DescriptionError, InputError, KnuckleError, PinBody, PinRobot, Transformation
from knuckle.robot.rearranging import depth_first, misplaced_joint, rearranged

from .rebuilding import rebuilt, scrambled
from .robot_cases import ON_PINOCCHIO, REAL, TILTED, close, fresh, shared, state
from .samples import load, path_of

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)
WELD = pin.Frame("weld", 0, pin.SE3.Identity(), pin.FrameType.FIXED_JOINT)
PENDULUM = PinBody.solid("bar", coal.Box(0.1, 0.1, 1.0), 2.0, Transformation.from_translation([0, 0, -0.5]))


def _exact() -> PinRobot:
    return PinRobot(wrapper=pin.Model(), collision_meshes="exact")


def at_origin(name: str) -> PinRobot:
    robot = fresh(name)
    robot.set_base_placement(Transformation.identity())
    return robot


def moved_over(values: Any, old: PinRobot, new: PinRobot, which: int) -> Any:
    """Values of one robot's joints in the order of another's."""
    result = np.zeros(new.nv if which else new.nq)
    for joint, at in new.coordinate_slices().items():
        result[at[which]] = values[old.coordinate_slices()[joint][which]]
    return result


def assert_equal_robots(old: PinRobot, new: PinRobot) -> None:
    q, dq, ddq = state(old)
    p, dp, ddp = moved_over(q, old, new, 0), moved_over(dq, old, new, 1), moved_over(ddq, old, new, 1)
    ours, theirs = new.fk(p, kind="full"), old.fk(q, kind="full")
    assert set(ours) == set(theirs)
    for frame, pose in theirs.items():
        close(ours[frame].homogeneous, pose.homogeneous, 1e-12)
    order = moved_over(np.arange(old.nv), old, new, 1).astype(int)
    close(new.mass_matrix(p), old.mass_matrix(q)[np.ix_(order, order)], 1e-11)
    close(new.id(p, dp, ddp, motor_inertia=False), old.id(q, dq, ddq, motor_inertia=False)[order], 1e-11)
    close(new.friction(dp), old.friction(dq)[order], 1e-13)
    for kind in ("velocity", "torque"):
        np.testing.assert_array_equal(getattr(new.limits, kind), getattr(old.limits, kind)[order])
    bounds = [moved_over(row, old, new, 0) for row in old.limits.position]
    np.testing.assert_allclose(new.limits.position, bounds, rtol=1e-15)
    assert new.mass == pytest.approx(old.mass, rel=1e-12)
    assert_equal_geometry(old, new, q, p)
    assert set(map(frozenset, new.active_pairs)) == set(map(frozenset, old.active_pairs))
    theirs_out = {frozenset(pair): reason for pair, reason in old.excluded_pairs.items()}
    assert {frozenset(pair): reason for pair, reason in new.excluded_pairs.items()} == theirs_out


def assert_equal_geometry(old: PinRobot, new: PinRobot, q: Any, p: Any) -> None:
    for which in ("collision", "visual"):
        placed = []
        for robot, at in ((old, q), (new, p)):
            model, geometry = robot.model, getattr(robot, which)
            data, scratch = model.createData(), geometry.createData()
            pin.updateGeometryPlacements(model, data, geometry, scratch, robot.to_pinocchio(at))
            placed.append(
                {t.name: (t, M.homogeneous) for t, M in zip(geometry.geometryObjects, scratch.oMg, strict=True)}
            )
        before, after = placed
        assert set(before) == set(after)
        for name, (thing, pose) in before.items():
            twin, there = after[name]
            close(there, pose, 1e-12)
            for shape in (twin.geometry, thing.geometry):
                shape.computeLocalAABB()  # it is part of what is compared
            assert twin.geometry == thing.geometry and twin.meshPath == thing.meshPath
            assert (twin.meshColor == thing.meshColor).all() and (twin.meshScale == thing.meshScale).all()
            assert new.model.frames[twin.parentFrame].name == old.model.frames[thing.parentFrame].name


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


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no joint model": ({"joint": "revolute"}, "joint must be"),
    "a class": ({"joint": pin.JointModelRZ}, "brackets"),
    "an empty model": ({"joint": pin.JointModelComposite()}, "empty|moves"),
    "unknown parent": ({"parent": "sholder"}, "shoulder"),
    "parent out of range": ({"parent": 99}, "99"),
    "negative parent": ({"parent": -1}, "-1"),
    "boolean parent": ({"parent": True}, "parent"),
    "no parent": ({"parent": None}, "parent"),
    "joint there is": ({"joint_name": "elbow"}, "exists already"),
    "the world's name": ({"joint_name": "universe"}, "exists already"),
    "name of a wrong kind": ({"joint_name": 3}, "joint_name"),
    "link there is": ({"bodies": PinBody("link1")}, "exists already"),
    "twice the same link": ({"bodies": [PinBody("x"), PinBody("x")], "fixed_joints": [WELD]}, "exists|named"),
    "geometry there is": ({"bodies": PinBody("y", collision=coal.Sphere(1.0)).renamed("link1")}, "exists already"),
    "no body": ({"bodies": ["x"]}, "bodies"),
    "a name for bodies": ({"bodies": "x"}, "bodies"),
    "fixed joints without bodies": ({"fixed_joints": [WELD]}, "fixed_joints"),
    "bodies without fixed joints": ({"bodies": [PinBody("x"), PinBody("y")]}, "fixed_joints"),
    "one frame bare": ({"fixed_joints": WELD}, "fixed_joints"),
    "no frames": ({"fixed_joints": ["x"]}, "fixed_joints"),
    "no inertia": ({"inertia": 3.0}, "inertia"),
    "inertia of nothing": ({"inertia": pin.Inertia(math.nan, np.zeros(3), np.eye(3))}, "inertia"),
    "no pose": ({"joint_placement": np.zeros((4, 4))}, "joint_placement"),
    "NaN pose": ({"joint_placement": np.full((4, 4), math.nan)}, "joint_placement"),
    "negative effort": ({"max_effort": -1.0}, "max_effort"),
    "NaN speed": ({"max_velocity": math.nan}, "max_velocity"),
    "too many bounds": ({"min_config": [0, 1]}, "min_config"),
    "crossed bounds": ({"min_config": 1, "max_config": 0}, "min_config"),
    "one bound of a turn": ({"joint": pin.JointModelRUBZ(), "max_config": 1.0}, "JointModelRZ"),
    "negative friction": ({"friction": -1}, "friction"),
    "infinite damping": ({"damping": math.inf}, "damping"),
    "no number": ({"armature": "much"}, "armature"),
    "no coupling": ({"coupling": "elbow"}, "coupling"),
    "coupling of another": ({"coupling": Coupling("elbow", "shoulder")}, "follower"),
    "unknown leader": ({"joint_name": "new", "coupling": Coupling("new", "elbo")}, "elbow"),
    "its own leader": ({"joint_name": "new", "coupling": Coupling("new", "new")}, "new"),
    "endless gear": ({"joint_name": "new", "coupling": Coupling("new", "elbow", math.nan)}, "finite"),
    "ball that mimics": (
        {"joint": pin.JointModelSpherical(), "joint_name": "new", "coupling": Coupling("new", "elbow")},
        "degrees of freedom",
    ),
}


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
