"""Robots with locked joints move like the whole robot with those joints standing still."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
import pytest

from knuckle import InputError, PinBody, PinRobot, Transformation, UnknownNameError

from .robot_cases import LWA, MIXED, ON_PINOCCHIO, TILTED, close, fresh, mixed_model, shared, state
from .samples import load

on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)


def choice(robot: PinRobot, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [str(j) for j in rng.choice(robot.joints, size=max(1, len(robot.joints) // 2), replace=False)]


def dofs(robot: PinRobot, joints: list[str], which: int = 1) -> list[int]:
    size = robot.nv if which else robot.nq
    return [i for joint in joints for i in range(*robot.coordinate_slices()[joint][which].indices(size))]


@on_pinocchio
@pytest.mark.parametrize("seed", [0, 1])
def test_motion_and_forces_are_those_of_the_whole(name: str, seed: int) -> None:
    robot = fresh(name)
    robot.collision.addAllCollisionPairs()
    robot.refresh()
    q, dq, ddq = state(robot, seed)
    locked = choice(robot, seed)
    less = robot.reduced(locked, q)
    left = [joint for joint in robot.joints if joint not in locked]
    assert less.joints == left and less.frames == robot.frames and less.tcp == robot.tcp
    at, v = dofs(robot, left, 0), dofs(robot, left)
    rest = np.setdiff1d(np.arange(robot.nv), v)
    dq[rest] = ddq[rest] = 0.0
    p = q[at]
    close(less.frame_poses(p), robot.frame_poses(q), 1e-12)
    close(less.mass_matrix(p), robot.mass_matrix(q)[np.ix_(v, v)], 1e-11)
    close(less.id(p, dq[v], ddq[v]), robot.id(q, dq, ddq)[v], 1e-10)
    close(less.fd(less.id(p, dq[v], ddq[v]), p, dq[v]), ddq[v], 1e-8)
    close(less.jacobian(p, less.tcp, LWA), robot.jacobian(q, robot.tcp, LWA)[:, v], 1e-12)
    assert less.active_pairs == robot.active_pairs and less.excluded_pairs == robot.excluded_pairs
    assert less.has_self_collision(p) == robot.has_self_collision(q)
    assert less.distance(p).value == pytest.approx(robot.distance(q).value, abs=1e-9)
    bent = robot.jacobian_derivative(q, dq, robot.tcp, LWA)[:, v]
    close(less.jacobian_derivative(p, dq[v], less.tcp, LWA), bent, 1e-11)
    assert less.mass == pytest.approx(robot.mass, rel=1e-12)
    for kind in ("velocity", "acceleration", "torque", "jerk"):
        np.testing.assert_array_equal(getattr(less.limits, kind), getattr(robot.limits, kind)[v])
    np.testing.assert_array_equal(less.limits.position, robot.limits.position[:, at])
    for kind in ("reflected_inertia", "damping", "coulomb"):
        np.testing.assert_allclose(getattr(less.motors, kind), getattr(robot.motors, kind)[v], rtol=1e-14)
    np.testing.assert_array_equal(less.home_configuration, robot.home_configuration[at])
    np.testing.assert_array_equal(less.q, robot.q[at])
    for geometry, whole in ((less.collision, robot.collision), (less.visual, robot.visual)):
        names = [thing.name for thing in geometry.geometryObjects]
        assert names == [thing.name for thing in whole.geometryObjects]
        assert list(geometry.collisionPairs) == list(whole.collisionPairs)
        for thing, other in zip(geometry.geometryObjects, whole.geometryObjects, strict=True):
            assert less.model.frames[thing.parentFrame].name == robot.model.frames[other.parentFrame].name
            assert thing.geometry == other.geometry and (thing.meshColor == other.meshColor).all()


@on_pinocchio
def test_frames_hang_where_they_did(name: str) -> None:
    robot = shared(name)
    less = robot.reduced(robot.joints[0])
    model, whole = less.model, robot.model
    for frame, other in zip(model.frames, whole.frames, strict=True):
        assert frame.name == other.name
        assert model.frames[frame.parentFrame].name == whole.frames[other.parentFrame].name


def test_values_by_name_and_the_stored_configuration_are_two_ways_of_saying_it() -> None:
    robot = fresh("sevenr_arm")
    q = state(robot)[0]
    robot.update_configuration(q)
    names = ["joint2", "joint5"]
    for less in (
        robot.reduced(names),
        robot.reduced(iter(names), robot.joint_values(q)),
        robot.with_locked_joints({name: robot.joint_values(q)[name] for name in names}),
    ):
        close(less.fk(less.q).homogeneous, robot.fk(q).homogeneous, 1e-14)
    assert robot.reduced("joint2").nv == 6 and robot.reduced([]).nv == 7


def test_followers_go_with_their_leader() -> None:
    robot = fresh("mixed")
    less = robot.with_locked_joints({"hinge": 0.7})
    assert less.joints == ["turn", "slide", "ball"] and less.model.nv == robot.model.nv - 2
    assert less.couplings == (MIXED[0], MIXED[2])
    q = robot.configuration_from({"hinge": 0.7, "turn": -0.4})
    p = less.configuration_from({"turn": -0.4})
    close(less.fk(p, frame="hinge_follows").homogeneous, robot.fk(q, frame="hinge_follows").homogeneous, 1e-12)


def test_armature_and_overridden_limits_stay() -> None:
    model = load("planar_3r").model.copy()
    model.armature = np.array([0.1, 0.2, 0.3])
    robot = PinRobot(wrapper=model).with_limits(acceleration=[1, 2, 3], position={"wrist": (-0.1, 0.2)})
    less = robot.with_motors(rotor_inertia=[1, 2, 3]).with_locked_joints({"elbow": 0.5})
    np.testing.assert_array_equal(less.model.armature, [0.1, 0.3])
    np.testing.assert_array_equal(less.joint_acceleration_limits, [1, 3])
    np.testing.assert_array_equal(less.joint_limits[:, 1], [-0.1, 0.2])
    np.testing.assert_array_equal(less.motors.reflected_inertia, [1, 3])
    assert "elbow" in less.frames and less.name == robot.name


def test_a_robot_with_all_joints_locked_is_a_statue() -> None:
    robot = fresh("sixr_arm")
    q = state(robot)[0]
    statue = robot.reduced(robot.joints, q)
    assert statue.nq == 0 and statue.tcp == "tool" and statue.mass == pytest.approx(robot.mass)
    close(statue.fk().homogeneous, robot.fk(q).homogeneous, 1e-14)
    statue.move(TILTED)
    close(statue.fk().homogeneous, (TILTED @ robot.fk(q)).homogeneous, 1e-14)


def test_the_base_still_carries_all_that_is_fixed_to_it() -> None:
    robot = fresh("dual_arm")
    robot.attach(PinBody.solid("lamp", coal.Sphere(0.1), 1.0), "torso")
    q = state(robot)[0]
    less = robot.reduced("waist", q)
    p = {name: value for name, value in robot.joint_values(q).items() if name != "waist"}
    before = less.fk(p, kind="full")
    less.move(TILTED)
    for name, pose in less.fk(p, kind="full").items():
        expected = pose if name == "universe" else TILTED @ before[name]
        close(pose.homogeneous, expected.homogeneous, 1e-12)
    things = {t.name: t for t in less.collision.geometryObjects}
    close(things["lamp_0"].placement.homogeneous, (TILTED @ before["lamp"]).homogeneous, 1e-12)


def test_what_is_carried_can_still_be_put_down() -> None:
    robot = fresh("sevenr_arm")
    bare = robot.reduced(["joint6", "joint7"], [0.1] * 7)
    robot.attach(PinBody.solid("cup", coal.Sphere(0.1), 1.0), tcp=Transformation.from_translation([0, 0, 0.1]))
    less = robot.reduced(["joint6", "joint7"], [0.1] * 7)
    assert less.tcp == "cup_tcp" and less.mass == pytest.approx(bare.mass + 1)
    less.detach("cup")
    q, dq, ddq = state(less)
    close(less.id(q, dq, ddq), bare.id(q, dq, ddq), 1e-12)
    assert less.tcp == bare.tcp == "tool" and less.frames == bare.frames


@pytest.mark.parametrize(
    "method, argument, word",
    [
        ("reduced", "hing", "hinge"),
        ("reduced", ["hinge", "hing"], "hinge"),
        ("reduced", 3, "joints"),
        ("reduced", [3], "joints"),
        ("reduced", "hinge_follows", "mimics 'hinge'"),
        ("with_locked_joints", {"hing": 0.1}, "hinge"),
        ("with_locked_joints", {"hinge_follows": 0.1}, "mimics 'hinge'"),
        ("with_locked_joints", {"hinge": np.nan}, "finite"),
        ("with_locked_joints", {"hinge": [1, 2]}, "hinge"),
        ("with_locked_joints", {"ball": [0, 0, 0, 0]}, "quaternion"),
        ("with_locked_joints", ["hinge"], "mapping"),
        ("with_locked_joints", {3: 0.1}, "joints|names"),
    ],
)
def test_what_cannot_be_locked(method: str, argument: Any, word: str) -> None:
    robot = shared("mixed")
    before = robot.model.copy(), robot.version
    with pytest.raises(InputError, match=word):
        getattr(robot, method)(argument)
    assert (robot.model, robot.version) == before


def test_a_bad_configuration_is_named() -> None:
    with pytest.raises(InputError, match="q"):
        shared("panda").reduced("panda_joint1", [0.0])
    with pytest.raises(UnknownNameError):
        PinRobot(wrapper=mixed_model()).reduced("nothing")
