"""Kinematics and dynamics of a whole fleet in flat arrays.

Conventions of the arrays: a robot's entries stand at `fleet.q_offsets`, `fleet.qd_offsets`; matrices are padded with
0 to the largest robot. Free root joints: velocity and classical acceleration of the root link's centre of mass, then
angular, in the axes of the frame the root joint is fixed to; forces about that centre of mass in world axes.

A `mask` (A,) of booleans leaves robots out: they are not evaluated, what they hold is not read, and their entries
become 0. Buffers given are checked first and then written in place; an error leaves them untouched.

Robots that are one object are evaluated together, in the native kernel where it can; the answers do not depend on the
threads it uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, thread_count
from .errors import InputError
from .fleet import Fleet, as_fleet
from .fleet_arrays import buffer_of, check_buffer, flat, robots_asked, shaped, state_of
from .fleet_selection import Index
from .fleet_selection import tools as select_tools
from .fleet_terms import RobotTerms, terms_of
from .spatial import quat_xyzw_from_rotation


def eval_fk(fleet: Any, joint_q: Any, *, mask: Any = None, body_q: Any = None, threads: Any = None) -> Array:
    """Poses of all bodies in the world.

    Args:
        fleet: A Fleet, or one robot.
        joint_q: Configurations (joint_coord_count,) [m or rad].
        mask: Robots to evaluate (A,), all by default; the poses of the others stay as they are in `body_q`.
        body_q: Buffer (body_count, 7) to write to; by default a new one that starts at the identity.
        threads: Of the native kernel; None is one, or all cores from 2000 robots on.

    Returns:
        xyz [m] and quaternion xyzw per body (body_count, 7), in the order of `fleet.body_names`.
    """
    fleet, q = state_of(fleet, joint_q)
    chosen, shape = robots_asked(fleet, mask), (fleet.body_count, 7)
    if body_q is None:
        body_q = np.zeros(shape)
        body_q[:, 6] = 1.0
    check_buffer(body_q, shape, "body_q")
    found = []
    for alike in _alike(fleet, chosen, threads):
        poses = alike.terms.body_poses(alike.take_q(q))
        found.append((fleet.body_offsets[alike.robots][:, None] + np.arange(poses.shape[1]), poses))
    for at, poses in found:
        body_q[at, :3], body_q[at, 3:] = poses[..., :3, 3], quat_xyzw_from_rotation(poses[..., :3, :3])
    return np.asarray(body_q)


def eval_jacobian(
    fleet: Any, joint_q: Any, *, frames: Any = None, mask: Any = None, jacobian: Any = None, threads: Any = None
) -> Array:
    """Jacobian of one frame of each robot: its twist at the frame's origin, world axes = J joint_qd.

    Args:
        fleet: A Fleet, or one robot.
        joint_q: Configurations (joint_coord_count,) [m or rad].
        frames: Which frame, as `tool_sites` of the controllers: index, name, pattern or a list of these; by default
            each robot's tcp.
        mask: Robots to evaluate (A,), all by default.
        jacobian: Buffer (A, 6, n) to write to, n = max_dofs_per_articulation.
        threads: As in `eval_fk`.

    Returns:
        (A, 6, n), linear rows first.
    """
    fleet, q = state_of(fleet, joint_q)
    chosen, n = robots_asked(fleet, mask), fleet.max_dofs_per_articulation
    jacobian = buffer_of(jacobian, (len(fleet), 6, n), "jacobian")
    robots = np.flatnonzero(chosen).tolist()
    names = [fleet.robots[a].tcp for a in robots] if frames is None else select_tools(fleet, robots, frames, "frames")
    found = []
    for alike in _alike(fleet, chosen, threads, dict(zip(robots, names, strict=True))):
        own = alike.take_q(q)
        J = alike.terms.pose_and_jacobian(own, str(alike.frame))[1]
        for root in alike.terms.roots:
            J = J @ root.velocity_map(own, J.shape[-1])
        found.append((alike.robots, J))
    jacobian[:] = 0.0
    for which, J in found:
        jacobian[which, :, : J.shape[-1]] = J
    return np.asarray(jacobian)


def eval_mass_matrix(
    fleet: Any, joint_q: Any, *, mask: Any = None, mass_matrix: Any = None, threads: Any = None
) -> Array:
    """Mass matrices: kinetic energy = joint_qd^T M joint_qd / 2; root blocks in the axes the root is fixed to.

    Args:
        fleet: A Fleet, or one robot.
        joint_q: Configurations (joint_coord_count,) [m or rad].
        mask: Robots to evaluate (A,), all by default.
        mass_matrix: Buffer (A, n, n) to write to, n = max_dofs_per_articulation.
        threads: As in `eval_fk`.

    Returns:
        (A, n, n) [kg, kg m, kg m^2].
    """
    fleet, q = state_of(fleet, joint_q)
    chosen, n = robots_asked(fleet, mask), fleet.max_dofs_per_articulation
    mass_matrix = buffer_of(mass_matrix, (len(fleet), n, n), "mass_matrix")
    found = []
    for alike in _alike(fleet, chosen, threads):
        own = alike.take_q(q)
        M = alike.terms.mass_matrix(own)
        for root in alike.terms.roots:
            T = root.velocity_map(own, M.shape[-1])
            M = T.swapaxes(-1, -2) @ M @ T
        found.append((alike.robots, M))
    mass_matrix[:] = 0.0
    for which, M in found:
        mass_matrix[which, : M.shape[-1], : M.shape[-1]] = M
    return np.asarray(mass_matrix)


def eval_inverse_dynamics_passive(
    fleet: Any,
    joint_q: Any,
    joint_qd: Any,
    *,
    mask: Any = None,
    gravity_force: Any = None,
    coriolis_force: Any = None,
    threads: Any = None,
) -> tuple[Array, Array]:
    """Forces that act without any acceleration asked for: g = +dU/dq and h = C dq.

    h is the force at which every joint acceleration is zero without gravity; for a free root that is the classical
    acceleration of its centre of mass.

    Args:
        fleet: A Fleet, or one robot.
        joint_q: Configurations (joint_coord_count,) [m or rad].
        joint_qd: Velocities (joint_dof_count,) [m/s or rad/s].
        mask: Robots to evaluate (A,), all by default.
        gravity_force: Buffer (joint_dof_count,) for g.
        coriolis_force: Buffer (joint_dof_count,) for h.
        threads: As in `eval_fk`.

    Returns:
        g and h (joint_dof_count,) [N or N m].
    """
    fleet, q = state_of(fleet, joint_q)
    qd, chosen = flat(joint_qd, fleet.joint_dof_count, "joint_qd"), robots_asked(fleet, mask)
    g = buffer_of(gravity_force, (fleet.joint_dof_count,), "gravity_force")
    h = buffer_of(coriolis_force, (fleet.joint_dof_count,), "coriolis_force")
    if np.may_share_memory(g, h) and np.shares_memory(g, h):
        raise InputError("gravity_force and coriolis_force share memory; each needs a buffer of its own")
    found = []
    for alike in _alike(fleet, chosen, threads):
        own, rate, terms = alike.take_q(q), qd[alike.qd], alike.terms
        rest = np.zeros(rate.shape)
        dq, ddq = terms.velocity(own, rate), rest
        pull = terms.inverse_dynamics(own, rest, rest, True)
        for root in terms.roots:
            ddq = root.acceleration(own, rate, ddq)
        drag = terms.inverse_dynamics(own, dq, ddq, False)
        for root in terms.roots:
            pull, drag = root.force(own, pull), root.force(own, drag)
        found.append((alike.qd, pull, drag))
    g[:], h[:] = 0.0, 0.0
    for dofs, pull, drag in found:
        g[dofs], h[dofs] = pull, drag
    return np.asarray(g), np.asarray(h)


def eval_inverse_dynamics_force(
    fleet: Any,
    joint_q: Any = None,
    *,
    mass_matrix: Any,
    joint_qdd: Any,
    coriolis_force: Any,
    gravity_force: Any,
    joint_f: Any,
    mask: Any = None,
) -> Array:
    """tau = M(q) qdd + C(q,qd) qd + g(q) from buffers made before.

    `M qdd` of a free root stands in the axes of the frame the joint is fixed to and is turned into the world before
    the sum; those of the other joints are added as they are.

    Args:
        fleet: A Fleet, or one robot.
        joint_q: Configurations (joint_coord_count,) the buffers were made at; checked if given, nothing depends on it.
        mass_matrix: (A, n, n), n = max_dofs_per_articulation, see `eval_mass_matrix`.
        joint_qdd: Accelerations (joint_dof_count,) [m/s^2 or rad/s^2].
        coriolis_force: h (joint_dof_count,) [N or N m].
        gravity_force: g (joint_dof_count,) [N or N m].
        joint_f: Written in place (joint_dof_count,) [N or N m].
        mask: Robots to evaluate (A,), all by default; entries of the others become 0 and nothing of theirs is read.

    Returns:
        `joint_f`.

    Raises:
        InputError: if an array has another shape; `joint_f` is untouched then.
    """
    fleet = as_fleet(fleet)
    n, chosen = fleet.max_dofs_per_articulation, robots_asked(fleet, mask)
    if joint_q is not None:
        flat(joint_q, fleet.joint_coord_count, "joint_q")
    M = shaped(mass_matrix, (len(fleet), n, n), "mass_matrix")
    qdd = flat(joint_qdd, fleet.joint_dof_count, "joint_qdd")
    h = flat(coriolis_force, fleet.joint_dof_count, "coriolis_force")
    g = flat(gravity_force, fleet.joint_dof_count, "gravity_force")
    check_buffer(joint_f, (fleet.joint_dof_count,), "joint_f")
    found = np.zeros(fleet.joint_dof_count)
    for alike in _alike(fleet, chosen, None):
        dofs, size = alike.qd, alike.qd.shape[1]
        force = (M[alike.robots, :size, :size] @ qdd[dofs][..., None])[..., 0]
        for root in alike.terms.roots:
            force = root.in_world(force)
        found[dofs] = force + h[dofs] + g[dofs]
    joint_f[:] = found
    return np.asarray(joint_f)


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Chosen robots of a fleet that are one object, evaluated together at one frame.

    Attributes:
        terms: Their terms.
        frame: The frame asked for.
        robots: Their indices (N,).
        q: Their entries in the flat configuration (N, nq).
        qd: Their entries in the flat velocity (N, nv).
    """

    terms: RobotTerms
    frame: str | None
    robots: Index
    q: Index
    qd: Index

    def take_q(self, q: Array) -> Array:
        """Their configurations (N, nq), quaternions normalised."""
        return self.terms.normalised(q[self.q])


def _alike(
    fleet: Fleet, chosen: NDArray[np.bool_], threads: Any, frames: dict[int, str] | None = None
) -> Iterator[_Alike]:
    """The chosen robots in groups."""
    threads = thread_count(threads)
    members: dict[tuple[int, str | None], list[int]] = {}
    for a in np.flatnonzero(chosen).tolist():
        frame = None if frames is None else frames[a]
        members.setdefault((id(fleet.robots[a]), frame), []).append(a)
    for (_, frame), which in members.items():
        robots, layout = np.array(which, dtype=np.intp), fleet.layout(which[0])
        q = fleet.q_offsets[robots][:, None] + np.arange(layout.nq)
        qd = fleet.qd_offsets[robots][:, None] + np.arange(layout.nv)
        yield _Alike(terms_of(fleet.robots[which[0]], threads=threads), frame, robots, q, qd)
