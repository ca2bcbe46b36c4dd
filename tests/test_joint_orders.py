"""Joints as other programs order them: the file, a JointState, columns of a CSV file, limits files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knuckle import DescriptionError, InputError, InputTypeError, PinRobot, UnknownNameError

from . import samples
from .test_loading import joint, robot_text

GRIPPER = samples.load("gripper")  # finger_left and pinion mimic finger_right
SIX = samples.load("sixr_arm")
# in the file z_first, then a_second; siblings, so that q has them by name
Z_A = robot_text(
    joint(name="z_first"), '<link name="c"/>', joint(name="a_second", child="c"), joint("", "fixed", "f", "c", "d")
).replace("</robot>", '<link name="d"/></robot>')


def test_q_is_by_name_among_siblings_and_the_file_s_order_is_kept_beside_it() -> None:
    robot = PinRobot.from_urdf(Z_A)
    assert robot.joints == ["a_second", "z_first"]
    assert robot.file_joints == ["z_first", "a_second"]
    q = np.array([0.1, 0.2])
    np.testing.assert_array_equal(q[robot.permutation(robot.file_joints)], [0.2, 0.1])
    assert robot.joint_values(q) == {"a_second": 0.1, "z_first": 0.2}


def test_a_reduced_robot_keeps_the_order_of_the_file() -> None:
    robot = PinRobot.from_urdf(Z_A)
    assert robot.reduced("z_first").file_joints == ["a_second"]
    assert PinRobot(wrapper=robot.model).file_joints == robot.joints  # no file, so the order of q


def test_a_joint_state_holds_followers_and_comes_back_in_any_order() -> None:
    names, positions = GRIPPER.joint_state([0.01])
    assert sorted(names) == ["finger_left", "finger_right", "pinion"]
    assert dict(zip(names, positions, strict=True))["pinion"] == pytest.approx(50 * 0.01 - 1.25)
    assert GRIPPER.from_joint_state(names, positions) == [0.01]
    rng = np.random.default_rng(3)
    q = SIX.random_configuration(rng)
    order = rng.permutation(SIX.joints).tolist()
    names, positions = SIX.joint_state(q, order)
    assert names == order
    np.testing.assert_array_equal(SIX.from_joint_state(names, positions), q)
    some = SIX.from_joint_state(order[:2], positions[:2], q=np.zeros(6))
    assert np.count_nonzero(some) == 2


def test_joint_states_of_a_floating_base_hold_its_legs() -> None:
    robot = samples.load("quadruped")
    names, positions = robot.joint_state()
    assert len(names) == len(positions) == 12
    np.testing.assert_array_equal(robot.from_joint_state(names, positions), robot.q)


def test_bad_joint_states_are_named() -> None:
    with pytest.raises(UnknownNameError, match="joint1"):
        SIX.from_joint_state(["joint11"], [0.0])
    with pytest.raises(UnknownNameError, match="joint1"):
        SIX.joint_state(names=["joint11"])
    with pytest.raises(InputError, match=r"positions.*\(2,\)"):
        SIX.from_joint_state(SIX.joints[:2], [0.0])
    with pytest.raises(InputError, match="repeat"):
        SIX.from_joint_state([SIX.joints[0]] * 2, [0.0, 0.0])
    with pytest.raises(InputTypeError, match="names"):
        SIX.from_joint_state("joint1", [0.0])
    with pytest.raises(InputTypeError, match="names"):
        SIX.from_joint_state([1], [0.0])


def test_configurations_come_back_from_csv_to_the_last_digit_in_any_order_of_columns(tmp_path: Path) -> None:
    for robot in (SIX, samples.load("quadruped"), GRIPPER):
        file = tmp_path / f"{robot.name}.csv"
        q = np.array(samples.random_configurations(robot, 4))
        robot.write_configurations(file, q)
        np.testing.assert_array_equal(robot.read_configurations(file), q)
        rows = [line.split(",") for line in file.read_text().splitlines()]
        assert rows[0] == robot.coordinate_names
        turned = [[str(i), *row[::-1]] for i, row in enumerate(rows)]
        file.write_text("\ufeff" + "\n".join(",".join(["time", *r[1:]] if i == 0 else r) for i, r in enumerate(turned)))
        np.testing.assert_array_equal(robot.read_configurations(file), q)


def test_bad_csv_is_named_by_row_and_column(tmp_path: Path) -> None:
    file, header = tmp_path / "q.csv", ",".join(SIX.coordinate_names)
    name = SIX.coordinate_names[2]
    for text, match in [
        ("", "is empty"),
        ("a,b\n1,2\n", f"column '{SIX.coordinate_names[0]}' is there not"),
        (f"{header},{name}\n", f"column '{name}' is there twice"),
        (f"{header}\n0,0,0,0,0,0\n\n0,0,nan,0,0,0\n", f"q.csv:4: column '{name}'"),
        (f"{header}\n0,0\n", f"q.csv:2: column '{name}'"),
        (f"{header}\n0,0,x,0,0,0\n", "got 'x'"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=match):
            SIX.read_configurations(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="CSV"):
        SIX.read_configurations(file)
    with pytest.raises(InputTypeError, match="path"):
        SIX.read_configurations(3)  # type: ignore[arg-type]
    file.write_text(header + "\n")
    assert SIX.read_configurations(file).shape == (0, 6)


# joint_limits.yaml

LIMITS = """
joint_limits:
  {0}:
    has_position_limits: true
    min_position: -0.5
    max_position: !degrees 90
    has_velocity_limits: true
    max_velocity: 1.5
    has_acceleration_limits: true
    max_acceleration: 3
    has_jerk_limits: true
    max_jerk: 20.0
  {1}:
    has_effort_limits: true
    max_effort: 12.5
    has_velocity_limits: false
"""


def limits_text(text: str = LIMITS) -> str:
    return text.format(*SIX.joints)


@pytest.mark.parametrize("nested", [False, True])
def test_a_ros_limits_file_overrides_what_it_names(nested: bool, tmp_path: Path) -> None:
    file, text = tmp_path / "joint_limits.yaml", limits_text()
    if nested:  # as the parameters of a ROS 2 node
        text = "/**:\n  ros__parameters:\n" + "\n".join(f"    {line}" for line in text.splitlines())
    file.write_text(text)
    robot = SIX.with_limits_file(file)
    before = SIX.limits
    np.testing.assert_allclose(robot.joint_limits[:, 0], [-0.5, np.pi / 2], rtol=1e-15)
    np.testing.assert_array_equal(robot.joint_limits[:, 1:], before.position[:, 1:])
    assert robot.joint_velocity_limits.tolist() == [1.5, np.inf, *before.velocity[2:].tolist()]
    assert robot.joint_acceleration_limits[0] == 3 and robot.joint_jerk_limits[0] == 20
    assert robot.joint_torque_limits.tolist() == [before.torque[0], 12.5, *before.torque[2:].tolist()]
    assert SIX.limits is before  # a new robot, the old one as it was


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("joint_limits: [", "YAML"),
        ("- 1", "no mapping joint_limits"),
        ("joint_limits:\n  {0}: 3", "mapping of limits"),
        ("joint_limits:\n  {0}: {{max_velocity: fast}}", "max_velocity must be a finite number, got 'fast'"),
        ("joint_limits:\n  {0}: {{max_velocity: .nan}}", "finite"),
        ("joint_limits:\n  {0}: {{max_velocity: -1}}", "negative"),
        ("joint_limits:\n  {0}: {{has_velocity_limits: true}}", "there is no max_velocity"),
        ("joint_limits:\n  {0}: {{has_velocity_limits: 'no'}}", "true or false"),
        ("joint_limits:\n  {0}: {{min_position: 1}}", "both min_position and max_position"),
        ("joint_limits:\n  {0}: {{max_velocity: !degrees x}}", "YAML"),
        ("joint_limits: !!python/object/apply:os.system ['true']", "YAML"),
        ("[" * 5000, "nested too deep|YAML"),
        ("#" * 300000, "larger than"),
    ],
)
def test_bad_limits_files_are_refused_by_name(text: str, match: str, tmp_path: Path) -> None:
    file = tmp_path / "joint_limits.yaml"
    file.write_text(text.format(*SIX.joints) if "{0}" in text else text)
    with pytest.raises(DescriptionError, match=match) as caught:
        SIX.with_limits_file(file)
    assert "joint_limits.yaml" in str(caught.value)


def test_limits_of_unknown_joints_and_of_followers(tmp_path: Path) -> None:
    file = tmp_path / "joint_limits.yaml"
    file.write_text("joint_limits: {elbo: {max_velocity: 1}}")
    with pytest.raises(UnknownNameError, match="elbow"):
        samples.load("planar_2r").with_limits_file(file)
    file.write_text("joint_limits: {pinion: {max_velocity: 1}}")
    np.testing.assert_array_equal(GRIPPER.with_limits_file(file).joint_limits, GRIPPER.joint_limits)
    with pytest.raises(InputTypeError, match="path"):
        GRIPPER.with_limits_file("<xml/>")


def test_crossed_limits_of_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "joint_limits.yaml"
    file.write_text(f"joint_limits: {{{SIX.joints[0]}: {{min_position: 1, max_position: 0}}}}")
    with pytest.raises(InputError, match="exceeds"):
        SIX.with_limits_file(file)
