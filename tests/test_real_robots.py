"""Real arms and legs as distributed by example-robot-data, where it is installed: the same numbers as Pinocchio."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from knuckle import PinRobot, ReferenceFrame

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="example-robot-data is not installed: pip install 'knuckle[robots]'"
)
ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0"),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link_eef"),
    "solo12": ("solo_description/robots/solo12.urdf", "FL_FOOT"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_real_robots_equal_bare_pinocchio(name: str) -> None:
    file, tcp = ROBOTS[name]
    robot = PinRobot.from_urdf(FOLDER / file, FOLDER.parent, tcp=tcp, mimic=False)
    model = pin.buildModelFromUrdf(str(FOLDER / file))
    data, frame = model.createData(), model.getFrameId(tcp)
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, dq, ddq = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        q_pin = robot.to_pinocchio(q)
        pin.framesForwardKinematics(model, data, q_pin)
        np.testing.assert_allclose(robot.fk(q).homogeneous, data.oMf[frame].homogeneous, rtol=0, atol=1e-13)
        J = pin.computeFrameJacobian(model, data, q_pin, frame, pin.ReferenceFrame.LOCAL)
        np.testing.assert_allclose(robot.jacobian(q, reference=ReferenceFrame.LOCAL), J, rtol=0, atol=1e-13)
        tau = robot.id(q, dq, ddq, motor_inertia=False, friction=False)
        np.testing.assert_allclose(tau, pin.rnea(model, data, q_pin, dq, ddq), rtol=1e-12, atol=1e-11)
    assert robot.collision.ngeoms > 0
