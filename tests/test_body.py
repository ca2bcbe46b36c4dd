"""Bodies: what they weigh, what they look like, and that they cannot change."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knuckle import BodyGeometry, InputError, PinBody, Transformation

from .robot_cases import TILTED, close

SIZES = st.floats(0.01, 2.0)


def hull(keep_faces: bool) -> Any:
    points = coal.StdVec_Vec3s()
    for corner in np.random.default_rng(0).normal(size=(20, 3)):
        points.append(corner)
    return coal.Convex.convexHull(points, keep_faces, None)


class TestMass:
    @given(SIZES, SIZES, SIZES, SIZES)
    def test_a_box_by_hand(self, a: float, b: float, c: float, mass: float) -> None:
        body = PinBody.solid("box", coal.Box(a, b, c), mass)
        close(body.inertia, mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b]), 1e-12)
        assert not body.com.any() and math.isclose(body.mass, mass)

    def test_a_cylinder_and_a_sphere_by_hand(self) -> None:
        r, h = 0.1, 0.4
        across = 2.0 * (3 * r * r + h * h) / 12
        close(PinBody.solid("c", coal.Cylinder(r, h), 2.0).inertia, np.diag([across, across, r * r]), 1e-15)
        close(PinBody.solid("s", coal.Sphere(r), 2.0).inertia, np.eye(3) * 0.4 * 2.0 * r * r, 1e-15)

    def test_it_stands_where_the_shape_does(self) -> None:
        body = PinBody.solid("box", coal.Box(1, 2, 3), 2.0, TILTED)
        R = TILTED.rotation
        close(body.com, TILTED.translation, 1e-15)
        close(body.inertia, R @ PinBody.solid("box", coal.Box(1, 2, 3), 2.0).inertia @ R.T, 1e-14)

    def test_pinocchios_inertia_is_taken_as_it_is(self) -> None:
        odd = pin.Inertia(1.0, np.ones(3), np.diag([1.0, 1.0, 9.0]))
        body = PinBody("odd", inertia=odd)
        assert body.spatial_inertia == odd and body.mass == 1.0
        with pytest.raises(InputError, match="triangle"):
            PinBody("odd", 1.0, inertia=np.diag([1.0, 1.0, 9.0]))

    def test_nothing_weighs_nothing(self) -> None:
        body = PinBody("ghost")
        assert body.mass == 0 and body.collision == () and body.visual == ()
        assert not body.spatial_inertia.toDynamicParameters().any()


class TestGeometry:
    def test_shapes_objects_and_geometries_are_all_taken(self) -> None:
        thing = pin.GeometryObject("o", 0, TILTED.se3(), coal.Sphere(0.1))
        thing.overrideMaterial, thing.meshColor = True, np.array([1.0, 0.0, 0.0, 0.5])
        body = PinBody("b", collision=[coal.Box(1, 1, 1), thing, BodyGeometry(coal.Cone(0.1, 0.2), TILTED)])
        assert [g.name for g in body.collision] == [None, "o", None]
        assert body.collision[1].colour == (1.0, 0.0, 0.0, 0.5)
        assert body.collision[1].placement == TILTED == body.collision[2].placement
        assert body.visual is body.collision

    def test_the_callers_shape_may_change_later(self) -> None:
        box = coal.Box(1, 1, 1)
        body = PinBody("b", collision=box)
        box.halfSide = np.full(3, 7.0)
        close(body.collision[0].shape.halfSide, [0.5] * 3, 0)

    def test_a_hull_without_faces_gets_them_so_that_it_pickles(self) -> None:
        own, bare = PinBody("h", collision=hull(False)), hull(False)
        back = pickle.loads(pickle.dumps(own))
        assert back.collision[0].shape.num_points == bare.num_points

    @pytest.mark.parametrize(
        "shape",
        [
            coal.Box(0, 1, 1),
            coal.Sphere(-1),
            coal.Sphere(math.nan),
            coal.Box(1, math.inf, 1),
            coal.BVHModelOBBRSS(),
            coal.TriangleP(np.zeros(3), np.zeros(3), np.zeros(3)),
            coal.Plane(np.array([0, 0, 1.0]), 0),
            coal.Halfspace(np.array([0, 0, 1.0]), 0),
            coal.makeOctree(np.eye(3), 0.1),
            "box",
            None,
        ],
        ids=lambda shape: type(shape).__name__,
    )
    def test_what_is_no_bounded_shape(self, shape: Any) -> None:
        with pytest.raises(InputError, match=r"shape|collision"):
            PinBody("b", collision=[shape])


@pytest.mark.parametrize(
    "options, word",
    [
        ({"name": ""}, "name"),
        ({"name": 3}, "name"),
        ({"mass": -1.0}, "mass"),
        ({"mass": math.nan}, "mass"),
        ({"com": [1, 2]}, "com"),
        ({"inertia": np.full((3, 3), math.nan)}, "inertia"),
        ({"inertia": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"inertia": pin.Inertia(-1.0, np.zeros(3), np.eye(3))}, "negative mass"),
        ({"inertia": pin.Inertia(1.0, np.full(3, math.nan), np.eye(3))}, "finite"),
        ({"inertia": pin.Inertia.Random(), "mass": 9.0}, "leave them out"),
        ({"collision": "mesh.stl"}, "collision"),
        ({"visual": 3}, "visual"),
    ],
)
def test_bad_bodies(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        PinBody(**({"name": "b"} | options))


@pytest.mark.parametrize(
    "options, word",
    [
        ({"placement": np.zeros((4, 4))}, "placement"),
        ({"colour": (1, 0, 0)}, "colour"),
        ({"colour": (1, 0, 0, 2)}, "colour"),
        ({"name": ""}, "name"),
        ({"mesh_path": 3}, "mesh_path"),
        ({"mesh_scale": (1, math.nan, 1)}, "mesh_scale"),
    ],
)
def test_bad_geometries(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        BodyGeometry(coal.Sphere(1.0), **options)


def test_a_solid_must_enclose_a_volume() -> None:
    flat = coal.TriangleP(*np.eye(3))
    with pytest.raises(InputError, match="volume"):
        PinBody.solid("flat", flat, 1.0)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda body: pickle.loads(pickle.dumps(body))])
def test_bodies_are_frozen_and_stay_so(twin: Any) -> None:
    body = twin(PinBody.solid("box", coal.Box(1, 2, 3), 2.0, Transformation.identity(), (1, 0, 0, 1)))
    assert body.spatial_inertia == PinBody.solid("box", coal.Box(1, 2, 3), 2.0).spatial_inertia
    assert body.collision[0].colour == (1, 0, 0, 1) and "2 kg" in repr(body)
    with pytest.raises(dataclasses.FrozenInstanceError):
        body.mass = 3.0
    with pytest.raises(ValueError, match="read-only"):
        body.com[0] = 1.0
