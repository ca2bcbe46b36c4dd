"""Where things are and how fast: forward kinematics, Jacobians, tool velocity and acceleration."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, thread_count
from .errors import InputError, InputTypeError, unknown_name
from .manifold import Manifold
from .spatial import ReferenceFrame
from .transformation import Transformation

LWA = ReferenceFrame.LOCAL_WORLD_ALIGNED
KINDS = ("tcp", "joints", "full")


class KinematicQueries(Manifold):
    """Derived from `pose` and `frame_jacobian`. No query moves the robot or shares memory with another's answer."""

    def fk(
        self,
        q: Any = None,
        kind: str = "tcp",
        *,
        frame: str | None = None,
        collision: bool = False,
        visual: bool = False,
        configuration: Any = None,
        threads: Any = None,
    ) -> Any:
        """Forward kinematics: poses in the world.

        Args:
            q: Configuration (nq,), mapping, or batch (N, nq); None is the stored one.
            kind: "tcp", "joints" (every joint) or "full" (every frame).
            frame: A named frame instead of the tcp.
            collision: Accepted for compatibility; changes no result.
            visual: Likewise.
            configuration: Alias of q.
            threads: For a batch, where the native kernel serves it; None is one, or all cores from 2000 states on.

        Returns:
            A Transformation; for "joints" and "full" a dict from name to Transformation in the order of `joints`
            and `frames`. For a batch an array (N, 4, 4), or (N, n, 4, 4) in that order.
        """
        if configuration is not None:
            q = alias(q, configuration, "q", "configuration")
        q, threads = self._one_or_many(q), thread_count(threads)
        if isinstance(kind, str) and kind == "tcp":
            name = self._frame(frame)
            return Transformation._trusted(self.pose(q, name)) if q.ndim == 1 else self.pose_batch(q, name, threads)
        if not isinstance(kind, str) or kind not in KINDS:
            raise unknown_name("kind of forward kinematics", kind, KINDS)
        if frame is not None:
            raise InputError(f"frame goes with kind='tcp' only, got kind={kind!r}")
        joints = kind == "joints"
        if q.ndim == 2:
            return self.joint_poses_batch(q, threads) if joints else self.frame_poses_batch(q, threads)
        names, poses = (self.joints, self.joint_poses(q)) if joints else (self.frames, self.frame_poses(q))
        return {name: Transformation._trusted(T.copy()) for name, T in zip(names, poses, strict=True)}

    def jacobian(self, q: Any = None, frame: str | None = None, reference: Any = None, *, threads: Any = None) -> Array:
        """Jacobian of a frame: twist = J dq, linear rows first.

        Args:
            q: Configuration (nq,), mapping, or batch (N, nq); None is the stored one.
            frame: Name of the frame; None is the tcp.
            reference: A ReferenceFrame (or its name); must be given.
            threads: As in `fk`.

        Returns:
            (6, nv), or (N, 6, nv) for a batch; columns in the order of `dof_names`.
        """
        q, name, axes = self._one_or_many(q), self._frame(frame), required_reference(reference)
        threads = thread_count(threads)
        return self.frame_jacobian(q, name, axes) if q.ndim == 1 else self.frame_jacobian_batch(q, name, axes, threads)

    def jacobian_derivative(
        self, q: Any = None, dq: Any = None, frame: str | None = None, reference: Any = None
    ) -> Array:
        """Time derivative (6, nv) of `jacobian` while the robot moves with dq; arguments as there."""
        q, dq = self._single(q), self._rate(dq, self.dq, "dq")
        return self._jacobian_derivative(q, dq, self._frame(frame), required_reference(reference))

    def _jacobian_derivative(self, q: Array, dq: Array, frame: str, reference: ReferenceFrame) -> Array:
        def slope(h: float) -> Array:
            ahead = self.frame_jacobian(self._integrate(q, h * dq), frame, reference)
            return (ahead - self.frame_jacobian(self._integrate(q, -h * dq), frame, reference)) / (2 * h)

        step = 1e-3 / max(1.0, float(np.abs(dq).max(initial=0.0)))
        return (4.0 * slope(step) - slope(2 * step)) / 3.0  # Richardson: error of order step^4

    def manipulability_index(self, q: Any = None, frame: str | None = None) -> Any:
        """Yoshikawa's measure, the product of the singular values of the Jacobian (1985); (N,) for a batch (N, nq).

        `sqrt(det(J J^T))` for six or more degrees of freedom, `sqrt(det(J^T J))` below. By singular values: a
        determinant may turn negative by rounding near a singularity.
        """
        q, frame = self._one_or_many(q), self._frame(frame)
        if q.ndim == 1:
            return float(np.prod(np.linalg.svd(self.frame_jacobian(q, frame, LWA), compute_uv=False)))
        return np.prod(np.linalg.svd(self.frame_jacobian_batch(q, frame, LWA), compute_uv=False), axis=-1)

    @property
    def tcp_velocity(self) -> Array:
        """Velocity of the tcp (6,), world axes, linear first, for the stored q and dq."""
        return self.tcp_velocity_in(LWA)

    def tcp_velocity_in(self, reference: Any) -> Array:
        """Velocity of the tcp (6,) in a reference frame, for the stored q and dq."""
        q, dq, _ = self._state
        return self.frame_jacobian(q, self._tip(), required_reference(reference)) @ dq

    @property
    def tcp_acceleration(self) -> Array:
        """Time derivative of `tcp_velocity` (6,), for the stored q, dq and ddq: J ddq + dJ/dt dq."""
        q, dq, ddq = self._state
        tip = self._tip()
        return self.frame_jacobian(q, tip, LWA) @ ddq + self._jacobian_derivative(q, dq, tip, LWA) @ dq


def alias(value: Any, other: Any, name: str, other_name: str) -> Any:
    """The one of two spellings of an argument that was given."""
    if value is not None:
        raise InputTypeError(f"give {name} or its alias {other_name}, not both")
    return other


def required_reference(reference: Any) -> ReferenceFrame:
    """A ReferenceFrame; there is no default, because each choice is somebody's surprise."""
    if reference is None:
        raise InputError(
            "reference is required: ReferenceFrame.LOCAL (the frame's axes), ReferenceFrame.LOCAL_WORLD_ALIGNED "
            "(world axes at the frame's origin) or ReferenceFrame.WORLD (spatial, at the world's origin)"
        )
    return ReferenceFrame.parse(reference)
