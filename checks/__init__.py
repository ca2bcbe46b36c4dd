"""Offline verdicts with reasons: whether a trajectory or a list of poses is feasible."""

from __future__ import annotations

from .envelope import Envelope, torque_envelope
from .pose_check import check_poses, pose_grid
from .pose_files import read_poses
from .pose_report import PoseReport
from .report import Check, TrajectoryReport
from .retiming import retime
from .trajectory_check import check_trajectory

__all__ = [
    "Check",
    "Envelope",
    "PoseReport",
    "TrajectoryReport",
    "check_poses",
    "check_trajectory",
    "pose_grid",
    "read_poses",
    "retime",
    "torque_envelope",
]
