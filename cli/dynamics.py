"""`knuckle id` and `knuckle fd`: the torques a motion needs, and the motion that torques give."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..robot import PinRobot
from ..robot.arrays import Array
from .joints import lengths
from .kinematics import named
from .output import number, report, table
from .parser import Commands, add_command, add_vector, configuration, joint_vector, load_robot, sized_numbers


def add_commands(commands: Commands) -> None:
    """Registers `id` and `fd`."""
    inverse = add_command(commands, "id", "inverse dynamics: the torques that a motion needs")
    forward = add_command(commands, "fd", "forward dynamics: the accelerations that torques give")
    for parser in (inverse, forward):
        add_vector(parser, "--q", "configuration (default: home)")
        add_vector(parser, "--dq", "velocity (default: 0)")
    add_vector(inverse, "--ddq", "acceleration (default: 0)")
    add_vector(forward, "--tau", "torque (default: 0)")
    for parser in (inverse, forward):
        parser.add_argument(
            "--wrench",
            nargs=6,
            metavar=("FX", "FY", "FZ", "MX", "MY", "MZ"),
            help="what the environment exerts on the tcp [N, N m]",
        )
        parser.add_argument(
            "--wrench-frame", default="world", metavar="FRAME", help="axes of --wrench: world, tcp, base or a frame"
        )
        parser.add_argument("--no-friction", action="store_true", help="leave joint friction out")
        parser.add_argument("--no-motor-inertia", action="store_true", help="leave motor inertia out")
    inverse.set_defaults(run=run_id)
    forward.set_defaults(run=run_fd)


def run_id(arguments: argparse.Namespace) -> int:
    """Prints the torques of a motion."""
    robot = load_robot(arguments)
    q, dq, options = _state(robot, arguments)
    ddq = joint_vector(robot, arguments.ddq, "--ddq")
    tau = robot.id(q, dq, ddq, **options)
    report(
        arguments.json,
        lambda: _data(robot, q, dq=dq, ddq=ddq, tau=tau),
        lambda: torque_table(robot, tau, ("dq", dq), ("ddq", ddq)),
    )
    return 0


def run_fd(arguments: argparse.Namespace) -> int:
    """Prints the accelerations that torques give."""
    robot = load_robot(arguments)
    q, dq, options = _state(robot, arguments)
    tau = joint_vector(robot, arguments.tau, "--tau")
    ddq = robot.fd(tau, q, dq, **options)
    report(
        arguments.json,
        lambda: _data(robot, q, dq=dq, tau=tau, ddq=ddq),
        lambda: _acceleration_table(robot, tau, dq, ddq),
    )
    return 0


def torque_table(robot: PinRobot, tau: Array, *motion: tuple[str, Array]) -> str:
    """Torques beside their limits, after the columns of `motion`."""
    linear = lengths(robot)
    rows = []
    for i, (name, limit) in enumerate(zip(robot.dof_names, robot.joint_torque_limits, strict=True)):
        share = f"{abs(tau[i]) / limit:.0%}" if np.isfinite(limit) and limit > 0 else "-"
        cells = [number(values[i]) for _, values in motion]
        rows.append([name, *cells, number(tau[i]), "N" if linear[i] else "N m", number(limit, 1), share])
    return table(["joint", *(header for header, _ in motion), "tau", "unit", "limit", "used"], rows)


def _acceleration_table(robot: PinRobot, tau: Array, dq: Array, ddq: Array) -> str:
    linear = lengths(robot)
    rows = [
        [name, number(dq[i]), number(tau[i]), number(ddq[i]), "m/s²" if linear[i] else "rad/s²"]
        for i, name in enumerate(robot.dof_names)
    ]
    return table(["joint", "dq", "tau", "ddq", "unit"], rows)


def _state(robot: PinRobot, arguments: argparse.Namespace) -> tuple[Array, Array, dict[str, Any]]:
    wrench: Sequence[str] | None = arguments.wrench
    options = {
        "friction": not arguments.no_friction,
        "motor_inertia": not arguments.no_motor_inertia,
        "eef_wrench": None if wrench is None else sized_numbers(wrench, 6, "--wrench"),
        "eef_wrench_frame": arguments.wrench_frame,
    }
    return configuration(robot, arguments.q), joint_vector(robot, arguments.dq, "--dq"), options


def _data(robot: PinRobot, q: Array, **vectors: Array) -> dict[str, Any]:
    rates = {name: named(robot.dof_names, value) for name, value in vectors.items()}
    return {"robot": robot.name, "q": named(robot.coordinate_names, q), **rates}
