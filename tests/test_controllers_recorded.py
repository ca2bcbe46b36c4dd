"""Joint impedance and operational space against the recorded cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace

from .controller_paths import either_path  # noqa: F401
from .newton_cases import TOOL, arrays, cases, fleet

IMPEDANCE, OPERATIONAL = cases("joint_impedance"), cases("operational_space")
SINGULAR = "osc/ur5_singular_elbow0/full"  # exactly singular: finite and bounded only
ONE_PER_CASE = {
    *("stiffness", "damping", "motion_stiffness", "motion_damping", "wrench_stiffness"),
    *("null_space_stiffness", "null_space_damping", "operational_frame_pose_world"),
    *("linear_selection_frame_operational", "angular_selection_frame_operational"),
    *("motion_selection_axes", "wrench_selection_axes"),
}
NOT_OPTIONS = {"operational_frame", "selection_frames", "selection_weights"}


def relative(actual: Any, expected: Any) -> float:
    return float(np.abs(actual - expected).max() / max(1.0, np.abs(expected).max()))


def steps(controller: Any, case: dict[str, Any], data: dict[str, Any]) -> np.ndarray:
    """Torques of all states of a case (S, D); inputs that a port exists for come from the record."""
    inputs, outputs, found = controller.input(), controller.output(), []
    for i in range(len(data["joint_q"])):
        for name, values in data.items():
            if hasattr(inputs, name) and getattr(inputs, name) is not None:
                setattr(inputs, name, values if name in ONE_PER_CASE else values[i])
        controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
        found.append(outputs.joint_f.copy())
        if isinstance(controller, ControllerOperationalSpace):
            assert relative(controller.tool_twist_world, data["tool_twist_world"][i]) < 2e-5
            pose, recorded = controller.tool_pose_world, data["tool_pose_world"][i]
            assert relative(pose[:, :3], recorded[:, :3]) < 1e-5
            assert np.abs(np.abs(np.sum(pose[:, 3:] * recorded[:, 3:], axis=1)) - 1).max() < 1e-5
    return np.array(found)


def check_selection(controller: Any, robots: Any, case: dict[str, Any]) -> None:
    names = [
        f"{label}/{name}" for label, robot in zip(robots.labels, robots.robots, strict=True) for name in robot.dof_names
    ]
    expected = [
        f"{robots.labels[r]}/{n}"
        for r, joints in zip(case["selected"], case["joint_names"], strict=True)
        for n in joints
    ]
    assert [names[i] for i in controller.qd_start] == expected


def check_torques(case: dict[str, Any], data: dict[str, Any], tau: np.ndarray, report: Any) -> None:
    error, rough = relative(tau, data["joint_f_ref64"]), relative(tau, data["joint_f"])
    report(case["group"], error)
    assert error < 1e-9
    assert rough < 2e-5 + 2.5e-9 * case.get("cond", 0.0)


def check_default(controller: Any, case: dict[str, Any], data: dict[str, Any]) -> None:
    """Bounded near singularities, the law is the recorded one wherever nothing had to be bounded."""
    inputs, outputs = controller.input(), controller.output()
    for i in range(len(data["joint_q"])):
        for name, values in data.items():
            if getattr(inputs, name, None) is not None:
                setattr(inputs, name, values[i])
        controller.step(inputs=inputs, outputs=outputs)
        assert np.isfinite(outputs.joint_f).all() and np.abs(outputs.joint_f).max() < 1e4
        kept = np.repeat(controller.exactness == 1.0, controller._dof_counts)
        if kept.any():
            assert relative(outputs.joint_f[kept], data["joint_f_ref64"][i][kept]) < 1e-9


@pytest.mark.parametrize("case", IMPEDANCE, ids=[case["id"] for case in IMPEDANCE])
def test_joint_impedance(case: dict[str, Any], record_property: Any) -> None:
    robots, data = fleet(case), arrays(case)
    live = case.get("live", False)
    gains = {name: None if live else data[name] for name in ("stiffness", "damping")}
    selection = {"articulations": case.get("articulations"), "joints": case.get("joints")}
    controller = ControllerJointImpedance(robots, **selection, **gains, **case["options"])
    check_selection(controller, robots, case)
    check_torques(case, data, steps(controller, case, data), record_property)


@pytest.mark.parametrize("case", OPERATIONAL, ids=[case["id"] for case in OPERATIONAL])
def test_operational_space(case: dict[str, Any], record_property: Any) -> None:
    robots, data = fleet(case), arrays(case)
    options = {name: value for name, value in case["options"].items() if name not in NOT_OPTIONS}
    for name in ONE_PER_CASE & set(data):
        options[name] = data[name]
    if case.get("live"):
        options.update({name: None for name in ONE_PER_CASE & set(data) if not name.endswith("axes")})
    options |= {"articulations": case.get("articulations"), "joints": case.get("joints"), "tool_sites": TOOL}
    if not (options["use_wrench_feedforward"] or options["use_wrench_feedback"]):
        for name in ("motion_selection_axes", "linear_selection_frame_operational"):
            assert name not in options
    singularity = "damp" if case["id"] == SINGULAR else "exact"
    controller = ControllerOperationalSpace(robots, **options, singularity=singularity)
    check_selection(controller, robots, case)
    tau = steps(controller, case, data)
    if "live" not in case:
        check_default(ControllerOperationalSpace(robots, **options), case, data)
    if case["id"] == SINGULAR:
        assert np.isfinite(tau).all() and np.abs(tau).max() < 1e4
    else:
        check_torques(case, data, tau, record_property)
