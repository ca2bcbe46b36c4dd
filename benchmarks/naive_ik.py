"""The loop people write first on Pinocchio and numpy: the counterpart of the methods here."""

from __future__ import annotations

import numpy as np
import pinocchio as pin


def iteration(
    model: pin.Model, data: pin.Data, frame: int, q: np.ndarray, goal: pin.SE3, damping: float = 1e-4
) -> tuple[np.ndarray, float]:
    """One damped least squares step, and the error before it."""
    pin.framesForwardKinematics(model, data, q)
    to_goal = data.oMf[frame].actInv(goal)
    error = pin.log6(to_goal).vector
    jacobian = -pin.Jlog6(to_goal.inverse()) @ pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
    step = -jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), error)
    return pin.integrate(model, q, step), float(np.linalg.norm(error))


def solve(
    model: pin.Model,
    frame: int,
    goal: pin.SE3,
    q: np.ndarray,
    rng: np.random.Generator,
    *,
    tolerance: float = 1e-5,
    attempts: int = 50,
    iterations: int = 100,
) -> np.ndarray | None:
    """A configuration inside its limits that reaches `goal`, with random restarts; None if all attempts fail."""
    data = model.createData()
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    for _ in range(attempts):
        for _ in range(iterations):
            following, error = iteration(model, data, frame, q, goal)
            if error < tolerance:
                if np.all(q >= lower) and np.all(q <= upper):
                    return q
                break
            q = np.clip(following, lower, upper)
        q = rng.uniform(lower, upper)
    return None
