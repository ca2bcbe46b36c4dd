"""Shapes: their sizes measured from outside with a small ball, their values, what is refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import InputError, InputTypeError, UnknownNameError, UnsupportedError
from knuckle.robot.mesh_shapes import HeightMap, Mesh, PointCloud
from knuckle.robot.shape_reading import as_shape
from knuckle.robot.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Shape, Sphere

MESHES = Path(__file__).resolve().parents[1] / "urdf_samples" / "meshes"
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]])
CUBE_TRIANGLES = np.vstack([CUBE_TRIANGLES, [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
ONE_OF_EACH: list[Shape] = [
    Box([0.2, 0.4, 0.6]),
    Sphere(0.3),
    Cylinder(0.2, 1.0),
    Capsule(0.2, 1.0),
    Cone(0.2, 1.0),
    Ellipsoid([0.1, 0.2, 0.3]),
    Plane([0, 1, 2], 0.25),
    Mesh(CUBE, CUBE_TRIANGLES),
    Mesh(CUBE, CUBE_TRIANGLES, "exact"),
    PointCloud([[0.05, 0.05, 0.05], [0.55, 0.05, 0.05]], 0.1),
    HeightMap([[1.0, 2.0, 1.0], [1.0, 2.0, 3.0]], [2.0, 1.0], 0.5),
]


def gap(shape: Shape, point: Any) -> float:
    """Distance [m] from a point outside to the shape, by coal, with a ball of 1 mm."""
    ball, result = coal.Sphere(1e-3), coal.DistanceResult()
    at = coal.Transform3s(np.eye(3), np.asarray(point, dtype=float))
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    return float(coal.distance(shape.to_coal(), coal.Transform3s.Identity(), ball, at, request, result)) + 1e-3


def touches(shape: Shape, point: Any) -> bool:
    ball, result = coal.Sphere(1e-3), coal.CollisionResult()
    at = coal.Transform3s(np.eye(3), np.asarray(point, dtype=float))
    request = coal.CollisionRequest()
    return bool(coal.collide(shape.to_coal(), coal.Transform3s.Identity(), ball, at, request, result))


@pytest.mark.parametrize(
    ("shape", "point", "distance"),
    [
        (Box([0.2, 0.4, 0.6]), [1, 0, 0], 0.9),
        (Box([0.2, 0.4, 0.6]), [0, 1, 0], 0.8),
        (Box([0.2, 0.4, 0.6]), [0, 0, -1], 0.7),
        (Sphere(0.3), [0, 2, 0], 1.7),
        (Cylinder(0.2, 1.0), [0, 0, 1], 0.5),
        (Cylinder(0.2, 1.0), [1, 0, 0.4], 0.8),
        (Capsule(0.2, 1.0), [0, 0, 1], 0.3),
        (Capsule(0.2, 1.0), [1, 0, 0.5], 0.8),
        (Cone(0.2, 1.0), [0, 0, 1], 0.5),
        (Cone(0.2, 1.0), [1, 0, -0.5], 0.8),
        (Cone(0.2, 1.0), [0, 0, -1], 0.5),
        (Ellipsoid([0.1, 0.2, 0.3]), [1, 0, 0], 0.9),
        (Ellipsoid([0.1, 0.2, 0.3]), [0, 0, 1], 0.7),
        (Plane([0, 0, 2], 0.25), [5, 5, 1], 0.75),
        (Plane([0, 0, 2], 0.25), [5, 5, -1], -1.25),
        (Mesh(CUBE, CUBE_TRIANGLES), [0.5, 0.5, 2], 1.0),
        (Mesh(CUBE, CUBE_TRIANGLES, "exact"), [0.5, 0.5, 2], 1.0),
        (PointCloud([[0.05, 0.05, 0.05]], 0.1), [1, 0.05, 0.05], 0.9),
        (HeightMap([[0.1, 0.3], [0.1, 0.3]], [2, 2]), [0, 0, 1], 0.8 * np.cos(np.arctan(0.1))),
        (HeightMap([[0.1, 0.1], [0.1, 0.1]], [2, 2], -0.4), [0, 0, -1], 0.6),
        (HeightMap([[0.1, 0.1], [0.1, 0.1]], [2, 4], -0.4), [0, 3, 0], 1.0),
        (HeightMap([[0.1, 0.1], [0.1, 0.1]], [2, 4], -0.4), [3, 0, 0], 2.0),
    ],
)
def test_sizes_are_what_a_ruler_gives(shape: Shape, point: list[float], distance: float) -> None:
    assert gap(shape, point) == pytest.approx(distance, abs=1e-5)


def test_a_height_map_has_its_samples_where_it_says() -> None:
    heights = np.zeros((3, 4))
    heights[2, 1] = 1.0
    ground = HeightMap(heights, [4.0, 6.0], -1.0)
    x, y = 4.0 * (2 / 2 - 0.5), 6.0 * (1 / 3 - 0.5)
    assert touches(ground, [x, y, 1.0])
    assert not touches(ground, [-x, y, 0.5]) and not touches(ground, [x, -y, 0.5])


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 2)])
def test_a_height_map_is_closed_and_faces_outwards(shape: tuple[int, int]) -> None:
    heights = np.random.default_rng(0).uniform(0.0, 1.0, shape)
    vertices, triangles = HeightMap(heights, [2.0, 3.0], -0.5)._closed_surface()
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    # by the divergence theorem; the triangles of a cell weigh its corners (1/6, 1/3) by where the diagonal runs
    volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0
    low, high = heights[:-1, :-1] + heights[1:, 1:], heights[1:, :-1] + heights[:-1, 1:]
    cell = 6.0 / ((shape[0] - 1) * (shape[1] - 1))
    assert volume == pytest.approx(float(((2 * low + high) / 6.0 + 0.5).sum()) * cell)
    edges = {(int(p), int(q)) for t in triangles for p, q in zip(t, np.roll(t, -1), strict=True)}
    assert len(edges) == triangles.size and all((q, p) in edges for p, q in edges)


def test_a_point_cloud_is_solid_in_the_cells_that_hold_a_point() -> None:
    cloud = PointCloud([[0.05, 0.05, 0.05], [-0.31, 0.0, 0.0]], 0.1)
    assert touches(cloud, [0.01, 0.09, 0.05]) and touches(cloud, [-0.39, 0.05, 0.05])
    assert not touches(cloud, [0.12, 0.05, 0.05]) and not touches(cloud, [-0.05, 0.05, 0.05])


def test_a_hull_is_solid_and_an_exact_mesh_is_not() -> None:
    assert touches(Mesh(CUBE, CUBE_TRIANGLES), [0.5, 0.5, 0.5])
    assert not touches(Mesh(CUBE, CUBE_TRIANGLES, "exact"), [0.5, 0.5, 0.5])


@pytest.mark.parametrize("name", ["cube.stl", "cube.obj", "cube.dae"])
def test_meshes_are_read_from_files(name: str) -> None:
    mesh = Mesh.from_file(MESHES / name, scale=[2.0, 1.0, 0.5])
    np.testing.assert_allclose(
        np.ptp(mesh.vertices, axis=0), np.ptp(Mesh.from_file(MESHES / name).vertices, axis=0) * [2, 1, 0.5]
    )
    assert mesh.to_coal().num_points == 8


@pytest.mark.parametrize("shape", ONE_OF_EACH, ids=lambda s: s.kind)
def test_values_survive_json_pickle_and_copies(shape: Shape) -> None:
    copies = [Shape.from_dict(json.loads(json.dumps(shape.to_dict()))), pickle.loads(pickle.dumps(shape))]
    for twin in [*copies, copy.deepcopy(shape), copy.copy(shape)]:
        assert twin == shape and hash(twin) == hash(shape)
        arrays = [v for v in vars(twin).values() if isinstance(v, np.ndarray)]
        assert not any(array.flags.writeable for array in arrays)
        assert gap(twin, [0.3, 4.0, 6.0]) == gap(shape, [0.3, 4.0, 6.0])


def test_different_shapes_differ() -> None:
    assert all((a == b) == (i == j) for i, a in enumerate(ONE_OF_EACH) for j, b in enumerate(ONE_OF_EACH))
    assert Cone(0.1, 0.2) != Cylinder(0.1, 0.2) and Sphere(0.1) != "sphere"


@pytest.mark.parametrize("shape", [s for s in ONE_OF_EACH if s.kind not in ("point_cloud", "height_map")])
def test_geometries_of_coal_are_read_back(shape: Shape) -> None:
    back = as_shape(shape.to_coal())
    assert type(back) is type(shape)
    assert gap(back, [0.3, 4.0, 6.0]) == pytest.approx(gap(shape, [0.3, 4.0, 6.0]), abs=1e-9)


def test_what_coal_does_not_tell_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="point_cloud"):
        as_shape(PointCloud([[0, 0, 0]], 0.1).to_coal())
    with pytest.raises(InputTypeError, match="shape must be a Shape"):
        as_shape("box")
    swept = coal.Box(1, 1, 1)
    swept.setSweptSphereRadius(0.1)
    with pytest.raises(UnsupportedError, match="swept"):
        as_shape(swept)


NUMBERS = st.floats(1e-6, 1e3)


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=3, max_size=3), NUMBERS, NUMBERS)
def test_any_sizes_survive_json(size: list[float], radius: float, length: float) -> None:
    for shape in (Box(size), Ellipsoid(size), Sphere(radius), Capsule(radius, length), Plane(size, radius)):
        assert Shape.from_dict(json.loads(json.dumps(shape.to_dict()))) == shape


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-3, 1.0]), st.integers(1, 9))
def test_a_hull_of_any_thickness_is_made_or_refused(seed: int, thickness: float, count: int) -> None:
    points = np.random.default_rng(seed).standard_normal((count + 3, 3)) * [1.0, 1.0, thickness]
    triangles = [[k, k + 1, k + 2] for k in range(count + 1)]
    try:
        Mesh(points, triangles).to_coal()
    except InputError as error:
        assert "no solid hull" in str(error)


BAD: list[tuple[Any, str]] = [
    (lambda: Box([1, 0, 1]), r"size\[1\] must be a length"),
    (lambda: Box([1, -1, 1]), r"size\[1\] must be a length"),
    (lambda: Box([1, np.nan, 1]), "size must be finite"),
    (lambda: Box([1, 1]), r"size must have shape \(3,\)"),
    (lambda: Box(["a", 1, 1]), "size must be an array of numbers"),
    (lambda: Box([1e9, 1, 1]), "size"),
    (lambda: Sphere(0), "radius must be a length"),
    (lambda: Sphere(None), "radius must be an array of numbers"),
    (lambda: Sphere(True), "radius must be a number"),
    (lambda: Sphere(np.inf), "radius must be finite"),
    (lambda: Cylinder(0.1, 0), "length must be a length"),
    (lambda: Capsule(-0.1, 1), "radius must be a length"),
    (lambda: Cone(0.1, float("nan")), "length must be finite"),
    (lambda: Ellipsoid([0.1, 0.1, 0]), r"radii\[2\]"),
    (lambda: Plane([0, 0, 0]), "normal must be a direction"),
    (lambda: Plane([0, 0, 1e200]), "normal must be a direction"),
    (lambda: Plane([0, 0, 1], 1e7), "offset must lie within"),
    (lambda: Mesh(CUBE, []), "triangles must hold at least one"),
    (lambda: Mesh(CUBE, [[0, 1, 8]]), "triangles must hold indices from 0 to 7"),
    (lambda: Mesh(CUBE, [[0, 1, -1]]), "triangles must hold indices from 0 to 7"),
    (lambda: Mesh(CUBE, [[0, 1, 1.5]]), "triangles must hold whole numbers"),
    (lambda: Mesh(CUBE, [[0, 1]]), "triangles must have shape"),
    (lambda: Mesh(CUBE, [[0, 0, 1]]), "triangles are all degenerate"),
    (lambda: Mesh(CUBE, [[0, 1, 2]]), "no solid hull"),
    (lambda: Mesh(CUBE * [1, 1, 0], CUBE_TRIANGLES), "no solid hull"),
    (lambda: Mesh(CUBE * np.nan, CUBE_TRIANGLES), "vertices must be finite"),
    (lambda: Mesh(CUBE * 1e8, CUBE_TRIANGLES), "vertices must lie within"),
    (lambda: Mesh(CUBE, CUBE_TRIANGLES, "hul"), "did you mean 'hull'"),
    (lambda: Mesh([], [[0, 1, 2]]), "vertices must have shape"),
    (lambda: Mesh.from_file(MESHES / "none.stl"), "there is no mesh file"),
    (lambda: Mesh.from_file(MESHES / "cube.stl", 0.0), "scale must be positive"),
    (lambda: Mesh.from_file(MESHES / "cube.stl", [1, 1]), "scale must have shape"),
    (lambda: Mesh.from_file(3), "path must be the path"),
    (lambda: PointCloud([], 0.1), "points"),
    (lambda: PointCloud([[0, 0, 0]], 0), "resolution must be a length"),
    (lambda: PointCloud([[100, 0, 0]], 1e-3), "choose a coarser resolution"),
    (lambda: HeightMap([[1, 1]], [1, 1]), "at least 2 samples"),
    (lambda: HeightMap([[1, 1], [1, -1]], [1, 1]), "lower the base"),
    (lambda: HeightMap([[0, 0], [0, 0]], [1, 1]), "lower the base"),
    (lambda: HeightMap([[1, 1], [1, 1]], [1, 0]), r"size\[1\] must be a length"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_degenerate_shapes_are_named_errors(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_file_that_is_no_mesh_is_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.stl").write_bytes(b"solid nothing\nfacet normal x y z")
    with pytest.raises(InputError):
        Mesh.from_file(tmp_path / "noise.stl")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"</p>", b"\xed </p>", "not well-formed XML"),
        (b"</p>", b" x </p>", "<p> must hold finite numbers only"),
        (b"</float_array>", b" 1..2 </float_array>", "<float_array> must hold finite numbers only"),
        (b'stride="3"', b'stride="-3"', "must have a whole number as stride"),
    ],
)
def test_damaged_collada_is_refused_before_a_loader_hangs_on_it(
    tmp_path: Path, old: bytes, new: bytes, message: str
) -> None:
    text = (MESHES / "cube.dae").read_bytes()
    assert old in text
    (tmp_path / "cube.DAE").write_bytes(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        Mesh.from_file(tmp_path / "cube.DAE")


def test_documents_of_shapes_name_what_is_wrong() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sphere'"):
        Shape.from_dict({"shape": "spere", "radius": 1})
    with pytest.raises(InputError, match="needs the fields radius; got radius, colour"):
        Shape.from_dict({"shape": "sphere", "radius": 1, "colour": "red"})
    for document in ({}, {"shape": ["box"]}, [], "box", None):
        with pytest.raises(InputError):
            Shape.from_dict(document)  # type: ignore[arg-type]
