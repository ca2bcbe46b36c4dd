"""Types of the native kernel; `knuckle.robot.native` says whether it is present."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Float = NDArray[np.float64]
_Int32 = NDArray[np.int32]

def isa() -> str: ...
def lanes() -> int: ...
def use_lanes(lanes: int) -> None: ...
def damped_step(jacobian: _Float, e: _Float, mu: float, dq: _Float) -> bool: ...

PORTS: tuple[str, ...]

class Chain:
    def __init__(
        self,
        fixed: _Float,
        prismatic: _Int32,
        q_index: _Int32,
        v_index: _Int32,
        multiplier: _Float,
        offset: _Float,
        nq: int,
        nv: int,
    ) -> None: ...
    @property
    def joint_count(self) -> int: ...
    def fk(self, q: _Float, out: _Float) -> None: ...
    def fk_batch(self, q: _Float, out: _Float, threads: int = 1) -> None: ...
    def jacobian(self, q: _Float, reference: int, out: _Float) -> None: ...
    def jacobian_batch(self, q: _Float, reference: int, out: _Float, threads: int = 1) -> None: ...
    def error_and_jacobian(self, q: _Float, target: _Float, world: bool, e: _Float, jacobian: _Float) -> None: ...

class Solver:
    def __init__(
        self,
        chain: Chain,
        reach: _Float,
        lower: _Float,
        upper: _Float,
        frozen: _Int32,
        row_weight: _Float,
        damping: float,
        constant_damping: float,
        step: float,
        shrink: float,
        patience: int,
        attempt_iterations: int,
        free_first: bool,
    ) -> None: ...
    def gap(self, target: _Float, q_init: _Float) -> float: ...
    def solve(
        self,
        target: _Float,
        q_init: _Float | None,
        q: _Float,
        position_tolerance: float,
        rotation_tolerance: float,
        max_attempts: int,
        max_iterations: int,
        seed: int,
        index: int = 0,
        lanes: int = 0,
    ) -> tuple[bool, float, float, int, int, bool, bool]: ...
    def solve_batch(
        self,
        targets: _Float,
        q_init: _Float | None,
        q: _Float,
        errors: _Float,
        counts: NDArray[Any],
        position_tolerance: float,
        rotation_tolerance: float,
        max_attempts: int,
        max_iterations: int,
        seed: int,
        first: int = 0,
        threads: int = 1,
    ) -> None: ...
    def track(
        self,
        targets: _Float,
        q_start: _Float,
        q: _Float,
        errors: _Float,
        position_tolerance: float,
        rotation_tolerance: float,
        step_iterations: int,
    ) -> int: ...

class Bodies:
    def __init__(
        self,
        joints: tuple[_Float, _Int32, _Int32, _Int32, _Float, _Float],
        nq: int,
        nv: int,
        v_start: _Int32,
        inertia: _Float,
        armature: _Float,
        damping: _Float,
        coulomb: _Float,
        rotor: _Float,
        viscous: _Float,
        dry: _Float,
        gravity: _Float,
    ) -> None: ...
    def evaluate(
        self,
        count: int,
        q: _Float,
        dq: _Float | None = None,
        ddq: _Float | None = None,
        tau: _Float | None = None,
        gravity: _Float | None = None,
        friction: bool = False,
        rotors: bool = False,
        frame_joints: _Int32 | None = None,
        frame_places: _Float | None = None,
        reference: int = 2,
        inverse: _Float | None = None,
        forward: _Float | None = None,
        mass: _Float | None = None,
        poses: _Float | None = None,
        jacobian: _Float | None = None,
        twist: _Float | None = None,
        bias: _Float | None = None,
        threads: int = 1,
    ) -> None: ...

class Step:
    def __init__(
        self,
        bodies: Bodies,
        places: tuple[NDArray[np.int64], ...],
        joints: tuple[_Int32, ...],
        roots: tuple[_Int32, _Float],
        tool: tuple[int, _Float],
        flags: tuple[int, ...],
        totals: tuple[int, int, int, int],
        live: tuple[int, ...],
        gains: tuple[bool, ...],
        fixed: tuple[tuple[int, _Float], ...],
        known: NDArray[np.int8],
    ) -> None: ...
    def bind(self, values: tuple[_Float, ...]) -> None: ...
    def step(self, values: tuple[_Float, ...], out: _Float, threads: int = 1) -> int: ...
    def faults(self, out: NDArray[np.int8]) -> None: ...
    def last(self, out: _Float) -> bool: ...
    def rollout(
        self,
        plant: Bodies,
        settings: tuple[int, int, int, int, int, int],
        dt: float,
        tool: tuple[int, _Float],
        walls: _Float,
        q: _Float,
        dq: _Float,
        failed: NDArray[np.int64],
        q_record: _Float,
        dq_record: _Float,
        tau_record: _Float,
        threads: int = 1,
    ) -> None: ...
