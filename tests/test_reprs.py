"""What results say of themselves in one line, as a prompt shows them."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import Trajectory, check_poses, check_trajectory
from knuckle.controllers import ControllerJointImpedance, LoopReport, closed_loop, rollout

from .samples import load

ARM = load("planar_2r")
STILL = Trajectory([0.0, 1.0], np.zeros((2, 2)), names=ARM.joints)


def lines() -> dict[str, str]:
    controller = ControllerJointImpedance(ARM, stiffness=50.0, damping_ratio=1.0)
    recording = closed_loop.run(ARM, controller, duration=0.01, q=[0.0, 0.0], target={"q_des": [0.1, 0.1]})
    rolled = rollout(ARM, controller, (np.zeros(2), np.zeros(2)), 1e-3, 10, inputs=controller.input())
    return {
        "recording": repr(recording),
        "loop report": repr(LoopReport.of(ARM, recording)),
        "rollout": repr(rolled),
        "trajectory report": repr(check_trajectory(ARM, STILL)),
        "pose report": repr(check_poses(ARM, [ARM.fk([0.3, 0.4])], rng=0)),
    }


@pytest.mark.parametrize("name", ["recording", "loop report", "rollout", "trajectory report", "pose report"])
def test_results_fit_in_a_line(name: str) -> None:
    line = lines()[name]
    assert line.startswith("<") and line.endswith(">") and "\n" not in line and len(line) < 160


def test_a_jerk_of_nothing_has_no_sign() -> None:
    assert "-0 " not in str(check_trajectory(ARM, STILL))
