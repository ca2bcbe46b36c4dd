"""Surfaces: what is drawn has the size, place and colour of what the description says and collision checks see."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest

import knuckle
from knuckle import InputError, Obstacle, UnknownNameError
from knuckle.robot.surfaces import triangulated
from knuckle.view.shapes import Mesh, ball, bar, bar_pose, tube
from tests.planar_arm import PlanarArm
from tests.samples import SAMPLES, load, path_of, random_configurations

ROUND = {"Sphere", "Ellipsoid", "Capsule", "Cylinder", "Cone"}
SHAPES = [
    coal.Box(0.1, 0.2, 0.3),
    coal.Sphere(0.5),
    coal.Ellipsoid(0.1, 0.2, 0.3),
    coal.Capsule(0.1, 0.4),
    coal.Cylinder(0.1, 0.4),
    coal.Cone(0.1, 0.4),
    Obstacle.mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).shape,
    Obstacle.height_map([[0.1, 0.3], [0.2, 0.4]], [1.0, 2.0]).shape,
]


def volume(vertices: Any, triangles: Any) -> float:
    """Signed, by the divergence theorem: positive if the triangles turn counter-clockwise seen from outside."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_surfaces_are_as_large_as_what_coal_checks_and_face_outwards(shape: Any) -> None:
    vertices, triangles = triangulated(shape)
    shape.computeLocalAABB()
    np.testing.assert_allclose(vertices.min(axis=0), np.ravel(shape.aabb_local.min_), atol=1e-12)
    np.testing.assert_allclose(vertices.max(axis=0), np.ravel(shape.aabb_local.max_), atol=1e-12)
    ratio = volume(vertices, triangles) / shape.computeVolume()
    assert 0.99 < ratio < 1.0 if type(shape).__name__ in ROUND else ratio == pytest.approx(1.0, abs=1e-12)


def test_facets_never_leave_what_is_round() -> None:
    vertices, triangles = triangulated(coal.Sphere(0.5))
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.5, atol=1e-12)
    assert np.linalg.norm(vertices[triangles].mean(axis=1), axis=1).min() > 0.5 * 0.99


def test_every_kind_of_obstacle_has_a_surface() -> None:
    cloud = Obstacle.point_cloud([[0.05, 0.05, 0.05], [0.35, 0.05, 0.05]], 0.1)
    vertices, triangles = cloud.surface
    assert volume(vertices, triangles) == pytest.approx(2 * 0.1**3)
    floor, faces = Obstacle.plane([0, 0, 1], 0.2).surface
    assert (floor[:, 2] == 0.2).all()
    assert np.cross(floor[faces[0, 1]] - floor[faces[0, 0]], floor[faces[0, 2]] - floor[faces[0, 0]])[2] > 0


def test_an_unknown_geometry_is_refused_with_advice() -> None:
    with pytest.raises(knuckle.robot.UnsupportedError, match="convex hull"):
        triangulated(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("layer", ["visual", "collision"])
def test_poses_are_those_of_pinocchio(name: str, layer: str) -> None:
    robot = load(name)
    geometry = getattr(robot, layer)
    data, shapes = robot.model.createData(), geometry.createData()
    assert [surface.name for surface in robot.surfaces(layer)] == [thing.name for thing in geometry.geometryObjects]
    for q in random_configurations(robot, 3):
        pin.updateGeometryPlacements(robot.model, data, geometry, shapes, robot.to_pinocchio(q))
        expected = np.array([placement.homogeneous for placement in shapes.oMg])
        np.testing.assert_allclose(robot.surface_poses(q, layer), expected, atol=1e-12)
    assert len(robot.surface_joints(layer)) == len(expected)


def test_colours_and_scales_are_those_of_the_file() -> None:
    root = ET.parse(path_of("cube_meshes")).getroot()
    materials = {
        material.get("name"): material.find("color") for material in root.iter("material") if len(material) > 0
    }
    robot = load("cube_meshes")
    for surface in robot.surfaces():
        visual = root.find(f"link[@name='{surface.link}']/visual")
        assert visual is not None
        colour = materials[visual.find("material").get("name")]  # type: ignore[union-attr]
        assert surface.colour == pytest.approx([float(x) for x in colour.get("rgba").split()])  # type: ignore[union-attr]
        side = np.ptp(surface.vertices, axis=0)
        scale = [float(x) for x in visual.find("geometry/mesh").get("scale").split()]  # type: ignore[union-attr]
        np.testing.assert_allclose(side, np.array(scale) * 1.0, atol=1e-6)


def test_a_bar_reaches_from_point_to_point() -> None:
    start, end = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.4, -0.1])
    pose = bar_pose(start, end, 0.02)
    rod = bar()
    points = rod.vertices @ pose[:3, :3].T + pose[:3, 3]
    along = (end - start) / np.linalg.norm(end - start)
    heights = (points - start) @ along
    assert heights.min() == pytest.approx(0.0, abs=1e-12)
    assert heights.max() == pytest.approx(np.linalg.norm(end - start))
    off = np.linalg.norm(points - start - np.outer(heights, along), axis=1)
    assert off.max() == pytest.approx(0.02)
    assert np.linalg.det(pose[:3, :3]) > 0
    assert np.isfinite(bar_pose(start, start, 0.02)).all()


@pytest.mark.parametrize("mesh", [bar(64), ball(64)], ids=["bar", "ball"])
def test_drawing_shapes_face_outwards(mesh: Mesh) -> None:
    assert 0.99 < volume(mesh.vertices, mesh.triangles) / (np.pi if len(mesh.vertices) == 130 else 4 / 3 * np.pi) < 1.0


def test_a_tube_follows_its_points_and_a_single_place_is_a_dot() -> None:
    mesh = tube([[0, 0, 0], [1, 0, 0], [1, 2, 0]], 0.01)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [1.01, 2.01, 0.02], atol=0.011)
    assert len(tube([[1, 1, 1], [1, 1, 1]], 0.01).triangles)


def test_shading_is_flat_across_edges_and_smooth_on_what_is_round() -> None:
    cube = Mesh(*triangulated(coal.Box(1, 1, 1)))
    positions, normals, triangles = cube.shaded
    assert len(positions) == 24 and triangles.shape == (12, 3)
    assert set(np.abs(normals).max(axis=1)) == {1.0}
    sphere = Mesh(*triangulated(coal.Sphere(1.0)))
    positions, normals, _ = sphere.shaded
    np.testing.assert_allclose(np.einsum("ij,ij->i", positions, normals), 1.0, atol=2e-3)
    assert Mesh(cube.vertices.copy(), cube.triangles.copy()).key == cube.key != sphere.key


def test_base_placement_moves_what_is_drawn() -> None:
    robot = knuckle.PinRobot.from_urdf(path_of("planar_2r"))
    before = robot.surface_poses([0.1, 0.2])
    robot.set_base_placement(knuckle.Transformation.from_translation([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(robot.surface_poses([0.1, 0.2])[:, :3, 3] - before[:, :3, 3], [[1, 2, 3]] * len(before))


@pytest.mark.parametrize("robot", [load("planar_2r"), PlanarArm()], ids=["pinocchio", "planar arm"])
def test_what_is_no_layer_is_refused_with_those_that_are(robot: Any) -> None:
    for ask in (robot.surfaces, robot.surface_joints, lambda layer: robot.surface_poses(None, layer)):
        with pytest.raises(UnknownNameError, match="visual"):
            ask("visuals")
        with pytest.raises(UnknownNameError, match="collision"):
            ask(None)
    for q in ([0.0], [[0.0, 0.0]] * 3, [np.nan] * robot.nq, "home"):
        with pytest.raises(InputError):
            robot.surface_poses(q)
