"""The list of mistakes that tests have to notice stays in step with the sources."""

from __future__ import annotations

from collections import Counter

from .mutants import ROOT, read_list


def test_every_mistake_has_one_place_and_tests_that_exist() -> None:
    groups, mutants = read_list()
    for mutant in mutants:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.before) == 1, (mutant.file, mutant.before)
        assert mutant.after != mutant.before
    assert {mutant.tests for mutant in mutants} == set(groups)
    for files in groups.values():
        assert all((ROOT / "tests" / file).is_file() for file in files), files


def test_the_formulas_that_matter_are_all_tried() -> None:
    tried = Counter(mutant.file.split("/")[0] for mutant in read_list()[1])
    assert sum(tried.values()) >= 40
    assert {"controllers", "robot", "ik", "native"} == set(tried)
