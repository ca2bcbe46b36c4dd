"""The value Transformation: axioms of SE(3), interpolation, distance, constructors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knuckle.robot import spatial
from knuckle.robot.errors import InputError
from knuckle.robot.transformation import PoseDistance, Transformation, as_transformation

from .transformation_cases import few, gap, points, poses


class TestAxioms:
    @few
    @given(poses, poses, poses)
    def test_associative(self, a, b, c):
        assert gap((a @ b) @ c, a @ (b @ c)) < 1e-14

    @few
    @given(poses)
    def test_identity_is_neutral_bit_for_bit(self, a):
        assert a @ Transformation.identity() == a
        assert Transformation.identity() @ a == a

    @few
    @given(poses)
    def test_inverse(self, a):
        assert gap(a @ a.inverse, np.eye(4)) < 4e-15
        assert gap(a.inverse @ a, np.eye(4)) < 4e-15
        assert gap(a.inverse.inverse, a) < 4e-15
        assert a.inv() == a.inverse

    @few
    @given(poses, poses)
    def test_inverse_of_a_product(self, a, b):
        assert gap((a @ b).inverse, b.inverse @ a.inverse) < 1e-14

    @few
    @given(poses)
    def test_exp_of_log(self, a):
        assert gap(Transformation.exp(a.log()), a) < 1e-14

    @few
    @given(poses, poses, points)
    def test_action(self, a, b, x):
        assert gap((a @ b).apply(x), a.apply(b.apply(x))) < 1e-14
        assert gap(a.inverse.apply(a.apply(x)), x) < 1e-14

    @few
    @given(poses, points, points)
    def test_distances_between_points_are_kept(self, a, x, y):
        assert np.linalg.norm(a.apply(x) - a.apply(y)) == pytest.approx(np.linalg.norm(x - y), abs=1e-14)

    @few
    @given(poses, poses)
    def test_stays_in_the_group(self, a, b):
        for pose in (a @ b, a.inverse, a.interpolate(b, 0.3)):
            assert gap(pose.rotation.T @ pose.rotation, np.eye(3)) < 4e-15
            assert abs(np.linalg.det(pose.rotation) - 1) < 4e-15
            assert pose.homogeneous[3].tolist() == [0, 0, 0, 1]


class TestInterpolation:
    @few
    @given(poses, poses)
    def test_ends_are_exact(self, a, b):
        assert a.interpolate(b, 0.0) == a
        assert a.interpolate(b, 1.0) == b

    @few
    @given(poses, poses, st.floats(0, 1))
    def test_angle_grows_evenly(self, a, b, u):
        whole, part = a.distance(b).rotation, a.distance(a.interpolate(b, u)).rotation
        assert part == pytest.approx(u * whole, abs=4e-15)

    @few
    @given(poses, poses)
    def test_halves_make_a_whole(self, a, b):
        middle = a.interpolate(b, 0.5)
        assert gap(middle @ (a.inverse @ middle), b) < 4e-14

    def test_quarter_turn_screw(self):
        end = Transformation.from_rpy([0, 0, math.pi / 2], [1.0, 1.0, 0.5])
        half = Transformation().interpolate(end, 0.5)
        expected = Transformation.from_rpy([0, 0, math.pi / 4], [math.sqrt(0.5), 1 - math.sqrt(0.5), 0.25])
        assert gap(half, expected) < 1e-15

    def test_motion_goes_on_beyond_the_ends(self):
        end = Transformation.from_rpy([0, 0, 0.5], [0, 0, 1])
        assert gap(Transformation().interpolate(end, 2.0), end @ end) < 1e-15
        assert gap(Transformation().interpolate(end, -1.0), end.inverse) < 1e-15


class TestDistance:
    @few
    @given(poses, poses, poses)
    def test_metric(self, a, b, c):
        ab, bc, ac = a.distance(b), b.distance(c), a.distance(c)
        assert a.distance(a) == PoseDistance(0.0, 0.0)
        assert b.distance(a) == ab
        assert ac.translation <= ab.translation + bc.translation + 1e-14
        assert ac.rotation <= ab.rotation + bc.rotation + 1e-14

    def test_closed_form(self):
        a = Transformation.from_rpy([0, 0, 0.25], [1, 2, 3])
        b = Transformation.from_rpy([0, 0, -0.5], [1, 5, 7])
        apart = a.distance(b)
        assert apart.translation == 5.0
        assert apart.rotation == pytest.approx(0.75, abs=1e-15)

    def test_isclose_bounds_metres_and_radians(self):
        a = Transformation.from_rpy([0, 0, 1e-4], [0, 2e-4, 0])
        assert a.isclose(np.eye(4), atol=2.1e-4)
        assert not a.isclose(np.eye(4), atol=1.5e-4)
        assert not Transformation.from_rpy([1e-8, 0, 0]).isclose(Transformation())
        assert Transformation.from_rpy([1e-10, 0, 0]).isclose(Transformation())


class TestConstructors:
    @few
    @given(poses)
    def test_every_way_in_is_a_way_out(self, a):
        t = a.translation
        ways = [
            Transformation(a),
            Transformation(a.homogeneous),
            Transformation(a.homogeneous.tolist()),
            Transformation(a.se3()),
            Transformation.from_homogeneous(a.homogeneous),
            Transformation.from_se3(a.se3()),
            Transformation.from_rotation(a.rotation, t),
        ]
        assert all(way == a for way in ways)
        close = [
            Transformation.from_rpy(a.rpy, t),
            Transformation.from_quat_xyzw(a.quat_xyzw, t),
            Transformation.from_quat_wxyz(a.quat_wxyz, t),
            Transformation.from_rotation_vector(a.rotation_vector, t),
            Transformation.from_axis_angle(*a.axis_angle, t),
        ]
        assert max(gap(way, a) for way in close) < 3e-15

    def test_default_is_the_identity(self):
        assert Transformation().homogeneous.tolist() == np.eye(4).tolist()
        assert Transformation(None) == Transformation.identity()

    def test_translation_defaults_to_zero(self):
        for pose in (
            Transformation.from_rotation(np.eye(3)),
            Transformation.from_rpy([0, 0, 1]),
            Transformation.from_quat_xyzw([0, 0, 0, 1]),
            Transformation.from_axis_angle([0, 0, 1], 1.0),
        ):
            assert pose.translation.tolist() == [0, 0, 0]
        assert Transformation.from_translation([1, 2, 3]).translation.tolist() == [1, 2, 3]

    def test_quaternion_orders(self):
        xyzw = Transformation.from_quat_xyzw([0.5, -0.5, 0.1, 0.7])
        assert xyzw == Transformation.from_quat_wxyz([0.7, 0.5, -0.5, 0.1])
        assert xyzw.quat_wxyz.tolist() == [xyzw.quat_xyzw[3], *xyzw.quat_xyzw[:3]]

    def test_random_is_reproducible_and_uniform(self):
        assert Transformation.random(7) == Transformation.random(np.random.default_rng(7))
        assert Transformation.random() != Transformation.random()
        rng = np.random.default_rng(0)
        sample = [Transformation.random(rng, reach=0.5) for _ in range(2000)]
        assert max(np.abs(pose.translation).max() for pose in sample) <= 0.5
        # the angle of a uniform rotation has density (1 - cos t)/pi, mean pi/2 + 2/pi
        mean = np.mean([pose.axis_angle[1] for pose in sample])
        assert mean == pytest.approx(math.pi / 2 + 2 / math.pi, abs=0.04)

    def test_nearly_orthonormal_is_moved_onto_the_group(self):
        rotation = spatial.exp3([0.3, -0.7, 1.1])
        pose = Transformation.from_rotation(rotation + 1e-7 * np.arange(9).reshape(3, 3) / 9)
        assert gap(pose.rotation.T @ pose.rotation, np.eye(3)) < 1e-15
        assert gap(pose.rotation, rotation) < 1e-7

    def test_axis_of_tiny_rotations_keeps_its_digits(self):
        axis, angle = Transformation.from_axis_angle([2, -3, 6], 7e-300).axis_angle
        np.testing.assert_allclose(axis, np.array([2, -3, 6]) / 7, rtol=0, atol=1e-15)
        assert angle == pytest.approx(7e-300, rel=1e-15, abs=0)

    def test_axis_of_no_rotation(self):
        axis, angle = Transformation().axis_angle
        assert (axis.tolist(), angle) == ([0, 0, 1], 0.0)

    def test_as_transformation_keeps_what_is_one(self):
        pose = Transformation.random(1)
        assert as_transformation(pose) is pose
        assert as_transformation(pose.se3()) == pose
        with pytest.raises(InputError, match=r"^goal must have shape \(4, 4\), got \(3,\)"):
            as_transformation([1, 2, 3], "goal")
