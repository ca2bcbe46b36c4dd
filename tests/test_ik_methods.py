"""Tolerances, costs, and methods by name, as callables and for one run."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle import PinRobot, ToleratedPose, Transformation, ik
from knuckle.ik import CallbackReturn, IKDebug, IKStatus, InnerResult
from knuckle.robot import CartesianBox, CartesianSphere, RotationAbsolute, RotationAxis, Tolerance
from knuckle.robot.errors import InputError

from .ik_cases import ALL_METHODS, PYTHON_METHODS, TIGHT, arm, far, inside, position_only, problem


@pytest.mark.parametrize("method", ALL_METHODS)
def test_a_wider_tolerance_takes_fewer_iterations_a_tighter_one_is_met(method: str) -> None:
    robot, target, start = problem(8)
    loose = robot.ik(
        target, ik_method=method, q_init=start, rng=0, tolerance=CartesianSphere(0.05) + RotationAbsolute(0.2)
    )
    tight = robot.ik(target, ik_method=method, q_init=start, rng=0, tolerance=TIGHT)
    assert loose
    assert tight
    assert loose.iterations <= tight.iterations
    assert tight.position_error <= 1e-8
    assert tight.rotation_error <= 1e-8


@pytest.mark.parametrize("method", ALL_METHODS)
def test_position_alone_is_a_goal(method: str) -> None:
    for name in ("planar_2r", "planar_3r", "scara", "sixr_arm", "sevenr_arm"):
        robot = arm(name)
        rng = np.random.default_rng(1)
        for seed in range(4):
            position = robot.fk(robot.random_configuration(rng)).translation
            goal = ToleratedPose(Transformation.from_rpy([1, 2, 3], translation=position), position_only())
            answer = robot.ik(goal, ik_method=method, q_init=robot.random_configuration(rng), rng=seed)
            assert answer, answer
            assert answer.position_error <= 1e-5
            assert np.linalg.norm(robot.fk(answer.q).translation - position) <= 1e-5


@pytest.mark.parametrize("method", ALL_METHODS)
def test_regions_are_goals(method: str) -> None:
    robot, target, start = problem(9)
    spinning = CartesianBox.symmetric(1e-4) + RotationAxis("z", angle=None, tilt=1e-3)
    answer = robot.ik(target, ik_method=method, q_init=start, rng=0, tolerance=spinning)
    assert answer
    assert ToleratedPose(target, spinning).valid(robot.fk(answer.q))


@pytest.mark.parametrize("method", PYTHON_METHODS)
@pytest.mark.parametrize(
    "hollow",
    [
        CartesianSphere(r=(0.05, 0.1)) + RotationAbsolute(0.3),
        CartesianSphere(r=(0.05, 0.06)) + RotationAbsolute(0.01),
        CartesianBox([0.01, 0.0, 0.0], [0.03, 0.02, 0.02]) + RotationAbsolute(0.1),
    ],
)
def test_a_region_that_leaves_out_the_pose_itself_is_never_taken_for_it(hollow: Tolerance, method: str) -> None:
    for seed in range(6):
        robot, target, start = problem(seed)
        answer = robot.ik(target, ik_method=method, q_init=start, rng=seed, tolerance=hollow, max_iter=300)
        assert answer.success == ToleratedPose(target, hollow).valid(robot.fk(answer.q))


def test_a_mask_of_error_terms_is_judged_on_those_terms() -> None:
    robot = arm("planar_3r")
    target = Transformation.from_rpy([0.5, 0.5, 0.5], translation=[0.4, 0.0, 0.3])
    assert not robot.ik(target, ik_method="jacobian", rng=0, max_iter=200)
    answer = robot.ik(
        target,
        ik_method="jacobian",
        q_init=[0.3, 0.3, 0.3],
        rng=0,
        error_term_mask=[1, 0, 1, 0, 0, 0],
        tcp_or_world_frame="world",
    )
    assert answer
    assert answer.position_error <= 1e-5
    assert answer.rotation_error > 0.1


def test_an_own_cost_is_minimised_by_scipy_which_is_then_the_default() -> None:
    robot, target, start = problem(10)

    def cost(robot: PinRobot, q: np.ndarray, goal: Transformation) -> float:
        assert isinstance(goal, Transformation)
        distance = robot.fk(q).distance(goal)
        return distance.translation**2 + 0.1 * distance.rotation**2

    answer = robot.ik(
        target,
        q_init=start,
        rng=0,
        ik_cost_function=cost,
        tolerance=CartesianSphere(2e-3) + RotationAbsolute(1e-2),
        convergence_threshold=1e-12,
    )
    assert answer.method == "scipy"
    assert answer
    assert answer.cost == pytest.approx(cost(robot, answer.q, target))


def test_an_own_cost_ranks_what_the_jacobian_method_sees() -> None:
    robot, _, start = problem(10)
    seen = IKDebug()

    def tilt(robot: PinRobot, q: np.ndarray, goal: Transformation) -> float:
        return float(q[0] ** 2)

    answer = robot.ik(
        far(), ik_method="jacobian", q_init=start, rng=0, ik_cost_function=tilt, max_iter=50,
        inner_callbacks=seen.inner_callback,
    )  # fmt: skip
    assert not answer
    assert answer.cost == pytest.approx(min(step.q[0] ** 2 for step in seen.steps))


def test_a_callable_is_a_method() -> None:
    robot, target, start = problem(11)

    def guessing(robot, goal, q_init, info, *, callbacks, ik_cost_function, convergence_threshold, rng, tries=10):
        best = q_init
        for _ in range(min(tries, info.max_iter)):
            q = robot.random_configuration(rng)
            if ik_cost_function(robot, q, goal.nominal) < ik_cost_function(robot, best, goal.nominal):
                best = q
        return InnerResult(best, IKStatus.CONVERGED, ik_cost_function(robot, best, goal.nominal), tries)

    wide = CartesianSphere(0.5) + RotationAbsolute(2.0)
    answer = robot.ik(target, ik_method=guessing, q_init=start, rng=0, tolerance=wide, tries=50)
    assert answer
    assert answer.method == "guessing"
    assert (robot.ik(target, ik_method=guessing, q_init=start, rng=0, tolerance=wide, tries=50).q == answer.q).all()
    liar = robot.ik(target, ik_method=guessing, q_init=start, rng=0, max_iter=40)
    assert not liar
    with pytest.raises(InputError, match="'guessing' has no option 'trys'; it takes tries"):
        robot.ik(target, ik_method=guessing, trys=3)


def test_a_registered_method_is_known_by_name() -> None:
    robot, target, start = problem(11)
    ik.register_method("twin", ik.METHODS["jacobian"].run)
    try:
        answer = robot.ik(target, ik_method="twin", q_init=start, rng=0)
        assert answer.method == "twin"
        assert (answer.q == robot.ik(target, ik_method="jacobian", q_init=start, rng=0).q).all()
    finally:
        del ik.METHODS["twin"]
    for name, run in ((3, print), ("", print), ("x", 3)):
        with pytest.raises(InputError):
            ik.register_method(name, run)  # type: ignore[arg-type]


def test_a_method_that_moves_what_it_must_not_is_put_right() -> None:
    robot, target, start = problem(11)

    def careless(robot, goal, q_init, info, **rest):
        return InnerResult(q_init + 10.0, IKStatus.CONVERGED, 0.0, 1)

    answer = robot.ik(
        target, ik_method=careless, q_init=start, joint_mask=[False] + [True] * 6, allow_random_restart=False
    )
    assert not answer
    assert answer.q[0] == start[0]
    assert inside(robot, answer.q)


def test_a_method_that_returns_nonsense_is_refused() -> None:
    robot, target, _ = problem(11)
    for returned in (None, (np.zeros(7), True), InnerResult(np.zeros(3), IKStatus.CONVERGED, 0.0, 1)):
        with pytest.raises(InputError, match="must"):
            robot.ik(target, ik_method=lambda *a, r=returned, **k: r)
    with pytest.raises(InputError, match="finite"):
        robot.ik(target, ik_method=lambda *a, **k: InnerResult(np.full(7, np.nan), IKStatus.STALLED, 0.0, 1))


def test_options_choose_a_method_that_has_them() -> None:
    robot, target, start = problem(12)
    assert robot.ik(target, q_init=start, kind="pseudo_inverse", rng=0).method == "jacobian"
    assert robot.ik(target, q_init=start, scipy_kwargs={"method": "SLSQP"}, rng=0).method == "scipy"
    assert robot.ik(target, q_init=start, inner_callbacks=lambda r: True, rng=0).method == "jacobian"


def test_one_run_of_each_method_on_the_robot() -> None:
    robot, target, start = problem(13)
    for run, method in ((robot.ik_jacobian, "jacobian"), (robot.ik_scipy, "scipy")):
        q, success = run(target, ik.IKMeta(max_iter=300), start)
        answer = run(eef_pose=target, info=ik.IKMeta(max_iter=300), q_init=start)
        assert (q == answer.q).all()
        assert success == answer.success
        assert answer.restarts == 0
        assert answer.method == method
        stopped = run(target, q_init=start, callbacks=[lambda r: CallbackReturn.BREAK])
        assert stopped.status is IKStatus.STOPPED
        held = run(target, ik.IKMeta(max_iter=20, joint_mask=np.arange(7) != 0), q_init=start)
        assert held.q[0] == start[0]
        assert held.iterations <= 20
    assert robot.ik_jacobian(target, q_init=start, kind="transpose").method == "jacobian"
    assert robot.ik_scipy(target, q_init=start, scipy_kwargs={"method": "TNC"}).method == "scipy"
    with pytest.raises(InputError, match="info must be an IKMeta"):
        robot.ik_scipy(target, {"max_iter": 3})
