"""A plain reading of a URDF file: link poses as products along the tree, solids and their inertias.

It shares nothing with the toolkit and with the parser behind it, so that agreement means something.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .closed_forms import X, Y, Z, pose, turn

Array = NDArray[np.float64]
Element = ElementTree.Element


def numbers(text: str) -> Array:
    return np.array([float(word) for word in text.split()])


def part(element: Element, tag: str) -> Element:
    """The one element `tag` below `element`, which has to be there."""
    found = element.find(tag)
    assert found is not None, f"<{element.tag}> without <{tag}>"
    return found


def origin(element: Element) -> Array:
    """The `<origin>` below `element`: roll, pitch, yaw about the fixed axes x, y, z; then the shift."""
    found = element.find("origin")
    if found is None:
        return np.eye(4)
    roll, pitch, yaw = numbers(found.get("rpy", "0 0 0"))
    rotation = turn(Z, yaw) @ turn(Y, pitch) @ turn(X, roll)
    return pose(rotation[:3, :3], numbers(found.get("xyz", "0 0 0")))


def symmetric(element: Element) -> Array:
    xx, xy, xz, yy, yz, zz = (float(element.attrib[f"i{pair}"]) for pair in ("xx", "xy", "xz", "yy", "yz", "zz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def volume_and_inertia(geometry: Element, mesh_cube: float) -> tuple[float, Array]:
    """Volume of a solid and its inertia per unit mass about its centre; a mesh counts as a cube of that size."""
    shape = geometry[0]
    if shape.tag == "sphere":
        r = float(shape.attrib["radius"])
        return 4 / 3 * np.pi * r**3, 0.4 * r**2 * np.eye(3)
    if shape.tag == "cylinder":
        r, length = float(shape.attrib["radius"]), float(shape.attrib["length"])
        across = (3 * r**2 + length**2) / 12
        return np.pi * r**2 * length, np.diag([across, across, r**2 / 2])
    sides = numbers(shape.attrib["size"]) if shape.tag == "box" else np.full(3, mesh_cube)
    return float(np.prod(sides)), np.diag((sides @ sides - sides**2) / 12)


class Description:
    """The elements of one file by name, with the few questions the tests ask."""

    def __init__(self, path: Path) -> None:
        root = ElementTree.parse(path).getroot()
        self.links = {link.attrib["name"]: link for link in root.findall("link")}
        self.joints = {joint.attrib["name"]: joint for joint in root.findall("joint")}

    @cached_property
    def parent_joint(self) -> dict[str, Element]:
        """The joint that carries each link; the root link is absent."""
        return {part(joint, "child").attrib["link"]: joint for joint in self.joints.values()}

    def parent(self, link: str) -> str | None:
        joint = self.parent_joint.get(link)
        return None if joint is None else part(joint, "parent").attrib["link"]

    def neighbours(self, a: str, b: str) -> bool:
        return self.parent(a) == b or self.parent(b) == a

    def moving(self) -> Iterator[Element]:
        return (joint for joint in self.joints.values() if joint.attrib["type"] not in ("fixed", "floating"))

    def value(self, joint: Element, values: Mapping[str, float]) -> float:
        mimic = joint.find("mimic")
        if mimic is None:
            return values[joint.attrib["name"]]
        leader = self.value(self.joints[mimic.attrib["joint"]], values)
        return float(mimic.get("multiplier", "1")) * leader + float(mimic.get("offset", "0"))

    def link_pose(self, link: str, values: Mapping[str, float], floating: Array | None = None) -> Array:
        """Pose of a link in the root's frame, from joint values by name and the pose of a floating trunk."""
        joint, above = self.parent_joint.get(link), self.parent(link)
        if joint is None or above is None:
            return np.eye(4)
        mounted = self.link_pose(above, values, floating) @ origin(joint)
        kind = joint.attrib["type"]
        if kind == "fixed":
            return mounted
        if kind == "floating":
            assert floating is not None
            return mounted @ floating
        axis, value = numbers(part(joint, "axis").attrib["xyz"]), self.value(joint, values)
        axis = axis / np.linalg.norm(axis)
        return mounted @ (pose(np.eye(3), value * axis) if kind == "prismatic" else turn(axis, value))

    def inertial(self, link: str) -> tuple[float, Array, Array] | None:
        """Mass, centre and inertia about the centre in the link's axes, as written; None without `<inertial>`."""
        found = self.links[link].find("inertial")
        if found is None:
            return None
        frame = origin(found)
        turned: Array = frame[:3, :3] @ symmetric(part(found, "inertia")) @ frame[:3, :3].T
        return float(part(found, "mass").attrib["value"]), frame[:3, 3], turned

    def solid(self, link: str, mass: float, mesh_cube: float) -> tuple[Array, Array]:
        """Centre and inertia of the collision solids of a link, filled with one material of this total mass."""
        solids = []
        for element in self.links[link].findall("collision"):
            frame = origin(element)
            volume, unit = volume_and_inertia(part(element, "geometry"), mesh_cube)
            solids.append((volume, frame[:3, 3], frame[:3, :3] @ unit @ frame[:3, :3].T))
        total = sum(volume for volume, _, _ in solids)
        centre, inertia = np.zeros(3), np.zeros((3, 3))
        for volume, at, _ in solids:
            centre += volume / total * at
        for volume, at, unit in solids:
            d = at - centre
            inertia += mass * volume / total * (unit + d @ d * np.eye(3) - np.outer(d, d))
        return centre, inertia
