"""Which geometries added to a robot are checked against which others."""

from __future__ import annotations

from collections.abc import Collection

import pinocchio as pin

from .collision_pairs import ADJACENT, Pair, _body_frame, _parent_link, default_pairs, pairs_of, set_pairs


def add_pairs(model: pin.Model, collision: pin.GeometryModel, names: Collection[str]) -> dict[Pair, str]:
    """Pair the named geometries with all others, as at load; the pairs left out, with the reason."""
    titles = [thing.name for thing in collision.geometryObjects]
    fresh = {index for index, title in enumerate(titles) if title in names}
    kept, excluded = default_pairs(model, collision)
    for first, second in kept:
        pair = pin.CollisionPair(first, second)
        if (first in fresh or second in fresh) and not collision.existCollisionPair(pair):
            collision.addCollisionPair(pair)
    return {pair: reason for pair, reason in excluded.items() if pair[0] in names or pair[1] in names}


def part_neighbours(
    model: pin.Model, collision: pin.GeometryModel, names: Collection[str], frame: int
) -> dict[Pair, str]:
    """Take out the pairs of the named geometries with the links next to the one they are fixed to, as it has none.

    Args:
        model: Pinocchio's model.
        collision: Its geometry, changed in place.
        names: Geometries of an attached body.
        frame: Frame it is fixed to.
    """
    joint, line = model.frames[frame].parentJoint, [_body_frame(model, frame)]
    while True:  # up the links that are fixed to each other, to the one that the joint carries
        up = _parent_link(model, line[-1])
        if not up or model.frames[up].parentJoint != joint:
            break
        line.append(up)
    things, kept, excluded = collision.geometryObjects, [], {}
    for i, j in pairs_of(collision):
        first, second = things[i], things[j]
        other = first if second.name in names else second
        beside = _body_frame(model, other.parentFrame) == up or _parent_link(model, other.parentFrame) in line
        if beside and {first.name, second.name} & set(names):
            excluded[(first.name, second.name)] = ADJACENT
        else:
            kept.append((i, j))
    set_pairs(collision, kept)
    return excluded
