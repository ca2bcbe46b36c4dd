"""`knuckle inspect`: what a robot description holds, as a tree of links and tables of joints and frames."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..robot import DescriptionError, InputError, PinRobot
from ..robot.arrays import Array
from ..robot.findings import ERROR, WARNING, Finding
from .geometry import geometry_data, geometry_table
from .joints import Joint, joints_of, kind_of, lengths
from .kinematics import named, pose_data
from .links import Links, links_of
from .output import fields, number, report, table, tree
from .pairs import pair_table, write_srdf
from .parser import Commands, add_command, load_robot

_UNITS = "angles: rad, rad/s, N m, damping N m s/rad; lengths: m, m/s, N, damping N s/m"


def add_commands(commands: Commands) -> None:
    """Registers `inspect`."""
    parser = add_command(commands, "inspect", "links, joints, limits, masses and frames of a robot")
    pairs = parser.add_argument_group("collision pairs")
    pairs.add_argument(
        "--srdf-out", metavar="FILE", help="sample random configurations and write the pairs not to check as an SRDF"
    )
    pairs.add_argument("--samples", default="10000", metavar="N", help="configurations, default %(default)s")
    pairs.add_argument("--seed", type=int, default=0, metavar="N", help="of the sampling, default %(default)s")
    parser.set_defaults(run=run_inspect)


def run_inspect(arguments: argparse.Namespace) -> int:
    """Prints the report; 1 where the description makes no robot or, if strict, had to be guessed at."""
    try:
        robot = load_robot(arguments, quiet=True, strict=False)
    except DescriptionError as error:
        if not error.findings or error.findings[0].element == "file":  # nothing of it could be read
            raise
        return _report_broken(arguments, error.findings)
    if arguments.srdf_out is not None:
        write_srdf(robot, arguments)
    report(arguments.json, lambda: _data(robot), lambda: _text(robot))
    return 1 if arguments.strict and any(found.severity == WARNING for found in robot.findings) else 0


def _report_broken(arguments: argparse.Namespace, findings: Sequence[Finding]) -> int:
    """Everything that keeps a description from being a robot."""
    errors = sum(found.severity == ERROR for found in findings)
    name = Path(arguments.robot).name

    def text() -> str:
        verdict = f"no robot: {errors} error{'s' if errors > 1 else ''} in {len(findings)} findings"
        return fields([("description", name), ("verdict", verdict)]) + "\n\n" + _finding_list(findings)

    report(arguments.json, lambda: {"robot": None, "findings": _finding_data(findings)}, text)
    return 1


def summary(robot: PinRobot) -> list[tuple[str, str]]:
    """The facts of a robot that fit in one line each."""
    geometry = f"{robot.collision.ngeoms} for collision, {robot.visual.ngeoms} to be seen"
    home = ", ".join(number(value, 3) for value in robot.home_configuration)
    return [
        ("robot", robot.name),
        ("joints", f"{len(robot.joints)} (nq {robot.nq}, nv {robot.nv})"),
        ("mass", f"{number(robot.mass, 3)} kg, {number(moving_mass(robot), 3)} kg without the base"),
        ("tcp", tcp_of(robot) or "not chosen: name one with --tcp"),
        ("home", home if len(home) < 80 else f"{robot.nq} values"),
        ("geometries", geometry),
        ("pairs", f"{len(robot.active_pairs)} checked for collision, {len(robot.excluded_pairs)} not"),
    ]


def moving_mass(robot: PinRobot) -> float:
    """Mass of all that moves against the base [kg]; a base that moves is the link of the root joint."""
    model = robot.model
    loose = model.njoints > 1 and kind_of(model.joints[1]) in ("floating", "planar")
    return float(sum(inertia.mass for inertia in model.inertias[2 if loose else 1 :]))


def tcp_of(robot: PinRobot) -> str | None:
    """Name of the tool centre point, None where the robot has several tips and none was chosen."""
    try:
        return robot.tcp
    except InputError:
        return None


def joint_table(robot: PinRobot) -> str:
    """Joints with type, axis, limits and friction, then those that mimic others."""
    names, linear, motors, rows = robot.dof_names, lengths(robot), robot.motors, []
    for joint in joints_of(robot):
        bounds = _position_limits(robot, joint)
        for i in range(joint.v.start, joint.v.stop):
            numbers = [*bounds, robot.joint_velocity_limits[i], robot.joint_torque_limits[i]]
            numbers += [motors.damping[i], motors.coulomb[i]]
            cells = [number(float(value), 3) for value in numbers]
            rows.append([names[i], joint.kind, axis_text(joint.axis), "m" if linear[i] else "rad", *cells])
    headers = ["joint", "type", "axis", "unit", "lower", "upper", "velocity", "effort", "damping", "friction"]
    lines = [table(headers, rows, left=4), _UNITS]
    limits = robot.limits
    if np.isfinite(limits.acceleration).any() or np.isfinite(limits.jerk).any():
        rows = [
            [n, number(a, 3), number(j, 3)] for n, a, j in zip(names, limits.acceleration, limits.jerk, strict=True)
        ]
        lines.append("\n" + table(["joint", "acceleration", "jerk"], rows))
    for c in robot.couplings:
        sign = "-" if c.offset < 0 else "+"
        lines.append(f"{c.follower} mimics {c.leader}: {c.multiplier:g} * {c.leader} {sign} {abs(c.offset):g}")
    return "\n".join(lines)


def axis_text(axis: Array | None) -> str:
    """x, -y or three numbers; nothing where a joint has several axes."""
    if axis is None:
        return ""
    for letter, unit in zip("xyz", np.eye(3), strict=True):
        if np.allclose(axis, unit) or np.allclose(axis, -unit):
            return letter if axis.sum() > 0 else f"-{letter}"
    return " ".join(number(float(x), 2) for x in axis)


def _position_limits(robot: PinRobot, joint: Joint) -> tuple[float, float]:
    if joint.q.stop - joint.q.start > 1:
        return float("nan"), float("nan")
    lower, upper = robot.joint_limits[:, joint.q.start]
    return float(lower), float(upper)


def _link_tree(links: Links) -> str:
    def label(name: str) -> str:
        link = links.links[name]
        mass = f"   {number(link.mass, 3)} kg" if link.mass else ""
        return f"{link.joint} ({link.kind}) ─ {name}{mass}" if link.joint else f"{name}{mass}"

    return "\n".join(tree(root, links.children, label) for root in links.roots)


def _frame_table(robot: PinRobot) -> str:
    poses = robot.fk(robot.home_configuration, kind="full")
    rows = [
        [name, *(number(x, 4) for x in pose.translation), *(number(a, 2) for a in np.degrees(pose.rpy))]
        for name, pose in poses.items()
    ]
    return table(["frame", "x [m]", "y [m]", "z [m]", "roll [°]", "pitch [°]", "yaw [°]"], rows)


def _text(robot: PinRobot) -> str:
    parts = [
        fields(summary(robot)),
        "Links\n" + _link_tree(links_of(robot)),
        "Joints\n" + joint_table(robot),
        "Frames at home\n" + _frame_table(robot),
    ]
    if robot.excluded_pairs:
        parts.append("Pairs not checked for collision\n" + pair_table(robot))
    if robot.collision.ngeoms or robot.visual.ngeoms:
        parts.insert(4, "Geometry\n" + geometry_table(robot))
    if robot.findings:
        parts.append(_finding_list(robot.findings))
    return "\n\n".join(parts)


def _finding_list(findings: Sequence[Finding]) -> str:
    lines = (
        textwrap.fill(f"- {found.severity}: {found}", 100, subsequent_indent="  ", break_on_hyphens=False)
        for found in findings
    )
    return "Findings\n" + "\n".join(lines)


def _finding_data(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [asdict(found) | {"where": found.where, "message": found.message} for found in findings]


def _data(robot: PinRobot) -> dict[str, Any]:
    links = links_of(robot)
    return {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": robot.mass,
        "moving_mass": moving_mass(robot),
        "tcp": tcp_of(robot),
        "home": named(robot.coordinate_names, robot.home_configuration),
        "joints": [_joint_data(robot, joint) for joint in joints_of(robot)],
        "mimic": [
            {"joint": c.follower, "leader": c.leader, "multiplier": c.multiplier, "offset": c.offset}
            for c in robot.couplings
        ],
        "links": [
            {"name": link.name, "parent": link.parent, "joint": link.joint, "mass": link.mass}
            for link in links.links.values()
        ],
        "frames": {name: pose_data(pose) for name, pose in robot.fk(robot.home_configuration, kind="full").items()},
        "collision": {
            "active_pairs": robot.active_pairs,
            "excluded_pairs": [{"pair": pair, "reason": reason} for pair, reason in robot.excluded_pairs.items()],
        },
        "geometry": geometry_data(robot),
        "findings": _finding_data(robot.findings),
    }


def _joint_data(robot: PinRobot, joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.kind,
        "parent": joint.parent,
        "axis": joint.axis,
        "lower": robot.joint_limits[0, joint.q],
        "upper": robot.joint_limits[1, joint.q],
        "velocity_limit": robot.joint_velocity_limits[joint.v],
        "acceleration_limit": robot.limits.acceleration[joint.v],
        "jerk_limit": robot.limits.jerk[joint.v],
        "torque_limit": robot.joint_torque_limits[joint.v],
        "damping": robot.motors.damping[joint.v],
        "friction": robot.motors.coulomb[joint.v],
    }
