"""`knuckle check`: whether a trajectory or a list of poses is feasible, with reasons."""

from __future__ import annotations

import argparse
import math
import textwrap
from pathlib import Path
from typing import Any

from ..checks import Check, TrajectoryReport, check_trajectory
from ..checks.report import word
from ..robot import (
    CartesianSphere,
    InputError,
    MissingDependencyError,
    PinRobot,
    Task,
    ToleratedPose,
    Trajectory,
    Transformation,
)
from ..robot.arrays import scalar
from ..view import to_html
from ..view.html import embedded
from . import check_poses
from .output import WIDTH, fields, report, table
from .parser import Commands, Parser, add_command, load_robot, sized_numbers

_NUMBERS = (
    "limits_scale",
    "position_margin",
    "payload",
    "max_linear",
    "max_angular",
    "min_singular_value",
    "safety_margin",
    "resolution",
)
"""Options of one number each, named as the arguments of `check_trajectory`."""


def add_commands(commands: Commands) -> None:
    """Registers `check trajectory` and `check poses`."""
    parser: Parser = commands.add_parser(
        "check", help="is a trajectory, is a list of poses feasible", description="Offline checks with reasons."
    )
    kinds = parser.add_subparsers(title="what to check", metavar="KIND", required=True)
    _add_trajectory(kinds)
    check_poses.add_commands(kinds)


def _add_trajectory(kinds: Commands) -> None:
    parser = add_command(kinds, "trajectory", "limits, torques, collisions and more along a trajectory")
    parser.add_argument("file", metavar="FILE", help=".csv (time, joint, ...), .npz or .json")
    motion = parser.add_argument_group("motion")
    motion.add_argument("--interpolation", choices=("linear", "cubic", "quintic"), help="between the samples")
    motion.add_argument("--drop-extra", action="store_true", help="leave out columns that are no joints of the robot")
    motion.add_argument("--degrees", action="store_true", help="numbers but times are degrees")
    motion.add_argument("--slower", metavar="FACTOR", help="take this many times as long")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--limits-scale", metavar="K", help="part of velocity to torque limits that may be used")
    limits.add_argument("--position-margin", default="0", metavar="RAD", help="to keep from position limits")
    for kind in ("acceleration", "jerk"):
        limits.add_argument(f"--max-{kind}", metavar="A", help=f"{kind} limit of every joint; a URDF has none")
    limits.add_argument("--payload", metavar="KG", help="mass carried at the tool")
    limits.add_argument("--payload-com", nargs=3, metavar=("X", "Y", "Z"), help="its centre in the tool [m]")
    limits.add_argument("--no-friction", action="store_true", help="leave joint friction out")
    limits.add_argument("--no-motor-inertia", action="store_true", help="leave motor inertia out")
    limits.add_argument("--max-linear", metavar="M/S", help="greatest speed of the tool")
    limits.add_argument("--max-angular", metavar="RAD/S", help="greatest turning rate of the tool")
    limits.add_argument("--min-singular-value", metavar="S", help="least singular value of the tool's Jacobian")
    space = parser.add_argument_group("space")
    space.add_argument("--scene", metavar="FILE", help="task in JSON: obstacles, constraints, goals, gravity")
    space.add_argument("--safety-margin", default="0", metavar="M", help="distance that counts as a collision")
    space.add_argument("--resolution", default="1e-3", metavar="M", help="of clearances, default %(default)s")
    space.add_argument("--no-collisions", action="store_true", help="leave collisions out")
    space.add_argument("--goal-xyz", nargs=3, metavar=("X", "Y", "Z"), help="where the tool has to end [m], to 0.1 mm")
    space.add_argument("--goal-rpy", nargs=3, metavar=("R", "P", "Y"), help="and how it is turned (default: any)")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--html", metavar="FILE", help="write a page with table, plots and the robot in motion, complete in itself"
    )
    output.add_argument("--plot", metavar="FILE", help="draw .png, .pdf or .svg")
    parser.set_defaults(run=run_trajectory)


def run_trajectory(arguments: argparse.Namespace) -> int:
    """Checks and reports; 1 where the trajectory is not feasible."""
    robot = _limited(load_robot(arguments), arguments)
    trajectory = Trajectory.load(arguments.file, interpolation=arguments.interpolation, degrees=arguments.degrees)
    if trajectory.names is not None:
        try:
            trajectory = trajectory.ordered(robot, drop=arguments.drop_extra)
        except InputError as error:
            raise type(error)(str(error).replace("ordered(robot, drop=True)", "--drop-extra")) from None
    if arguments.slower is not None:
        trajectory = trajectory.slowed(_number(arguments.slower, "--slower"))
    task = None if arguments.scene is None else Task.load(arguments.scene)
    found = check_trajectory(robot, trajectory, task, **_options(arguments))
    written: list[str] = []
    lacking: MissingDependencyError | None = None
    try:
        if arguments.plot is not None:
            written.append(str(found.save_plot(arguments.plot)))
        if arguments.html is not None:
            moving = embedded(to_html(robot, trajectory=trajectory, task=task, contacts=not arguments.no_collisions))
            written.append(str(found.save_html(arguments.html, animation=moving)))
    except MissingDependencyError as error:
        if arguments.json:
            raise
        lacking = error  # the verdict is told all the same
    report(
        arguments.json,
        lambda: {**found.to_dict(), "file": arguments.file, "written": written},
        lambda: report_text(found, arguments.file, written),
    )
    if lacking is not None:
        raise lacking
    return 0 if found.feasible else 1


def _limited(robot: PinRobot, arguments: argparse.Namespace) -> PinRobot:
    given = {kind: getattr(arguments, f"max_{kind}") for kind in ("acceleration", "jerk")}
    limits: dict[str, Any] = {k: _number(v, f"--max-{k}") for k, v in given.items() if v is not None}
    return robot.with_limits(**limits) if limits else robot


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {
        "friction": not arguments.no_friction,
        "motor_inertia": not arguments.no_motor_inertia,
        "collisions": not arguments.no_collisions,
    }
    for name in _NUMBERS:
        word = getattr(arguments, name)
        if word is not None:
            options[name] = _number(word, "--" + name.replace("_", "-"))
    if arguments.payload_com is not None:
        options["payload_com"] = sized_numbers(arguments.payload_com, 3, "--payload-com")
    if arguments.goal_xyz is not None:
        xyz = sized_numbers(arguments.goal_xyz, 3, "--goal-xyz")
        if arguments.goal_rpy is None:  # a place, with any rotation
            options["goal"] = ToleratedPose(Transformation.from_translation(xyz), CartesianSphere(1e-4))
        else:
            options["goal"] = Transformation.from_rpy(sized_numbers(arguments.goal_rpy, 3, "--goal-rpy"), xyz)
    elif arguments.goal_rpy is not None:
        raise InputError("--goal-rpy goes with --goal-xyz")
    return options


def _number(word: str, option: str) -> float:
    return scalar(sized_numbers([word], 1, option), option, minimum=0.0)


def report_text(found: TrajectoryReport, file: str, written: list[str]) -> str:
    """The verdict, a table of the checks, and what is wrong in sentences."""
    verdict = "feasible" if found.feasible else "NOT feasible"
    summary = [
        ("verdict", verdict),
        ("trajectory", f"{Path(file).name}, {found.samples} samples, {found.duration:.6g} s, {found.interpolation}"),
        ("robot", found.robot),
        *(("written", path) for path in written),
    ]
    rows = [_row(check) for check in found]
    headers = ["check", "where", "", "worst", "limit", "unit", "time [s]", "intervals"]
    parts = [fields(summary), table(headers, rows, left=3)]
    parts += [_sentence(check.name, check.message) for check in found.violations]
    parts += [_sentence("note", note) for note in found.notes]
    return "\n\n".join(parts[:2]) + ("\n\n" + "\n".join(parts[2:]) if parts[2:] else "")


def _row(check: Check) -> list[str]:
    numbers = [f"{value:.4g}" if math.isfinite(value) else "-" for value in (check.worst, check.limit)]
    time = f"{check.time:.4f}" if math.isfinite(check.time) else "-"
    return [check.name, check.where, word(check), *numbers, check.unit, time, str(check.count) if check.count else ""]


def _sentence(name: str, text: str) -> str:
    lines = textwrap.wrap(f"{name}: {text}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines)
