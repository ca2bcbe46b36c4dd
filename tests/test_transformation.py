"""The value Transformation: axioms of SE(3), constructors, coordinates, and its manners as a Python value."""

import copy
import math
import pickle

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle.robot import spatial
from knuckle.robot.errors import InputError, InputTypeError
from knuckle.robot.transformation import PoseDistance, Transformation, as_transformation

few = settings(max_examples=60, derandomize=True, deadline=None)

angles = st.one_of(
    st.just(0.0),
    st.floats(-300, -6).map(lambda exponent: 10.0**exponent),
    st.floats(1e-6, 3.1),
    st.floats(-16, -3).map(lambda exponent: math.pi - 10.0**exponent),
    st.just(math.pi),
)
axes = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: math.hypot(*v) > 1e-3)
translations = st.tuples(*[st.floats(-2, 2)] * 3)
poses = st.builds(Transformation.from_axis_angle, axes, angles, translations)
points = st.tuples(*[st.floats(-2, 2)] * 3).map(np.array)


def gap(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max()


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
