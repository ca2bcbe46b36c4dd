"""Values that tests of tolerances share."""

from __future__ import annotations

import pytest
from hypothesis import settings

from knuckle.robot.tolerance import (
    CartesianBox,
    CartesianCylinder,
    CartesianSphere,
    Composed,
    RotationAbsolute,
    RotationAxes,
    RotationAxis,
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
