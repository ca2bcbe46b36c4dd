"""Free root joints in the flat arrays of a fleet.

Their entries are velocity and classical acceleration of the root link's centre of mass, then angular, in the axes of
the frame the root joint is fixed to; forces are (force, moment about that centre of mass), world axes. Pinocchio's
are those of the link's origin in its own axes. With R the orientation of the link and c = R com:

    v_o = v_com - w x c          v = (R^T v_o, R^T w)
    a   = (R^T (a_com - al x c - w x (w x c) - w x v_o), R^T al)
    F   = R f                    moment = R n - c x F
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .spatial import rotation_from_quat_xyzw, skew


@dataclass(frozen=True, slots=True, eq=False)
class FreeRoot:
    """One joint that floats against the world.

    Attributes:
        q: First of its seven coordinates (x, y, z, quaternion xyzw).
        v: First of its six velocities.
        com: Centre of mass of the link in the link's axes (3,) [m].
        parent: Axes of the frame the joint is fixed to, in the world (3, 3).
    """

    q: int
    v: int
    com: Array
    parent: Array

    def rotation(self, q: Array) -> Array:
        """R (..., 3, 3), axes of the link in those of the frame the joint is fixed to."""
        return rotation_from_quat_xyzw(q[..., self.q + 3 : self.q + 7])

    def velocity(self, q: Array, qd: Array) -> Array:
        """Pinocchio's velocity (..., nv) of the fleet's, in a new array."""
        R, at = self.rotation(q), self.v
        v_com, w = qd[..., at : at + 3], qd[..., at + 3 : at + 6]
        v_o = v_com - _cross(w, _apply(R, self.com))
        dq = qd.copy()
        dq[..., at : at + 3], dq[..., at + 3 : at + 6] = _back(R, v_o), _back(R, w)
        return dq

    def from_pinocchio(self, q: Array, dq: Array) -> Array:
        """The fleet's velocity (..., nv) of Pinocchio's, in a new array."""
        R, at = self.rotation(q), self.v
        v_o, w = _apply(R, dq[..., at : at + 3]), _apply(R, dq[..., at + 3 : at + 6])
        qd = dq.copy()
        qd[..., at : at + 3], qd[..., at + 3 : at + 6] = v_o + _cross(w, _apply(R, self.com)), w
        return qd

    def acceleration(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Pinocchio's acceleration (..., nv) of the fleet's, in a new array."""
        R, at = self.rotation(q), self.v
        w, a_com, al = qd[..., at + 3 : at + 6], qdd[..., at : at + 3], qdd[..., at + 3 : at + 6]
        c = _apply(R, self.com)
        v_o = qd[..., at : at + 3] - _cross(w, c)
        a_o = a_com - _cross(al, c) - _cross(w, _cross(w, c)) - _cross(w, v_o)
        ddq = qdd.copy()
        ddq[..., at : at + 3], ddq[..., at + 3 : at + 6] = _back(R, a_o), _back(R, al)
        return ddq

    def force(self, q: Array, tau: Array) -> Array:
        """The fleet's force (..., nv) of Pinocchio's, world axes, in a new array."""
        R, at = self.rotation(q), self.v
        F = _apply(R, tau[..., at : at + 3])
        moment = _apply(R, tau[..., at + 3 : at + 6]) - _cross(_apply(R, self.com), F)
        result = tau.copy()
        result[..., at : at + 3], result[..., at + 3 : at + 6] = F, moment
        return self.in_world(result)

    def in_world(self, force: Array) -> Array:
        """A force (..., nv) of this joint turned from the axes of the frame the joint is fixed to into the world's."""
        result, at = force.copy(), self.v
        result[..., at : at + 3] = force[..., at : at + 3] @ self.parent.T
        result[..., at + 3 : at + 6] = force[..., at + 3 : at + 6] @ self.parent.T
        return result

    def velocity_map(self, q: Array, nv: int) -> Array:
        """T (..., nv, nv): Pinocchio's velocity = T times the fleet's."""
        R, at = self.rotation(q), self.v
        back = R.swapaxes(-1, -2)
        T = np.zeros((*R.shape[:-2], nv, nv))
        T[..., range(nv), range(nv)] = 1.0
        T[..., at : at + 3, at : at + 3], T[..., at + 3 : at + 6, at + 3 : at + 6] = back, back
        T[..., at : at + 3, at + 3 : at + 6] = back @ skew(_apply(R, self.com))
        return T


def _apply(R: Array, x: Array) -> Array:
    result: Array = (R @ x[..., None])[..., 0]
    return result


def _back(R: Array, x: Array) -> Array:
    result: Array = (x[..., None, :] @ R)[..., 0, :]
    return result


def _cross(a: Array, b: Array) -> Array:
    return np.cross(a, b)
