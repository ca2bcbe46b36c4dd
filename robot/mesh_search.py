"""Where packages and the mesh files of a description are."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .errors import InputError, InputTypeError

_DEEPEST, _MOST = 4, 4000
"""How far below a given folder packages are looked for, and in how many folders at most."""
_SCHEMES = ("package://", "model://")


def folders(package_dirs: Any) -> tuple[Path, ...]:
    """One folder or several as existing folders.

    Raises:
        InputError: naming the first that is none.
    """
    if package_dirs is None:
        return ()
    several = [package_dirs] if isinstance(package_dirs, str | PathLike) else package_dirs
    if not isinstance(several, Iterable):
        raise InputTypeError(f"package_dirs must be a folder or a list of them, got {type(package_dirs).__name__}")
    found = []
    for folder in several:
        if not isinstance(folder, str | PathLike):
            raise InputTypeError(f"package_dirs must hold paths, got {type(folder).__name__}")
        path = Path(folder)
        if not path.is_dir():
            raise InputError(f"package_dirs: {str(path)!r} is not a folder")
        found.append(path.absolute())
    return tuple(found)


def ros_folders() -> tuple[Path, ...]:
    """Existing folders that the environment names as places of packages: ROS_PACKAGE_PATH, AMENT_PREFIX_PATH."""
    ros = [Path(entry) for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if entry]
    ament = [Path(entry) / "share" for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    return tuple(folder for folder in (*ros, *ament) if folder.is_dir())


@dataclass(slots=True)
class PackageSearch:
    """Places in which the packages and meshes of one description may be.

    Attributes:
        beside: The description's own folder.
        given: Folders given by the caller.
    """

    beside: Path
    given: tuple[Path, ...] = ()
    _below: dict[Path, dict[str, list[Path]]] = field(default_factory=dict)

    def packages(self, name: str) -> Iterator[Path]:
        """Folders that may be the package of a name, the likeliest first.

        In turn: the given folders, the description's own and those above it, and the folders of the environment, as
        `folder/name` or as the folder itself where it is called so; folders above the given ones that are called so;
        folders of that name somewhere below the given ones and the environment's.
        """
        environment = ros_folders()
        for folder in (*self.given, self.beside, *self.beside.parents, *environment):
            yield folder / name
            if folder.name == name:
                yield folder
            for above in folder.parents if folder in self.given else ():
                if above.name == name:
                    yield above
        for folder in (*self.given, *environment):
            yield from self._folders_below(folder).get(name, ())

    def package(self, name: str) -> Path | None:
        """The folder of a package, None if there is none."""
        return next((folder.resolve() for folder in self.packages(name) if _is(Path.is_dir, folder)), None)

    def mesh(self, uri: str) -> Path | None:
        """The file a mesh URI means, None if there is none.

        A relative path starts from the description's folder, then from the given ones.
        """
        return next((path.resolve() for path in self._places(uri) if _is(Path.is_file, path)), None)

    def searched(self) -> str:
        """The folders in which packages and meshes were looked for, as a message names them."""
        named = (*self.given, self.beside, *ros_folders())
        return ", ".join(map(str, dict.fromkeys(named))) + f" and the folders above {self.beside}"

    def hint(self, uri: str) -> str | None:
        """What would find a mesh that was not found, None where nothing close is there."""
        if uri.startswith(("http://", "https://")):
            return "download it and name the file"
        rest = uri.split("://", 1)[1].partition("/")[2] if uri.startswith(_SCHEMES) else uri
        if not rest or rest.startswith("/") or "\0" in rest:
            return None
        for folder in (*self.given, self.beside, *self.beside.parents[:3]):
            for base in (folder, *_children(folder)):
                if _is(Path.is_file, base / rest):
                    return f"{base} has {rest}: give that folder the package's name, or link it"
                siblings = [child.name for child in _files((base / rest).parent)]
                close = difflib.get_close_matches(Path(rest).name, siblings, n=1, cutoff=0.7)
                if close and folder == base:
                    return f"did you mean {str((base / rest).parent / close[0])!r}?"
        return None

    def _places(self, uri: str) -> Iterator[Path]:
        if uri.startswith(_SCHEMES):
            name, _, rest = uri.split("://", 1)[1].partition("/")
            yield from (folder / rest for folder in self.packages(name))
            return
        if uri.startswith("file://"):
            uri = unquote(urlsplit(uri).path)
        for folder in (self.beside, *self.given):
            yield folder / uri
            if "\\" in uri:
                yield folder / uri.replace("\\", "/")

    def _folders_below(self, top: Path) -> dict[str, list[Path]]:
        """Folders below another by name, read once, breadth first and within bounds."""
        if top not in self._below:
            found: dict[str, list[Path]] = {}
            level, count = [top], 0
            for _ in range(_DEEPEST):
                level = [child for folder in level for child in _children(folder)]
                for child in level[: _MOST - count]:
                    found.setdefault(child.name, []).append(child)
                count += len(level)
                if count >= _MOST:
                    break
            self._below[top] = found
        return self._below[top]


def _is(test: Any, path: Path) -> bool:
    try:
        return bool(test(path))
    except (OSError, ValueError):  # a name no file can have
        return False


def _children(folder: Path) -> list[Path]:
    return _entries(folder, folders_only=True)


def _files(folder: Path) -> list[Path]:
    return _entries(folder, folders_only=False)


def _entries(folder: Path, *, folders_only: bool) -> list[Path]:
    """Folders or files in a folder, without hidden ones and links; empty where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            kept = [
                Path(entry.path)
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False) == folders_only
            ]
    except (OSError, ValueError):
        return []
    return sorted(kept)[:_MOST]
