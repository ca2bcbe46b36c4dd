"""Files that users name: the old one or the new one, never half; one complaint that names the place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from knuckle import InputError, Trajectory
from knuckle.robot.files import csv_text, path_of, write_file

from .samples import load

ARM = load("sevenr_arm")


def broken(stream: BinaryIO) -> None:
    stream.write(b"half")
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("content", ["new", b"new", lambda stream: stream.write(b"new")])
def test_what_is_written_takes_the_place_and_the_permissions(content: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    file.chmod(0o640)
    assert write_file(file, content) == file
    assert file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_new_file_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("")
    ours = write_file(tmp_path / "a.txt", "x").stat().st_mode
    assert ours == (tmp_path / "beside").stat().st_mode


@pytest.mark.parametrize("failing", [broken, "\ud800"], ids=["full disk", "no text"])
def test_what_fails_half_way_leaves_what_was_there(failing: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(InputError, match=r"path: .*a\.txt' cannot be written"):
        write_file(file, failing)
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_what_is_write_protected_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    file.chmod(0o444)
    monkeypatch.setattr("os.access", lambda path, mode: False)  # what all but the superuser see
    with pytest.raises(InputError, match="cannot be written: it is write-protected"):
        write_file(file, "new")
    assert file.read_text() == "old"


def test_a_link_goes_on_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_file(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "real.txt").read_text() == "new"


def test_what_is_no_file_is_written_to_as_it_is() -> None:
    write_file("/dev/null", "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("path", [3, None, b"a.txt", "", "a\0b", "x" * 5000])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(InputError, match="out must be the path of a file"):
        path_of(path, "out")


def test_links_that_lead_to_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("b.txt")
    (tmp_path / "b.txt").symlink_to("a.txt")
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "a.txt", "x")


WAYS: dict[str, Callable[[Path], object]] = {
    "a.html": ARM.to_html,
    "a.urdf": ARM.save_urdf,
    "a.npz": Trajectory([0.0, 1.0], np.zeros((2, 7))).save,
    "a.csv": lambda path: ARM.write_configurations(path, ARM.home_configuration),
}


@pytest.mark.parametrize("name", WAYS)
def test_all_that_is_written_is_written_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        WAYS[name](tmp_path / "none" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        WAYS[name](tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_numbers_in_tables_keep_their_last_digit() -> None:
    assert csv_text([["a", "b,c"], [0.1 + 0.2, 1e-300]]) == 'a,"b,c"\n0.30000000000000004,1e-300\n'
