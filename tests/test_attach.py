"""Tools and grasped objects: what they add is there at once, and gone without a trace."""

from __future__ import annotations

import math
import pickle
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import BodyGeometry, InputError, PinBody, PinRobot, Transformation, UnknownNameError

from .robot_cases import LWA, ON_PINOCCHIO, TILTED, close, fresh, shared, state
from .samples import load

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)
CUP = PinBody.solid("cup", coal.Cylinder(0.04, 0.1), 0.3, Transformation.from_translation([0, 0, 0.05]), (0, 0, 1, 1))
TOOL = PinBody(
    "drill",
    1.2,
    [0.01, 0.0, 0.05],
    np.diag([2e-3, 2e-3, 1e-3]),
    collision=[coal.Box(0.05, 0.05, 0.1), BodyGeometry(coal.Cylinder(0.005, 0.08), TILTED, (1, 0, 0, 1), "bit")],
    visual=BodyGeometry(coal.Box(0.05, 0.05, 0.1), colour=(0.2, 0.2, 0.2, 1.0)),
)
ABOVE = Transformation.from_translation([0, 0, 0.15])


def paired(name: str) -> PinRobot:
    robot = fresh(name)
    robot.add_collision_pairs(robot.excluded_pairs.keys() - _rigid(robot))
    return robot


def _rigid(robot: PinRobot) -> set[tuple[str, str]]:
    return {pair for pair, reason in robot.excluded_pairs.items() if reason.startswith("rigid")}


def everything(robot: PinRobot) -> dict[str, Any]:
    """All that attaching must not leave a trace in."""
    q, dq, ddq = state(robot)
    found = {
        "models": (robot.model.copy(), robot.collision.clone(), robot.visual.clone()),
        "frames": (robot.frames, robot.joints, robot._tcp, robot.mass, robot.attached),
        "pairs": (robot.active_pairs, dict(robot.excluded_pairs)),
        "answers": [robot.id(q, dq, ddq), robot.fd(dq, q, ddq), robot.mass_matrix(q), robot.frame_poses(q)],
    }
    found["answers"] += [robot.q, robot.dq, robot.home_configuration, robot.joint_limits]
    return found


def assert_same_to_the_last_bit(now: dict[str, Any], before: dict[str, Any]) -> None:
    assert now["frames"] == before["frames"] and now["pairs"] == before["pairs"]
    for ours, theirs in zip(now["models"], before["models"], strict=True):
        assert ours == theirs
    for ours, theirs in zip(now["answers"], before["answers"], strict=True):
        np.testing.assert_array_equal(ours, theirs)


class TestWhatItAdds:
    @on_pinocchio
    def test_mass_as_a_payload_does(self, name: str) -> None:
        robot, frame = fresh(name), shared(name).frames[-1]
        robot.attach(TOOL, frame, ABOVE)
        robot.attach(CUP, frame, TILTED)
        loaded = shared(name)
        for body, pose in ((TOOL, ABOVE), (CUP, TILTED)):
            R = pose.rotation
            com = pose.homogeneous[:3, :3] @ body.com + pose.translation
            loaded = loaded.with_payload(body.mass, com, R @ body.inertia @ R.T, frame)
        q, dq, ddq = state(robot)
        close(robot.id(q, dq, ddq), loaded.id(q, dq, ddq), 1e-11)
        close(robot.mass_matrix(q), loaded.mass_matrix(q), 1e-11)
        assert robot.mass == pytest.approx(loaded.mass, rel=1e-14)
        close(robot.fd(robot.id(q, dq, ddq), q, dq), ddq, 1e-8)

    @on_pinocchio
    def test_a_tcp_where_it_is_said(self, name: str) -> None:
        robot = fresh(name)
        q, before = state(robot)[0], robot.fk(state(robot)[0])
        title = robot.attach(TOOL, placement=TILTED, tcp=ABOVE)
        assert robot.tcp == f"{title}_tcp"
        close(robot.fk(q).homogeneous, (before @ TILTED @ ABOVE).homogeneous, 1e-12)
        close(robot.fk(q, frame=title).homogeneous, (before @ TILTED).homogeneous, 1e-12)
        spot = fresh(name)
        spot.add_frame("spot", spot.tcp, TILTED @ ABOVE)
        close(robot.jacobian(q, robot.tcp, LWA), spot.jacobian(q, "spot", LWA), 1e-12)

    @pytest.mark.parametrize("name", ["sixr_arm", "scara", "cube_meshes"])
    def test_the_default_tcp_stays_without_one(self, name: str) -> None:
        robot = PinRobot(wrapper=load(name).model)
        tip = robot.tcp
        robot.attach(CUP)
        robot.add_frame("rim", "cup", ABOVE)
        assert robot.tcp == tip
        robot._add_joint(pin.JointModelRZ(), robot.joints[-1], PinBody("next"), joint_name="more")
        assert robot.tcp == "next"
        assert robot.model.frames[robot.model.frames[robot.model.getFrameId("more")].parentFrame].name == tip
        robot.detach("cup")
        assert "rim" not in robot.frames and robot.tcp == "next"

    def test_geometry_where_it_is_with_the_colours(self) -> None:
        robot = fresh("sevenr_arm")
        q = state(robot)[0]
        assert robot.attach(TOOL, placement=TILTED) == "drill"
        things = {thing.name: index for index, thing in enumerate(robot.collision.geometryObjects)}
        data, scratch = robot.model.createData(), robot.collision.createData()
        pin.updateGeometryPlacements(robot.model, data, robot.collision, scratch, robot.to_pinocchio(q))
        body = robot.fk(q) @ TILTED
        for name, pose in (("drill_0", body), ("drill_1", body @ TILTED)):
            close(scratch.oMg[things[name]].homogeneous, pose.homogeneous, 1e-12)
        assert robot.collision.geometryObjects[things["drill_1"]].meshColor.tolist() == [1, 0, 0, 1]
        seen = robot.visual.geometryObjects[robot.visual.getGeometryId("drill_0")]
        close(seen.meshColor, [0.2, 0.2, 0.2, 1.0], 1e-15)
        assert robot.model.frames[seen.parentFrame].name == "drill"
        robot.collision.geometryObjects[things["drill_0"]].geometry.halfSide = np.full(3, 9.0)
        close(TOOL.collision[0].shape.halfSide, [0.025, 0.025, 0.05], 0)

    def test_pairs_with_all_but_its_neighbours(self) -> None:
        robot = fresh("sixr_arm")
        before = robot.active_pairs
        robot.attach(CUP, "link4")
        far = ["base_0", "link1_0", "link2_0", "link6_0"]
        assert robot.active_pairs == before + [(other, "cup_0") for other in far]
        near = {("link3_0", "cup_0"): "adjacent", ("link5_0", "cup_0"): "adjacent", ("link4_0", "cup_0"): "rigid"}
        for pair, reason in near.items():
            assert robot.excluded_pairs[pair].startswith(reason)
        robot.attach(CUP, "link4")
        assert len(robot.active_pairs) == len(before) + 8  # the cups are fixed to each other
        robot.attach(CUP, "base")
        # links 2 to 6 and the two cups, but not link 1, which the base carries
        assert len(robot.active_pairs) == len(before) + 8 + 7

    def test_it_is_seen_to_collide(self) -> None:
        robot = fresh("sixr_arm")
        assert not robot.has_self_collision()
        pole = PinBody.solid("pole", coal.Capsule(0.01, 4.0), 0.5)
        robot.attach(pole, placement=Transformation.from_rpy([0, np.pi / 2, 0], [0, 0, 0.05]))
        robot.attach(pole, "link1", Transformation.from_translation([0, 0, 2.0]), name="mast")
        contacts = {contact.links for contact in robot.collisions()}
        assert contacts and all({"pole", "mast"} & set(links) for links in contacts)
        robot.detach("pole")
        robot.detach("mast")
        assert not robot.has_self_collision()

    def test_a_hand_may_hold_it(self) -> None:
        robot = fresh("gripper")
        robot.attach(PinBody.solid("ball", coal.Sphere(0.03), 0.1), "palm")
        assert all("ball_0" not in pair for pair in robot.active_pairs)

    def test_names_are_new_ones(self) -> None:
        robot = fresh("sixr_arm")
        assert [robot.attach(CUP), robot.attach(CUP), robot.attach(CUP, name="mug")] == ["cup", "cup_2", "mug"]
        assert list(robot.attached) == ["cup", "cup_2", "mug"] and robot.attached["mug"] is CUP
        assert robot.attach(CUP.renamed("link2")) == "link2_2"

    @pytest.mark.parametrize("frame", ["base", "universe"])
    def test_on_the_base_it_moves_with_it(self, frame: str) -> None:
        robot = fresh("dual_arm")
        robot.attach(TOOL, frame, ABOVE, tcp=TILTED)
        q = state(robot)[0]
        before = {name: robot.fk(q, frame=name) for name in ("drill", "drill_tcp")}
        places = [thing.placement.homogeneous.copy() for thing in robot.collision.geometryObjects]
        lever = TILTED.homogeneous @ [*robot.model.inertias[0].lever, 1.0]
        robot.move(TILTED)
        for name, pose in before.items():
            close(robot.fk(q, frame=name).homogeneous, (TILTED @ pose).homogeneous, 1e-14)
        for thing, place in zip(robot.collision.geometryObjects, places, strict=True):
            moves = TILTED.homogeneous @ place if thing.parentJoint == 0 else place
            close(thing.placement.homogeneous, moves, 1e-14)
        close(robot.model.inertias[0].lever, lever[:3], 1e-14)
        moved = fresh("dual_arm")
        moved.move(TILTED)
        robot.detach("drill")
        assert_same_to_the_last_bit(everything(robot), everything(moved))


class TestWhatItLeaves:
    @on_pinocchio
    def test_no_trace(self, name: str) -> None:
        robot = paired(name)
        robot.update_configuration(*state(robot))
        before = everything(robot)
        tool = robot.attach(TOOL, tcp=ABOVE)
        cup = robot.attach(CUP)  # on the tool's tcp
        on_base = robot.attach(CUP, "universe")
        with pytest.raises(InputError, match="cup"):
            robot.detach(tool)
        for title in (on_base, cup, tool):
            robot.detach(title)
        assert_same_to_the_last_bit(everything(robot), before)

    @given(st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 5)), max_size=12))
    @settings(max_examples=25, deadline=None)
    def test_in_any_order(self, steps: list[tuple[int, bool, int]]) -> None:
        robot = PinRobot(wrapper=(load("dual_arm").model, load("dual_arm").collision), tcp="left_tool")
        before = everything(robot)
        hung: list[str] = []
        for frame, with_tcp, which in steps:
            if which < len(hung):
                robot.detach(hung.pop(which))
            else:
                hung.append(robot.attach(TOOL, before["frames"][0][3 * frame], tcp=ABOVE if with_tcp else None))
            assert robot.mass == pytest.approx(before["frames"][3] + 1.2 * len(hung), rel=1e-12)
            assert robot.tcp in robot.frames
        for title in hung:
            robot.detach(title)
        assert_same_to_the_last_bit(everything(robot), before)

    def test_the_tcp_is_what_it_was_whichever_goes_first(self) -> None:
        robot = fresh("sixr_arm")
        a = robot.attach(TOOL, "link6", tcp=ABOVE)
        b = robot.attach(TOOL, "link6", tcp=ABOVE)
        robot.detach(a)
        assert robot.tcp == f"{b}_tcp"
        robot.detach(b)
        assert robot.tcp == "tool"
        c = robot.attach(TOOL, tcp=ABOVE)
        robot.tcp = "link3"
        robot.detach(c)
        assert robot.tcp == "link3"

    def test_what_changed_meanwhile_stays_changed(self) -> None:
        robot = load("sixr_arm").with_attached(CUP).with_payload(0.7, [0.1, 0, 0], frame="link6")
        robot.detach("cup")
        alone = load("sixr_arm").with_payload(0.7, [0.1, 0, 0], frame="link6")
        q, dq, ddq = state(robot)
        close(robot.id(q, dq, ddq), alone.id(q, dq, ddq), 1e-12)
        assert robot.mass == pytest.approx(alone.mass, rel=1e-14)

    def test_pairs_a_user_took_out_stay_out(self) -> None:
        robot = paired("sixr_arm")
        cup = robot.attach(CUP, "link1")
        robot.collision.removeCollisionPair(robot.collision.collisionPairs[0])
        left = [(p.first, p.second) for p in robot.collision.collisionPairs if p.second < 7]
        robot.detach(cup)
        assert [(p.first, p.second) for p in robot.collision.collisionPairs] == left

    def test_a_new_robot_leaves_the_old_one_alone(self) -> None:
        robot = shared("sevenr_arm")
        before = everything(robot)
        other = robot.with_attached(CUP, "link3", TILTED, tcp=ABOVE, name="mug")
        assert isinstance(other, PinRobot) and list(other.attached) == ["mug"] and other.tcp == "mug_tcp"
        assert_same_to_the_last_bit(everything(robot), before)

    def test_robots_that_carry_something_pickle_and_let_go(self) -> None:
        robot = paired("sixr_arm")
        before = everything(robot)
        robot.attach(TOOL, tcp=ABOVE)
        twin = pickle.loads(pickle.dumps(robot))
        assert_same_to_the_last_bit({**everything(twin), "frames": 0}, {**everything(robot), "frames": 0})
        twin.detach("drill")
        assert_same_to_the_last_bit(everything(twin), before)
        assert list(robot.attached) == ["drill"]


class TestErrors:
    @pytest.mark.parametrize(
        "options, word",
        [
            ({"body": "cup"}, "body"),
            ({"body": coal.Sphere(1.0)}, "body"),
            ({"frame": "tol"}, "tool"),
            ({"frame": 3}, "frame"),
            ({"placement": np.full((4, 4), math.nan)}, "placement"),
            ({"placement": [1, 2, 3]}, "placement|Transformation"),
            ({"tcp": "here"}, "tcp|Transformation"),
            ({"name": ""}, "name"),
            ({"name": 3}, "name"),
            ({"name": "link2"}, "link2"),
            ({"name": "joint2"}, "joint2"),
        ],
    )
    def test_what_cannot_be_attached_changes_nothing(self, options: dict[str, Any], word: str) -> None:
        robot = fresh("sixr_arm")
        before, version = everything(robot), robot.version
        with pytest.raises(InputError, match=word):
            robot.attach(**({"body": CUP} | options))
        assert_same_to_the_last_bit(everything(robot), before)
        assert robot.version == version

    @pytest.mark.parametrize("name", ["cop", None, 3, "link2"])
    def test_only_what_is_attached_can_be_detached(self, name: Any) -> None:
        robot = fresh("sixr_arm")
        robot.attach(CUP)
        with pytest.raises(UnknownNameError, match="cup"):
            robot.detach(name)
        assert list(robot.attached) == ["cup"]

    def test_what_was_built_on_holds(self) -> None:
        robot = fresh("sixr_arm")
        robot.attach(CUP)
        robot._add_body(PinBody("lid", 0.1), "joint6", robot.model.getFrameId("cup"))
        with pytest.raises(InputError, match="lid"):
            robot.detach("cup")
        assert "cup" in robot.attached
