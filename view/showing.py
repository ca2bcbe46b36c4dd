"""The way in: a robot, and what is wanted, become a view."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from ..robot import InputTypeError
from ..robot.arrays import flag
from .assemble import picture
from .course import pace
from .meshcat_view import MeshcatView
from .server import LOOPBACK


def has_screen() -> bool:
    """Whether a browser window can be expected to open: a desktop, and no notebook that shows pages itself."""
    if "ipykernel" in sys.modules or os.environ.get("KNUCKLE_NO_BROWSER"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show(
    robot: Any,
    visualizer: Any = None,
    *,
    port: int = 0,
    host: str = LOOPBACK,
    open_browser: bool | None = None,
    fit: bool = True,
    speed: float = 1.0,
    opener: Callable[[MeshcatView], object] = MeshcatView.open,
    **options: Any,
) -> MeshcatView:
    """Show a robot in a browser.

    Args:
        robot: The robot.
        visualizer: A view that is open already: the robot appears there too, or anew. None opens a new one.
        port: Of a new view; 0 takes a free one.
        host: Of a new view.
        open_browser: Open a window for a new view; None does where there is a desktop.
        fit: Move the camera to where it sees everything.
        speed: At which a trajectory plays.
        opener: What opens a window.
        **options: What is drawn, all optional:

            * q: configuration (nq,) or mapping; the stored one if left out;
            * frames: "tcp", "joints" or "full": axes that are drawn;
            * layers: "visual", "collision" or both;
            * task: a Task, whose obstacles and goals are drawn;
            * contacts: colour the pairs in contact, and draw a line between the points of each;
            * safety_margin: distance below which a pair counts as in contact [m];
            * ghosts: further configurations (n, nq), drawn pale;
            * trajectory, dt: played with a time slider, the tool's trace drawn;
            * target: a pose drawn as pale axes;
            * name: what the robot is called in the view; its own name if left out.

    Returns:
        The view. It is served until its `close`, or until the program ends, whether or not it is kept.

    Raises:
        InputError: on what cannot be drawn or served; nothing is shown or served then.
    """
    if visualizer is not None and not isinstance(visualizer, MeshcatView):
        raise InputTypeError(
            f"visualizer must be a view that robot.visualize returned, got {type(visualizer).__name__}; "
            "None opens a new one"
        )
    fitted, wanted = flag(fit, "fit"), None if open_browser is None else flag(open_browser, "open_browser")
    shown, rate = picture(robot, **options), pace(speed)
    view = MeshcatView(port=port, host=host) if visualizer is None else visualizer
    try:
        view.show(shown, fit=fitted, speed=rate)
        if visualizer is None and (has_screen() if wanted is None else wanted):
            opener(view)
    except BaseException:
        if visualizer is None:
            view.close()
        raise
    return view
