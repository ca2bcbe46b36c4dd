"""Dynamics in lanes against bare Pinocchio, on every robot, width and number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import DescriptionError, PinRobot
from knuckle.robot import native

from .robot_cases import LOCAL, LWA, ON_PINOCCHIO, REAL, TILTED, WORLD, Array, close, shared, states
from .samples import SAMPLES, load

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason=f"native kernel: {native.REASON}")
PIN = {WORLD: pin.WORLD, LOCAL: pin.LOCAL, LWA: pin.LOCAL_WORLD_ALIGNED}
ROBOTS: dict[str, Callable[[], PinRobot]] = {name: lambda name=name: shared(name) for name in ON_PINOCCHIO}
ROBOTS |= {name: lambda name=name: load(name) for name in SAMPLES}
ROBOTS |= {
    f"{name}, {root}": lambda name=name, root=root: PinRobot.from_urdf(
        REAL / f"{name}.urdf", root_joint=root, base_placement=TILTED
    )
    for name, root in [("ur5", "fixed"), ("xarm7", "fixed"), ("kinova", "planar"), ("panda", "floating")]
}
every_robot = pytest.mark.parametrize("name", ROBOTS)
COUNT = 11  # no multiple of any width


@pytest.fixture(params=(2, 4, 8))
def width(request: pytest.FixtureRequest) -> Iterator[int]:
    core = native.core()
    if request.param > core.lanes():
        pytest.skip(f"this processor has no kernel of {request.param} lanes")
    core.use_lanes(request.param)
    yield request.param
    core.use_lanes(0)


def pinned(robot: PinRobot, function: Callable[..., Any], *arrays: Array) -> Array:
    """Pinocchio's answers row by row, in the robot's coordinates."""
    at, data = robot._coordinates, robot.model.createData()
    rows = []
    for q, *rates in zip(*arrays, strict=True):
        rows.append(function(robot.model, data, at.to_pinocchio(q), *(at.velocity(rate) for rate in rates)))
    return np.array(rows)


@every_robot
def test_forces_and_inertia_equal_pinocchio(name: str, width: int) -> None:
    robot = ROBOTS[name]()
    bodies, G = robot.native_bodies(), robot._coordinates.velocity_map
    assert bodies is not None
    q, dq, ddq = states(robot, COUNT)
    G = np.eye(robot.nv) if G is None else G
    close(bodies.inverse(q, dq, ddq), pinned(robot, pin.rnea, q, dq, ddq) @ G, 1e-12)
    close(bodies.inverse(q, None, None), pinned(robot, pin.computeGeneralizedGravity, q) @ G, 1e-12)
    close(bodies.mass_matrix(q), G.T @ pinned(robot, pin.crba, q) @ G, 1e-12)
    moon = np.array([0.3, -0.2, -1.6])
    bare = robot.model.copy()
    bare.gravity = pin.Motion(moon, np.zeros(3))
    expected = pinned(robot, lambda _, data, *state: pin.rnea(bare, bare.createData(), *state), q, dq, ddq) @ G
    close(bodies.inverse(q, dq, ddq, moon), expected, 1e-12)


@every_robot
def test_forward_dynamics_equals_pinocchio(name: str, width: int) -> None:
    robot = ROBOTS[name]()
    bodies = robot.native_bodies()
    assert bodies is not None
    q, dq, tau = states(robot, COUNT)
    found = bodies.forward(q, dq, tau, False)
    cond = np.linalg.cond(bodies.mass_matrix(q)).max()
    close(bodies.inverse(q, dq, found), tau, 1e-15 * cond + 1e-11)
    if robot._coordinates.velocity_map is None:
        close(found, pinned(robot, pin.aba, q, dq, tau), max(1e-10, 1e-15 * cond))


@every_robot
def test_frames_equal_pinocchio(name: str, width: int) -> None:
    robot = ROBOTS[name]()
    bodies, G = robot.native_bodies(), robot._coordinates.velocity_map
    assert bodies is not None
    q, dq, _ = states(robot, COUNT)
    ids = robot._table.ids_in_order
    poses = bodies.poses(q, bodies.frames(ids))
    joints = [robot.model.getJointId(joint) for joint in robot.joints]
    close(bodies.poses(q, bodies.joints(joints)), [robot.joint_poses(one) for one in q], 1e-13)
    for k, index in enumerate(ids[:: max(1, len(ids) // 6)]):
        frame = bodies.frames([index])
        for reference, its in PIN.items():
            T, J = bodies.pose_and_jacobian(q, frame, reference)
            expected = pinned(robot, lambda m, d, x: pin.computeFrameJacobian(m, d, x, index, its), q)  # noqa: B023
            expected = expected.reshape(COUNT, 6, robot.model.nv)
            close(J, expected if G is None else expected @ G, 1e-12)
            np.testing.assert_array_equal(T, poses[:, k * max(1, len(ids) // 6)])
        frame_name = robot._table.names[ids.index(index)]
        close(poses[:, ids.index(index)], [robot.pose(one, frame_name) for one in q], 1e-13)
        bias = [robot._jacobian_derivative(one, rate, frame_name, LWA) @ rate for one, rate in zip(q, dq, strict=True)]
        close(bodies.bias_acceleration(q, dq, frame), bias, 1e-11)


def test_far_from_the_origin_nothing_is_lost() -> None:
    """The dynamics are summed about the robot, not about the world's origin."""
    near = load("sevenr_arm")
    tilted = PinRobot(wrapper=near.model, base_placement=TILTED)
    away = TILTED.homogeneous.copy()
    away[:3, 3] += [1e5, -2e5, 3e4]
    far = PinRobot(wrapper=near.model, base_placement=away)
    q, dq, ddq = states(near, COUNT)
    close(far.id(q, dq, ddq), tilted.id(q, dq, ddq), 1e-11)
    close(far.mass_matrix(q), tilted.mass_matrix(q), 1e-11)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_threads_change_nothing(threads: int | None) -> None:
    robot = load("quadruped")
    q, dq, ddq = (np.tile(x, (200, 1)) for x in states(robot, COUNT))
    one = robot.id(q, dq, ddq, threads=1), robot.fd(ddq, q, dq, threads=1), robot.mass_matrix(q, threads=1)
    many = robot.id(q, dq, ddq, threads=threads), robot.fd(ddq, q, dq, threads=threads)
    np.testing.assert_array_equal(many[0], one[0])
    np.testing.assert_array_equal(many[1], one[1])
    np.testing.assert_array_equal(robot.mass_matrix(q, threads=threads), one[2])
    for frame in ("fl_foot", "universe"):
        for query in (lambda n, f=frame: robot.fk(q, frame=f, threads=n), _jacobian(robot, q, frame)):
            np.testing.assert_array_equal(query(threads), query(1))
    arm = load("sevenr_arm")
    q = np.tile(states(arm, COUNT)[0], (200, 1))
    np.testing.assert_array_equal(arm.fk(q, threads=threads), arm.fk(q, threads=1))
    np.testing.assert_array_equal(_jacobian(arm, q, "tool")(threads), _jacobian(arm, q, "tool")(1))


def _jacobian(robot: PinRobot, q: Array, frame: str) -> Callable[[int | None], Array]:
    return lambda threads: robot.jacobian(q, frame, LWA, threads=threads)


def test_nan_in_one_state_leaves_the_others_as_they_are_to_the_bit(width: int) -> None:
    robot = load("quadruped")
    bodies = robot.native_bodies()
    assert bodies is not None
    q, dq, ddq = states(robot, COUNT)
    whole = bodies.inverse(q, dq, ddq), bodies.forward(q, dq, ddq, True), bodies.mass_matrix(q)
    q, dq = q.copy(), dq.copy()
    q[3, 8], dq[5, 2] = np.nan, np.nan
    broken = bodies.inverse(q, dq, ddq), bodies.forward(q, dq, ddq, True), bodies.mass_matrix(q)
    for before, after, bad in zip(whole, broken, ([3, 5], [3, 5], [3]), strict=True):
        good = [i for i in range(COUNT) if i not in bad]
        np.testing.assert_array_equal(before[good], after[good])
        assert all(np.isnan(after[i]).any() for i in bad)


def test_a_massless_tip_is_refused_by_name() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "loose")
    robot = PinRobot(wrapper=model)
    with pytest.raises(DescriptionError, match="loose"):
        robot.fd(np.zeros((3, 1)))


def test_joints_the_kernel_does_not_know_are_left_to_pinocchio() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "cart")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), np.eye(3)), pin.SE3.Identity())
    joint = model.addJoint(joint, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3)), pin.SE3.Identity())
    robot = PinRobot(wrapper=model)
    assert robot.native_bodies() is None
    q, dq, ddq = states(robot, COUNT)
    close(robot.id(q, dq, ddq), pinned(robot, pin.rnea, q, dq, ddq), 1e-13)
    close(robot.fd(robot.id(q, dq, ddq), q, dq), ddq, 1e-11)


def test_changes_of_the_robot_are_seen() -> None:
    robot = PinRobot.from_urdf(REAL / "ur5.urdf")
    q = states(robot, COUNT)[0]
    before = robot.gravity_force(q)
    robot.model.gravity = pin.Motion(np.array([0.0, 0.0, -1.62]), np.zeros(3))
    robot.refresh()
    close(robot.gravity_force(q), before * (1.62 / 9.81), 1e-13)
    close(robot.with_payload(1.0).gravity_force(q), [robot.with_payload(1.0).gravity_force(one) for one in q], 1e-13)


def test_what_the_kernel_is_given_is_checked() -> None:
    bodies = load("sevenr_arm").native_bodies()
    assert bodies is not None
    core, q = bodies.core, np.zeros((3, 7))
    for options, words in [
        ({"q": np.zeros((2, 7))}, "q must hold 21"),
        ({"q": q, "inverse": np.zeros((3, 6))}, "inverse must hold 21"),
        ({"q": q, "jacobian": np.zeros((3, 6, 7))}, "frame is required"),
        ({"q": q, "forward": np.zeros((3, 7))}, "forward needs tau"),
    ]:
        with pytest.raises(ValueError, match=words):
            core.evaluate(3, **options)
    with pytest.raises(TypeError, match="q must"):
        core.evaluate(3, q.astype(np.float32))
    with pytest.raises(TypeError, match="contiguous"):
        core.evaluate(3, np.zeros((7, 3)).T)
