"""Messages: a drawing in the words of the page (`page.js`), whichever way they reach it."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..robot.arrays import Array
from .drawing import Moment, Solid
from .shapes import Mesh

Message = dict[str, Any]

VIEW = np.array([1.0, -1.1, 0.65]) / np.linalg.norm([1.0, -1.1, 0.65])
"""From which side a camera looks at first."""
FIELD = np.radians(40.0)
"""Field of view of the page's camera."""
MARGIN = 0.85
"""Share of the view that is filled by what is to be seen whole."""


def text(messages: Iterable[Message]) -> str:
    """Messages as strict JSON, fit to stand in a page."""
    return json.dumps(list(messages), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def solids(things: Iterable[Solid], known: set[str]) -> list[Message]:
    """What builds solids; meshes that are `known` are not sent again, the others are noted there."""
    messages = []
    for solid in things:
        if not len(solid.mesh.triangles):
            continue
        if solid.mesh.key not in known:
            known.add(solid.mesh.key)
            messages.append(mesh(solid.mesh))
        pose = None if solid.pose is None else columns(solid.pose)
        messages.append(
            {
                "type": "solid",
                "path": solid.path,
                "mesh": solid.mesh.key,
                "colour": list(solid.colour),
                "pose": pose,
                "visible": solid.visible,
                "marked": solid.marked,
                "in_front": solid.in_front,
            }
        )
    return messages


def mesh(shape: Mesh) -> Message:
    """A mesh with normals, its arrays as base64 of float32 and uint32."""
    positions, normals, triangles = shape.shaded
    return {
        "type": "mesh",
        "key": shape.key,
        "positions": encoded(positions),
        "normals": encoded(normals),
        "triangles": encoded(triangles),
    }


def moment(now: Moment) -> Message:
    """Where everything is."""
    return {
        "type": "moment",
        "poses": {path: columns(pose) for path, pose in now.poses.items()},
        "marks": {path: list(colour) for path, colour in now.marks.items()},
    }


def film(times: Array, moments: Sequence[Moment], *, speed: float = 1.0, play: bool = True) -> Message:
    """Moments over time; poses as float32, three columns of rotation and scale and one of position each."""
    paths = list(dict.fromkeys(path for one in moments for path in one.poses))
    rows = np.empty((len(moments), len(paths), 12), dtype=np.float32)
    now = dict.fromkeys(paths, np.eye(4))
    for k, one in enumerate(moments):
        now.update(one.poses)
        for j, path in enumerate(paths):
            rows[k, j] = now[path][:3].T.ravel()
    return {
        "type": "film",
        "times": times.tolist(),
        "paths": paths,
        "poses": encoded(rows),
        "marks": [{path: list(colour) for path, colour in one.marks.items()} for one in moments],
        "speed": speed,
        "play": play,
    }


def camera(bounds: Array, direction: Any = VIEW) -> Message:
    """A camera that sees the whole box (2, 3) [m]."""
    centre, away = bounds.mean(axis=0), np.asarray(direction) / np.linalg.norm(direction)
    corners = np.array(list(itertools.product(*bounds.T))) - centre
    right = np.cross([0.0, 0.0, 1.0], away)
    right /= np.linalg.norm(right)
    aside = np.abs(corners @ np.column_stack([right, np.cross(away, right)])).max(axis=1)
    # each corner within the square cone of view, a margin around it
    distance = max(float((aside / (MARGIN * np.tan(0.5 * FIELD)) + corners @ away).max()), 1e-3)
    return {**looking(centre + distance * away, centre), "fits": True}


def looking(eye: Array, target: Array) -> Message:
    """A camera at `eye` (3,) looking at `target` (3,), in the world [m]."""
    distance = float(np.linalg.norm(eye - target))
    return {
        "type": "camera",
        "eye": eye.tolist(),
        "target": target.tolist(),
        "near": distance / 500,
        "far": distance * 50,
        "cell": float(10.0 ** np.floor(np.log10(distance / 2))),
        "fits": False,
    }


def columns(pose: Array) -> list[float]:
    """A pose (4, 4) column by column, as three.js has it."""
    return [float(x) for x in pose.T.ravel()]


def encoded(array: Any) -> str:
    """An array's bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
