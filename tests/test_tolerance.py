"""Tolerances of position and rotation."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knuckle.robot.tolerance import (
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
    Tolerance,
)
from knuckle.robot.transformation import Transformation

from .tolerance_cases import DESIRED, few, kinds, moved, violation, with_radii


class TestPosition:
    @pytest.mark.parametrize(
        ("p", "expected"),
        [
            ((0, 0, 0), 0),
            ((0.2, 0, 0), 0),
            ((0.25, 0, 0), 0.05),
            ((-0.1, 0, 0), 0),
            ((-0.3, 0, 0), 0.2),
            ((0, -9, 9), 0),
            ((0.5, 0.6, -0.7), 0.4),
        ],
    )
    def test_box_in_the_desired_axes(self, p, expected):
        box = CartesianBox([-0.1, None, -0.3], [0.2, 0.5, None])
        assert violation(box, p) == pytest.approx(expected, abs=1e-15)

    @pytest.mark.parametrize(
        ("p", "expected"),
        [
            ((0, 0.1, 0), 0),
            ((0.06, 0.08, 0.3), 0),
            ((0, 0.15, 0), 0.05),
            ((0.3, 0.4, 0.5), 0.4),
            ((0, 0, -0.25), 0.05),
        ],
    )
    def test_cylinder(self, p, expected):
        assert violation(CartesianCylinder(0.1, None, (-0.2, 0.3)), p) == pytest.approx(expected, abs=1e-15)

    @pytest.mark.parametrize(
        ("degrees", "arc"), [(170, 0), (-170, 0), (180, 0), (135, 0), (-90, 45), (0, 135), (45, 90), (130, 5)]
    )
    def test_azimuth_range_across_pi_counts_as_arc(self, degrees, arc):
        sector = CartesianCylinder(None, (math.radians(135), math.radians(225)))
        phi = math.radians(degrees)
        expected = 2.0 * math.radians(arc)
        assert violation(sector, (2 * math.cos(phi), 2 * math.sin(phi), 7.0)) == pytest.approx(expected, abs=1e-14)

    def test_hollow_cylinder_leaves_the_axis_out(self):
        hollow = CartesianCylinder((0.1, 0.2))
        assert violation(hollow) == pytest.approx(0.1)
        assert violation(hollow, (0.15, 0, 0)) == 0

    @pytest.mark.parametrize(
        ("p", "expected"),
        [((0, 0, 0.2), 0), ((0, 0.3, 0), 0.1), ((0.12, 0, 0.16), 0), ((0.2, 0.2, 0.1), 0.1), ((0, 0, 0), 0)],
    )
    def test_sphere(self, p, expected):
        assert violation(CartesianSphere(0.2), p) == pytest.approx(expected, abs=1e-15)

    def test_cone_about_the_desired_z_axis(self):
        cone = CartesianSphere(1.0, 0.5)
        assert violation(cone) == 0
        assert violation(cone, (0, 0, 0.9)) == 0
        assert violation(cone, (0.8, 0, 0)) == pytest.approx(0.8 * (math.pi / 2 - 0.5))
        assert violation(cone, (0, 0, -0.9)) == pytest.approx(0.9 * (math.pi - 0.5))

    def test_rotation_is_free(self):
        for tolerance in (CartesianBox.symmetric(0.1), CartesianCylinder(0.1, None, 0.1), CartesianSphere(0.1)):
            assert violation(tolerance, (0.01, 0, 0), (3, 0, 0)) == 0
            assert tolerance.rotation_radius == math.inf


class TestRotation:
    @pytest.mark.parametrize("axis", [[1, 0, 0], [0, -1, 0], [2, 3, 6]])
    @pytest.mark.parametrize(("angle", "expected"), [(0, 0), (0.3, 0), (0.30001, 1e-5), (1.0, 0.7), (math.pi, 2.8416)])
    def test_absolute(self, axis, angle, expected):
        w = np.array(axis) / np.linalg.norm(axis) * angle
        assert violation(RotationAbsolute(0.3), (5, 5, 5), w) == pytest.approx(expected, abs=1e-5, rel=1e-9)

    def test_tiny_bound_is_sharp(self):
        tolerance = RotationAbsolute(1e-8)
        assert violation(tolerance, w=(0.9e-8, 0, 0)) == 0
        assert violation(tolerance, w=(1.1e-8, 0, 0)) == pytest.approx(1e-9, abs=1e-15)

    @pytest.mark.parametrize(
        ("w", "expected"),
        [((0.3, 0, 0), 0), ((-0.1, 0, 0), 0), ((-0.2, 0, 0), 0.1), ((0, 0.5, 0.2), 0.3), ((0, 0, -3), 0)],
    )
    def test_axes_bound_the_rotation_vector(self, w, expected):
        box = RotationAxes([-0.1, -0.2, None], [0.3, 0.2, 0.1])
        assert violation(box, w=w) == pytest.approx(expected, abs=1e-14)

    @pytest.mark.parametrize("spin", [0, 1, -3, math.pi, 3.14])
    def test_free_spin_about_the_own_axis(self, spin):
        tolerance = RotationAxis("z", tilt=0.1)
        tilted = Transformation.from_rpy([0.06, 0.08, 0])
        spun = Transformation.from_rpy([0, 0, spin])
        assert tolerance.contains(DESIRED, DESIRED @ spun)
        assert tolerance.contains(DESIRED, DESIRED @ tilted @ spun)
        assert tolerance.contains(DESIRED, DESIRED @ spun @ tilted)
        far = DESIRED @ Transformation.from_rpy([0.25, 0, 0]) @ spun
        assert tolerance.violation(DESIRED, far) == pytest.approx(0.15, abs=1e-14)

    @pytest.mark.parametrize(("spin", "expected"), [(0.4, 0), (0.5, 0.1), (-0.2, 0), (-0.5, 0.3), (math.pi, 2.7416)])
    def test_spin_range_about_any_axis(self, spin, expected):
        axis = np.array([1, 2, 2]) / 3
        tolerance = RotationAxis([1, 2, 2], (-0.2, 0.4))
        assert violation(tolerance, w=spin * axis) == pytest.approx(expected, abs=1e-4 if spin > 3 else 1e-14)

    def test_spin_range_across_pi(self):
        tolerance = RotationAxis("x", (3.0, 3.5))
        assert violation(tolerance, w=(3.1, 0, 0)) == 0
        assert violation(tolerance, w=(-3.0, 0, 0)) == 0
        assert violation(tolerance, w=(2.9, 0, 0)) == pytest.approx(0.1)
        assert tolerance.rotation_radius == 0

    def test_unit_axis_stays_bit_for_bit(self):
        for axis in np.random.default_rng(0).standard_normal((300, 3)):
            once = RotationAxis(axis)
            assert np.linalg.norm(once.axis) == pytest.approx(1, abs=4e-16)
            assert RotationAxis(once.axis) == once

    def test_turned_over_axis_is_pi_away(self):
        assert violation(RotationAxis("z", tilt=0.5), w=(math.pi, 0, 0)) == pytest.approx(math.pi - 0.5)

    def test_position_is_free(self):
        for tolerance in (RotationAbsolute(0.1), RotationAxes.symmetric(0.1), RotationAxis("z")):
            assert violation(tolerance, (9, 9, 9)) == 0
            assert tolerance.position_radius == math.inf


class TestEveryKind:
    @with_radii
    def test_a_radius_itself_is_inside(self, tolerance):
        for axis in np.vstack([np.eye(3), -np.eye(3)]):
            p = axis * min(tolerance.position_radius, 0.7)
            w = axis * min(tolerance.rotation_radius, 3.0)
            assert violation(tolerance, p, w) == 0

    @with_radii
    @few
    @given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.floats(0, 1))
    def test_everything_within_the_radii_is_inside(self, tolerance, seed, reach, turn):
        p, w = np.random.default_rng(seed).standard_normal((2, 3))
        p *= reach * min(tolerance.position_radius, 5.0) / np.linalg.norm(p)
        w *= turn * min(tolerance.rotation_radius, math.pi) / np.linalg.norm(w)
        assert violation(tolerance, p, w) == 0

    @kinds
    @few
    @given(st.integers(0, 2**32 - 1))
    def test_only_the_deviation_matters(self, tolerance, seed):
        """Delta = T_desired^-1 T_actual: moving both poses together changes nothing."""
        world, delta = (Transformation.random(rng, reach=0.3) for rng in np.random.default_rng(seed).spawn(2))
        here = tolerance.violation(np.eye(4), delta)
        assert tolerance.violation(world, world @ delta) == pytest.approx(here, abs=1e-12)

    @kinds
    def test_takes_any_kind_of_pose(self, tolerance):
        actual = moved((0.01, 0, 0.02), (0.01, 0, 0))
        expected = tolerance.violation(DESIRED, actual)
        assert tolerance.violation(DESIRED.se3(), actual.homogeneous) == expected
        assert tolerance.violation(DESIRED.homogeneous.tolist(), actual.se3()) == expected

    @kinds
    def test_json_round_trip(self, tolerance):
        text = json.dumps(tolerance.to_dict(), allow_nan=False)
        assert Tolerance.from_dict(json.loads(text)) == tolerance

    @kinds
    def test_frozen_hashable_picklable(self, tolerance):
        assert pickle.loads(pickle.dumps(tolerance)) == tolerance
        assert copy.deepcopy(tolerance) == tolerance
        assert hash(copy.deepcopy(tolerance)) == hash(tolerance)
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(tolerance, tolerance.__slots__[0], 1.0)

    @kinds
    def test_nan_is_outside(self, tolerance):
        broken = DESIRED.homogeneous.copy()
        broken[0, 1] = np.nan
        actual = Transformation._trusted(broken)
        assert not tolerance.contains(DESIRED, actual)
        assert tolerance.violation(DESIRED, actual) == math.inf
