"""Geometries as elements of a URDF."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from .arrays import Array
from .errors import InputError, UnsupportedError
from .rotation import rpy_from_rotation
from .triangles import Indices, corners_of


class MeshFiles:
    """Meshes that are written beside a URDF.

    Args:
        urdf: Path of the URDF.
    """

    def __init__(self, urdf: Path) -> None:
        self.folder = urdf.with_name(f"{urdf.stem}_meshes")
        self._bytes: dict[str, bytes] = {}

    def add(self, name: str, vertices: Array, triangles: Indices) -> str:
        """Take up a mesh; its path relative to the URDF is returned."""
        file = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}_{len(self._bytes)}.stl"
        self._bytes[file] = _stl(vertices, triangles)
        return f"{self.folder.name}/{file}"

    def write(self) -> None:
        """Write all that was taken up."""
        try:
            for name, data in self._bytes.items():
                self.folder.mkdir(exist_ok=True)
                (self.folder / name).write_bytes(data)
        except OSError as error:
            raise InputError(f"path: {str(self.folder)!r} cannot be written: {error}") from None


def origin(placement: pin.SE3) -> ET.Element:
    """A placement, to the last digit."""
    return ET.Element(
        "origin", {"xyz": text(placement.translation), "rpy": text(rpy_from_rotation(placement.rotation))}
    )


def text(values: Any) -> str:
    """Numbers that are read back exactly."""
    return " ".join(repr(float(value) + 0.0) for value in np.atleast_1d(values))


def shape_element(tag: str, thing: pin.GeometryObject, placement: pin.SE3, meshes: MeshFiles | None) -> ET.Element:
    """A visual or collision element.

    Args:
        tag: "visual" or "collision".
        thing: Pinocchio's geometry.
        placement: Of it in its link.
        meshes: Takes shapes that have no file of their own; None refuses them.

    Raises:
        UnsupportedError: on a shape that a URDF cannot express.
    """
    element = ET.Element(tag)
    element.append(origin(placement))
    shape, attributes = _shape(thing, meshes)
    ET.SubElement(ET.SubElement(element, "geometry"), shape, attributes)
    if tag == "visual" and thing.overrideMaterial:
        material = ET.SubElement(element, "material", {"name": f"{thing.name} colour"})
        ET.SubElement(material, "color", {"rgba": text(np.clip(thing.meshColor, 0.0, 1.0))})
    return element


def _shape(thing: pin.GeometryObject, meshes: MeshFiles | None) -> tuple[str, dict[str, str]]:
    geometry = thing.geometry
    match geometry:
        case coal.Box():
            return "box", {"size": text(2.0 * np.asarray(geometry.halfSide))}
        case coal.Sphere():
            return "sphere", {"radius": text(geometry.radius)}
        case coal.Cylinder() | coal.Capsule():
            kind = "cylinder" if isinstance(geometry, coal.Cylinder) else "capsule"
            return kind, {"radius": text(geometry.radius), "length": text(2.0 * geometry.halfLength)}
        case coal.ConvexBase() | coal.BVHModelBase():
            return "mesh", _mesh(thing, meshes)
    kind = type(geometry).__name__
    raise UnsupportedError(f"geometry {thing.name!r} is a {kind}, for which a URDF has no shape; replace it by a mesh")


def _mesh(thing: pin.GeometryObject, meshes: MeshFiles | None) -> dict[str, str]:
    if Path(str(thing.meshPath)).is_file():
        scale = np.asarray(thing.meshScale)
        return {"filename": str(thing.meshPath)} | ({} if (scale == 1.0).all() else {"scale": text(scale)})
    if meshes is None:
        raise UnsupportedError(
            f"geometry {thing.name!r} is a mesh without a file; save_urdf writes one beside the URDF"
        )
    return {"filename": meshes.add(str(thing.name), *_surface(thing.geometry))}


def _surface(geometry: Any) -> tuple[Array, Indices]:
    if isinstance(geometry, coal.BVHModelBase):
        return np.array(geometry.vertices()), corners_of(geometry.tri_indices, geometry.num_tris)
    from scipy.spatial import ConvexHull  # takes long to import, and only such shapes need it

    points = np.array([geometry.point(i) for i in range(geometry.num_points)])
    triangles: Indices = ConvexHull(points, qhull_options="Qt").simplices.astype(np.int64)
    return points, triangles


def _stl(vertices: Array, triangles: Indices) -> bytes:
    """Binary STL: 80 bytes, the count, then a normal, three corners and two bytes per triangle."""
    record = np.zeros(len(triangles), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    record["normal"] = normals / np.where(lengths > 0.0, lengths, 1.0)
    record["corners"] = corners
    return b"binary STL".ljust(80) + len(triangles).to_bytes(4, "little") + record.tobytes()
