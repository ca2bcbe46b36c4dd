"""Radii, intersections and poses with tolerances; what is refused."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

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

from .tolerance_cases import DESIRED, EVERY_KIND, moved, violation


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
