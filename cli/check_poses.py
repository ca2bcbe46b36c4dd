"""`knuckle check poses`: which of many poses the robot reaches, how well, and what it can hold there."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from ..checks import PoseReport, check_poses, pose_grid, read_poses
from ..robot import CartesianSphere, InputError, PinRobot, RotationAbsolute, Task, Tolerance
from ..robot.arrays import Array, scalar
from .output import fields, number, report, small, table
from .parser import Commands, add_command, load_robot, sized_numbers

_SHOWN = 20


def add_commands(kinds: Commands) -> None:
    """Registers `check poses`."""
    parser = add_command(kinds, "poses", "reach, reasons, manipulability and payload at a list or grid of poses")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help=".csv (x, y, z; qx, qy, qz, qw or roll, pitch, yaw) or .npz (poses)"
    )
    where = parser.add_argument_group("grid instead of a file")
    where.add_argument(
        "--grid", nargs=6, metavar=("X0", "Y0", "Z0", "X1", "Y1", "Z1"), help="lower and upper corner [m]"
    )
    where.add_argument("--counts", nargs=3, default=("5", "5", "5"), metavar=("NX", "NY", "NZ"), help="points, 5 each")
    where.add_argument("--rpy", nargs=3, metavar=("R", "P", "Y"), help="rotation at every point (default: any)")
    search = parser.add_argument_group("search")
    search.add_argument("--position-tolerance", default="1e-5", metavar="M", help="[m], default %(default)s")
    search.add_argument("--rotation-tolerance", default="1e-4", metavar="RAD", help="[rad], default %(default)s")
    search.add_argument("--all-solutions", action="store_true", help="count them, keep the best")
    search.add_argument("--seed", type=int, default=0, metavar="N", help="default %(default)s")
    search.add_argument("--max-iter", type=int, default=1000, metavar="N", help="a pose, default %(default)s")
    search.add_argument("--scene", metavar="FILE", help="task in JSON whose obstacles and constraints are heeded")
    search.add_argument("--ignore-collisions", action="store_true", help="accept solutions in self-collision")
    search.add_argument("--threads", type=int, metavar="N", help="default: all from 2000 poses on")
    search.add_argument("--progress", action="store_true", help="show a bar")
    search.add_argument("--resume", metavar="FILE", help="npz that keeps the solutions already found")
    holding = parser.add_argument_group("holding")
    holding.add_argument("--payload", metavar="KG", help="mass carried at the tool")
    holding.add_argument("--limits-scale", default="1", metavar="K", help="part of the torque limits that may be used")
    parser.add_argument("--out", action="append", metavar="FILE", help="write .npz or .csv (may be repeated)")
    parser.set_defaults(run=run_poses)


def run_poses(arguments: argparse.Namespace) -> int:
    """Solves and reports; 1 where some pose is not feasible."""
    robot = load_robot(arguments)
    poses, free = _poses(arguments)
    found = check_poses(
        robot,
        poses,
        None if arguments.scene is None else Task.load(arguments.scene),
        rng=arguments.seed,
        tolerance=_tolerance(arguments, free),
        all_solutions=arguments.all_solutions,
        payload=None if arguments.payload is None else _number(arguments.payload, "--payload"),
        limits_scale=_number(arguments.limits_scale, "--limits-scale"),
        max_iter=arguments.max_iter,
        ignore_self_collisions=arguments.ignore_collisions,
        threads=arguments.threads,
        progress=arguments.progress,
        resume=arguments.resume,
    )
    written = [str(found.save(path)) for path in arguments.out or ()]
    report(arguments.json, lambda: {**found.to_dict(), "written": written}, lambda: poses_text(robot, found, written))
    return 0 if found.feasible else 1


def _poses(arguments: argparse.Namespace) -> tuple[Array, bool]:
    if (arguments.file is None) == (arguments.grid is None):
        raise InputError("give a FILE of poses or --grid, one of the two")
    if arguments.file is not None:
        return read_poses(arguments.file)
    corners = sized_numbers(arguments.grid, 6, "--grid")
    counts = sized_numbers(arguments.counts, 3, "--counts")
    rpy = [0.0, 0.0, 0.0] if arguments.rpy is None else sized_numbers(arguments.rpy, 3, "--rpy")
    return pose_grid(corners[:3], corners[3:], counts, rpy), arguments.rpy is None


def _tolerance(arguments: argparse.Namespace, free: bool) -> Tolerance:
    position = CartesianSphere(_number(arguments.position_tolerance, "--position-tolerance"))
    if free:
        return position
    return position + RotationAbsolute(_number(arguments.rotation_tolerance, "--rotation-tolerance"))


def _number(word: str, option: str) -> float:
    return scalar(sized_numbers([word], 1, option), option, minimum=0.0)


def poses_text(robot: PinRobot, found: PoseReport, written: list[str]) -> str:
    """Counts, what the reached poses are worth, and the first that are not feasible."""
    summary = [
        ("verdict", "feasible" if found.feasible else "NOT feasible"),
        ("poses", f"{len(found)}, {int(found.reachable.sum())} reached, {int(found.ok.sum())} feasible"),
        ("robot", f"{found.robot}, tool {robot.tcp}"),
        *(("written", path) for path in written),
    ]
    reasons = [[reason, str(count), f"{count / len(found):.1%}"] for reason, count in found.reasons().items()]
    parts = [fields(summary), table(["end", "poses", "share"], reasons)]
    if found.reachable.any():
        parts.append(_worth_table(found))
    bad = np.flatnonzero(~found.ok)
    if len(bad):
        rows = [
            [str(i), found.status[i] if not found.reachable[i] else "torque", *_position(found, i)]
            for i in bad[:_SHOWN]
        ]
        more = f"\n... and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        parts.append(table(["pose", "end", "x", "y", "z"], rows, left=2) + more)
    return "\n\n".join(parts)


def _worth_table(found: PoseReport) -> str:
    rows: list[list[str]] = []
    measures: tuple[tuple[str, str, Any], ...] = (
        ("manipulability", "", found.manipulability),
        ("smallest singular value", "", found.singular_value),
        ("distance from limits", "", found.limit_margin),
        ("clearance", "m", found.clearance),
        ("torque used to hold", "", found.torque_used),
        ("payload that could be held", "kg", found.payload),
        ("solutions", "", found.solutions.astype(np.float64)),
    )
    for name, unit, values in measures:
        told = values[found.reachable]
        told = told[~np.isnan(told)]
        if len(told):
            rows.append([name, unit, *(_cell(v) for v in (told.min(), float(np.median(told)), told.max()))])
    return table(["at the poses reached", "unit", "least", "median", "greatest"], rows, left=2)


def _cell(value: float) -> str:
    return small(value) if math.isfinite(value) else "∞"


def _position(found: PoseReport, i: int) -> list[str]:
    return [number(float(value)) for value in found.poses[i, :3, 3]]
