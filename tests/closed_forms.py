"""Textbook answers for the robots of `urdf_samples`, from geometry alone.

Nothing here knows the toolkit or the files: lengths, masses and shapes are written down once more, and the formulas
are products of elementary motions or plain trigonometry. Poses are (4, 4), Jacobians linear first with world axes at
the tool, angles in rad, lengths in m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

G = 9.81
X, Y, Z = np.eye(3)


def pose(rotation: ArrayLike, translation: ArrayLike) -> Array:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation, translation
    return result


def shift(x: float, y: float, z: float) -> Array:
    return pose(np.eye(3), (x, y, z))


def turn(axis: Array, angle: float) -> Array:
    """Rotation about a unit axis through the origin (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return pose(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross, (0, 0, 0))


def wrap(angle: float) -> float:
    """The same direction in [-pi, pi)."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


@dataclass(frozen=True)
class PlanarArm:
    """Uniform boxes in the vertical x-z plane; positive angles lift, all angles zero points along x."""

    lengths: tuple[float, ...]
    masses: tuple[float, ...]
    thicknesses: tuple[float, ...]

    def _reach(self, q: ArrayLike, body: int, along: float) -> Array:
        """Where each joint moves (x, z) a point of `body`, `along` metres beyond its joint: (2, n)."""
        angles = np.cumsum(q)
        parts = [*self.lengths[:body], along]
        jacobian = np.zeros((2, len(self.lengths)))
        for joint in range(body + 1):
            for link in range(joint, body + 1):
                jacobian[:, joint] += parts[link] * np.array([-math.sin(angles[link]), math.cos(angles[link])])
        return jacobian

    def fk(self, q: ArrayLike) -> Array:
        angles = np.cumsum(q)
        x, z = np.dot(self.lengths, np.cos(angles)), np.dot(self.lengths, np.sin(angles))
        return shift(x, 0, z) @ turn(Y, -angles[-1])

    def jacobian(self, q: ArrayLike) -> Array:
        n = len(self.lengths)
        result = np.zeros((6, n))
        result[[0, 2]] = self._reach(q, n - 1, self.lengths[-1])
        result[4] = -1.0
        return result

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Sum over the links of `m J^T J` at the centre of mass and `I` for every joint that turns the link."""
        n = len(self.lengths)
        result = np.zeros((n, n))
        for body, (length, mass, thickness) in enumerate(zip(self.lengths, self.masses, self.thicknesses, strict=True)):
            reach = self._reach(q, body, length / 2)
            turns = (np.arange(n) <= body).astype(float)
            result += mass * reach.T @ reach + mass / 12 * (length**2 + thickness**2) * np.outer(turns, turns)
        return result

    def gravity_torque(self, q: ArrayLike) -> Array:
        """What holds the arm still: `dU/dq` with `U = sum m G z`."""
        result = np.zeros(len(self.lengths))
        for body, (length, mass) in enumerate(zip(self.lengths, self.masses, strict=True)):
            result += mass * G * self._reach(q, body, length / 2)[1]
        return result


PLANAR_2R = PlanarArm((0.5, 0.4), (2.4, 1.2), (0.06, 0.04))
PLANAR_3R = PlanarArm((0.4, 0.3, 0.2), (2.4, 1.2, 0.6), (0.06, 0.05, 0.04))


def two_link_angles(x: float, y: float, first: float, second: float) -> list[tuple[float, float]]:
    """Both elbows of a planar two-link arm that reaches (x, y), by the law of cosines."""
    cosine = (x**2 + y**2 - first**2 - second**2) / (2 * first * second)
    bend = math.acos(cosine)
    return [
        (wrap(math.atan2(y, x) - math.atan2(second * math.sin(q2), first + second * math.cos(q2))), q2)
        for q2 in (bend, -bend)
    ]


def planar_2r_ik(target: Array) -> Array:
    """Both configurations (2, 2) that put the tool on the position of `target`."""
    return np.array(two_link_angles(target[0, 3], target[2, 3], *PLANAR_2R.lengths))


def planar_3r_ik(target: Array) -> Array:
    """Both configurations (2, 3) that reach the pose `target`: the last link's angle is given, two links remain."""
    angle, last = math.atan2(target[2, 0], target[0, 0]), PLANAR_3R.lengths[2]
    x, z = target[0, 3] - last * math.cos(angle), target[2, 3] - last * math.sin(angle)
    return np.array([(q1, q2, wrap(angle - q1 - q2)) for q1, q2 in two_link_angles(x, z, *PLANAR_3R.lengths[:2])])


def planar_2r_mass_matrix(q: ArrayLike) -> Array:
    """The form printed in textbooks: `a + 2 b cos q2`, `c + b cos q2`, `c`."""
    (l1, l2), (m1, m2), (h1, h2) = PLANAR_2R.lengths, PLANAR_2R.masses, PLANAR_2R.thicknesses
    i1, i2 = m1 / 12 * (l1**2 + h1**2), m2 / 12 * (l2**2 + h2**2)
    a = i1 + m1 * l1**2 / 4 + i2 + m2 * (l1**2 + l2**2 / 4)
    b, c = m2 * l1 * l2 / 2, i2 + m2 * l2**2 / 4
    cosine = math.cos(np.asarray(q)[1])
    return np.array([[a + 2 * b * cosine, c + b * cosine], [c + b * cosine, c]])


def planar_2r_coriolis_force(q: ArrayLike, dq: ArrayLike) -> Array:
    """`h = -m2 l1 l2/2 sin q2`: `(h (2 dq1 dq2 + dq2^2), -h dq1^2)`."""
    h = -PLANAR_2R.masses[1] * math.prod(PLANAR_2R.lengths) / 2 * math.sin(np.asarray(q)[1])
    d1, d2 = np.asarray(dq, float)
    return np.array([h * (2 * d1 * d2 + d2**2), -h * d1**2])


SCARA_LENGTHS, SCARA_HEIGHT = (0.35, 0.30), 0.26
SCARA_MASSES = (3.6, 2.4, 0.6, 0.3)


def scara_fk(q: ArrayLike) -> Array:
    q1, q2, drop, roll = np.asarray(q, float)
    (a, b), c = SCARA_LENGTHS, q1 + q2
    position = (a * math.cos(q1) + b * math.cos(c), a * math.sin(q1) + b * math.sin(c), SCARA_HEIGHT - drop)
    return shift(*position) @ turn(Z, c + roll) @ turn(X, math.pi)


def scara_jacobian(q: ArrayLike) -> Array:
    q1, c = np.asarray(q, float)[0], sum(np.asarray(q, float)[:2])
    a, b = SCARA_LENGTHS
    result = np.zeros((6, 4))
    result[:2, 1] = -b * math.sin(c), b * math.cos(c)
    result[:2, 0] = result[:2, 1] + (-a * math.sin(q1), a * math.cos(q1))
    result[2, 2] = -1.0
    result[5, [0, 1, 3]] = 1.0
    return result


def scara_ik(target: Array) -> Array:
    """Both elbows (2, 4) for a tool that points down."""
    x, y, z = target[:3, 3]
    yaw = math.atan2(target[1, 0], target[0, 0])
    pairs = two_link_angles(x, y, *SCARA_LENGTHS)
    return np.array([(q1, q2, SCARA_HEIGHT - z, wrap(yaw - q1 - q2)) for q1, q2 in pairs])


def scara_mass_matrix(q: ArrayLike) -> Array:
    (a, b), (m1, m2, m3, m4) = SCARA_LENGTHS, SCARA_MASSES
    i1, i2 = m1 / 12 * (a**2 + 0.08**2), m2 / 12 * (b**2 + 0.08**2)
    i3, i4 = m3 * 0.012**2 / 2, m4 * 0.03**2 / 2
    tip, cosine = m3 + m4, math.cos(np.asarray(q)[1])
    coupling = (m2 / 2 + tip) * a * b * cosine
    outer = i2 + i3 + i4 + (m2 / 4 + tip) * b**2
    inner = i1 + (m1 / 4 + m2 + tip) * a**2 + outer + 2 * coupling
    return np.array(
        [
            [inner, outer + coupling, 0, i4],
            [outer + coupling, outer, 0, i4],
            [0, 0, tip, 0],
            [i4, i4, 0, i4],
        ]
    )


def scara_gravity_torque(q: ArrayLike) -> Array:
    """Only the slide carries weight, and it counts downwards."""
    return np.array([0, 0, -(SCARA_MASSES[2] + SCARA_MASSES[3]) * G, 0])


def pan_tilt_fk(q: ArrayLike) -> Array:
    pan, tilt = np.asarray(q, float)
    side = 0.07 * math.cos(tilt)
    return (
        shift(side * math.cos(pan), side * math.sin(pan), 0.22 + 0.07 * math.sin(tilt)) @ turn(Z, pan) @ turn(Y, -tilt)
    )


def pan_tilt_gravity_torque(q: ArrayLike) -> Array:
    return np.array([0, 0.6 * G * 0.02 * math.cos(np.asarray(q)[1])])


def pan_tilt_tilt_inertia() -> float:
    """Inertia of the camera about the tilt axis: box 0.10 x 0.06 m and the offset of its centre."""
    return 0.6 / 12 * (0.10**2 + 0.06**2) + 0.6 * 0.02**2


def gripper_mass() -> float:
    """Inertia seen by the leading finger: two fingers and the disc of 0.06 kg on its rim, `m r^2/2 / r^2`."""
    return 0.12 + 0.12 + 0.06 / 2


SIXR_SHOULDER, SIXR_OFFSET, SIXR_UPPER, SIXR_FORE, SIXR_TOOL = 0.40, 0.05, 0.42, 0.38, 0.10


def sixr_fk(q: ArrayLike) -> Array:
    q1, q2, q3, q4, q5, q6 = np.asarray(q, float)
    arm = turn(Z, q1) @ shift(SIXR_OFFSET, 0, SIXR_SHOULDER) @ turn(Y, q2) @ shift(0, 0, SIXR_UPPER) @ turn(Y, q3)
    return arm @ shift(0, 0, SIXR_FORE) @ turn(Z, q4) @ turn(Y, q5) @ turn(Z, q6) @ shift(0, 0, SIXR_TOOL)


def zyz_angles(rotation: Array) -> list[tuple[float, float, float]]:
    """Both triples with `Rz(a) Ry(b) Rz(c) = rotation`."""
    middle = math.atan2(math.hypot(rotation[0, 2], rotation[1, 2]), rotation[2, 2])
    first = math.atan2(rotation[1, 2], rotation[0, 2])
    last = math.atan2(rotation[2, 1], -rotation[2, 0])
    return [(first, middle, last), (wrap(first + math.pi), -middle, wrap(last + math.pi))]


def sixr_ik(target: Array) -> Array:
    """Every configuration (n, 6), n = 8 inside the workspace, 4 where the arm cannot reach over its back, 0 outside.

    The wrist centre fixes the first three joints (front or back, elbow up or down), the orientation left over the
    last three (flipped or not).
    """
    centre = target[:3, 3] - SIXR_TOOL * target[:3, 2]
    found = []
    for side in (1.0, -1.0):
        q1 = math.atan2(side * centre[1], side * centre[0])
        out, up = side * math.hypot(centre[0], centre[1]) - SIXR_OFFSET, centre[2] - SIXR_SHOULDER
        cosine = (out**2 + up**2 - SIXR_UPPER**2 - SIXR_FORE**2) / (2 * SIXR_UPPER * SIXR_FORE)
        if abs(cosine) > 1:
            continue
        # Seen from the side, angles count from the vertical: (up, out) plays the part of (x, y).
        for q2, q3 in two_link_angles(up, out, SIXR_UPPER, SIXR_FORE):
            forearm = (turn(Z, q1) @ turn(Y, q2 + q3))[:3, :3]
            found += [(q1, q2, q3, *wrist) for wrist in zyz_angles(forearm.T @ target[:3, :3])]
    return np.array(found).reshape(-1, 6)


SEVENR_SHOULDER, SEVENR_UPPER, SEVENR_FORE, SEVENR_TOOL = 0.34, 0.38, 0.36, 0.20


def sevenr_fk(q: ArrayLike) -> Array:
    q1, q2, q3, q4, q5, q6, q7 = np.asarray(q, float)
    arm = shift(0, 0, SEVENR_SHOULDER) @ turn(Z, q1) @ turn(Y, q2) @ turn(Z, q3) @ shift(0, 0, SEVENR_UPPER)
    wrist = arm @ turn(Y, -q4) @ shift(0, 0, SEVENR_FORE) @ turn(Z, q5) @ turn(Y, q6) @ turn(Z, q7)
    return wrist @ shift(0, 0, SEVENR_TOOL)


def sevenr_elbow(q: ArrayLike) -> Array:
    """Elbow (3,): a point of the sphere of radius 0.38 m about the shoulder, at azimuth q1 and polar angle q2."""
    q1, q2 = np.asarray(q, float)[:2]
    direction = np.array([math.sin(q2) * math.cos(q1), math.sin(q2) * math.sin(q1), math.cos(q2)])
    return SEVENR_SHOULDER * Z + SEVENR_UPPER * direction


def sevenr_ik(target: Array, arm_angle: float) -> Array:
    """The 8 configurations (8, 7) whose elbow has turned by `arm_angle` about the line from shoulder to wrist.

    Elbow from the law of cosines; the shoulder's rotation takes the bent arm onto that line and turns it by the arm
    angle; shoulder and wrist are then Euler angles z-y-z, two triples each.
    """
    line = target[:3, 3] - SEVENR_TOOL * target[:3, 2] - SEVENR_SHOULDER * Z
    distance = float(np.linalg.norm(line))
    cosine = (distance**2 - SEVENR_UPPER**2 - SEVENR_FORE**2) / (2 * SEVENR_UPPER * SEVENR_FORE)
    polar, azimuth = math.acos(line[2] / distance), math.atan2(line[1], line[0])
    found = []
    for bend in (math.acos(cosine), -math.acos(cosine)):
        # In the upper arm's frame the wrist lies at (-fore sin bend, upper + fore cos bend) in the x-z plane.
        lean = math.atan2(-SEVENR_FORE * math.sin(bend), SEVENR_UPPER + SEVENR_FORE * math.cos(bend))
        shoulder = turn(Z, azimuth) @ turn(Y, polar) @ turn(Z, arm_angle) @ turn(Y, -lean)
        wrist = (shoulder @ turn(Y, -bend)).T @ target
        for first in zyz_angles(shoulder[:3, :3]):
            found += [(*first, bend, *last) for last in zyz_angles(wrist[:3, :3])]
    return np.array(found)


def quadruped_foot(front: int, left: int, q: ArrayLike) -> Array:
    """Centre of a foot (3,) in the trunk's frame; `front` and `left` are +1 or -1."""
    abduction, hip, knee = np.asarray(q, float)
    leg = turn(Y, hip) @ shift(0, 0, -0.2) @ turn(Y, knee) @ shift(0, 0, -0.2)
    return (shift(0.2 * front, 0.08 * left, 0) @ turn(X, abduction) @ shift(0.05 * front, 0.065 * left, 0) @ leg)[:3, 3]


def dual_arm_fk(left: int, waist: float, q: ArrayLike) -> Array:
    """Tool of one arm (`left` is +1 or -1) from the waist angle and its six joints."""
    pitch, roll, yaw, elbow, forearm, wrist = np.asarray(q, float)
    upper = turn(Y, pitch) @ shift(0, 0.09 * left, 0) @ turn(X, left * roll) @ shift(0, 0, -0.05) @ turn(Z, left * yaw)
    lower = shift(0, 0, -0.24) @ turn(Y, elbow) @ shift(0, 0, -0.16) @ turn(Z, left * forearm) @ shift(0, 0, -0.12)
    shoulder = shift(0, 0, 0.7) @ turn(Z, waist) @ shift(0, 0.19 * left, 0.35) @ turn(X, 0.25 * left)
    return shoulder @ upper @ lower @ turn(Y, wrist) @ shift(0, 0, -0.12) @ turn(X, math.pi)
