"""`knuckle demo`: one robot from its description to a solved pose and the torque that holds it."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from ..ik import IKResult, as_target
from ..robot import PinRobot, Transformation
from ..robot.arrays import Array
from .dynamics import torque_table
from .ik import solution_text
from .inspect import joint_table, summary
from .kinematics import named, pose_data, pose_text
from .output import fields, heading, report, small
from .parser import Commands, add_command, load_robot


def add_commands(commands: Commands) -> None:
    """Registers `demo`."""
    parser = add_command(commands, "demo", "load a robot, solve a pose, show the torque that holds it")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of pose and restarts, default %(default)s")
    parser.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Prints the whole way; 1 where the pose was not solved."""
    robot = load_robot(arguments)
    target = robot.fk(robot.random_configuration(arguments.seed))
    start = time.perf_counter()
    result = robot.ik(target, q_init=robot.home_configuration, rng=arguments.seed)
    elapsed = time.perf_counter() - start
    tau = robot.static_torque(result.q)
    left = robot.fd(tau, result.q, np.zeros(robot.nv))
    report(
        arguments.json,
        lambda: _data(robot, target, result, tau, left),
        lambda: _text(robot, target, result, elapsed, tau, left),
    )
    return 0 if result.success else 1


def _text(robot: PinRobot, target: Transformation, result: IKResult, elapsed: float, tau: Array, left: Array) -> str:
    reached = robot.fk(result.q)
    off = reached.distance(target)
    checks = [
        ("pose asked for", pose_text(target)),
        ("pose reached", pose_text(reached)),
        ("difference", f"{small(off.translation)} m, {small(off.rotation)} rad"),
        ("acceleration left under that torque", f"{small(float(np.abs(left).max()))} (largest of {robot.nv} joints)"),
    ]
    return "\n\n".join(
        [
            heading("1  The robot, as loaded") + "\n" + fields(summary(robot)),
            joint_table(robot),
            heading(f"2  A pose of the {robot.tcp}, solved from home in {elapsed * 1e3:.1f} ms")
            + "\n"
            + solution_text(robot, as_target(target), result),
            heading("3  The torque that holds it there") + "\n" + torque_table(robot, tau),
            heading("4  The errors, computed afresh") + "\n" + fields(checks),
        ]
    )


def _data(robot: PinRobot, target: Transformation, result: IKResult, tau: Array, left: Array) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "frame": robot.tcp,
        "target": pose_data(target),
        "success": result.success,
        "status": result.status.value,
        "joints": named(robot.coordinate_names, result.q),
        "position_error": result.position_error,
        "rotation_error": result.rotation_error,
        "method": result.method,
        "seed": result.seed,
        "static_torque": named(robot.dof_names, tau),
        "acceleration_left": named(robot.dof_names, left),
    }
