"""Bad input to robots: texts that name the remedy, and constructors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from knuckle import Coupling, InputError, InputTypeError, JointLimits, KnuckleError, Motors, PinRobot, UnknownNameError

from .robot_cases import fresh, shared


class TestMessages:
    @pytest.mark.parametrize(
        "call, kind, message",
        [
            (lambda r: r.fk([0.0] * 6), InputError, r"q must have shape \(9,\)[^,]*, got \(6,\)"),
            (lambda r: r.fk(["a"] * 9), InputTypeError, "q must be an array of numbers"),
            (lambda r: r.fk([True] * 9), InputTypeError, "q holds booleans"),
            (lambda r: r.fk([0.0] * 8 + [np.nan]), InputError, r"q must be finite, got nan at index \[8\]"),
            (
                lambda r: r.fk(frame="panda_hnd"),
                UnknownNameError,
                "no frame named 'panda_hnd'; did you mean 'panda_hand'",
            ),
            (lambda r: r.fk({"panda_joint": 1.0}), UnknownNameError, "did you mean 'panda_joint"),
            (lambda r: r.fk(kind="joint"), UnknownNameError, "did you mean 'joints'"),
            (lambda r: r.fk(r.q, configuration=r.q), InputTypeError, "q or its alias configuration"),
            (lambda r: r.fk(kind="full", frame="panda_hand"), InputError, "frame goes with kind='tcp' only"),
            (lambda r: r.difference(r.q, [1.0]), InputError, r"q1 must have shape \(9,\)"),
            (lambda r: r.fk({"panda_joint1": "x"}), InputTypeError, r"q\['panda_joint1'\]"),
            (lambda r: r.id(np.zeros((3, 9)), np.zeros((4, 9))), InputError, "q has 3, dq has 4"),
            (lambda r: r.id(dq=np.zeros((3, 9)), eef_wrench=np.zeros((2, 6))), InputError, "eef_wrench has 2"),
            (lambda r: r.fd(np.zeros((3, 9)), eef_wrench=np.zeros((2, 6))), InputError, "tau has 3, eef_wrench has 2"),
            (lambda r: r.id(eef_wrench_frame="panda_hnd"), UnknownNameError, "did you mean 'panda_hand'"),
            (lambda r: r.integrate(np.zeros((3, 9)), np.zeros((2, 9))), InputError, "q has 3, dv has 2"),
        ],
    )
    def test_the_remedy_is_in_the_text(self, call: Callable[[Any], Any], kind: type, message: str) -> None:
        with pytest.raises(kind, match=message):
            call(shared("panda"))

    @pytest.mark.parametrize("tcp", [None, 3, "no_such_thing", b"tool"])
    def test_a_tcp_must_be_a_frame(self, tcp: Any) -> None:
        robot = fresh("panda")
        with pytest.raises(InputError, match=r"tcp|no_such_thing"):
            robot.tcp = tcp
        assert robot.tcp == "panda_hand_tcp"


class TestConstructors:
    @pytest.mark.parametrize(
        "options, message",
        [
            ({"wrapper": None}, "wrapper must be"),
            ({"wrapper": "panda.urdf"}, "wrapper must be"),
            ({"wrapper": ()}, "wrapper must be"),
            ({"collision": "mesh"}, "collision and visual must be"),
            ({"home_configuration": [0.0] * 3}, "shape"),
            ({"home_configuration": {"no_such_thing": 0.0}}, "no_such_thing"),
            ({"base_placement": [1, 2, 3]}, "placement"),
            ({"rng": "seed"}, "rng must be"),
            ({"tcp": "no_such_thing"}, "no frame named 'no_such_thing'"),
            ({"tcp": 3}, "tcp must be"),
            ({"couplings": 3}, "couplings must be"),
            ({"couplings": ["panda_joint1"]}, "couplings must hold"),
            ({"couplings": [Coupling("panda_joint1", "no_such_thing")]}, "no_such_thing"),
        ],
    )
    def test_of_a_robot(self, options: dict[str, Any], message: str) -> None:
        wrapper: Any = shared("panda").model
        if "collision" in options:
            wrapper = (wrapper, options.pop("collision"))
        with pytest.raises(KnuckleError, match=message):
            PinRobot(**({"wrapper": wrapper} | options))

    @pytest.mark.parametrize("value", [[1.0], "a", np.nan, True, -1.0, [[1.0, 2.0]], None.__class__])
    def test_of_limits_and_motors(self, value: Any) -> None:
        for make, names in (
            (lambda **o: JointLimits.create(2, 2, **o), ("velocity", "acceleration", "torque", "jerk")),
            (lambda **o: Motors.create(2, **o), ("rotor_inertia", "damping", "coulomb")),
        ):
            for name in names:
                with pytest.raises(InputError, match="friction" if name == "coulomb" else name):
                    make(**{name: value})


@pytest.mark.parametrize("huge", [1e200, 1e308, -1e308])
def test_huge_but_finite_numbers_pass_the_door_without_a_word(huge: float) -> None:
    robot = fresh("panda")
    assert robot.q_in_joint_limits(np.full(robot.nq, huge)) is False
