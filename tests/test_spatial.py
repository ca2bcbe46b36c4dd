"""SO(3) and SE(3) on arrays, against closed forms, power series, scipy and Pinocchio."""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from knuckle.robot import spatial
from knuckle.robot.errors import InputError, InputTypeError, UnknownNameError
from knuckle.robot.spatial import ReferenceFrame

few = settings(max_examples=100, derandomize=True, deadline=None)

near_zero = st.floats(-300, -6).map(lambda exponent: 10.0**exponent)
near_pi = st.one_of(st.floats(-16, -3).map(lambda exponent: math.pi - 10.0**exponent), st.just(math.pi))
angles = st.one_of(st.just(0.0), near_zero, st.floats(1e-6, 3.1), near_pi)
axes = st.one_of(
    st.sampled_from([np.eye(3)[k] * sign for k in range(3) for sign in (1.0, -1.0)]),
    st.tuples(*[st.floats(-1, 1)] * 3)
    .filter(lambda v: math.hypot(*v) > 1e-3)
    .map(lambda v: np.array(v) / math.hypot(*v)),
)
rotation_vectors = st.builds(lambda axis, angle: axis * angle, axes, angles)
vectors = st.tuples(*[st.floats(-2, 2)] * 3).map(np.array)
twists = st.builds(lambda v, w: np.concatenate([v, w]), vectors, rotation_vectors)


def series(generator):
    """Sum of (-X)^n / (n + 1)!: the right Jacobian of the exponential whose generator is X."""
    term = total = np.eye(len(generator))
    for n in range(1, 60):
        term = -term @ generator / (n + 1)
        total = total + term
    return total


def hat(twist):
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = spatial.skew(twist[3:]), twist[:3]
    return out


def ad(twist):
    v, w = spatial.skew(twist[:3]), spatial.skew(twist[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def pose_batch(*lead, seed=0):
    rng = np.random.default_rng(seed)
    return spatial.exp6(rng.uniform(-1.5, 1.5, (*lead, 6)))


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


ROTATION_FUNCTIONS = [
    *(spatial.log3, spatial.rotation_angle, spatial.jlog3, spatial.quat_xyzw_from_rotation),
    *(spatial.rpy_from_rotation, spatial.project_rotation, spatial.is_rotation),
]
POSE_FUNCTIONS = [spatial.log6, spatial.jlog6, spatial.inverse, spatial.adjoint, spatial.compose]
VECTOR_FUNCTIONS = [spatial.skew, spatial.exp3, spatial.jexp3, spatial.rotation_from_rpy]


def awkward_vectors():
    """Zero, tiny, ordinary, half turns: every branch in one batch (2, 6, 3)."""
    scales = np.array([0.0, 1e-300, 1e-9, 0.05, 1.3, math.pi - 1e-9, math.pi, math.pi, 0.1, 0.0999, 3.0, 2.0])
    axes = np.random.default_rng(5).standard_normal((12, 3))
    axes[6:8] = [[0, 1, 0], [0, 0, -1]]
    return (axes / np.linalg.norm(axes, axis=1, keepdims=True) * scales[:, None]).reshape(2, 6, 3)


def check_batch(function, batch, tail):
    lead = batch.shape[: batch.ndim - tail]
    result = function(batch)
    for index in np.ndindex(*lead):
        np.testing.assert_allclose(result[index], function(batch[index]), rtol=0, atol=2e-15)
    assert function(batch[:0]).shape == (0, *result.shape[1:])


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
