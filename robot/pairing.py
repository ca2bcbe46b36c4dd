"""Which geometries added to a robot are checked against which others."""

from __future__ import annotations

from collections.abc import Collection

import pinocchio as pin

from .arrays import Array


def adjacent(model: pin.Model, first: int, second: int) -> bool:
    """Whether two joints are the same, or parent and child: what they carry is expected to touch."""
    if first == second:
        return True
    return bool((first and model.parents[first] == second) or (second and model.parents[second] == first))


def add_pairs(model: pin.Model, collision: pin.GeometryModel, names: Collection[str]) -> None:
    """Pair the named geometries with all others but those on the same, the parent's and the child's joints."""
    things = list(collision.geometryObjects)
    fresh = [index for index, thing in enumerate(things) if thing.name in names]
    for second in fresh:
        for first, other in enumerate(things):
            if first == second or (first > second and first in fresh):
                continue
            pair = pin.CollisionPair(min(first, second), max(first, second))
            if not adjacent(model, other.parentJoint, things[second].parentJoint):
                if not collision.existCollisionPair(pair):
                    collision.addCollisionPair(pair)


def remove_touching(model: pin.Model, collision: pin.GeometryModel, names: Collection[str], q_pin: Array) -> None:
    """Remove the named geometries' pairs that are in contact at a configuration of the model."""
    data, scratch = model.createData(), collision.createData()
    pin.updateGeometryPlacements(model, data, collision, scratch, q_pin)
    objects = collision.geometryObjects
    touching = []
    for index, pair in enumerate(collision.collisionPairs):
        ours = objects[pair.first].name in names or objects[pair.second].name in names
        if ours and pin.computeCollision(collision, scratch, index):
            touching.append(pin.CollisionPair(pair.first, pair.second))
    for pair in touching:
        collision.removeCollisionPair(pair)
