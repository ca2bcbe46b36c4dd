"""What docs/controllers.md counts; its examples run with those of all pages."""

from __future__ import annotations

import re

from .samples import ROOT

TEXT = (ROOT / "docs" / "controllers.md").read_text(encoding="utf-8")


def test_counts_of_the_parity_table_add_up() -> None:
    rows = re.findall(
        r"^\| (?:joint impedance|operational space|inverse dynamics) \|.*?\| (\d+) \|", TEXT, re.MULTILINE
    )
    assert sum(map(int, rows)) == 193 - 1


def test_there_is_an_example_of_each_controller() -> None:
    examples = "".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    for kind in ("JointImpedance", "OperationalSpace", "JointImpedanceModelFree", "OperationalSpaceModelFree"):
        assert f"Controller{kind}(" in examples
