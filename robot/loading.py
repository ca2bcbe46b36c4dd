"""Reading robot descriptions from disk; nothing else in the package does.

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
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from .arrays import vector
from .collada import require_sound_collada
from .couplings import Coupling
from .diagnosis import diagnose
from .dynamics import massless_joints
from .errors import DescriptionError, InputTypeError, unknown_name
from .findings import ERROR, NOTE, WARNING, Finding, numbers, title_of
from .joint_diagnosis import ONE_DOF
from .link_diagnosis import usable
from .mesh_search import find_mesh, folders
from .xml_tree import XmlTree

_log = logging.getLogger(__name__)

LARGEST_FILE = 32 * 2**20
"""Bytes of a description that are still read; the largest known ones have half a megabyte."""
ROOT_JOINTS = {"fixed": None, "floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """A description as Pinocchio's objects."""

    model: pin.Model
    collision: pin.GeometryModel
    visual: pin.GeometryModel
    couplings: tuple[Coupling, ...]
    findings: tuple[Finding, ...]


def load_urdf(path: Any, package_dirs: Any, *, strict: bool, gravity: Any, root_joint: str, mimic: bool) -> Loaded:
    """Read a URDF file; arguments as in `PinRobot.from_urdf`.

    Raises:
        DescriptionError: with all findings, if the file makes no robot, or in strict mode leaves something to guess.
        InputError: on an impossible argument.
    """
    if not isinstance(root_joint, str) or root_joint not in ROOT_JOINTS:
        raise unknown_name("root joint", root_joint, ROOT_JOINTS)
    pull = vector(gravity, 3, "gravity")
    where = folders(package_dirs)
    file, data = _read(path)
    tree = XmlTree(data, str(file))
    findings = diagnose(tree)
    _refuse(file, findings, (ERROR, WARNING) if strict else (ERROR,))
    findings += _second_roots(tree, root_joint)
    beside = file.resolve().parent
    text, lost = _prepared(tree, beside, where)
    findings += lost
    _refuse(file, findings, (ERROR, WARNING) if strict else (ERROR,))
    taken = {joint.get("name") for joint in tree.root.findall("joint")}
    root_name = next(
        n for n in ("root_joint", *(f"root_joint_{k}" for k in range(2, len(taken) + 3))) if n not in taken
    )
    model, collision, visual = _build(file, text, root_joint, root_name)
    model.gravity = pin.Motion(pull, np.zeros(3))
    _unlimit(tree.root, model)
    couplings = _couplings(tree.root) if mimic else ()
    findings += _massless(tree, model, couplings)
    if findings:
        _log.warning("%s", _listed(file, findings, "loaded with assumptions"))
    return Loaded(model, collision, visual, couplings, tuple(findings))


def _read(path: Any) -> tuple[Path, bytes]:
    if not isinstance(path, str | PathLike) or isinstance(fspath(path), bytes):
        raise InputTypeError(f"path must be the path of a URDF file, got {type(path).__name__}")
    file = Path(path)
    try:
        if file.is_dir():
            raise DescriptionError(f"{str(file)!r} is a folder; name the URDF file in it")
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise DescriptionError(f"there is no file {str(file)!r}") from None
    except (OSError, ValueError) as error:
        raise DescriptionError(f"{str(file)!r} cannot be read: {error}") from None
    if len(data) > LARGEST_FILE:
        raise DescriptionError(f"{str(file)!r} is larger than {LARGEST_FILE // 2**20} MB; this is no robot description")
    if not data.strip():
        raise DescriptionError(f"{str(file)!r} is empty")
    return file, data


def _massless(tree: XmlTree, model: pin.Model, couplings: tuple[Coupling, ...]) -> list[Finding]:
    """Joints that move no mass of their own or of a leader: forward dynamics will refuse."""
    massless = set(massless_joints(model)) - {coupling.follower for coupling in couplings}
    return [
        Finding(NOTE, tree.line(joint), title_of(joint), "moves nothing that has mass; forward dynamics will refuse")
        for joint in tree.root.findall("joint")
        if joint.get("name") in massless
    ]


def _second_roots(tree: XmlTree, root_joint: str) -> list[Finding]:
    if root_joint == "fixed":
        return []
    return [
        Finding(
            WARNING,
            tree.line(joint),
            f"joint {joint.get('name')!r}",
            f"is {joint.get('type')} already, and root_joint={root_joint!r} adds a second base; leave it out",
        )
        for joint in tree.root.findall("joint")
        if joint.get("type") in ("floating", "planar")
    ]


def _refuse(file: Path, findings: list[Finding], severities: tuple[str, ...]) -> None:
    fatal = [finding for finding in findings if finding.severity in severities]
    if fatal:
        raise DescriptionError(_listed(file, fatal, "does not describe a robot" if ERROR in severities else ""))


def _listed(file: Path, findings: list[Finding], verdict: str) -> str:
    lines = [str(finding) for finding in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        lines.append(f"... and {len(findings) - _SHOWN} more")
    return f"{file}: {verdict}:\n  " + "\n  ".join(lines)


def _prepared(tree: XmlTree, beside: Path, package_dirs: tuple[Path, ...]) -> tuple[str, list[Finding]]:
    """The description as Pinocchio reads it rightly, and what had to be left out of it."""
    root, lost = ET.Element("robot", {"name": tree.root.get("name") or "robot"}), []
    materials = {m.get("name"): m for m in tree.root.iter("material") if m.find("color") is not None}
    for link in tree.root.findall("link"):
        copy = ET.SubElement(root, "link", link.attrib)
        inertial = link.find("inertial")
        if inertial is not None:
            copy.append(inertial)
        for element in (e for kind in ("visual", "collision") for e in link.findall(kind)):
            finding = _place_mesh(tree, link, element, beside, package_dirs)
            if finding is not None:
                lost.append(finding)
            elif usable(element):
                copy.append(_coloured(element, materials))
    for joint in tree.root.findall("joint"):
        root.append(_complete(joint))
    return ET.tostring(root, encoding="unicode"), lost


def _place_mesh(
    tree: XmlTree, link: ET.Element, element: ET.Element, beside: Path, package_dirs: tuple[Path, ...]
) -> Finding | None:
    """Put the file's own path in place of a mesh URI; a finding if there is no file, or none that can be read."""
    mesh = element.find("geometry/mesh")
    uri = None if mesh is None else mesh.get("filename")
    if mesh is None or not uri:
        return None
    title = f"link {link.get('name')!r}"
    file = find_mesh(uri, beside, package_dirs)
    if file is None:
        searched = ", ".join(map(str, (*package_dirs, beside)))
        message = f"{element.tag} mesh {uri!r} was not found and is left out; searched {searched} and the folders above"
        return Finding(WARNING, tree.line(mesh), title, message)
    try:
        if file.suffix.lower() == ".dae":
            require_sound_collada(file)
        coal.MeshLoader().load(str(file), np.ones(3))
    except (RuntimeError, ValueError) as error:
        message = f"{element.tag} mesh {uri!r} cannot be read and is left out: {str(error).splitlines()[0]}"
        return Finding(WARNING, tree.line(mesh), title, message)
    mesh.set("filename", str(file))
    return None


def _coloured(element: ET.Element, materials: dict[str | None, ET.Element]) -> ET.Element:
    """The element with its material's colour inside it."""
    material = element.find("material")
    if material is not None and material.find("color") is None:
        element.remove(material)
        known = materials.get(material.get("name"))
        if known is not None:
            element.append(known)
    return element


def _complete(joint: ET.Element) -> ET.Element:
    """The joint with every limit Pinocchio's reader insists on, 0 for none, and without what is not its matter."""
    copy = ET.Element("joint", joint.attrib)
    for tag in ("origin", "parent", "child", "axis", "dynamics"):
        element = joint.find(tag)
        if element is not None and not (tag == "axis" and joint.get("type") in ("fixed", "floating")):
            copy.append(element)
    if joint.get("type") in ONE_DOF:
        limit = joint.find("limit")
        given = {} if limit is None else limit.attrib
        finite = {k: v for k in ("lower", "upper", "effort", "velocity") if numbers(v := given.get(k, ""), 1)}
        ET.SubElement(copy, "limit", {"lower": "0", "upper": "0", "effort": "0", "velocity": "0"} | finite)
    return copy


def _build(
    file: Path, text: str, root_joint: str, root_name: str
) -> tuple[pin.Model, pin.GeometryModel, pin.GeometryModel]:
    kind = ROOT_JOINTS[root_joint]
    try:
        model = pin.buildModelFromXML(text) if kind is None else pin.buildModelFromXML(text, kind(), root_name)
        geometries = [
            pin.buildGeomFromUrdfString(model, text, which, package_dirs=[])
            for which in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL)
        ]
    except (RuntimeError, ValueError) as error:
        raise DescriptionError(f"{file}: Pinocchio refuses it: {str(error).strip().splitlines()[0]}") from None
    return model, *geometries


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
        if mimic is not None:
            factor, offset = float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))
            found.append(Coupling(str(joint.get("name")), str(mimic.get("joint")), factor, offset))
    return tuple(found)
