"""Poses, twists and wrenches on plain arrays, alone and in batches."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from scipy.linalg import expm

from knuckle.robot import spatial
from knuckle.robot.errors import InputError, InputTypeError

from .spatial_cases import (
    POSE_FUNCTIONS,
    ROTATION_FUNCTIONS,
    VECTOR_FUNCTIONS,
    ad,
    angles,
    awkward_vectors,
    axes,
    check_batch,
    few,
    hat,
    pose_batch,
    series,
    twists,
    vectors,
)


class TestPoses:
    @few
    @given(twists)
    def test_exp6_is_the_matrix_exponential(self, twist):
        assert np.abs(spatial.exp6(twist) - expm(hat(twist))).max() < 1e-14

    @few
    @given(twists)
    def test_exp_of_log_is_the_pose(self, twist):
        pose = spatial.exp6(twist)
        assert np.abs(spatial.exp6(spatial.log6(pose)) - pose).max() < 1e-14

    @few
    @given(twists)
    def test_log6_inverts_exp6(self, twist):
        back = spatial.log6(spatial.exp6(twist))
        if math.pi - np.linalg.norm(twist[3:]) > 1e-12:
            assert np.abs(back - twist).max() < 1e-14
        else:  # near the half turn w and -w differ by rounding, and v with them
            assert np.linalg.norm(back[3:]) == pytest.approx(math.pi, abs=2e-12)

    @few
    @given(twists)
    def test_jlog6_inverts_its_power_series(self, twist):
        pose = spatial.exp6(twist)
        product = spatial.jlog6(pose) @ series(ad(spatial.log6(pose)))
        assert np.abs(product - np.eye(6)).max() < 4e-14

    def test_jlog6_is_the_derivative_of_log6(self):
        h = 1e-6
        for pose in pose_batch(20):
            columns = [
                (spatial.log6(pose @ spatial.exp6(h * e)) - spatial.log6(pose @ spatial.exp6(-h * e))) / (2 * h)
                for e in np.eye(6)
            ]
            np.testing.assert_allclose(spatial.jlog6(pose), np.transpose(columns), rtol=0, atol=2e-9)

    @pytest.mark.parametrize("seed", range(10))
    def test_pinocchio_away_from_its_branches(self, seed):
        rng = np.random.default_rng(seed)
        twist = rng.standard_normal(6)
        twist[3:] *= rng.uniform(0.1, 3.0) / np.linalg.norm(twist[3:])
        pose, oracle = spatial.exp6(twist), pin.exp6(twist)
        np.testing.assert_allclose(pose, oracle.homogeneous, rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.log6(pose), pin.log6(pose).vector, rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.jlog6(pose), pin.Jlog6(pin.SE3(pose)), rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.inverse(pose), oracle.inverse().homogeneous, rtol=0, atol=1e-13)
        np.testing.assert_allclose(spatial.adjoint(pose), oracle.action, rtol=0, atol=1e-13)

    def test_pure_translation_is_exact(self):
        twist = np.array([0.1, -0.2, 0.3, 0, 0, 0])
        pose = spatial.exp6(twist)
        assert pose[:3, 3].tolist() == [0.1, -0.2, 0.3]
        assert spatial.log6(pose).tolist() == twist.tolist()

    def test_quarter_screw_closed_form(self):
        pose = spatial.exp6([1.0, 0.0, 0.5, 0.0, 0.0, math.pi / 2])
        expected = [[0, -1, 0, 2 / math.pi], [1, 0, 0, 2 / math.pi], [0, 0, 1, 0.5], [0, 0, 0, 1]]
        np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-15)

    def test_inverse_and_compose(self):
        a, b = pose_batch(2)
        np.testing.assert_allclose(spatial.compose(a, spatial.inverse(a)), np.eye(4), rtol=0, atol=1e-15)
        np.testing.assert_allclose(spatial.inverse(a @ b), spatial.inverse(b) @ spatial.inverse(a), rtol=0, atol=1e-15)
        np.testing.assert_array_equal(spatial.compose(), np.eye(4))
        np.testing.assert_array_equal(spatial.compose(a, b, a), a @ b @ a)

    def test_results_are_fresh(self):
        pose = pose_batch()
        before = pose.copy()
        for result in (spatial.compose(pose), spatial.inverse(pose), spatial.adjoint(pose)):
            result[:] = 7.0
        np.testing.assert_array_equal(pose, before)


class TestTwistsAndWrenches:
    def test_pinocchio_actions(self):
        rng = np.random.default_rng(3)
        for pose in pose_batch(10):
            vector = rng.standard_normal(6)
            motion = pin.SE3(pose).act(pin.Motion(vector)).vector
            force = pin.SE3(pose).act(pin.Force(vector)).vector
            np.testing.assert_allclose(spatial.transform_twist(pose, vector), motion, rtol=0, atol=1e-14)
            np.testing.assert_allclose(spatial.transform_wrench(pose, vector), force, rtol=0, atol=1e-14)

    @few
    @given(twists, twists, twists)
    def test_power_does_not_depend_on_the_frame(self, motion, twist, wrench):
        pose = spatial.exp6(motion)
        power = spatial.transform_wrench(pose, wrench) @ spatial.transform_twist(pose, twist)
        assert abs(power - wrench @ twist) < 1e-12

    @few
    @given(twists, twists)
    def test_adjoint_moves_the_screw(self, motion, twist):
        pose = spatial.exp6(motion)
        moved = spatial.exp6(spatial.adjoint(pose) @ twist)
        assert np.abs(moved - pose @ spatial.exp6(twist) @ spatial.inverse(pose)).max() < 1e-13

    def test_adjoint_is_a_homomorphism_and_transform_twist(self):
        a, b = pose_batch(2)
        twist = np.arange(6.0)
        np.testing.assert_allclose(spatial.adjoint(a @ b), spatial.adjoint(a) @ spatial.adjoint(b), rtol=0, atol=1e-14)
        np.testing.assert_allclose(spatial.adjoint(a) @ twist, spatial.transform_twist(a, twist), rtol=0, atol=1e-14)

    def test_lever_arm(self):
        pose = np.eye(4)
        pose[0, 3] = 2.0
        assert spatial.transform_wrench(pose, [0, 0, 5, 0, 0, 0]).tolist() == [0, 0, 5, 0, -10, 0]
        assert spatial.transform_twist(pose, [0, 0, 0, 0, 0, 1]).tolist() == [0, -2, 0, 0, 0, 1]


class TestPoseError:
    @few
    @given(twists, axes, angles, vectors)
    def test_distance_and_angle(self, twist, axis, angle, offset):
        desired = spatial.exp6(twist)
        actual = desired.copy()
        actual[:3, :3] = desired[:3, :3] @ spatial.exp3(axis * angle)
        actual[:3, 3] += offset
        distance, turn = spatial.pose_error(actual, desired)
        assert distance == pytest.approx(np.linalg.norm(offset), abs=2e-15)
        assert turn == pytest.approx(angle, abs=2e-15)
        assert spatial.pose_error(desired, actual) == (distance, turn)

    def test_equal_poses_are_exactly_zero(self):
        for pose in pose_batch(20):
            assert spatial.pose_error(pose, pose) == (0.0, 0.0)

    def test_world_frame_does_not_matter(self):
        a, b, world = pose_batch(3)
        expected = spatial.pose_error(a, b)
        assert spatial.pose_error(world @ a, world @ b) == pytest.approx(expected, abs=1e-14)


class TestBatches:
    @pytest.mark.parametrize("function", VECTOR_FUNCTIONS, ids=lambda f: f.__name__)
    def test_vectors(self, function):
        check_batch(function, awkward_vectors(), 1)

    @pytest.mark.parametrize("function", ROTATION_FUNCTIONS, ids=lambda f: f.__name__)
    def test_rotations(self, function):
        check_batch(function, spatial.exp3(awkward_vectors()), 2)

    @pytest.mark.parametrize("function", POSE_FUNCTIONS, ids=lambda f: f.__name__)
    def test_poses(self, function):
        twists = np.concatenate([np.ones((2, 6, 3)), awkward_vectors()], axis=-1)
        check_batch(spatial.exp6, twists, 1)
        check_batch(function, spatial.exp6(twists), 2)

    def test_quaternions(self):
        check_batch(spatial.rotation_from_quat_xyzw, np.random.default_rng(0).standard_normal((4, 5, 4)), 1)

    def test_one_pose_against_many(self):
        poses, one, vectors = pose_batch(5), pose_batch(seed=9), np.arange(30.0).reshape(5, 6)
        for function in (spatial.transform_twist, spatial.transform_wrench):
            for pose, vector in ((one, vectors), (poses, vectors[0]), (poses, vectors)):
                result = function(pose, vector)
                for k in range(5):
                    single = function(pose if pose.ndim == 2 else pose[k], vector if vector.ndim == 1 else vector[k])
                    np.testing.assert_allclose(result[k], single, rtol=0, atol=1e-13)
        distance, angle = spatial.pose_error(poses, one)
        assert (distance.shape, angle.shape) == ((5,), (5,))
        for k in range(5):
            assert (distance[k], angle[k]) == pytest.approx(spatial.pose_error(poses[k], one), abs=1e-15)
        assert spatial.compose(one, poses).shape == (5, 4, 4)

    def test_nan_stays_in_its_row(self):
        poses = pose_batch(3)
        poses[1, 0, 1] = np.nan
        for function in (spatial.log6, spatial.jlog6, spatial.inverse, spatial.adjoint):
            result = function(poses)
            assert np.isnan(result[1]).any()
            np.testing.assert_allclose(result[[0, 2]], function(poses[[0, 2]]), rtol=0, atol=1e-15)
            assert np.isnan(function(poses[1])).any()


class TestShapes:
    @pytest.mark.parametrize("function", [spatial.skew, spatial.exp3, spatial.jexp3, spatial.rotation_from_rpy])
    @pytest.mark.parametrize("value", [[1, 2], np.zeros((3, 2)), 1.0, []])
    def test_vectors(self, function, value):
        with pytest.raises(InputError, match=r"must have shape \(\.\.\., 3\), got"):
            function(value)

    @pytest.mark.parametrize("function", ROTATION_FUNCTIONS, ids=lambda f: f.__name__)
    def test_rotations(self, function):
        with pytest.raises(InputError, match=r"rotation must have shape \(\.\.\., 3, 3\), got \(4, 4\)"):
            function(np.eye(4))

    @pytest.mark.parametrize("function", POSE_FUNCTIONS, ids=lambda f: f.__name__)
    def test_poses(self, function):
        with pytest.raises(InputError, match=r"pose.* must have shape \(\.\.\., 4, 4\), got \(3, 3\)"):
            function(np.eye(3))

    @pytest.mark.parametrize("value", ["abc", [True, False, True], [1j, 0, 0], [None] * 3, {}])
    def test_kinds(self, value):
        with pytest.raises(InputTypeError, match="w "):
            spatial.exp3(value)

    def test_lists_and_integers_are_taken(self):
        assert spatial.exp3([0, 0, 0]).tolist() == np.eye(3).tolist()
        assert spatial.log3(np.eye(3, dtype=np.float32)).dtype == np.float64
        assert spatial.inverse(np.eye(4, dtype=int)).tolist() == np.eye(4).tolist()
