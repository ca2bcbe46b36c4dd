"""What docs/descriptions.md lists is what the code knows."""

from __future__ import annotations

import re

from knuckle.robot.finding_codes import KINDS

from .samples import ROOT

TEXT = (ROOT / "docs" / "descriptions.md").read_text(encoding="utf-8")


def test_the_table_of_codes_is_the_code_s() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (error|warning|note) \| (.*?) \| (.*) \|$", TEXT, re.MULTILINE)
    listed = {code: (severity, effect, remedy.replace("`", "")) for code, severity, effect, remedy in rows}
    assert listed == {code: (kind.severity, kind.effect, kind.remedy) for code, kind in KINDS.items()}


def test_the_table_of_robots_has_all_of_them() -> None:
    rows = re.findall(r"^\| \S+\.urdf \| (loaded|refused)", TEXT, re.MULTILINE)
    assert (len(rows), rows.count("refused")) == (69, 2)
