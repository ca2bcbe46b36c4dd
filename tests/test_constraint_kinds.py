"""What all kinds of constraints have in common: functions, files, paths, errors."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knuckle import (
    CartesianSphere,
    CollisionFree,
    CoterminalJointAngles,
    CustomConstraint,
    EndEffectorPose,
    EndEffectorVelocity,
    IKStatus,
    InputError,
    InputTypeError,
    JointBox,
    RobotConstraint,
    Task,
    ToleratedPose,
    UnknownNameError,
    WithinJointLimits,
)

from .constraint_cases import ALL, BAD, PLANAR, agree


def test_functions_get_what_they_name() -> None:
    seen: list[Any] = []

    def watch(robot: Any, q: Any, dq: Any, *, task: Any, tau: Any = None) -> bool:
        seen.append((robot, q.tolist(), dq.tolist(), tau, task))
        return bool(q[0] <= 1.0)

    task, constraint = Task(), CustomConstraint(watch)
    assert constraint.is_satisfied(PLANAR, [1, 0, 0], [4, 5, 6], task=task)
    assert seen[-1] == (PLANAR, [1.0, 0.0, 0.0], [4.0, 5.0, 6.0], None, task)
    agree(CustomConstraint(lambda robot, q: bool(q[0] > 0)), PLANAR, np.eye(3), [True, False, False])
    assert constraint.check(PLANAR, [2, 0, 0]).message == "watch is violated" == constraint.explain(PLANAR, [2, 0, 0])
    listing = Task(constraints=watch)
    assert listing.constraints[0].is_satisfied(PLANAR, [0, 0, 0]) and seen[-1][4] is listing
    with pytest.raises(InputTypeError, match="must return True or False, got 0"):
        CustomConstraint(lambda robot, q: 0.5).is_satisfied(PLANAR, [0, 0, 0])


def test_what_a_function_writes_into_q_is_nobodys_answer() -> None:
    def spoil(robot: Any, q: Any) -> bool:
        q[:] = 9.0
        return True

    q = np.zeros((2, 3))
    assert CustomConstraint(spoil).is_satisfied(PLANAR, q) and not q.any()


def test_objects_of_the_user_keep_their_status() -> None:
    class Own:
        status = IKStatus.COLLISION

        def is_satisfied(self, robot: Any, q: Any) -> bool:
            return False

    (constraint,) = Task(constraints=Own()).constraints
    assert constraint.status is IKStatus.COLLISION and not constraint.is_satisfied(PLANAR, [0, 0, 0])
    assert [c.status for c in (WithinJointLimits(), CollisionFree(), JointBox({"a": 0.0}))] == [
        IKStatus.LIMITS,
        IKStatus.COLLISION,
        IKStatus.REJECTED,
    ]


@pytest.mark.parametrize("constraint", ALL, ids=lambda c: c.kind)
def test_values_survive_json_and_pickle(constraint: RobotConstraint) -> None:
    assert RobotConstraint.from_dict(json.loads(json.dumps(constraint.to_dict()))) == constraint
    assert pickle.loads(pickle.dumps(constraint)) == constraint
    with pytest.raises((AttributeError, TypeError)):
        constraint.kind = "other"  # type: ignore[misc]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(0, 6))
def test_a_path_is_judged_row_by_row(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    q, dq, ddq = rng.uniform(-3.3, 3.3, (3, count, 3))
    pose = ToleratedPose(PLANAR.fk(rng.uniform(-1, 1, 3), frame="tip"), CartesianSphere(0.6))
    for constraint in (
        WithinJointLimits(),
        JointBox({"joint0": -2.0}, {"joint1": 2.0}),
        CoterminalJointAngles({"joint0": 1.0}, 2.0),
        EndEffectorPose(pose, "tip"),
        EndEffectorVelocity(2.0, 3.0, "tip"),
    ):
        one_by_one = [constraint.is_satisfied(PLANAR, *row) for row in zip(q, dq, ddq, strict=True)]
        np.testing.assert_array_equal(constraint.satisfied_along(PLANAR, q, dq, ddq), np.array(one_by_one, dtype=bool))
        assert constraint.check(PLANAR, q, dq, ddq).ok == all(one_by_one)


def test_one_velocity_goes_with_every_configuration() -> None:
    constraint = WithinJointLimits("dq")
    assert constraint.satisfied_along(PLANAR, np.zeros((4, 3)), [0, 0, 2.5]).tolist() == [False] * 4
    with pytest.raises(InputError, match="batches differ in length"):
        constraint.satisfied_along(PLANAR, np.zeros((4, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_impossible_constraints_are_named_errors(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "constraint", [WithinJointLimits("q"), JointBox({"joint0": 0.0}), CoterminalJointAngles([0, 0, 0])]
)
@pytest.mark.parametrize("q", [None, [0, 0], np.full(3, np.nan), "home", np.zeros((2, 2, 3))], ids=str)
def test_impossible_configurations_are_named_errors(constraint: RobotConstraint, q: Any) -> None:
    for ask in (constraint.is_satisfied, constraint.check, constraint.satisfied_along):
        with pytest.raises(InputError, match=r"^q "):
            ask(PLANAR, q)


def test_names_the_robot_does_not_know() -> None:
    for constraint in (JointBox({"joint9": 0.0}), CoterminalJointAngles({"joint9": 0.0})):
        with pytest.raises(UnknownNameError, match="no joint named 'joint9'"):
            constraint.is_satisfied(PLANAR, [0, 0, 0])
    with pytest.raises(UnknownNameError, match="no frame named 'tipp'; did you mean 'tip'"):
        EndEffectorVelocity(1.0, frame="tipp").is_satisfied(PLANAR, [0, 0, 0])
    with pytest.raises(InputError, match=r"q must have shape \(3,\)"):
        CoterminalJointAngles([0, 0]).is_satisfied(PLANAR, [0, 0, 0])
