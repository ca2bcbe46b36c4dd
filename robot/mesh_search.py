"""Where the mesh files of a description are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .errors import InputError, InputTypeError


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
        found.append(path)
    return tuple(found)


def find_mesh(uri: str, beside: Path, package_dirs: tuple[Path, ...]) -> Path | None:
    """The file a mesh URI means, None if there is none.

    `package://name/rest` is looked for in the given folders, then in the description's own folder and those above, as
    `folder/name/rest`, and as `folder/rest` where the folder itself is called `name`. A relative path starts from the
    description's folder, then from the given ones.

    Args:
        uri: As written in the description.
        beside: Folder of the description.
        package_dirs: Folders given by the caller.
    """
    return next((path.resolve() for path in _places(uri, beside, package_dirs) if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name no file can have
        return False


def _places(uri: str, beside: Path, package_dirs: tuple[Path, ...]) -> Iterator[Path]:
    if uri.startswith(("package://", "model://")):
        package, _, rest = uri.split("://", 1)[1].partition("/")
        for folder in (*package_dirs, beside, *beside.parents):
            yield folder / package / rest
            if folder.name == package:
                yield folder / rest
            for above in folder.parents if folder in package_dirs else ():
                if above.name == package:
                    yield above / rest
        return
    if uri.startswith("file://"):
        uri = unquote(urlsplit(uri).path)
    for folder in (beside, *package_dirs):
        yield folder / uri
