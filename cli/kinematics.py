"""`knuckle fk`: where the tool, every joint or every frame of a robot is."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..robot import PinRobot, Transformation
from ..robot.arrays import Array
from .output import matrix_text, number, numbers, report, table
from .parser import Commands, add_command, add_vector, configuration, load_robot


def add_commands(commands: Commands) -> None:
    """Registers `fk`."""
    parser = add_command(commands, "fk", "forward kinematics: poses in the world at a configuration")
    add_vector(parser, "--q", "configuration (default: home)")
    parser.add_argument("--frame", metavar="FRAME", help="frame to report (default: the tcp)")
    parser.add_argument(
        "--kind", choices=("tcp", "joints", "full"), default="tcp", help="the tcp, all joints, or all frames"
    )
    parser.set_defaults(run=run_fk)


def run_fk(arguments: argparse.Namespace) -> int:
    """Prints the poses asked for."""
    robot = load_robot(arguments)
    q = configuration(robot, arguments.q)
    poses = poses_of(robot, q, arguments.kind, arguments.frame)
    report(arguments.json, lambda: _data(robot, q, poses), lambda: _text(poses))
    return 0


def poses_of(robot: PinRobot, q: Array, kind: str, frame: str | None) -> dict[str, Transformation]:
    """Poses by name: of one frame where it is given, else of the `kind` asked for."""
    if frame is not None or kind == "tcp":
        name = frame if frame is not None else robot.tcp
        return {name: robot.fk(q, frame=name)}
    return dict(robot.fk(q, kind=kind))


def named(names: list[str], values: Array) -> dict[str, float]:
    """Values under their names."""
    return dict(zip(names, (float(value) for value in values), strict=True))


def pose_data(pose: Transformation) -> dict[str, Any]:
    """A pose for JSON: position [m], rpy [rad], quaternion xyzw and the matrix."""
    return {
        "position": pose.translation,
        "rpy": pose.rpy,
        "quat_xyzw": pose.quat_xyzw,
        "homogeneous": pose.homogeneous,
    }


def pose_text(pose: Transformation) -> str:
    """A pose in one line: position [m] and roll, pitch, yaw [deg]."""
    return f"xyz {numbers(pose.translation)} m   rpy {numbers(np.degrees(pose.rpy), 2)} °"


def _data(robot: PinRobot, q: Array, poses: dict[str, Transformation]) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "q": named(robot.coordinate_names, q),
        "poses": {name: pose_data(pose) for name, pose in poses.items()},
    }


def _text(poses: dict[str, Transformation]) -> str:
    headers = ["frame", "x [m]", "y [m]", "z [m]", "roll [°]", "pitch [°]", "yaw [°]"]
    rows = [
        [name, *(number(x, 5) for x in pose.translation), *(number(a, 3) for a in np.degrees(pose.rpy))]
        for name, pose in poses.items()
    ]
    text = table(headers, rows)
    if len(poses) == 1:
        text += "\n\n" + matrix_text(next(iter(poses.values())).homogeneous, 6)
    return text
