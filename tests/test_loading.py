"""Descriptions: what cannot be a robot is refused by name, what must be guessed at is said, the rest loads."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import numpy as np
import pytest

from knuckle import (
    DescriptionError,
    InputError,
    InputTypeError,
    KnuckleError,
    PinRobot,
    UnknownNameError,
    UnsupportedError,
)
from knuckle.robot import description_source, native

from . import samples

HEAD = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
HEAD += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def joint(inside: str = LIMIT, kind: str = "revolute", name: str = "j", parent: str = "a", child: str = "b") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot_text(*parts: str) -> str:
    return HEAD + "".join(parts) + "</robot>"


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str | bytes, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


REFUSED = {
    "malformed": ("<robot name='r'><link name='a'>", "not well-formed"),
    "empty": ("  \n", "is empty"),
    "text": ("hello", "not well-formed"),
    "sdf": ("<sdf version='1.6'><model name='m'/></sdf>", "SDF file"),
    "mjcf": ("<mujoco/>", "MJCF file"),
    "html": ("<html/>", "starts with <robot>"),
    "no links": ("<robot name='r'/>", "has no links"),
    "entity": ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"><link name="a"/></robot>', "entity declarations"),
    "bomb": (
        '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>',
        "entity declarations",
    ),
    "deep": ("<robot>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>", "deep"),
    "same link twice": (robot_text('<link name="b"/>', joint()), "name is taken"),
    "same joint twice": (robot_text('<link name="c"/>', joint(), joint(child="c")), "name is taken"),
    "unknown parent": (robot_text(joint(parent="bb")), "did you mean 'b'"),
    "own child": (robot_text(joint(parent="b")), "same link 'b'"),
    "two parents": (robot_text(joint(), joint(name="k")), "hangs on joint 'j' already"),
    "two roots": (robot_text('<link name="c"/>', joint()), "2 root links"),
    "loop": (
        robot_text('<link name="c"/>', joint(parent="c"), joint(name="k", parent="b", child="c")),
        "make a loop",
    ),
    "unknown type": (robot_text(joint(kind="revolut")), "did you mean 'revolute'"),
    "crossed limits": (robot_text(joint('<limit lower="1" upper="-1" effort="1" velocity="1"/>')), "exceeds upper"),
    "nan limit": (robot_text(joint('<limit lower="nan" upper="1" effort="1" velocity="1"/>')), "limit lower='nan'"),
    "text limit": (robot_text(joint('<limit lower="a" upper="1" effort="1" velocity="1"/>')), "limit lower='a'"),
    "negative effort": (robot_text(joint('<limit lower="0" upper="1" effort="-1" velocity="1"/>')), "negative"),
    "short rpy": (robot_text(joint(LIMIT + '<origin rpy="0.0"/>')), "3 finite numbers"),
    "nan origin": (robot_text(joint(LIMIT + '<origin xyz="0 0 nan"/>')), "3 finite numbers"),
    "two origins": (robot_text(joint(LIMIT + "<origin/><origin/>")), "two origins"),
    "zero axis": (robot_text(joint(LIMIT + '<axis xyz="0 0 0"/>')), "not all 0"),
    "unexpanded": (robot_text(joint(LIMIT + '<origin xyz="${x} 0 0"/>')), "not expanded"),
    "xacro": ('<robot xmlns:xacro="x"><xacro:macro name="m"/><link name="a"/></robot>', "through xacro"),
    "negative mass": (robot_text(joint()).replace('mass value="1"', 'mass value="-1"'), "mass '-1'"),
    "nan inertia": (robot_text(joint()).replace('izz="1"', 'izz="nan"'), "izz='nan'"),
    "negative damping": (robot_text(joint(LIMIT + '<dynamics damping="-1"/>')), "damping '-1'"),
    "nan friction": (robot_text(joint(LIMIT + '<dynamics friction="nan"/>')), "friction='nan'"),
    "two limits": (robot_text(joint(LIMIT + LIMIT)), "another <limit>"),
    "two parents in one joint": (robot_text(joint(LIMIT + '<parent link="b"/>')), "another <parent>"),
    "named as the world": (robot_text(joint(name="universe")), "rename it"),
    "no leader": (robot_text(joint(LIMIT + '<mimic joint="jj"/>')), "did you mean 'j'"),
    "own leader": (robot_text(joint(LIMIT + '<mimic joint="j"/>')), "mimics itself"),
    "chain of leaders": (
        robot_text(
            '<link name="c"/><link name="d"/>',
            joint(),
            joint(LIMIT + '<mimic joint="j"/>', name="k", parent="b", child="c"),
            joint(LIMIT + '<mimic joint="k"/>', name="l", parent="c", child="d"),
        ),
        "mimics another joint",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_robot_is_refused_by_name(name: str, write, capfd) -> None:
    text, message = REFUSED[name]
    path = write(text)
    with pytest.raises(DescriptionError, match=r"robot\.urdf") as caught:
        PinRobot.from_urdf(path)
    assert message in str(caught.value)
    assert capfd.readouterr() == ("", "")  # not a word of the parsers behind


def test_all_errors_come_at_once_with_their_lines(write) -> None:
    text = robot_text("\n", joint('<limit lower="2" upper="1" effort="1" velocity="1"/>', parent="x"), "\n<link/>")
    with pytest.raises(DescriptionError) as caught:
        PinRobot.from_urdf(write(text))
    lines = str(caught.value).splitlines()
    assert [line.strip().split(":")[0] for line in lines[1:]] == [
        "<robot>",  # two root links, which is no single line's fault
        "line 2",
        "line 2",
        "line 3",
    ]


GUESSED = {
    "no limit": (joint(""), "no <limit>"),
    "no lower": (joint('<limit upper="1" effort="1" velocity="1"/>'), "no lower"),
    "no effort": (joint('<limit lower="0" upper="1" velocity="1"/>'), "effort is missing"),
    "zero velocity": (joint('<limit lower="0" upper="1" effort="1" velocity="0"/>'), "velocity is 0"),
    "capsule": (f'{joint()}<link name="c"><collision><geometry><capsule/></geometry></collision></link>', "capsule"),
    "no geometry": (f'{joint()}<link name="c"><visual><geometry/></visual></link>', "is empty"),
    "flat box": (
        f'{joint()}<link name="c"><visual><geometry><box size="1 0 1"/></geometry></visual></link>',
        "must be positive",
    ),
    "lost mesh": (
        f'{joint()}<link name="c"><visual><geometry><mesh filename="package://p/x.stl"/></geometry></visual></link>',
        "was not found",
    ),
    "no mesh": (f'{joint()}<link name="c"><visual><geometry><mesh/></geometry></visual></link>', "no filename"),
}


@pytest.mark.parametrize("name", GUESSED)
def test_what_is_guessed_is_said_and_refused_when_strict(name: str, write, caplog, capfd) -> None:
    part, message = GUESSED[name]
    if '<link name="c">' in part:
        part += joint(kind="fixed", name="k", parent="b", child="c", inside="")
    path = write(robot_text(part))
    with caplog.at_level(logging.WARNING, logger="knuckle"):
        robot = PinRobot.from_urdf(path)
    assert message in caplog.text
    assert any(message in finding.message for finding in robot.findings)
    assert robot.nq == 1
    with pytest.raises(DescriptionError, match="line 1"):
        PinRobot.from_urdf(path, strict=True)
    assert capfd.readouterr() == ("", "")


NOTED = {
    "no mass": (
        robot_text(joint(), '<link name="c"/>', joint(name="k", parent="b", child="c")),
        "line 1: joint 'k': moves nothing that has mass",
    ),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_is_odd_is_said_and_used(name: str, write, caplog) -> None:
    text, message = NOTED[name]
    with caplog.at_level(logging.WARNING, logger="knuckle"):
        robot = PinRobot.from_urdf(write(text), strict=True)
    assert [str(f).startswith(message) for f in robot.findings] == [True]
    assert message in caplog.text


def test_a_flat_body_and_a_massless_follower_are_nothing_odd(write) -> None:
    follower = joint(LIMIT + '<mimic joint="j"/>', name="k", parent="b", child="c")
    text = robot_text(joint(), '<link name="c"/>', follower).replace('izz="1"', 'izz="2"')
    robot = PinRobot.from_urdf(write(text))
    assert robot.findings == ()
    assert np.isfinite(robot.fd([1.0])).all()


@pytest.mark.parametrize(("izz", "message"), [("-1", "one is negative"), ("2.1", "no body has one above the sum")])
def test_impossible_moments_are_a_warning(izz: str, message: str, write) -> None:
    path = write(robot_text(joint()).replace('izz="1"', f'izz="{izz}"'))
    assert message in PinRobot.from_urdf(path).findings[0].message
    with pytest.raises(DescriptionError, match=message):
        PinRobot.from_urdf(path, strict=True)


def test_an_empty_dynamics_element_is_nothing(write, capfd) -> None:
    robot = PinRobot.from_urdf(write(robot_text(joint(LIMIT + "<dynamics/>"))), strict=True)
    assert robot.motors.damping.tolist() == [0.0] and capfd.readouterr() == ("", "")


def test_numbers_are_read_with_blanks_around_them_and_next_to_nothing(write, capfd) -> None:
    part = '<limit lower=" -1" upper="1 " effort="+5." velocity=".5e1"/><origin xyz="  1e-310 0\t2 " rpy="0 0 0\n"/>'
    robot = PinRobot.from_urdf(write(robot_text(joint(part))), strict=True)
    assert robot.joint_limits.tolist() == [[-1.0], [1.0]] and robot.joint_torque_limits.tolist() == [5.0]
    assert robot.fk(frame="b").translation.tolist() == [0.0, 0.0, 2.0]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("part", ['<origin xyz="1e300 0 0"/>', '<mimic joint="j" multiplier="1e300"/>'])
def test_numbers_beyond_all_reason_are_refused(part: str, write) -> None:
    with pytest.raises(DescriptionError, match=r"up to 1e\+12"):
        PinRobot.from_urdf(write(robot_text(joint(LIMIT + part))))


def test_the_root_joint_takes_a_free_name(write) -> None:
    robot = PinRobot.from_urdf(write(robot_text(joint(name="root_joint"))), root_joint="floating")
    assert robot.joints == ["root_joint_2", "root_joint"] and robot.tcp == "b"


def test_many_links_the_wrong_way_round_load_in_time(write) -> None:
    count = 20000  # a loop, found by walking up from the tip
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(joint(name=f"j{i}", parent=f"l{i}", child=f"l{(i + 1) % count}") for i in reversed(range(count)))
    with pytest.raises(DescriptionError, match="make a loop"):
        PinRobot.from_urdf(write(f'<robot name="ring">{links}{joints}</robot>'))


def test_missing_limits_are_infinite_and_given_ones_stay(write) -> None:
    robot = PinRobot.from_urdf(write(robot_text(joint('<limit upper="1.5" effort="0" velocity="3"/>'))))
    np.testing.assert_array_equal(robot.joint_limits, [[-np.inf], [1.5]])
    assert robot.joint_torque_limits.tolist() == [np.inf]
    assert robot.joint_velocity_limits.tolist() == [3.0]
    assert (abs(robot.random_configuration(1)) <= 2 * np.pi).all()


@pytest.mark.parametrize("bad", [None, 3, b"x.urdf", ["a"], 1.5])
def test_a_path_must_be_a_path(bad) -> None:
    with pytest.raises(InputTypeError, match="path"):
        PinRobot.from_urdf(bad)


def test_files_that_cannot_be_read(tmp_path: Path, write, monkeypatch) -> None:
    with pytest.raises(DescriptionError, match="no file"):
        PinRobot.from_urdf(tmp_path / "absent.urdf")
    with pytest.raises(DescriptionError, match="folder"):
        PinRobot.from_urdf(tmp_path)
    with pytest.raises(DescriptionError):
        PinRobot.from_urdf("bad\0name.urdf")
    with pytest.raises(DescriptionError):
        PinRobot.from_urdf("x" * 5000)
    monkeypatch.setattr(description_source, "LARGEST_FILE", 100)
    with pytest.raises(DescriptionError, match="larger"):
        PinRobot.from_urdf(write(robot_text(joint())))


def test_impossible_arguments_are_named(tmp_path: Path) -> None:
    path = samples.path_of("planar_2r")
    for arguments, error, word in [
        ({"gravity": [0, 0]}, InputError, "gravity"),
        ({"gravity": [0, 0, np.nan]}, InputError, "gravity"),
        ({"root_joint": "flaoting"}, UnknownNameError, "floating"),
        ({"package_dirs": tmp_path / "absent"}, InputError, "package_dirs"),
        ({"package_dirs": 3}, InputTypeError, "package_dirs"),
        ({"package_dirs": [3]}, InputTypeError, "package_dirs"),
        ({"tcp": "tol"}, UnknownNameError, "tool"),
        ({"home_configuration": [0.0]}, InputError, r"\(2,\)"),
        ({"base_placement": np.ones((4, 4))}, InputError, "placement"),
        ({"rng": "x"}, KnuckleError, "rng"),
    ]:
        with pytest.raises(error, match=word):
            PinRobot.from_urdf(path, **arguments)


def test_names_with_spaces_and_umlauts_and_a_byte_order_mark(tmp_path: Path) -> None:
    folder = tmp_path / "größe 1"
    shutil.copytree(samples.FOLDER / "meshes", folder / "meshes")
    text = samples.path_of("cube_meshes").read_text(encoding="utf-8")
    text = text.replace("package://urdf_samples/", "").replace('"tool"', '"größtes Werkzeug"')
    path = folder / "würfel arm.urdf"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    robot = PinRobot.from_urdf(path, strict=True)
    assert robot.tcp == "größtes Werkzeug"
    assert robot.collision.ngeoms == 3 == robot.visual.ngeoms


def test_meshes_are_found_from_any_folder(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "one" / "urdf_samples"
    shutil.copytree(samples.FOLDER / "meshes", package / "meshes")
    text = samples.path_of("cube_meshes").read_text(encoding="utf-8")
    for elsewhere in ("meshes/cube", "package://urdf_samples/meshes/cube"):
        text = text.replace(f'"{elsewhere}', '"package://urdf_samples/meshes/cube')
    path = tmp_path / "two" / "arm.urdf"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert PinRobot.from_urdf(path).collision.ngeoms == 0
    for where in (package.parent, package, package / "meshes", [tmp_path, package.parent], "one"):
        assert PinRobot.from_urdf(path, where, strict=True).collision.ngeoms == 3, where
    assert PinRobot.from_urdf(path, package_dir="one").collision.ngeoms == 3


def test_a_broken_mesh_is_left_out_by_name(tmp_path: Path, caplog, capfd) -> None:
    (tmp_path / "x.stl").write_bytes(b"solid nonsense")
    geometry = '<visual><geometry><mesh filename="x.stl"/></geometry></visual>'
    path = tmp_path / "robot.urdf"
    path.write_text(robot_text(joint()).replace('<link name="a"/>', f'<link name="a">{geometry}</link>'))
    robot = PinRobot.from_urdf(path)
    assert robot.visual.ngeoms == 0
    assert "x.stl" in caplog.text and "link 'a'" in caplog.text
    assert capfd.readouterr() == ("", "")


def test_root_joints_and_uncoupled_mimic() -> None:
    path = samples.path_of("planar_2r")
    assert (PinRobot.from_urdf(path, root_joint="floating").nq, samples.load("planar_2r").nq) == (9, 2)
    assert PinRobot.from_urdf(path, root_joint="planar").nq == 6
    gripper = PinRobot.from_urdf(samples.path_of("gripper"), mimic=False)
    assert gripper.nq == 3 and gripper.couplings == ()


def test_two_thousand_joints_load(write) -> None:
    links = "".join(f'<link name="l{i}"/>' for i in range(2001))
    joints = "".join(joint(name=f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in range(2000))
    robot = PinRobot.from_urdf(write(f'<robot name="snake">{links}{joints}</robot>'))
    assert robot.nq == 2000
    if native.AVAILABLE:
        assert robot.fk(np.zeros(2000)).isclose(np.eye(4))
    with pytest.raises(UnsupportedError, match="GB"):  # not a full memory
        robot.mass_matrix()
