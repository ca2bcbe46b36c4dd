"""xacro files as plain URDF, with packages found without ROS."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import Any

from .description_source import LARGEST_FILE, Source, is_text, read_source
from .errors import DescriptionError, InputError, InputTypeError, MissingDependencyError, unknown_name
from .findings import refusal
from .mesh_search import PackageSearch
from .xml_tree import XmlTree

_alone = threading.RLock()
"""xacro keeps the file it is in, and here the way to find packages, in variables of its module."""


def is_xacro(description: Any, arguments: Any) -> bool:
    """Whether a description is to be expanded: a file called *.xacro, or one that is given arguments."""
    if arguments is not None and not isinstance(arguments, Mapping):
        raise InputTypeError(f"xacro_args must map names to values, got {type(arguments).__name__}")
    if is_text(description):
        if arguments is not None:
            raise InputError("xacro_args go with a file; expand XML text yourself, or write it to a file")
        return False
    return arguments is not None or (
        isinstance(description, str | PathLike) and str(fspath(description)).lower().endswith(".xacro")
    )


def expanded(source: Source, search: PackageSearch, arguments: Mapping[str, Any] | None) -> Source:
    """The URDF that a xacro file describes.

    A xacro file is a program that may read any file; expand only what you trust.

    Args:
        source: The file.
        search: Where `$(find package)` looks.
        arguments: Values by name of `<xacro:arg>`; numbers and truth values are written as xacro reads them.

    Raises:
        DescriptionError: if xacro refuses it, with its reason and the files it was in.
        MissingDependencyError: if xacro is not installed.
    """
    try:
        import xacro
    except ImportError:
        raise MissingDependencyError("reading xacro needs the package xacro: pip install 'knuckle[xacro]'") from None
    mappings = {str(name): _written(name, value) for name, value in (arguments or {}).items()}
    XmlTree(source.data, source.name)  # xacro's own parser would expand entities
    try:
        known: set[str] = set()
        with _alone, _without_ros(xacro, search, known):
            document = xacro.process_file(source.name, mappings=mappings)
            text = document.toprettyxml(indent="  ")
    except DescriptionError:
        raise
    except RecursionError:
        raise refusal("xacro-failed", source.name, "a macro or file includes itself without end") from None
    except Exception as error:  # xacro evaluates expressions of the file, which may raise anything
        raise refusal("xacro-failed", source.name, _reason(error, xacro)) from None
    unknown = next((name for name in mappings if name not in known), None)
    if unknown is not None:
        raise unknown_name("xacro argument", unknown, sorted(known))
    data = text.encode()
    if len(data) > LARGEST_FILE:
        raise refusal("file-too-large", source.name, f"expands to more than {LARGEST_FILE // 2**20} MB")
    return Source(f"{source.name} (expanded)", data, source.folder)


def _written(name: Any, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float | PathLike):
        raise InputTypeError(f"xacro_args: {name!r} must be a string, number or truth value, got {value!r:.60}")
    return str(value)


def _reason(error: Exception, xacro: ModuleType) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    inside = [str(file) for file in xacro.filestack or [] if file is not None]
    message = " ".join(lines) or type(error).__name__
    line = _line_of(inside[-1], message) if inside else 0
    place = f" (in {inside[-1]}{f', line {line}' if line else ''})" if len(inside) > 1 or line else ""
    return f"xacro: {message}"[:400] + place


def _line_of(file: str, message: str) -> int:
    """The first line of a file that holds what a message quotes or names, 0 if none does; xacro itself knows none."""
    words = [word for word in re.findall(r"'([^']+)'|(xacro:\w+)", message)]
    text = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    for word in filter(None, (part for pair in words for part in pair)):
        at = next((n for n, line in enumerate(text, start=1) if word in line), 0)
        if at:
            return at
    return 0


@contextmanager
def _without_ros(xacro: ModuleType, search: PackageSearch, known: set[str]) -> Iterator[None]:
    """xacro with packages found here, its messages kept and every file it includes checked first.

    Names of arguments that the files declare are put in `known`.
    """
    from xacro import color, substitution_args

    def find(name: str) -> str:
        folder = search.package(name)
        if folder is None:
            raise substitution_args.SubstitutionException(
                f"package {name!r} was not found; searched {search.searched()}; name its folder in package_dirs"
            )
        return str(folder)

    def parse(text: Any, filename: Any = None) -> Any:
        if text is None and filename is not None and Path(filename).exists():
            data = read_source(Path(filename)).data
            tree = XmlTree(data, str(filename))  # included files are checked as well
            known.update(arg.get("name", "") for arg in tree.root.iter() if arg.tag.partition(":")[2] == "arg")
            text = BytesIO(data)  # xacro would read them in the encoding of the terminal
        return parse_as_before(text, filename)

    def quiet(*_: Any, **__: Any) -> None:
        """In place of what xacro prints."""

    table: Any = substitution_args._eval_dict
    places: list[tuple[Any, str, Any]] = [(xacro, "parse", parse), (substitution_args, "_eval_find", find)]
    places += [(module, "print", quiet) for module in (xacro, color)]  # found before the built-in function
    parse_as_before = xacro.parse
    before = [(module, name, getattr(module, name, None)) for module, name, _ in places]
    table_before = table["find"]
    for module, name, function in places:
        setattr(module, name, function)
    table["find"] = find
    try:
        yield
    finally:
        table["find"] = table_before
        for module, name, function in before:
            if function is None:
                delattr(module, name)
            else:
                setattr(module, name, function)
