"""What a robot looks like, and the short way to a picture of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array
from .dynamic_queries import DynamicQueries
from .errors import InputError, unknown_name

LAYERS = ("visual", "collision")


class Appearance(DynamicQueries):
    """Drawn as a skeleton of its joints, unless a backend knows surfaces."""

    def surfaces(self, layer: str = "visual") -> tuple[Any, ...]:
        """What is seen of each geometry, see `robot.surfaces.Surface`; none if the robot has no geometry.

        Args:
            layer: "visual" or "collision"; the latter are the very shapes that collision checks see.
        """
        known_layer(layer)
        return ()

    def surface_poses(self, q: Any = None, layer: str = "visual") -> Array:
        """Poses of the `surfaces` in the world (n, 4, 4), in their order."""
        known_layer(layer)
        self._single(q)
        return np.zeros((0, 4, 4))

    def surface_joints(self, layer: str = "visual") -> tuple[str, ...]:
        """The joint that carries each of the `surfaces`; "universe" where nothing moves it."""
        known_layer(layer)
        return ()

    def visualize(
        self,
        visualizer: Any = None,
        coordinate_systems: str | None = None,
        update_collision_visuals: bool = True,
        **options: Any,
    ) -> Any:
        """Show the robot in a browser, see `knuckle.view.show`.

        Args:
            visualizer: A view that is open already; None opens a new one.
            coordinate_systems: None, "tcp", "joints" or "full": which frames are drawn; `frames` means the same.
            update_collision_visuals: Have the collision shapes at hand as well, to be switched on in the page.
            **options: q, task, layers, contacts, ghosts, trajectory, target, port, open_browser, ...; all optional.

        Returns:
            The view; its `update(q)` moves the robot there, `play` a trajectory, `to_html` keeps it.
        """
        from .. import view

        if coordinate_systems is not None and "frames" in options:
            raise InputError("frames and coordinate_systems mean the same; give one of the two")
        same = {"frames": coordinate_systems, "with_collision": update_collision_visuals}
        return view.show(self, visualizer, **(same | options))

    def visualize_self_collisions(self, visualizer: Any = None, **options: Any) -> Any:
        """Show the robot, each pair of shapes in contact in a colour of its own, with lines between the points.

        Only pairs that are checked count (`active_pairs`). Arguments as in `visualize`.
        """
        from .. import view

        return view.show(self, visualizer, **({"contacts": True} | options))

    def to_html(self, path: Any = None, **options: Any) -> Any:
        """A page that shows the robot without server or network, see `knuckle.view.to_html`.

        Args:
            path: File to write; None returns the page as text.
            **options: As in `visualize`; with `trajectory=` the page has a time slider.

        Returns:
            The path written, or the text.
        """
        from .. import view

        return view.to_html(self, path, **options)


def known_layer(layer: Any) -> None:
    """Refuses a layer that does not exist."""
    if layer not in LAYERS:
        raise unknown_name("layer", layer, LAYERS)
