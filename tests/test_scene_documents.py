"""Tasks as documents: written, read and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import (
    CartesianSphere,
    CollisionFree,
    InputError,
    InputTypeError,
    Obstacle,
    SelfCollisionFree,
    Task,
    Transformation,
    UnsupportedError,
)

from .scene_cases import (
    BAD_DOCUMENTS,
    JSON,
    full_task,
)
from .test_shapes import CUBE, CUBE_TRIANGLES


def test_a_mesh_is_a_file_or_arrays() -> None:
    with pytest.raises(InputError, match="scale goes with a mesh file"):
        Obstacle.mesh(CUBE, CUBE_TRIANGLES, scale=2.0)
    with pytest.raises(InputTypeError, match="path must be"):
        Obstacle.mesh(CUBE)


def test_documents_written_by_hand() -> None:
    text = """{"format": "knuckle-task/1", "obstacles": [
        {"shape": "box", "size": [1, 1, 0.1], "id": "table", "placement": {"xyz": [0.5, 0, 0.2], "rpy": [0, 0, 1]}},
        {"shape": "sphere", "radius": 1}]}"""
    task = Task.from_json(text)
    assert task.obstacle("table").placement.isclose(Transformation.from_rpy([0, 0, 1], [0.5, 0, 0.2]))
    assert task.obstacles[1].placement == Transformation.identity() and task.gravity is None


@pytest.mark.parametrize(("text", "message"), BAD_DOCUMENTS, ids=[message for _, message in BAD_DOCUMENTS])
def test_documents_that_are_no_tasks_name_the_place(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task.from_json(text)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_document_damaged_anywhere_is_refused_or_read_never_a_crash(data: st.DataObject) -> None:
    document = full_task().to_dict()
    place: Any = document
    for _ in range(data.draw(st.integers(0, 5))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        inner = [key for key in keys if isinstance(place[key], dict | list) and place[key]]
        if not inner:
            break
        place = place[data.draw(st.sampled_from(inner))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    place[data.draw(st.sampled_from(keys))] = data.draw(JSON)
    try:
        Task.from_dict(document)
    except InputError as error:
        assert str(error)


def test_deeply_nested_tolerances_are_refused() -> None:
    tolerance: dict[str, Any] = CartesianSphere(0.1).to_dict()
    for _ in range(3000):
        tolerance = {"kind": "composed", "parts": [tolerance]}
    goal = {"nominal": np.eye(4).tolist(), "tolerance": tolerance}
    with pytest.raises(InputError, match=r"goals\['a'\]: .*too deep"):
        Task.from_dict({"format": "knuckle-task/1", "goals": {"a": goal}})


def test_functions_cannot_be_written() -> None:
    def upright(robot: Any, q: Any) -> bool:
        return True

    task = Task(constraints=[SelfCollisionFree(), upright])
    with pytest.raises(UnsupportedError, match=r"constraints\[1\]: the custom constraint 'upright' is a function"):
        task.to_json()
    with pytest.raises(UnsupportedError, match="tied to a task"):
        Task(constraints=CollisionFree(task=Task())).to_json()


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        Task.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        Task.load(tmp_path)
    with pytest.raises(InputTypeError, match="path must be"):
        Task.load(3)  # type: ignore[arg-type]
    (tmp_path / "bad.json").write_text('{"format": 1}')
    with pytest.raises(InputError, match=r"bad\.json.*format must be"):
        Task.load(tmp_path / "bad.json")
    for path in (tmp_path / "no" / "folder.json", tmp_path, "", "a\0b"):
        with pytest.raises(InputError, match="path"):
            Task().save(path)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]
