"""Bad input to inverse kinematics: one clear exception, and nothing changed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from knuckle.ik import IntermediateIkResult
from knuckle.robot.errors import InputError

from .ik_cases import ALL_METHODS, arm, problem


@pytest.mark.parametrize(
    "options, message",
    [
        ({"ik_method": "jacobain"}, "no ik_method named 'jacobain'; did you mean 'jacobian'"),
        ({"ik_method": 3}, "a name or a callable"),
        ({"q_init": [0.0] * 6}, r"q_init must have shape \(7,\)"),
        ({"q_init": [np.nan] * 7}, "q_init must be finite"),
        ({"q_init": {"no_joint": 1.0}}, "no joint named"),
        ({"rng": "seed"}, "rng must be"),
        ({"rng": -1}, "rng must be a seed >= 0"),
        ({"rng": True}, "rng must be"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"max_iter": 2.5}, "whole number"),
        ({"max_iter": np.nan}, "max_iter must be finite"),
        ({"joint_mask": [True] * 6}, r"joint_mask must have shape \(7,\)"),
        ({"joint_mask": [0.5] * 7}, "must hold booleans"),
        ({"ik_cost_function": 3.0}, "ik_cost_function must be a function"),
        ({"inner_callbacks": [1]}, r"inner_callbacks\[0\]"),
        ({"outer_callbacks": 1}, "outer_callbacks"),
        ({"outer_constraints": [1]}, r"outer_constraints\[0\]"),
        ({"task": SimpleNamespace(constraints=[1])}, r"task.constraints\[0\]"),
        ({"current_best": 1.0}, "current_best"),
        ({"current_best": IntermediateIkResult(np.zeros(3), 1.0)}, r"current_best.q must have shape \(7,\)"),
        ({"convergence_threshold": -1.0}, "convergence_threshold"),
        ({"tolerance": 1e-3}, "tolerance must be a Tolerance"),
        ({"kinds": "transpose"}, "no argument of ik named 'kinds'; did you mean 'kind'"),
        ({"ik_method": "scipy", "kind": "transpose"}, "method 'scipy' has no option 'kind'; it takes scipy_kwargs"),
        ({"inner_callbacks": lambda r: "stop"}, "CONTINUE, REJECT or BREAK"),
        ({"outer_callbacks": lambda r: 7}, "CONTINUE, REJECT or BREAK"),
    ],
)
def test_bad_input_is_named(options: dict, message: str) -> None:
    robot, target, _ = problem()
    before = robot.q.copy()
    with pytest.raises(InputError, match=message):
        robot.ik(target, **options)
    assert (robot.q == before).all()


@pytest.mark.parametrize("target", [None, np.eye(3), np.full((4, 4), np.nan), "home", 2 * np.eye(4)])
def test_a_bad_target_is_named(target: object) -> None:
    for method in (None, *ALL_METHODS):
        with pytest.raises(InputError):
            arm("sevenr_arm").ik(target, ik_method=method)
