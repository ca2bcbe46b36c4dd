"""Dynamics and controllers in lanes beside the same work by other means, as the tables of docs/performance.md.

    python benchmarks/compare_lanes.py [--sizes 1 16 256 4096 100000] [--rounds 5] [--seconds 2.0] [--lanes 4]

Every number is the least of several rounds, per robot, on this machine, now: processor time of one thread, wall time of
two. The ways are taken in turns and their results compared. MuJoCo takes part where it is installed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

from knuckle import Fleet, PinRobot, ReferenceFrame
from knuckle.controllers import ControllerJointImpedance, ControllerOperationalSpace, rollout
from knuckle.robot import native

ARM = PinRobot.from_urdf(Path(__file__).resolve().parents[1] / "urdf_samples" / "sevenr_arm.urdf")
CENTRE = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
LOOP = 4096  # states of a Python loop; its time per state does not depend on how many there are
Ways = dict[str, Callable[[], Any] | None]


def best(ways: Ways, rounds: int, per: dict[str, int]) -> dict[str, float]:
    """Least time of each way per robot [s], taken in turns so that load hits all."""
    found = {name: float("inf") for name, way in ways.items() if way is not None}
    for _ in range(rounds):
        for name in found:
            way = ways[name]
            assert way is not None
            repeat = max(1, 2000 // per[name])
            clock = time.perf_counter if "threads" in name else time.process_time
            start = clock()
            for _ in range(repeat):
                way()
            found[name] = min(found[name], (clock() - start) / repeat / per[name])
    return found


def states(count: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return CENTRE + rng.uniform(-0.3, 0.3, (count, 7)), rng.normal(size=(count, 7)), rng.normal(size=(count, 7))


def dynamics(count: int) -> dict[str, Ways]:
    """Ways to the same dynamics; results agree or this fails."""
    q, dq, ddq = states(count)
    few = slice(0, min(count, LOOP))
    model, data, tool = ARM.model, ARM.model.createData(), ARM.tcp_id

    def frame() -> list[Any]:
        found = []
        for one, rate in zip(q[few], dq[few], strict=True):
            J = pin.computeFrameJacobian(model, data, one, tool, pin.LOCAL_WORLD_ALIGNED)
            found.append((pin.updateFramePlacement(model, data, tool).homogeneous, J, J @ rate))
        return found

    bodies = ARM.native_bodies()
    assert bodies is not None, native.REASON
    where, T, J, V = bodies.frames([tool]), np.empty((count, 4, 4)), np.empty((count, 6, 7)), np.empty((count, 6))

    def ours(threads: int) -> Callable[[], Any]:
        options = {"frame_joints": where[0], "frame_places": where[1], "poses": T, "jacobian": J, "twist": V}
        return lambda: bodies.core.evaluate(count, q, dq, **options, threads=threads)

    pool, out = pin.ModelPool(model, 1), np.empty((count, 7))
    table: dict[str, Ways] = {
        "inverse dynamics": {
            "Python loop": lambda: [pin.rnea(model, data, *x) for x in zip(q[few], dq[few], ddq[few], strict=True)],
            "Pinocchio, C++": lambda: pin.rneaInParallel(1, pool, q.T, dq.T, ddq.T, out.T),
            "lanes": lambda: bodies.inverse(q, dq, ddq, threads=1),
            "2 threads": lambda: bodies.inverse(q, dq, ddq, threads=2),
        },
        "mass matrix": {
            "Python loop": lambda: [pin.crba(model, data, one) for one in q[few]],
            "Pinocchio, C++": None,
            "lanes": lambda: bodies.mass_matrix(q, 1),
            "2 threads": lambda: bodies.mass_matrix(q, 2),
        },
        "Jacobian, pose, twist": {
            "Python loop": frame,
            "Pinocchio, C++": None,
            "lanes": ours(1),
            "2 threads": ours(2),
        },
        "forward dynamics": {
            "Python loop": lambda: [pin.aba(model, data, *x) for x in zip(q[few], dq[few], ddq[few], strict=True)],
            "Pinocchio, C++": lambda: pin.abaInParallel(1, pool, q.T, dq.T, ddq.T, out.T),
            "lanes": lambda: bodies.forward(q, dq, ddq, False, 1),
            "2 threads": lambda: bodies.forward(q, dq, ddq, False, 2),
        },
    }
    for name in ("inverse dynamics", "mass matrix", "forward dynamics"):
        ways = table[name]
        assert ways["Python loop"] is not None and ways["lanes"] is not None
        expected = np.array(ways["Python loop"]())
        scale = np.abs(expected).max()
        assert np.abs(ways["lanes"]()[few] - expected).max() < 1e-10 * scale, name
    ours(1)()
    assert np.abs(J[few] - np.array([found[1] for found in frame()])).max() < 1e-12
    return table


def plain_impedance(inputs: Any, few: int) -> Callable[[], Any]:
    model, data = ARM.model, ARM.model.createData()
    q, dq = inputs.joint_q.reshape(-1, 7)[:few], inputs.joint_qd.reshape(-1, 7)[:few]
    goals = inputs.joint_q_des.reshape(-1, 7)

    def call() -> Any:
        tau = []
        for one, rate, goal in zip(q, dq, goals, strict=False):
            M = pin.crba(model, data, one)
            tau.append(M @ (100.0 * (goal - one) - 20.0 * rate) + pin.nonLinearEffects(model, data, one, rate))
        return np.concatenate(tau)

    return call


def plain_operational(inputs: Any, few: int) -> Callable[[], Any]:
    model, data, tool = ARM.model, ARM.model.createData(), ARM.tcp_id
    q, dq = inputs.joint_q.reshape(-1, 7)[:few], inputs.joint_qd.reshape(-1, 7)[:few]
    goals = [pin.XYZQUATToSE3(pose) for pose in inputs.desired_tool_pose_operational[:few]]

    def call() -> Any:
        tau = []
        for one, rate, goal in zip(q, dq, goals, strict=True):
            J = pin.computeFrameJacobian(model, data, one, tool, pin.LOCAL_WORLD_ALIGNED)
            pose = pin.updateFramePlacement(model, data, tool)
            e = np.concatenate((goal.translation - pose.translation, pin.log3(goal.rotation @ pose.rotation.T)))
            M = pin.crba(model, data, one)
            F = np.linalg.solve(J @ np.linalg.solve(M, J.T), 100.0 * e - 20.0 * (J @ rate))
            tau.append(J.T @ F + pin.nonLinearEffects(model, data, one, rate))
        return np.concatenate(tau)

    return call


def controllers(count: int) -> dict[str, Ways]:
    """One step of a fleet by a plain loop, by the path in numpy, and by the kernel."""
    fleet, few, table = Fleet([ARM] * count), min(count, 256), {}
    q, dq, _ = states(count)
    posture = {"use_null_space_control": True, "null_space_stiffness": 10.0, "null_space_damping": 6.0}
    wrench = {
        "use_wrench_feedforward": True,
        "use_wrench_feedback": True,
        "wrench_stiffness": 0.5,
        "motion_selection_axes": [1, 1, 0, 1, 1, 1],
        "wrench_selection_axes": [0, 0, 1, 0, 0, 0],
    }
    task = {"tool_sites": "tool", "motion_stiffness": 100.0, "motion_damping": 20.0, "use_coriolis_compensation": True}
    kinds: list[tuple[str, Any, dict[str, Any], Any]] = [
        ("joint impedance", ControllerJointImpedance, {"stiffness": 100.0, "damping": 20.0}, plain_impedance),
        ("operational space", ControllerOperationalSpace, task, plain_operational),
        ("... with wrench and posture", ControllerOperationalSpace, task | posture | wrench, None),
    ]
    T = ARM.fk(CENTRE)
    for name, kind, options, plain in kinds:
        ways: Ways = {}
        made = {
            "numpy": kind(fleet, **options, backend="numpy"),
            "lanes": kind(fleet, **options, threads=1),
            "2 threads": kind(fleet, **options, threads=2),
        }
        results = {}
        for way, controller in made.items():
            inputs, outputs = controller.input(), controller.output()
            inputs.joint_q[:], inputs.joint_qd[:] = q.ravel(), dq.ravel()
            if kind is ControllerOperationalSpace:
                inputs.desired_tool_pose_operational[:] = np.concatenate((T.translation, T.quat_xyzw))
            if plain is not None and way == "numpy":
                ways["Python loop"] = plain(inputs, few)
            ways[way] = _step(controller, inputs, outputs)
            results[way] = ways[way]().copy()  # type: ignore[misc]
        for way in ("lanes", "2 threads"):
            assert np.abs(results[way] - results["numpy"]).max() < 1e-9 * np.abs(results["numpy"]).max(), name
        ways.setdefault("Python loop", None)
        if count > LOOP:
            ways["numpy"] = None
        table[name] = {way: ways[way] for way in ("Python loop", "numpy", "lanes", "2 threads")}
    return table


def _step(controller: Any, inputs: Any, outputs: Any) -> Callable[[], Any]:
    def call() -> Any:
        controller.step(inputs=inputs, outputs=outputs, dt=1e-3)
        return outputs.joint_f

    return call


def largest_errors() -> None:
    """Answers in lanes against bare Pinocchio, relative to the largest entry, over 64 random states a robot."""
    root = Path(__file__).resolve().parents[1]
    paths = sorted([*(root / "urdf_samples").glob("*.urdf"), *(root / "tests" / "data" / "urdf").glob("*.urdf")])
    names = "inverse dynamics", "mass matrix", "forward dynamics", "pose", "Jacobian"
    print(f"\n### Largest differences to Pinocchio, relative\n\n| robot | dof | {' | '.join(names)} |")
    print(f"| --- | ---: |{' ---: |' * len(names)}")
    for path in paths:
        for root_joint in ("fixed", "floating") if path.stem in ("solo12", "panda") else ("fixed",):
            robot = PinRobot.from_urdf(path, root_joint=root_joint)
            label = path.stem + (", floating" if root_joint == "floating" else "")
            print(f"| {label} | {robot.nv} | {' | '.join(f'{e:.0e}' for e in errors(robot))} |")


def errors(robot: PinRobot) -> list[float]:
    """Largest relative difference of each quantity."""
    rng, bodies = np.random.default_rng(0), robot.native_bodies()
    assert bodies is not None
    q = np.array([robot.random_configuration(rng) for _ in range(64)])
    dq, ddq = rng.normal(size=(2, 64, robot.nv))
    tau = np.array([robot.rnea(*x) for x in zip(q, dq, ddq, strict=True)])
    tip = robot.frames[-1]
    T, J = bodies.pose_and_jacobian(q, bodies.frames([robot._frame_id(tip)]), LWA)
    model, data, at = robot.model, robot.model.createData(), robot._coordinates
    found, index = [], robot._frame_id(tip)
    for one in q:
        own = pin.computeFrameJacobian(model, data, at.to_pinocchio(one), index, pin.LOCAL_WORLD_ALIGNED)
        pose = pin.updateFramePlacement(model, data, index).homogeneous
        found.append((pose, at.torque(own.reshape(6, model.nv))))
    pairs = [
        (bodies.inverse(q, dq, ddq), tau),
        (bodies.mass_matrix(q), np.array([robot.crba(one) for one in q])),
        (bodies.forward(q, dq, tau, False), ddq),
        (T, np.array([pose for pose, _ in found])),
        (J, np.array([own for _, own in found])),
    ]
    return [float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs]


def tables(sizes: Sequence[int], rounds: int) -> None:
    for title, make in (("Dynamics", dynamics), ("Controllers", controllers)):
        print(f"\n### {title}, us per robot\n")
        header: list[str] | None = None
        for count in sizes:
            for name, ways in make(count).items():
                if header is None:
                    header = list(ways)
                    print(
                        f"| | N | {' | '.join(header)} | loop / lanes |\n| --- | ---: |{' ---: |' * (len(header) + 1)}"
                    )
                loop = min(count, LOOP if title == "Dynamics" else 256)
                per = {way: loop if way == "Python loop" else count for way in ways}
                times = best(ways, rounds, per)
                cells = [f"{times[way] * 1e6:.3f}" if way in times else "" for way in header]
                gain = f"{times['Python loop'] / times['lanes']:.1f}" if "Python loop" in times else ""
                print(f"| {name} | {count} | {' | '.join(cells)} | {gain} |", flush=True)


def rollouts(count: int, seconds: float, rounds: int) -> None:
    """A fleet under operational-space control, twice: the same to the bit."""
    fleet, steps = Fleet([ARM] * count), round(seconds / 1e-3)
    controller = ControllerOperationalSpace(
        fleet, tool_sites="tool", motion_stiffness=100.0, damping_ratio=1.0, use_coriolis_compensation=True
    )
    inputs, T = controller.input(), ARM.fk(CENTRE)
    inputs.desired_tool_pose_operational[:] = np.concatenate((T.translation, T.quat_xyzw))
    x0 = states(count)[0], np.zeros((count, 7))
    print(f"\n### {count} robots under operational-space control for {seconds:g} s, steps of 1 ms\n")
    print("| threads | wall time [s] | us per robot and step | robots lost |\n| ---: | ---: | ---: | ---: |")
    ends = []
    for threads in (1, 2):
        least = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            found = rollout(fleet, controller, x0, 1e-3, steps, inputs=inputs, threads=threads)
            least = min(least, time.perf_counter() - start)
            ends.append(found.joint_q[-1])
        lost = int((found.lost_at >= 0).sum())
        print(f"| {threads} | {least:.2f} | {least / count / steps * 1e6:.3f} | {lost} |", flush=True)
    assert all((end == ends[0]).all() for end in ends)
    print("\nAll runs end in the same states, to the bit.")


def against_mujoco(rounds: int) -> None:
    """The same arm falling freely: MuJoCo's step in C, and a rollout whose controller commands nothing."""
    try:
        import mujoco
    except ImportError:
        print("\nMuJoCo is not installed: pip install mujoco")
        return
    model = mujoco.MjModel.from_xml_path(str(Path(__file__).resolve().parents[1] / "urdf_samples/sevenr_arm.urdf"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.timestep, model.dof_damping[:], model.dof_frictionloss[:] = 1e-3, 0.0, 0.0
    data, bare, count, steps = mujoco.MjData(model), {"friction": False, "motor_inertia": False}, 1024, 100
    off = {name: False for name in ("use_gravity_compensation", "use_coriolis_compensation", "use_inertia_decoupling")}
    controller = ControllerJointImpedance(ARM, stiffness=0.0, damping=0.0, **off)
    inputs, x0 = controller.input(), (np.tile(CENTRE, (count, 1)), np.zeros((count, 7)))

    def theirs() -> Any:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = CENTRE
        mujoco.mj_step(model, data, nstep=steps)
        return data.qpos

    def ours() -> Any:
        return rollout(ARM, controller, x0, 1e-3, steps, inputs=inputs, threads=1, **bare).q[-1, 0]

    gap = float(np.abs(theirs() - ours()).max())
    assert gap < 1e-6, gap
    times = best({"MuJoCo": theirs, "rollout": ours}, rounds, {"MuJoCo": steps, "rollout": steps * count})
    print(f"\n### A step of a falling arm, MuJoCo {mujoco.__version__}: us per robot and step, one thread\n")
    print("| mj_step | rollout of 1024 | ratio | largest difference after 100 steps [rad] |")
    print("| ---: | ---: | ---: | ---: |")
    print(
        f"| {times['MuJoCo'] * 1e6:.3f} | {times['rollout'] * 1e6:.3f} | "
        f"{times['MuJoCo'] / times['rollout']:.1f} | {gap:.1e} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 16, 256, 4096, 100_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--robots", type=int, default=10_000, help="of the rollout")
    parser.add_argument("--lanes", type=int, default=0, help="2, 4 or 8; 0 is the widest the processor has")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the rollout, simulated")
    options = parser.parse_args(arguments)
    native.core().use_lanes(options.lanes)
    print(f"Seven-joint arm, {native.isa()}, {native.core().lanes()} lanes, {os.cpu_count()} cores")
    largest_errors()
    tables(options.sizes, options.rounds)
    rollouts(options.robots, options.seconds, max(1, options.rounds // 2))
    against_mujoco(options.rounds)
    native.core().use_lanes(0)


if __name__ == "__main__":
    main()
