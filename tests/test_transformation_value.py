"""Coordinates and products of Transformation, and its manners as a Python value."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from knuckle.robot.errors import InputError, InputTypeError
from knuckle.robot.transformation import Transformation

from .transformation_cases import few, gap, translations


class TestCoordinates:
    def test_projections(self):
        pose = Transformation.from_translation([3.0, 4.0, -5.0])
        assert pose.cartesian.tolist() == [3, 4, -5]
        np.testing.assert_allclose(pose.cylindrical, [5, math.atan2(4, 3), -5], rtol=0, atol=1e-15)
        np.testing.assert_allclose(
            pose.spherical, [math.sqrt(50), 0.75 * math.pi, math.atan2(4, 3)], rtol=0, atol=1e-14
        )

    @few
    @given(translations)
    def test_projections_lead_back(self, t):
        pose = Transformation.from_translation(t)
        r, phi, z = pose.cylindrical
        assert gap([r * math.cos(phi), r * math.sin(phi), z], t) < 1e-14
        r, theta, phi = pose.spherical
        across = r * math.sin(theta)
        assert gap([across * math.cos(phi), across * math.sin(phi), r * math.cos(theta)], t) < 1e-14

    def test_origin(self):
        assert Transformation().spherical.tolist() == [0, 0, 0]
        assert Transformation().cylindrical.tolist() == [0, 0, 0]

    def test_apply_takes_one_point_or_many(self):
        pose = Transformation.from_rpy([0, 0, math.pi / 2], [1, 0, 0])
        np.testing.assert_allclose(pose.apply([1, 0, 2]), [1, 1, 2], rtol=0, atol=1e-15)
        np.testing.assert_allclose(pose.apply([[1, 0, 2], [0, 1, 0]]), [[1, 1, 2], [0, 0, 0]], rtol=0, atol=1e-15)
        assert pose.apply(np.empty((0, 3))).shape == (0, 3)

    @pytest.mark.parametrize(
        "bad", [[1, 2], np.zeros((2, 4)), np.zeros((1, 2, 3)), [0, np.nan, 0], [[1, 2, 3], [1]], "abc", 1.0]
    )
    def test_apply_refuses(self, bad):
        with pytest.raises(InputError, match="points"):
            Transformation().apply(bad)

    @pytest.mark.parametrize("seed", range(5))
    def test_pinocchio_agrees(self, seed):
        a, b = Transformation.random(seed), Transformation.random(seed + 100)
        assert gap(a @ b, (a.se3() * b.se3()).homogeneous) < 1e-15
        assert gap(a.inverse, a.se3().inverse().homogeneous) < 1e-15
        np.testing.assert_allclose(a.apply([1, 2, 3]), a.se3().act(np.array([1.0, 2, 3])), rtol=0, atol=1e-14)
        np.testing.assert_allclose(a.rpy, pin.rpy.matrixToRpy(a.rotation), rtol=0, atol=1e-13)


class TestProducts:
    def test_other_kinds_on_both_sides(self):
        a, b = Transformation.random(1), Transformation.random(2)
        for other in (b, b.se3(), b.homogeneous, b.homogeneous.tolist()):
            product = a @ other
            assert type(product) is Transformation
            assert product == a @ b
        for other in (b.se3(), b.homogeneous, b.homogeneous.tolist()):
            product = other @ a
            assert type(product) is Transformation
            assert product == b @ a

    def test_in_place_product_makes_a_new_value(self):
        a = first = Transformation.random(1)
        a @= Transformation.random(2)
        assert first == Transformation.random(1)
        assert a == Transformation.random(1) @ Transformation.random(2)

    @pytest.mark.parametrize("bad", [[1, 2, 3], np.zeros((5, 3)), np.zeros((2, 4, 4)), 2.0, "x", None, np.eye(4) * 2])
    def test_refuses_what_is_no_pose(self, bad):
        with pytest.raises(InputError, match=r"operand of @ \(T.apply moves points\)"):
            Transformation() @ bad


class TestBadInput:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (np.eye(3), r"shape \(4, 4\), got \(3, 3\)"),
            (np.zeros((2, 4, 4)), r"shape \(4, 4\), got \(2, 4, 4\)"),
            (np.diag([1, 1, np.nan, 1]), r"finite, got nan at index \[2, 2\]"),
            (np.diag([1, 1, 1, np.inf]), "finite"),
            (np.diag([2.0, 1, 1, 1]), "orthonormal"),
            (np.diag([1 + 1e-5, 1, 1, 1]), "differs from I by 2e-05"),
            (np.zeros((4, 4)), "last row"),
            (np.diag([1.0, 1, -1, 1]), "reflection"),
            (np.ones((4, 4)), "last row"),
            (np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.1, 0, 0, 1]]), "last row .* transposed"),
        ],
    )
    def test_matrices(self, value, message):
        with pytest.raises(InputError, match=f"^transformation must .*{message}"):
            Transformation(value)

    @pytest.mark.parametrize("value", ["pose", b"x", {}, object(), np.eye(4) == 1, np.eye(4) * 1j])
    def test_kinds(self, value):
        with pytest.raises(InputTypeError, match="transformation"):
            Transformation(value)

    def test_ragged_list(self):
        with pytest.raises(InputError, match="rectangular"):
            Transformation([[1, 0], [0]])

    @pytest.mark.parametrize(
        ("build", "name"),
        [
            (lambda: Transformation.from_translation([1, 2]), "translation"),
            (lambda: Transformation.from_translation([1, 2, np.nan]), "translation"),
            (lambda: Transformation.from_rotation(np.eye(4)), "rotation"),
            (lambda: Transformation.from_rotation(2 * np.eye(3)), "rotation"),
            (lambda: Transformation.from_rotation(-np.eye(3)), "rotation"),
            (lambda: Transformation.from_rpy([1, 2, 3, 4]), "rpy"),
            (lambda: Transformation.from_rpy([np.inf, 0, 0]), "rpy"),
            (lambda: Transformation.from_quat_xyzw([0, 0, 0, 0]), "quaternion"),
            (lambda: Transformation.from_quat_wxyz([0, 0, 0]), "quat_wxyz"),
            (lambda: Transformation.from_quat_wxyz([0, 0, 0, 0]), "quaternion"),
            (lambda: Transformation.from_axis_angle([0, 0, 0], 1.0), "axis"),
            (lambda: Transformation.from_axis_angle([0, 0, 1], np.nan), "angle"),
            (lambda: Transformation.from_axis_angle([0, 0, 1], [1, 2]), "angle"),
            (lambda: Transformation.from_rotation_vector("abc"), "rotation_vector"),
            (lambda: Transformation.exp([0, 0, 1]), "twist"),
            (lambda: Transformation.random(0, reach=-1), "reach"),
            (lambda: Transformation().interpolate(Transformation(), np.nan), "u"),
            (lambda: Transformation().interpolate([1], 0.5), "other"),
            (lambda: Transformation().distance(None), "other"),
        ],
    )
    def test_the_argument_is_named(self, build, name):
        with pytest.raises(InputError, match=rf"^{name} "):
            build()


class TestValue:
    def test_cannot_be_changed(self):
        pose = Transformation.random(1)
        for array in (pose.homogeneous, pose.translation, pose.rotation, np.asarray(pose)):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        for name in ("translation", "homogeneous", "anything"):
            with pytest.raises(AttributeError):
                setattr(pose, name, np.zeros(3))

    def test_does_not_share_memory_with_its_source(self):
        source = np.eye(4)
        pose = Transformation(source)
        source[0, 3] = 5.0
        assert pose == Transformation()
        assert source.flags.writeable

    def test_cartesian_is_a_copy(self):
        pose = Transformation.random(1)
        before = pose.cartesian.copy()
        pose.cartesian[:] = 0
        assert (pose.translation == before).all()

    def test_se3_is_new_each_time(self):
        pose = Transformation()
        pose.se3().translation = np.ones(3)
        assert pose.se3().isIdentity(0.0)

    def test_equality_is_exact(self):
        a = Transformation.from_translation([1, 2, 3])
        assert a == Transformation.from_translation([1, 2, 3])
        assert a != Transformation.from_translation([1, 2, math.nextafter(3, 4)])
        assert a != a.homogeneous.tolist()
        assert a != "pose"
        with pytest.raises(TypeError):
            hash(a)

    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle_keeps_bits_and_the_seal(self, protocol):
        pose = Transformation.random(1)
        back = pickle.loads(pickle.dumps(pose, protocol))
        assert back == pose
        assert not back.homogeneous.flags.writeable
        assert pose.homogeneous.base is None

    def test_copies_are_the_value_itself(self):
        pose = Transformation.random(1)
        assert copy.copy(pose) is pose
        assert copy.deepcopy({"pose": pose})["pose"] is pose

    def test_numpy_takes_it_as_its_matrix(self):
        pose = Transformation.random(1)
        assert np.shares_memory(np.asarray(pose), pose.homogeneous)
        assert np.array(pose).flags.writeable
        assert np.asarray(pose, dtype=np.float32).dtype == np.float32
        assert np.stack([pose, pose]).shape == (2, 4, 4)
        np.testing.assert_allclose(pose, pose.homogeneous)
        with pytest.raises(ValueError, match="copy"):
            np.asarray(pose, dtype=np.float32, copy=False)

    def test_trusted_takes_the_array_over(self):
        matrix = np.eye(4)
        pose = Transformation._trusted(matrix)
        assert pose.homogeneous is matrix
        assert not matrix.flags.writeable

    def test_text(self):
        pose = Transformation.from_rpy([0, 0, math.pi / 2], [0.4, -0.1, 0.5])
        assert repr(pose) == (
            "Transformation(xyz=[0.400000, -0.100000, 0.500000] m, rpy=[0.0000, 0.0000, 90.0000] deg)"
        )
        assert str(pose).splitlines() == [
            "xyz [m]       0.400000   -0.100000    0.500000",
            "rpy [deg]       0.0000      0.0000     90.0000",
            "matrix        0.000000   -1.000000    0.000000    0.400000",
            "              1.000000    0.000000    0.000000   -0.100000",
            "              0.000000    0.000000    1.000000    0.500000",
            "              0.000000    0.000000    0.000000    1.000000",
        ]

    def test_no_minus_zero(self):
        for value in (Transformation().inverse, Transformation().rpy, Transformation.from_rpy([0, 0, 0])):
            assert not np.signbit(np.asarray(value)).any()
