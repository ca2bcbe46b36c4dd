"""Attributes that users look for on a robot and find elsewhere."""

from __future__ import annotations

_SCRATCH = {"data": "model", "collision_data": "collision", "visual_data": "visual"}
_ELSEWHERE = {
    "solve_batch": "knuckle.ik.solve_batch(robot, poses)",
    "solve_all": "knuckle.ik.solve_all(robot, pose)",
    "track": "knuckle.ik.track(robot, poses)",
    "is_collision_free": "has_self_collision(q) and has_collisions(task, q=q)",
    **dict.fromkeys(("show", "plot", "display", "draw", "view", "render"), "robot.visualize() and robot.to_html(path)"),
    "add_obstacle": "Task([obstacle]), which queries and ik take as task=",
}


def absent(kind: str, name: str) -> AttributeError:
    """The error for an attribute that a robot does not have, with the place where its matter is found."""
    if name in _SCRATCH:
        return AttributeError(
            f"{kind} has no {name}: scratch memory is private, one per thread; "
            f"make your own with robot.{_SCRATCH[name]}.createData()"
        )
    if name in _ELSEWHERE:
        return AttributeError(f"{kind} has no {name}; see {_ELSEWHERE[name]}")
    return AttributeError(f"{kind!r} object has no attribute {name!r}")
