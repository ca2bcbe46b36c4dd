"""Every public call with odd values for each of its arguments: an answer, or an error of the toolkit.

Left out are the primitives of a robot, which trust their arrays, the values that only the toolkit makes, and what opens
windows or writes files, which has tests of its own.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest

import knuckle
from knuckle import (
    CartesianSphere,
    Fleet,
    KnuckleError,
    Obstacle,
    PinBody,
    PinRobot,
    RotationAbsolute,
    Task,
    Trajectory,
    Transformation,
    checks,
    controllers,
    ik,
)
from knuckle.robot.primitives import Primitives

from .samples import path_of

Q = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
ODD: list[Any] = [
    None, "a", b"x", -1, 1.5, np.nan, np.inf, 10**30, True, [], [[1], [1, 2]], {"a": 1}, object(), np.ones(3),
    np.full(7, np.nan), np.ones(7) * 1j, np.zeros((7, 7, 7)), np.array(["a"]), {1},
]  # fmt: skip
ELSEWHERE = {
    *("visualize", "visualize_self_collisions", "to_html", "save", "save_urdf", "sample_collision_pairs", "plot"),
    *(name for name in vars(Primitives) if not name.startswith("_")),
    *(
        "error_and_jacobian",
        "native_chain",
        "layout",
        "CallbackReturn",
        "IKResult",
        "Srdf",
        "default_ik_cost_function",
        "chain",
    ),
    *("ik_jacobian", "ik_jacobian_cpp", "ik_scipy", "progress", "surface_joints", "surface_poses", "surfaces"),
    *("CartesianAdmittanceFleet", "ControllerOperationalSpaceModelFree", "ik_cost_function", "ik_method"),
}


def arm() -> PinRobot:
    return PinRobot.from_urdf(path_of("sevenr_arm"))


def things() -> dict[str, Callable[[], Any]]:
    gains = {"stiffness": 1.0, "damping_ratio": 1.0}
    return {
        "PinRobot": arm,
        "Transformation": lambda: Transformation.from_translation([0.1, 0.2, 0.3]),
        "Task": lambda: Task([Obstacle.sphere(0.1, id="ball")]),
        "Obstacle": lambda: Obstacle.sphere(0.1),
        "Trajectory": lambda: Trajectory([0, 1], [Q, Q + 0.1]),
        "Fleet": lambda: Fleet([arm()]),
        "Tolerance": lambda: CartesianSphere(0.1) + RotationAbsolute(0.1),
        "PinBody": lambda: PinBody.solid("b", coal.Sphere(0.1), 1.0),
        "ControllerJointImpedance": lambda: controllers.ControllerJointImpedance(arm(), **gains),
        "CartesianAdmittance": lambda: controllers.CartesianAdmittance(
            arm(), distal_link="tool", stiffness=1, damping=1, inertia=1, dt=0.1
        ),
        "JointAdmittance": lambda: controllers.JointAdmittance(arm(), compliance=0.1, cutoff=1, dt=0.1),
        "DifferentialIK": lambda: ik.DifferentialIK(arm(), dt=0.1),
        "knuckle": lambda: knuckle,
        "ik": lambda: ik,
        "controllers": lambda: controllers,
        "checks": lambda: checks,
    }


def calls(thing: Any) -> Iterator[str]:
    """Names of what can be called on a thing."""
    for name in getattr(thing, "__all__", None) or dir(thing):
        if name.startswith("_") or name in ELSEWHERE:
            continue
        try:
            found = getattr(thing, name)
        except KnuckleError:  # a property of another form of it
            continue
        kind = found if inspect.isclass(found) else None
        made_elsewhere = kind is not None and issubclass(kind, BaseException | PinRobot | Enum)
        if callable(found) and not inspect.isabstract(found) and not made_elsewhere:
            yield name


def sensible(name: str, robot: PinRobot) -> Any:
    values = {
        "q": Q, "tau": Q, "dq": Q, "robot": robot, "target": robot.fk(Q), "other": robot.fk(Q), "pose": robot.fk(Q),
        "frame": "tool", "reference": "LWA", "desired": robot.fk(Q), "actual": robot.fk(Q), "t": [0, 1], "name": "new",
        "trajectory": Trajectory([0, 1], [Q, Q + 0.1], names=robot.joints), "poses": [robot.fk(Q)],
        "targets": [robot.fk(Q)],
        "fleet": Fleet([robot]), "joint_q": Q, "size": [0.1, 0.1, 0.1], "radius": 0.1, "length": 0.2, "dt": 0.1,
    }  # fmt: skip
    return values.get(name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", things())
def test_odd_values_get_an_answer_or_an_error_of_the_toolkit(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.chdir(tmp_path)  # some of the values are names of files, and are written
    robot, make, foreign = arm(), things()[kind], []
    for name in calls(make()):
        thing = make()
        call = getattr(thing, name)
        try:
            parameters = inspect.signature(call).parameters.values()
        except ValueError:  # built in
            continue
        known = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        base = {p.name: sensible(p.name, robot) for p in known if p.default is p.empty}
        for parameter in known:
            for odd in ODD if parameter.name not in ELSEWHERE else ():
                try:
                    call(**(base | {parameter.name: odd}))
                except KnuckleError:
                    pass
                except Exception as error:
                    foreign.append(f"{name}({parameter.name}={odd!r:.40}) raised {type(error).__name__}: {error}")
    assert not foreign, "\n".join(foreign[:20])
