"""The surfaces of a robot on Pinocchio's geometry."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from . import kinematics
from .appearance import LAYERS, known_layer
from .arrays import Array
from .pin_lanes import PinLanes
from .surfaces import Surface, surface_poses, surfaces_of

Drawn = tuple[tuple[Surface, ...], list[int]]


class PinAppearance(PinLanes):
    """What Pinocchio's geometry models look like."""

    _scratch: tuple[str, ...] = ("_drawn", *PinLanes._scratch)
    _drawn: tuple[int, dict[str, Drawn]] = (-1, {})

    def _layer(self, layer: str) -> pin.GeometryModel:
        known_layer(layer)
        self._commit()
        return self._visual if layer == "visual" else self._collision

    def _surfaces(self, layer: str) -> Drawn:
        """Surfaces and the numbers of their geometries; made once, triangles are many."""
        geometry = self._layer(layer)
        if self._drawn[0] != self._version:
            self._drawn = self._version, {}
        drawn = self._drawn[1]
        if layer not in drawn:
            drawn[layer] = surfaces_of(self._model, geometry, coloured=layer == LAYERS[0])
        return drawn[layer]

    def surfaces(self, layer: str = "visual") -> tuple[Surface, ...]:
        return self._surfaces(layer)[0]

    def surface_poses(self, q: Any = None, layer: str = "visual") -> Array:
        (_, numbers), q = self._surfaces(layer), self._single(q)
        every = list(range(self._model.njoints))
        joints = kinematics.joint_poses(self._model, self._data(), self._coordinates.to_pinocchio(q), every)
        return surface_poses(self._layer(layer), joints, numbers)

    def surface_joints(self, layer: str = "visual") -> tuple[str, ...]:
        things = self._layer(layer).geometryObjects
        return tuple(str(self._model.names[things[k].parentJoint]) for k in self._surfaces(layer)[1])
