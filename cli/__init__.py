"""The command `knuckle`: data on standard output, messages on standard error.

Exit codes: 0 done, 1 not solved or findings, 2 input that cannot be used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from ..robot.errors import KnuckleError
from . import check, demo, doctor, dynamics, ik, inspect, kinematics, simulate, view
from .output import report
from .parser import Parser, one_line, protect_numbers

__all__ = ["main"]

_EPILOG = "exit codes: 0 done, 1 not solved or findings, 2 input that cannot be used"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        argv: Arguments after the program's name; None takes those of the process.
    """
    words = protect_numbers(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _parser().parse_args(words)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except (KnuckleError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return _reader_left()
        message = str(error)
        print(f"knuckle: error: {one_line(message)}", file=sys.stderr)
        if "--json" in words:
            report(True, lambda: {"error": message}, str)
        return 2
    except MemoryError:
        print("knuckle: error: not enough memory for a robot of this size", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> Parser:
    parser = Parser(
        prog="knuckle", description="Kinematics, dynamics and inverse kinematics of robots.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=f"knuckle {version('knuckle')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for noun in (inspect, kinematics, dynamics, ik, check, simulate, view, demo, doctor):
        noun.add_commands(commands)
    return parser


def _reader_left() -> int:
    """Ends quietly when a pipe such as `| head` closes; the interpreter would complain again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
