"""Values that tests of Transformation share."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from knuckle.robot.transformation import Transformation

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
