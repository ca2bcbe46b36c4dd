"""The loops of `knuckle simulate`: which controller, what pushes, and what is to come of it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..controllers import CartesianAdmittance, ControllerJointImpedance, ControllerOperationalSpace
from ..controllers.admittance_law import dead_zone, exact_step, response
from ..controllers.closed_loop import run
from ..controllers.recording import Recording
from ..controllers.sensing import Sensing
from ..controllers.surroundings import Wall, WrenchProfile
from ..robot import InputError, PinRobot, Transformation
from ..robot.arrays import Array, scalar
from ..robot.spatial import ReferenceFrame, log3
from .parser import configuration, joint_vector, sized_numbers

JOINT, OPERATIONAL, ADMITTANCE = "joint-impedance", "operational-space", "admittance"
_SINGULAR = 0.02
"""Least singular value of the tool's Jacobian [m/rad] at which a home pose is fit to yield from."""
_DRAWS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A recording and what it is compared with.

    Attributes:
        recording: Of the loop.
        goal: Pose the tool was to reach; None with joint impedance.
        q_des: Configuration that was aimed at.
        ideal: Offsets (N, 6) of an ideal mass, spring and damper; None but for admittance.
        offset: Those of the tool.
    """

    recording: Recording
    goal: Transformation | None
    q_des: Array
    ideal: Array | None = None
    offset: Array | None = None


def simulate(robot: PinRobot, arguments: argparse.Namespace) -> Outcome:
    """Runs the loop the options describe."""
    _refuse_strangers(arguments)
    dq = joint_vector(robot, arguments.dq, "--dq")
    if arguments.controller == ADMITTANCE:
        return _admittance(robot, arguments, dq)
    q, q_des = configuration(robot, arguments.q), configuration(robot, arguments.q_des, "--q-des")
    if arguments.controller == JOINT:
        controller = ControllerJointImpedance(
            robot, stiffness=_number(arguments.stiffness or "100", "--stiffness"), **_options(arguments)
        )
        return Outcome(_run(robot, arguments, controller, q, dq, {"q_des": q_des}), None, q_des)
    goal = _pose(robot, arguments, q)
    return Outcome(_operational(robot, arguments, q, dq, q_des, goal), goal, q_des)


def _refuse_strangers(arguments: argparse.Namespace) -> None:
    """Options of another controller are not dropped in silence."""
    belongs = {
        "xyz": (OPERATIONAL,),
        "rpy": (OPERATIONAL,),
        "null_space": (OPERATIONAL,),
        "inertia": (ADMITTANCE,),
        "dead_zone": (ADMITTANCE,),
        "lam": (ADMITTANCE,),
        "q_des": (JOINT, OPERATIONAL),
        "no_decoupling": (JOINT, OPERATIONAL),
        "no_gravity": (JOINT, OPERATIONAL),
    }
    for option, controllers in belongs.items():
        value = getattr(arguments, option)
        if value is not None and value is not False and arguments.controller not in controllers:
            raise InputError(f"--{option.replace('_', '-')} goes with --controller {' or '.join(controllers)}")


def _operational(
    robot: PinRobot, arguments: argparse.Namespace, q: Array, dq: Array, q_des: Array, goal: Transformation
) -> Recording:
    posture: dict[str, Any] = {}
    if arguments.null_space is not None:
        stiffness = _number(arguments.null_space, "--null-space")
        posture = {"use_null_space_control": True, "null_space_stiffness": stiffness, "null_space_damping_ratio": 1.0}
    controller = ControllerOperationalSpace(
        robot,
        tool_sites=tool_of(robot, arguments),
        motion_stiffness=_number(arguments.stiffness or "100", "--stiffness"),
        use_coriolis_compensation=True,
        **posture,
        **_options(arguments),
    )
    return _run(robot, arguments, controller, q, dq, {"pose_des": goal} | ({"q_null": q_des} if posture else {}))


def _admittance(robot: PinRobot, arguments: argparse.Namespace, dq: Array) -> Outcome:
    tool, dt = tool_of(robot, arguments), _number(arguments.control_dt or arguments.dt, "--dt")
    q = _bent(robot, tool) if arguments.q is None else configuration(robot, arguments.q)
    K, M = (_linear_angular(robot, getattr(arguments, name), name) for name in ("stiffness", "inertia"))
    zeta = _number(arguments.damping_ratio, "--damping-ratio")
    options: dict[str, Any] = {"distal_link": tool, "dt": dt, "stiffness": K}
    if arguments.dead_zone is not None:
        options["dead_zone"] = _number(arguments.dead_zone, "--dead-zone")
    if arguments.lam is None:
        controller = CartesianAdmittance(robot, inertia=M, damping_ratio=zeta, **options)
    else:
        damping = 2.0 * zeta * np.sqrt(K * M)
        controller = CartesianAdmittance.from_filter(
            robot, damping=damping, lam=_number(arguments.lam, "--lam"), **options
        )
    recording = _run(robot, arguments, controller, q, dq, None)
    start: Transformation = robot.fk(q, frame=tool)
    parts = recording.tool_pose[:, :3, :3] @ start.rotation.T
    offset = np.column_stack((recording.tool_pose[:, :3, 3] - start.translation, log3(parts)))
    ideal = np.zeros(offset.shape)
    if recording.wrench is not None:
        step = exact_step(controller.inertia, controller.damping, controller.stiffness, recording.time[1])
        ideal = response(step, dead_zone(recording.wrench, controller.dead_zone))
    return Outcome(recording, start, q, ideal, offset)


def _bent(robot: PinRobot, tool: str) -> Array:
    """Home, or where the tool cannot yield there, the best of some configurations around it, always the same ones."""

    def least(q: Array) -> float:
        J = robot.frame_jacobian(q, tool, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        if robot.nv < 6:  # as many directions of the position as it has joints
            return float(np.linalg.svd(J[:3], compute_uv=False)[: robot.nv].min(initial=np.inf))
        return float(np.linalg.svd(J, compute_uv=False).min(initial=np.inf))

    home = robot.home_configuration.copy()
    if least(home) > _SINGULAR:
        return home
    rng = np.random.default_rng(0)
    drawn = [robot.interpolate(home, robot.random_configuration(rng), 0.6) for _ in range(_DRAWS)]
    fit = [q for q in drawn if robot.q_in_joint_limits(q) and not robot.has_self_collision(q)]
    return max([home, *fit], key=least)


def _linear_angular(robot: PinRobot, words: Any, name: str) -> Array:
    """One value for metres and one for radians, spread over the axes (6,)."""
    default = {"stiffness": ["500", "20"], "inertia": ["5", "0.2"]}[name]
    given = default if words is None else words.split(",") if isinstance(words, str) else list(words)
    if len(given) != 2:
        raise InputError(f"--{name} takes two values with {ADMITTANCE}, LINEAR,ANGULAR, got {','.join(given)!r}")
    linear, angular = sized_numbers(given, 2, f"--{name}")
    return np.array([linear] * 3 + [angular] * 3)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "damping_ratio": _number(arguments.damping_ratio, "--damping-ratio"),
        "use_inertia_decoupling": not arguments.no_decoupling,
        "use_gravity_compensation": not arguments.no_gravity,
        "torque_limits": "robot" if arguments.torque_limits else None,
    }


def _run(
    robot: PinRobot, arguments: argparse.Namespace, command: Any, q: Array, dq: Array, target: dict[str, Any] | None
) -> Recording:
    return run(
        robot,
        command,
        q=q,
        dq=dq,
        duration=_number(arguments.duration, "--duration"),
        dt=_number(arguments.dt, "--dt"),
        control_dt=None if arguments.control_dt is None else _number(arguments.control_dt, "--control-dt"),
        frame=tool_of(robot, arguments),
        friction=not arguments.no_friction,
        motor_inertia=not arguments.no_motor_inertia,
        integrator=arguments.integrator,
        torque_limits="robot" if arguments.torque_limits else None,
        target=target,
        wrench_ext=_push(arguments),
        walls=_wall(arguments),
        sensing=_sensing(arguments),
    )


def _push(arguments: argparse.Namespace) -> WrenchProfile | None:
    """The push on the tool, from and to its times."""
    if arguments.push is None:
        if arguments.push_at is not None or arguments.push_for is not None:
            raise InputError("--push-at and --push-for say when to push; give --push, the force, as well")
        return None
    words = list(arguments.push)
    if len(words) not in (3, 6):
        raise InputError(f"--push takes a force of 3 numbers or a wrench of 6, got {len(words)}")
    wrench = np.concatenate((sized_numbers(words, len(words), "--push"), np.zeros(6 - len(words))))
    start = _number("0.1" if arguments.push_at is None else arguments.push_at, "--push-at")
    if start >= _number(arguments.duration, "--duration"):
        raise InputError(
            f"--push-at {start:g} s is after the end, --duration {arguments.duration} s: nothing would push"
        )
    if arguments.push_for is None:
        return WrenchProfile([start], [wrench])
    end = start + scalar(_number(arguments.push_for, "--push-for"), "--push-for", positive=True)
    return WrenchProfile([start, end], [wrench, np.zeros(6)])


def _wall(arguments: argparse.Namespace) -> tuple[Wall, ...]:
    if arguments.wall is None:
        return ()
    values = sized_numbers(arguments.wall, 7, "--wall")
    return (Wall.create(values[:3], values[3:6], values[6]),)


def _sensing(arguments: argparse.Namespace) -> Sensing | None:
    noise = _number(arguments.wrench_noise, "--wrench-noise")
    delay = _number(arguments.delay, "--delay")
    seed = _number(arguments.seed, "--seed")
    if seed != int(seed):
        raise InputError(f"--seed must be a whole number, got {arguments.seed!r}")
    if not noise and not delay:
        return None
    return Sensing(wrench_noise=[noise] * 3 + [0.05 * noise] * 3, delay=delay, seed=int(seed))


def tool_of(robot: PinRobot, arguments: argparse.Namespace) -> str:
    """The frame meant by --frame; where nothing depends on it, any will do."""
    if arguments.frame is not None:
        return str(arguments.frame)
    if arguments.controller == JOINT and arguments.push is None and arguments.wall is None:
        try:
            return str(robot.tcp)
        except InputError:
            return str(robot.frames[-1])
    return str(robot.tcp)


def _pose(robot: PinRobot, arguments: argparse.Namespace, q: Array) -> Transformation:
    """The pose asked for; what is left out is that of the start."""
    start: Transformation = robot.fk(q, frame=tool_of(robot, arguments))
    xyz = start.translation if arguments.xyz is None else sized_numbers(arguments.xyz, 3, "--xyz")
    if arguments.rpy is None:
        return Transformation.from_rotation(start.rotation, xyz)
    return Transformation.from_rpy(sized_numbers(arguments.rpy, 3, "--rpy"), xyz)


def _number(word: str, option: str) -> float:
    return scalar(sized_numbers([word], 1, option), option, minimum=0.0)
