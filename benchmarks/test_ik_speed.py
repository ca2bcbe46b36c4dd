"""A whole solve of each method, and one iteration, against the loop of `naive_ik.py`."""

from __future__ import annotations
