"""What an SRDF says about one model: pairs that are not checked, the tool, the home configuration."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import pinocchio as pin

from .errors import DescriptionError, InputTypeError
from .findings import NOTE, Finding, finding, listed
from .srdf import Srdf

_log = logging.getLogger(__name__)

HOME_STATES = ("home", "rest", "ready", "default")
"""Names of the states that are taken as home, the first that exists."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """An SRDF read for one model."""

    disabled_pairs: tuple[tuple[str, str, str], ...]
    """(link, link, reason)."""
    tcp: str | None
    """The link of the tool, if the SRDF names just one."""
    home: dict[str, Any] | None
    """Values by joint of the state called home."""
    findings: tuple[Finding, ...]


def semantics(srdf: Any, model: pin.Model, followers: Iterable[str] = ()) -> Semantics:
    """Read an SRDF for a model.

    Args:
        srdf: Path of the file, or an Srdf.
        model: Pinocchio's model.
        followers: Joints that mimic others, whose values in a state say nothing new.

    Raises:
        DescriptionError: if the file cannot be read.
    """
    if not isinstance(srdf, Srdf):
        if not isinstance(srdf, str | PathLike):
            raise InputTypeError(f"srdf must be the path of an SRDF file or an Srdf, got {type(srdf).__name__}")
        srdf = Srdf.load(srdf)
    strangers = [tag for tag in ("link", "joint") if any(part.lstrip().startswith(f"<{tag}") for part in srdf.others)]
    if strangers:
        raise DescriptionError(f"the SRDF holds a <{strangers[0]}>: is it the URDF itself?")
    links = [str(f.name) for f in model.frames if f.type == pin.FrameType.BODY]
    joints = [str(name) for name in model.names][1:]
    pairs = tuple((a, b, reason) for (a, b), reason in srdf.reasons(links).items())
    tips = [tip for tip in srdf.tips if tip in links]
    known = set(joints) - set(followers)
    name = next((n for n in HOME_STATES if any(s.name == n for s in srdf.states)), None)
    home = None if name is None else {j: v for j, v in srdf.state(name).items() if j in known}
    fixed = [str(f.name) for f in model.frames if f.type == pin.FrameType.FIXED_JOINT]
    findings = srdf.findings + srdf.unknown_names(links, [*joints, *fixed])
    tip = tips[0] if len(tips) == 1 else None
    if tip is not None:
        findings += (finding("srdf-tcp", 0, "tcp", tip, "is the tool that the SRDF names"),)
    return Semantics(pairs, tip, home or None, findings)


def report(findings: tuple[Finding, ...], source: str, *, strict: bool) -> None:
    """Log warnings in one summary, or raise them where nothing may be guessed at.

    Raises:
        DescriptionError: in strict mode, with all warnings.
    """
    wrong = [found for found in findings if found.severity != NOTE]
    if wrong:
        text = listed(source, wrong, "does not fit the robot in full")
        if strict:
            raise DescriptionError(text, findings)
        _log.warning("%s", text)
