"""Bounds of numbers: ranges, arcs of the circle and boxes, as a user gives them and how far a value lies outside.

None or an infinite number leaves a side open. An excess is negative inside and 0 on the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from .errors import InputError, InputTypeError
from .rotation import wrap_angle

Range: TypeAlias = tuple[float, float]
Triple: TypeAlias = tuple[float, float, float]
RangeLike: TypeAlias = float | Sequence[float | None] | None

_FULL_TURN = math.tau - 1e-9


def range_excess(value: float, bounds: Range) -> float:
    """Distance from the nearer end of a range; negative inside."""
    return max(bounds[0] - value, value - bounds[1])


def box_excess(values: Sequence[float], lower: Triple, upper: Triple) -> float:
    """Largest distance beyond a face of a box; negative inside."""
    return max(
        *(lower[0] - values[0], lower[1] - values[1], lower[2] - values[2]),
        *(values[0] - upper[0], values[1] - upper[1], values[2] - upper[2]),
    )


def is_full_turn(arc: Range) -> bool:
    """Whether an arc leaves nothing of the circle out."""
    return arc[1] - arc[0] >= _FULL_TURN


def arc_excess(angle: float, arc: Range) -> float:
    """Angle from the nearer end of an arc of the circle; negative inside."""
    if is_full_turn(arc):
        return -math.pi
    return abs(float(wrap_angle(angle - 0.5 * (arc[0] + arc[1])))) - 0.5 * (arc[1] - arc[0])


def reach_of(bounds: Range) -> float:
    """How far one may go from 0 either way."""
    return max(0.0, min(-bounds[0], bounds[1]))


def free_from_half_turn(angle: float) -> float:
    """No rotation is larger than pi."""
    return angle if angle < math.pi else math.inf


def _number(value: Any, name: str, free: float) -> float:
    if value is None:
        return free
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{name} is too large a number") from None
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} must be a number or None, got {type(value).__name__} {value!r}") from None
    if math.isnan(number):
        raise InputError(f"{name} must not be NaN; None leaves the side open")
    return number


def limit_of(value: Any, name: str) -> float:
    """One number, 0 or more; None becomes inf."""
    limit = _number(value, name, math.inf)
    if limit < 0.0:
        raise InputError(f"{name} must not be negative, got {limit:g}")
    return limit


def range_of(
    value: Any, name: str, low: float, high: float, *, one_sided: bool = False, circular: bool = False
) -> Range:
    """A range (low, high) inside what is possible; one number is the upper end, mirrored unless one-sided."""
    if value is None:
        return low, high
    if isinstance(value, Sequence) or getattr(value, "ndim", None):
        if isinstance(value, str) or len(value) != 2:
            raise InputError(f"{name} must be one number or (low, high), got {value!r}")
        start, end = _number(value[0], f"{name}[0]", low), _number(value[1], f"{name}[1]", high)
    else:
        end = limit_of(value, name)
        start = low if one_sided else -end
    if circular:
        start, end = (low if math.isinf(start) else start), (high if math.isinf(end) else end)
    elif start < low:
        raise InputError(f"{name} must not go below {low:g}, got {start:g}")
    if not start <= end:
        raise InputError(f"{name} must have low <= high, got ({start:g}, {end:g})")
    return start, end


def triple_of(value: Any, name: str, free: float) -> Triple:
    """Three numbers, or one for all three; None becomes `free`."""
    if value is None or isinstance(value, int | float):
        return (_number(value, name, free),) * 3
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 3:
        raise InputError(f"{name} must be 3 numbers, got {value!r}")
    x, y, z = (_number(entry, f"{name}[{k}]", free) for k, entry in enumerate(value))
    return x, y, z


def box_of(lower: Any, upper: Any) -> tuple[Triple, Triple]:
    """A box lower <= x <= upper (3); None leaves a side open."""
    low, high = triple_of(lower, "lower", -math.inf), triple_of(upper, "upper", math.inf)
    for k in range(3):
        if not low[k] <= high[k]:
            raise InputError(f"lower must not exceed upper, got {low[k]:g} > {high[k]:g} at index {k}")
    return low, high
