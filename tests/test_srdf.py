"""SRDF: what is read, what is found wrong, what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import DescriptionError, InputError, InputTypeError, Srdf, UnknownNameError
from knuckle.robot.srdf_parts import LinkPair, SrdfEndEffector, SrdfGroup, SrdfState

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <group name="arm">
    <joint name="j1"/>
    <joint name="j2"/>
    <chain base_link="base" tip_link="flange"/>
  </group>
  <group name="hand"><joint name="finger"/><link name="palm"/></group>
  <group name="all"><group name="arm"/><group name="hand"/><joint name="j1"/></group>
  <group_state name="home" group="arm">
    <joint name="j1" value="0.5"/>
    <joint name="j2" value="-1e-3"/>
  </group_state>
  <group_state name="home" group="hand"><joint name="finger" value="0.04"/></group_state>
  <group_state name="float" group="arm"><joint name="j1" value="0 0 0 0 0 0 1"/></group_state>
  <end_effector name="gripper" parent_link="flange" group="hand" parent_group="arm"/>
  <virtual_joint name="root" type="fixed" parent_frame="world" child_link="base"/>
  <link_sphere_approximation link="base">
    <sphere center="0 0 0" radius="0.1"/>
  </link_sphere_approximation>
  <disable_default_collisions link="palm"/>
  <enable_collisions link1="palm" link2="base"/>
  <disable_collisions link1="base" link2="l1" reason="Adjacent"/>
  <disable_collisions link1="l2" link2="base" reason="Never"/>
  <disable_collisions link1="base" link2="l2" reason="User"/>
  <disable_collisions link1="l1" link2="l2"/>
</robot>
"""
LINKS, JOINTS = ["base", "l1", "l2", "flange", "palm"], ["j1", "j2", "finger"]


def test_everything_in_a_file_is_read() -> None:
    srdf = Srdf.from_xml(ARM)
    assert srdf.name == "arm" and not srdf.findings
    assert [group.name for group in srdf.groups] == ["arm", "hand", "all"]
    assert srdf.group("arm") == SrdfGroup("arm", ("j1", "j2"), chains=(("base", "flange"),))
    assert srdf.joints_of("all") == ("j1", "j2", "finger") or set(srdf.joints_of("all")) == set(JOINTS)
    assert srdf.state("home") == {"j1": 0.5, "j2": -1e-3, "finger": 0.04}
    assert srdf.state("home", "hand") == {"finger": 0.04}
    assert srdf.state("float") == {"j1": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)}
    assert srdf.tips == ("flange",) and srdf.end_effectors[0].parent_group == "arm"
    assert [pair.key for pair in srdf.disabled_pairs] == [("base", "l1"), ("base", "l2"), ("l1", "l2")]
    assert [pair.reason for pair in srdf.disabled_pairs] == ["Adjacent", "Never", ""]
    assert len(srdf.others) == 2 and srdf.unknown_names(LINKS, JOINTS) == ()


def test_a_state_of_the_whole_robot_names_no_group() -> None:
    srdf = Srdf.from_xml('<robot name="a"><group_state name="home"><joint name="j1" value="1"/></group_state></robot>')
    assert srdf.state("home") == {"j1": 1.0} and Srdf.from_xml(srdf.to_xml()) == srdf
    assert not srdf.findings and not srdf.unknown_names([], ["j1"])


def test_reasons_cover_links_that_are_unchecked_by_default() -> None:
    reasons = Srdf.from_xml(ARM).reasons(LINKS)
    assert reasons[("base", "l2")] == "Never" and reasons[("l1", "palm")] == "Default"
    assert ("base", "palm") not in reasons and ("flange", "palm") in reasons
    assert set(Srdf.from_xml(ARM).reasons(["base", "l1"])) == {("base", "l1")}


def test_what_is_written_reads_to_an_equal_value(tmp_path: Path) -> None:
    srdf = Srdf.from_xml(ARM)
    assert Srdf.from_xml(srdf.to_xml()) == srdf
    srdf.save(tmp_path / "arm.srdf")
    again = Srdf.load(tmp_path / "arm.srdf")
    assert again == srdf and again.to_xml() == srdf.to_xml()
    assert 'radius="0.1"' in srdf.to_xml() and "virtual_joint" in srdf.to_xml()


def test_pairs_are_replaced_and_the_rest_is_kept() -> None:
    srdf = Srdf.from_xml(ARM)
    new = srdf.with_disabled_pairs({("l1", "base"): "Adjacent", ("palm", "l2"): "Never", ("base", "l1"): "Twice"})
    assert [(pair.key, pair.reason) for pair in new.disabled_pairs] == [
        (("base", "l1"), "Adjacent"),
        (("l2", "palm"), "Never"),
    ]
    assert new.groups == srdf.groups and new.states == srdf.states and len(srdf.disabled_pairs) == 3
    assert Srdf.from_xml(new.to_xml()) == new
    assert Srdf("bare").with_disabled_pairs([LinkPair("a", "b", "Never")]).reasons("ab") == {("a", "b"): "Never"}


BAD_PAIRS: list[tuple[Any, str]] = [
    (3, "pairs must map"),
    ("ab", "pairs must map"),
    ([("a", "b")], "pairs must hold LinkPair"),
    ({("a", "a"): "Never"}, "'a' twice"),
    ({("a", "b"): None}, "pairs must map"),
    ({"ab": "Never"}, "pairs must map"),
    ({("a", 3): "Never"}, "pairs must map"),
]


@pytest.mark.parametrize(("pairs", "message"), BAD_PAIRS)
def test_impossible_pairs_are_named_errors(pairs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Srdf("arm").with_disabled_pairs(pairs)


def test_unknown_names_are_found_with_their_lines() -> None:
    found = Srdf.from_xml(ARM).unknown_names(["base", "l1", "link2", "flange", "palm"], ["j1", "j22", "finger"])
    texts = [str(finding) for finding in found]
    assert texts[0].startswith("line 3: group 'arm': there is no joint 'j2'; did you mean 'j22'?")
    assert "line 10: group_state 'home': there is no joint 'j2'" in texts[1]
    assert any(text.startswith("line 24: <disable_collisions>: there is no link 'l2'") for text in texts)
    assert {finding.severity for finding in found} == {"warning"}
    dangling = '<robot name="a"><end_effector name="e" parent_link="l" group="hand"/></robot>'
    assert "there is no group 'hand'" in str(Srdf.from_xml(dangling).unknown_names(["l"], [])[0])


INCOMPLETE: list[tuple[str, str]] = [
    ("<group/>", "<group> has no name"),
    ('<group name="g"><joint/></group>', "<joint> has no name"),
    ('<group name="g"><chain base_link="a"/></group>', "<chain> has no tip_link"),
    ('<group_state group="arm"/>', "<group_state> has no name"),
    ('<group_state name="s" group="g"><joint name="j" value="nan"/></group_state>', "must be finite numbers"),
    ('<group_state name="s" group="g"><joint name="j" value=" "/></group_state>', "must be finite numbers"),
    ('<end_effector name="e" group="g"/>', "<end_effector> has no parent_link"),
    ('<disable_collisions link1="a"/>', "<disable_collisions> has no link2"),
    ('<disable_collisions link1="a" link2="a"/>', "names link 'a' twice"),
    ("<disable_default_collisions/>", "has no link"),
    ('<link name="base"/>', "like a URDF"),
]


@pytest.mark.parametrize(("element", "message"), INCOMPLETE, ids=[message for _, message in INCOMPLETE])
def test_what_cannot_be_understood_is_left_out_and_found(element: str, message: str) -> None:
    srdf = Srdf.from_xml(f'<robot name="a">\n{element}\n<disable_collisions link1="x" link2="y"/></robot>')
    assert [finding.line for finding in srdf.findings][:1] in ([1], [2])
    assert message in str(srdf.findings[0])
    assert srdf.disabled_pairs == (LinkPair("x", "y"),)


HOSTILE: list[tuple[Any, str]] = [
    ("", "not well-formed"),
    ("<robot>", "not well-formed"),
    ("<sdf/>", "starts with <robot>, not <sdf>"),
    ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>', "entity declarations are refused"),
    ("<robot>" + "<group name='g'>" * 2000 + "</group>" * 2000 + "</robot>", "deep"),
    (b"\xff\xfe<", "SRDF"),
    ("\ud800", "not well-formed"),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_documents_are_refused(text: Any, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        Srdf.from_xml(text)


def test_no_other_file_is_ever_read() -> None:
    srdf = Srdf.from_xml('<!DOCTYPE r SYSTEM "file:///etc/hostname"><robot name="a">&x;</robot>')
    assert srdf == Srdf("a")


def test_what_is_no_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="text must be XML"):
        Srdf.from_xml(3)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="path must be"):
        Srdf.load(3)  # type: ignore[arg-type]
    with pytest.raises(DescriptionError, match="there is no file"):
        Srdf.load(tmp_path / "none.srdf")
    with pytest.raises(DescriptionError, match="is a folder"):
        Srdf.load(tmp_path)


def test_unknown_groups_and_states_are_named_errors() -> None:
    srdf = Srdf.from_xml(ARM)
    with pytest.raises(UnknownNameError, match="did you mean 'arm'"):
        srdf.group("amr")
    with pytest.raises(UnknownNameError, match="did you mean 'home'"):
        srdf.state("hone")
    with pytest.raises(UnknownNameError, match="no state named 'float'"):
        srdf.state("float", "hand")


def test_groups_that_hold_one_another_end() -> None:
    ring = Srdf("a", groups=(SrdfGroup("x", ("j1",), groups=("y",)), SrdfGroup("y", ("j2",), groups=("x",))))
    assert ring.joints_of("x") == ("j1", "j2")


def test_names_that_xml_cannot_hold_are_refused() -> None:
    with pytest.raises(InputError, match="name of <robot> must be text that XML can hold"):
        Srdf("a\0b").to_xml()
    with pytest.raises(InputError, match="link1 of <disable_collisions>"):
        Srdf("a", disabled_pairs=(LinkPair("\x01", "b"),)).to_xml()


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=8)
MANY = st.lists(NAMES, max_size=3).map(tuple)
NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4).map(tuple)
GROUPS = st.builds(SrdfGroup, NAMES, MANY, MANY, st.lists(st.tuples(NAMES, NAMES), max_size=2).map(tuple), MANY)
STATES = st.builds(SrdfState, NAMES, NAMES, st.lists(st.tuples(NAMES, NUMBERS), max_size=3).map(tuple))
TOOLS = st.builds(SrdfEndEffector, NAMES, NAMES, NAMES, st.none() | NAMES)
PAIRS = st.lists(
    st.builds(LinkPair, NAMES, NAMES, NAMES | st.just("")).filter(lambda pair: pair.link1 != pair.link2),
    max_size=4,
    unique_by=lambda pair: pair.key,
).map(tuple)


@settings(deadline=None)
@given(
    st.builds(
        Srdf,
        NAMES,
        st.lists(GROUPS, max_size=3).map(tuple),
        st.lists(STATES, max_size=3).map(tuple),
        st.lists(TOOLS, max_size=2).map(tuple),
        PAIRS,
        PAIRS,
        MANY,
    )
)
def test_any_srdf_survives_its_file(srdf: Srdf) -> None:
    again = Srdf.from_xml(srdf.to_xml())
    assert again == srdf and not again.findings


@settings(deadline=None)
@given(st.integers(0, len(ARM) - 1), st.integers(1, 40), st.text(max_size=5))
def test_a_damaged_file_is_read_or_refused_never_a_crash(at: int, length: int, noise: str) -> None:
    try:
        srdf = Srdf.from_xml(ARM[:at] + noise + ARM[at + length :])
    except DescriptionError:
        return
    assert Srdf.from_xml(srdf.to_xml()) == srdf
    srdf.unknown_names(LINKS, JOINTS)
