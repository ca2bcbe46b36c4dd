"""Odd trajectories and files of them: one error of the toolkit, soon, and nothing written."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import (
    InputError,
    InputTypeError,
    KnuckleError,
    Obstacle,
    PinRobot,
    Task,
    Trajectory,
    Transformation,
    check_trajectory,
)

from .samples import load, path_of

ARM = load("sevenr_arm")
BENT = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
STILL = Trajectory([0.0, 1.0, 2.0], np.tile(BENT, (3, 1)), names=ARM.joints)
HEADER = "time," + ",".join(ARM.joints)


@pytest.mark.parametrize("bad", ["ab", None, [[1, 2], [3]], np.ones((3, 7)) * 1j, object(), [10**400] * 3, 1e300])
@pytest.mark.parametrize("which", ["t", "q", "dq"])
def test_arrays_that_are_none(which: str, bad: Any) -> None:
    given: dict[str, Any] = {"t": [0, 1, 2], "q": np.zeros((3, 7)), "dq": np.zeros((3, 7))}
    if which == "dq" and bad is None:
        bad = "none"
    shape = np.shape(given[which])
    with pytest.raises(KnuckleError):
        Trajectory(**(given | {which: np.full(shape, bad) if isinstance(bad, float) else bad}))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"friction": "yes"}, "friction"),
        ({"motor_inertia": 1}, "motor_inertia"),
        ({"collisions": 3}, "collisions"),
        ({"limits_scale": {"veloctiy": 0.5}}, "velocity"),
        ({"resolution": 0}, "resolution"),
        ({"safety_margin": np.nan}, "safety_margin"),
        ({"goal": "nowhere"}, "goal"),
        ({"constraints": [3]}, "constraints"),
        ({"task": 3}, "task"),
        ({"payload_com": [0, 0, 0]}, "payload"),
    ],
)
def test_options_that_mean_nothing(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(KnuckleError, match=words):
        check_trajectory(ARM, STILL, **arguments)


def test_things_of_another_kind() -> None:
    for robot, trajectory in ((3, STILL), (ARM, None), (ARM, np.zeros((3, 7)))):
        with pytest.raises(InputTypeError):
            check_trajectory(robot, trajectory)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError):
        STILL.ordered(3)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        STILL.slowed(1e308)
    for call in (Trajectory.load, STILL.save):
        with pytest.raises(InputTypeError):
            call(3)  # type: ignore[operator]


FILES: dict[str, tuple[bytes, str]] = {
    "comma.csv": (f"{HEADER}\n".replace(",", ";").encode() + b"0;0,5;0;0;0;0;0;0\n", "decimal point"),
    "twice.csv": (f"{HEADER},joint1\n".encode(), "stands twice"),
    "short.csv": (f"{HEADER}\n0,0,0\n".encode(), "line 2 has 3 cells"),
    "nan.csv": (f"{HEADER}\n0,nan,0,0,0,0,0,0\n".encode(), "column 'joint1'"),
    "wide.csv": (b"time," + b",".join(b"j%d" % i for i in range(200_000)) + b",j5\n", "stands twice"),
    "bytes.csv": (bytes(range(128, 256)) * 50, "UTF-8"),
    "nested.json": (b"[" * 100_000, "no JSON"),
    "twice.json": (b'{"time": [0, 1], "q": [[0], [1]], "time": [1, 2]}', "stands twice"),
    "huge.json": (b'{"time": [0, 1], "q": [[0], [1e999]]}', "q"),
    "cut.npz": (b"PK\x03\x04" + bytes(100), "npz"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_hold_no_trajectory(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name][0])
    with pytest.raises(InputError, match=FILES[name][1]):
        Trajectory.load(tmp_path / name)


def test_a_header_that_promises_too_much_takes_no_memory(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 7)})  # type: ignore[no-untyped-call]
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("q.npy", header.getvalue() + bytes(1000))
    with pytest.raises(InputError, match="at most"):
        Trajectory.load(tmp_path / "bomb.npz")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="is no file"):
        Trajectory.load(tmp_path / "pipe.csv")


@pytest.mark.parametrize("name", ["sevenr_arm", "scara", "pan_tilt_continuous", "dual_arm", "planar_3r"])
def test_verdicts_are_those_of_dense_samples(name: str) -> None:
    """Thin things beside the tool's way, large motions: what a fine sampling meets is never called free."""
    robot, rng = PinRobot.from_urdf(path_of(name)), np.random.default_rng(5)
    robot.tcp = robot.frames[-1]
    for _ in range(6):
        n = int(rng.integers(2, 5))
        path = Trajectory(np.cumsum(rng.uniform(0.2, 1.0, n)), [robot.random_configuration(rng) for _ in range(n)])
        times = np.linspace(path.t[0], path.t[-1], 4000)
        near = robot.fk(path.at(float(rng.choice(times)))).translation + 0.02 * rng.normal(size=3)
        place = Transformation.from_rpy(rng.uniform(-3, 3, 3), near)
        task = Task([Obstacle.box([0.002, 0.3, 0.3], place, id="plate")])
        report = check_trajectory(robot, path, task)
        q = path.at(times)
        assert not report["self_collision"].ok or not robot.has_self_collision(q).any()
        assert (
            not report["scene_collision"].ok or not robot.has_collisions(task, q=q, ignore_self_collisions=True).any()
        )
