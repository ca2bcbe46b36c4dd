"""The native kernel, where it could be loaded, and how a Pinocchio model crosses over to it as flat arrays.

The kernel does not link Pinocchio: its wheels keep no binary compatibility from one release to the next.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .arrays import Array

if TYPE_CHECKING:
    from .._core import Chain
    from .coordinates import Coordinates

try:
    if os.environ.get("KNUCKLE_NO_NATIVE") == "1":
        raise ImportError("switched off by KNUCKLE_NO_NATIVE=1")
    from .. import _core
except ImportError as error:
    AVAILABLE, REASON = False, str(error)
else:
    AVAILABLE, REASON = True, ""

WORTH_A_THREAD = 2000
"""States from which on threads gain more than it takes to start them."""


def isa() -> str:
    """Instruction set the kernel uses (`avx512`, `avx2` or `baseline`), or `none` with the reason in `REASON`."""
    return str(_core.isa()) if AVAILABLE else "none"


def threads_for(count: int, threads: int | None) -> int:
    """How many threads to use for so many states: as asked, or all the machine has where they pay."""
    if threads is not None:
        return threads
    return 1 if count < WORTH_A_THREAD else os.cpu_count() or 1


def core() -> Any:
    """The kernel's module, for those who checked `AVAILABLE`."""
    return _core


def damped_step(jacobian: Array, e: Array, mu: float) -> Array | None:
    """`J^T (J J^T + mu I)^-1 e` (n,) of J (6, n) and e (6,); None where the kernel cannot give it."""
    if not AVAILABLE or jacobian.shape[0] != 6 or not 1 <= jacobian.shape[1] <= 32 or mu <= 0.0:
        return None
    dq = np.empty(jacobian.shape[1])
    try:
        return dq if _core.damped_step(jacobian, e, mu, dq) else None
    except TypeError:  # not C-contiguous
        return None


class NativeChain:
    """A chain from the world to a frame inside the kernel; it holds as long as its robot does not change.

    Attributes:
        core: The kernel's object; takes C-contiguous float64 arrays in the robot's own coordinates.
        q_index: Where the joints of the chain stand in q, from the base outward.
        prismatic: Which of them slide.
        coupled: Whether a joint follows another.
        pivot: Where the first joint stands in the world (3,) [m].
        length: Length of the chain stretched out from there, sliding joints at zero [m].
        solvers: Solvers of inverse kinematics by their options, kept here because they go with the chain.
    """

    __slots__ = ("core", "coupled", "length", "nv", "pivot", "prismatic", "q_index", "solvers")

    def __init__(self, fixed: list[Array], prismatic: list[bool], used: list[_Source], nq: int, nv: int) -> None:
        self.q_index = [s.q_index for s in used]
        self.prismatic = prismatic
        self.coupled = any(s.multiplier != 1.0 or s.offset != 0.0 for s in used) or len(set(self.q_index)) < len(used)
        self.pivot = fixed[0][9:].copy()
        self.length = float(sum(np.linalg.norm(f[9:]) for f in fixed[1:]))
        self.nv = nv
        self.solvers: dict[Any, Any] = {}
        self.core: Chain = _core.Chain(
            np.concatenate(fixed),
            np.array(prismatic, dtype=np.int32),
            np.array(self.q_index, dtype=np.int32),
            np.array([s.v_index for s in used], dtype=np.int32),
            np.array([s.multiplier for s in used], dtype=np.float64),
            np.array([s.offset for s in used], dtype=np.float64),
            nq,
            nv,
        )

    # The kernel insists on C-contiguous arrays; nearly all are, so the conversion waits until it is refused.

    def pose(self, q: Array) -> Array:
        """Pose of the frame in the world (4, 4)."""
        out = np.empty((4, 4))
        try:
            self.core.fk(q, out)
        except TypeError:
            self.core.fk(np.ascontiguousarray(q), out)
        return out

    def pose_batch(self, q: Array, threads: int = 1) -> Array:
        """Poses of the frame: (N, nq) -> (N, 4, 4)."""
        out = np.empty((len(q), 4, 4))
        self.core.fk_batch(np.ascontiguousarray(q), out, threads)
        return out

    def jacobian(self, q: Array, reference: int) -> Array:
        """Jacobian of the frame (6, nv); `reference` is a ReferenceFrame."""
        out = np.empty((6, self.nv))
        try:
            self.core.jacobian(q, reference, out)
        except TypeError:
            self.core.jacobian(np.ascontiguousarray(q), reference, out)
        return out

    def jacobian_batch(self, q: Array, reference: int, threads: int = 1) -> Array:
        """Jacobians of the frame: (N, nq) -> (N, 6, nv)."""
        out = np.empty((len(q), 6, self.nv))
        self.core.jacobian_batch(np.ascontiguousarray(q), reference, out, threads)
        return out

    def error_and_jacobian(self, q: Array, goal: Array, world: bool) -> tuple[Array, Array]:
        """Pose error (6,) against `goal` (4, 4) and J (6, nv), with de/dq = -J; see `knuckle.ik.pose_task`."""
        e, J = np.empty(6), np.empty((6, self.nv))
        self.core.error_and_jacobian(q, goal, world, e, J)
        return e, J


def chain(model: Any, frame_id: int, coordinates: Coordinates) -> NativeChain | None:
    """The kernel's chain from the world to a frame, or None where there is no kernel or it cannot express the chain.

    Args:
        model: Pinocchio's model.
        frame_id: Index of the frame in the model.
        coordinates: Where the value of each joint stands in the robot's own q and dq.
    """
    if not AVAILABLE or not coordinates.nq:
        return None
    sources = _sources(model, coordinates)
    frame = model.frames[frame_id]
    path: list[int] = []
    joint = frame.parentJoint
    while joint > 0:
        path.append(joint)
        joint = model.parents[joint]
    path.reverse()
    fixed, prismatic = [], []
    previous = np.eye(3)
    for i in path:
        axis = _axis(model.joints[i])
        if axis is None or i not in sources:
            return None
        slides, direction = axis
        turn = _turn_z_onto(direction)
        fixed.append(_flat(previous.T, model.jointPlacements[i], turn))
        prismatic.append(slides)
        previous = turn
    fixed.append(_flat(previous.T, frame.placement, np.eye(3)))
    return NativeChain(fixed, prismatic, [sources[i] for i in path], coordinates.nq, coordinates.nv)


_SEVERAL = {"JointModelFreeFlyer": 2, "JointModelSpherical": 3, "JointModelPlanar": 4}
"""Joints of several coordinates that the kernel's trees take, by its own numbers."""
_Z = np.array([0.0, 0.0, 1.0])


def tree(model: Any, tips: set[int], coordinates: Coordinates) -> tuple[Any, dict[int, int], dict[int, Array]] | None:
    """The kernel's tree of the joints that carry `tips`, or None where it cannot express one of them.

    Args:
        model: Pinocchio's model.
        tips: Indices of joints in the model.
        coordinates: Where the value of each joint stands in the robot's own q.

    Returns:
        The arguments of the kernel's tree; the number in it of each joint of the model; the rotation that took the
        joint's axis onto z, which whatever is fixed to the joint must be turned back by.
    """
    sources, needed = _sources(model, coordinates), set()
    for tip in tips:
        while tip > 0 and tip not in needed:
            needed.add(tip)
            tip = model.parents[tip]
    number: dict[int, int] = {}
    turned = {0: np.eye(3)}
    several = {model.getJointId(s.name): s for s in coordinates.slots if s.kind in _SEVERAL}
    sources |= {i: _Source(slot.q.start, slot.v.start) for i, slot in several.items()}
    fixed, parents, kinds = [], [], []
    for i in sorted(needed):  # parents come before their children
        axis = (_SEVERAL[several[i].kind], _Z) if i in several else _axis(model.joints[i])
        if axis is None or i not in sources:
            return None
        parent = model.parents[i]
        turned[i] = _turn_z_onto(axis[1])
        fixed.append(_flat(turned[parent].T, model.jointPlacements[i], turned[i]))
        parents.append(number.get(parent, -1))
        kinds.append(int(axis[0]))
        number[i] = len(number)
    used = [sources[i] for i in number]
    joints = (
        np.array(fixed, dtype=np.float64),
        np.array(parents, dtype=np.int32),
        np.array(kinds, dtype=np.int32),
        np.array([s.q_index for s in used], dtype=np.int32),
        np.array([s.multiplier for s in used], dtype=np.float64),
        np.array([s.offset for s in used], dtype=np.float64),
    )
    return joints, number, turned


class _Source(NamedTuple):
    """Where the value of a joint comes from: multiplier * q[q_index] + offset."""

    q_index: int
    v_index: int
    multiplier: float = 1.0
    offset: float = 0.0


def _sources(model: Any, coordinates: Coordinates) -> dict[int, _Source]:
    """The source of every joint of one degree of freedom, by its index in the model."""
    found = {
        model.getJointId(slot.name): _Source(slot.q.start, slot.v.start)
        for slot in coordinates.slots
        if slot.kind in ("line", "angle", "turn")
    }
    for coupling in coordinates.couplings:
        leader = coordinates.by_name[coupling.leader]
        found[model.getJointId(coupling.follower)] = _Source(
            leader.q.start, leader.v.start, coupling.multiplier, coupling.offset
        )
    return found


def _axis(joint: Any) -> tuple[bool, Array] | None:
    """(slides, axis) of a revolute or prismatic joint, None for any other."""
    if joint.nv != 1:
        return None
    name = joint.shortname()
    if not name.startswith(("JointModelR", "JointModelP")):  # helical and mimic joints have one degree of freedom too
        return None
    subspace = np.asarray(joint.createData().S, dtype=np.float64).reshape(6)
    slides = name.startswith("JointModelP")
    return slides, subspace[:3] if slides else subspace[3:]


def _turn_z_onto(axis: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`."""
    x, y, z = axis / np.linalg.norm(axis)
    if z < 0:  # by half a turn about x first, so that the denominator below stays away from 0
        return np.asarray(np.diag([1.0, -1.0, -1.0]) @ _turn_z_onto(np.array([x, -y, -z])))
    c = 1.0 / (1.0 + z)
    return np.array([[1 - x * x * c, -x * y * c, x], [-x * y * c, 1 - y * y * c, y], [-x, -y, z]])


def _flat(left: Array, placement: Any, right: Array) -> Array:
    return np.concatenate([(left @ placement.rotation @ right).ravel(), left @ placement.translation])
