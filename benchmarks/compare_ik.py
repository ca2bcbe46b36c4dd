"""Inverse kinematics of this package beside whatever other packages are installed, in one run.

`python benchmarks/compare_ik.py [URDF --tcp FRAME] [--count 500] [--table out.md] [--plot out.png]`

Installs nothing: it looks for roboticstoolbox-python and ikpy, and always runs a plain damped least squares loop on
Pinocchio; a solver is added by a function and a line in PEERS. Every solver gets the same targets (poses of random
configurations), the same random starts, one thread and 50 ms a target; every answer is checked with Pinocchio against
tolerance and limits. Times are processor times of one call from Python.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from knuckle import CartesianSphere, PinRobot, RotationAbsolute, ik

SAMPLE = Path(__file__).resolve().parents[1] / "urdf_samples" / "sevenr_arm.urdf"
BUDGET = 0.05
"""Seconds a solver may restart for."""
Solve = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Problem:
    """One chain and its targets."""

    urdf: str
    robot: PinRobot
    targets: Any
    starts: Any
    position: float
    rotation: float


@dataclass(frozen=True)
class Row:
    """How one solver did."""

    name: str
    version: str
    solved: float
    mean: float
    median: float
    p99: float
    times: Any


def ours(problem: Problem) -> Solve:
    tolerance = CartesianSphere(problem.position) + RotationAbsolute(problem.rotation)
    robot = problem.robot
    return lambda T, q: (
        robot.ik(T, q_init=q, rng=1, tolerance=tolerance, max_iter=20_000, ignore_self_collisions=True).q
    )


def restarted(once: Solve, problem: Problem) -> Solve:
    """A solver of one attempt, begun again from random starts until its answer holds or the time is up."""
    rng = np.random.default_rng(0)
    lower, upper = problem.robot.joint_limits

    def solve(T: Any, q: Any) -> Any:
        end = time.perf_counter() + BUDGET
        while True:
            found = once(T, q)
            if (found is not None and holds(problem, found, T)) or time.perf_counter() > end:
                return found
            q = rng.uniform(np.maximum(lower, -np.pi), np.minimum(upper, np.pi))

    return solve


def plain_loop(problem: Problem) -> Solve:
    model = problem.robot.model
    data, frame = model.createData(), model.getFrameId(problem.robot.tcp)
    lower, upper = problem.robot.joint_limits
    enough = 0.5 * min(problem.position, problem.rotation)

    def once(T: Any, q: Any) -> Any:
        goal, q = pin.SE3(T), q.copy()
        for _ in range(60):
            pin.framesForwardKinematics(model, data, q)
            between = data.oMf[frame].actInv(goal)
            e = pin.log6(between).vector
            if e @ e < enough**2:
                return q
            J = -pin.Jlog6(between.inverse()) @ pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
            mu = 1e-3 * min(float(e @ e), 1.0) + 1e-9
            q = np.clip(q - J.T @ np.linalg.solve(J @ J.T + mu * np.eye(6), e), lower, upper)
        return None

    return restarted(once, problem)


def toolbox(problem: Problem) -> Solve:
    import roboticstoolbox as rtb

    chain = rtb.Robot.URDF(problem.urdf).ets(end=problem.robot.tcp)
    chain.qlim = problem.robot.joint_limits

    def solve(T: Any, q: Any) -> Any:
        enough = 0.5 * min(problem.position, problem.rotation) ** 2
        return chain.ik_LM(T, q0=q, ilimit=30, slimit=1000, tol=enough, joint_limits=True)[0]

    return solve


def ikpy(problem: Problem) -> Solve:
    from ikpy.chain import Chain

    chain = Chain.from_urdf_file(problem.urdf)
    chain.active_links_mask = np.array([link.joint_type != "fixed" for link in chain.links])
    active = np.flatnonzero(chain.active_links_mask)

    def once(T: Any, q: Any) -> Any:
        start = np.zeros(len(chain.links))
        start[active] = q
        return chain.inverse_kinematics_frame(T, initial_position=start, orientation_mode="all")[active]

    return restarted(once, problem)


PEERS: dict[str, tuple[str, str, Callable[[Problem], Solve]]] = {
    "loop on Pinocchio": ("pinocchio", "pin", plain_loop),
    "roboticstoolbox ik_LM": ("roboticstoolbox", "roboticstoolbox-python", toolbox),
    "ikpy": ("ikpy", "ikpy", ikpy),
}
"""Name: module to look for, distribution, solver."""


def holds(problem: Problem, q: Any, T: Any) -> bool:
    """Whether an answer meets the target within tolerance and limits."""
    if q is None or not np.isfinite(q).all() or not problem.robot.q_in_joint_limits(q):
        return False
    gap = problem.robot.fk(q).distance(T)
    return bool(gap.translation <= problem.position and gap.rotation <= problem.rotation)


def measured(name: str, distribution: str, solve: Solve, problem: Problem) -> Row:
    times, good = [], 0
    solve(problem.targets[0], problem.starts[0])
    for T, q in zip(problem.targets, problem.starts, strict=True):
        begun = time.process_time()
        found = solve(T, q)
        times.append(1e6 * (time.process_time() - begun))
        good += holds(problem, found, T)
    try:
        release = version(distribution)
    except PackageNotFoundError:
        release = "?"
    spread = np.array(times)
    median, most = float(np.median(spread)), float(np.percentile(spread, 99))
    return Row(name, release, good / len(times), float(spread.mean()), median, most, spread)


def batch_row(problem: Problem) -> Row:
    tolerance = CartesianSphere(problem.position) + RotationAbsolute(problem.rotation)
    best = np.inf
    for _ in range(3):
        begun = time.process_time()
        found = ik.solve_batch(
            problem.robot,
            problem.targets,
            problem.starts,
            rng=1,
            tolerance=tolerance,
            max_iter=20_000,
            threads=1,
            ignore_self_collisions=True,
        )
        best = min(best, 1e6 * (time.process_time() - begun) / len(problem.targets))
    good = np.mean([holds(problem, q, T) for q, T in zip(found.q, problem.targets, strict=True)])
    return Row("knuckle, batch", version("knuckle"), float(good), best, np.nan, np.nan, np.array([best]))


def table(rows: list[Row], problem: Problem, count: int) -> str:
    place = f"{platform.machine()}, Python {platform.python_version()}"
    lines = [
        f"{count} targets of `{Path(problem.urdf).name}`, {problem.position:g} m / {problem.rotation:g} rad, "
        f"{time.strftime('%Y-%m-%d')}, {place}",
        "",
        "| solver | version | solved | mean | median | p99 | against ours |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    first = rows[0].mean
    for row in rows:
        cells = [f"{value:.1f} us" if np.isfinite(value) else "" for value in (row.mean, row.median, row.p99)]
        lines.append(
            f"| {row.name} | {row.version} | {row.solved:.1%} | {' | '.join(cells)} | {row.mean / first:.2f} |"
        )
    return "\n".join(lines)


def plot(rows: list[Row], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [row for row in rows if len(row.times) > 1]
    figure, axes = plt.subplots(figsize=(8, 0.6 * len(shown) + 1.2), layout="constrained")
    axes.boxplot([row.times for row in shown], orientation="horizontal", whis=(1, 99), showfliers=False)
    axes.set_yticks(range(1, len(shown) + 1), [f"{row.name} ({row.solved:.0%})" for row in shown])
    axes.set_xscale("log")
    axes.set_xlabel("processor time of a call [us]; box 25-75 %, whiskers 1-99 %")
    axes.invert_yaxis()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", nargs="?", default=str(SAMPLE))
    parser.add_argument("--tcp", help="frame of the tool (default: the robot's)")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--tight", action="store_true", help="1e-6 m and 1e-6 rad in place of 1e-4 and 1e-3")
    parser.add_argument("--table", type=Path, help="write the table as Markdown")
    parser.add_argument("--plot", type=Path, help="write a picture (needs matplotlib)")
    given = parser.parse_args(arguments)
    if given.count < 1:
        parser.error("--count must be at least 1")
    for file in (given.table, given.plot):
        if file is not None and not file.parent.is_dir():
            parser.error(f"there is no folder {file.parent}")
    robot = PinRobot.from_urdf(given.urdf, tcp=given.tcp)
    rng = np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(2 * given.count)])
    small = (1e-6, 1e-6) if given.tight else (1e-4, 1e-3)
    problem = Problem(given.urdf, robot, robot.fk(q[: given.count]), q[given.count :], *small)
    rows = [measured("knuckle", "knuckle", ours(problem), problem), batch_row(problem)]
    for name, (module, distribution, make) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name}: not installed", file=sys.stderr)
            continue
        try:
            rows.append(measured(name, distribution, make(problem), problem))
        except Exception as error:  # a peer that cannot do this robot must not stop the others
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    text = table(rows, problem, given.count)
    print(text)
    if given.table is not None:
        given.table.write_text(text + "\n", encoding="utf-8")
    if given.plot is not None:
        plot(rows, given.plot)
    return 0 if rows[0].solved == 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
