"""Everything that can be wrong with a description: one code each, how bad it is, what follows, what helps.

`docs/descriptions.md` prints this table; `urdf_samples/broken/` holds a tiny file for most of the codes.
"""

from __future__ import annotations

from dataclasses import dataclass

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same for all findings of one code; the effect and remedy stand in where a finding has no own."""

    severity: str
    """"error": no robot can be made; "warning": one can, under the assumption named; "note": good to know."""
    effect: str
    remedy: str


_NO_ROBOT = "no robot is made of it"
_UNBOUNDED = "it is taken as unlimited"
_LEFT_OUT = "it is left out"
_AS_IS = "used as it is"
_UNCHECKED = "it is left out, and collision checks are incomplete if it is a collision geometry"


def _errors(**remedies: str) -> dict[str, Kind]:
    return {code.replace("_", "-"): Kind(ERROR, _NO_ROBOT, remedy) for code, remedy in remedies.items()}


_FILE = _errors(
    file_missing="check the path",
    file_folder="name the file in it",
    file_unreadable="check the path and its permissions",
    file_too_large="this is no robot description",
    file_empty="save the description again",
    file_loop="take the <include> out",
    xml_malformed="mend it at this line; xmllint --noout FILE finds more",
    xml_entity="write the text itself",
    xml_too_deep="this is no robot description",
    xml_encoding="save it as UTF-8",
    format_unknown="a URDF starts with <robot>",
    format_other="load it with PinRobot.from_file, which tells formats apart",
    format_unsupported="convert it to URDF",
    xacro_left="name the file *.xacro, so that it is expanded, or run it through xacro first",
    expression_left="run the file through xacro first",
    xacro_failed="mend the macro, or pass the argument in xacro_args",
    pinocchio_refuses="simplify the description until it loads",
)
_STRUCTURE = _errors(
    links_none="add a <link>",
    name_missing="give it one",
    name_taken="rename one",
    name_reserved="rename it",
    element_repeated="keep one",
    joint_end_missing="name the link",
    joint_end_unknown="add the link or mend the name",
    joint_own_child="name another parent",
    link_two_parents="a link has one parent; take one of the two joints out",
    roots_several="join them by a fixed joint",
    joint_loop="a robot must be a tree; take one of the joints out",
    joint_type_unknown="mend the type",
)
_NUMBERS = _errors(
    origin_number="write three numbers",
    axis_number="write three numbers, not all 0",
    axis_length="give it length 1",
    axis_planar="turn the origin so that the axis is z",
    dynamics_number="write one number",
    dynamics_negative="write 0 or more",
    limit_number="write one number",
    limit_negative="write the absolute value",
    limit_crossed="swap them",
    mimic_number="write one number",
    mimic_joint_type="mimic works between joints of one degree of freedom",
    mimic_leader_unknown="mend the name of the leader",
    mimic_leader_type="mimic works between joints of one degree of freedom",
    mimic_self="name another leader, or take the <mimic> out",
    mimic_chain="name the first leader",
    inertial_incomplete="add it, or take the <inertial> out",
    mass_number="write a number, 0 or more [kg]",
    mass_negative="write a number, 0 or more [kg]",
    inertia_number="write a finite number [kg m^2]",
    mesh_scale_number="write three numbers",
    mjcf_number="mend the number",
    mjcf_class="add the default class or mend the name",
    mjcf_free="take the free joint out, or load the bodies one by one",
)
_GUESSES = {
    "limit-missing": Kind(WARNING, _UNBOUNDED, "add a <limit>, or make the joint continuous"),
    "limit-bound-missing": Kind(WARNING, "it is taken as unlimited on that side", "write the bound"),
    "limit-rate-missing": Kind(WARNING, _UNBOUNDED, "write the limit"),
    "limit-rate-zero": Kind(WARNING, _UNBOUNDED, "write the limit, since 0 would mean that it never moves"),
    "angle-degrees": Kind(WARNING, _AS_IS, "URDF's angles are radians; write degrees times pi/180"),
    "inertia-zero": Kind(WARNING, _AS_IS, "compute the inertia; a body of this mass has one"),
    "inertia-negative": Kind(WARNING, "the dynamics make no sense; used as it is", "compute the inertia again"),
    "inertia-triangle": Kind(WARNING, _AS_IS, "compute the inertia again"),
    "colour-number": Kind(WARNING, "it has the default colour", "write red, green, blue and alpha from 0 to 1"),
    "geometry-empty": Kind(WARNING, _UNCHECKED, "give it a shape"),
    "shape-unknown": Kind(WARNING, _UNCHECKED, "use a box, cylinder, sphere, capsule or mesh"),
    "shape-size": Kind(WARNING, _UNCHECKED, "write positive numbers"),
    "mesh-unnamed": Kind(WARNING, _UNCHECKED, "name the file"),
    "mesh-missing": Kind(WARNING, _UNCHECKED, "name its folder in package_dirs"),
    "mesh-unreadable": Kind(WARNING, _UNCHECKED, "export it again as STL, OBJ or DAE"),
    "mesh-flat": Kind(
        WARNING, "it has no convex hull; its triangles are checked, without depth", "give it some thickness"
    ),
    "element-misspelt": Kind(WARNING, "it is ignored", "mend the name"),
    "attribute-misspelt": Kind(WARNING, "it is ignored", "mend the name"),
    "root-second": Kind(WARNING, "root_joint adds a second base", "leave root_joint out"),
    "home-contact": Kind(WARNING, "home counts as a collision", "disable the pair in the SRDF"),
    "srdf-incomplete": Kind(WARNING, _LEFT_OUT, "complete it"),
    "srdf-foreign": Kind(WARNING, "they are ignored", "an SRDF has groups and pairs only"),
    "srdf-unknown-name": Kind(WARNING, "it has no effect", "mend the name"),
    "mjcf-left-out": Kind(WARNING, _LEFT_OUT, "model it outside, if it matters"),
}
_NOTES = {
    "joint-massless": Kind(NOTE, "forward dynamics will refuse", "give a link above it an <inertial>"),
    "joint-locked": Kind(NOTE, "the joint cannot move", "write its limits, or make it fixed"),
    "capsule-version": Kind(NOTE, "other readers drop it in silence", 'write <robot version="1.1">'),
    "home-contact-unchecked": Kind(NOTE, "they are not checked", "pass another home_configuration, or add the pair"),
    "srdf-tcp": Kind(NOTE, "it is the tcp", "tcp= chooses another"),
    "home-moved": Kind(NOTE, "home is the nearest bound", "pass home_configuration"),
}

KINDS: dict[str, Kind] = {**_FILE, **_STRUCTURE, **_NUMBERS, **_GUESSES, **_NOTES}
