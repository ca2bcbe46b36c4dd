"""Kinematics and dynamics of fleets against single robots; the conventions of free roots by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import (
    Fleet,
    InputError,
    PinRobot,
    eval_fk,
    eval_inverse_dynamics_force,
    eval_inverse_dynamics_passive,
    eval_jacobian,
    eval_mass_matrix,
)

from .planar_arm import PlanarArm
from .robot_cases import LWA, TILTED, close, fresh, shared, slope
from .samples import load

ARM = load("sevenr_arm")


def lopsided() -> PinRobot:
    """A floating quadruped on a tilted base frame, the centre of mass of its trunk off the trunk's origin."""
    robot = fresh("solo12_floating").with_payload(3.0, com=[0.2, -0.1, 0.3], frame="base_link")
    robot.set_base_placement(TILTED)
    return robot


DOG = lopsided()
FLEET = Fleet([ARM, DOG, shared("kinova"), PlanarArm()], ["arm", "dog", "jaco", "planar"])


def flat_state(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.concatenate([robot.random_configuration(rng) for robot in FLEET.robots])
    return q, rng.normal(size=FLEET.joint_dof_count), rng.normal(size=FLEET.joint_dof_count)


def part(array: np.ndarray, robot: int, velocity: bool = True) -> np.ndarray:
    offsets = FLEET.qd_offsets if velocity else FLEET.q_offsets
    return array[offsets[robot] : offsets[robot + 1]]


def evaluated(q: Any, qd: Any, qdd: Any, **options: Any) -> np.ndarray:
    g, h = eval_inverse_dynamics_passive(FLEET, q, qd, **options)
    terms = {"mass_matrix": eval_mass_matrix(FLEET, q, **options), "gravity_force": g, "coriolis_force": h}
    return eval_inverse_dynamics_force(FLEET, q, joint_qdd=qdd, joint_f=np.zeros(len(qd)), **terms, **options)


def test_fixed_robots_are_as_alone() -> None:
    q, qd, qdd = flat_state()
    f, M = evaluated(q, qd, qdd), eval_mass_matrix(FLEET, q)
    J = eval_jacobian(FLEET, q, frames=["tool", "HL_FOOT", "*200_end_effector", "tip"])
    for robot, frame in ((0, "tool"), (2, "j2s6s200_end_effector"), (3, "tip")):
        one, own_q, own_qd = FLEET.robots[robot], part(q, robot, False), part(qd, robot)
        close(part(f, robot), one.rnea(own_q, own_qd, part(qdd, robot)), 1e-12)
        close(M[robot, : one.nv, : one.nv], one.crba(own_q), 1e-13)
        close(J[robot, :, : one.nv], one.frame_jacobian(own_q, frame, LWA), 1e-13)
        assert not M[robot, one.nv :].any() and not J[robot, :, one.nv :].any()


def test_body_poses() -> None:
    q = flat_state()[0]
    body_q, at = eval_fk(FLEET, q), FLEET.body_offsets
    for name, pose in ARM.fk(part(q, 0, False), kind="joints").items():
        found = body_q[FLEET.body_names.index(f"arm/{name}")]
        np.testing.assert_allclose(found[:3], pose.translation, atol=1e-14)
        np.testing.assert_allclose(abs(found[3:] @ pose.quat_xyzw), 1, atol=1e-14)
    np.testing.assert_allclose(body_q[at[1], :3], TILTED.translation, atol=1e-14)
    np.testing.assert_allclose(body_q[at[3] + 1 : at[4], :3], FLEET.robots[3].joint_poses(part(q, 3, False))[:, :3, 3])


def motion(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, t: float) -> np.ndarray:
    """The dog at time t of a motion that has velocity dq and acceleration ddq (Pinocchio's) at t = 0."""
    return np.asarray(pin.integrate(DOG.model, q, dq * t + ddq * t * t / 2))


def com_pose(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and rotation of the trunk in the frame its joint is fixed to."""
    R = pin.Quaternion(q[3:7]).matrix()
    return q[:3] + R @ DOG.model.inertias[1].lever, R


def fleet_rates(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """qd and qdd of the fleet by finite differences of the motion of the trunk's centre of mass."""
    velocity = slope(lambda t: com_pose(motion(q, dq, ddq, t))[0])
    h = 1e-3
    p = [com_pose(motion(q, dq, ddq, k * h))[0] for k in (-2, -1, 0, 1, 2)]
    acceleration = (-p[0] + 16 * p[1] - 30 * p[2] + 16 * p[3] - p[4]) / (12 * h * h)

    def spin(t: float) -> np.ndarray:
        dR = slope(lambda s: com_pose(motion(q, dq, ddq, t + s))[1])
        W = dR @ com_pose(motion(q, dq, ddq, t))[1].T
        return np.array([W[2, 1], W[0, 2], W[1, 0]])

    return np.r_[velocity, spin(0.0), dq[6:]], np.r_[acceleration, slope(spin), ddq[6:]]


def test_a_free_root_moves_as_its_centre_of_mass() -> None:
    q, qd, _ = flat_state(1)
    one, dq, ddq = part(q, 1, False), *np.random.default_rng(2).normal(size=(2, DOG.nv))
    own_qd, own_qdd = fleet_rates(one, dq, ddq)
    whole_qd, whole_qdd = qd.copy(), 0 * qd
    part(whole_qd, 1)[:], part(whole_qdd, 1)[:] = own_qd, own_qdd
    f = part(evaluated(q, whole_qd, whole_qdd), 1)
    tau = DOG.rnea(one, dq, ddq)
    close(f[6:], tau[6:], 1e-6)
    R = TILTED.rotation @ com_pose(one)[1]
    force = R @ tau[:3]
    close(f[:3], force, 1e-6)
    close(f[3:6], R @ tau[3:6] - np.cross(R @ DOG.model.inertias[1].lever, force), 1e-6)


def test_power_energy_and_twist_do_not_depend_on_the_convention() -> None:
    q, qd, _ = flat_state(3)
    one, dq = part(q, 1, False), np.random.default_rng(4).normal(size=DOG.nv)
    own = fleet_rates(one, dq, 0 * dq)[0]
    part(qd, 1)[:] = own
    M, J = eval_mass_matrix(FLEET, q)[1, : DOG.nv, : DOG.nv], eval_jacobian(FLEET, q, frames=FRAMES)[1, :, : DOG.nv]
    close(own @ M @ own / 2, DOG.kinetic_energy(one, dq), 1e-8)
    close(J @ own, DOG.frame_jacobian(one, "HL_FOOT", LWA) @ dq, 1e-8)
    g = eval_inverse_dynamics_passive(FLEET, q, qd)[0]
    world = own.copy()
    world[:3], world[3:6] = TILTED.rotation @ own[:3], TILTED.rotation @ own[3:6]
    close(part(g, 1) @ world, DOG.gravity_force(one) @ dq, 1e-8)
    close(np.linalg.norm(part(g, 1)[:3]), 9.81 * DOG.mass, 1e-12)


FRAMES = ["tool", "HL_FOOT", "*200_end_effector", "tip"]


def test_legs_differ_from_nonlinear_effects_as_documented() -> None:
    q, qd, _ = flat_state(5)
    h = eval_inverse_dynamics_passive(FLEET, q, qd)[1]
    one, dq = part(q, 1, False), np.zeros(DOG.nv)
    root = np.linalg.solve(np.eye(DOG.nv), part(qd, 1))
    dq[6:] = root[6:]
    assert np.abs(part(h, 1)[6:] - DOG.coriolis_force(one, dq)[6:]).max() > 1e-3


def test_masked_robots_are_neither_read_nor_written() -> None:
    q, qd, qdd = flat_state(6)
    mask = np.array([True, False, True, True])
    spoilt = [array.copy() for array in (q, qd, qdd)]
    part(spoilt[0], 1, False)[:], part(spoilt[1], 1)[:], part(spoilt[2], 1)[:] = np.nan, np.nan, np.nan
    f = evaluated(*spoilt, mask=mask)
    expected = evaluated(q, qd, qdd)
    part(expected, 1)[:] = 0
    np.testing.assert_array_equal(f, expected)
    assert not eval_jacobian(FLEET, spoilt[0], frames=["tool", "*200_end_effector", "tip"], mask=mask)[1].any()
    poses = np.full((FLEET.body_count, 7), 5.0)
    eval_fk(FLEET, spoilt[0], mask=mask, body_q=poses)
    at = FLEET.body_offsets
    assert (poses[at[1] : at[2]] == 5).all() and (poses[: at[1]] != 5).any()


def test_nan_in_one_robot_stays_there() -> None:
    q, qd, qdd = flat_state(7)
    expected = evaluated(q, qd, qdd)
    part(q, 0, False)[3] = np.nan
    f = evaluated(q, qd, qdd)
    assert np.isnan(part(f, 0)).any()
    np.testing.assert_array_equal(f[7:], expected[7:])


def test_float32_and_quaternions_off_by_rounding_are_taken() -> None:
    q, qd, qdd = flat_state(8)
    rough = evaluated(*(array.astype(np.float32) for array in (q, qd, qdd)))
    close(rough, evaluated(q, qd, qdd), 1e-4)
    longer = q.copy()
    longer[FLEET.q_offsets[1] + 3 : FLEET.q_offsets[1] + 7] *= 1.5
    close(evaluated(longer, qd, qdd), evaluated(q, qd, qdd), 1e-12)


def test_buffers_are_written_in_place_and_returned() -> None:
    q, qd, _ = flat_state(9)
    n, size = FLEET.max_dofs_per_articulation, FLEET.joint_dof_count
    M, g, h = np.ones((4, n, n)), np.ones(size), np.ones(size)
    assert eval_mass_matrix(FLEET, q, mass_matrix=M) is M
    found = eval_inverse_dynamics_passive(FLEET, q, qd, gravity_force=g, coriolis_force=h)
    assert found[0] is g and found[1] is h
    np.testing.assert_array_equal(M, eval_mass_matrix(FLEET, q))


GOOD = {"mass_matrix": (1, 7, 7), "joint_qdd": (7,), "coriolis_force": (7,), "gravity_force": (7,), "joint_f": (7,)}


@pytest.mark.parametrize("name", [*GOOD, "joint_q"])
@pytest.mark.parametrize("bad", ["short", "batch", "text", "none", "ragged"])
def test_wrong_buffers_are_named_and_nothing_is_written(name: str, bad: str) -> None:
    out = np.full(7, 5.0)
    terms: dict[str, Any] = {key: np.zeros(shape) for key, shape in GOOD.items()}
    terms["joint_q"] = np.zeros(7)
    values = {
        "short": terms[name][:-1, ...],
        "batch": terms[name][None],
        "text": "x",
        "none": None,
        "ragged": [[1], [1, 2]],
    }
    if name == "mass_matrix":
        values["short"] = terms[name][:, :-1]
    terms["joint_f"] = out
    terms[name] = values[bad]
    if name == "joint_q" and bad == "none":
        return
    with pytest.raises(InputError, match=name):
        eval_inverse_dynamics_force(ARM, terms.pop("joint_q"), **terms)
    assert (out == 5).all()


def test_other_bad_input() -> None:
    terms: dict[str, Any] = {key: np.zeros(shape) for key, shape in GOOD.items()}
    frozen = np.zeros(7)
    frozen.setflags(write=False)
    for change, words in (
        ({"mask": [True, False]}, "mask"),
        ({"mask": [1.0]}, "booleans"),
        ({"joint_f": [0.0] * 7}, "in place"),
        ({"joint_f": frozen}, "read-only"),
        ({"joint_f": np.zeros(7, int)}, "joint_f"),
    ):
        with pytest.raises(InputError, match=words):
            eval_inverse_dynamics_force(ARM, **(terms | change))
    with pytest.raises(InputError, match="joint_q must have shape"):
        eval_mass_matrix(ARM, np.zeros(6))
    with pytest.raises(InputError, match="jacobian must have shape"):
        eval_jacobian(ARM, np.zeros(7), jacobian=np.zeros((6, 7)))
    with pytest.raises(InputError, match="Fleet or a robot"):
        eval_fk("arm", np.zeros(7))
    with pytest.raises(TypeError):
        eval_inverse_dynamics_force(ARM, np.zeros(7), np.zeros((1, 7, 7)))  # type: ignore[misc]


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_robots_that_are_one_object_are_evaluated_together_and_each_as_alone(threads: int | None) -> None:
    fleet = Fleet([ARM, DOG, shared("kinova")] * 200)
    rng = np.random.default_rng(3)
    q = np.concatenate([robot.random_configuration(rng) for robot in fleet.robots])
    qd = rng.normal(size=fleet.joint_dof_count)
    frames = ["tool", "HL_FOOT", "*200_end_effector"]
    together = (
        eval_fk(fleet, q, threads=threads),
        eval_jacobian(fleet, q, frames=frames, threads=threads),
        eval_mass_matrix(fleet, q, threads=threads),
        *eval_inverse_dynamics_passive(fleet, q, qd, threads=threads),
    )
    for a in (0, 1, 2, 301, 599):
        robot = fleet.robots[a]
        own_q, own_qd = (
            q[fleet.q_offsets[a] : fleet.q_offsets[a + 1]],
            qd[fleet.qd_offsets[a] : fleet.qd_offsets[a + 1]],
        )
        dofs, n = slice(fleet.qd_offsets[a], fleet.qd_offsets[a + 1]), robot.nv
        alone = (
            eval_fk(robot, own_q),
            eval_jacobian(robot, own_q, frames=frames[a % 3])[0],
            eval_mass_matrix(robot, own_q)[0],
            *eval_inverse_dynamics_passive(robot, own_q, own_qd),
        )
        found = (
            together[0][fleet.body_offsets[a] : fleet.body_offsets[a + 1]],
            together[1][a, :, :n],
            together[2][a, :n, :n],
            together[3][dofs],
            together[4][dofs],
        )
        for ours, expected in zip(found, alone, strict=True):
            close(ours, expected, 1e-12)
    with pytest.raises(InputError, match="threads"):
        eval_fk(fleet, q, threads=0)
