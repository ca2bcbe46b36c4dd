"""What can be wrong with each kind of argument of a robot: the bad values for a given robot, by what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Anything:
    """An object that is nothing in particular."""


def wrong_vectors(size: int, *, batch: bool, optional: bool, names: bool) -> dict[str, Any]:
    """What is no vector of `size` numbers, and no batch of them if that is allowed."""
    wrong: dict[str, Any] = {
        "short": np.zeros(size - 1),
        "long": [0.0] * (size + 1),
        "empty": [],
        "number": 0.5,
        "cube": np.zeros((2, 2, size)),
        "wide batch": np.zeros((2, size + 1)),
        "nan": np.full(size, np.nan),
        "inf": [0.0] * (size - 1) + [np.inf],
        "text": "home",
        "texts": ["0"] * size,
        "booleans": [True] * size,
        "complex": np.zeros(size, complex),
        "objects": [Anything()] * size,
        "holes": [None] * size,
        "ragged": [[0.0] * size, [0.0]],
        "set": {0.0, 1.0},
        "object": Anything(),
        "nan in a batch": np.vstack([np.zeros(size), np.full(size, np.nan)]),
    }
    if not batch:
        wrong["batch"] = np.zeros((2, size))
    if not optional:
        wrong["none"] = None
    if names:
        wrong["unknown joint"] = {"no_such_thing": 0.0}
        wrong["number for a name"] = {3: 0.0}
    return wrong


NAMES = {"unknown": "no_such_thing", "number": 3, "bytes": b"tool", "list": ["tool"], "array": np.zeros(3)}
POSES = {
    "none": None,
    "text": "here",
    "vector": [0.1, 0.2, 0.3],
    "nan": np.full((4, 4), np.nan),
    "zeros": np.zeros((4, 4)),
    "sheared": np.eye(4) + np.eye(4, k=1),
    "object": Anything(),
}
KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "q": lambda r: wrong_vectors(r.nq, batch=True, optional=True, names=True),
    "one q": lambda r: wrong_vectors(r.nq, batch=False, optional=True, names=True),
    "v": lambda r: wrong_vectors(r.nv, batch=True, optional=True, names=True),
    "one v": lambda r: wrong_vectors(r.nv, batch=False, optional=True, names=True),
    "required v": lambda r: wrong_vectors(r.nv, batch=True, optional=False, names=False),
    "q_pin": lambda r: wrong_vectors(r.model.nq, batch=True, optional=False, names=False),
    "wrench": lambda r: wrong_vectors(6, batch=True, optional=True, names=False),
    "point": lambda r: wrong_vectors(3, batch=False, optional=True, names=False),
    "frame": lambda r: NAMES,
    "required frame": lambda r: {**NAMES, "none": None},
    "new name": lambda r: {"none": None, "number": 3, "empty": "", "taken": r.frames[-1]},
    "reference": lambda r: {"none": None, "unknown": "sideways", "number": 7, "list": [1], "yes": True},
    "pose": lambda r: POSES,
    "u": lambda r: {"none": None, "nan": np.nan, "vector": [0.1, 0.2], "text": "half", "yes": True},
    "rng": lambda r: {"negative": -1, "text": "seed", "yes": True, "float": 0.5, "object": Anything()},
    "box": lambda r: {
        "shape": np.zeros((3, 2)),
        "nan": np.full((2, 3), np.nan),
        "inverted": [[1.0] * 3, [0.0] * 3],
        "text": "box",
    },
    "joint names": lambda r: (
        {"none": None, "text": r.joints[0], "unknown": ["no_such_thing"], "number": 3}
        | {"twice": [r.joints[0]] * 2, "nested": [[r.joints[0]]]}
    ),
    "some joint names": lambda r: {key: value for key, value in KINDS["joint names"](r).items() if key != "none"},
    "one number": lambda r: wrong_vectors(1, batch=False, optional=False, names=False),
    "path": lambda r: {"none": None, "number": 3, "bytes": b"q.csv", "list": ["q.csv"], "object": Anything()},
    "mapping": lambda r: (
        {"none": None, "list": [0.0], "text": "home", "unknown joint": {"no_such_thing": 1.0}}
        | {"text inside": {r.joints[-1]: "up"}, "nan": {r.joints[-1]: np.nan}, "long": {r.joints[-1]: [0.0, 1.0]}}
        | {"none inside": {r.joints[-1]: None}, "ragged": {r.joints[-1]: [[0.0], [1.0, 2.0]]}}
    ),
    "kind": lambda r: {"unknown": "no_such_thing", "none": None, "number": 3, "array": np.zeros(3), "list": ["tcp"]},
    "threads": lambda r: {"zero": 0, "negative": -1, "text": "two", "half": 0.5, "yes": True},
    "task": lambda r: {"number": 3.0, "text": "scene", "object": Anything(), "list": []},
    "mass": lambda r: {"none": None, "negative": -1.0, "nan": np.nan, "vector": [1.0, 2.0], "text": "heavy"},
    "inertia": lambda r: {
        "shape": np.zeros(3),
        "nan": np.full((3, 3), np.nan),
        "skew": np.eye(3) + np.eye(3, k=1),
        "negative": -np.eye(3),
        "impossible": np.diag([1.0, 1.0, 3.0]),
    },
    "bounds": lambda r: {
        "shape": np.zeros(r.nq),
        "nan": np.full((2, r.nq), np.nan),
        "inverted": [[1.0] * r.nq, [0.0] * r.nq],
        "nowhere": np.full((2, r.nq), np.inf),
        "text": "wide",
        "booleans": np.zeros((2, r.nq), bool),
        "unknown joint": {"no_such_thing": (0, 1)},
        "one": {r.joints[-1]: 1.0},
        "texts": {r.joints[-1]: ("low", "high")},
    },
    "rates": lambda r: {
        "negative": -1.0,
        "short": np.ones(r.nv - 1),
        "nan": np.full(r.nv, np.nan),
        "text": "fast",
        "yes": True,
        "unknown joint": {"no_such_thing": 1.0},
        "long": {r.joints[-1]: [1.0, 2.0]},
        "text inside": {r.joints[-1]: "fast"},
    },
    "ratio": lambda r: {key: value for key, value in KINDS["rates"](r).items() if key != "negative"},
    "f_ext": lambda r: {"short": np.zeros((2, 6)), "number": 1.0, "text": "push", "nan": np.full((99, 6), np.nan)},
}
