"""Descriptions made to harm: readers end soon, in one clear error, and lose nothing in silence."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import DescriptionError, InputError, KnuckleError, PinRobot, UnknownNameError
from knuckle.cli import main
from knuckle.robot.ply_header import ply_fault

from . import samples

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def urdf(body: str = INERTIAL, *, limit: str = 'lower="-1" upper="1" effort="3" velocity="2"', more: str = "") -> str:
    return (
        f'<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">{more}<link name="a"/><link name="b">{body}</link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        f"<limit {limit}/></joint></robot>"
    )


@pytest.mark.parametrize("blank", ["&#9;", "&#10;", "&#13;", "\u00a0", "\u2003", "\u3000", "&#x2028;", " &#32; "])
def test_blanks_of_every_kind_separate_numbers(blank: str, capfd: pytest.CaptureFixture[str]) -> None:
    xyz = blank.join(("1", "2", "3"))
    body = INERTIAL.replace('"2"', f'"2{blank}"').replace("<mass", f'<origin xyz="{xyz}"/><mass')
    shape = f'<collision><origin xyz="{xyz}"/><geometry><box size="{xyz}"/></geometry></collision>'
    robot = PinRobot.from_urdf(urdf(body + shape), strict=True)
    assert robot.model.inertias[1].mass == 2.0
    np.testing.assert_array_equal(robot.model.inertias[1].lever, [1, 2, 3])
    np.testing.assert_array_equal(2 * robot.collision.geometryObjects[0].geometry.halfSide, [1, 2, 3])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("format ascii 1.0\nelement vertex 999999999\nproperty float x", "promises 999999999"),
        ("format binary_little_endian 1.0\nelement vertex 3\nproperty float x\nelement face 4000000000\nproperty list "
         "uchar int vertex_index", "promises 4000000000"),
        ("format ascii 1.0\nelement vertex -5\nproperty float x", "no count"),
        ("format ascii 1.0\nelement vertex", "no count"),
    ],
)  # fmt: skip
def test_a_ply_that_promises_more_than_it_holds_is_left_out(header: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "part.ply"
    file.write_text(f"ply\n{header}\nend_header\n0 0 0\n")
    robot = PinRobot.from_urdf(
        urdf(INERTIAL + f'<collision><geometry><mesh filename="{file}"/></geometry></collision>')
    )
    assert [found.code for found in robot.findings] == ["mesh-unreadable"] and words in robot.findings[0].problem


def test_a_sound_ply_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tetrahedron.ply"
    points, faces = ("0 0 0", "1 0 0", "0 1 0", "0 0 1"), ("3 0 2 1", "3 0 1 3", "3 0 3 2", "3 1 2 3")
    header = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n"
    header += "property list uchar int vertex_index"
    file.write_text("\n".join(("ply", "format ascii 1.0", header, "end_header", *points, *faces, "")))
    assert ply_fault(file) is None
    robot = PinRobot.from_urdf(
        urdf(INERTIAL + f'<collision><geometry><mesh filename="{file}"/></geometry></collision>')
    )
    assert not robot.findings and robot.collision.ngeoms == 1


def test_a_limit_of_zero_stays_one_that_stops_the_joint() -> None:
    still = PinRobot.from_urdf(urdf()).with_limits(velocity=0.0, torque={"j": 0.0})
    again = PinRobot.from_urdf(still.to_urdf(), strict=True)
    assert again.joint_velocity_limits[0] <= 1e-9 and again.joint_torque_limits[0] <= 1e-9
    free = PinRobot.from_urdf(PinRobot.from_urdf(urdf()).with_limits(velocity=np.inf).to_urdf())
    assert np.isinf(free.joint_velocity_limits[0])


def limits(text: str, folder: Path) -> PinRobot:
    file = folder / "joint_limits.yaml"
    file.write_text(text, encoding="utf-8")
    return PinRobot.from_urdf(urdf()).with_limits_file(file)


LETTERS = "abcdefghijklmnop"
ALIASES = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{c}: &{c} [{','.join([f'*{p}'] * 9)}]\n" for p, c in itertools.pairwise(LETTERS)
)


@pytest.mark.parametrize(
    "text",
    [
        ALIASES + "joint_limits: {j: {max_velocity: *p}}",
        ALIASES + "joint_limits: {j: *p}",
        ALIASES.replace("[x,x", "{<<: [").replace("x]", "]}"),
        "d: &d {" + ",".join(f"k{i}: 1" for i in range(5000)) + "}\njoint_limits: {j: {<<: [" + "*d," * 3000 + "*d]}}",
        "joint_limits: {j: {max_velocity: 1e999}}",
        "joint_limits: {j: {max_velocity: .nan}}",
        "joint_limits: {j: {max_velocity: " + "9" * 5000 + "}}",
        "joint_limits: {j: {max_velocity: " + "9" * 400 + "}}",
        "joint_limits: {j: {max_velocity: !degrees [1]}}",
        "joint_limits: {j: {max_velocity: !degrees 1e999}}",
        "joint_limits: {j: {max_velocity: !!int '_'}}",
        "joint_limits: {j: {max_velocity: !!bool xx}}",
        "joint_limits: {j: {max_velocity: !!timestamp x}}",
        "joint_limits: {j: {max_velocity: 2020-13-45}}",
        "joint_limits: {j: {max_velocity: !!set {a, b}}}",
        "joint_limits: {[a]: 3}",
        "joint_limits: {j: {<<: [1, 2]}}",
        "joint_limits: !!python/object:os.system x",
        "joint_limits: {j: {max_velocity: 1, max_velocity: 2}}",
        "joint_limits: {j: {max_velocty: 1}}",
        "joint_limits: {j: {max_velocity: true}}",
    ],
)
def test_limits_files_that_are_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"joint_limits\.yaml"):
        limits(text, tmp_path)


def test_everything_wrong_with_a_limits_file_is_told_at_once(tmp_path: Path) -> None:
    text = "joint_limits: {k: {max_velocity: 1}, j: {has_velocity_limits: 3, max_acceleration: -1, max_jrek: 2}, l: 4}"
    with pytest.raises(DescriptionError) as error:
        limits(text, tmp_path)
    for words in ("'k'", "'l'", "has_velocity_limits must be", "max_acceleration must not", "did you mean 'max_jerk'"):
        assert words in str(error.value)
    with pytest.raises(UnknownNameError, match="'k'"):
        limits("joint_limits: {k: {max_velocity: 1}}", tmp_path)


def test_anchors_serve_several_joints(tmp_path: Path) -> None:
    text = (
        "slow: &slow {has_velocity_limits: true, max_velocity: 0.5}\njoint_limits:\n  j:\n    <<: *slow\n    soft: 1\n"
    )
    assert limits(text, tmp_path).joint_velocity_limits.tolist() == [0.5]


@pytest.mark.parametrize("which", ["srdf", "limits", "urdf", "include"])
def test_pipes_are_not_waited_for(which: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.xml"
    os.mkfifo(pipe)
    including = tmp_path / "including.xacro"
    including.write_text(urdf(more=f'<xacro:include filename="{pipe}"/>'))
    readers: dict[str, Any] = {
        "srdf": lambda: PinRobot.from_urdf(urdf(), srdf=pipe),
        "limits": lambda: PinRobot.from_urdf(urdf()).with_limits_file(pipe),
        "urdf": lambda: PinRobot.from_urdf(pipe),
        "include": lambda: PinRobot.from_urdf(including),
    }
    with pytest.raises(DescriptionError, match="not a regular file"):
        readers[which]()


def test_xacro_arguments_that_nobody_asks_for_are_refused(tmp_path: Path) -> None:
    file, part = tmp_path / "r.xacro", tmp_path / "part.xacro"
    part.write_text('<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="wide" default="1"/></robot>')
    file.write_text(urdf(more=f'<xacro:arg name="long" default="1"/><xacro:include filename="{part}"/>'))
    assert PinRobot.from_urdf(file, xacro_args={"long": 2, "wide": 3}).nq == 1
    with pytest.raises(UnknownNameError, match=r"'lnog'.*did you mean 'long'"):
        PinRobot.from_urdf(file, xacro_args={"lnog": 2})
    plain = tmp_path / "plain.urdf"
    plain.write_text(urdf())
    with pytest.raises(UnknownNameError, match="'a'"):
        PinRobot.from_urdf(plain, xacro_args={"a": 1})


def test_faults_of_xacro_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "r.xacro"
    file.write_text(urdf(more='\n\n<xacro:property name="p" value="${1/0}"/>\n<link name="${p}"/>'))
    with pytest.raises(DescriptionError, match="line 3"):
        PinRobot.from_urdf(file)
    file.write_text(urdf(more="\n\n\n<xacro:nothing/>"))
    with pytest.raises(DescriptionError, match=r"xacro:nothing.*line 4"):
        PinRobot.from_urdf(file)


def test_xacro_called_urdf_is_one_finding() -> None:
    with pytest.raises(DescriptionError) as error:
        PinRobot.from_urdf(urdf(more='<xacro:property name="w" value="1"/><link name="${w}"/><link name="${w}"/>'))
    assert [found.code for found in error.value.findings] == ["xacro-left"]


def test_an_element_left_open_is_named() -> None:
    with pytest.raises(DescriptionError, match="<visual> of line 3 is still open"):
        PinRobot.from_urdf('<robot name="r">\n<link name="a">\n<visual>\n</link></robot>')


def test_what_looks_like_degrees_and_what_does_not() -> None:
    turning = PinRobot.from_urdf(urdf(limit='lower="-120" upper="120" effort="3" velocity="2"'))
    assert [found.code for found in turning.findings] == ["angle-degrees"]
    for limit in (f'lower="{-2 * np.pi}" upper="{2 * np.pi}"', 'lower="-1e10" upper="1e10"', 'lower="-18" upper="18"'):
        assert not PinRobot.from_urdf(urdf(limit=limit + ' effort="3" velocity="2"')).findings
    assert not any(
        found.code in ("angle-degrees", "inertia-zero") for n in samples.SAMPLES for found in samples.load(n).findings
    )


def test_places_that_cannot_be_written_are_named_as_the_user_wrote_them(tmp_path: Path) -> None:
    robot = PinRobot.from_urdf(urdf())
    for path in (tmp_path / "none" / "r.urdf", tmp_path):
        with pytest.raises(InputError) as error:
            robot.save_urdf(path)
        assert ".part" not in str(error.value) and str(path) in str(error.value)


def test_a_joint_of_an_mjcf_that_moves_nothing_is_found(tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    file.write_text(
        '<mujoco><worldbody><body name="b"><joint name="x" type="hinge"/><body name="c" pos="0 0 1"/></body>'
        "</worldbody></mujoco>"
    )
    assert [found.code for found in PinRobot.from_file(file).findings] == ["joint-massless"]


def test_commands_print_json_whatever_happens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='r'>\n<link>")
    for words in (["inspect", str(broken)], ["fk", str(tmp_path / "none.urdf")], ["inspect", "no_such_robot"]):
        assert main([*words, "--json"]) == 2
        out, err = capsys.readouterr()
        assert json.loads(out)["error"] and err.startswith("knuckle: error: ")


def test_inspect_shows_accelerations_and_jerks_that_are_limited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "limits.yaml"
    file.write_text("joint_limits: {shoulder: {max_acceleration: 3.5, max_jerk: 90}}")
    words = ["inspect", "planar_2r", "--joint-limits", str(file)]
    assert main(words) == 0
    row = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("shoulder")]
    assert ["shoulder", "3.500", "90.000"] in row
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["joints"][0]["jerk_limit"] == [90.0]


def test_all_errors_are_of_the_toolkit() -> None:
    assert issubclass(DescriptionError, KnuckleError)
