"""Values that tests of rotations and poses share."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from knuckle.robot import spatial

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
