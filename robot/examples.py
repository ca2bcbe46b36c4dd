"""Robots that come with the toolkit, and those of the package example-robot-data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .errors import InputTypeError, MissingDependencyError, unknown_name

SAMPLES = Path(__file__).resolve().parents[1] / "urdf_samples"
_PREFERRED = {  # short names of robots of which the package has several files
    "alex": "alex_nub_hands",
    "anymal_b": "anymal_b_simple/anymal",
    "anymal_c": "anymal_c_simple/anymal",
    "g1": "g1_29dof_rev_1_0",
    "hyq": "hyq_no_sensors",
    "talos": "talos_reduced",
    "ur3": "ur3_robot",
    "ur5": "ur5_robot",
    "ur10": "ur10_robot",
}


@dataclass(frozen=True, slots=True)
class Example:
    """Files of a robot."""

    urdf: Path
    package_dirs: tuple[Path, ...] = ()
    srdf: Path | None = None


def robots_folder() -> Path | None:
    """Folder of the robots of example-robot-data, None if it is not installed."""
    try:
        place = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except PackageNotFoundError:
        return None
    folder = Path(str(place))
    return folder if folder.is_dir() else None


def example(name: str) -> Example:
    """The files of a robot by its name.

    Raises:
        UnknownNameError: if there is none, with close names.
        MissingDependencyError: if there is none here, and example-robot-data is not installed.
    """
    if not isinstance(name, str):
        raise InputTypeError(f"name must be the name of a robot, got {type(name).__name__}")
    samples = {path.stem: Example(path) for path in sorted(SAMPLES.glob("*.urdf"))}
    if name in samples:
        return samples[name]
    folder = robots_folder()
    if folder is None:
        raise MissingDependencyError(
            f"no sample robot named {name!r} (there are {', '.join(samples)}); those of example-robot-data are not "
            "installed: pip install 'knuckle[robots]'"
        )
    robots = _robots(folder)
    if name not in robots:
        raise unknown_name("example robot", name, [*samples, *robots])
    return robots[name]


def example_names() -> list[str]:
    """Names that `example` knows."""
    folder = robots_folder()
    return [*sorted(path.stem for path in SAMPLES.glob("*.urdf")), *(_robots(folder) if folder else ())]


@cache
def _robots(folder: Path) -> dict[str, Example]:
    """Robots by the names of their files, with that of the robot before it where a file has no name of its own."""
    files = sorted(folder.rglob("*.urdf"))
    stems = [file.stem for file in files]
    found = {}
    for file in files:
        robot = file.relative_to(folder).parts[0].removesuffix("_description").removesuffix("_data")
        made = Example(file, (folder.parent, folder), _srdf(folder / file.relative_to(folder).parts[0], file.stem))
        found[file.stem if stems.count(file.stem) == 1 else f"{robot}/{file.stem}"] = made
        if sum(other.is_relative_to(folder / file.relative_to(folder).parts[0]) for other in files) == 1:
            found.setdefault(robot, made)
    return found | {short: found[full] for short, full in _PREFERRED.items() if full in found}


def _srdf(robot: Path, stem: str) -> Path | None:
    """The SRDF that belongs to a file: of its name, or of the name without what tells variants apart."""
    for name in dict.fromkeys((stem, stem.removesuffix("_robot"), stem.removesuffix("_no_sensors"))):
        file = robot / "srdf" / f"{name}.srdf"
        if file.is_file():
            return file
    return None
