"""ViserView: a live window with sliders, a target to drag, and playback, drawn by viser."""

from __future__ import annotations

import threading
import time
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, Self

import numpy as np

from ..robot import InputError, MissingDependencyError, Transformation
from ..robot.arrays import Array
from ..robot.rotation import quat_xyzw_from_rotation
from .drawing import Colour, Moment, Solid
from .exploring import Explorer
from .html import SAMPLES
from .messages import FIELD, camera
from .server import LOOPBACK, address, listener

try:
    import viser
except ImportError as error:
    raise MissingDependencyError("a live window needs viser: pip install 'knuckle[live]'") from error

DIGITS = 3
"""Decimals that a slider shows [rad or m]."""


class ViserScene:
    """Solids and moments on a viser server: the counterpart of `page.js`."""

    def __init__(self, server: Any) -> None:
        self._scene = server.scene
        self._handles: dict[str, Any] = {}
        self._solids: dict[str, Solid] = {}
        self._colours: dict[str, Colour] = {}
        self._scene.set_up_direction("+z")
        self._camera = server.initial_camera

    def add(self, solid: Solid) -> None:
        """Build a solid."""
        if not len(solid.mesh.triangles):
            return
        positions, _, triangles = solid.mesh.shaded  # creases are split there, so that viser's shading keeps them
        self._solids[solid.path] = solid
        self._handles[solid.path] = self._scene.add_mesh_simple(
            f"/robots/{solid.path}",  # apart from the grid and the target
            positions,
            triangles,
            color=tuple(round(255 * part) for part in solid.colour[:3]),
            opacity=None if solid.colour[3] >= 1 else solid.colour[3],
            side="double",
            visible=solid.visible and not solid.marked,
        )
        if solid.pose is not None:
            self._place(solid.path, solid.pose)

    def look_at(self, bounds: Array) -> None:
        """Let the camera of a new window see a whole box (2, 3) [m], on a floor that fits it."""
        seen = camera(bounds)
        self._camera.position, self._camera.look_at = tuple(seen["eye"]), tuple(seen["target"])
        self._camera.fov, self._camera.near, self._camera.far = float(FIELD), seen["near"], seen["far"]
        cell, wide = seen["cell"], float(np.ceil(2.0 * np.abs(bounds[:, :2]).max() / seen["cell"]) * 2.0 * seen["cell"])
        self._scene.add_grid("/grid", width=wide, height=wide, cell_size=cell, section_size=5.0 * cell)

    def show(self, now: Moment) -> None:
        """Put everything where it is."""
        for path, pose in now.poses.items():
            self._place(path, pose)
        for path, solid in self._solids.items():
            if solid.marked:
                self._handles[path].visible = path in now.marks
                if path in now.marks:
                    *colour, opacity = now.marks[path]
                    self._handles[path].color = tuple(round(255 * part) for part in colour)
                    self._handles[path].opacity = None if opacity >= 1 else opacity

    def _place(self, path: str, pose: Array) -> None:
        if path not in self._handles:  # nothing but a place for what hangs below
            self._handles[path] = self._scene.add_frame(f"/robots/{path}", show_axes=False)
        handle, scale = self._handles[path], np.linalg.norm(pose[:3, :3], axis=0)
        handle.position = pose[:3, 3]
        handle.wxyz = quat_wxyz(pose[:3, :3] / scale)
        if path in self._solids:
            handle.scale = tuple(scale.tolist())

    def pose(self, path: str) -> Array:
        """Where a path is in the frame above it (4, 4), without scale."""
        handle = self._handles[path]
        w, x, y, z = handle.wxyz
        return Transformation.from_quat_xyzw([x, y, z, w], handle.position).homogeneous


def quat_wxyz(rotation: Array) -> Array:
    """viser's order of a quaternion."""
    return np.roll(quat_xyzw_from_rotation(rotation), 1)


class ViserView:
    """A robot in a window of a browser, with sliders and a target.

    Args:
        explorer: The robot and what is drawn of it.
        port: To listen on.
        host: To listen on; viser's own default would let other machines in.

    Attributes:
        url: Where a browser finds it.
        server: viser's server, for whatever else is to be drawn.
    """

    def __init__(self, explorer: Explorer, *, port: int = 8080, host: str = LOOPBACK) -> None:
        self.explorer = explorer
        with redirect_stdout(StringIO()):  # it greets on standard output whatever `verbose` says
            self.server = viser.ViserServer(host=host, port=port, verbose=False)
        self.url = address(host, self.server.get_port())
        self.scene = ViserScene(self.server)
        self.scene.look_at(explorer.picture.bounds)
        self._lock = threading.RLock()
        self._quiet = False
        self._closed = threading.Event()
        for solid in explorer.picture.drawing.solids:
            self.scene.add(solid)
        self.sliders = {slider.name: self._slider(slider) for slider in explorer.sliders}
        self.handle: Any = self._handle() if explorer.has_tool else None
        self._text = self.server.gui.add_markdown("")
        self._show()
        if explorer.picture.course is not None:
            self._playback()

    def _slider(self, slider: Any) -> Any:
        at = float(self.explorer.q[slider.index])
        low, high = min(slider.low, at), max(slider.high, at)
        widget = self.server.gui.add_slider(slider.name, low, high, max((high - low) / 1000, 1e-4), at)
        widget.on_update(lambda _: self.turn(slider.name, float(widget.value)))
        return widget

    def _handle(self) -> Any:
        size = float(np.ptp(self.explorer.picture.bounds, axis=0).max())
        handle = self.server.scene.add_transform_controls("/target", scale=0.25 * size, depth_test=False)
        handle.on_update(lambda _: self._dragged())
        return handle

    def turn(self, name: str, value: float) -> None:
        """A slider was moved."""
        with self._lock:
            if not self._quiet:
                self.explorer.turn(name, value)
                self._show(sliders=False)

    def _dragged(self) -> None:
        w, x, y, z = self.handle.wxyz
        with self._lock:
            if not self._quiet:
                self.explorer.reach(Transformation.from_quat_xyzw([x, y, z, w], self.handle.position))
                self._show(target=False)

    def reach(self, target: Any) -> Any:
        """Put the target to a pose of the tool, and go there as far as it can be reached; the IKResult is returned."""
        self._require_open()
        with self._lock:
            result = self.explorer.reach(target)
            self._show(target=False)
            self._aim(Transformation(target))
            return result

    def _aim(self, pose: Transformation) -> None:
        """Put the axes that are dragged somewhere, unless somebody drags them."""
        self._quiet = True
        try:
            self.handle.position, self.handle.wxyz = pose.translation, quat_wxyz(pose.rotation)
        finally:
            self._quiet = False

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise InputError("the window is closed; open a new one")

    def update(self, q: Any = None) -> None:
        """Go to a configuration (nq,) or mapping; sliders and target follow."""
        self._require_open()
        with self._lock:
            self.explorer.move(q)
            self._show()

    def _show(self, *, sliders: bool = True, target: bool = True) -> None:
        self.scene.show(self.explorer.moment())
        q, self._quiet = self.explorer.q, True
        try:
            for slider in self.explorer.sliders if sliders else ():
                widget = self.sliders[slider.name]
                widget.value = min(max(round(float(q[slider.index]), DIGITS), widget.min), widget.max)
        finally:
            self._quiet = False
        if target and self.handle is not None:
            self._aim(self.explorer.tcp)
        self._text.content = "```\n" + "\n".join(self.explorer.readout().lines()) + "\n```"

    @property
    def readout(self) -> str:
        """What is shown below the sliders."""
        return str(self._text.content)

    # Playback

    def _playback(self) -> None:
        course = self.explorer.picture.course
        assert course is not None
        kept = course.thinned(SAMPLES)
        moments, end = self.explorer.picture.film(kept), float(kept.t[-1])
        gui = self.server.gui
        self.clock = gui.add_slider("time [s]", 0.0, max(end, 1e-3), max(end / 1000, 1e-4), 0.0)
        self.playing = gui.add_checkbox("play", False)
        self.speed = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)

        def seek(_: Any = None) -> None:
            with self._lock:
                k = min(int(np.searchsorted(kept.t, self.clock.value)), len(moments) - 1)
                self.explorer.move(kept.q[k])
                self._show()
                self.scene.show(moments[k])

        self.clock.on_update(seek)
        threading.Thread(target=self._run, args=(end,), name="knuckle-live", daemon=True).start()

    def _run(self, end: float) -> None:
        last = time.monotonic()
        while not self._closed.wait(0.03):
            now = time.monotonic()
            if self.playing.value:
                ahead = self.clock.value + (now - last) * self.speed.value
                self.clock.value = 0.0 if ahead > end else ahead
            last = now

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            with redirect_stdout(StringIO()):
                self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def live(robot: Any, *, q: Any = None, port: int = 8080, host: str = LOOPBACK, **options: Any) -> ViserView:
    """A live window for a robot, with sliders, a target to drag, and playback of a trajectory.

    Args:
        robot: The robot; it is not moved.
        q: Where to start; the stored configuration by default.
        port: To listen on, or the next free one above; 0 takes any.
        host: To listen on.
        **options: What is drawn, see `knuckle.view.show`: task, frames, layers, trajectory, ...
    """
    explorer = Explorer(robot, q, **options)
    with listener(host, port, tries=100) as free:  # viser itself would wait for ever for a port it cannot have
        found = free.getsockname()[1]
    return ViserView(explorer, port=found, host=host)
