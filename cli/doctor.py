"""`knuckle doctor`: which parts are installed, and which of them are in use."""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..robot import native
from .output import fields, report
from .parser import Commands, add_command

REQUIRED = ("knuckle", "pin", "coal", "numpy", "scipy", "meshcat", "daqp")
OPTIONAL = {  # distribution: what it is for, and the extra that brings it
    "matplotlib": ("plots of recorded searches and loops", "plot"),
    "ipywidgets": ("sliders in notebooks", "jupyter"),
    "anywidget": ("sliders in notebooks", "jupyter"),
    "viser": ("a live window with a target to drag", "live"),
    "example-robot-data": ("descriptions of real arms", "robots"),
    "xacro": ("xacro files", "xacro"),
    "PyYAML": ("limits from joint_limits.yaml", "yaml"),
    "pytest": ("running the tests", "test"),
    "pytest-benchmark": ("running the benchmarks", "test"),
}


def add_commands(commands: Commands) -> None:
    """Registers `doctor`."""
    parser = add_command(commands, "doctor", "versions, the native kernel and optional parts", robot=False)
    parser.set_defaults(run=run_doctor)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Prints the state of the installation; 1 where a required part is missing or the kernel failed to load."""
    versions = {name: _version(name) for name in REQUIRED}
    data: dict[str, Any] = {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        "native": {
            "available": native.AVAILABLE,
            "isa": native.isa() if native.AVAILABLE else None,
            "reason": native.REASON,
        },
        "optional": {name: _version(name) for name in OPTIONAL},
    }
    healthy = None not in versions.values() and (native.AVAILABLE or _switched_off())
    report(arguments.json, lambda: data | {"healthy": healthy}, lambda: _text(data, healthy))
    return 0 if healthy else 1


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _switched_off() -> bool:
    return os.environ.get("KNUCKLE_NO_NATIVE") == "1"


def _text(data: dict[str, Any], healthy: bool) -> str:
    kernel = data["native"]
    lines = [("Python", f"{data['python']} on {data['platform']}")]
    lines += [(name, found or "missing") for name, found in data["versions"].items()]
    lines.append(("native kernel", f"in use, {kernel['isa']}" if kernel["available"] else f"off: {kernel['reason']}"))
    for name, (purpose, extra) in OPTIONAL.items():
        found = data["optional"][name]
        remedy = f"absent: pip install 'knuckle[{extra}]'"
        lines.append((name, f"{found or remedy}, for {purpose}"))
    lines.append(("verdict", "all well" if healthy else "something needs attention, see above"))
    return fields(lines)
