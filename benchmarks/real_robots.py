"""Every URDF of example-robot-data, loaded here and by Pinocchio: `python -m benchmarks.real_robots` prints a table.

Forward kinematics of all frames and the mass matrix are compared in five configurations: uncoupled against Pinocchio's
own, and coupled against Pinocchio's at the configuration that the leaders mean.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pinocchio as pin

from knuckle import DescriptionError, PinRobot
from knuckle.robot.examples import robots_folder
from knuckle.robot.findings import ERROR


def row(file: Path, folder: Path) -> tuple[list[str], bool]:
    """The line of a robot, and whether it is as it should be."""
    name = file.relative_to(folder).as_posix().replace("_description/", "/")
    try:
        robot = PinRobot.from_urdf(file, folder.parent)
    except DescriptionError as error:
        codes = Counter(one.code for one in error.findings if one.severity == ERROR)
        bare = "Pinocchio refuses it as well" if bare_model(file) is None else "Pinocchio loads it"
        return [name, f"refused: {counted(codes)}; {bare}", "", "", "", ""], True
    poses, matrix = differences(robot, PinRobot.from_urdf(file, folder.parent, mimic=False), file)
    codes = counted(Counter(one.code for one in robot.findings))
    mimics = f", {len(robot.couplings)} mimic" if robot.couplings else ""
    good = poses < 1e-11 and matrix < 1e-12
    return [name, "loaded", f"{robot.nq}{mimics}", f"{poses:.0e}", f"{matrix:.0e}", codes], good


def counted(codes: Counter[str]) -> str:
    """Codes with how often they come."""
    return ", ".join(f"{n} {code}" if n > 1 else code for code, n in sorted(codes.items()))


def bare_model(file: Path) -> pin.Model | None:
    """Pinocchio's own reading, None if it refuses."""
    try:
        return pin.buildModelFromUrdf(str(file))
    except (RuntimeError, ValueError):
        return None


def differences(coupled: PinRobot, robot: PinRobot, file: Path) -> tuple[float, float]:
    """Greatest deviation of a pose [m or 1], and of the mass matrix relative to its greatest entry."""
    model = bare_model(file)
    assert model is not None, file
    assert [frame.name for frame in model.frames] == [frame.name for frame in robot.model.frames], file
    data, poses, matrix = model.createData(), 0.0, 0.0
    for seed in range(5):
        for one in (robot, coupled):
            q = one.random_configuration(seed)
            q_pin = one.to_pinocchio(q)
            pin.framesForwardKinematics(model, data, q_pin)
            for index, pose in enumerate(one.fk(q, kind="full").values()):
                poses = max(poses, float(np.abs(pose.homogeneous - data.oMf[index].homogeneous).max()))
            M = np.array(pin.crba(model, data, q_pin))
            M = np.triu(M) + np.triu(M, 1).T
            G = one._coordinates.velocity_map
            M = M if G is None else G.T @ M @ G
            scale = float(np.abs(M).max(initial=0.0)) or 1.0
            matrix = max(matrix, float(np.abs(one.mass_matrix(q) - M).max(initial=0.0)) / scale)
    return poses, matrix


def main() -> int:
    """The table; 1 if a robot is not as it should be."""
    logging.disable(logging.CRITICAL)
    folder = robots_folder()
    if folder is None:
        print("example-robot-data is not installed: pip install 'knuckle[robots]'", file=sys.stderr)
        return 2
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what Pinocchio says about the files by itself
    files = sorted(folder.rglob("*.urdf"))
    rows = [row(file, folder) for file in files]
    headers = ["file", "verdict", "nq", "poses", "mass matrix", "findings"]
    for cells in (headers, ["---"] * len(headers), *(cells for cells, _ in rows)):
        print(f"| {' | '.join(cells)} |")
    loaded, wrong = sum(cells[1] == "loaded" for cells, _ in rows), [cells[0] for cells, good in rows if not good]
    refused = len(files) - loaded
    print(f"\n{len(files)} files, {loaded} loaded, {refused} refused, {len(wrong)} with other numbers {wrong or ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
