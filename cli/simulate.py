"""`knuckle simulate`: a robot under one of the controllers, on its forward dynamics."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..controllers.loop_report import LoopReport
from ..controllers.recording import Recording, require_matplotlib, writable
from ..robot import PinRobot, Transformation
from . import scenario
from .kinematics import named, pose_data, pose_text
from .output import fields, number, report, small, table
from .parser import Commands, add_command, add_vector, load_robot
from .simulate_loops import ADMITTANCE, JOINT, OPERATIONAL, Outcome, simulate, tool_of


def add_commands(commands: Commands) -> None:
    """Registers `simulate`."""
    parser = add_command(commands, "simulate", "a robot under a controller, on its forward dynamics")
    parser.add_argument("--scenario", metavar="FILE", help="options not given here, from a flat .yaml or .json")
    parser.add_argument(
        "--controller", choices=(JOINT, OPERATIONAL, ADMITTANCE), default=JOINT, help="default: %(default)s"
    )
    add_vector(parser, "--q", f"where to start (default: home; with {ADMITTANCE}, near it if it is singular)")
    add_vector(parser, "--dq", "velocity to start with (default: 0)")
    goal = parser.add_argument_group("target")
    add_vector(goal, "--q-des", "of joint impedance, and posture of the null space (default: home)")
    goal.add_argument("--xyz", nargs=3, metavar=("X", "Y", "Z"), help="position of the tool [m] (default: the start's)")
    goal.add_argument(
        "--rpy", nargs=3, metavar=("R", "P", "Y"), help="its roll, pitch, yaw [rad] (default: as they are)"
    )
    goal.add_argument("--frame", metavar="FRAME", help="the tool (default: the tcp)")
    law = parser.add_argument_group("law")
    law.add_argument(
        "--stiffness",
        metavar="KP",
        help=f"[1/s^2], default 100; with {ADMITTANCE} LINEAR,ANGULAR [N/m, N m/rad], default 500,20",
    )
    law.add_argument("--inertia", metavar="M", help=f"LINEAR,ANGULAR of {ADMITTANCE} [kg, kg m^2], default 5,0.2")
    law.add_argument("--lam", metavar="LAM", help=f"take the filter form of {ADMITTANCE}, with this feedback per tick")
    law.add_argument("--dead-zone", metavar="W", help=f"of {ADMITTANCE}, every axis [N, N m]")
    law.add_argument("--damping-ratio", default="1", metavar="ZETA", help="default %(default)s")
    law.add_argument("--null-space", metavar="KP", help="stiffness of the posture behind the tool [1/s^2]")
    law.add_argument("--no-decoupling", action="store_true", help="leave the inertia in: KP in N/m and N m/rad")
    law.add_argument("--no-gravity", action="store_true", help="leave gravity uncompensated")
    law.add_argument("--torque-limits", action="store_true", help="keep within the robot's own torque limits")
    world = parser.add_argument_group("world")
    world.add_argument(
        "--push", nargs="+", metavar="F", help="force (3) or wrench (6) on the tool, world axes [N, N m]"
    )
    world.add_argument("--push-at", metavar="S", help="when it begins [s] (default: 0.1)")
    world.add_argument("--push-for", metavar="S", help="how long it lasts [s] (default: to the end)")
    world.add_argument(
        "--wall", nargs=7, metavar=("X", "Y", "Z", "NX", "NY", "NZ", "K"), help="a springy wall: point, normal, K [N/m]"
    )
    world.add_argument(
        "--wrench-noise",
        default="0",
        metavar="W",
        help="of the sensor, standard deviation [N]; a twentieth for moments",
    )
    world.add_argument("--delay", default="0", metavar="S", help="of what is measured [s]")
    world.add_argument("--seed", default="0", metavar="N", help="of the noise, default %(default)s")
    loop = parser.add_argument_group("loop")
    loop.add_argument("--duration", default="2", metavar="S", help="[s], default %(default)s")
    loop.add_argument("--dt", default="0.001", metavar="S", help="[s], default %(default)s")
    loop.add_argument("--control-dt", metavar="S", help="period of the controller [s] (default: dt)")
    loop.add_argument("--integrator", choices=("euler", "rk4"), default="euler", help="default: %(default)s")
    loop.add_argument("--no-friction", action="store_true", help="leave joint friction out")
    loop.add_argument("--no-motor-inertia", action="store_true", help="leave motor inertia out")
    loop.add_argument("--out", action="append", metavar="FILE", help="write .npz or .csv (may be repeated)")
    loop.add_argument("--plot", metavar="FILE", help="draw .png, .pdf or .svg")
    parser.set_defaults(run=lambda arguments: run_simulate(parser, arguments))


def run_simulate(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Runs and reports; 1 where the loop broke down or a limit was passed."""
    if arguments.scenario is not None:
        scenario.merge(parser, arguments, arguments.scenario)
    robot = load_robot(arguments)
    for path in arguments.out or ():
        writable(path, ("npz", "csv"), "--out")
    if arguments.plot is not None:
        writable(arguments.plot, ("png", "pdf", "svg"), "--plot")
        require_matplotlib()
    outcome = simulate(robot, arguments)
    recording = outcome.recording
    judged = LoopReport.of(
        robot,
        recording,
        tool=tool_of(robot, arguments),
        friction=not arguments.no_friction,
        motor_inertia=not arguments.no_motor_inertia,
    )
    written = [str(recording.save(path)) for path in arguments.out or ()]
    if arguments.plot is not None:
        beside = None if outcome.ideal is None else outcome.ideal[:, :3]
        written.append(str(recording.plot(arguments.plot, beside=beside)))
    report(
        arguments.json,
        lambda: _data(robot, outcome, judged, written),
        lambda: _text(robot, outcome, judged, written),
    )
    return 0 if recording and judged and not _stuck(outcome) else 1


def _stuck(outcome: Outcome) -> bool:
    """Whether a tool that was to yield has not moved at all."""
    if outcome.ideal is None or outcome.offset is None:
        return False
    wanted = float(np.linalg.norm(outcome.ideal[:, :3], axis=1).max())
    return wanted > 1e-6 and float(np.linalg.norm(outcome.offset[:, :3], axis=1).max()) < 1e-3 * wanted


_STUCK = "not at all: no joint moves the tool along the push from here; give --q"


def _overshoots(robot: PinRobot, recording: Recording, judged: LoopReport) -> bool:
    """Whether limits were passed by the drives alone, the commands having kept them."""
    commands = recording.dq_command
    if judged or commands is None:
        return False
    return all(breach.kind == "velocity" for breach in judged.breaches) and bool(
        (np.abs(commands) <= robot.limits.velocity * (1.0 + 1e-9)).all()
    )


def _left(robot: PinRobot, outcome: Outcome) -> dict[str, float]:
    """What is left at the end, or how far from the ideal it has been."""
    recording = outcome.recording
    if outcome.ideal is not None and outcome.offset is not None:
        off = np.abs(outcome.offset - outcome.ideal)
        return {
            "displacement": float(np.linalg.norm(outcome.offset[-1, :3])),
            "ideal_displacement": float(np.linalg.norm(outcome.ideal[-1, :3])),
            "position_error": float(np.linalg.norm(off[:, :3], axis=1).max()),
            "rotation_error": float(np.linalg.norm(off[:, 3:], axis=1).max()),
        }
    if outcome.goal is None:
        return {"joint_error": float(np.abs(robot.difference(recording.q[-1], outcome.q_des)).max(initial=0.0))}
    distance = Transformation(recording.tool_pose[-1]).distance(outcome.goal)
    return {"position_error": distance.translation, "rotation_error": distance.rotation}


def _energy(judged: LoopReport) -> dict[str, float]:
    return {
        "kinetic": float(judged.kinetic[-1]),
        "potential_change": float(judged.potential[-1] - judged.potential[0]),
        "motor_work": float(judged.motor_work[-1]),
        "external_work": float(judged.external_work[-1]),
        "friction_loss": float(judged.friction_loss[-1]),
        "drift": float(np.abs(judged.drift).max()),
    }


def _data(robot: PinRobot, outcome: Outcome, judged: LoopReport, written: list[str]) -> dict[str, Any]:
    recording = outcome.recording
    return {
        "robot": robot.name,
        "completed": bool(recording),
        "message": recording.message,
        "steps": len(recording) - 1,
        "duration": recording.time[-1],
        **_left(robot, outcome),
        "energy": _energy(judged),
        "limits": [str(breach) for breach in judged.breaches],
        "start": named(robot.coordinate_names, recording.q[0]),
        "q": named(robot.coordinate_names, recording.q[-1]),
        "tool": pose_data(Transformation(recording.tool_pose[-1])),
        "largest_torque": named(robot.dof_names, np.abs(recording.tau).max(axis=0)),
        "largest_speed": named(robot.dof_names, np.abs(recording.dq).max(axis=0)),
        "files": written,
    }


_UNITS = {"joint_error": "rad or m", "rotation_error": "rad"}


def _text(robot: PinRobot, outcome: Outcome, judged: LoopReport, written: list[str]) -> str:
    recording = outcome.recording
    of_ideal = " of the ideal, at most" if outcome.ideal is not None else ""
    summary = [
        ("loop", "completed" if recording else f"broken off: {recording.message}"),
        ("time", f"{recording.time[-1]:.6g} s, {len(recording) - 1} steps"),
        *([] if outcome.goal is None else [("target" if not of_ideal else "reference", pose_text(outcome.goal))]),
        ("tool", pose_text(Transformation(recording.tool_pose[-1]))),
        *(
            (name.replace("_", " "), f"{small(value)} {_UNITS.get(name, 'm')}{of_ideal if 'error' in name else ''}")
            for name, value in _left(robot, outcome).items()
        ),
        *([("yields", _STUCK)] if _stuck(outcome) else []),
        *((f"energy: {name.replace('_', ' ')}", f"{value:.4g} J") for name, value in _energy(judged).items()),
        ("limits", "kept" if judged else f"{len(judged.breaches)} passed"),
        *(("", str(breach)) for breach in judged.breaches),
        *(
            [("", "the commands kept within them; the drives overshoot")]
            if _overshoots(robot, recording, judged)
            else []
        ),
        *(("written", path) for path in written),
    ]
    limits, plain = robot.joint_torque_limits, robot.nq == robot.nv
    rows = [
        [
            name,
            *([number(recording.q[0][i], 3)] if plain else []),
            number(recording.dq[-1][i]),
            number(recording.tau[-1][i]),
            number(most),
            number(limits[i], 1) + (" !" if most > limits[i] * (1.0 + 1e-9) else "  "),
        ]
        for i, (name, most) in enumerate(zip(robot.dof_names, np.abs(recording.tau).max(axis=0), strict=True))
    ]
    return (
        fields(summary)
        + "\n\n"
        + table(["joint", *(["start"] if plain else []), "dq at the end", "tau at the end", "largest", "limit"], rows)
    )
