"""A robot saved as a URDF and loaded again is the same robot."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import InputTypeError, PinBody, PinRobot, Transformation, UnsupportedError

from . import samples


def assert_same_robot(again: PinRobot, robot: PinRobot) -> None:
    """Equal to rounding in every coordinate, limit, pose, force and geometry."""
    assert again.coordinate_names == robot.coordinate_names
    assert [(c.follower, c.leader) for c in again.couplings] == [(c.follower, c.leader) for c in robot.couplings]
    for name in ("position", "velocity", "torque"):
        np.testing.assert_allclose(getattr(again.limits, name), getattr(robot.limits, name), rtol=1e-15)
    np.testing.assert_allclose(again.motors.damping, robot.motors.damping, rtol=1e-15)
    np.testing.assert_allclose(again.motors.coulomb, robot.motors.coulomb, rtol=1e-15)
    assert again.mass == pytest.approx(robot.mass, rel=1e-14)
    rng = np.random.default_rng(0)
    for q in samples.random_configurations(robot, 4):
        poses, new = robot.fk(q, kind="full"), again.fk(q, kind="full")
        for name, pose in poses.items():
            np.testing.assert_allclose(new[name].homogeneous, pose.homogeneous, atol=1e-13)
        dq, ddq = rng.normal(size=(2, robot.nv))
        tau = [one.id(q, dq, ddq, motor_inertia=False) for one in (robot, again)]
        np.testing.assert_allclose(tau[1], tau[0], atol=1e-11 * max(1.0, abs(tau[0]).max()))
    for geometry, same in ((again.collision, robot.collision), (again.visual, robot.visual)):
        assert geometry.ngeoms == same.ngeoms
        assert sorted(map(_bounds, geometry.geometryObjects)) == sorted(map(_bounds, same.geometryObjects))


def _bounds(thing: pin.GeometryObject) -> tuple[float, ...]:
    """Corners of the box around a shape in its joint's frame, rounded, to know it by."""
    thing.geometry.computeLocalAABB()
    box = thing.geometry.aabb_local
    centre = thing.placement.act(0.5 * (np.array(box.min_) + np.array(box.max_)))
    sides = np.array(box.max_) - np.array(box.min_)
    return tuple(np.round([thing.parentJoint, *centre, *sides], 5).tolist())


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_sample_comes_back(name: str, tmp_path: Path) -> None:
    robot, file = samples.load(name), tmp_path / "again.urdf"
    robot.save_urdf(file)
    again = PinRobot.from_urdf(file, strict=True)
    assert_same_robot(again, robot)
    assert again.file_joints == robot.file_joints and again.name == robot.name
    assert {*robot.frames} == {*again.frames}
    assert len(again.active_pairs) == len(robot.active_pairs)


def test_a_modified_robot_comes_back(tmp_path: Path) -> None:
    robot = samples.load("sevenr_arm").with_payload(1.5, com=[0, 0.01, 0.05])
    robot = robot.with_limits(velocity=1.5, position={"joint2": (-1.0, 1.0), "joint3": (-np.inf, np.inf)})
    robot = robot.with_motors(friction=0.3, damping={"joint1": 0.7}).with_locked_joints({"joint5": 0.4})
    robot.add_frame("camera", "tool", Transformation.from_rpy([0.1, np.pi / 2, -0.3], [0, 0, 0.1]))
    robot.add_tcp_frame("joint7", Transformation.from_translation([0, 0, 0.3]))
    robot.set_base_placement(Transformation.from_rpy([0.1, 0.2, 0.3], [1, 2, 3]))
    robot.save_urdf(tmp_path / "again.urdf")
    again = PinRobot.from_urdf(tmp_path / "again.urdf", strict=True, base_placement=robot.placement)
    assert_same_robot(again, robot)


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_a_robot_with_a_root_joint_comes_back(kind: str) -> None:
    robot = PinRobot.from_urdf(samples.path_of("planar_2r"), root_joint=kind)
    assert_same_robot(PinRobot.from_urdf(robot.to_urdf(), strict=True), robot)


def test_a_built_robot_and_what_it_holds_come_back(tmp_path: Path) -> None:
    robot = PinRobot.empty("built")
    base = PinBody.solid("base", coal.Capsule(0.1, 0.3), 2.0)
    robot._add_body(base, 0, 0)
    arm = PinBody.solid("arm", coal.Box(0.4, 0.1, 0.1), 1.0)
    robot._add_joint(pin.JointModelRevoluteUnaligned(np.array([1.0, 2, 3]) / 14**0.5), 0, arm, joint_name="swing")
    robot.attach(PinBody.solid("can", coal.Cylinder(0.03, 0.12), 0.4))
    assert_same_robot(PinRobot.from_urdf(robot.to_urdf()), robot)


def test_shapes_without_a_file_get_one(tmp_path: Path) -> None:
    robot = PinRobot.from_urdf(samples.path_of("cube_meshes"))
    for geometry in (robot.collision, robot.visual):
        for thing in geometry.geometryObjects:
            thing.meshPath = ""
    robot.refresh()
    with pytest.raises(UnsupportedError, match="save_urdf"):
        robot.to_urdf()
    robot.save_urdf(tmp_path / "again.urdf")
    assert len(list((tmp_path / "again_meshes").iterdir())) == 6
    (tmp_path / "elsewhere").mkdir()
    for path in list(tmp_path.glob("again*")):
        path.rename(tmp_path / "elsewhere" / path.name)
    assert_same_robot(PinRobot.from_urdf(tmp_path / "elsewhere" / "again.urdf", strict=True), robot)


def test_what_a_urdf_cannot_say_is_refused_by_name(tmp_path: Path) -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    with pytest.raises(UnsupportedError, match=r"'ball'.*no type"):
        PinRobot(wrapper=model).to_urdf()
    robot = PinRobot.empty("cone")
    robot._add_body(PinBody.solid("tip", coal.Sphere(0.1), 1.0), 0, 0)
    robot.visual.geometryObjects[0].geometry = coal.Cone(0.1, 0.2)
    robot.refresh()
    with pytest.raises(UnsupportedError, match="Cone"):
        robot.to_urdf()
    with pytest.raises(InputTypeError, match="path"):
        samples.load("planar_2r").save_urdf(3)  # type: ignore[arg-type]


def test_a_model_without_links_gets_some() -> None:
    model = pin.buildSampleModelManipulator()
    robot = PinRobot(wrapper=model)
    again = PinRobot.from_urdf(robot.to_urdf())
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    for name in model.names[1:]:
        pose = again.fk(q, frame=name).homogeneous
        np.testing.assert_allclose(pose, robot.fk(q, frame=name).homogeneous, atol=1e-13)
    np.testing.assert_allclose(again.mass_matrix(q), robot.mass_matrix(q), atol=1e-12)
