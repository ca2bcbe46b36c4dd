"""Which pairs are checked: at load, by an SRDF, by hand, by sampling; and that no order of changes breaks a robot."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import InputError, InputTypeError, PinRobot, Srdf, UnknownNameError
from knuckle.robot.collision_pairs import ADJACENT, ALWAYS, HOME, REMOVED, RIGID

from . import brute_force
from .samples import SAMPLES, path_of


def fresh(name: str = "sixr_arm") -> PinRobot:
    return PinRobot.from_urdf(path_of(name))


def chain_of_balls(count: int, radius: float, spacing: float, meshes: str = "hull") -> PinRobot:
    """Balls on a chain of hinges, each `spacing` from the one before; neighbours touch where they are thick."""
    model, geometry = pin.Model(), pin.GeometryModel()
    model.name = "balls"
    joint = 0
    for k in range(count):
        placement = pin.SE3(np.eye(3), np.array([spacing * (k > 0), 0.0, 0.0]))
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, f"j{k}")
        frame = model.addJointFrame(joint)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
        body = model.addFrame(pin.Frame(f"ball{k}", joint, frame, pin.SE3.Identity(), pin.FrameType.BODY))
        geometry.addGeometryObject(
            pin.GeometryObject(f"ball{k}_0", joint, body, pin.SE3.Identity(), coal.Sphere(radius))
        )
    model.lowerPositionLimit, model.upperPositionLimit = np.full(count, -3.0), np.full(count, 3.0)
    return PinRobot(wrapper=(model, geometry, None), collision_meshes=meshes)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_pair_is_either_checked_or_excluded_with_a_reason(name: str) -> None:
    robot = fresh(name)
    names = [thing.name for thing in robot.collision.geometryObjects]
    every = {frozenset((a, b)) for i, a in enumerate(names) for b in names[:i]}
    active, excluded = ({frozenset(p) for p in pairs} for pairs in (robot.active_pairs, robot.excluded_pairs))
    assert active | excluded == every and not active & excluded
    assert not robot.has_self_collision(robot.home_configuration)
    joints = {thing.name: thing.parentJoint for thing in robot.collision.geometryObjects}
    for (a, b), reason in robot.excluded_pairs.items():
        assert (reason == RIGID) == (joints[a] == joints[b])
        if reason == ADJACENT:
            assert joints[a] in (robot.model.parents[joints[b]],) or joints[b] in (robot.model.parents[joints[a]],)


def test_pairs_that_touch_at_home_are_left_out_and_listed_and_can_be_put_back() -> None:
    robot = chain_of_balls(5, radius=0.12, spacing=0.1)
    reasons = robot.excluded_pairs
    assert {pair for pair, why in reasons.items() if why == ADJACENT} == {
        (f"ball{k}_0", f"ball{k + 1}_0") for k in range(4)
    }
    assert {pair for pair, why in reasons.items() if why == HOME} == {
        (f"ball{k}_0", f"ball{k + 2}_0") for k in range(3)
    }
    assert robot.active_pairs == [("ball0_0", "ball3_0"), ("ball0_0", "ball4_0"), ("ball1_0", "ball4_0")]
    assert not robot.has_self_collision()
    robot.add_collision_pairs([("ball0", "ball2")])
    assert robot.has_self_collision() and ("ball0_0", "ball2_0") not in robot.excluded_pairs
    robot.remove_collision_pairs([("ball2_0", "ball0_0")])
    assert not robot.has_self_collision() and robot.excluded_pairs[("ball0_0", "ball2_0")] == REMOVED


def test_pairs_that_always_touch_are_found_by_sampling() -> None:
    robot = chain_of_balls(4, radius=0.12, spacing=0.1)
    robot.add_collision_pairs([("ball0", "ball1"), ("ball1", "ball2")])
    seen: list[tuple[int, int]] = []
    sampled = robot.sample_collision_pairs(2000, rng=3, progress=lambda *done: seen.append(done))
    assert sampled.always() == [("ball0_0", "ball1_0"), ("ball1_0", "ball2_0")]
    assert seen == [(1000, 2000), (2000, 2000)] and sampled.seed == 3
    q = brute_force.random_configurations(robot, 1)
    assert robot.sample_collision_pairs(500, rng=3).counts == robot.sample_collision_pairs(500, rng=3).counts
    far = [pair for pair in sampled.counts if pair not in sampled.always()]
    truth = brute_force.contacts(robot, brute_force.random_configurations(robot, 2000)).mean(axis=0)
    by_name = dict(zip(robot.active_pairs, truth, strict=True))
    for pair in far:
        assert sampled.counts[pair] / 2000 == pytest.approx(by_name[pair], abs=0.05)
    robot.remove_collision_pairs(sampled.always(), ALWAYS)
    assert robot.excluded_pairs[("ball0_0", "ball1_0")] == ALWAYS
    assert robot.has_self_collision(q[0]) == brute_force.contacts(robot, q).any()


def test_an_srdf_decides_alone_which_pairs_are_checked(tmp_path: Path) -> None:
    robot = fresh()
    names = robot.collision_links
    pairs = {tuple(sorted(names[g] for g in pair)) for pair in robot.active_pairs}
    chosen = sorted(pairs)[0]
    file = tmp_path / "pairs.srdf"
    Srdf("sixr_arm").with_disabled_pairs({chosen: "Never"}).save(file)
    other = PinRobot.from_urdf(path_of("sixr_arm"), srdf=file)
    left = {tuple(sorted(names[g] for g in pair)) for pair in other.active_pairs}
    assert chosen not in left and ("link1", "link2") in left, "neighbours too, unless the SRDF says otherwise"
    assert "Never" in {reason.split("(")[-1].rstrip(")") for reason in other.excluded_pairs.values()}
    model, geometry = other.model, other.collision.copy()
    geometry.removeAllCollisionPairs()
    geometry.addAllCollisionPairs()
    pin.removeCollisionPairs(model, geometry, str(file))
    theirs = {(p.first, p.second) for p in geometry.collisionPairs}
    assert theirs == {(p.first, p.second) for p in other.collision.collisionPairs}


def test_what_is_written_as_an_srdf_is_read_to_the_same_pairs(tmp_path: Path) -> None:
    robot = chain_of_balls(5, radius=0.12, spacing=0.1)
    written = Srdf("balls").with_disabled_pairs(robot.disabled_links())
    again = PinRobot(
        wrapper=(robot.model, _without_pairs(robot.collision), None),
        disabled_pairs=[(p.link1, p.link2, p.reason) for p in Srdf.from_xml(written.to_xml()).disabled_pairs],
    )
    assert set(again.active_pairs) == set(robot.active_pairs)


def _without_pairs(geometry: pin.GeometryModel) -> pin.GeometryModel:
    bare = geometry.clone()
    bare.removeAllCollisionPairs()
    return bare


def test_pairs_given_with_the_model_stay_as_they_are() -> None:
    robot = fresh()
    geometry = robot.collision.clone()
    geometry.removeAllCollisionPairs()
    geometry.addCollisionPair(pin.CollisionPair(0, 3))
    other = PinRobot(wrapper=(robot.model, geometry, None))
    assert other.active_pairs == [(geometry.geometryObjects[0].name, geometry.geometryObjects[3].name)]


@pytest.mark.parametrize(
    "pairs, error, words",
    [
        ([("link1", "nothing")], UnknownNameError, "nothing"),
        ([("link1", "lonk2")], UnknownNameError, "did you mean"),
        ([("link1", "link1")], InputError, "itself"),
        ([("base", "base_0")], InputError, "itself"),
        ([("link1",)], InputTypeError, "pairs"),
        ("link1", InputTypeError, "pairs"),
        ([("link1", 3)], InputTypeError, "3"),
        (None, InputTypeError, "pairs"),
        ([("tool", "link1")], InputError, "no collision geometry"),
    ],
)
@pytest.mark.parametrize("method", ["add_collision_pairs", "remove_collision_pairs"])
def test_bad_pairs_are_refused_and_change_nothing(
    method: str, pairs: object, error: type[Exception], words: str
) -> None:
    robot = fresh()
    before = robot.active_pairs, dict(robot.excluded_pairs), robot.version
    with pytest.raises(error, match=words):
        getattr(robot, method)(pairs)
    assert (robot.active_pairs, dict(robot.excluded_pairs), robot.version) == before


def test_shapes_fixed_to_each_other_cannot_be_a_pair() -> None:
    robot = fresh("quadruped")
    rigid = next(pair for pair, reason in robot.excluded_pairs.items() if reason == RIGID)
    with pytest.raises(InputError, match="fixed to each other"):
        robot.add_collision_pairs([rigid])


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_changes_and_queries_keeps_the_answers_right(seed: int) -> None:
    robot = fresh("dual_arm")
    rng = np.random.default_rng(seed)
    everything = [*robot.active_pairs, *(p for p, why in robot.excluded_pairs.items() if why != RIGID)]
    for _ in range(25):
        chosen = [everything[k] for k in rng.choice(len(everything), 5)]
        action = rng.integers(7)
        if action == 0:
            robot.add_collision_pairs(chosen)
        elif action == 1:
            robot.remove_collision_pairs(chosen)
        elif action == 2:
            robot = pickle.loads(pickle.dumps(robot))
        elif action == 3:
            robot = copy.deepcopy(robot)
        elif action == 4:
            robot.add_frame(f"frame{rng.integers(10**9)}", robot.frames[-1], np.eye(4))
        elif action == 5:
            robot.move([[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        else:
            robot.collision.addCollisionPair(pin.CollisionPair(0, int(rng.integers(2, 10))))
            robot.has_self_collision()  # not taken up yet, and no harm done
            robot.refresh()
        q = brute_force.random_configurations(robot, 3, seed=int(rng.integers(1000)))
        np.testing.assert_array_equal(robot.has_self_collision(q), brute_force.contacts(robot, q).any(axis=1))
        assert len(robot.active_pairs) == len(robot.collision.collisionPairs)


def test_a_flat_mesh_has_no_hull_and_says_so() -> None:
    model, geometry = pin.Model(), pin.GeometryModel()
    model.name = "plate"
    joint = model.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "lift")
    plate = coal.BVHModelOBBRSS()
    corners = [np.array(c, dtype=float) for c in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))]
    plate.beginModel(2, 4)
    plate.addTriangle(corners[0], corners[1], corners[2])
    plate.addTriangle(corners[0], corners[2], corners[3])
    plate.endModel()
    geometry.addGeometryObject(pin.GeometryObject("plate", 0, 0, pin.SE3.Identity(), plate))
    geometry.addGeometryObject(pin.GeometryObject("ball", joint, 0, pin.SE3.Identity(), coal.Sphere(0.1)))
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    robot = PinRobot(wrapper=(model, geometry, None))
    assert any("flat" in finding.message and "plate" in finding.where for finding in robot.findings)
    assert robot.has_self_collision([0.05]) and not robot.has_self_collision([0.15])
    assert robot.distance([0.3]).value == pytest.approx(0.2, abs=1e-6)
    np.testing.assert_allclose(robot.distance([0.3]).normal, [0, 0, 1], atol=1e-6)
