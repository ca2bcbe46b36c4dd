"""What every robot promises, whatever stands behind it. To add a backend: one line in BACKENDS."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from knuckle import InputError, PinRobot, ReferenceFrame, RobotBase, Transformation

from . import samples
from .planar_arm import PlanarArm
from .robot_cases import close

LWA, WORLD, LOCAL = ReferenceFrame.LOCAL_WORLD_ALIGNED, ReferenceFrame.WORLD, ReferenceFrame.LOCAL
DATA = samples.ROOT / "tests" / "data" / "urdf"


def real(name: str, tcp: str, **options) -> Callable[[], RobotBase]:
    return lambda: PinRobot.from_urdf(DATA / f"{name}.urdf", tcp=tcp, **options)


def sample(name: str, tcp: str | None = None) -> Callable[[], RobotBase]:
    return lambda: PinRobot.from_urdf(samples.path_of(name), tcp=tcp)


TILT = Transformation.from_rpy([0.3, -0.2, 0.5], [0.4, -0.3, 0.2])
BACKENDS: dict[str, Callable[[], RobotBase]] = {
    "planar": PlanarArm,
    "planar, moved": lambda: PlanarArm(base_placement=TILT),
    "planar_3r": sample("planar_3r"),
    "scara": sample("scara"),
    "sevenr_arm": sample("sevenr_arm"),
    "gripper": sample("gripper", "left_pad"),
    "pan_tilt_continuous": sample("pan_tilt_continuous"),
    "quadruped": sample("quadruped", "fl_foot"),
    "dual_arm": sample("dual_arm", "left_tool"),
    "panda": real("panda", "panda_hand"),
    "kinova, moved": real("kinova", "j2s6s200_end_effector", base_placement=TILT),
    "solo12, floating": real("solo12", "FL_FOOT", root_joint="floating"),
}


@pytest.fixture(params=BACKENDS)
def robot(request) -> RobotBase:
    return BACKENDS[request.param]()


@pytest.fixture
def state(robot: RobotBase):
    rng = np.random.default_rng(7)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def slope(f: Callable[[float], np.ndarray], h: float = 1e-4) -> np.ndarray:
    """Derivative at 0, error of order h^4."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def test_counts_names_and_limits_agree(robot: RobotBase) -> None:
    assert robot.dof == robot.nv and len(robot.joints) == len(set(robot.joints))
    assert len(robot.dof_names) == robot.nv and len(robot.coordinate_names) == robot.nq
    assert robot.joint_limits.shape == (2, robot.nq)
    for limits in (
        robot.joint_velocity_limits,
        robot.joint_torque_limits,
        robot.joint_acceleration_limits,
        robot.joint_jerk_limits,
    ):
        assert limits.shape == (robot.nv,) and (limits >= 0).all()
    assert robot.tcp in robot.frames
    assert set(robot.joints) <= set(robot.parents)
    base = [joint for joint, parent in robot.parents.items() if joint == parent]
    assert len(base) == 1
    assert robot.mass > 0
    assert robot.q_in_joint_limits(robot.home_configuration)


def test_forward_kinematics_of_all_kinds_agree(robot: RobotBase, state) -> None:
    q = state[0]
    full, joints = robot.fk(q, kind="full"), robot.fk(q, kind="joints")
    assert list(full) == robot.frames and list(joints) == robot.joints
    assert robot.fk(q).isclose(full[robot.tcp], 1e-13)
    for name in robot.frames:
        assert full[name].isclose(robot.fk(q, frame=name), 1e-13)
    assert robot.fk(q).isclose(robot.pose(q, robot.tcp), 1e-13)


@pytest.mark.parametrize("reference", list(ReferenceFrame))
def test_jacobian_is_the_derivative_of_the_pose(robot: RobotBase, state, reference: ReferenceFrame) -> None:
    q, dq, _ = state
    T = robot.fk(q)
    rate = slope(lambda h: robot.fk(robot.integrate(q, h * dq)).homogeneous)
    spin = rate[:3, :3] @ T.rotation.T
    v, w = rate[:3, 3], np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    expected = {
        LWA: np.r_[v, w],
        WORLD: np.r_[v - np.cross(w, T.translation), w],
        LOCAL: np.r_[T.rotation.T @ v, T.rotation.T @ w],
    }[reference]
    np.testing.assert_allclose(robot.jacobian(q, reference=reference) @ dq, expected, rtol=0, atol=1e-9)
    rate = slope(lambda h: robot.jacobian(robot.integrate(q, h * dq), reference=reference))
    np.testing.assert_allclose(robot.jacobian_derivative(q, dq, reference=reference), rate, rtol=0, atol=2e-8)


def test_tool_velocity_and_acceleration_are_derivatives(robot: RobotBase, state) -> None:
    q, dq, ddq = state

    def velocity(h: float) -> np.ndarray:
        robot.update_configuration(robot.integrate(q, h * dq + 0.5 * h * h * ddq), dq + h * ddq)
        return robot.tcp_velocity

    rate = slope(velocity)
    robot.update_configuration(q, dq, ddq)
    np.testing.assert_allclose(robot.tcp_velocity, robot.jacobian(reference=LWA) @ dq, rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.tcp_velocity_in(LOCAL), robot.jacobian(reference=LOCAL) @ dq, rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.tcp_acceleration, rate, rtol=0, atol=1e-7 * (1 + np.abs(rate).max()))


def test_inverse_dynamics_is_mass_coriolis_gravity(robot: RobotBase, state) -> None:
    q, dq, ddq = state
    M, h, g = robot.mass_matrix(q), robot.coriolis_force(q, dq), robot.gravity_force(q)
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(M).min() > 0
    np.testing.assert_allclose(robot.bias_force(q, dq), h + g, rtol=0, atol=1e-10)
    tau = robot.id(q, dq, ddq, motor_inertia=False, friction=False)
    np.testing.assert_allclose(tau, M @ ddq + h + g, rtol=0, atol=1e-9)
    np.testing.assert_allclose(robot.static_torque(q), g, rtol=0, atol=1e-12)
    assert robot.kinetic_energy(q, dq) == pytest.approx(0.5 * dq @ M @ dq)


def test_gravity_is_the_slope_of_the_potential_energy(robot: RobotBase, state) -> None:
    q = state[0]
    g = [slope(lambda h, e=e: robot.potential_energy(robot.integrate(q, h * e))) for e in np.eye(robot.nv)]
    np.testing.assert_allclose(robot.gravity_force(q), g, rtol=0, atol=1e-8)


def test_power_of_the_torque_is_the_change_of_energy(robot: RobotBase, state) -> None:
    q, dq, ddq = state

    def energy(h: float) -> float:
        moved, speed = robot.integrate(q, h * dq + 0.5 * h * h * ddq), dq + h * ddq
        return robot.kinetic_energy(moved, speed) + robot.potential_energy(moved)

    tau = robot.id(q, dq, ddq, motor_inertia=False, friction=False)
    assert slope(energy) == pytest.approx(tau @ dq, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("motor_inertia", [False, True])
@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize("pushed", [False, True])
def test_forward_dynamics_inverts_inverse_dynamics(
    robot: RobotBase, state, motor_inertia: bool, friction: bool, pushed: bool
) -> None:
    q, dq, ddq = state
    options = {"motor_inertia": motor_inertia, "friction": friction}
    if pushed:
        options |= {"eef_wrench": [3.0, -2.0, 1.0, 0.5, -0.4, 0.3], "eef_wrench_frame": "tcp"}
    tau = robot.id(q, dq, ddq, **options)
    np.testing.assert_allclose(
        robot.fd(tau, q, dq, **options), ddq, rtol=0, atol=1e-9 * (1 + np.linalg.cond(robot.crba(q)) / 1e4)
    )


def test_a_wrench_at_the_tool_costs_its_jacobian_transposed(robot: RobotBase, state) -> None:
    q, dq, ddq = state
    w = np.array([1.0, -2.0, 3.0, 0.4, -0.5, 0.6])
    J, R = robot.jacobian(q, reference=LWA), robot.fk(q).rotation
    free = robot.id(q, dq, ddq)
    axes = {"world": np.eye(3), "tcp": R, "local": R, "base": robot.placement.rotation, robot.frames[-1]: None}
    for frame, A in axes.items():
        A = robot.fk(q, frame=frame).rotation if A is None else A
        turned = np.r_[A @ w[:3], A @ w[3:]]
        pushed = robot.id(q, dq, ddq, eef_wrench=w, eef_wrench_frame=frame)
        np.testing.assert_allclose(free - pushed, J.T @ turned, rtol=0, atol=1e-11)
        held = robot.static_torque(q, eef_wrench=w, eef_wrench_frame=frame)
        np.testing.assert_allclose(held, robot.gravity_force(q) - J.T @ turned, rtol=0, atol=1e-11)


def test_batches_are_loops(robot: RobotBase) -> None:
    rng = np.random.default_rng(2)
    Q = np.array([robot.random_configuration(rng) for _ in range(5)])
    V, A = rng.normal(size=(2, 5, robot.nv))
    pairs = [
        (robot.fk(Q), [robot.fk(q).homogeneous for q in Q]),
        (robot.fk(Q, kind="joints"), [[T.homogeneous for T in robot.fk(q, kind="joints").values()] for q in Q]),
        (robot.fk(Q, kind="full"), [[T.homogeneous for T in robot.fk(q, kind="full").values()] for q in Q]),
        (robot.jacobian(Q, reference=LOCAL), [robot.jacobian(q, reference=LOCAL) for q in Q]),
        (robot.mass_matrix(Q), [robot.mass_matrix(q) for q in Q]),
        (robot.gravity_force(Q), [robot.gravity_force(q) for q in Q]),
        (robot.id(Q, V, A), [robot.id(q, v, a) for q, v, a in zip(Q, V, A, strict=True)]),
        (robot.id(Q[0], V, A[0]), [robot.id(Q[0], v, A[0]) for v in V]),
        (robot.fd(A, Q, V), [robot.fd(a, q, v) for q, v, a in zip(Q, V, A, strict=True)]),
    ]
    for got, expected in pairs:
        close(got, expected, 1e-11)
    assert robot.fk(Q[:0]).shape == (0, 4, 4)
    assert robot.jacobian(Q[:0], reference=LWA).shape == (0, 6, robot.nv)
    assert robot.id(Q[:0]).shape == (0, robot.nv)
    with pytest.raises(InputError, match="length"):
        robot.id(Q, V[:3])


def test_manifold(robot: RobotBase, state) -> None:
    q, dq, _ = state
    step = 0.3 * dq / max(1.0, np.abs(dq).max())
    moved = robot.integrate(q, step)
    np.testing.assert_allclose(robot.difference(q, moved), step, rtol=0, atol=1e-9)
    np.testing.assert_allclose(robot.interpolate(q, moved, 0.0), q, rtol=0, atol=1e-12)
    middle = robot.interpolate(q, moved, 0.5)
    np.testing.assert_allclose(robot.difference(q, middle), 0.5 * step, rtol=0, atol=1e-9)
    assert robot.fk(robot.interpolate(q, moved, 1.0)).isclose(robot.fk(moved), 1e-9)
    assert robot.fk(robot.integrate(q, np.zeros(robot.nv))).isclose(robot.fk(q), 1e-12)
    clipped = robot.clip_to_limits(robot.integrate(q, 20 * np.ones(robot.nv)))
    assert robot.q_in_joint_limits(clipped)


def test_random_configurations_keep_the_limits_and_the_seed(robot: RobotBase) -> None:
    for seed in range(20):
        q = robot.random_configuration(seed)
        assert robot.q_in_joint_limits(q)
        np.testing.assert_array_equal(q, robot.random_configuration(np.random.default_rng(seed)))
    assert not np.array_equal(robot.random_configuration(1), robot.random_configuration(2))


def test_queries_move_nothing_and_share_nothing(robot: RobotBase, state) -> None:
    q, dq, ddq = state
    robot.update_configuration(q, dq, ddq)
    kept = q.copy(), dq.copy(), ddq.copy()
    q += 1.0 if robot.nq == robot.nv else 0.0  # what was handed in is not what is stored
    other = robot.random_configuration(3)
    answers = [
        lambda: robot.fk(other).homogeneous,
        lambda: robot.jacobian(other, reference=LWA),
        lambda: robot.mass_matrix(other),
        lambda: robot.id(other, dq, ddq),
        lambda: robot.fd(dq, other, dq),
        lambda: robot.gravity_force(other),
        lambda: robot.coriolis_force(other, dq),
        lambda: robot.joint_limits,
        lambda: robot.neutral(),
    ]
    for answer in answers:
        first = answer()
        before = first.copy()
        if first.flags.writeable:
            first += 1.0
        robot.fk(robot.random_configuration(4), kind="full")
        np.testing.assert_array_equal(answer(), before)
    for stored, expected in zip((robot.q, robot.dq, robot.ddq), kept, strict=True):
        np.testing.assert_allclose(stored, expected, rtol=0, atol=1e-15)  # unit quaternions are normalised
        assert not stored.flags.writeable


def test_copies_behave_alike_and_share_nothing(robot: RobotBase, state) -> None:
    q, dq, ddq = state
    robot.update_configuration(q, dq)
    for twin in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        np.testing.assert_array_equal(twin.q, robot.q)
        assert (twin.name, twin.tcp, twin.joints, twin.frames) == (robot.name, robot.tcp, robot.joints, robot.frames)
        np.testing.assert_array_equal(twin.id(q, dq, ddq), robot.id(q, dq, ddq))
        assert twin.fk(q) == robot.fk(q)
        before = robot.fk(q)
        twin.set_base_placement(TILT @ TILT)
        twin.update_configuration(robot.neutral())
        assert robot.fk(q) == before and twin.fk(q) != before
        np.testing.assert_allclose(robot.q, q, rtol=0, atol=1e-15)


def test_the_base_carries_everything(robot: RobotBase, state) -> None:
    q, dq, _ = state
    before = robot.fk(q, kind="full")
    start, M, h = robot.placement, robot.mass_matrix(q), robot.coriolis_force(q, dq)
    robot.move(TILT)
    assert robot.placement.isclose(TILT @ start, 1e-12)
    for name, T in robot.fk(q, kind="full").items():
        if name != "universe":
            assert T.isclose(TILT @ before[name], 1e-11), name
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-11)
    np.testing.assert_allclose(robot.coriolis_force(q, dq), h, rtol=0, atol=1e-10)
    robot.set_base_placement(start)
    assert robot.fk(q).isclose(before[robot.tcp], 1e-11)


def test_joints_by_name(robot: RobotBase, state) -> None:
    q = state[0]
    named = robot.joint_values(q)
    assert list(named) == robot.joints
    np.testing.assert_allclose(robot.configuration_from(named), q, rtol=0, atol=1e-12)
    assert robot.fk(named).isclose(robot.fk(q), 1e-12)
    robot.update_configuration(q)
    first = robot.joints[-1]
    assert robot.fk({first: named[first]}).isclose(robot.fk(q), 1e-12)
    order = list(reversed(robot.joints))
    foreign = q[robot.permutation(order)]
    back = np.empty(robot.nq)
    back[robot.permutation(order)] = foreign
    np.testing.assert_array_equal(back, q)


def test_manipulability_is_the_product_of_singular_values(robot: RobotBase, state) -> None:
    J = robot.jacobian(state[0], reference=LWA)
    gram = J @ J.T if robot.nv >= 6 else J.T @ J
    assert robot.manipulability_index(state[0]) == pytest.approx(np.sqrt(max(np.linalg.det(gram), 0.0)), abs=1e-8)
    assert robot.manipulability_index(state[0]) >= 0


def test_inverse_kinematics_finds_a_pose_of_the_robot(robot: RobotBase) -> None:
    target = robot.fk(robot.random_configuration(5))
    result = robot.ik(target, q_init=robot.random_configuration(6), rng=1, max_iter=5000)
    assert result, result
    off = robot.fk(result.q).distance(target)
    assert off.translation <= 1e-5 and off.rotation <= 1e-4
    assert robot.q_in_joint_limits(result.q)


def test_the_base_carries_geometry_and_inertia() -> None:
    robot = PinRobot.from_urdf(samples.path_of("sevenr_arm"))
    fixed = [
        [i for i, thing in enumerate(model.geometryObjects) if thing.parentJoint == 0]
        for model in (robot.collision, robot.visual)
    ]
    before = [
        [model.geometryObjects[i].placement.copy() for i in indices]
        for model, indices in zip((robot.collision, robot.visual), fixed, strict=True)
    ]
    inertia = robot.model.inertias[0].copy()
    robot.set_base_placement(TILT)
    for model, indices, places in zip((robot.collision, robot.visual), fixed, before, strict=True):
        assert indices
        for i, place in zip(indices, places, strict=True):
            assert model.geometryObjects[i].placement.isApprox(TILT.se3() * place, 1e-12)
    assert robot.model.inertias[0].isApprox(TILT.se3().act(inertia), 1e-12)
