"""COLLADA files for tests: cubes of several materials, in one mesh or in nodes beside and inside each other."""

from __future__ import annotations

import itertools

import numpy as np

CORNERS = np.array(list(itertools.product([-0.1, 0.1], repeat=3)))
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
FACES = QUADS[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
COLOURS = {"red": (0.8, 0.1, 0.1), "green": (0.1, 0.7, 0.1), "blue": (0.1, 0.2, 0.9)}
AT = {"red": [0.0, 0.0, 0.0], "blue": [0.6, 0.0, 0.0], "green": [0.0, 0.5, 0.3]}
"""Centres of the cubes."""
_PARAMS = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")


def numbers(values: object) -> str:
    return " ".join(map(repr, np.ravel(values).tolist()))


def primitive(mesh: str, symbol: str, first: int, kind: str) -> str:
    source = f'<input semantic="VERTEX" source="#{mesh}-vertices" offset="0"/>'
    if kind == "polylist":
        quads = f"<vcount>{'4 ' * 6}</vcount><p>{numbers(QUADS + first)}</p>"
        return f'<polylist material="{symbol}" count="6">{source}{quads}</polylist>'
    nothing = f" {first} {first} {first + 1}"  # no area: readers leave it out
    return f'<triangles material="{symbol}" count="13">{source}<p>{numbers(FACES + first)}{nothing}</p></triangles>'


def geometry(name: str, centres: list[list[float]], kind: str) -> str:
    """Cubes, each of a material of its own, as one geometry."""
    points = np.concatenate([CORNERS + np.array(centre) for centre in centres])
    array = f'<float_array id="{name}-array" count="{points.size}">{numbers(points)}</float_array>'
    accessor = f'<accessor source="#{name}-array" count="{len(points)}" stride="3">{_PARAMS}</accessor>'
    source = f'<source id="{name}-source">{array}<technique_common>{accessor}</technique_common></source>'
    vertices = f'<vertices id="{name}-vertices"><input semantic="POSITION" source="#{name}-source"/></vertices>'
    listed = "".join(primitive(name, f"m{k}", 8 * k, kind) for k in range(len(centres)))
    return f'<geometry id="{name}"><mesh>{source}{vertices}{listed}</mesh></geometry>'


def instance(name: str, colours: list[str]) -> str:
    bound = "".join(f'<instance_material symbol="m{k}" target="#{colour}"/>' for k, colour in enumerate(colours))
    common = f"<bind_material><technique_common>{bound}</technique_common></bind_material>"
    return f'<instance_geometry url="#{name}">{common}</instance_geometry>'


def node(inside: str, shift: object) -> str:
    return f"<node><translate>{numbers(shift)}</translate>{inside}</node>"


def document(geometries: str, nodes: str) -> str:
    effects = "".join(
        f'<effect id="{name}-effect"><profile_COMMON><technique sid="t"><phong><diffuse>'
        f"<color>{numbers([*colour, 1.0])}</color></diffuse></phong></technique></profile_COMMON></effect>"
        for name, colour in COLOURS.items()
    )
    materials = "".join(f'<material id="{name}"><instance_effect url="#{name}-effect"/></material>' for name in COLOURS)
    return (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        '<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>'
        f"<library_effects>{effects}</library_effects><library_materials>{materials}</library_materials>"
        f"<library_geometries>{geometries}</library_geometries>"
        f'<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )


def scenes(kind: str) -> dict[str, str]:
    """The same three cubes, "triangles" or "polylist", in all arrangements."""
    apart = "".join(geometry(name, [[0.0] * 3], kind) for name in AT)
    red, blue, green = (instance(name, [name]) for name in AT)
    inner = node(blue + node(green, [-0.6, 0.5, 0.3]), AT["blue"])
    return {
        f"materials of one mesh, {kind}": document(
            geometry("all", list(AT.values()), kind), node(instance("all", list(AT)), [0.0] * 3)
        ),
        f"nodes in nodes, {kind}": document(apart, node(red + inner, [0.0] * 3)),
        f"nodes in nodes, second, {kind}": document(apart, node(red, AT["red"]) + node(inner, [0.0] * 3)),
        f"nodes beside each other, {kind}": document(
            apart, "".join(node(one, at) for one, at in zip((red, blue, green), AT.values(), strict=True))
        ),
    }


SCENES = scenes("triangles") | scenes("polylist")
