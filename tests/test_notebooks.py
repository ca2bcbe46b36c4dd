"""The notebooks run from top to bottom, hold no outputs, and label what they plot."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell, as a kernel does: the last expression of each is shown."""
    monkeypatch.chdir(FOLDER)
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": path.stem}
    for k, source in enumerate(sources(path)):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {k}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"{path.name}, cell {k}", "eval"), names)
            if hasattr(value, "_repr_html_"):
                assert value._repr_html_().startswith("<iframe srcdoc=")
    plt.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs_and_end_with_asserts(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
    assert all(isinstance(node, ast.Assert) for node in ast.parse(sources(path)[-1]).body)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_plots_have_units(path: Path) -> None:
    for label in re.findall(r"set_[xy]label\((.*)\)", "\n".join(sources(path))):
        assert re.search(r"\[.+\]", label), label


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_in_a_kernel(path: Path) -> None:
    """The same in a real kernel, where the packages for it are installed."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in shown if output["output_type"] == "error"]
