"""Which format a description has."""

from __future__ import annotations

from typing import Any

from .description_source import read_source
from .diagnosis import OTHER_FORMATS
from .findings import refusal
from .xacro_reading import is_xacro
from .xml_tree import XmlTree


def format_of(path: Any, xacro_args: Any = None) -> str:
    """One of "urdf", "xacro" and "mjcf", by what is in the file.

    Raises:
        DescriptionError: if it cannot be read, or is of a format that cannot be.
    """
    if is_xacro(path, xacro_args):
        return "xacro"
    source = read_source(path)
    root = XmlTree(source.data, source.name).root
    if root.tag == "sdf":
        problem = "this is an SDF file, which Pinocchio reads only where it was built with sdformat; this one was not"
        raise refusal("format-unsupported", source.name, problem)
    if root.tag == "robot" and root.find("link") is None and root.find("group") is not None:
        raise refusal("format-other", source.name, "this is an SRDF, which belongs to a robot: pass it as srdf")
    return "mjcf" if root.tag in OTHER_FORMATS else "urdf"
