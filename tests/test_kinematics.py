"""Poses, Jacobians, tool velocity and acceleration against bare Pinocchio, geometry and finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import InputError, PinRobot, RobotBase, Transformation, UnknownNameError
from knuckle.robot import spatial

from . import closed_forms as cf
from .robot_cases import (
    EVERY,
    LOCAL,
    LWA,
    ON_PINOCCHIO,
    TILTED,
    WORLD,
    close,
    fresh,
    mixed_robot,
    shared,
    slope,
    state,
    states,
)
from .samples import load

every_robot = pytest.mark.parametrize("name", EVERY)
on_pinocchio = pytest.mark.parametrize("name", ON_PINOCCHIO)


def some_frames(robot: RobotBase) -> list[str]:
    """The tcp, the first frames and some on the way."""
    return [robot.tcp, *robot.frames[:2], *robot.frames[2 :: max(1, len(robot.frames) // 4)]]


class TestAgainstPinocchio:
    @on_pinocchio
    def test_every_frame_stands_where_pinocchio_says(self, name: str) -> None:
        robot = shared(name)
        model, data = robot.model, robot.model.createData()
        for seed in range(3):
            q, _, _ = state(robot, seed)
            pin.framesForwardKinematics(model, data, robot.to_pinocchio(q))
            found = robot.fk(q, "full")
            for frame, name in enumerate(robot.frames):
                close(found[name].homogeneous, data.oMf[frame].homogeneous, 1e-13)
            for joint, T in robot.fk(q, "joints").items():
                close(T.homogeneous, data.oMi[model.getJointId(joint)].homogeneous, 1e-13)

    @on_pinocchio
    def test_velocities_are_pinocchios(self, name: str) -> None:
        robot = shared(name)
        model, data, G = robot.model, robot.model.createData(), coupling(robot)
        q, dq, _ = state(robot)
        pin.forwardKinematics(model, data, robot.to_pinocchio(q), G @ dq)
        for frame in some_frames(robot):
            index = robot.frames.index(frame)
            for reference in (LWA, LOCAL, WORLD):
                expected = pin.getFrameVelocity(model, data, index, pin.ReferenceFrame.values[int(reference)])
                close(robot.jacobian(q, frame, reference) @ dq, expected.vector, 1e-12)

    @on_pinocchio
    def test_classical_acceleration_of_the_tool_is_pinocchios(self, name: str) -> None:
        robot = fresh(name)
        model, data, G = robot.model, robot.model.createData(), coupling(robot)
        q, dq, ddq = state(robot)
        robot.update_configuration(q, dq, ddq)
        pin.forwardKinematics(model, data, robot.to_pinocchio(q), G @ dq, G @ ddq)
        expected = pin.getFrameClassicalAcceleration(model, data, robot.tcp_id, pin.LOCAL_WORLD_ALIGNED)
        close(robot.tcp_acceleration, expected.vector, 1e-12)


def coupling(robot: PinRobot) -> np.ndarray:
    """G (nv_pin, nv) with dq_pin = G dq, from what the robot says of itself."""
    slices, G = robot.coordinate_slices(), np.zeros((robot.model.nv, robot.nv))
    leaders = {c.follower: (c.leader, c.multiplier) for c in robot.couplings}
    for joint, name in enumerate(list(robot.model.names)[1:], 1):
        leader, factor = leaders.get(name, (name, 1.0))
        at = robot.model.idx_vs[joint]
        G[at : at + robot.model.nvs[joint], slices[leader][1]] = factor * np.eye(robot.model.nvs[joint])
    return G


class TestJacobians:
    @every_robot
    @pytest.mark.parametrize("seed", range(2))
    def test_columns_are_the_derivatives_of_the_pose(self, name: str, seed: int) -> None:
        robot = shared(name)
        q, _, _ = state(robot, seed)
        for frame in some_frames(robot):
            T = robot.fk(q, frame=frame).homogeneous
            R, p = T[:3, :3], T[:3, 3]
            columns: dict = {LWA: [], LOCAL: [], WORLD: []}
            for unit in np.eye(robot.nv):
                dT = slope(lambda h, u=unit, f=frame: robot.fk(robot.integrate(q, h * u), frame=f).homogeneous, 1e-4)
                spin, v = dT[:3, :3] @ R.T, dT[:3, 3]
                w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
                close(spin, spatial.skew(w), 1e-9)
                columns[LWA].append([*v, *w])
                columns[LOCAL].append([*(R.T @ v), *(R.T @ w)])
                columns[WORLD].append([*(v - np.cross(w, p)), *w])
            for reference, expected in columns.items():
                close(robot.jacobian(q, frame, reference), np.transpose(expected), 1e-9)

    @every_robot
    def test_the_time_derivative_is_the_slope_along_a_motion(self, name: str) -> None:
        robot = shared(name)
        q, dq, _ = state(robot, 3)
        for frame in some_frames(robot):
            for reference in (LWA, LOCAL, WORLD):
                along = slope(lambda h, f=frame, r=reference: robot.jacobian(robot.integrate(q, h * dq), f, r), h=2e-4)
                close(robot.jacobian_derivative(q, dq, frame, reference), along, 1e-8)

    @every_robot
    def test_the_reference_frames_are_one_twist_seen_three_ways(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = state(robot, 1)
        T = robot.fk(q)
        turned = np.kron(np.eye(2), T.rotation)
        close(turned @ robot.jacobian(q, reference=LOCAL), robot.jacobian(q, reference=LWA), 1e-12)
        carried = spatial.adjoint(T.homogeneous) @ robot.jacobian(q, reference=LOCAL)
        close(carried, robot.jacobian(q, reference=WORLD), 1e-12)

    def test_the_reference_may_be_named(self) -> None:
        robot = shared("panda")
        for names in (("local", pin.LOCAL, 1), ("lwa", "local_world_aligned", LWA), ("World", pin.WORLD, 0)):
            first, *others = (robot.jacobian(reference=name) for name in names)
            assert all((other == first).all() for other in others)

    def test_the_reference_must_be_given(self) -> None:
        with pytest.raises(InputError, match=r"LOCAL .*LOCAL_WORLD_ALIGNED.*WORLD"):
            shared("panda").jacobian()

    def test_joints_beyond_a_frame_do_not_move_it(self) -> None:
        robot = shared("dual_arm")
        columns = robot.jacobian(state(robot)[0], "left_tool", LWA)
        still = [i for i, dof in enumerate(robot.dof_names) if dof.startswith("right")]
        assert still and (columns[:, still] == 0).all()


class TestTool:
    @every_robot
    def test_acceleration_is_the_slope_of_velocity(self, name: str) -> None:
        robot = fresh(name)
        q, dq, ddq = state(robot)

        def velocity(t: float) -> np.ndarray:
            robot.update_configuration(robot.integrate(q, t * dq + t * t / 2 * ddq), dq + t * ddq)
            return robot.tcp_velocity

        expected = slope(velocity, 2e-4)
        robot.update_configuration(q, dq, ddq)
        close(robot.tcp_velocity, robot.jacobian(reference=LWA) @ dq, 1e-14)
        close(robot.tcp_velocity_in(LOCAL), robot.jacobian(reference=LOCAL) @ dq, 1e-14)
        close(robot.tcp_acceleration, expected, 1e-8)
        robot.update_configuration(q)
        assert not robot.tcp_velocity.any() and not robot.tcp_acceleration.any()

    def test_on_a_circle_it_points_to_the_centre(self) -> None:
        robot = fresh("planar_3r")
        robot.set_base_placement(Transformation.identity())
        robot.update_configuration([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
        close(robot.tcp_velocity, [0, 0, 2.0 * 0.9, 0, -2.0, 0], 1e-13)
        close(robot.tcp_acceleration, [-4.0 * 0.9, 0, 0, 0, 0, 0], 1e-13)

    def test_a_frame_added_stands_fixed_to_its_parent(self) -> None:
        robot = fresh("panda")
        version = robot.version
        index = robot.add_frame("camera", "panda_hand", TILTED)
        assert robot.model.frames[index].name == "camera" and robot.frames[index] == "camera"
        assert robot.version > version
        q, _, _ = state(robot)
        close(robot.fk(q, frame="camera").homogeneous, (robot.fk(q, frame="panda_hand") @ TILTED).homogeneous, 1e-14)
        robot.tcp = "camera"
        assert robot.tcp_id == index
        assert robot.fk(q) == robot.fk(q, frame="camera")
        with pytest.raises(InputError, match="camera"):
            robot.add_frame("camera", "panda_hand", TILTED)
        assert robot.model.nframes == len(robot.frames) == index + 1

    def test_a_frame_added_to_the_base_moves_with_it(self) -> None:
        robot = fresh("panda")
        robot.add_frame("table", "panda_link0", TILTED)
        robot.move(TILTED)
        robot.add_frame("shelf", "table", TILTED)
        robot.move(TILTED)
        close(robot.fk(frame="table").homogeneous, (TILTED @ TILTED @ TILTED).homogeneous, 1e-13)
        close(robot.fk(frame="shelf").homogeneous, (robot.fk(frame="table") @ TILTED).homogeneous, 1e-13)

    def test_a_tool_added_becomes_the_tcp(self) -> None:
        robot = fresh("panda")
        index = robot.add_tcp_frame("panda_joint7", TILTED)
        assert (robot.tcp, robot.tcp_id) == ("tcp", index)
        close(robot.fk().homogeneous, (robot.fk(kind="joints")["panda_joint7"] @ TILTED).homogeneous, 1e-14)
        second = robot.add_tcp_frame("panda_joint5", Transformation.identity())
        assert (robot.tcp, robot.tcp_id) == ("tcp_2", second)

    def test_several_tips_must_be_chosen_from_only_when_used(self) -> None:
        robot = load("dual_arm")
        with pytest.raises(InputError, match=r"several tips .*robot\.tcp = "):
            robot.fk()
        assert robot.fk(frame="left_tool") and robot.id(robot.q).shape == (13,)
        with pytest.raises(UnknownNameError, match="did you mean 'left_tool'"):
            robot.tcp = "left_tol"


class TestManipulability:
    @every_robot
    def test_it_is_the_volume_of_the_ellipsoid(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = state(robot)
        J = robot.jacobian(q, reference=LWA)
        gram = J @ J.T if robot.nv >= 6 else J.T @ J
        assert robot.manipulability_index(q) == pytest.approx(np.sqrt(max(np.linalg.det(gram), 0.0)), abs=1e-7)

    @given(bend=st.floats(-1e-3, 1e-3))
    @settings(derandomize=True, deadline=None, max_examples=25)
    def test_near_a_straight_arm_it_is_small_but_never_negative(self, bend: float) -> None:
        robot = load("planar_2r")
        first, second = cf.PLANAR_2R.lengths
        J = robot.jacobian([0.3, bend], reference=LWA)
        assert 0 <= robot.manipulability_index([0.3, bend])
        assert robot.manipulability_index([0.3, bend]) == pytest.approx(np.sqrt(np.linalg.det(J.T @ J)), rel=1e-9)
        moved = np.linalg.svd(J[:3], compute_uv=False).prod()
        assert moved == pytest.approx(first * second * abs(np.sin(bend)), rel=1e-9, abs=1e-15)

    def test_at_a_singular_pose_it_is_zero(self) -> None:
        straight = np.zeros(7)
        value = shared("sevenr_arm").manipulability_index(straight)
        assert 0 <= value < 1e-15


class TestArguments:
    @every_robot
    def test_a_configuration_may_be_written_in_many_ways(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = state(robot)
        expected = robot.fk(q).homogeneous
        spread = np.repeat(q, 3)[::3]
        column = q.reshape(-1, 1) if len(q) > 1 else q  # (1, 1) is a batch of one
        for other in (q.tolist(), tuple(q), column, spread, q[::-1].copy()[::-1], robot.joint_values(q)):
            close(robot.fk(other).homogeneous, expected, 1e-15)
        close(robot.fk(configuration=q).homogeneous, expected, 1e-15)
        close(robot.fk(q.astype(np.float32)).homogeneous, expected, 1e-5)
        close(robot.fk(robot.neutral().astype(int)).homogeneous, robot.fk(robot.neutral()).homogeneous, 1e-15)

    @every_robot
    def test_the_flags_for_geometry_change_no_result(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = state(robot)
        assert robot.fk(q, collision=True, visual=True) == robot.fk(q)

    @every_robot
    def test_batches_are_loops_for_any_frame_and_reference(self, name: str) -> None:
        robot = shared(name)
        q, _, _ = states(robot, 5)
        for frame in some_frames(robot):
            close(robot.fk(q, frame=frame), [robot.fk(x, frame=frame).homogeneous for x in q], 1e-14)
            for reference in (LWA, LOCAL, WORLD):
                loop = [robot.jacobian(x, frame, reference) for x in q]
                close(robot.jacobian(q, frame, reference), loop, 1e-14)
                close(robot.jacobian(q[::-1], frame, reference), loop[::-1], 1e-14)
                close(robot.jacobian(np.asfortranarray(q), frame, reference), loop, 1e-14)

    def test_a_batch_that_is_square_is_still_a_batch(self) -> None:
        robot = mixed_robot()
        q, _, _ = states(robot, robot.nq)
        assert robot.fk(q).shape == (robot.nq, 4, 4)
        gripper = shared("gripper")
        close(gripper.fk([[0.01]], kind="tcp"), gripper.fk([0.01]).homogeneous[None], 1e-15)
        assert gripper.fk([[0.01], [0.02]]).shape == (2, 4, 4)
