"""Bad input to robots: every argument of every method with everything that can be wrong with it.

One exception of the project each time, its text names the argument (or the name that does not exist), and the robot is
as it was.
"""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest

from knuckle import KnuckleError, PinRobot

from .bad_values import KINDS
from .planar_arm import PlanarArm
from .robot_cases import LWA, fresh, states

ROBOTS = {"panda": lambda: fresh("panda"), "quadruped": lambda: fresh("quadruped"), "planar arm": PlanarArm}

WRENCH = {"eef_wrench": "wrench", "eef_wrench_frame": "required frame"}
STATE = {"q": "one q", "dq": "one v"}
THREADS = {"threads": "threads"}
# Per method: what it needs besides, and its arguments with their kinds; "robot" stands for values of the robot.
METHODS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "update_configuration": ({"q": "q"}, {**STATE, "ddq": "one v"}),
    "joint_values": ({}, {"q": "q"}),
    "configuration_from": ({}, {"values": "mapping"}),
    "permutation": ({}, {"names": "joint names"}),
    "integrate": ({"q": "q", "dv": "v"}, {"q": "q", "dv": "required v"}),
    "difference": ({"q0": "q", "q1": "q"}, {"q0": "q", "q1": "q"}),
    "interpolate": ({"q0": "q", "q1": "q", "u": "u"}, {"q0": "q", "q1": "q", "u": "u"}),
    "clip_to_limits": ({}, {"q": "q"}),
    "q_in_joint_limits": ({}, {"q": "q"}),
    "tau_in_torque_limits": ({}, {"tau": "required v"}),
    "random_configuration": ({}, {"rng": "rng", "base_box": "box", "count": "threads"}),
    "generator": ({}, {"rng": "rng"}),
    "fk": ({}, {"q": "q", "configuration": "q", "kind": "kind", "frame": "frame", **THREADS}),
    "jacobian": ({"reference": "lwa"}, {"q": "q", "frame": "frame", "reference": "reference", **THREADS}),
    "jacobian_derivative": ({"reference": "lwa"}, {**STATE, "frame": "frame", "reference": "reference"}),
    "manipulability_index": ({}, {"q": "q", "frame": "frame"}),
    "tcp_velocity_in": ({}, {"reference": "reference"}),
    "mass_matrix": ({}, {"q": "q", **THREADS}),
    "gravity_force": ({}, {"q": "q", **THREADS}),
    "coriolis_force": ({}, {"q": "q", "dq": "v", **THREADS}),
    "bias_force": ({}, {"q": "q", "dq": "v", **THREADS}),
    "kinetic_energy": ({}, {"q": "q", "dq": "v"}),
    "potential_energy": ({}, {"q": "q"}),
    "friction": ({}, {"dq": "v"}),
    "motor_inertias": ({}, {"ddq": "v"}),
    "id": ({}, {"q": "q", "dq": "v", "ddq": "v", **WRENCH, "f_ext": "f_ext", "task": "task", **THREADS}),
    "fd": (
        {"tau": "v"},
        {"tau": "required v", "q": "q", "dq": "v", **WRENCH, "f_ext": "f_ext", "task": "task", **THREADS},
    ),
    "static_torque": ({}, {"q": "q", **WRENCH, "f_ext": "f_ext", "task": "task"}),
    "set_base_placement": ({}, {"placement": "pose"}),
    "move": ({}, {"displacement": "pose"}),
    "ik": ({}, {"target": "pose", "eef_pose": "pose"}),
}
ON_PINOCCHIO: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "to_pinocchio": ({}, {"q": "q"}),
    "from_pinocchio": ({}, {"q": "q_pin"}),
    "add_frame": (
        {"name": "new", "parent_frame": "frame", "placement": "pose"},
        {"name": "new name", "parent_frame": "required frame", "placement": "pose"},
    ),
    "add_tcp_frame": (
        {"parent_joint": "joint", "placement": "pose"},
        {"parent_joint": "required frame", "placement": "pose"},
    ),
    "with_limits": (
        {},
        {"position": "bounds", **dict.fromkeys(("velocity", "acceleration", "torque", "jerk"), "rates")},
    ),
    "with_motors": (
        {},
        {"rotor_inertia": "rates", "gear_ratio": "ratio", "damping": "rates", "friction": "rates"},
    ),
    "joint_state": ({}, {"q": "one q", "names": "some joint names"}),
    "from_joint_state": (
        {"names": "last joint", "positions": "its position"},
        {"names": "joint names", "positions": "one number", "q": "one q"},
    ),
    "write_configurations": ({"path": "nowhere", "q": "q"}, {"path": "path", "q": "q"}),
    "read_configurations": ({}, {"path": "path"}),
    "save_urdf": ({}, {"path": "path"}),
    "with_limits_file": ({}, {"path": "path"}),
    "has_self_collision": ({}, {"q": "q", "safety_margin": "mass", "threads": "threads"}),
    "has_collisions": (
        {"task": "nothing"},
        {"q": "q", "safety_margin": "mass", "threads": "threads", "task": "task"},
    ),
    "collisions": ({}, {"q": "one q", "safety_margin": "mass", "task": "task"}),
    "collision_info": ({}, {"q": "one q", "safety_margin": "mass", "task": "task"}),
    "distance": ({}, {"q": "one q", "task": "task"}),
    "distances": ({}, {"q": "one q", "task": "task"}),
    "clearance": ({}, {"q": "q", "task": "task"}),
    "with_payload": ({"mass": "one"}, {"mass": "mass", "com": "point", "inertia": "inertia", "frame": "frame"}),
}
# Trusting primitives, and methods without arguments or tested elsewhere.
NOT_HERE = {
    *("coordinate_slices", "crba", "error_and_jacobian", "frame_jacobian", "frame_jacobian_batch", "frame_poses"),
    *("crba_batch", "frame_poses_batch", "joint_poses_batch", "native_bodies", "rnea_batch"),
    *("from_urdf", "ik_jacobian", "ik_jacobian_cpp", "ik_scipy", "joint_poses", "native_chain", "neutral", "pose"),
    # their own tests refuse what is bad
    "from_example",
    "from_file",
    "from_mjcf",
    "to_urdf",
    *("surface_joints", "surface_poses", "surfaces", "to_html", "visualize", "visualize_self_collisions"),
    *("attach", "detach", "empty", "reduced", "with_attached", "with_locked_joints"),
    *(
        "pose_batch",
        "refresh",
        "rnea",
        "add_collision_pairs",
        "remove_collision_pairs",
        "sample_collision_pairs",
        "disabled_links",
        "collision_digest",
    ),
}
CASES = [
    (name, method, argument)
    for name in ROBOTS
    for table in (METHODS, {} if name == "planar arm" else ON_PINOCCHIO)
    for method, (_, arguments) in table.items()
    for argument in arguments
    if not (name == "planar arm" and argument == "f_ext")
]


def good(robot: Any, kind: str) -> Any:
    """A value that can be used."""
    values = {
        "q": robot.neutral(),
        "v": np.zeros(robot.nv),
        "u": 0.5,
        "lwa": LWA,
        "new": "new",
        "one": 1.0,
        "nothing": None,
        "last joint": [robot.joints[-1]],
        "its position": [0.0],
        "nowhere": "/nowhere/q.csv",
    }
    values |= {"frame": robot.frames[-1], "pose": np.eye(4), "joint": robot.joints[-1]}
    return values[kind]


def snapshot(robot: Any) -> list[Any]:
    """What must not change: state, frames, limits, placement, and answers."""
    state = [robot.q, robot.dq, robot.ddq, robot.home_configuration, robot.joint_limits, robot.placement.homogeneous]
    state += [robot.id(), robot.fk().homogeneous, robot.limits.velocity, robot.motors.damping, robot.mass]
    return [*state, robot.tcp, robot.frames, getattr(robot, "version", 0), pickle.dumps(robot.rng)]


@pytest.mark.parametrize("name, method, argument", CASES)
def test_it_is_refused_by_name_and_changes_nothing(name: str, method: str, argument: str) -> None:
    robot = ROBOTS[name]()
    robot.update_configuration(*(x[0] for x in states(robot, 1)))
    needed, arguments = (METHODS | ON_PINOCCHIO)[method]
    before = snapshot(robot)
    for what, value in KINDS[arguments[argument]](robot).items():
        options = {key: good(robot, kind) for key, kind in needed.items()} | {argument: value}
        if argument == "eef_wrench_frame":
            options.setdefault("eef_wrench", np.zeros(6))
        if argument == "eef_pose" and value is None:
            continue
        with pytest.raises(KnuckleError) as caught:
            getattr(robot, method)(**options)
        text = str(caught.value)
        named = (
            "q"
            if argument == "configuration"
            else "target|pose|transformation"
            if method == "ik"
            else argument.replace("_", "[_ ]")
        )
        assert (
            re.search(rf"\b({named})\b", text) or repr(value) in text or "no_such_thing" in text or repr(3) in text
        ), f"{what}: {text}"
        assert len(text) < 700, what
        for ours, now in zip(before, snapshot(robot), strict=True):
            np.testing.assert_array_equal(ours, now, err_msg=what)


def test_no_method_is_forgotten() -> None:
    public = {
        key
        for key in dir(PinRobot)
        if not key.startswith("_") and not isinstance(inspect.getattr_static(PinRobot, key), property)
    }
    assert public - NOT_HERE == set(METHODS) | set(ON_PINOCCHIO)
    for method, (_, arguments) in (METHODS | ON_PINOCCHIO).items():
        flags = {"motor_inertia", "friction", "frames", "geometry", "collision", "visual", "self", "options"}
        flags |= {"ignore_self_collisions"}
        taken = set(inspect.signature(getattr(PinRobot, method)).parameters)
        assert taken - flags <= set(arguments) and set(arguments) <= taken, method
