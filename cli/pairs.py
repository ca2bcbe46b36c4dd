"""The part of `knuckle inspect` about collision pairs: which are left out and why, sampled, written as an SRDF."""

from __future__ import annotations

import argparse
import sys

from ..robot import InputError, PinRobot, Srdf
from ..robot.collision_pairs import ALWAYS
from .output import table
from .parser import sized_numbers

_SHOWN = 40


def pair_table(robot: PinRobot) -> str:
    """The pairs that are not checked with their reasons, by link; those fixed to each other left out."""
    rows = [[a, b, reason] for (a, b), reason in robot.excluded_pairs.items() if not reason.startswith("rigid")]
    hidden = len(robot.excluded_pairs) - len(rows)
    lines = [table(["geometry", "geometry", "reason"], rows[:_SHOWN], left=3)] if rows else []
    if len(rows) > _SHOWN:
        lines.append(f"... and {len(rows) - _SHOWN} more")
    if hidden:
        lines.append(f"and {hidden} of shapes fixed to each other")
    return "\n".join(lines)


def write_srdf(robot: PinRobot, arguments: argparse.Namespace) -> None:
    """Drop the pairs that (nearly) always touch, and write all that are not checked to the file asked for."""
    count = sized_numbers([arguments.samples], 1, "--samples")[0]
    if count < 1 or count != int(count):
        raise InputError(f"--samples must be a whole number from 1, got {arguments.samples}")
    if arguments.seed < 0:
        raise InputError(f"--seed must be 0 or more, got {arguments.seed}")
    sampled = robot.sample_collision_pairs(int(count), rng=arguments.seed, progress=_progress)
    robot.remove_collision_pairs(sampled.always(), ALWAYS)
    base = Srdf(robot.name) if arguments.srdf is None else Srdf.load(arguments.srdf)
    base.with_disabled_pairs(robot.disabled_links()).save(arguments.srdf_out)
    print(
        f"knuckle: {arguments.srdf_out} written, {sampled.samples} configurations, seed {sampled.seed}", file=sys.stderr
    )


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done}/{total} configurations", end="\n" if done == total else "", file=sys.stderr, flush=True)
