"""Lines, arcs and splines of poses, against their geometry, and followed by an arm."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import InputError, Transformation, ik

from .samples import load

A = Transformation.from_rpy([0.1, 3.0, -0.2], [0.4, -0.1, 0.5])
B = Transformation.from_rpy([-0.3, 2.6, 0.5], [0.5, 0.2, 0.4])


def angles(poses: np.ndarray) -> np.ndarray:
    return np.array([Transformation(a).distance(Transformation(b)).rotation for a, b in pairwise(poses)])


def test_a_line_is_straight_and_even() -> None:
    poses = ik.line(A, B, count=21)
    np.testing.assert_array_equal(poses[0], A.homogeneous)
    np.testing.assert_array_equal(poses[-1], B.homogeneous)
    u = np.linspace(0, 1, 21)[:, None]
    np.testing.assert_allclose(poses[:, :3, 3], (1 - u) * A.translation + u * B.translation, atol=1e-15)
    np.testing.assert_allclose(angles(poses), A.distance(B).rotation / 20, atol=1e-9)
    R = poses[:, :3, :3]
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (21, 1, 1)), atol=1e-14)
    to_point = ik.line(A, [0.5, 0.2, 0.4], step=0.01)
    assert (to_point[:, :3, :3] == A.rotation).all()
    assert np.linalg.norm(np.diff(to_point[:, :3, 3], axis=0), axis=1).max() <= 0.01 + 1e-12


def test_a_turn_on_the_spot_is_a_line_too() -> None:
    turned = A @ Transformation.from_rpy([0, 0, 0.5])
    poses = ik.line(A, turned)
    assert len(poses) == 1 + int(np.ceil(0.5 / np.radians(1))) and angles(poses).max() <= np.radians(1) + 1e-9


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: np.linalg.norm(v) > 0.1),
    st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3),
    st.floats(-6.0, 6.0),
)
def test_an_arc_keeps_its_radius_its_plane_and_its_facing(axis: list[float], center: list[float], angle: float) -> None:
    poses, about = ik.arc(A, center=center, axis=axis, angle=angle, count=15), np.array(axis) / np.linalg.norm(axis)
    arm = poses[:, :3, 3] - center
    np.testing.assert_allclose(arm @ about, arm[0] @ about, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(arm, axis=1), np.linalg.norm(arm[0]), atol=1e-12)
    inside = np.einsum("nji,nj->ni", poses[:, :3, :3], arm)
    np.testing.assert_allclose(inside, np.tile(inside[0], (15, 1)), atol=1e-12)
    last = Transformation.from_axis_angle(about, angle).rotation
    np.testing.assert_allclose(poses[-1, :3, 3], center + last @ arm[0], atol=1e-12)


def test_an_arc_through_three_points_passes_them_in_order() -> None:
    via = [0.45, 0.1, 0.6]
    poses = ik.arc_through(A, via, B, count=2001)
    distance = np.linalg.norm(poses[:, :3, 3] - via, axis=1)
    assert distance.min() < 1e-4 and 0 < distance.argmin() < 2000
    np.testing.assert_allclose(poses[[0, -1]], [A.homogeneous, B.homogeneous], atol=1e-14)
    steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    half = ik.arc_through(Transformation.from_translation([1, 0, 0]), [0, 1, 0], [-1, 0, 0], count=3)
    np.testing.assert_allclose(half[1, :3, 3], [0, 1, 0], atol=1e-15)
    other = ik.arc_through(Transformation.from_translation([1, 0, 0]), [0, -1, 0], [-1, 0, 0], count=3)
    np.testing.assert_allclose(other[1, :3, 3], [0, -1, 0], atol=1e-15)


def test_a_spline_passes_its_poses_without_a_kink() -> None:
    given = [
        A,
        B,
        A @ Transformation.from_rpy([0.2, 0, 0.3], [0.1, 0.1, 0.0]),
        Transformation.from_translation([0.3, 0, 0.7]),
    ]
    poses = ik.spline(given, count=4001)
    for one in given:
        gap = [Transformation(p).distance(one) for p in poses[::1]] if one is given[1] else None
        if gap is not None:
            assert min(g.translation for g in gap) < 1e-3 and min(g.rotation for g in gap) < 5e-3
    np.testing.assert_allclose(poses[[0, -1]], [given[0].homogeneous, given[-1].homogeneous], atol=1e-12)
    velocity = np.diff(poses[:, :3, 3], axis=0)
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() < 0.02 * np.linalg.norm(velocity, axis=1).max()
    turns = angles(poses)
    assert np.abs(np.diff(turns)).max() < 0.02 * turns.max()
    two = ik.spline([A, B], count=5)
    np.testing.assert_allclose(two, ik.line(A, B, count=5), atol=1e-12)


def test_a_generated_path_is_followed() -> None:
    arm = load("sevenr_arm")
    start = np.array([0.3, 0.5, -0.2, 1.2, 0.4, 0.9, -0.3])
    T = arm.fk(start)
    shifted = [Transformation.from_translation(p) @ T for p in ([0.1, -0.1, 0.05], [0.05, 0, 0], [0.05, 0.05, 0])]
    beside = T.translation + np.array([0.0, 0.1, 0.0])
    for poses in (
        ik.line(T, shifted[0].translation),
        ik.arc(T, center=beside, axis=[0, 0, 1], angle=0.8),
        ik.spline([T, *shifted[1:]]),
    ):
        followed = ik.track(arm, poses, start)
        assert followed and np.abs(np.diff(followed.q, axis=0)).max() < 0.1


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: ik.line(A, B, count=1), "count"),
        (lambda: ik.line(A, B, count=5, step=0.1), "exclude"),
        (lambda: ik.line(A, B, step=0.0), "step"),
        (lambda: ik.line(A, B, step=1e-12), "larger"),
        (lambda: ik.line(A, [1.0, 2.0]), "end"),
        (lambda: ik.line("here", B), "start"),
        (lambda: ik.line(A, [np.nan, 0, 0]), "end"),
        (lambda: ik.arc(A, center=[0, 0, 0], axis=[0, 0, 0], angle=1.0), "axis"),
        (lambda: ik.arc(A, center=[0, 0], axis=[0, 0, 1], angle=1.0), "center"),
        (lambda: ik.arc(A, center=[0, 0, 0], axis=[0, 0, 1], angle=np.inf), "angle"),
        (lambda: ik.arc_through(A, (A.translation + B.translation) / 2, B), "on a line"),
        (lambda: ik.arc_through(A, A, B), "on a line"),
        (lambda: ik.spline([A]), "two or more"),
        (lambda: ik.spline([A, A, B]), r"poses\[1\] repeats"),
        (lambda: ik.spline(A), "poses"),
        (lambda: ik.line(A, [1e300, 0, 0]), "end must be within"),
        (lambda: ik.line(A, B, count=2**31 - 1), "count"),
        (lambda: ik.line(A, [[1], [2, 3], 4]), "end"),
        (lambda: ik.arc(A, center=[0, 0, 0], axis=[0, 0, 1], angle=1e300), "step"),
        (lambda: ik.spline([A, Transformation.from_translation([1e300, 0, 0])]), "poses"),
    ],
)
def test_bad_paths_are_refused(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]
