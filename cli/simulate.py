"""`knuckle simulate`: a robot under one of the controllers, on its forward dynamics."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..controllers import ControllerJointImpedance, ControllerOperationalSpace
from ..controllers.closed_loop import run
from ..controllers.recording import Recording
from ..robot import InputError, PinRobot, Transformation
from ..robot.arrays import Array, scalar
from .kinematics import named, pose_data, pose_text
from .output import fields, number, report, small, table
from .parser import Commands, add_command, add_vector, configuration, joint_vector, load_robot, sized_numbers

JOINT, OPERATIONAL = "joint-impedance", "operational-space"


def add_commands(commands: Commands) -> None:
    """Registers `simulate`."""
    parser = add_command(commands, "simulate", "a robot under a controller, on its forward dynamics")
    parser.add_argument("--controller", choices=(JOINT, OPERATIONAL), default=JOINT, help="default: %(default)s")
    add_vector(parser, "--q", "where to start (default: home)")
    add_vector(parser, "--dq", "velocity to start with (default: 0)")
    goal = parser.add_argument_group("target")
    add_vector(goal, "--q-des", "of joint impedance, and posture of the null space (default: home)")
    goal.add_argument("--xyz", nargs=3, metavar=("X", "Y", "Z"), help="position of the tool [m] (default: the start's)")
    goal.add_argument(
        "--rpy", nargs=3, metavar=("R", "P", "Y"), help="its roll, pitch, yaw [rad] (default: as they are)"
    )
    goal.add_argument("--frame", metavar="FRAME", help="the tool (default: the tcp)")
    law = parser.add_argument_group("law")
    law.add_argument("--stiffness", default="100", metavar="KP", help="[1/s^2], default %(default)s")
    law.add_argument("--damping-ratio", default="1", metavar="ZETA", help="default %(default)s")
    law.add_argument("--null-space", metavar="KP", help="stiffness of the posture behind the tool [1/s^2]")
    law.add_argument("--no-decoupling", action="store_true", help="leave the inertia in: KP in N/m and N m/rad")
    law.add_argument("--no-gravity", action="store_true", help="leave gravity uncompensated")
    law.add_argument("--torque-limits", action="store_true", help="keep within the robot's own torque limits")
    loop = parser.add_argument_group("loop")
    loop.add_argument("--duration", default="2", metavar="S", help="[s], default %(default)s")
    loop.add_argument("--dt", default="0.001", metavar="S", help="[s], default %(default)s")
    loop.add_argument("--no-friction", action="store_true", help="leave joint friction out")
    loop.add_argument("--no-motor-inertia", action="store_true", help="leave motor inertia out")
    loop.add_argument("--out", action="append", metavar="FILE", help="write .npz or .csv (may be repeated)")
    loop.add_argument("--plot", metavar="FILE", help="draw .png, .pdf or .svg")
    parser.set_defaults(run=run_simulate)


def run_simulate(arguments: argparse.Namespace) -> int:
    """Runs and reports; 1 where the loop broke down."""
    robot = load_robot(arguments)
    q, dq = configuration(robot, arguments.q), joint_vector(robot, arguments.dq, "--dq")
    for path in arguments.out or ():
        if Path(path).suffix not in (".npz", ".csv"):
            raise InputError(f"--out must end in .npz or .csv, got {path!r}")
    q_des = configuration(robot, arguments.q_des, "--q-des")
    if arguments.controller == JOINT:
        recording, goal = _joint_loop(robot, arguments, q, dq, q_des), None
    else:
        goal = _pose(robot, arguments, q)
        recording = _operational_loop(robot, arguments, q, dq, q_des, goal)
    written = [str(recording.save(path)) for path in arguments.out or ()]
    if arguments.plot is not None:
        written.append(str(recording.plot(arguments.plot)))
    report(
        arguments.json,
        lambda: _data(robot, recording, goal, q_des, written),
        lambda: _text(robot, recording, goal, q_des, written),
    )
    return 0 if recording else 1


def _joint_loop(robot: PinRobot, arguments: argparse.Namespace, q: Array, dq: Array, q_des: Array) -> Recording:
    for option in ("xyz", "rpy", "null_space"):
        if getattr(arguments, option) is not None:
            raise InputError(f"--{option.replace('_', '-')} goes with --controller {OPERATIONAL}")
    controller = ControllerJointImpedance(
        robot, stiffness=_number(arguments.stiffness, "--stiffness"), **_options(arguments)
    )
    return _run(robot, arguments, lambda t, q, dq: controller.torque((q, dq), q_des), q, dq)


def _operational_loop(
    robot: PinRobot, arguments: argparse.Namespace, q: Array, dq: Array, q_des: Array, goal: Transformation
) -> Recording:
    posture: dict[str, Any] = {}
    if arguments.null_space is not None:
        stiffness = _number(arguments.null_space, "--null-space")
        posture = {"use_null_space_control": True, "null_space_stiffness": stiffness, "null_space_damping_ratio": 1.0}
    controller = ControllerOperationalSpace(
        robot,
        tool_sites=_tool(robot, arguments),
        motion_stiffness=_number(arguments.stiffness, "--stiffness"),
        use_coriolis_compensation=True,
        **posture,
        **_options(arguments),
    )
    target = {"pose_des": goal} | ({"q_null": q_des} if posture else {})
    return _run(robot, arguments, lambda t, q, dq: controller.torque((q, dq), **target), q, dq)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "damping_ratio": _number(arguments.damping_ratio, "--damping-ratio"),
        "use_inertia_decoupling": not arguments.no_decoupling,
        "use_gravity_compensation": not arguments.no_gravity,
        "torque_limits": "robot" if arguments.torque_limits else None,
    }


def _run(robot: PinRobot, arguments: argparse.Namespace, command: Any, q: Array, dq: Array) -> Recording:
    return run(
        robot,
        command,
        q=q,
        dq=dq,
        duration=_number(arguments.duration, "--duration"),
        dt=_number(arguments.dt, "--dt"),
        frame=_tool(robot, arguments),
        friction=not arguments.no_friction,
        motor_inertia=not arguments.no_motor_inertia,
    )


def _tool(robot: PinRobot, arguments: argparse.Namespace) -> str:
    return robot.tcp if arguments.frame is None else str(arguments.frame)


def _pose(robot: PinRobot, arguments: argparse.Namespace, q: Array) -> Transformation:
    """The pose asked for; what is left out is that of the start."""
    start: Transformation = robot.fk(q, frame=_tool(robot, arguments))
    xyz = start.translation if arguments.xyz is None else sized_numbers(arguments.xyz, 3, "--xyz")
    if arguments.rpy is None:
        return Transformation.from_rotation(start.rotation, xyz)
    return Transformation.from_rpy(sized_numbers(arguments.rpy, 3, "--rpy"), xyz)


def _number(word: str, option: str) -> float:
    return scalar(sized_numbers([word], 1, option), option, minimum=0.0)


def _errors(robot: PinRobot, recording: Recording, goal: Transformation | None, q_des: Array) -> dict[str, float]:
    """What is left at the end."""
    if goal is None:
        return {"joint_error": float(np.abs(robot.difference(recording.q[-1], q_des)).max(initial=0.0))}
    distance = Transformation(recording.tool_pose[-1]).distance(goal)
    return {"position_error": distance.translation, "rotation_error": distance.rotation}


def _data(
    robot: PinRobot, recording: Recording, goal: Transformation | None, q_des: Array, written: list[str]
) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "completed": bool(recording),
        "message": recording.message,
        "steps": len(recording) - 1,
        "duration": recording.time[-1],
        **_errors(robot, recording, goal, q_des),
        "q": named(robot.coordinate_names, recording.q[-1]),
        "tool": pose_data(Transformation(recording.tool_pose[-1])),
        "largest_torque": named(robot.dof_names, np.abs(recording.tau).max(axis=0)),
        "files": written,
    }


def _text(robot: PinRobot, recording: Recording, goal: Transformation | None, q_des: Array, written: list[str]) -> str:
    left = _errors(robot, recording, goal, q_des)
    units = {"joint_error": "rad or m", "position_error": "m", "rotation_error": "rad"}
    summary = [
        ("loop", "completed" if recording else f"broken off: {recording.message}"),
        ("time", f"{recording.time[-1]:.6g} s, {len(recording) - 1} steps"),
        *([] if goal is None else [("target", pose_text(goal))]),
        ("tool", pose_text(Transformation(recording.tool_pose[-1]))),
        *((name.replace("_", " "), f"{small(value)} {units[name]}") for name, value in left.items()),
        *(("written", path) for path in written),
    ]
    limits = robot.joint_torque_limits
    rows = [
        [name, number(recording.dq[-1][i]), number(recording.tau[-1][i]), number(most), number(limits[i], 1)]
        for i, (name, most) in enumerate(zip(robot.dof_names, np.abs(recording.tau).max(axis=0), strict=True))
    ]
    return fields(summary) + "\n\n" + table(["joint", "dq at the end", "tau at the end", "largest", "limit"], rows)
