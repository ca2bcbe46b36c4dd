"""What a robot keeps: its stored state alone, moved by `update_configuration` alone, shared with nobody."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot, RobotBase, Transformation

from .robot_cases import EVERY, LOCAL, LWA, ON_PINOCCHIO, TILTED, WORLD, close, fresh, shared, state, states

every_robot = pytest.mark.parametrize("name", EVERY)
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda robot: pickle.loads(pickle.dumps(robot)),
    "twice": lambda robot: copy.deepcopy(pickle.loads(pickle.dumps(copy.copy(robot)))),
}
copied = pytest.mark.parametrize("way", COPIES)


def queries(robot: RobotBase) -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Every question that gives numbers, by name."""
    found: dict[str, Callable[[Any, Any, Any], Any]] = {
        "fk": lambda q, dq, ddq: robot.fk(q).homogeneous,
        "fk joints": lambda q, dq, ddq: [T.homogeneous for T in robot.fk(q, "joints").values()],
        "fk full": lambda q, dq, ddq: [T.homogeneous for T in robot.fk(q, "full").values()],
        "fk batch": lambda q, dq, ddq: robot.fk(np.array([q, q])),
        "jacobian local": lambda q, dq, ddq: robot.jacobian(q, reference=LOCAL),
        "jacobian batch": lambda q, dq, ddq: robot.jacobian(np.array([q, q]), reference=WORLD),
        "jacobian derivative": lambda q, dq, ddq: robot.jacobian_derivative(q, dq, reference=LWA),
        "mass matrix": lambda q, dq, ddq: robot.mass_matrix(q),
        "gravity": lambda q, dq, ddq: robot.gravity_force(q),
        "coriolis": lambda q, dq, ddq: robot.coriolis_force(q, dq),
        "bias": lambda q, dq, ddq: robot.bias_force(q, dq),
        "id": lambda q, dq, ddq: robot.id(q, dq, ddq),
        "id plain": lambda q, dq, ddq: robot.id(q, dq, ddq, False, False),
        "fd": lambda q, dq, ddq: robot.fd(ddq, q, dq),
        "fd plain": lambda q, dq, ddq: robot.fd(ddq, q, dq, False, False),
        "friction": lambda q, dq, ddq: robot.friction(dq),
        "motor inertias": lambda q, dq, ddq: robot.motor_inertias(ddq),
        "wrench": lambda q, dq, ddq: robot.static_torque(q, eef_wrench=np.ones(6), eef_wrench_frame="tcp"),
        "energies": lambda q, dq, ddq: [robot.kinetic_energy(q, dq), robot.potential_energy(q)],
        "manipulability": lambda q, dq, ddq: robot.manipulability_index(q),
        "integrate": lambda q, dq, ddq: robot.integrate(q, dq),
        "difference": lambda q, dq, ddq: robot.difference(robot.neutral(), q),
        "interpolate": lambda q, dq, ddq: robot.interpolate(robot.neutral(), q, 0.3),
        "clip": lambda q, dq, ddq: robot.clip_to_limits(q),
        "random": lambda q, dq, ddq: robot.random_configuration(3),
        "limits": lambda q, dq, ddq: [robot.q_in_joint_limits(q), robot.tau_in_torque_limits(dq)],
        "values": lambda q, dq, ddq: np.hstack(list(robot.joint_values(q).values())),
        "from values": lambda q, dq, ddq: robot.configuration_from(
            {robot.joints[0]: q[robot.coordinate_slices()[robot.joints[0]][0]]}
        ),
        "stored": lambda q, dq, ddq: [*robot.tcp_velocity, *robot.tcp_acceleration, *robot.tcp_velocity_in(LOCAL)],
    }
    if isinstance(robot, PinRobot):
        found["to pinocchio"] = lambda q, dq, ddq: robot.to_pinocchio(q)
        found["from pinocchio"] = lambda q, dq, ddq: robot.from_pinocchio(robot.to_pinocchio(q))
        forces = np.ones((robot.model.njoints, 6))
        found["f_ext"] = lambda q, dq, ddq: robot.static_torque(q, forces)
    return found


def same_everywhere(first: RobotBase, second: RobotBase, seed: int = 0) -> None:
    """Both robots answer every question alike, to the last bit."""
    arguments = state(first, seed)
    others = queries(second)
    for name, query in queries(first).items():
        np.testing.assert_array_equal(query(*arguments), others[name](*arguments), err_msg=name)


class TestStored:
    @every_robot
    def test_it_is_a_private_read_only_copy(self, name: str) -> None:
        robot, given = fresh(name), state(shared(name))
        robot.update_configuration(*given)
        stored = robot.q, robot.dq, robot.ddq
        kept = [x.copy() for x in stored]
        for x, y in zip(stored, given, strict=True):
            close(x, y, 1e-15)
            assert not x.flags.writeable and not np.shares_memory(x, y)
            y += 1.0
            with pytest.raises(ValueError, match="read-only"):
                x[0] = 1.0
        assert all((x == y).all() for x, y in zip(stored, kept, strict=True))
        assert robot.configuration is robot.q and robot.velocities is robot.dq and robot.accelerations is robot.ddq
        robot.update_configuration(robot.neutral())
        assert (stored[0] == kept[0]).all()  # replaced, never rewritten
        assert not robot.dq.any() and not robot.ddq.any()

    @every_robot
    def test_a_mapping_changes_the_joints_it_names(self, name: str) -> None:
        robot, (q, dq, _) = fresh(name), state(shared(name))
        robot.update_configuration(q, dq)
        joint, (at, rate) = next(iter(robot.coordinate_slices().items()))
        value = robot.neutral()[at]
        robot.update_configuration({joint: value}, {joint: np.ones(rate.stop - rate.start)})
        assert (robot.q[at] == value).all() and (np.delete(robot.q, at) == np.delete(q, at)).all()
        assert robot.dq.sum() == rate.stop - rate.start
        robot.update_configuration(None, dq)
        assert (robot.dq == dq).all() and (robot.q[at] == value).all()

    @every_robot
    def test_it_stands_in_for_arguments_left_out(self, name: str) -> None:
        robot, (q, dq, ddq) = fresh(name), state(shared(name))
        robot.update_configuration(q, dq, ddq)
        assert robot.fk() == robot.fk(q)
        for stored, given in (
            (robot.jacobian(reference=LWA), robot.jacobian(q, reference=LWA)),
            (robot.jacobian_derivative(reference=LWA), robot.jacobian_derivative(q, dq, reference=LWA)),
            (robot.id(), robot.id(q, dq, ddq)),
            (robot.fd(ddq), robot.fd(ddq, q, dq)),
            (robot.mass_matrix(), robot.mass_matrix(q)),
            (robot.bias_force(), robot.bias_force(q, dq)),
            (robot.coriolis_force(), robot.coriolis_force(q, dq)),
            (robot.static_torque(), robot.gravity_force(q)),
            (robot.friction(), robot.friction(dq)),
            (robot.motor_inertias(), robot.motor_inertias(ddq)),
            (robot.kinetic_energy(), robot.kinetic_energy(q, dq)),
            (robot.potential_energy(), robot.potential_energy(q)),
            (robot.manipulability_index(), robot.manipulability_index(q)),
        ):
            np.testing.assert_array_equal(stored, given)
        assert robot.q_in_joint_limits()


class TestQueries:
    @every_robot
    def test_they_move_nothing(self, name: str) -> None:
        robot, here = fresh(name), state(shared(name), 1)
        robot.update_configuration(*here)
        before, placement = [x.copy() for x in (robot.q, robot.dq, robot.ddq)], robot.placement
        there = state(robot, 2)
        for query in queries(robot).values():
            query(*there)
            assert all((x == y).all() for x, y in zip(before, (robot.q, robot.dq, robot.ddq), strict=True))
        assert robot.placement == placement

    @every_robot
    def test_they_leave_their_arguments_alone(self, name: str) -> None:
        robot, given = shared(name), state(shared(name))
        before = [x.copy() for x in given]
        for array in given:
            array.setflags(write=False)  # who writes, fails
        for query in queries(robot).values():
            query(*given)
        assert all((x == y).all() for x, y in zip(before, given, strict=True))

    @every_robot
    def test_answers_are_nobody_elses(self, name: str) -> None:
        robot = shared(name)
        first, second = state(robot, 1), state(robot, 2)
        for key, query in queries(robot).items():
            answer = query(*first)
            before = copy.deepcopy(answer)
            if isinstance(answer, np.ndarray):
                assert not any(np.shares_memory(answer, x) for x in (*first, robot.q, robot.home_configuration)), key
            for other in queries(robot).values():
                other(*second)
            np.testing.assert_array_equal(answer, before, err_msg=key)
            if isinstance(answer, np.ndarray) and answer.flags.writeable:
                answer[...] = 77
                np.testing.assert_array_equal(query(*first), before, err_msg=key)

    @every_robot
    def test_threads_may_share_one_robot(self, name: str) -> None:
        robot = fresh(name)
        given = [state(robot, seed) for seed in range(4)]
        alone = fresh(name)
        expected = [[query(*x) for query in queries(alone).values()] for x in given]
        wrong: list[str] = []
        gate = threading.Barrier(4)

        def ask(seed: int) -> None:
            gate.wait()
            for _ in range(5):
                for (key, query), right in zip(queries(robot).items(), expected[seed], strict=True):
                    if not np.array_equal(query(*given[seed]), right):
                        wrong.append(key)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestCopies:
    @every_robot
    @copied
    def test_they_behave_alike(self, name: str, way: str) -> None:
        robot = fresh(name)
        robot.update_configuration(*state(robot, 4))
        robot.move(TILTED)
        twin = COPIES[way](robot)
        assert type(twin) is type(robot) and repr(twin) == repr(robot)
        assert (twin.joints, twin.frames, twin.parents, twin.tcp) == (
            robot.joints,
            robot.frames,
            robot.parents,
            robot.tcp,
        )
        assert twin.placement == robot.placement and twin.mass == robot.mass
        for key in ("q", "dq", "ddq", "home_configuration"):
            array = getattr(twin, key)
            assert (array == getattr(robot, key)).all() and not array.flags.writeable
        assert (twin.random_configuration() == robot.random_configuration()).all()  # and the same luck
        same_everywhere(robot, twin)

    @every_robot
    @copied
    def test_they_share_nothing(self, name: str, way: str) -> None:
        robot, untouched = fresh(name), fresh(name)
        twin = COPIES[way](robot)
        twin.move(TILTED)
        twin.update_configuration(*state(twin, 5))
        twin.tcp = twin.frames[0]
        same_everywhere(robot, untouched)
        assert robot.tcp == untouched.tcp and robot.placement == untouched.placement
        robot.move(TILTED.inv())
        assert twin.placement.isclose(TILTED @ untouched.placement, 1e-12)

    @pytest.mark.parametrize("name", ON_PINOCCHIO)
    @copied
    def test_geometry_overrides_and_frames_come_along(self, name: str, way: str) -> None:
        robot = fresh(name).with_limits(acceleration=3.0, velocity=0.5).with_motors(rotor_inertia=1e-3, gear_ratio=7.0)
        robot.add_frame("eye", robot.frames[-1], TILTED)
        robot.collision.addAllCollisionPairs()
        twin = COPIES[way](robot)
        assert twin.frames[-1] == "eye" and twin.couplings == robot.couplings and twin.findings == robot.findings
        assert (twin.joint_acceleration_limits == 3.0).all() and (twin.joint_velocity_limits == 0.5).all()
        for kind in ("collision", "visual"):
            ours, theirs = getattr(robot, kind), getattr(twin, kind)
            assert ours is not theirs and ours.ngeoms == theirs.ngeoms
            assert len(ours.collisionPairs) == len(theirs.collisionPairs)
            for a, b in zip(ours.geometryObjects, theirs.geometryObjects, strict=True):
                assert (a.name, a.parentJoint) == (b.name, b.parentJoint) and a.placement.isApprox(b.placement)
        assert twin.model is not robot.model
        same_everywhere(robot, twin)

    def test_geometry_of_a_copy_is_its_own(self) -> None:
        robot = fresh("sevenr_arm")
        twin = copy.deepcopy(robot)
        before = robot.collision.geometryObjects[0].placement.copy()
        twin.move(TILTED)
        twin.collision.geometryObjects[0].placement = pin.SE3.Identity()
        assert robot.collision.geometryObjects[0].placement == before


class TestVersions:
    def test_builders_count_and_queries_do_not(self) -> None:
        robot = fresh("panda")
        counted = [robot.version]
        for change in (
            lambda: robot.add_frame("camera", "panda_hand", TILTED),
            lambda: robot.add_tcp_frame("panda_joint7", TILTED),
            lambda: robot.move(TILTED),
            lambda: robot.set_base_placement(Transformation.identity()),
            lambda: robot.refresh(),
        ):
            change()
            counted.append(robot.version)
        assert all(b > a for a, b in pairwise(counted))
        same_everywhere(robot, robot)
        robot.update_configuration(robot.neutral())
        assert robot.version == counted[-1]

    def test_a_model_edited_by_hand_counts_after_refresh(self) -> None:
        robot = fresh("panda")
        before = robot.fk()
        robot.model.jointPlacements[1] = TILTED.se3() * robot.model.jointPlacements[1]
        robot.model.damping[:] = 3.0
        robot.refresh()
        close(robot.fk().homogeneous, (TILTED @ before).homogeneous, 1e-13)
        close(robot.friction(np.ones(9)), 3 * np.ones(9) + robot.model.friction / np.sqrt(1 + 1e-4), 1e-12)

    def test_the_model_given_is_copied(self) -> None:
        model = shared("panda").model.copy()
        robot = PinRobot(wrapper=model)
        before = robot.fk(frame="panda_hand")
        model.jointPlacements[1] = pin.SE3.Random()
        robot.refresh()
        assert robot.fk(frame="panda_hand") == before

    def test_scratch_memory_is_not_handed_out(self) -> None:
        for name, owner in (("data", "model"), ("collision_data", "collision"), ("visual_data", "visual")):
            with pytest.raises(AttributeError, match=rf"robot\.{owner}\.createData\(\)"):
                getattr(shared("panda"), name)
        with pytest.raises(AttributeError, match="nothing_of_the_kind"):
            _ = shared("panda").nothing_of_the_kind

    def test_a_seed_given_to_the_robot_is_used(self) -> None:
        path = shared("panda")
        draws = [PinRobot(wrapper=path.model, rng=5).random_configuration() for _ in range(2)]
        assert (draws[0] == draws[1]).all()
        robot = PinRobot(wrapper=path.model, rng=np.random.default_rng(5))
        assert (robot.random_configuration() == draws[0]).all()
        assert (robot.random_configuration() != draws[0]).all()
        assert (states(robot, 1)[0] == states(robot, 1)[0]).all()
