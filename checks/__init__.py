"""Offline verdicts with reasons: whether a trajectory or a list of poses is feasible."""

from __future__ import annotations

from .report import Check, TrajectoryReport
from .trajectory_check import check_trajectory

__all__ = ["Check", "TrajectoryReport", "check_trajectory"]
