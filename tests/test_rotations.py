"""Rotations on plain arrays: exponential, quaternions, angles, projection."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from knuckle.robot import spatial
from knuckle.robot.errors import InputError, UnknownNameError
from knuckle.robot.spatial import ReferenceFrame

from .spatial_cases import (
    angles,
    axes,
    few,
    near_zero,
    rotation_vectors,
    series,
)


class TestReferenceFrame:
    def test_numbers_are_pinocchios(self):
        assert {frame.name: int(frame) for frame in ReferenceFrame} == {
            name: int(value) for name, value in pin.ReferenceFrame.names.items()
        }

    @pytest.mark.parametrize(
        ("value", "name"),
        [
            (ReferenceFrame.LOCAL, "LOCAL"),
            (pin.ReferenceFrame.LOCAL, "LOCAL"),
            (pin.WORLD, "WORLD"),
            (pin.LOCAL_WORLD_ALIGNED, "LOCAL_WORLD_ALIGNED"),
            ("local", "LOCAL"),
            ("World", "WORLD"),
            ("local_world_aligned", "LOCAL_WORLD_ALIGNED"),
            ("lwa", "LOCAL_WORLD_ALIGNED"),
            (0, "WORLD"),
            (2, "LOCAL_WORLD_ALIGNED"),
        ],
    )
    def test_parse(self, value, name):
        assert ReferenceFrame.parse(value) is ReferenceFrame[name]

    @pytest.mark.parametrize("value", ["locl", "", None, 3, 1.0, True, [0], np.eye(4)])
    def test_parse_names_the_choices(self, value):
        with pytest.raises(UnknownNameError, match=r"(?s)reference frame .*(WORLD|LOCAL)"):
            ReferenceFrame.parse(value)


class TestRotations:
    @few
    @given(rotation_vectors)
    def test_exp3_is_a_rotation_and_scipys(self, w):
        rotation = spatial.exp3(w)
        assert np.abs(rotation - Rotation.from_rotvec(w).as_matrix()).max() < 2e-15
        assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 2e-15
        assert abs(np.linalg.det(rotation) - 1) < 2e-15

    @few
    @given(rotation_vectors)
    @example(np.array([math.pi - 1e-12, 0, 0]))
    @example(np.array([0.6, 0, 0.8]) * (math.pi - 1e-9))
    def test_log3_inverts_exp3(self, w):
        back = spatial.log3(spatial.exp3(w))
        if math.pi - np.linalg.norm(w) < 1e-14:  # rounding of the matrix decides between w and -w
            back = back * np.sign(back @ w)
        assert np.abs(back - w).max() < 2e-15

    @few
    @given(rotation_vectors)
    def test_exp3_inverts_log3(self, w):
        rotation = spatial.exp3(w)
        assert np.abs(spatial.exp3(spatial.log3(rotation)) - rotation).max() < 2e-15

    @few
    @given(axes, near_zero)
    def test_tiny_rotations_keep_their_digits(self, axis, angle):
        w = axis * angle
        assert np.abs(spatial.log3(spatial.exp3(w)) - w).max() <= 4e-16 * angle
        assert spatial.rotation_angle(spatial.exp3(w)) == pytest.approx(angle, rel=4e-16, abs=0)

    @pytest.mark.parametrize("n", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, -4, 0], [0, 5, -12], [2, -3, 6], [1, -2, -2]])
    def test_half_turn_has_one_sign(self, n):
        n = np.array(n) / np.linalg.norm(n)
        for axis in (n, -n):
            rotation = 2 * np.outer(axis, axis) - np.eye(3)
            np.testing.assert_allclose(spatial.log3(rotation), math.pi * n, rtol=0, atol=1e-15)
            np.testing.assert_allclose(spatial.quat_xyzw_from_rotation(rotation), [*n, 0], rtol=0, atol=1e-15)
            assert spatial.rotation_angle(rotation) == pytest.approx(math.pi, abs=1e-15)

    @few
    @given(axes, angles)
    def test_angle(self, axis, angle):
        assert spatial.rotation_angle(spatial.exp3(axis * angle)) == pytest.approx(angle, abs=1e-15, rel=4e-16)

    def test_angle_of_one_rotation_is_a_float(self):
        assert type(spatial.rotation_angle(np.eye(3))) is float
        assert spatial.rotation_angle(np.eye(3)) == 0.0

    @few
    @given(rotation_vectors)
    def test_jexp3_is_its_power_series(self, w):
        assert np.abs(spatial.jexp3(w) - series(spatial.skew(w))).max() < 1e-14

    @few
    @given(rotation_vectors)
    def test_jlog3_inverts_jexp3(self, w):
        rotation = spatial.exp3(w)
        product = spatial.jlog3(rotation) @ spatial.jexp3(spatial.log3(rotation))
        assert np.abs(product - np.eye(3)).max() < 4e-15

    def test_jlog3_is_the_derivative_of_log3(self):
        rng, h = np.random.default_rng(1), 1e-6
        for _ in range(20):
            rotation = spatial.exp3(rng.uniform(-1.6, 1.6, 3))
            columns = [
                (spatial.log3(rotation @ spatial.exp3(h * e)) - spatial.log3(rotation @ spatial.exp3(-h * e))) / (2 * h)
                for e in np.eye(3)
            ]
            np.testing.assert_allclose(spatial.jlog3(rotation), np.transpose(columns), rtol=0, atol=1e-9)

    def test_skew_is_the_cross_product(self):
        a, b = np.array([0.3, -1.2, 2.0]), np.array([1.5, 0.2, -0.7])
        np.testing.assert_allclose(spatial.skew(a) @ b, np.cross(a, b), rtol=0, atol=1e-15)
        np.testing.assert_array_equal(spatial.skew(a), -spatial.skew(a).T)

    @pytest.mark.parametrize("seed", range(10))
    def test_pinocchio_away_from_its_branches(self, seed):
        rng = np.random.default_rng(seed)
        w = rng.standard_normal(3)
        w *= rng.uniform(0.1, 3.0) / np.linalg.norm(w)
        rotation = pin.exp3(w)
        np.testing.assert_allclose(spatial.exp3(w), rotation, rtol=0, atol=1e-15)
        np.testing.assert_allclose(spatial.log3(rotation), pin.log3(rotation), rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.jexp3(w), pin.Jexp3(w), rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.jlog3(rotation), pin.Jlog3(rotation), rtol=0, atol=1e-13)


class TestQuaternions:
    @few
    @given(rotation_vectors)
    def test_round_trip(self, w):
        rotation = spatial.exp3(w)
        quat = spatial.quat_xyzw_from_rotation(rotation)
        assert abs(np.linalg.norm(quat) - 1) < 1e-15
        assert quat[3] >= 0
        assert np.abs(spatial.rotation_from_quat_xyzw(quat) - rotation).max() < 2e-15

    @pytest.mark.parametrize("seed", range(10))
    def test_scipy_and_pinocchio(self, seed):
        quat = np.random.default_rng(seed).standard_normal(4)
        rotation = spatial.rotation_from_quat_xyzw(quat)
        np.testing.assert_allclose(rotation, Rotation.from_quat(quat).as_matrix(), rtol=0, atol=1e-15)
        expected = pin.Quaternion(rotation).coeffs()
        expected = expected * np.sign(expected[3])
        np.testing.assert_allclose(spatial.quat_xyzw_from_rotation(rotation), expected, rtol=0, atol=1e-15)

    @pytest.mark.parametrize("scale", [1e-9, 1e-3, -1.0, 7.0, 1e9, 1e160])
    def test_length_and_sign_do_not_matter(self, scale):
        quat = np.array([0.1, -0.7, 0.5, 0.5])
        expected = spatial.rotation_from_quat_xyzw(quat)
        np.testing.assert_allclose(spatial.rotation_from_quat_xyzw(scale * quat), expected, rtol=0, atol=1e-15)

    @pytest.mark.parametrize("quat", [[0, 0, 0, 0], [0, 0, 0, 1e-13], [[0, 0, 0, 1], [0, 0, 0, 0]]])
    def test_zero_is_no_rotation(self, quat):
        with pytest.raises(InputError, match="quaternion must not be zero"):
            spatial.rotation_from_quat_xyzw(quat)


class TestRollPitchYaw:
    @few
    @given(st.floats(-math.pi, math.pi), st.floats(-math.pi / 2, math.pi / 2), st.floats(-math.pi, math.pi))
    @example(0.3, math.pi / 2, 0.7)
    @example(-2.0, -math.pi / 2, 1.1)
    @example(0.3, math.pi / 2 - 1e-9, 0.7)
    @example(0.3, 1e-8 - math.pi / 2, -3.0)
    def test_same_rotation_everywhere(self, roll, pitch, yaw):
        rotation = spatial.rotation_from_rpy([roll, pitch, yaw])
        back = spatial.rpy_from_rotation(rotation)
        assert abs(back[1]) <= math.pi / 2
        assert np.abs(spatial.rotation_from_rpy(back) - rotation).max() < 2e-15

    def test_same_angles_away_from_the_poles(self):
        rng = np.random.default_rng(0)
        for rpy in rng.uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (30, 3)):
            np.testing.assert_allclose(
                spatial.rpy_from_rotation(spatial.rotation_from_rpy(rpy)), rpy, rtol=0, atol=1e-14
            )

    @pytest.mark.parametrize("seed", range(5))
    def test_urdf_order(self, seed):
        rpy = np.random.default_rng(seed).uniform(-3, 3, 3)
        rotation = spatial.rotation_from_rpy(rpy)
        np.testing.assert_allclose(rotation, pin.rpy.rpyToMatrix(rpy), rtol=0, atol=1e-15)
        np.testing.assert_allclose(rotation, Rotation.from_euler("xyz", rpy).as_matrix(), rtol=0, atol=1e-15)
        roll, pitch, yaw = (spatial.exp3(np.eye(3)[k] * rpy[k]) for k in range(3))
        np.testing.assert_allclose(rotation, yaw @ pitch @ roll, rtol=0, atol=1e-15)

    def test_yaw_is_zero_at_the_pole(self):
        rpy = spatial.rpy_from_rotation(spatial.rotation_from_rpy([0.5, math.pi / 2, 0.2]))
        np.testing.assert_allclose(rpy, [0.3, math.pi / 2, 0.0], rtol=0, atol=1e-15)


class TestAngles:
    @few
    @given(st.floats(-100, 100))
    def test_wrap(self, angle):
        wrapped = spatial.wrap_angle(angle)
        assert -math.pi <= wrapped < math.pi
        turns = (angle - wrapped) / math.tau
        assert abs(turns - round(turns)) < 1e-14

    @pytest.mark.parametrize("angle", [0.0, 1e-300, -1e-20, 3.14, -math.pi, math.nextafter(math.pi, 0)])
    def test_what_is_inside_stays_bit_for_bit(self, angle):
        assert spatial.wrap_angle(angle) == angle
        assert spatial.wrap_angle(np.array([angle]))[0] == angle

    @pytest.mark.parametrize(
        ("angle", "expected"),
        [(math.pi, -math.pi), (3 * math.pi, -math.pi), (math.tau, 0.0), (-math.tau, 0.0), (5, 5 - math.tau)],
    )
    def test_ends(self, angle, expected):
        assert spatial.wrap_angle(angle) == expected
        assert type(spatial.wrap_angle(angle)) is float
        assert spatial.wrap_angle(np.full((2, 3), angle)).tolist() == np.full((2, 3), expected).tolist()

    def test_shortest_goes_from_start_to_end(self):
        assert spatial.shortest_angle(3.0, -3.0) == pytest.approx(math.tau - 6.0, abs=1e-15)
        assert spatial.shortest_angle(-3.0, 3.0) == pytest.approx(6.0 - math.tau, abs=1e-15)
        np.testing.assert_allclose(spatial.shortest_angle([0.0, 1.0], [0.5, 0.25]), [0.5, -0.75])


class TestProjection:
    def test_exact_rotations_come_back_bit_for_bit(self):
        for w in np.random.default_rng(0).uniform(-2, 2, (50, 3)):
            rotation = spatial.exp3(w)
            assert (spatial.project_rotation(rotation) == rotation).all()

    def test_closest_rotation_is_the_polar_factor(self):
        rng = np.random.default_rng(0)
        noisy = spatial.exp3(rng.uniform(-2, 2, (20, 3))) + 1e-4 * rng.standard_normal((20, 3, 3))
        u, _, vt = np.linalg.svd(noisy)
        np.testing.assert_allclose(spatial.project_rotation(noisy), u @ vt, rtol=0, atol=4e-15)

    def test_is_rotation(self):
        assert spatial.is_rotation(np.eye(3)) is True
        assert spatial.is_rotation(np.eye(3) * (1 + 4e-7)) is True
        assert spatial.is_rotation(np.eye(3) * (1 + 6e-7)) is False
        assert spatial.is_rotation(np.diag([1.0, 1.0, -1.0])) is False
        assert spatial.is_rotation(np.full((3, 3), np.nan)) is False
        assert spatial.is_rotation(np.stack([np.eye(3), -np.eye(3)])).tolist() == [True, False]
        assert spatial.is_rotation(np.eye(3) * 1.01, atol=0.03) is True
