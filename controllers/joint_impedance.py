"""Joint impedance: a spring and a damper at every joint, with the robot's dynamics taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..robot.arrays import Array, flag
from .base import Controller
from .gains import UNSET, booleans, counted, damping_choice, per_dof, switch
from .groups import Group, ModelGroup
from .laws import impedance, joint_impedance
from .model_based import FleetModel, ModelProperties
from .native_step import FULL, JOINT_IMPEDANCE, OFF, Flags, NativeSteps
from .ports import Ports
from .scripting import JointTorque

_COUPLED = "use_inertia_decoupling is off"


class Switches(NamedTuple):
    """Terms that are on for a robot."""

    decoupling: bool
    coriolis: bool
    gravity: bool


class JointImpedanceLaw(Controller):
    """tau = [M or I] (ddq_des + Kp (q_des - q) + Kd (dq_des - dq)) [+ C dq] [+ g], see `laws`."""

    def _set_up(
        self,
        stiffness: Any,
        damping: Any,
        damping_ratio: Any,
        switches: tuple[Any, Any, Any],
        has_qdd_feedforward: Any,
        torque_limits: tuple[Any, Any, Array | None],
    ) -> None:
        D, R, each = self._total, self.controlled_robot_count, self._dof_counts
        names = ("use_inertia_decoupling", "use_coriolis_compensation", "use_gravity_compensation")
        per_term = [switch(value, R, name) for value, name in zip(switches, names, strict=True)]
        self._switches = [Switches(*on) for on in zip(*per_term, strict=True)]
        damping_choice(damping, damping_ratio, "damping", "damping_ratio")
        self._gain("stiffness", per_dof(stiffness, each, "stiffness"), "dof")
        if damping_ratio is None:
            self._gain("damping", per_dof(damping, each, "damping"), "dof")
        else:
            self._port("damping", (D,), off="a damping_ratio was given instead")
            self._fix("damping_ratio", "dof", per_dof(damping_ratio, each, "damping_ratio"))
        self._limits(*torque_limits)
        self._feedforward = flag(has_qdd_feedforward, "has_qdd_feedforward")
        self._port("joint_q_des", (D,))
        self._port("joint_qd_des", (D,))
        self._port("joint_qdd", (D,), off=None if self._feedforward else "has_qdd_feedforward is off")

    def _any(self, term: str) -> bool:
        return any(getattr(on, term) for on in self._switches)

    def _spring(self, group: Group, ports: dict[str, Array], q: Array, qd: Array) -> Array:
        """Kp (q_des - q) + Kd (dq_des - dq) [+ ddq_des] at the controlled joints."""
        take = group.dofs.take
        stiffness = self._value(group, ports, "stiffness", "dof")
        damping = self._damping(group, ports, "damping", stiffness, "dof")
        error = self._joint_error(group, take(ports["joint_q_des"]), q)
        feedforward = take(ports["joint_qdd"]) if self._feedforward else None
        return impedance(error, take(ports["joint_qd_des"]) - qd, stiffness, damping, feedforward)


class ControllerJointImpedanceModelFree(JointImpedanceLaw):
    """Joint impedance with the dynamics handed in.

    Every port is compact, one entry per controlled joint, robot after robot; the mass matrices are padded.

    Args:
        controlled_dofs_per_robot: Controlled joints of each robot (R,).
        stiffness: Kp, a number, (D,), or None to read `inputs.stiffness`; [1/s^2] with decoupling, else [N m/rad, N/m].
        damping: Kd likewise; [1/s] with decoupling, else [N m s/rad, N s/m].
        damping_ratio: zeta instead of damping: Kd = 2 zeta sqrt(Kp), a number or (D,).
        use_gravity_compensation: Add `inputs.gravity_force`; one boolean, or one per robot, as the next two.
        use_coriolis_compensation: Add `inputs.coriolis_force`.
        use_inertia_decoupling: Multiply the spring and damper by `inputs.mass_matrix`.
        has_qdd_feedforward: Add `inputs.joint_qdd` to the acceleration.
        torque_limits: Greatest torques, a number or (D,); None for none.
        torque_limit_mode: "clip" joint by joint, or "scale" the whole vector of a robot.
        continuous_dofs: Which joints turn without end (D,): their errors go the short way round.
    """

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Inputs(Ports):
        """State, targets, dynamics and live gains; see the class. Ports of features that are off are None."""

        joint_q: Any
        joint_qd: Any
        joint_q_des: Any
        joint_qd_des: Any
        joint_qdd: Any
        mass_matrix: Any
        coriolis_force: Any
        gravity_force: Any
        stiffness: Any
        damping: Any

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Outputs(Ports):
        """Torques `joint_f` (D,) [N m or N]."""

        joint_f: Any

    def __init__(
        self,
        controlled_dofs_per_robot: Any,
        *,
        stiffness: Any,
        damping: Any = UNSET,
        use_gravity_compensation: Any = True,
        use_coriolis_compensation: Any = True,
        use_inertia_decoupling: Any = True,
        has_qdd_feedforward: bool = False,
        damping_ratio: Any = None,
        torque_limits: Any = None,
        torque_limit_mode: str = "clip",
        continuous_dofs: Any = None,
    ) -> None:
        counts = counted(controlled_dofs_per_robot)
        super().__init__(counts, booleans(continuous_dofs, int(counts.sum()), "continuous_dofs"))
        D, R, n = self._total, self.controlled_robot_count, self.max_controlled_dofs
        self._port("joint_q", (D,))
        self._port("joint_qd", (D,))
        switches = use_inertia_decoupling, use_coriolis_compensation, use_gravity_compensation
        limits = torque_limits, torque_limit_mode, None
        self._set_up(stiffness, damping, damping_ratio, switches, has_qdd_feedforward, limits)
        self._port("mass_matrix", (R, n, n), off=None if self._any("decoupling") else _COUPLED)
        for name in ("coriolis", "gravity"):
            off = None if self._any(name) else f"use_{name}_compensation is off"
            self._port(f"{name}_force", (D,), off=off)
        self._group_by_size(self._switches)

    def _evaluate(self, group: Any, ports: dict[str, Array]) -> Array:
        take, on = group.dofs.take, group.switches
        a = self._spring(group, ports, take(ports["joint_q"]), take(ports["joint_qd"]))
        return joint_impedance(
            a,
            mass_matrix=group.robots(ports["mass_matrix"])[..., : group.n, : group.n] if on.decoupling else None,
            coriolis_force=take(ports["coriolis_force"]) if on.coriolis else None,
            gravity_force=take(ports["gravity_force"]) if on.gravity else None,
        )


class ControllerJointImpedance(NativeSteps, ModelProperties, JointTorque, JointImpedanceLaw):
    """Joint impedance with the dynamics taken from the robots.

    For one robot and a script: `tau = controller.torque((q, dq), q_des)`. For fleets: `input`, `output`, `step`.

    R robots are controlled, D joints of them in all: (D,) is one number per joint, robot after robot. Gains of joints
    may also be one number, a column (R, 1), or, where all robots have n joints, (n,) or (R, n).

    Args:
        model: A Fleet, or one robot. Borrowed: never written, its later changes are seen.
        articulations: Robots to control, see `Fleet.select`; None takes all.
        joints: Joints to control, likewise; None takes every joint of one coordinate and one degree of freedom.
        stiffness: Kp, a number, (D,), or None to read `inputs.stiffness`; [1/s^2] with decoupling, else [N m/rad, N/m].
        damping: Kd likewise; [1/s] with decoupling, else [N m s/rad, N s/m].
        use_gravity_compensation: Add g(q); one boolean, or one per controlled robot, as the next two.
        use_coriolis_compensation: Add C(q, dq) dq.
        use_inertia_decoupling: Multiply the spring and damper by the mass matrix of the controlled joints.
        has_qdd_feedforward: Add `inputs.joint_qdd` to the acceleration.
        damping_ratio: zeta instead of damping: Kd = 2 zeta sqrt(Kp), a number or (D,).
        torque_limits: Greatest torques, a number, (D,), or "robot" for the robots' own; None for none.
        torque_limit_mode: "clip" joint by joint, or "scale" the whole vector of a robot.
        backend: "native" steps in the native kernel, "numpy" on Pinocchio and numpy; "auto" takes the kernel where
            there is one and it can express the robot. Same ports, same results to rounding.
        threads: Of the kernel; None is one, or all cores from 2000 robots on. No torque depends on it.

    Joints that are not controlled feed gravity and C dq; their rows and columns of M are dropped, which is an
    approximation where they move. On continuous joints the error is the shortest angle.
    """

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Inputs(Ports):
        """State of the whole fleet; targets and live gains of the controlled joints. None where a feature is off."""

        joint_q: Any
        joint_qd: Any
        joint_q_des: Any
        joint_qd_des: Any
        joint_qdd: Any
        stiffness: Any
        damping: Any

    @dataclass(slots=True, kw_only=True, eq=False, repr=False)
    class Outputs(Ports):
        """Torques `joint_f` (D,) [N m or N]."""

        joint_f: Any

    def __init__(
        self,
        model: Any,
        *,
        articulations: Any = None,
        joints: Any = None,
        stiffness: Any,
        damping: Any = UNSET,
        use_gravity_compensation: Any = True,
        use_coriolis_compensation: Any = True,
        use_inertia_decoupling: Any = True,
        has_qdd_feedforward: bool = False,
        damping_ratio: Any = None,
        torque_limits: Any = None,
        torque_limit_mode: str = "clip",
        backend: str = "auto",
        threads: Any = None,
    ) -> None:
        self._choose(backend, threads)
        self._model = FleetModel(model, articulations, joints, native=self._backend != "numpy")
        selection = self._model.selection
        super().__init__(selection.dof_counts, selection.continuous)
        self._port("joint_q", (self._model.fleet.joint_coord_count,))
        self._port("joint_qd", (self._model.fleet.joint_dof_count,))
        switches = use_inertia_decoupling, use_coriolis_compensation, use_gravity_compensation
        limits = torque_limits, torque_limit_mode, self._model.torque_limits()
        self._set_up(stiffness, damping, damping_ratio, switches, has_qdd_feedforward, limits)
        self._refresh()

    def _flags(self, group: Any) -> Flags:
        on = group.switches
        decoupling = FULL if on.decoupling else OFF
        return Flags(JOINT_IMPEDANCE, decoupling, on.gravity, on.coriolis, scale=self._limit_mode == "scale")

    def _evaluate(self, group: Any, ports: dict[str, Array]) -> Array:
        q = group.q.take(ports["joint_q"])
        qd = group.qd.take(ports["joint_qd"])
        a = self._spring(group, ports, group.positions(q), group.controlled(qd))
        return self._with_dynamics(group, q, qd, a)

    def _with_dynamics(self, group: ModelGroup, q: Array, qd: Array, a: Array) -> Array:
        """The law with M, C dq and g in one sweep: `M a + C dq + g` is inverse dynamics with a = 0 elsewhere."""
        on, terms = group.switches, group.terms
        if not any(on):
            return a
        q = terms.normalised(q)
        ddq = group.spread(a) if on.decoupling else group.rest
        dq = group.rest
        if on.coriolis:
            dq = terms.velocity(q, qd)
            for root in terms.roots:
                ddq = root.acceleration(q, qd, ddq)
        force = group.controlled(terms.inverse_dynamics(q, dq, ddq, on.gravity))
        return force if on.decoupling else joint_impedance(a, gravity_force=force)
