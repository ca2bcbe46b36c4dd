"""What every tolerance is: a set of deviations, that can be asked, intersected and written down."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .components import components, product, rotate, split
from .errors import InputError, InputTypeError, unknown_name
from .transformation import TransformationLike, as_transformation

_ROUNDING = 1e-12
_KINDS: dict[str, type[Tolerance]] = {}
set_field = object.__setattr__
"""Sets a field of a frozen value while it is being made."""


class Tolerance(abc.ABC):
    """A set of deviations that are good enough."""

    __slots__: tuple[str, ...] = ()
    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Make the kind known to `from_dict`."""
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @abc.abstractmethod
    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        """Largest amount by which position p (3) and rotation r (9, row by row) of Delta pass a bound; < 0 inside."""

    @property
    @abc.abstractmethod
    def position_radius(self) -> float:
        """Largest r [m] such that every |p| <= r is inside: inf if position is free, 0 if p = 0 is not inside."""

    @property
    @abc.abstractmethod
    def rotation_radius(self) -> float:
        """Largest r [rad] such that every angle <= r is inside: inf if rotation is free, 0 if angle 0 is not inside."""

    def violation(self, desired: TransformationLike, actual: TransformationLike) -> float:
        """By how much the worst bound is passed, in that bound's unit [m or rad]: 0 inside, inf for NaN."""
        p, r = _deviation(desired, actual)
        if not math.isfinite(sum(p) + sum(r)):
            return math.inf
        excess = self._excess(p, r)
        return 0.0 if excess <= _ROUNDING else excess

    def contains(self, desired: TransformationLike, actual: TransformationLike) -> bool:
        """Whether the actual pose is good enough."""
        return self.violation(desired, actual) == 0.0

    def _parts(self) -> tuple[Tolerance, ...]:
        return (self,)

    def __add__(self, other: Tolerance) -> Composed:
        """What lies in both: a new tolerance."""
        return Composed((self, other)) if isinstance(other, Tolerance) else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Strings, numbers, lists and None, fit for JSON; `from_dict` reads them."""
        return {"kind": self.kind, **{name: _plain(getattr(self, name)) for name in self.__slots__}}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tolerance:
        """The tolerance that `to_dict` wrote.

        Raises:
            InputError: if the kind is unknown or its fields are not those of the kind.
        """
        fields = mapping_of(data, "tolerance")
        kind = fields.pop("kind", None)
        cls = _KINDS.get(str(kind))
        if cls is None:
            raise unknown_name("tolerance kind", kind, _KINDS)
        require_fields(fields, cls.__slots__, f"tolerance {kind!r}")
        if cls is Composed:
            if not isinstance(fields["parts"], list | tuple):
                raise InputTypeError(f"parts must be a list of tolerances, got {type(fields['parts']).__name__}")
            return Composed([Tolerance.from_dict(part) for part in fields["parts"]])
        return cls(**fields)


@dataclass(frozen=True, slots=True, init=False)
class Composed(Tolerance):
    """What lies in all parts; no parts allow everything."""

    parts: tuple[Tolerance, ...]
    kind: ClassVar[str] = "composed"

    def __init__(self, parts: Iterable[Tolerance]) -> None:
        """Intersect tolerances; composed ones among them are taken apart."""
        if not isinstance(parts, Iterable):
            raise InputTypeError(f"parts must be tolerances, got {type(parts).__name__}")
        parts = tuple(parts)
        for k, part in enumerate(parts):
            if not isinstance(part, Tolerance):
                raise InputTypeError(f"parts[{k}] must be a Tolerance, got {type(part).__name__}")
        set_field(self, "parts", tuple(leaf for part in parts for leaf in part._parts()))

    def _parts(self) -> tuple[Tolerance, ...]:
        return self.parts

    def _excess(self, p: Sequence[float], r: Sequence[float]) -> float:
        return max((part._excess(p, r) for part in self.parts), default=-math.inf)

    @property
    def position_radius(self) -> float:
        """The smallest of its parts [m]."""
        return min((part.position_radius for part in self.parts), default=math.inf)

    @property
    def rotation_radius(self) -> float:
        """The smallest of its parts [rad]."""
        return min((part.rotation_radius for part in self.parts), default=math.inf)


def _deviation(desired: TransformationLike, actual: TransformationLike) -> tuple[list[float], list[float]]:
    """Position and rotation components of T_desired^-1 T_actual; exactly none for equal poses."""
    r_des, p_des = split(components(as_transformation(desired, "desired")._matrix, (4, 4), "desired"))
    r_act, p_act = split(components(as_transformation(actual, "actual")._matrix, (4, 4), "actual"))
    back = [*r_des[0::3], *r_des[1::3], *r_des[2::3]]
    offset = p_act[0] - p_des[0], p_act[1] - p_des[1], p_act[2] - p_des[2]
    return rotate(back, offset), product(back, r_act)


def _plain(value: Any) -> Any:
    """JSON has no infinity: an open side is None."""
    if isinstance(value, Tolerance):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def mapping_of(data: Any, name: str) -> dict[str, Any]:
    """A copy of a mapping."""
    if not isinstance(data, Mapping):
        raise InputTypeError(f"{name} must be a mapping as written by to_dict, got {type(data).__name__}")
    return dict(data)


def require_fields(fields: Mapping[str, Any], known: Sequence[str], name: str) -> None:
    """Refuse a mapping with other keys than the known ones."""
    if set(fields) != set(known):
        raise InputError(f"{name} needs the fields {', '.join(known)}; got {', '.join(map(str, fields)) or 'none'}")
