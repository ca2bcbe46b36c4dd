"""The surfaces of a robot on Pinocchio's geometry."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from . import kinematics
from .appearance import known_layer
from .arrays import Array
from .pin_lanes import PinLanes
from .surfaces import Surface, surface_poses, surfaces_of


class PinAppearance(PinLanes):
    """What Pinocchio's geometry models look like."""

    def _layer(self, layer: str) -> pin.GeometryModel:
        known_layer(layer)
        self._commit()
        return self._visual if layer == "visual" else self._collision

    def surfaces(self, layer: str = "visual") -> tuple[Surface, ...]:
        geometry = self._layer(layer)
        return surfaces_of(self._model, geometry)

    def surface_poses(self, q: Any = None, layer: str = "visual") -> Array:
        geometry, q = self._layer(layer), self._single(q)
        every = list(range(self._model.njoints))
        joints = kinematics.joint_poses(self._model, self._data(), self._coordinates.to_pinocchio(q), every)
        return surface_poses(geometry, joints)

    def surface_joints(self, layer: str = "visual") -> tuple[str, ...]:
        geometry = self._layer(layer)
        return tuple(str(self._model.names[thing.parentJoint]) for thing in geometry.geometryObjects)
