"""Whatever is done to a view, a browser that was there from the start shows what one shows that comes late."""

from __future__ import annotations

import copy
from typing import Any

import coal
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knuckle import InputError, Obstacle, PinBody, PinRobot, Task, Transformation
from knuckle.view import MeshcatView
from knuckle.view.server import Server

from .samples import load
from .view_cases import TOUCHING

KNOB = PinBody.solid("knob", coal.Sphere(0.05), 1.0)
TASK = Task([Obstacle.sphere(0.1, Transformation.from_translation([0.4, 0.0, 0.4]), id="ball")])


class Shown:
    """What a page shows after some messages, by the rules of `page.js`."""

    def __init__(self) -> None:
        self.meshes: set[str] = set()
        self.solids: dict[str, Any] = {}
        self.poses: dict[str, list[float]] = {}
        self.marks: dict[str, Any] = {}
        self.camera: Any = None
        self.film: Any = None

    def take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "mesh":
            self.meshes.add(message["key"])
        elif kind == "solid":
            assert message["mesh"] in self.meshes, "a solid whose mesh was never sent"
            assert message["path"] not in self.solids, "two solids in one place"
            self.solids[message["path"]] = message
            self.poses.pop(message["path"], None)
        elif kind == "moment":
            self.poses.update(message["poses"])
            self.marks = message["marks"]
        elif kind == "remove":
            below = message["path"] + "/"
            self.solids = {path: one for path, one in self.solids.items() if not path.startswith(below)}
            self.poses = {path: pose for path, pose in self.poses.items() if not path.startswith(below)}
        elif kind == "camera":
            self.camera = message
        elif kind == "film":
            self.film = message
            self.marks = message["marks"][0]  # it starts at its beginning
        else:
            assert kind == "stop"
            self.film = None

    def parts(self) -> dict[str, Any]:
        marks = {path: colour for path, colour in self.marks.items() if path in self.solids}
        played = [] if self.film is None else self.film["paths"]
        poses = {path: pose for path, pose in self.poses.items() if path not in played}
        return {"solids": self.solids, "poses": poses, "marks": marks, "camera": self.camera, "film": self.film}


class Watched(MeshcatView):
    """A view whose browser is a list."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Shown()
        self._server = Ear(self._server, self.page)  # type: ignore[assignment]


class Ear:
    """A server that one browser looks at."""

    browsers = 1

    def __init__(self, server: Server, page: Shown) -> None:
        self._server, self._page = server, page

    def send(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            self._page.take(message)

    def close(self) -> None:
        self._server.close()


NAMES = ["left", "right", "a/b"]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["show", "show with contacts", "update", "play", "remove", "attach", "detach", "camera", "touch"]
        ),
        st.sampled_from(NAMES),
        st.sampled_from([0, 1]),
        st.booleans(),
    ),
    min_size=1,
    max_size=14,
)


def do(view: MeshcatView, robots: list[PinRobot], step: tuple[str, str, int, bool]) -> None:
    what, name, which, fit = step
    robot = robots[which]
    if what.startswith("show"):
        layers = ("visual", "collision") if fit else "visual"
        extras = {"contacts": True, "task": TASK} if "contacts" in what else {"frames": "full"}
        robot.visualize(view, name=name, fit=fit, layers=layers, **extras)
    elif what == "update":
        view.update(0.1 * np.arange(1, 8), name=name)
    elif what == "touch":
        view.update(TOUCHING, name=name)
    elif what == "play":
        view.play([TOUCHING, 0.9 * TOUCHING, np.zeros(7)], name=name)
    elif what == "remove":
        view.remove(name)
    elif what == "camera":
        view.camera()
    elif what == "attach" and "knob" not in robot.attached:
        robot.attach(KNOB)
    elif what == "detach" and "knob" in robot.attached:
        robot.detach("knob")


@given(STEPS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_early_and_late_browsers_show_the_same(steps: list[tuple[str, str, int, bool]]) -> None:
    robots = [copy.deepcopy(load("sevenr_arm")) for _ in range(2)]
    with Watched() as view:
        for step in steps:
            try:
                do(view, robots, step)
            except InputError as error:  # nothing of that name yet
                assert "shows nothing" in str(error) or "no robot in the view" in str(error), error
        late = Shown()
        for message in view._everything():
            late.take(message)
        early, now = view.page.parts(), late.parts()
        assert early.keys() == now.keys()
        for part in now:
            assert early[part] == now[part], part
