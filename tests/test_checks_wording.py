"""What a report says: what was judged and what only told, which column, which joint, which remedy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from knuckle import (
    CartesianSphere,
    InputError,
    Obstacle,
    PinRobot,
    Task,
    ToleratedPose,
    Trajectory,
    Transformation,
    check_trajectory,
    torque_envelope,
)
from knuckle.checks import retime
from knuckle.cli import main
from knuckle.controllers import closed_loop

from .samples import path_of
from .test_cli import Captured, run_json
from .trajectory_check_cases import Q0, arm, wave

T = np.linspace(0.0, 2.0, len(wave()))


def path(start: float = 0.0) -> Trajectory:
    return Trajectory(start + T, wave(), names=arm().joints)


def test_what_has_nothing_to_be_held_against_is_told_but_not_judged() -> None:
    robot = arm()
    report = check_trajectory(robot, path())
    told = {"acceleration", "jerk", "tool_speed", "tool_turning", "singularity", "condition", "goal", "scene_collision"}
    assert {check.name for check in report.unjudged} == told
    assert all(check.ok for check in report.unjudged) and "  --   jerk: no limits" in str(report)
    bounds = {"max_linear": 5.0, "max_angular": 9.0, "min_singular_value": 1e-3, "max_condition": 1e6}
    held = check_trajectory(
        robot.with_limits(acceleration=15.0, jerk=500.0),
        path(),
        Task([Obstacle.sphere(0.1, Transformation.from_translation([0.0, 0.0, 9.0]))]),
        goal=robot.fk(wave()[-1]),
        **bounds,
    )
    assert held.unjudged == () and "--" not in str(held)
    assert [check["judged"] for check in report.to_dict()["checks"]] == [check.judged for check in report]
    blind = check_trajectory(robot, path(), collisions=False)
    assert {"self_collision", "scene_collision"} <= {check.name for check in blind.unjudged}


def test_robots_without_limits_or_shapes_are_told_so() -> None:
    bare = PinRobot(wrapper=arm().model)
    assert not check_trajectory(bare, path())["self_collision"].judged
    loose = arm().with_limits(velocity=np.inf, torque=np.inf)
    report = check_trajectory(loose, path())
    assert not report["velocity"].judged and not report["torque"].judged and report["position"].judged


def test_limits_of_some_joints_are_judged() -> None:
    some = np.full(7, np.inf)
    some[2] = 1e-3
    check = check_trajectory(arm().with_limits(velocity=some), path())["velocity"]
    assert check.judged and not check.ok and check.where == "joint3"


def test_columns_of_no_joint_are_dropped_when_told(tmp_path: Path, capsys: Captured) -> None:
    robot = arm()
    wide = Trajectory(T, np.column_stack([wave(), T]), names=[*robot.joints, "gripper"])
    with pytest.raises(InputError, match=r"'gripper' \(column 8\).*ordered\(robot, drop=True\) leaves it out"):
        check_trajectory(robot, wide)
    kept = wide.ordered(robot, drop=True)
    assert kept.names == tuple(robot.joints) and check_trajectory(robot, kept)
    assert wide.ordered(list(reversed(robot.joints)), drop=True).names == tuple(reversed(robot.joints))
    with pytest.raises(InputError, match="lacks 'nothing'"):
        wide.ordered(["nothing"], drop=True)
    file = str(wide.save(tmp_path / "wide.csv"))
    argv = ["check", "trajectory", str(path_of("sevenr_arm")), file]
    assert main(argv) == 2 and "; --drop-extra leaves it out" in capsys.readouterr().err
    assert run_json(capsys, *argv, "--drop-extra")["feasible"]


@pytest.mark.parametrize("header", ["t", "T", "Time", "TIME", "timestamp", "time [s]", "time_s", "secs", "Time (s)"])
def test_a_column_that_is_the_time_by_another_name_is_pointed_at(header: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"{header},joint1\n0,0\n1,0\n")
    with pytest.raises(InputError) as caught:
        Trajectory.load(file)
    assert str(caught.value).endswith(f"give {header!r} that name, in seconds")
    file.write_text("joint1,torque\n0,0\n1,0\n")
    with pytest.raises(InputError, match=r"no column 'time' among 'joint1', 'torque'$"):
        Trajectory.load(file)


def test_times_of_clocks_are_told_to_the_millisecond() -> None:
    begin = 1.7e9
    check = check_trajectory(arm(), path(begin), max_linear=1e-3)["tool_speed"]
    assert not check.ok and f"{check.time:.3f} s" in check.message and "e+09" not in check.message


def test_a_number_of_samples_is_no_time_step() -> None:
    with pytest.raises(InputError, match=r"100 s is more than the 2 s there are; times=np.linspace\(0, 2, n\)"):
        path().resampled(100)
    assert len(path().resampled(2.0)) == 2 and len(path().resampled(0.5)) == 5


def test_more_than_the_limits_is_noted() -> None:
    report = check_trajectory(arm(), path(), limits_scale={"velocity": 2.0})
    assert "limits_scale allows 2 times the velocity limits" in report.notes
    assert not [note for note in check_trajectory(arm(), path(), limits_scale=0.5).notes if "limits_scale" in note]


def test_goals_say_what_is_allowed() -> None:
    robot = arm()
    there = robot.fk(wave()[-1])
    off = there @ Transformation.from_translation([0.0, 0.0, 0.01])
    missed = check_trajectory(robot, path(), goal=off)["goal"].message
    assert missed == "tool misses 'goal': 0.01 m and 0 rad off; 1e-05 m and 0.0001 rad are allowed in every direction"
    near = check_trajectory(robot, path(), goal=ToleratedPose(off, CartesianSphere(0.02)))["goal"].message
    assert near == "tool ends at 'goal': 0.01 m and 0 rad off; 0.02 m are allowed in every direction"


def test_even_steps_are_told_once() -> None:
    assert check_trajectory(arm(), path())["time"].message == f"times increase in even steps of {T[1]:.6g} s"
    uneven = Trajectory(T**1.2, wave(), names=arm().joints)
    assert "uneven steps of" in check_trajectory(arm(), uneven)["time"].message


def test_what_a_closed_loop_recorded_is_checked_as_it_is() -> None:
    robot = arm()
    hold = robot.id(Q0)
    recording = closed_loop.run(robot, lambda t, q, dq: hold, duration=0.2, q=Q0)
    report = check_trajectory(robot, recording)
    assert report.samples == len(recording) and report.duration == pytest.approx(recording.time[-1])


def test_an_envelope_takes_a_trajectory_and_is_short_in_print() -> None:
    robot, moved = arm(), path()
    found = torque_envelope(robot, moved)
    same = torque_envelope(robot, moved.q, moved.dq, moved.ddq)
    np.testing.assert_array_equal(found.mass, same.mass)
    at = int(found.mass.argmin())
    text = (
        f"{len(T)} states: {found.mass[at]:.4g} kg at least, in state {at}, set by degree of freedom {found.joint[at]}"
    )
    assert repr(found) == str(found) == f"<Envelope of {text}>"
    with pytest.raises(InputError, match="a trajectory has its own"):
        torque_envelope(robot, moved, moved.dq)


def test_retiming_names_the_joint_that_is_too_weak() -> None:
    robot = arm().with_limits(acceleration=15.0)
    with pytest.raises(InputError, match=r"joint2 needs \d.* N m to stand still where the trajectory is at .* s"):
        retime(robot, path(), payload=30.0)


def test_without_matplotlib_the_verdict_is_told_all_the_same(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    file = str(path().save(tmp_path / "a.csv"))
    argv = ["check", "trajectory", str(path_of("sevenr_arm")), file, "--html", str(tmp_path / "a.html")]
    assert main(argv) == 2
    told = capsys.readouterr()
    assert "verdict     feasible" in told.out and "knuckle[plot]" in told.err
    assert "written" not in told.out and not (tmp_path / "a.html").exists()
