"""Plots of a checked trajectory: joints against their limits, torques, the tool, clearance."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..robot.arrays import Array
from ..robot.errors import InputError, MissingDependencyError
from .course import Course, States
from .report import Check, TrajectoryReport

_POINTS = 1500
_CLEARANCES = 240
_FEW = 12
"""Joints up to which every one has a line of its own in the legend."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One quantity over time; values and limits are shares of the limit where `relative`."""

    title: str
    unit: str
    t: Array
    values: Array
    """(M, k)."""
    names: tuple[str, ...]
    check: Check | None
    bounds: tuple[float, float] | None
    """Drawn as lines."""


def save_plot(report: TrajectoryReport, path: str | Path) -> Path:
    """Draw a report to a file (.png, .pdf, .svg).

    Raises:
        MissingDependencyError: if matplotlib is not installed.
        InputError: if the file cannot be written.
    """
    try:
        figure(report).savefig(path, dpi=120)
    except (ValueError, OSError) as error:
        raise InputError(f"path: {error}") from None
    return Path(path)


def svg(report: TrajectoryReport) -> str:
    """The plots of a report as one SVG element, to be put into a page; the same for the same report."""
    drawing, text = figure(report), io.StringIO()
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "knuckle"}):
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


def figure(report: TrajectoryReport) -> Any:
    """The plots of a report as a matplotlib figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("plotting needs matplotlib: pip install 'knuckle[plot]'") from error
    panels = panels_of(report)
    rows = -(-len(panels) // 2)
    drawing = Figure(figsize=(13.0, 2.7 * rows), layout="constrained")
    axes = np.atleast_1d(drawing.subplots(rows, 2, sharex=True)).ravel()
    lines: list[Any] = []
    for axis, panel in zip(axes, panels, strict=False):
        drawn = _draw(axis, panel)
        lines = drawn if len(drawn) > len(lines) else lines
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[max(0, len(panels) - 2) : len(panels)]:
        axis.set_xlabel("time [s]")
        axis.tick_params(labelbottom=True)
    if 1 < len(lines) <= _FEW:
        drawing.legend(handles=lines, loc="outside lower center", ncols=min(7, len(lines)), fontsize="small")
    return drawing


def _draw(axis: Any, panel: Panel) -> list[Any]:
    lines = [
        axis.plot(panel.t, column, label=name, lw=1.2)[0]
        for column, name in zip(panel.values.T, panel.names, strict=True)
    ]
    for bound in panel.bounds or ():
        axis.axhline(bound, color="0.25", ls="--", lw=1.0)
    if panel.bounds:
        most = max(np.abs(panel.values).max(initial=0.0), *map(abs, panel.bounds))
        low = -1.08 * most if panel.bounds[0] < 0 or panel.values.min(initial=0.0) < 0 else 0.0
        axis.set_ylim(low, 1.08 * most)
    check, title = panel.check, panel.title
    failed = check is not None and not check.ok
    if check is not None and failed and np.isfinite(check.time):
        axis.axvline(check.time, color="tab:red", lw=1.0, alpha=0.7)
        title = f"{title}: {check.where}, {check.time:.4g} s"
    axis.set_title(title, loc="left", fontsize="medium", color="tab:red" if failed else "black")
    axis.set_ylabel(panel.unit)
    axis.grid(color="0.92")
    return lines if len(lines) > 2 else []


def panels_of(report: TrajectoryReport) -> list[Panel]:
    """The quantities worth drawing."""
    course: Course = report.course
    t = course.trajectory.t
    states = course.at(
        np.unique(np.concatenate([np.linspace(t[0], t[-1], _POINTS), t if len(t) <= _POINTS else t[:1]]))
    )
    limits = course.robot.limits
    checks = {check.name: check for check in report}
    panels = [_positions(course, states, checks.get("position"))]
    scales = report.options
    for kind, values, unit in (
        ("velocity", states.dq, "rad/s or m/s"),
        ("acceleration", states.ddq, "rad/s² or m/s²"),
        ("torque", scales.torques(states), "N m or N"),
    ):
        limit = scales.scales[kind] * getattr(limits, kind)
        panels.append(_against(kind, unit, states.t, values, limit, course, checks.get(kind)))
    panels += _tool(course, states, checks, scales.frame)
    return panels + _clearance(report, course, checks)


def _positions(course: Course, states: States, check: Check | None) -> Panel:
    """Positions between their limits, -1 lower and 1 upper, where there are limits."""
    lower, upper = course.robot.limits.position
    names = tuple(course.robot.coordinate_names)
    if np.isfinite([lower, upper]).all() and (upper > lower).all():
        middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        shares = (states.q - middle) / half
        return Panel("position between its limits", "share", states.t, shares, names, check, (-1.0, 1.0))
    return Panel("position", "rad or m", states.t, states.q, names, check, None)


def _against(kind: str, unit: str, t: Array, values: Array, limit: Array, course: Course, check: Check | None) -> Panel:
    names = tuple(course.robot.dof_names)
    if np.isfinite(limit).all() and (limit > 0.0).all():
        return Panel(f"{kind} by its limit", "share", t, values / limit, names, check, (-1.0, 1.0))
    return Panel(kind, unit, t, values, names, check, None)


def _tool(course: Course, states: States, checks: dict[str, Check], frame: str | None) -> list[Panel]:
    if frame is None:
        return []
    from .tool import singular_values, tool_jacobians

    J = tool_jacobians(course, states, frame)
    speed = np.linalg.norm((J[:, :3] @ states.dq[:, :, None])[:, :, 0], axis=1)
    limit = checks["tool_speed"].limit
    bounds = (0.0, limit) if np.isfinite(limit) else None
    smallest = singular_values(J)[1]
    return [
        Panel(f"speed of {frame}", "m/s", states.t, speed[:, None], ("speed",), checks["tool_speed"], bounds),
        Panel("smallest singular value", "", states.t, smallest[:, None], ("value",), checks["singularity"], None),
    ]


def _clearance(report: TrajectoryReport, course: Course, checks: dict[str, Check]) -> list[Panel]:
    parts = [checks.get("self_collision"), checks.get("scene_collision")]
    told = [part for part in parts if part is not None and np.isfinite(part.worst)]
    if not told:
        return []
    t = np.linspace(course.trajectory.t[0], course.trajectory.t[-1], _CLEARANCES)
    t = np.unique(np.concatenate([t, [part.time for part in told]]))
    distance = getattr(course.robot, "distance")  # noqa: B009 - not every robot has it, these have
    values = np.array([[distance(q, report.options.task).value] for q in course.at(t).q])
    worst = min(told, key=lambda part: (part.ok, part.margin))
    margin = report.options.safety_margin
    return [Panel("clearance", "m", t, values, ("clearance",), worst, (margin, margin))]
