"""Trajectory: derivatives, interpolation, resampling, joining, files, and what is wrong with them by row and column."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from knuckle import InputError, InputTypeError, Trajectory, UnsupportedError
from knuckle.robot import table_files

T = np.linspace(0.0, 2.0, 41)
RATES = np.array([1.0, 2.0, 3.0])
Q, DQ = np.sin(T[:, None] * RATES), RATES * np.cos(T[:, None] * RATES)
DDQ = -(RATES**2) * Q
NAMES = ["a", "b", "c"]


def test_what_is_not_given_is_that_of_the_spline() -> None:
    path, spline = Trajectory(T, Q), CubicSpline(T, Q)
    times = np.linspace(0.0, 2.0, 999)
    assert path.interpolation == "cubic" and path.given == ("q",)
    np.testing.assert_allclose(path.dq, spline(T, 1), atol=1e-12)
    np.testing.assert_allclose(path.ddq, spline(T, 2), atol=1e-10)
    for order in range(4):
        np.testing.assert_allclose(path.at(times, order), spline(times, order), atol=1e-8)


def test_given_derivatives_are_met_at_the_samples() -> None:
    path = Trajectory(T, Q, DQ, DDQ)
    assert path.interpolation == "quintic" and path.given == ("q", "dq", "ddq")
    for order, expected in enumerate((Q, DQ, DDQ)):
        np.testing.assert_allclose(path.at(T, order), expected, atol=1e-9)
    between = 0.5 * (T[1:] + T[:-1])
    np.testing.assert_allclose(path.at(between), np.sin(between[:, None] * RATES), atol=1e-7)


def test_linear_goes_straight() -> None:
    path = Trajectory([0.0, 1.0, 3.0], [[0.0], [1.0], [0.0]], interpolation="linear")
    np.testing.assert_allclose(path.at([0.5, 2.0]), [[0.5], [0.5]])
    np.testing.assert_allclose(path.at([0.5, 2.0], 1), [[1.0], [-0.5]])
    assert path.at(0.5).shape == (1,)
    np.testing.assert_allclose(path.dq[:, 0], [1.0, (1.0 * 2 - 0.5 * 1) / 3, -0.5])


def test_two_samples_make_a_trajectory() -> None:
    path = Trajectory([0.0, 2.0], [[0.0], [1.0]])
    np.testing.assert_allclose(path.at(1.0), [0.5], atol=1e-12)
    rest = Trajectory([0.0, 2.0], [[0.0], [1.0]], [[0.0], [0.0]])
    assert rest.at(1.0, 1)[0] == pytest.approx(0.75)  # 3/2 of the mean, the peak of a cubic from rest to rest


@pytest.mark.parametrize("kind", ["linear", "cubic", "quintic"])
def test_resampling_keeps_the_motion(kind: str) -> None:
    path = Trajectory(T, Q, DQ, interpolation=kind)
    fine = path.resampled(0.011)
    assert fine.t[-1] == T[-1] and fine.interpolation == kind and (np.diff(fine.t) <= 0.011 + 1e-12).all()
    np.testing.assert_allclose(fine.q, path.at(fine.t), atol=1e-12)
    assert len(path.resampled(times=[0.0, 1.0, 2.0])) == 3
    with pytest.raises(InputError, match="one of the two"):
        path.resampled()


def test_joining_slowing_ordering() -> None:
    first, second = Trajectory(T, Q, DQ, names=NAMES), Trajectory(T + 5.0, Q + Q[-1] - Q[0], DQ, names=NAMES)
    both = first.then(second.ordered(["c", "a", "b"]))
    assert len(both) == 81 and both.duration == pytest.approx(4.0) and both.names == tuple(NAMES)
    np.testing.assert_allclose(both.q[40], Q[-1])
    with pytest.raises(InputError, match=r"away from this trajectory's end in '[abc]'"):
        first.then(first)
    slow = first.slowed(2.0)
    np.testing.assert_allclose(slow.at(2.0, 1), 0.5 * first.at(1.0, 1), atol=1e-12)
    np.testing.assert_array_equal(first.ordered(["b", "c", "a"]).q, Q[:, [1, 2, 0]])
    with pytest.raises(InputError, match=r"lacks 'd' and has 'c' \(column 3\)"):
        first.ordered(["a", "b", "d"])


def test_values_are_frozen_and_pickle() -> None:
    path = Trajectory(T, Q, DQ, names=NAMES)
    with pytest.raises(ValueError):
        path.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        path.q = Q  # type: ignore[misc]
    twin = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(twin.ddq, path.ddq)
    assert "41 samples, 3 joints" in repr(twin)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0.0, 1.0, 0.5], np.zeros((3, 1))), r"t\[2\] = 0.5 s comes before the time in front of it, 1 s"),
        (([0.0, 1.0, 1.0], np.zeros((3, 1))), r"t\[2\] = 1 s repeats"),
        (([0.0, 1e-7], np.zeros((2, 1))), r"t\[1\] = 1e-07 s is only 1e-07 s after"),
        (([0.0], np.zeros((1, 1))), "at least 2 samples"),
        (([0.0, 1.0], [[0.0], [np.nan]]), r"q must be finite, got nan at index \[1, 0\]"),
        (([0.0, 1.0], np.zeros((3, 1))), r"q must have shape|t must|shape"),
        (([0.0, 1.0], np.zeros((2, 0))), "column for every joint"),
        (([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 2))), "more than the 1 of q"),
        (([0.0, 1.0], np.zeros((2, 2)), None, None, ["a"]), "2 columns of q, got 1"),
        (([0.0, 1.0], np.zeros((2, 2)), None, None, ["a", "a"]), "'a' twice"),
    ],
)
def test_bad_arguments_are_named(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Trajectory(*arguments)


def test_more_bad_arguments() -> None:
    with pytest.raises(InputError, match="no interpolation named 'cubi'; did you mean 'cubic'"):
        Trajectory(T, Q, interpolation="cubi")
    with pytest.raises(UnsupportedError, match='use "linear"'):
        Trajectory(T, np.zeros((41, 7)), np.zeros((41, 6)), interpolation="cubic")
    assert Trajectory(T, np.zeros((41, 7)), np.zeros((41, 6))).interpolation == "linear"
    with pytest.raises(InputError, match=r"within 0 to 2 s, got 2\.5 at index 1"):
        Trajectory(T, Q).at([1.0, 2.5])
    with pytest.raises(InputError, match="order"):
        Trajectory(T, Q).at(1.0, 4)
    with pytest.raises(InputTypeError, match="names"):
        Trajectory(T, Q, names="abc")


# Files


@pytest.mark.parametrize("suffix", ["csv", "npz", "json"])
@pytest.mark.parametrize("given", [1, 2, 3])
def test_files_keep_every_digit(suffix: str, given: int, tmp_path: Path) -> None:
    path = Trajectory(T, *(Q, DQ, DDQ)[:given], names=NAMES)
    twin = Trajectory.load(path.save(tmp_path / f"path.{suffix}"))
    assert twin.names == path.names and twin.given == path.given and twin.interpolation == path.interpolation
    for key in ("t", "q", "dq", "ddq"):
        np.testing.assert_array_equal(getattr(twin, key), getattr(path, key))


def test_recordings_of_closed_loops_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("time,q.a,dq.a,tau.a,tool.x\n0,1,2,3,4\n0.1,1.2,2,3,4\n")
    path = Trajectory.load(tmp_path / "run.csv")
    assert path.names == ("a",) and path.given == ("q", "dq")


def test_separators_comments_and_degrees(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text("\ufeff# of a robot\ntime;a\n\n0;90\n1;180\n", encoding="utf-8")
    path = Trajectory.load(tmp_path / "path.csv", degrees=True, interpolation="linear")
    np.testing.assert_allclose(path.q[:, 0], [np.pi / 2, np.pi])


BAD = {
    "time,a,b\n0,1,2\n0.1,nan,3\n": "line 3, column 'a' must be a finite number, got 'nan'",
    "time,a,b\n0,1,2\n\n0.1,x,3\n": "line 4, column 'a' must be a finite number, got 'x'",
    "time,a,b\n0,1,2\n0.1,,3\n": "line 3, column 'a' is empty",
    "time,a,b\n0,1,2\n0.1,3\n": "line 3 has 2 cells; the header names 3 columns",
    "time,a\n0,1\n0.2,1\n0.1,1\n": "line 4, column 'time' = 0.1 s comes before",
    "time,a\n0,1\n0,1\n": "line 3, column 'time' = 0 s repeats",
    "time,a\n0,1\n1e-7,1\n": "line 3, column 'time' = 1e-07 s is only",
    "0,1\n1,2\n": "line 1: the first line must be a header",
    "t,a\n0,1\n1,2\n": "there is no column 'time'",
    "time,a,a\n0,1,1\n": "column 3 'a' stands twice",
    "time,a,q.a\n0,1,1\n1,1,1\n": "column 3 'q.a' stands twice",
    "time,a,\n0,1,1\n": "column 3 has no name",
    "time\n0\n1\n": "no column of positions",
    "time,a\n0,1\n": "1 rows of numbers; a trajectory needs 2",
    "time,a,b,dq.a\n0,1,1,1\n1,1,1,1\n": "",
    "time,a,dq.b\n0,1,1\n1,1,1\n": "column 'dq.b' belongs to no column of positions",
    "": "is empty",
    "# nothing\n": "holds no header",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_csv_is_named_by_line_and_column(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        Trajectory.load(file)
    assert BAD[text] in str(caught.value) and "bad.csv" in str(caught.value)


def test_other_bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            Trajectory.load(tmp_path / name)

    refuse("a.txt", b"x", "must end in .csv, .npz or .json")
    refuse("a.csv", b"\xff\xfe\x00", "no text in UTF-8")
    refuse("a.npz", b"PK nothing", "no npz file of a trajectory")
    refuse("a.json", b"{", "no JSON")
    refuse("a.json", b"[1]", "must hold an object")
    refuse("b.json", b'{"time": [0, 1]}', "has no 'q'")
    refuse("b.json", b'{"time": [0, 1], "q": [[1], [1, 2]]}', r"q\[1\] must be a row of 1 numbers")
    refuse("b.json", b'{"time": [0, 1], "q": [[1], [1]], "qq": 1}', "has the key 'qq'")
    refuse("b.json", b'{"time": [0, 0], "q": [[1], [1]]}', r"b.json'.*t\[1\] = 0 s repeats")
    refuse("b.json", b'{"time": 3, "q": [[1], [1]]}', "'time' must be an array")
    with pytest.raises(InputError, match="there is no file"):
        Trajectory.load(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is no file"):
        (tmp_path / "folder.csv").mkdir()
        Trajectory.load(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="names its columns"):
        Trajectory(T, Q).save(tmp_path / "nameless.csv")
    with pytest.raises(InputError, match="must end in"):
        Trajectory(T, Q).save(tmp_path / "path.txt")


def test_huge_files_are_refused_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Trajectory(T, Q, names=NAMES)
    csv, npz = path.save(tmp_path / "path.csv"), path.save(tmp_path / "path.npz")
    monkeypatch.setattr(table_files, "MOST_NUMBERS", 100)
    with pytest.raises(InputError, match="more than 100 numbers; cut it or thin it out"):
        Trajectory.load(csv)
    monkeypatch.setattr("knuckle.robot.trajectory_files.MOST_NUMBERS", 100)
    with pytest.raises(InputError, match=r"unpacks to .* 800 at most"):
        Trajectory.load(npz)
    monkeypatch.setattr(table_files, "MOST_BYTES", 50)
    with pytest.raises(InputError, match="50 at most"):
        Trajectory.load(csv)


def test_json_is_what_it_says(tmp_path: Path) -> None:
    document = json.loads(Trajectory(T, Q, names=NAMES).save(tmp_path / "path.json").read_text())
    assert set(document) == {"names", "interpolation", "time", "q"} and document["names"] == NAMES
