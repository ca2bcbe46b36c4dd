"""Reading MJCF descriptions, as far as Pinocchio does: bodies, joints, inertias, geometries, defaults, includes."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .arrays import vector
from .collada_triangles import repair
from .description_source import read_source
from .dynamics import massless_joints
from .element_checks import blame
from .loading import Loaded, log_findings, pinocchio_refuses, refuse
from .mjcf_preparing import MjcfPreparing
from .rearranging import require_order
from .xml_tree import XmlTree


def load_mjcf(path: Any, *, strict: bool, gravity: Any) -> Loaded:
    """Read an MJCF file; arguments as in `PinRobot.from_mjcf`.

    Raises:
        DescriptionError: with all findings, if the file makes no robot, or in strict mode is not read in full.
        InputError: on an impossible argument.
    """
    pull = None if gravity is None else vector(gravity, 3, "gravity")
    source = read_source(path)
    tree = XmlTree(source.data, source.name)
    if tree.root.tag != "mujoco":
        code = "format-other" if tree.root.tag in ("robot", "sdf") else "format-unknown"
        refuse(source.name, [blame(tree, code, tree.root, "this is not an MJCF, which starts with <mujoco>")], strict)
    preparing = MjcfPreparing(tree, source.folder)
    root = preparing.run()
    findings = sorted(preparing.found, key=lambda one: one.line)
    refuse(source.name, findings, strict)
    order = tuple(str(j.get("name")) for j in root.iter() if j.tag in ("joint", "freejoint") and j.get("name"))
    try:
        model, collision, visual = _build(ET.tostring(root, encoding="unicode"))
    except (RuntimeError, ValueError, IndexError, KeyError) as error:
        raise pinocchio_refuses(source.name, error) from None
    model.name = root.get("model") or "robot"
    option = root.find("option")
    said = None if option is None else option.get("gravity")
    if pull is None and said is not None:
        pull = np.array([float(word) for word in said.split()])
    model.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]) if pull is None else pull, np.zeros(3))
    require_order(model)
    massless = set(massless_joints(model))
    findings += [
        blame(tree, "joint-massless", joint, "moves nothing that has mass", remedy="give its body an <inertial>")
        for joint in tree.root.iter("joint")
        if joint.get("name") in massless
    ]
    log_findings(source.name, findings)
    known = set(map(str, model.names))
    moving = tuple(name for name in order if name in known)
    return Loaded(model, collision, visual, (), tuple(findings), moving, source.name)


def _build(text: str) -> tuple[pin.Model, pin.GeometryModel, pin.GeometryModel]:
    """Pinocchio's objects; it reads MJCF from files only."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.xml"
        file.write_text(text, encoding="utf-8")
        model = pin.buildModelFromMJCF(str(file))
        kinds = (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL)
        collision, visual = (pin.buildGeomFromMJCF(model, str(file), kind) for kind in kinds)
    repair(collision)
    repair(visual)
    return model, collision, visual
