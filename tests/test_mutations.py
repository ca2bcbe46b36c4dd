"""Descriptions made worse at random: never a crash, a hang, a foreign exception or a word on standard error.

A few hundred here; `python -m benchmarks.fuzz_descriptions --minutes 10` goes on as long as one likes.
"""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .mutations import draw, load, mutated, sources

WHOLE = [name for name in sources() if name in ("planar_2r.urdf", "gripper.urdf", "whole.xml", "whole.urdf.xacro")]


@pytest.fixture
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_what_mutations_start_from_loads(tmp_path: Path, quiet: None) -> None:
    from_file = sources()
    assert len(WHOLE) == 4 and len(from_file) > 80
    for name in WHOLE:
        assert load(tmp_path, name, from_file[name]) is not None


def test_drawn_mutations_load_or_are_refused(tmp_path: Path, quiet: None, capfd) -> None:
    from_file = sources()
    loaded = [load(tmp_path, *draw(from_file, random.Random(k))) is not None for k in range(300)]
    assert 20 < sum(loaded) < 280  # neither all nor none: the mutations bite
    assert capfd.readouterr() == ("", "")


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(WHOLE), seed=st.integers(0, 2**32), count=st.integers(1, 8))
def test_any_mutation_loads_or_is_refused(name: str, seed: int, count: int, tmp_path: Path, quiet: None) -> None:
    load(tmp_path, name, mutated(sources()[name], random.Random(seed), count))


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), name=st.sampled_from(["x.urdf", "x.xml", "x.urdf.xacro"]))
def test_any_bytes_are_refused(data: bytes, name: str, tmp_path: Path, quiet: None) -> None:
    assert load(tmp_path, name, data) is None


@pytest.mark.parametrize("mesh", ["cube.stl", "cube.obj", "cube.dae"])
def test_damaged_meshes_are_left_out_or_read(mesh: str, tmp_path: Path, quiet: None, capfd) -> None:
    whole = (Path(__file__).resolve().parents[1] / "urdf_samples" / "meshes" / mesh).read_bytes()
    for use in ("visual", "collision"):
        shape = f'<{use}><geometry><mesh filename="{mesh}"/></geometry></{use}>'
        text = f'<robot name="r"><link name="a">{shape}</link></robot>'
        for seed in range(25):
            (tmp_path / mesh).write_bytes(mutated(whole, random.Random(seed), 3))
            load(tmp_path, "robot.urdf", text.encode())
    assert capfd.readouterr() == ("", "")
