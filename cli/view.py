"""`knuckle view`: a robot in a browser window, or as a page in a file."""

from __future__ import annotations

import argparse
import threading
from typing import Any

from ..robot import PinRobot, Task
from ..robot.arrays import scalar, seconds
from ..view import MeshcatView, show, to_html
from ..view.assemble import FRAMES
from ..view.course import FASTEST, SLOWEST
from .output import emit, report
from .parser import Commands, add_command, add_vector, configuration, load_robot


def add_commands(commands: Commands) -> None:
    """Registers `view`."""
    parser = add_command(commands, "view", "shows a robot in a browser, or writes a page that shows it")
    add_vector(parser, "--q", "configuration")
    drawn = parser.add_argument_group("what is drawn")
    drawn.add_argument("--trajectory", metavar="FILE", help="play a .csv or .npz file, with a time slider")
    drawn.add_argument("--speed", type=float, default=1.0, help="seconds of the trajectory per second (default 1)")
    drawn.add_argument("--frames", choices=FRAMES, help="axes of the tool, of all joints, of all frames")
    drawn.add_argument("--collision", action="store_true", help="collision shapes, and what touches, highlighted")
    drawn.add_argument("--scene", metavar="FILE", help="obstacles and goals of a saved task")
    where = parser.add_argument_group("where")
    where.add_argument("--html", metavar="FILE", help="write a self-contained page instead of serving one")
    where.add_argument("--port", type=int, default=0, help="port on the loopback interface (default: a free one)")
    where.add_argument("--no-open", action="store_true", help="print the address, open no browser")
    where.add_argument("--seconds", type=float, metavar="S", help="serve that long (default: until Ctrl-C)")
    parser.set_defaults(run=run_view)


def run_view(arguments: argparse.Namespace) -> int:
    """Writes the page, or serves it until it is interrupted."""
    robot = load_robot(arguments, quiet=arguments.json)
    scalar(arguments.speed, "--speed", minimum=SLOWEST, maximum=FASTEST)
    if arguments.seconds is not None:
        seconds(arguments.seconds, "--seconds")
    options = _options(arguments, robot)
    if arguments.html is not None:
        file = to_html(robot, arguments.html, speed=arguments.speed, **options)
        size = file.stat().st_size
        report(
            arguments.json,
            lambda: {"robot": robot.name, "html": str(file), "bytes": size},
            lambda: f"{file}: {size / 1e6:.1f} MB, opens without network",
        )
        return 0
    opened = False if arguments.no_open else None
    with show(robot, port=arguments.port, open_browser=opened, speed=arguments.speed, **options) as view:
        report(arguments.json, lambda: {"robot": robot.name, "url": view.url}, lambda: f"{robot.name} at {view.url}")
        _stay(view, arguments)
    return 0


def _options(arguments: argparse.Namespace, robot: PinRobot) -> dict[str, Any]:
    q = None
    if arguments.q is not None or arguments.trajectory is None:
        q = configuration(robot, arguments.q)
    return {
        "q": q,
        "trajectory": arguments.trajectory,
        "frames": arguments.frames,
        "layers": ("visual", "collision") if arguments.collision else "visual",
        "contacts": arguments.collision,
        "task": None if arguments.scene is None else Task.load(arguments.scene),
    }


def _stay(view: MeshcatView, arguments: argparse.Namespace) -> None:
    """Serve until Ctrl-C, which is the usual end and no error."""
    if not arguments.json and arguments.seconds is None:
        emit("Ctrl-C ends it")
    try:
        threading.Event().wait(arguments.seconds)
    except KeyboardInterrupt:
        return
