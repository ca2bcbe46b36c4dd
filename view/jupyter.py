"""Sliders in a notebook: the page is embedded in the output and moved by widget messages, wherever the kernel runs."""

from __future__ import annotations

import html
from importlib.resources import files
from typing import Any

import numpy as np

from ..robot import MissingDependencyError, Transformation
from .exploring import Explorer
from .html import embedded, page, scene
from .messages import moment, text

try:
    import anywidget
    import ipywidgets
    import traitlets
except ImportError as error:
    raise MissingDependencyError("sliders need ipywidgets and anywidget: pip install 'knuckle[jupyter]'") from error


class SceneWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A drawing in the output of a cell.

    Attributes:
        page: The page, sent once.
        told: Messages to it, as JSON; the last ones are kept for outputs that open late.
        height: Of the output, in pixels.
    """

    _esm = files(__package__).joinpath("widget.js").read_text(encoding="utf-8")
    page = traitlets.Unicode("").tag(sync=True)
    told = traitlets.Unicode("[]").tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)


class Exploration:
    """A robot with sliders, shown by naming it in the last line of a cell.

    Attributes:
        explorer: The state behind it; `explorer.q` is the configuration.
        scene: The widget that draws.
        joints: A slider per coordinate, by name.
        target: A slider per number of the target's pose: x, y, z [m], roll, pitch, yaw [deg].
        box: All of them.
    """

    def __init__(self, explorer: Explorer, height: int) -> None:
        self.explorer = explorer
        title = explorer.picture.drawing.name
        self._page = page(scene(explorer.picture), title)
        self.scene = SceneWidget(page=self._page, told=self._told(), height=height)
        self._text = ipywidgets.HTML()
        self._quiet = False
        self.joints = {slider.name: self._joint(slider) for slider in explorer.sliders}
        self.target = self._targets() if explorer.has_tool else {}
        columns = [ipywidgets.VBox([ipywidgets.Label("joints [rad or m]"), *self.joints.values()])]
        if self.target:
            columns.append(ipywidgets.VBox([ipywidgets.Label("target of the tool"), *self.target.values()]))
        self.box = ipywidgets.VBox([self.scene, ipywidgets.HBox([*columns, self._text])])
        self._read()

    def _joint(self, slider: Any) -> Any:
        widget = ipywidgets.FloatSlider(
            value=float(self.explorer.q[slider.index]),
            min=min(slider.low, float(self.explorer.q[slider.index])),
            max=max(slider.high, float(self.explorer.q[slider.index])),
            step=(slider.high - slider.low) / 1000 or 1e-3,
            description=slider.name,
            readout_format=".3f",
        )
        widget.observe(lambda change: self._turned(slider.name, change["new"]), "value")
        return widget

    def _targets(self) -> dict[str, Any]:
        pose, size = self.explorer.tcp, 2.0 * float(np.abs(self.explorer.picture.bounds).max())
        values = (*pose.translation, *np.degrees(pose.rpy))
        found = {}
        for k, name in enumerate(("x", "y", "z", "roll", "pitch", "yaw")):
            reach, unit = (size, "m") if k < 3 else (180.0, "deg")
            found[name] = ipywidgets.FloatSlider(
                value=values[k], min=-reach, max=reach, step=reach / 1000, description=f"{name} [{unit}]"
            )
            found[name].observe(lambda _: self._aimed(), "value")
        return found

    # A slider that is moved by the program must not answer: `_quiet` is on meanwhile.

    def _turned(self, name: str, value: float) -> None:
        if self._quiet:
            return
        self.explorer.turn(name, value)
        self._set(self.target, self._pose_values())
        self._show()

    def _aimed(self) -> None:
        if self._quiet:
            return
        x, y, z, roll, pitch, yaw = (self.target[name].value for name in self.target)
        self.explorer.reach(Transformation.from_rpy(np.radians([roll, pitch, yaw]), [x, y, z]))
        self._set(self.joints, {s.name: self.explorer.q[s.index] for s in self.explorer.sliders})
        self._show()

    def _pose_values(self) -> dict[str, float]:
        if not self.target:
            return {}
        pose = self.explorer.tcp
        return dict(zip(self.target, (*pose.translation, *np.degrees(pose.rpy)), strict=True))

    def _set(self, widgets: dict[str, Any], values: dict[str, Any]) -> None:
        self._quiet = True
        try:
            for name, value in values.items():
                widgets[name].value = float(value)
        finally:
            self._quiet = False

    def move(self, q: Any) -> None:
        """Go to a configuration (nq,) or mapping; the sliders follow."""
        self.explorer.move(q)
        self._set(self.joints, {s.name: self.explorer.q[s.index] for s in self.explorer.sliders})
        self._set(self.target, self._pose_values())
        self._show()

    def _told(self) -> str:
        return text([moment(self.explorer.moment())])

    def _show(self) -> None:
        self.scene.told = self._told()
        self._read()

    def _read(self) -> None:
        self._text.value = f"<pre>{html.escape(chr(10).join(self.explorer.readout().lines()))}</pre>"

    @property
    def readout(self) -> str:
        """What is shown beside the sliders."""
        return "\n".join(self.explorer.readout().lines())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widgets, and a page that stands still where nothing is live, as in an exported notebook."""
        bundle = dict(self.box._repr_mimebundle_(**kwargs))
        bundle["text/html"] = embedded(self._page, self.scene.height)
        return bundle


def explore(robot: Any, *, q: Any = None, height: int = 480, **options: Any) -> Exploration:
    """Sliders for a robot in a notebook; the last expression of a cell shows them.

    Args:
        robot: The robot; it is not moved.
        q: Where to start; the stored configuration by default.
        height: Of the drawing, in pixels.
        **options: What is drawn, see `knuckle.view.show`: task, frames, layers, contacts, ...
    """
    return Exploration(Explorer(robot, q, **options), height)
