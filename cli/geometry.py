"""The part of `knuckle inspect` about geometry: what each link looks like and collides with, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..robot import PinRobot
from ..robot.link_tree import link_tree
from .output import table

_LOST = ("mesh-missing", "mesh-unreadable", "mesh-unnamed", "geometry-empty", "shape-unknown", "shape-size")
_SHAPES = {"ConvexBase": "hull", "Convex": "hull", "BVHModelOBBRSS": "mesh"}


def geometry_data(robot: PinRobot) -> list[dict[str, Any]]:
    """Every geometry with its link, use, shape, file and status."""
    tree = link_tree(robot.model)
    found = []
    for use, geometry in (("visual", robot.visual), ("collision", robot.collision)):
        for thing in geometry.geometryObjects:
            file = str(thing.meshPath) if Path(str(thing.meshPath)).is_file() else None
            kind = type(thing.geometry).__name__
            found.append(
                {
                    "link": tree.place(thing)[0],
                    "use": use,
                    "shape": _SHAPES.get(kind, kind.lower()),
                    "file": file,
                    "status": "ok",
                }
            )
    return found + list(_lost(robot))


def _lost(robot: PinRobot) -> Iterator[dict[str, Any]]:
    for found in robot.findings:
        if found.code in _LOST:
            use = found.problem.split()[0] if found.problem.split()[0] in ("visual", "collision") else "geometry"
            yield {"link": found.name, "use": use, "shape": None, "file": None, "status": found.code}


def geometry_table(robot: PinRobot) -> str:
    """Shapes by link, those that could not be made named by their finding."""
    cells: dict[str, dict[str, list[str]]] = {}
    for entry in geometry_data(robot):
        shape = Path(entry["file"]).name if entry["file"] else entry["shape"] or entry["status"].upper()
        use = entry["use"] if entry["use"] != "geometry" else "collision"
        cells.setdefault(entry["link"], {"visual": [], "collision": []})[use].append(shape)
    rows = [[link, _counted(uses["visual"]), _counted(uses["collision"])] for link, uses in cells.items()]
    return table(["link", "visual", "collision"], rows, left=3)


def _counted(shapes: list[str]) -> str:
    """Shapes, those that come several times with their number."""
    counts = {shape: shapes.count(shape) for shape in dict.fromkeys(shapes)}
    return ", ".join(f"{n} {shape}" if n > 1 else shape for shape, n in counts.items())
