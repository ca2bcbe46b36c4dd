"""A report as one page that holds everything and asks nothing of any server."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

from ..robot.files import write_file
from .plots import svg
from .report import Check, TrajectoryReport, word

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.verdict { display: inline-block; padding: .3rem .9rem; border-radius: .4rem; font-weight: 600; color: #fff; }
.ok { background: #2e7d32; } .fail { background: #c62828; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; }
td { border-top: 1px solid #e0e0e0; vertical-align: top; } td.number { text-align: right; white-space: nowrap; }
th.number { text-align: right; } tr.fail td { background: #fdecea; color: inherit; } tr.idle td { color: #888; }
svg { max-width: 100%; height: auto; }
"""


def save_html(report: TrajectoryReport, path: str | Path, animation: str | None = None) -> Path:
    """Write the page of a report; `animation` is HTML put in as it is, for a moving robot."""
    return write_file(path, page(report, animation))


def page(report: TrajectoryReport, animation: str | None = None) -> str:
    """The page of a report."""
    verdict, kind = ("feasible", "ok") if report.feasible else ("not feasible", "fail")
    title = f"Trajectory of {escape(report.robot)}"
    rows = "\n".join(_row(check) for check in report)
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    moving = "" if animation is None else f'<h2>Motion</h2>\n<section id="animation">{animation}</section>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}: {verdict}</title><style>{_STYLE}</style></head>
<body>
<h1>{title}</h1>
<p><span class="verdict {kind}">{verdict}</span>
{report.samples} samples, {report.duration:.6g} s, {escape(report.interpolation)} between them</p>
{moving}
<h2>Checks</h2>
<table>
<tr><th>check</th><th></th><th class="number">worst</th><th class="number">limit</th><th class="number">time [s]</th>
<th class="number">intervals</th><th>what was found</th></tr>
{rows}
</table>
{f"<h2>Notes</h2><ul>{notes}</ul>" if notes else ""}
<h2>Plots</h2>
{svg(report)}
</body>
</html>
"""


def _row(check: Check) -> str:
    kind = "fail" if not check.ok else "pass" if check.judged else "idle"
    cells = [_number(check.worst, check.unit), _number(check.limit, check.unit), _number(check.time, "")]
    numbers = "".join(f'<td class="number">{cell}</td>' for cell in [*cells, str(check.count) if check.count else ""])
    row = f"<td>{escape(check.name)}</td><td>{word(check)}</td>{numbers}<td>{escape(check.message)}</td>"
    return f'<tr class="{kind}">{row}</tr>'


def _number(value: float, unit: str) -> str:
    return f"{value:.4g} {escape(unit)}".strip() if math.isfinite(value) else ""
