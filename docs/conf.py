"""How Sphinx builds these pages: `make docs`."""

from __future__ import annotations

from typing import Any

import knuckle

project = "knuckle"
copyright = "the authors of knuckle"
release = version = knuckle.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files beside docs/, which tests/test_readme.py checks
html_theme = "furo"
html_title = "knuckle"
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["viser", "anywidget", "ipywidgets", "traitlets"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True


def _bars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Bars in docstrings mean absolute values and stars name files; Sphinx would take both for markup."""
    lines[:] = [line.replace("|", r"\|").replace(" *.", r" \*.") if "`" not in line else line for line in lines]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _bars)
