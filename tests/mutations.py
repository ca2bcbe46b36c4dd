"""Descriptions made worse at random, and what loading them may and may not do."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from knuckle import KnuckleError, PinRobot

MJCF = b"""<mujoco model="whole">
  <compiler angle="radian"/>
  <default><joint damping="0.1"/><default class="arm"><geom type="capsule" size="0.05 0.2"/></default></default>
  <asset><mesh name="cube" file="meshes/cube.stl" scale="0.1 0.1 0.1"/></asset>
  <worldbody>
    <body name="base" pos="0 0 0.1">
      <joint name="turn" type="hinge" axis="0 0 1" range="-3 3"/>
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="upper" pos="0 0 0.4" euler="0 0.3 0" childclass="arm">
        <joint name="x" type="slide" axis="1 0 0" range="-1 1"/>
        <joint name="lift" type="hinge" axis="0 1 0" range="-2 2" armature="0.01" frictionloss="0.1"/>
        <inertial mass="1" pos="0 0 0.1" diaginertia="0.1 0.1 0.1"/>
        <geom class="arm"/>
        <body name="fore" pos="0 0 0.9" quat="1 0 0 0">
          <joint name="wrist" type="ball"/>
          <geom type="mesh" mesh="cube"/>
          <site name="tool" pos="0 0 0.2"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
XACRO = b"""<robot name="whole" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="half" value="${0.5 * 2}"/>
  <xacro:macro name="segment" params="name parent *shape">
    <link name="${name}"><collision><geometry><xacro:insert_block name="shape"/></geometry></collision>
      <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="j_${name}" type="revolute"><parent link="${parent}"/><child link="${name}"/>
      <origin xyz="$(arg length) 0 ${half}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:segment name="a" parent="base"><box size="0.1 0.1 ${half}"/></xacro:segment>
  <xacro:if value="${half > 0.1}">
    <xacro:segment name="b" parent="a"><sphere radius="0.1"/></xacro:segment>
  </xacro:if>
</robot>
"""
SAMPLES = Path(__file__).resolve().parents[1] / "urdf_samples"
_WORDS = (
    *("nan", "inf", "-1", "0", "1e308", "1e-308", "-1e400", "", "x", "${x}", "$(find p)", "1 2", "1 2 3", "0 0 0"),
    *("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "universe", "base", "../../x", "\u00e4"),
    *("package://a/b.stl", "file:///dev/zero", "/dev/zero", "meshes/cube.stl", "9" * 400, "0x10", "1_0", "true"),
    *("free", "ball", "hinge", "slide", "mesh", "plane", "ellipsoid", "hfield", "0 0", "1 0 0 0", "0 0 0 0"),
)
_ELEMENTS = (
    *('<link name="new"/>', '<mimic joint="j"/>', '<limit lower="1" upper="0"/>', "<inertial/>", "<axis/>"),
    *("<geometry><capsule/></geometry>", "<!-- -->", "<![CDATA[x]]>", "<?x y?>", "&amp;", "&x;", '<origin rpy="0"/>'),
    *('<joint type="floating"/>', '<freejoint name="f"/>', '<body name="b"/>', '<geom size="1"/>', "<worldbody/>"),
)


def sources() -> dict[str, bytes]:
    """Every description that mutations start from, by file name; entity bombs and the like have nothing to mutate."""
    broken = SAMPLES / "broken"
    files = [*SAMPLES.glob("*.urdf"), *broken.glob("*.urdf"), *broken.glob("*.xml"), *broken.glob("*.xacro")]
    files = [path for path in files if path.name not in ("entity_bomb.urdf", "elements_too_deep.urdf")]
    return {path.name: path.read_bytes() for path in sorted(files)} | {"whole.xml": MJCF, "whole.urdf.xacro": XACRO}


def draw(from_file: dict[str, bytes], rng: random.Random) -> tuple[str, bytes]:
    """A name and a mutation, of whole descriptions as often as of broken ones."""
    whole = [name for name in from_file if (SAMPLES / name).exists() or name.startswith("whole.")]
    name = rng.choice(whole if rng.random() < 0.8 else list(from_file))
    return name, mutated(from_file[name], rng, rng.choice((1, 1, 1, 2, 4)))


def mutated(data: bytes, rng: random.Random, count: int) -> bytes:
    """`data` after some changes drawn from `rng`."""
    for _ in range(count):
        data = rng.choice(_CHANGES)(data, rng)
    return data[: 2**18]


def load(folder: Path, name: str, data: bytes) -> PinRobot | None:
    """Load a mutation as a user would and ask what users ask; None if it is refused as it should be.

    Raises:
        Exception: any but the toolkit's own, which is a fault of the toolkit.
    """
    file = folder / name
    file.write_bytes(data)
    try:
        robot = PinRobot.from_file(file, SAMPLES.parent)
    except KnuckleError:
        return None
    q = robot.random_configuration(0)
    assert np.isfinite(q).all()
    for name_of_frame, pose in robot.fk(q, kind="full").items():
        assert np.isfinite(pose.homogeneous).all(), name_of_frame
    for query in (robot.static_torque, robot.has_self_collision, robot.fd):
        try:
            query(q)
        except KnuckleError:
            pass
    return robot


def _words(data: bytes) -> list[tuple[int, int]]:
    """Where the values of attributes stand."""
    places, start = [], -1
    for at, byte in enumerate(data):
        if byte == 34:
            if start >= 0:
                places.append((start, at))
            start = -1 if start >= 0 else at + 1
    return places


def _lines(data: bytes, rng: random.Random) -> tuple[list[bytes], int]:
    lines = data.splitlines(keepends=True) or [b""]
    return lines, rng.randrange(len(lines))


def _replace_value(data: bytes, rng: random.Random) -> bytes:
    places = _words(data)
    if not places:
        return data
    start, end = rng.choice(places)
    return data[:start] + rng.choice(_WORDS).encode() + data[end:]


def _swap_values(data: bytes, rng: random.Random) -> bytes:
    places = _words(data)
    if len(places) < 2:
        return data
    (a, b), (c, d) = sorted(rng.sample(places, 2))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _drop_line(data: bytes, rng: random.Random) -> bytes:
    lines, at = _lines(data, rng)
    return b"".join(lines[:at] + lines[at + 1 :])


def _repeat_line(data: bytes, rng: random.Random) -> bytes:
    lines, at = _lines(data, rng)
    return b"".join([*lines[:at], *[lines[at]] * rng.randint(2, 4), *lines[at + 1 :]])


def _move_line(data: bytes, rng: random.Random) -> bytes:
    lines, at = _lines(data, rng)
    line = lines.pop(at)
    lines.insert(rng.randint(0, len(lines)), line)
    return b"".join(lines)


def _insert_element(data: bytes, rng: random.Random) -> bytes:
    lines, at = _lines(data, rng)
    lines.insert(at, rng.choice(_ELEMENTS).encode() + b"\n")
    return b"".join(lines)


def _flip_byte(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randint(1, 40) :]


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *[_replace_value] * 6,
    *[_swap_values] * 3,
    _drop_line,
    _repeat_line,
    _move_line,
    *[_insert_element] * 2,
    _flip_byte,
    _cut,
)
