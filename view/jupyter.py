"""Sliders in a notebook: the page is embedded in the output and moved by widget messages, wherever the kernel runs."""

from __future__ import annotations

import html
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from ..robot import MissingDependencyError, Transformation
from ..robot.arrays import whole
from .exploring import Explorer
from .html import embedded, page, scene
from .messages import moment, text

try:
    import anywidget
    import ipywidgets
    import traitlets
except ImportError as error:
    raise MissingDependencyError("sliders need ipywidgets and anywidget: pip install 'knuckle[jupyter]'") from error


_POSE = ("x", "y", "z", "roll", "pitch", "yaw")


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
        self.explorer, tall = explorer, whole(height, "height")
        title = explorer.picture.drawing.name
        self._page = page(scene(replace(explorer.picture, course=None)), title)  # a film would play over the sliders
        self.scene = SceneWidget(page=self._page, told=self._told(), height=tall)
        self._text = ipywidgets.HTML()
        self._goal: dict[str, float] = {}
        self._put: dict[Any, float] = {}  # what the program gave each slider
        self.joints = {slider.name: self._joint(slider) for slider in explorer.sliders}
        self.target = self._targets() if explorer.has_tool else {}
        columns = [_column("joints [rad or m]", self.joints)]
        if self.target:
            columns.append(_column("target of the tool", self.target))
        self._text.layout = ipywidgets.Layout(flex="1 1 26em", margin="0 0 0 1em")
        below = ipywidgets.HBox([*columns, self._text], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([self.scene, below])
        self._read()

    def _joint(self, slider: Any) -> Any:
        now = float(self.explorer.q[slider.index])
        low, high = min(slider.low, now), max(slider.high, now)
        step = (slider.high - slider.low) / 1000 or 1e-3
        return self._slider(now, low, high, step, slider.name, self._turned, slider.name, ".3f")

    def _targets(self) -> dict[str, Any]:
        pose, base = self.explorer.tcp, self.explorer.robot.placement.translation
        size = 2.0 * float(np.abs(self.explorer.picture.bounds - base).max())
        values = (*pose.translation, *np.degrees(pose.rpy))
        self._goal, found = dict(zip(_POSE, map(float, values), strict=True)), {}
        for k, name in enumerate(_POSE):
            reach, unit = (size, "m") if k < 3 else (180.0, "deg")
            label, middle = f"{name} [{unit}]", float(base[k]) if k < 3 else 0.0
            low, high, step = middle - reach, middle + reach, reach / 1000
            found[name] = self._slider(float(values[k]), low, high, step, label, self._aimed, name, ".2f")
        return found

    def _slider(
        self, value: float, low: float, high: float, step: float, label: str, moved: Any, name: str, digits: str
    ) -> Any:
        """A slider that calls `moved(name, value)` when somebody moves it.

        A browser puts what it is given on the steps of the slider and sends it back as if somebody had: whatever is
        less than half a step from what the program gave last is that echo.
        """
        widget = ipywidgets.FloatSlider(
            value=value, min=low, max=high, step=step, description=label, readout_format=digits
        )
        self._put[widget] = widget.value

        def changed(change: dict[str, Any]) -> None:
            if abs(change["new"] - self._put[widget]) > 0.5001 * step:
                self._put[widget] = change["new"]
                moved(name, change["new"])

        widget.observe(changed, "value")
        return widget

    def _turned(self, name: str, value: float) -> None:
        self.explorer.turn(name, value)
        self._set(self.target, self._pose_values())
        self._show()

    def _aimed(self, name: str, value: float) -> None:
        self._goal[name] = value  # the others as they are, not as the sliders round them
        x, y, z, roll, pitch, yaw = (self._goal[key] for key in _POSE)
        self.explorer.reach(Transformation.from_rpy(np.radians([roll, pitch, yaw]), [x, y, z]))
        self._set(self.joints, {s.name: self.explorer.q[s.index] for s in self.explorer.sliders})
        self._show()

    def _pose_values(self) -> dict[str, float]:
        if not self.target:
            return {}
        pose = self.explorer.tcp
        self._goal = dict(zip(_POSE, map(float, (*pose.translation, *np.degrees(pose.rpy))), strict=True))
        return self._goal

    def _set(self, widgets: dict[str, Any], values: dict[str, Any]) -> None:
        for name, value in values.items():
            widget = widgets[name]
            # within the range, so that what is put is what the slider holds
            self._put[widget] = min(max(float(value), widget.min), widget.max)
            widget.value = self._put[widget]

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
        lines = html.escape("\n".join(self.explorer.readout().lines()))
        self._text.value = f"<pre style='white-space: pre; line-height: 1.4'>{lines}</pre>"

    @property
    def readout(self) -> str:
        """What is shown beside the sliders."""
        return "\n".join(self.explorer.readout().lines())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widgets, and a page that stands still where nothing is live, as in an exported notebook."""
        bundle = dict(self.box._repr_mimebundle_(**kwargs))
        bundle["text/html"] = embedded(self._page, self.scene.height)
        return bundle


def _column(title: str, sliders: dict[str, Any]) -> Any:
    """Sliders under each other, as wide as they want to be: squeezed, they would hide their values."""
    return ipywidgets.VBox(
        [ipywidgets.Label(title), *sliders.values()], layout=ipywidgets.Layout(flex="0 0 auto", width="25em")
    )


def explore(robot: Any, *, q: Any = None, height: int = 480, **options: Any) -> Exploration:
    """Sliders for a robot in a notebook; the last expression of a cell shows them.

    Args:
        robot: The robot; it is not moved.
        q: Where to start; the stored configuration by default.
        height: Of the drawing, in pixels.
        **options: What is drawn, see `knuckle.view.show`: task, frames, layers, contacts, ...
    """
    return Exploration(Explorer(robot, q, **options), height)
