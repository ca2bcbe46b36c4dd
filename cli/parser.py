"""Reading the command line: the parser, the options several commands share, and the values they take."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..robot import InputError, PinRobot
from ..robot.arrays import Array
from ..robot.diagnosis import WARNING
from ..robot.errors import unknown_name
from ..robot.examples import example_names

Commands = Any
"""What `add_subparsers` returns: argparse names its type only in private."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line, raised rather than printed."""

    def error(self, message: str) -> NoReturn:
        """Raises `InputError`, so that wrong usage leaves through the same door as every other bad input."""
        raise InputError(f"{message} (see '{self.prog} --help')")


def add_command(commands: Commands, name: str, summary: str, *, robot: bool = True) -> Parser:
    """A command of its own, with `--json` and, unless `robot` is off, a robot and how to load it."""
    parser: Parser = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    if robot:
        parser.add_argument("robot", metavar="ROBOT", help="a URDF, xacro or MJCF file, or an example robot")
        loading = parser.add_argument_group("loading")
        loading.add_argument(
            "--package-dir", action="append", metavar="DIR", help="folder to search for meshes (may be repeated)"
        )
        loading.add_argument("--tcp", metavar="FRAME", help="frame to use as tool centre point")
        loading.add_argument(
            "--root-joint", choices=("fixed", "floating", "planar"), default="fixed", help="how the base is mounted"
        )
        loading.add_argument("--srdf", metavar="FILE", help="SRDF: pairs not to be checked, tool, home state")
        loading.add_argument(
            "--xacro-arg", action="append", metavar="NAME=VALUE", help="argument of a xacro file (may be repeated)"
        )
        loading.add_argument("--joint-limits", metavar="FILE", help="ROS joint_limits.yaml that overrides limits")
        loading.add_argument("--strict", action="store_true", help="refuse what would only be warned about")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def load_robot(arguments: argparse.Namespace, *, quiet: bool = False, strict: bool | None = None) -> PinRobot:
    """The robot named on the command line; what its loading warns about goes to standard error, unless quiet.

    Args:
        arguments: Of the command line.
        quiet: Whether to keep warnings back.
        strict: Overrides `--strict`.

    Raises:
        DescriptionError: if the file cannot be read as a robot.
        UnknownNameError: if there is no frame of the name given for the tcp.
    """
    silent = logging.NullHandler()  # the findings are printed below, not by logging's last resort
    logger = logging.getLogger("knuckle")
    logger.addHandler(silent)
    try:
        robot = _load(arguments, strict=arguments.strict if strict is None else strict)
    finally:
        logger.removeHandler(silent)
    if arguments.joint_limits is not None:
        robot = robot.with_limits_file(arguments.joint_limits)
    for finding in robot.findings:
        if finding.severity == WARNING and not quiet:
            warn(str(finding))
    return robot


def _load(arguments: argparse.Namespace, *, strict: bool) -> PinRobot:
    options: dict[str, Any] = {"strict": strict, "tcp": arguments.tcp, "root_joint": arguments.root_joint}
    given = {"srdf": arguments.srdf, "package_dirs": arguments.package_dir, "xacro_args": _pairs(arguments.xacro_arg)}
    options |= {name: value for name, value in given.items() if value is not None}
    name = arguments.robot
    if not Path(name).exists() and (name in example_names() or not ("." in name or "/" in name or "\\" in name)):
        return PinRobot.from_example(name, **options)  # which says what names there are, and what to install
    return PinRobot.from_file(name, **options)


def _pairs(words: Sequence[str] | None) -> dict[str, str] | None:
    if words is None:
        return None
    for word in words:
        if not word.partition("=")[0] or "=" not in word:
            raise InputError(f"--xacro-arg must be NAME=VALUE, got {word!r}")
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def warn(message: str) -> None:
    """Puts a warning on standard error."""
    print(f"knuckle: warning: {message}", file=sys.stderr)


def one_line(text: str) -> str:
    """`text` without line breaks."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def add_vector(parser: argparse._ActionsContainer, option: str, summary: str) -> None:
    """An option taking numbers in joint order, or `name=value` pairs."""
    parser.add_argument(option, nargs="+", metavar="VALUE", help=f"{summary}: numbers, or NAME=VALUE pairs")


def configuration(robot: PinRobot, words: Sequence[str] | None, option: str = "--q") -> Array:
    """The configuration written as `words` (nq,); entries left out keep their home value.

    One outside the limits is taken, with a warning: degrees in place of radians are easily typed.

    Raises:
        InputError: if a word is no number, the count is wrong or a name is unknown.
    """
    q = _filled(robot.home_configuration.copy(), robot.coordinate_names, words, option)
    lower, upper = robot.joint_limits
    outside = [robot.coordinate_names[i] for i in np.flatnonzero((q < lower) | (q > upper))]
    if outside:
        warn(f"{option} is outside the limits of {', '.join(outside)}")
    return q


def joint_vector(robot: PinRobot, words: Sequence[str] | None, option: str) -> Array:
    """A velocity, acceleration or torque written as `words` (nv,); entries left out are zero.

    Raises:
        InputError: if a word is no number, the count is wrong or a name is unknown.
    """
    return _filled(np.zeros(robot.nv), robot.dof_names, words, option)


def _filled(values: Array, names: Sequence[str], words: Sequence[str] | None, option: str) -> Array:
    if words is None:
        return values
    named = sum("=" in word for word in words)
    if not named:
        return sized_numbers(words, len(values), option)
    if named < len(words):
        raise InputError(f"{option} mixes numbers and NAME=VALUE pairs; use one of the two")
    seen = set()
    for word in words:
        name, _, value = word.rpartition("=")
        if name not in names:
            raise unknown_name("joint", name, names)
        if name in seen:
            raise InputError(f"{option} names {name!r} twice")
        seen.add(name)
        values[names.index(name)] = _number(value, option)
    return values


def sized_numbers(words: Sequence[str], size: int, option: str) -> Array:
    """Exactly `size` finite numbers.

    Raises:
        InputError: naming the option, the count or the word that is no number.
    """
    values = np.array([_number(word, option) for word in words])
    if len(values) != size:
        raise InputError(f"{option} needs {size} numbers, got {len(values)}")
    return values


def _number(word: str, option: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise InputError(f"{option} needs numbers, got {word!r}") from None
    if not np.isfinite(value):
        raise InputError(f"{option} must be finite, got {word.strip()!r}")
    return value


def protect_numbers(argv: Sequence[str]) -> list[str]:
    """`argv` with a blank before negative numbers: argparse takes `-1e-3` for an option otherwise."""
    return [f" {word}" if word.startswith("-") and _is_number(word) else word for word in argv]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
