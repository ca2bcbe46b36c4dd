"""Descriptions in other formats: xacro without ROS, MJCF, text, examples, packages wherever they are."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from knuckle import (
    DescriptionError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    PinRobot,
    UnknownNameError,
)
from knuckle.robot import examples

from . import samples

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:include filename="$(find parts_description)/urdf/lïnk.xacro"/>
  <link name="base"/>
  <xacro:segment name="one" parent="base" length="$(arg length)"/>
  <xacro:segment name="two" parent="one" length="${2 * 0.1}"/>
</robot>
"""
SEGMENT = """<?xml version="1.0" encoding="utf-8"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="segment" params="name parent length">
  <joint name="j_${name}" type="revolute"><parent link="${parent}"/><child link="${name}"/>
    <origin xyz="${length} 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="${name}"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
</xacro:macro></robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    part = tmp_path / "parts_description" / "urdf" / "lïnk.xacro"
    part.parent.mkdir(parents=True)
    part.write_text(SEGMENT, encoding="utf-8")
    file = tmp_path / "arms" / "arm.urdf.xacro"
    file.parent.mkdir()
    file.write_text(XACRO, encoding="utf-8")
    return file


def test_xacro_is_expanded_with_arguments_and_packages_found_without_ros(arm: Path, capfd) -> None:
    robot = PinRobot.from_urdf(arm, strict=True)
    assert robot.joints == ["j_one", "j_two"]
    np.testing.assert_allclose(robot.fk([0.0, 0.0]).translation, [0.7, 0, 0], atol=1e-15)
    longer = PinRobot.from_urdf(arm, xacro_args={"length": 2})
    np.testing.assert_allclose(longer.fk([0.0, 0.0]).translation, [2.2, 0, 0], atol=1e-15)
    assert PinRobot.from_file(arm).nq == 2
    assert capfd.readouterr() == ("", "")


def test_a_file_of_any_name_is_expanded_when_it_is_given_arguments(arm: Path) -> None:
    plain = arm.rename(arm.with_name("arm.urdf"))
    with pytest.raises(DescriptionError, match=r"xacro-left"):
        PinRobot.from_urdf(plain)
    assert PinRobot.from_urdf(plain, xacro_args={}).nq == 2


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_packages_are_found_where_the_environment_names_them(variable: str, arm: Path, monkeypatch) -> None:
    elsewhere = arm.parents[1] / "elsewhere" / ("share" if variable.startswith("AMENT") else "")
    elsewhere.mkdir(parents=True)
    shutil.move(arm.parents[1] / "parts_description", elsewhere / "parts_description")
    with pytest.raises(DescriptionError, match="package 'parts_description' was not found; searched"):
        PinRobot.from_urdf(arm)
    monkeypatch.setenv(variable, f"/nowhere:{arm.parents[1] / 'elsewhere'}")
    assert PinRobot.from_urdf(arm).nq == 2


def test_a_fault_in_an_included_file_names_that_file(arm: Path) -> None:
    part = arm.parents[1] / "parts_description" / "urdf" / "lïnk.xacro"
    part.write_text('<!DOCTYPE r [<!ENTITY a "b">]><robot/>', encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"lïnk\.xacro:1: entity declarations are refused"):
        PinRobot.from_urdf(arm)
    part.write_text(SEGMENT.replace("${length}", "${lenght}"), encoding="utf-8")
    with pytest.raises(DescriptionError, match="lenght"):
        PinRobot.from_urdf(arm)


def test_xacro_arguments_must_be_values_by_name(arm: Path) -> None:
    with pytest.raises(InputTypeError, match="xacro_args"):
        PinRobot.from_urdf(arm, xacro_args=["length"])  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="'length'"):
        PinRobot.from_urdf(arm, xacro_args={"length": [1]})
    with pytest.raises(InputError, match="XML text"):
        PinRobot.from_urdf("<robot/>", xacro_args={})


def test_a_urdf_may_be_text(tmp_path: Path) -> None:
    text = samples.path_of("planar_2r").read_text(encoding="utf-8")
    for load in (PinRobot.from_urdf, PinRobot.from_file):
        robot = load("\ufeff\n" + text.lstrip())
        np.testing.assert_array_equal(robot.mass_matrix([0.1, 0.2]), samples.load("planar_2r").mass_matrix([0.1, 0.2]))
    with pytest.raises(DescriptionError, match="XML text:1: not well-formed"):
        PinRobot.from_urdf("<robot")


def test_files_of_other_formats_are_told_apart(tmp_path: Path) -> None:
    for text, match in [
        ("<sdf version='1.6'/>", "built with sdformat"),
        ("<robot name='r'><group name='g'/></robot>", "this is an SRDF"),
        ("<html/>", "starts with <robot>"),
    ]:
        with pytest.raises(DescriptionError, match=match) as caught:
            PinRobot.from_file(text)
        assert len(caught.value.findings) == 1
    with pytest.raises(DescriptionError, match="starts with <mujoco>"):
        PinRobot.from_mjcf("<robot/>")


def test_a_second_base_is_a_warning() -> None:
    robot = PinRobot.from_urdf(samples.path_of("quadruped"), root_joint="floating")
    assert [found.code for found in robot.findings] == ["root-second"]


# MJCF

PLANAR = """<mujoco model="planar">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <default><joint axis="0 -1 0" damping="0.5"/></default>
  <worldbody>
    <body name="base"><inertial mass="3.6" pos="0 0 0" diaginertia="1 1 1"/>
      <body name="link1">
        <joint name="shoulder" range="-3 3"/>
        <inertial mass="2.4" pos="0.25 0 0" diaginertia="0.0009 0.05072 0.05036"/>
        <body name="link2" pos="0.5 0 0">
          <joint name="elbow" range="-2 2"/>
          <inertial mass="1.2" pos="0.2 0 0" diaginertia="0.0003 0.01616 0.016"/>
          <site name="tool" pos="0.4 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_an_mjcf_has_the_numbers_of_the_same_robot_as_urdf() -> None:
    robot, same = PinRobot.from_mjcf(PLANAR, tcp="tool"), samples.load("planar_2r")
    assert robot.joints == same.joints and robot.name == "planar"
    for q in samples.random_configurations(robot, 5):
        samples.assert_same(robot.fk(q).homogeneous, same.fk(q).homogeneous)
        samples.assert_same(robot.gravity_force(q), same.gravity_force(q))
        samples.assert_same(robot.mass_matrix(q)[1, 1], 0.06416)
    np.testing.assert_array_equal(robot.joint_limits, [[-3, -2], [3, 2]])
    np.testing.assert_array_equal(robot.motors.damping, [0.5, 0.5])


BALL = '<geom type="sphere" size="0.1"/>'


def body(inside: str, name: str = "a", more: str = "") -> str:
    return f'<body name="{name}" {more}>{inside}{BALL}</body>'


def mjcf(*bodies: str) -> str:
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def test_several_joints_of_a_body_stay_joints_of_their_own() -> None:
    joints = '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
    joints += '<joint name="turn" axis="0 0 1"/>'
    robot = PinRobot.from_mjcf(mjcf(body(joints)))
    assert robot.joints == ["x", "y", "turn"]
    pose = robot.fk([0.3, -0.2, 0.5], frame="a")
    np.testing.assert_allclose(pose.translation, [0.3, -0.2, 0], atol=1e-15)
    np.testing.assert_allclose(pose.rpy, [0, 0, 0.5], atol=1e-15)
    assert robot.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.1**3)


def test_several_bodies_at_the_top_all_stay() -> None:
    robot = PinRobot.from_mjcf(mjcf(body('<joint name="j"/>'), body('<joint name="k"/>', "b", 'pos="0 1 0"')))
    assert robot.joints == ["j", "k"]
    assert robot.fk(kind="full")["b"].translation.tolist() == [0, 1, 0]


def test_bodies_and_joints_without_names_get_some() -> None:
    robot = PinRobot.from_mjcf(f'<mujoco><worldbody><body><joint axis="0 0 1"/>{BALL}</body></worldbody></mujoco>')
    assert robot.joints == ["joint0"] and "body0" in robot.frames


def test_a_free_joint_is_a_floating_base() -> None:
    robot = PinRobot.from_mjcf(mjcf(body("<freejoint/>")))
    assert (robot.nq, robot.nv) == (7, 6)
    assert np.isfinite(robot.random_configuration(1)).all()


def test_includes_meshes_and_what_is_left_out(tmp_path: Path, caplog, capfd) -> None:
    shutil.copytree(samples.FOLDER / "meshes", tmp_path / "assets")
    (tmp_path / "part.xml").write_text(f"<mujoco>{mjcf(body(BALL, 'b'))[8:]}", encoding="utf-8")
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><compiler meshdir="assets"/><include file="part.xml"/><asset><mesh name="cube" file="cube.stl"/>'
        '<mesh name="lost" file="lost.stl"/></asset><worldbody><body name="a"><joint name="j"/>'
        '<geom type="mesh" mesh="cube"/><geom type="mesh" mesh="lost"/></body></worldbody>'
        '<actuator><motor joint="j"/></actuator></mujoco>',
        encoding="utf-8",
    )
    with caplog.at_level(logging.WARNING, logger="knuckle"):
        robot = PinRobot.from_file(file)
    assert {"a", "b"} < set(robot.frames)
    codes = [found.code for found in robot.findings if found.code != "home-contact-unchecked"]
    assert sorted(codes) == ["mesh-missing", "mesh-missing", "mjcf-left-out"]
    assert "actuator" in caplog.text and "lost.stl" in caplog.text
    with pytest.raises(DescriptionError, match=r"lost\.stl"):
        PinRobot.from_file(file, strict=True)
    assert capfd.readouterr() == ("", "")


# packages


@pytest.mark.parametrize("given", [".", "one", "one/two", "one/two/pkg", "one/two/pkg/meshes"])
def test_a_package_is_found_from_folders_too_high_and_too_deep(given: str, tmp_path: Path) -> None:
    meshes = tmp_path / "ws" / "one" / "two" / "pkg" / "meshes"
    shutil.copytree(samples.FOLDER / "meshes", meshes)
    text = samples.path_of("cube_meshes").read_text(encoding="utf-8")
    for elsewhere in ("meshes/cube", "package://urdf_samples/meshes/cube"):
        text = text.replace(f'"{elsewhere}', '"package://pkg/meshes/cube')
    file = tmp_path / "far" / "arm.urdf"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    assert PinRobot.from_urdf(file, tmp_path / "ws" / given, strict=True).collision.ngeoms == 3


def test_all_missing_meshes_are_named_with_what_would_find_them(tmp_path: Path) -> None:
    shutil.copytree(samples.FOLDER / "meshes", tmp_path / "pkg-main" / "meshes")
    text = samples.path_of("cube_meshes").read_text(encoding="utf-8")
    text = text.replace('"meshes/cube.', '"package://pkg/meshes/cube.')
    text = text.replace("package://urdf_samples/meshes/cube.dae", "pkg-main/meshes/cub.dae")
    file = tmp_path / "arm.urdf"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DescriptionError) as caught:
        PinRobot.from_urdf(file, strict=True)
    lost = [found for found in caught.value.findings if found.code == "mesh-missing"]
    assert len(lost) == 6  # of three links, to be seen and to collide
    assert "collision checks are incomplete" in lost[0].message
    assert f"{tmp_path / 'pkg-main'} has meshes/cube.stl" in lost[0].remedy
    assert "did you mean" in lost[-1].remedy and "cube.dae" in lost[-1].remedy


# examples


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_sample_is_an_example(name: str) -> None:
    assert PinRobot.from_example(name, strict=True).nq == samples.SAMPLES[name][0]


def test_examples_that_do_not_exist_are_answered_with_those_that_do(monkeypatch) -> None:
    with pytest.raises(InputTypeError, match="name"):
        PinRobot.from_example(3)  # type: ignore[arg-type]
    monkeypatch.setattr(examples, "robots_folder", lambda: None)
    with pytest.raises(MissingDependencyError, match=r"planar_2r.*example-robot-data"):
        PinRobot.from_example("panda")


@pytest.mark.skipif(examples.robots_folder() is None, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["panda", "ur5", "anymal_b", "talos", "solo12", "kinova"])
def test_robots_of_example_robot_data_are_examples(name: str) -> None:
    robot = PinRobot.from_example(name)
    assert robot.collision.ngeoms and not any(found.code.startswith("mesh-m") for found in robot.findings)
    with pytest.raises(UnknownNameError, match="panda"):
        PinRobot.from_example("pandas")


def test_bare_pinocchio_would_drop_bodies_that_are_kept_here(tmp_path: Path) -> None:
    file = tmp_path / "two.xml"
    file.write_text(mjcf(body('<joint name="j"/>'), body('<joint name="k"/>', "b")), encoding="utf-8")
    assert pin.buildModelFromMJCF(str(file)).nq == 1  # the reason for preparing the file; may go when this fails
    assert PinRobot.from_mjcf(file).nq == 2
