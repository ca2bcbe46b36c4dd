"""The values that go into inverse kinematics and come out of it."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from knuckle import ToleratedPose, Transformation
from knuckle.ik import CallbackReturn, IKMeta, IKResult, IKStatus, IntermediateIkResult, as_target, chain
from knuckle.ik.callbacks import answer_of, as_callbacks, as_constraints, violation
from knuckle.robot import CartesianSphere, RotationAbsolute
from knuckle.robot.errors import InputError, InputTypeError


def result(status: IKStatus = IKStatus.CONVERGED, message: str = "") -> IKResult:
    return IKResult(np.array([0.1, -0.2]), status, 1e-6, 2e-6, 3e-6, 7, 1, 42, "jacobian", message)


def test_a_result_is_true_when_it_succeeded_and_unpacks_as_q_and_success() -> None:
    q, success = result()
    assert q.tolist() == [0.1, -0.2]
    assert success is True
    assert result()
    for status in set(IKStatus) - {IKStatus.CONVERGED}:
        assert not result(status)
        assert result(status).success is False


def test_a_result_never_changes() -> None:
    answer = result()
    with pytest.raises(AttributeError, match="never changes"):
        answer.q = np.zeros(2)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        answer.other = 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        answer.q[0] = 1.0


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_result_can_be_copied_and_pickled(twin) -> None:
    answer = twin(result(IKStatus.LIMITS, "why"))
    assert answer.to_dict() == result(IKStatus.LIMITS, "why").to_dict()
    assert answer.status is IKStatus.LIMITS


def test_a_result_reads_well_and_goes_into_json() -> None:
    text = repr(result(IKStatus.STALLED, "stuck"))
    assert text.startswith("IKResult(stalled, position_error=1e-06 m, rotation_error=2e-06 rad")
    assert "stuck" in text
    assert len(repr(result())) < 200
    data = json.loads(json.dumps(result().to_dict()))
    assert data["q"] == [0.1, -0.2]
    assert data["status"] == "converged"
    assert data["success"] is True
    assert data["seed"] == 42


def test_status_values_are_lower_case_words() -> None:
    assert {str(s) for s in IKStatus} == {
        "converged", "out_of_budget", "stalled", "limits", "collision", "rejected", "unreachable", "stopped",
    }  # fmt: skip


def test_meta_and_intermediate_results_are_frozen() -> None:
    with pytest.raises(AttributeError):
        IKMeta().max_iter = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        IntermediateIkResult(np.zeros(1), 0.5).cost = 1.0  # type: ignore[misc]
    assert IntermediateIkResult(np.zeros(1), 0.5).distance == 0.5
    assert IKMeta().max_iter == 1000


@pytest.mark.parametrize(
    "form", [lambda T: T, lambda T: T.homogeneous, lambda T: T.se3(), lambda T: T.homogeneous.tolist()]
)
def test_a_bare_pose_is_a_target_with_the_default_tolerance(form) -> None:
    pose = Transformation.from_rpy([0.1, 0.2, 0.3], translation=[1, 2, 3])
    goal = as_target(form(pose))
    assert goal.nominal.isclose(pose, 1e-12)
    assert goal.tolerance.position_radius == pytest.approx(1e-5)
    assert goal.tolerance.rotation_radius == pytest.approx(1e-4)


def test_a_tolerance_replaces_the_targets_own() -> None:
    loose = CartesianSphere(0.1) + RotationAbsolute(0.2)
    own = ToleratedPose(Transformation.identity(), CartesianSphere(0.5))
    assert as_target(own) is own
    assert as_target(own, loose).tolerance is loose
    assert as_target(np.eye(4), loose).tolerance is loose


@pytest.mark.parametrize("target", [None, np.eye(3), "home", np.full((4, 4), np.nan), np.diag([2.0, 1, 1, 1])])
def test_what_is_no_pose_is_refused(target) -> None:
    with pytest.raises(InputError):
        as_target(target)


def test_a_tolerance_that_is_none_is_refused() -> None:
    with pytest.raises(InputTypeError, match="tolerance must be a Tolerance"):
        as_target(np.eye(4), 1e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value, meaning",
    [(None, 0), (True, 0), (False, 1), (np.True_, 0), (np.False_, 1), *((c, int(c)) for c in CallbackReturn)],
)
def test_what_a_callback_may_return(value: object, meaning: int) -> None:
    assert answer_of(value) is CallbackReturn(meaning)


@pytest.mark.parametrize("value", [0, 1, "BREAK", 2.0, []])
def test_what_a_callback_may_not_return(value: object) -> None:
    with pytest.raises(InputTypeError, match="CONTINUE, REJECT or BREAK"):
        answer_of(value)


def test_a_chain_calls_everyone_and_gives_the_strongest_answer() -> None:
    called: list[int] = []

    def answering(number: int, value: object):
        def callback(seen: IntermediateIkResult):
            called.append(number)
            return value

        return callback

    seen = IntermediateIkResult(np.zeros(1), 1.0)
    both = chain(answering(1, CallbackReturn.BREAK), answering(2, None), answering(3, False))
    assert both(seen) is CallbackReturn.BREAK
    assert called == [1, 2, 3]
    assert chain(answering(4, None), answering(5, False))(seen) is CallbackReturn.REJECT
    assert chain()(seen) is CallbackReturn.CONTINUE


def test_callbacks_and_constraints_come_alone_or_in_numbers() -> None:
    assert as_callbacks(None, "x") == ()
    assert as_callbacks(print, "x") == (print,)
    assert as_callbacks([print, repr], "x") == (print, repr)
    for wrong in (3, [3], ["print"]):
        with pytest.raises(InputTypeError, match="x"):
            as_callbacks(wrong, "x")  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match=r"outer_constraints\[1\]"):
        as_constraints([lambda robot, q: True, object()], "outer_constraints")  # type: ignore[list-item]


def test_the_first_violated_constraint_is_named() -> None:
    class Cage:
        status = IKStatus.COLLISION

        def is_satisfied(self, robot: object, q: np.ndarray) -> bool:
            return bool(q[0] < 1.0)

    def positive(robot: object, q: np.ndarray) -> bool:
        return bool(q[0] > 0.0)

    both = (Cage(), positive)
    assert violation(both, None, np.array([0.5])) is None  # type: ignore[arg-type]
    assert violation(both, None, np.array([2.0])) == (IKStatus.COLLISION, "constraint Cage is violated")  # type: ignore[arg-type]
    assert violation(both, None, np.array([-1.0])) == (IKStatus.REJECTED, "constraint positive is violated")  # type: ignore[arg-type]
