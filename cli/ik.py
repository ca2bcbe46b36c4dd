"""`knuckle ik`: the joint angles that bring a frame to a pose, with the errors that are left."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

import numpy as np

from ..ik import IKResult
from ..robot import CartesianSphere, Distance, PinRobot, RotationAbsolute, Task, ToleratedPose, Transformation
from ..robot.arrays import Array, scalar
from .joints import position_units
from .kinematics import named, pose_data, pose_text
from .output import fields, number, numbers, report, small, table
from .parser import Commands, add_command, add_vector, configuration, load_robot, sized_numbers


def add_commands(commands: Commands) -> None:
    """Registers `ik`."""
    parser = add_command(commands, "ik", "inverse kinematics: a configuration that reaches a pose")
    goal = parser.add_argument_group("target, in the world")
    goal.add_argument("--frame", metavar="FRAME", help="frame to bring there (default: the tcp)")
    goal.add_argument("--xyz", nargs=3, required=True, metavar=("X", "Y", "Z"), help="position [m]")
    turn = goal.add_mutually_exclusive_group()
    turn.add_argument("--rpy", nargs=3, metavar=("R", "P", "Y"), help="roll, pitch, yaw [rad]")
    turn.add_argument("--quat-xyzw", nargs=4, metavar=("X", "Y", "Z", "W"), help="quaternion, w last")
    goal.add_argument("--position-tolerance", default="1e-5", metavar="M", help="[m], default %(default)s")
    goal.add_argument("--rotation-tolerance", default="1e-4", metavar="RAD", help="[rad], default %(default)s")
    search = parser.add_argument_group("search")
    search.add_argument("--method", metavar="NAME", help="scipy, jacobian or jacobian_cpp (default: the fastest fit)")
    search.add_argument("--seed", type=int, metavar="N", help="of the random restarts (default: fresh, and reported)")
    add_vector(search, "--q-init", "start (default: home)")
    search.add_argument("--max-iter", type=int, default=1000, metavar="N", help="iterations, default %(default)s")
    avoid = search.add_mutually_exclusive_group()
    avoid.add_argument(
        "--avoid-collisions", action="store_true", default=True, help="no self-collision in the solution (default)"
    )
    avoid.add_argument("--ignore-collisions", action="store_true", help="accept solutions in self-collision")
    search.add_argument("--scene", metavar="FILE", help="task in JSON whose obstacles and constraints are heeded")
    search.add_argument("--no-restart", action="store_true", help="one attempt from the start only")
    parser.set_defaults(run=run_ik)


def run_ik(arguments: argparse.Namespace) -> int:
    """Solves and prints; 1 where no solution was found."""
    robot = load_robot(arguments)
    if arguments.frame is not None:
        robot.tcp = arguments.frame
    target = read_target(arguments)
    task = None if arguments.scene is None else Task.load(arguments.scene)
    result = robot.ik(
        target,
        ik_method=arguments.method,
        q_init=configuration(robot, arguments.q_init, "--q-init"),
        rng=arguments.seed,
        max_iter=arguments.max_iter,
        allow_random_restart=not arguments.no_restart,
        ignore_self_collisions=arguments.ignore_collisions,
        task=task,
    )
    free = not _has_orientation(arguments)
    report(
        arguments.json,
        lambda: _data(robot, target, result, free, task),
        lambda: solution_text(robot, target, result, free, task),
    )
    return 0 if result.success else 1


def read_target(arguments: argparse.Namespace) -> ToleratedPose:
    """The pose asked for; without an orientation any rotation is accepted.

    Raises:
        InputError: if a number is none or a tolerance is not positive.
    """
    position = sized_numbers(arguments.xyz, 3, "--xyz")
    near = CartesianSphere(_tolerance(arguments.position_tolerance, "--position-tolerance"))
    turned = RotationAbsolute(_tolerance(arguments.rotation_tolerance, "--rotation-tolerance"))
    if not _has_orientation(arguments):
        return ToleratedPose(Transformation.from_translation(position), near)
    if arguments.rpy is not None:
        pose = Transformation.from_rpy(sized_numbers(arguments.rpy, 3, "--rpy"), position)
    else:
        pose = Transformation.from_quat_xyzw(sized_numbers(arguments.quat_xyzw, 4, "--quat-xyzw"), position)
    return ToleratedPose(pose, near + turned)


def solution_text(
    robot: PinRobot, target: ToleratedPose, result: IKResult, rotation_free: bool = False, task: Task | None = None
) -> str:
    """Status, errors, clearance and joint values of a result."""
    asked = pose_text(target.nominal)
    rotation = f"{small(result.rotation_error)} rad"
    if rotation_free:
        asked, rotation = f"xyz {numbers(target.nominal.translation)} m", "free"
    spent = f"{_counted(result.iterations, 'iteration')}, {_counted(result.restarts, 'restart')}"
    summary = [
        ("status", result.status.value),
        *[("reason" if i == 0 else "", line) for i, line in enumerate(textwrap.wrap(result.message, 85))],
        ("target", asked),
        ("reached" if result else "closest", pose_text(robot.fk(result.q))),
        ("error", f"position {small(result.position_error)} m   rotation {rotation}"),
        ("clearance", _clearance_text(robot.distance(result.q, task))),
        ("search", f"{result.method}, {spent}, seed {result.seed}"),
    ]
    return fields(summary) + "\n\n" + joint_table(robot, result.q)


def _clearance_text(nearest: Distance) -> str:
    if nearest.links is None:
        return "nothing is checked for collision"
    pair = " and ".join(nearest.links)
    return f"{small(nearest.value)} m, {pair}" if nearest.value >= 0 else f"{pair} overlap by {small(-nearest.value)} m"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def joint_table(robot: PinRobot, q: Array) -> str:
    """Joint values between their limits, angles also in degrees."""
    units = position_units(robot)
    rows = []
    for i, (name, (lower, upper)) in enumerate(zip(robot.coordinate_names, robot.joint_limits.T, strict=True)):
        degrees = number(float(np.degrees(q[i])), 2) if units[i] == "rad" else ""
        rows.append([name, number(q[i], 6), units[i], degrees, number(lower), number(upper)])
    return table(["joint", "value", "unit", "[°]", "lower", "upper"], rows)


def _has_orientation(arguments: argparse.Namespace) -> bool:
    return arguments.rpy is not None or arguments.quat_xyzw is not None


def _tolerance(word: str, option: str) -> float:
    return scalar(sized_numbers([word], 1, option), option, positive=True)


def _data(
    robot: PinRobot, target: ToleratedPose, result: IKResult, rotation_free: bool, task: Task | None
) -> dict[str, Any]:
    nearest = robot.distance(result.q, task)
    return {
        "robot": robot.name,
        "frame": robot.tcp,
        "target": pose_data(target.nominal) if not rotation_free else {"position": target.nominal.translation},
        "success": result.success,
        "status": result.status.value,
        "message": result.message,
        "joints": named(robot.coordinate_names, result.q),
        "q": result.q,
        "position_error": result.position_error,
        "rotation_error": None if rotation_free else result.rotation_error,
        "clearance": nearest.value,
        "nearest": nearest.links,
        "iterations": result.iterations,
        "restarts": result.restarts,
        "seed": result.seed,
        "method": result.method,
    }
