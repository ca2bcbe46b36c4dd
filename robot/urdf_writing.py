"""A robot as a URDF again."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from .errors import InputError, UnsupportedError
from .files import path_of, write_file
from .link_tree import Edge, link_tree
from .transformation import Transformation
from .urdf_shapes import MeshFiles, origin, shape_element, text

if TYPE_CHECKING:
    from .described import Described

STANDSTILL = 1e-12
"""What is written for a limit of 0 [rad/s, m/s, N m or N]."""
_ENDLESS = 1e308
"""Written for no limit: URDF has no word for it, and what is so large is read as none."""


def written_urdf(robot: Described, meshes: MeshFiles | None = None) -> str:
    """The text of a URDF; shapes that have no file of their own go to `meshes`, or are refused."""
    if not robot.placement.isclose(Transformation.identity()):
        robot = copy.deepcopy(robot)
        robot.set_base_placement(Transformation.identity())  # a URDF does not say where the robot stands
    tree = link_tree(robot.model)
    root = ET.Element("robot", {"name": robot.name or "robot", "version": "1.1"})
    elements = {name: ET.SubElement(root, "link", {"name": name}) for name in tree.links}
    for link, inertia in zip(tree.carriers, robot.model.inertias, strict=True):
        if inertia.mass > 0 or np.any(inertia.inertia):
            elements[link].append(_inertial(inertia))
    for tag, geometry in (("visual", robot.visual), ("collision", robot.collision)):
        for thing in geometry.geometryObjects:
            link, placement = tree.place(thing)
            elements[link].append(shape_element(tag, thing, placement, meshes))
    order = {name: k for k, name in enumerate(robot.file_joints)}
    for edge in sorted(tree.edges, key=lambda e: order.get(e.joint, len(order))):
        root.append(_joint(robot, edge))
    ET.indent(root, "  ")
    try:
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"robot {robot.name!r} cannot be written as XML: {error}") from None


def save_urdf(robot: Described, path: Any) -> None:
    """Write a URDF, and beside it the meshes that no file holds."""
    file = path_of(path)
    meshes = MeshFiles(file)
    written = written_urdf(robot, meshes)
    meshes.write()
    write_file(file, written)


def _inertial(inertia: pin.Inertia) -> ET.Element:
    element = ET.Element("inertial")
    element.append(origin(pin.SE3(np.eye(3), inertia.lever)))
    ET.SubElement(element, "mass", {"value": text(inertia.mass)})
    moments = inertia.inertia
    entries = {f"i{'xyz'[i]}{'xyz'[k]}": text(moments[i, k]) for i in range(3) for k in range(i, 3)}
    ET.SubElement(element, "inertia", entries)
    return element


def _joint(robot: Described, edge: Edge) -> ET.Element:
    element = ET.Element("joint", {"name": edge.joint, "type": "fixed"})
    element.append(origin(edge.placement))
    ET.SubElement(element, "parent", {"link": edge.parent})
    ET.SubElement(element, "child", {"link": edge.child})
    if edge.moving is not None:
        _motion(robot, edge.joint, edge.moving, element)
    return element


def _motion(robot: Described, name: str, joint: int, element: ET.Element) -> None:
    """Type, axis, limits, friction and coupling of a joint that moves."""
    model, kind = robot.model, _type(robot.model, joint)
    element.set("type", kind)
    if kind in ("floating", "planar"):
        if kind == "planar":
            ET.SubElement(element, "axis", {"xyz": "0 0 1"})
        return
    ET.SubElement(element, "axis", {"xyz": text(_axis(model, joint))})
    v = model.idx_vs[joint]
    if model.damping[v] or model.friction[v]:
        dynamics = {"damping": text(model.damping[v]), "friction": text(model.friction[v])}
        ET.SubElement(element, "dynamics", dynamics)
    ET.SubElement(element, "limit", _limits(robot, name, joint, kind))
    for c in robot.couplings:
        if c.follower == name:
            numbers = {"multiplier": text(c.multiplier), "offset": text(c.offset)}
            ET.SubElement(element, "mimic", {"joint": c.leader} | numbers)


def _type(model: pin.Model, joint: int) -> str:
    kind, names = model.joints[joint], str(model.joints[joint].shortname())
    if names in ("JointModelFreeFlyer", "JointModelPlanar"):
        return "floating" if names == "JointModelFreeFlyer" else "planar"
    if kind.nv == 1 and any(word in names for word in ("Revolute", "Prismatic", "JointModelR", "JointModelP")):
        if kind.nq == 2:
            return "continuous"
        return "prismatic" if names.startswith(("JointModelP", "JointModelPrismatic")) else "revolute"
    raise UnsupportedError(f"joint {model.names[joint]!r} is a {names}, for which a URDF has no type")


def _axis(model: pin.Model, joint: int) -> Any:
    kind = model.joints[joint]
    data, first = kind.createData(), model.idx_qs[joint]
    kind.calc(data, pin.neutral(model)[first : first + kind.nq] if kind.idx_q < 0 else pin.neutral(model))
    subspace = np.asarray(data.S, dtype=float).reshape(6)
    return subspace[3:] if subspace[3:].any() else subspace[:3]


def _limits(robot: Described, name: str, joint: int, kind: str) -> dict[str, str]:
    model, q, v = robot.model, robot.model.idx_qs[joint], robot.model.idx_vs[joint]
    lower, upper = model.lowerPositionLimit[q], model.upperPositionLimit[q]
    velocity, effort = model.velocityLimit[v] or np.inf, model.effortLimit[v] or np.inf
    slot = robot._coordinates.by_name.get(name)
    if slot is not None:  # else it mimics another, and has only the model's
        lower, upper = robot.limits.position[:, slot.q.start]
        # 0 stands for no limit in a URDF; a joint that must not move at all gets the next best
        velocity = robot.limits.velocity[slot.v.start] or STANDSTILL
        effort = robot.limits.torque[slot.v.start] or STANDSTILL
    written = {"velocity": velocity, "effort": effort}
    if kind != "continuous":
        written = {"lower": lower, "upper": upper} | written
    return {key: text(np.clip(value, -_ENDLESS, _ENDLESS)) for key, value in written.items()}
