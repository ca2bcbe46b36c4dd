"""Reading URDF descriptions.

A URDF is read and judged here before Pinocchio sees it, because Pinocchio drops or misreads some faults in silence and
refuses others without naming anything. What is guessed at, for lack of better:

* no lower or upper limit: unlimited on that side (Pinocchio takes 0);
* effort or velocity limit missing or 0: unlimited (exporters write 0);
* a geometry that cannot be made, or whose mesh cannot be found: left out.

Each guess is a warning, logged in one summary; with `strict=True` it is an error like the others.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import vector
from .collada_triangles import repair
from .couplings import Coupling
from .description_source import Source, read_source
from .diagnosis import diagnose
from .dynamics import massless_joints
from .element_checks import blame
from .errors import DescriptionError, unknown_name
from .findings import ERROR, WARNING, Finding, listed, refusal
from .mesh_search import PackageSearch, folders
from .urdf_preparing import prepared
from .xacro_reading import expanded, is_xacro
from .xml_tree import XmlTree

_log = logging.getLogger(__name__)

ROOT_JOINTS = {"fixed": None, "floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A description as Pinocchio's objects.

    Attributes:
        model: Pinocchio's model.
        collision: Its collision geometry.
        visual: Its visual geometry.
        couplings: Joints that mimic others.
        findings: What was guessed at.
        file_order: Joints that move, in the order of the description.
        source: What the description is called in messages.
    """

    model: pin.Model
    collision: pin.GeometryModel
    visual: pin.GeometryModel
    couplings: tuple[Coupling, ...]
    findings: tuple[Finding, ...]
    file_order: tuple[str, ...]
    source: str


def load_urdf(
    path: Any,
    package_dirs: Any,
    *,
    strict: bool,
    gravity: Any,
    root_joint: str,
    mimic: bool,
    xacro_args: Any = None,
) -> Loaded:
    """Read a URDF; arguments as in `PinRobot.from_urdf`.

    Raises:
        DescriptionError: with all findings, if the file makes no robot, or in strict mode leaves something to guess.
        InputError: on an impossible argument.
    """
    if not isinstance(root_joint, str) or root_joint not in ROOT_JOINTS:
        raise unknown_name("root joint", root_joint, ROOT_JOINTS)
    pull = vector(gravity, 3, "gravity")
    given = folders(package_dirs)
    source = read_source(path)
    search = PackageSearch(source.folder, given)
    if is_xacro(path, xacro_args):
        source = expanded(source, search, xacro_args)
    tree = XmlTree(source.data, source.name)
    findings = diagnose(tree) + _second_roots(tree, root_joint)
    if not mimic:  # what is not coupled need not be coupled rightly
        findings = [found for found in findings if not found.code.startswith("mimic-")]
    refuse(source.name, findings, strict)
    text, lost = prepared(tree, search)
    findings += lost
    refuse(source.name, findings, strict)
    model, collision, visual = _build(source, text, root_joint, _free_name(tree.root))
    model.gravity = pin.Motion(pull, np.zeros(3))
    _unlimit(tree.root, model)
    couplings = _couplings(tree.root) if mimic else ()
    findings += _massless(tree, model, couplings)
    log_findings(source.name, findings)
    return Loaded(model, collision, visual, couplings, tuple(findings), _file_order(tree.root, model), source.name)


def refuse(source: str, findings: Sequence[Finding], strict: bool) -> None:
    """Raise what was found if it makes no robot, or in strict mode leaves something to guess."""
    severities = (ERROR, WARNING) if strict else (ERROR,)
    fatal = [found for found in findings if found.severity in severities]
    if fatal:
        bad = any(found.severity == ERROR for found in fatal)
        verdict = "does not describe a robot" if bad else "leaves something to guess, which strict mode refuses"
        raise DescriptionError(listed(source, fatal, verdict), findings)


def log_findings(source: str, findings: Sequence[Finding]) -> None:
    """One summary of what was guessed at, in the log."""
    if findings:
        _log.warning("%s", listed(source, findings, "loaded with assumptions"))


def _massless(tree: XmlTree, model: pin.Model, couplings: tuple[Coupling, ...]) -> list[Finding]:
    """Joints that move no mass of their own or of a leader: forward dynamics will refuse."""
    massless = set(massless_joints(model)) - {coupling.follower for coupling in couplings}
    return [
        blame(tree, "joint-massless", joint, "moves nothing that has mass")
        for joint in tree.root.findall("joint")
        if joint.get("name") in massless
    ]


def _second_roots(tree: XmlTree, root_joint: str) -> list[Finding]:
    if root_joint == "fixed":
        return []
    return [
        blame(tree, "root-second", joint, f"is {joint.get('type')} already", None, f"{root_joint=} adds a second base")
        for joint in tree.root.findall("joint")
        if joint.get("type") in ("floating", "planar")
    ]


def _free_name(root: ET.Element) -> str:
    """A name for the root joint that no joint of the description has."""
    taken = {joint.get("name") for joint in root.findall("joint")}
    names = ("root_joint", *(f"root_joint_{k}" for k in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _build(
    source: Source, text: str, root_joint: str, root_name: str
) -> tuple[pin.Model, pin.GeometryModel, pin.GeometryModel]:
    kind = ROOT_JOINTS[root_joint]
    try:
        model = pin.buildModelFromXML(text) if kind is None else pin.buildModelFromXML(text, kind(), root_name)
        geometries = [
            pin.buildGeomFromUrdfString(model, text, which, package_dirs=[])
            for which in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL)
        ]
        for geometry in geometries:
            repair(geometry)
    except (RuntimeError, ValueError) as error:
        raise pinocchio_refuses(source.name, error) from None
    return model, *geometries


def pinocchio_refuses(source: str, error: Exception) -> DescriptionError:
    """The error for a description that passed all checks here and still fails in Pinocchio."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    reason = lines[lines.index("message:") + 1] if "message:" in lines[:-1] else lines[0]
    return refusal("pinocchio-refuses", source, f"Pinocchio refuses it: {reason}")


def _unlimit(root: ET.Element, model: pin.Model) -> None:
    """Absent position limits as infinite; Pinocchio has them as 0."""
    for joint in root.findall("joint"):
        if joint.get("type") not in ("revolute", "prismatic"):
            continue
        limit = joint.find("limit")
        at = model.idx_qs[model.getJointId(joint.get("name"))]
        if limit is None or limit.get("lower") is None:
            model.lowerPositionLimit[at] = -np.inf
        if limit is None or limit.get("upper") is None:
            model.upperPositionLimit[at] = np.inf


def _couplings(root: ET.Element) -> tuple[Coupling, ...]:
    found = []
    for joint in root.findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            factor, offset = float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))
            found.append(Coupling(str(joint.get("name")), str(mimic.get("joint")), factor, offset))
    return tuple(found)


def _file_order(root: ET.Element, model: pin.Model) -> tuple[str, ...]:
    moving = set(map(str, model.names))
    return tuple(name for joint in root.findall("joint") if (name := joint.get("name")) in moving and name)
