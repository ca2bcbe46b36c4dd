"""Tolerances: membership and violation by closed forms, intersection, radii that solvers rely on, JSON."""

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle.robot import spatial
from knuckle.robot.errors import InputError, InputTypeError, UnknownNameError
from knuckle.robot.tolerance import (
    DEFAULT_TOLERANCE,
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    Composed,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
    Tolerance,
    ToleratedPose,
)
from knuckle.robot.transformation import Transformation

few = settings(max_examples=60, derandomize=True, deadline=None)
DESIRED = Transformation.from_rpy([0.4, -1.0, 2.0], [0.5, -0.2, 0.8])

EVERY_KIND = [
    CartesianBox([-0.1, None, -0.3], [0.2, 0.5, None]),
    CartesianBox.symmetric([0.1, 0.2, 0.3]),
    CartesianCylinder(0.1, None, (-0.2, 0.3)),
    CartesianCylinder((0.05, 0.2), (-1.0, 2.5), None),
    CartesianSphere(0.2),
    CartesianSphere((0.1, 0.4), (0.2, 1.0), (-0.5, 0.5)),
    RotationAbsolute(0.3),
    RotationAxes([-0.1, -0.2, None], [0.3, 0.2, 0.1]),
    RotationAxes.symmetric(0.25),
    RotationAxis("z", None, 0.1),
    RotationAxis([1, 2, 2], (-0.2, 0.4), 0.05),
    CartesianSphere(0.1) + RotationAbsolute(0.2),
    Composed([]),
]
kinds = pytest.mark.parametrize("tolerance", EVERY_KIND, ids=lambda t: t.kind)

with_radii = pytest.mark.parametrize(
    "tolerance", [t for t in EVERY_KIND if t.position_radius > 0 and t.rotation_radius > 0], ids=lambda t: t.kind
)


def moved(p=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    """DESIRED followed by a deviation in its own axes."""
    return DESIRED @ Transformation.from_rotation_vector(w, p)


def violation(tolerance, p=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    value = tolerance.violation(DESIRED, moved(p, w))
    assert tolerance.contains(DESIRED, moved(p, w)) is (value == 0.0)
    return value


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


class TestRadii:
    @pytest.mark.parametrize(
        ("tolerance", "position", "rotation"),
        [
            (CartesianBox([-0.1, None, -0.3], [0.2, 0.5, None]), 0.1, math.inf),
            (CartesianBox([0.01, -1, -1], [1, 1, 1]), 0, math.inf),
            (CartesianBox.symmetric(None), math.inf, math.inf),
            (CartesianCylinder(0.1, None, (-0.2, 0.05)), 0.05, math.inf),
            (CartesianCylinder(0.1), 0.1, math.inf),
            (CartesianCylinder((0.01, 0.1)), 0, math.inf),
            (CartesianCylinder(0.1, (-3, 3)), 0, math.inf),
            (CartesianSphere(0.2), 0.2, math.inf),
            (CartesianSphere(0.2, 1.0), 0, math.inf),
            (CartesianSphere((0.1, 0.2)), 0, math.inf),
            (RotationAbsolute(0.3), math.inf, 0.3),
            (RotationAbsolute(math.pi), math.inf, math.inf),
            (RotationAbsolute(None), math.inf, math.inf),
            (RotationAxes([-0.1, -0.2, None], [0.3, 0.2, 0.15]), math.inf, 0.1),
            (RotationAxes([0.1, -1, -1], [1, 1, 1]), math.inf, 0),
            (RotationAxis("z", None, 0.1), math.inf, 0.1),
            (RotationAxis("z", 0.05, 0.1), math.inf, 0.05),
            (RotationAxis("z", (0.1, 0.2), 0.1), math.inf, 0),
            (RotationAxis("z", None, math.pi), math.inf, math.inf),
            (Composed([]), math.inf, math.inf),
            (CartesianSphere(0.2) + CartesianBox.symmetric(0.3) + RotationAbsolute(0.1), 0.2, 0.1),
        ],
    )
    def test_closed_forms(self, tolerance, position, rotation):
        assert tolerance.position_radius == position
        assert tolerance.rotation_radius == rotation

    def test_radius_is_the_largest_one(self):
        for tolerance in EVERY_KIND:
            r, t = tolerance.position_radius, tolerance.rotation_radius
            directions = np.random.default_rng(0).standard_normal((400, 3))
            directions = np.vstack(
                [directions / np.linalg.norm(directions, axis=1, keepdims=True), np.eye(3), -np.eye(3)]
            )
            if 0 < r < math.inf:
                assert any(violation(tolerance, 1.05 * r * d) > 0 for d in directions)
            if 0 < t < math.inf:
                assert any(violation(tolerance, w=1.05 * t * d) > 0 for d in directions)


class TestIntersection:
    def test_is_what_lies_in_both(self):
        a, b = CartesianBox.symmetric([0.1, 1, 1]), CartesianBox.symmetric([1, 0.1, 1])
        both = a + b
        for p in ((0.05, 0.05, 0), (0.5, 0.05, 0), (0.05, 0.5, 0), (0.3, 0.5, 0)):
            assert violation(both, p) == max(violation(a, p), violation(b, p))

    def test_mutates_nothing_and_is_flat(self):
        a, b, c = CartesianSphere(0.1), RotationAbsolute(0.2), RotationAxis("z")
        ab = a + b
        abc = ab + c
        assert ab.parts == (a, b)
        assert abc.parts == (a, b, c)
        assert (a + (b + c)) == abc == Composed([ab, c])
        assert (a, b) == (CartesianSphere(0.1), RotationAbsolute(0.2))

    def test_in_place_makes_a_new_one(self):
        tolerance = first = CartesianSphere(0.1)
        tolerance += RotationAbsolute(0.2)
        assert first == CartesianSphere(0.1)
        assert tolerance.parts == (first, RotationAbsolute(0.2))

    def test_only_tolerances(self):
        with pytest.raises(TypeError):
            CartesianSphere(0.1) + 0.1
        with pytest.raises(InputTypeError, match=r"parts\[1\] must be a Tolerance, got float"):
            Composed([CartesianSphere(0.1), 0.1])


class TestToleratedPose:
    def test_default_is_1e_5_m_and_1e_4_rad(self):
        assert DEFAULT_TOLERANCE.position_radius == 1e-5
        assert DEFAULT_TOLERANCE.rotation_radius == 1e-4
        goal = ToleratedPose(DESIRED)
        assert goal.tolerance is DEFAULT_TOLERANCE
        assert goal.valid(DESIRED)
        assert goal.valid(moved((0.99e-5, 0, 0), (0, 0.99e-4, 0)))
        assert not goal.valid(moved((1.01e-5, 0, 0)))
        assert not goal.valid(moved(w=(0, 0, 1.01e-4)))

    def test_violation(self):
        goal = ToleratedPose(DESIRED, CartesianSphere(0.1))
        assert goal.violation(moved((0, 0.3, 0.4))) == pytest.approx(0.4, abs=1e-15)

    def test_plus_adds_a_condition_and_mutates_nothing(self):
        goal = ToleratedPose(DESIRED, CartesianSphere(0.1))
        both = goal + RotationAbsolute(0.2)
        assert goal.tolerance == CartesianSphere(0.1)
        assert both.nominal == DESIRED
        assert both.tolerance == CartesianSphere(0.1) + RotationAbsolute(0.2)
        with pytest.raises(TypeError):
            goal + goal

    def test_takes_any_kind_of_pose(self):
        for nominal in (DESIRED, DESIRED.se3(), DESIRED.homogeneous, DESIRED.homogeneous.tolist()):
            assert ToleratedPose(nominal) == ToleratedPose(DESIRED)

    def test_json_and_pickle(self):
        goal = ToleratedPose(DESIRED, RotationAxis("x") + CartesianBox.symmetric([0.1, None, 0.2]))
        assert ToleratedPose.from_dict(json.loads(json.dumps(goal.to_dict(), allow_nan=False))) == goal
        assert pickle.loads(pickle.dumps(goal)) == goal

    def test_frozen(self):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            ToleratedPose(DESIRED).tolerance = CartesianSphere(1)

    def test_deviation_of_equal_poses_is_exactly_zero(self):
        zero = ToleratedPose(DESIRED, CartesianSphere(0) + RotationAbsolute(0))
        assert zero.violation(DESIRED) == 0
        assert zero.violation(moved((1e-11, 0, 0))) == pytest.approx(1e-11, rel=1e-4)

    def test_bad_input(self):
        with pytest.raises(InputError, match=r"^nominal must have shape \(4, 4\)"):
            ToleratedPose(np.eye(3))
        with pytest.raises(InputTypeError, match=r"^tolerance must be a Tolerance, got float"):
            ToleratedPose(DESIRED, 1e-3)
        with pytest.raises(InputError, match=r"^actual "):
            ToleratedPose(DESIRED).valid(np.eye(3))
        with pytest.raises(InputError, match="needs the fields nominal, tolerance; got nominal"):
            ToleratedPose.from_dict({"nominal": np.eye(4).tolist()})


class TestBadInput:
    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (lambda: CartesianBox([1, 2], [3, 4, 5]), "lower must be 3 numbers"),
            (lambda: CartesianBox([0, 0, 0], "abc"), "upper must be 3 numbers"),
            (lambda: CartesianBox([0, 0, 0.5], [1, 1, 0.4]), r"lower must not exceed upper, got 0.5 > 0.4 at index 2"),
            (lambda: CartesianBox([0, np.nan, 0], [1, 1, 1]), r"lower\[1\] must not be NaN"),
            (lambda: CartesianBox.symmetric(-0.1), "lower must not exceed upper"),
            (lambda: CartesianBox.symmetric([1, "x", 2]), r"half_widths\[1\] must be a number or None, got str 'x'"),
            (lambda: CartesianCylinder(-1), "r must not be negative, got -1"),
            (lambda: CartesianCylinder((-1, 2)), "r must not go below 0, got -1"),
            (lambda: CartesianCylinder(1, (2, 1)), r"phi must have low <= high, got \(2, 1\)"),
            (lambda: CartesianCylinder(1, None, (0, 1, 2)), "z must be one number or"),
            (lambda: CartesianSphere((0.2, 0.1)), "r must have low <= high"),
            (lambda: CartesianSphere("big"), "r must be one number or"),
            (lambda: CartesianSphere(1, (-0.1, 1)), "theta must not go below 0"),
            (lambda: CartesianSphere(np.nan), "r must not be NaN"),
            (lambda: RotationAbsolute(-0.1), "angle must not be negative"),
            (lambda: RotationAbsolute((0, 1)), "angle must be a number or None, got tuple"),
            (lambda: RotationAxis("w"), "no axis named 'w'; known: 'x', 'y', 'z'"),
            (lambda: RotationAxis([0, 0, 0]), "axis must not be zero"),
            (lambda: RotationAxis([0, 1]), r"axis must have shape \(3,\)"),
            (lambda: RotationAxis("z", tilt=-1), "tilt must not be negative"),
            (lambda: RotationAxis("z", -0.1), "angle must not be negative"),
        ],
    )
    def test_the_argument_is_named(self, build, message):
        with pytest.raises(InputError, match=f"^{message}"):
            build()

    def test_unknown_kind_has_a_suggestion(self):
        with pytest.raises(
            UnknownNameError, match="no tolerance kind named 'cartesian_bix'; did you mean 'cartesian_box'"
        ):
            Tolerance.from_dict({"kind": "cartesian_bix"})

    @pytest.mark.parametrize("data", [{}, {"kind": None}, {"kind": ["x"]}])
    def test_no_kind(self, data):
        with pytest.raises(UnknownNameError, match="no tolerance kind named"):
            Tolerance.from_dict(data)

    @pytest.mark.parametrize("data", [{"lower": [0, 0, 0]}, {"lower": [0] * 3, "upper": [1] * 3, "size": 1}])
    def test_fields(self, data):
        with pytest.raises(InputError, match="tolerance 'cartesian_box' needs the fields lower, upper; got lower"):
            Tolerance.from_dict({"kind": "cartesian_box", **data})

    @pytest.mark.parametrize("parts", [None, 3, "box", {}])
    def test_parts(self, parts):
        with pytest.raises(InputTypeError, match="parts must be a list of tolerances"):
            Tolerance.from_dict({"kind": "composed", "parts": parts})

    @pytest.mark.parametrize("data", [None, 3, "box", []])
    def test_no_mapping(self, data):
        with pytest.raises(InputTypeError, match="tolerance must be a mapping"):
            Tolerance.from_dict(data)

    def test_failed_call_registers_nothing(self):
        with pytest.raises(InputError):
            Composed([1])
        assert Tolerance.from_dict(Composed([]).to_dict()) == Composed([])


def test_a_new_kind_is_one_class():
    class OnlyAbove(Tolerance):
        __slots__ = ()
        kind = "only_above"
        position_radius = 0.0
        rotation_radius = math.inf

        def _excess(self, p, r):
            return -p[2]

        def __eq__(self, other):
            return type(other) is type(self)

    above = OnlyAbove()
    assert above.contains(DESIRED, moved((0, 0, 0.1)))
    assert above.violation(DESIRED, moved((0, 0, -0.1))) == pytest.approx(0.1)
    assert Tolerance.from_dict((above + CartesianSphere(1)).to_dict()) == above + CartesianSphere(1)


def test_angle_of_the_deviation_is_the_pose_error():
    actual = moved((0.1, 0.2, 0.3), (0.5, -0.2, 0.9))
    distance, angle = spatial.pose_error(actual.homogeneous, DESIRED.homogeneous)
    assert CartesianSphere(0).violation(DESIRED, actual) == pytest.approx(distance, abs=1e-15)
    assert RotationAbsolute(0).violation(DESIRED, actual) == pytest.approx(angle, abs=1e-15)
