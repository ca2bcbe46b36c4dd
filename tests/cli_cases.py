"""How tests call the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knuckle.cli import main

SAMPLES = Path(__file__).resolve().parents[1] / "urdf_samples"


PLANAR = str(SAMPLES / "planar_2r.urdf")


SEVEN = str(SAMPLES / "sevenr_arm.urdf")


SIX = str(SAMPLES / "sixr_arm.urdf")


DUAL = str(SAMPLES / "dual_arm.urdf")


QUADRUPED = str(SAMPLES / "quadruped.urdf")


CONTINUOUS = str(SAMPLES / "pan_tilt_continuous.urdf")


IK = ["ik", SEVEN, "--xyz", "0.4", "0.1", "0.5", "--rpy", "0", "3.14159", "0", "--seed", "1"]


Captured = pytest.CaptureFixture[str]


def run_json(capsys: Captured, *argv: str, code: int = 0) -> dict[str, Any]:
    """The JSON a command prints; it must parse strictly and nothing may stand on standard error."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    assert main([*argv, "--json"]) == code
    out, err = capsys.readouterr()
    assert not err
    data: dict[str, Any] = json.loads(out, parse_constant=refuse)
    return data


def run_text(capsys: Captured, *argv: str, code: int = 0) -> str:
    """The text a command prints; no line passes 100 columns or holds a colour code."""
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert not err
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "\x1b" not in out
    return out


def chain(length: int) -> str:
    """A serial arm whose names are long enough to need cutting."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    link = '<link name="{0}_{1:04}"><inertial><mass value="1"/>' + inertia + "</inertial></link>"
    joint = (
        '<joint name="{0}_{1:04}" type="revolute"><parent link="{2}_{1:04}"/><child link="{2}_{3:04}"/>'
        '<origin xyz="0.1 0 0"/><axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    links = [link.format("link_" + "x" * 40, i) for i in range(length + 1)]
    joints = [joint.format("joint_" + "y" * 40, i, "link_" + "x" * 40, i + 1) for i in range(length)]
    return f'<robot name="chain">{"".join(links + joints)}</robot>'
