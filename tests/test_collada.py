"""COLLADA meshes of several materials and nodes: every triangle at its own vertices, every part in its own colour."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from knuckle import Obstacle, PinBody, PinRobot, Task, Transformation
from knuckle.robot.collada_scene import primitives
from knuckle.robot.collada_triangles import repaired
from knuckle.robot.mesh_shapes import Mesh

from . import brute_force
from .collada_writing import AT, COLOURS, SCENES, document, geometry, instance, node


def solids(vertices: np.ndarray, triangles: np.ndarray) -> set[tuple[float, ...]]:
    """Lowest and highest corner of everything that hangs together; each has to be a closed cube."""
    found = set()
    groups: list[set[tuple[float, ...]]] = []
    for triangle in np.round(vertices[triangles], 5):
        corners = (
            {tuple(row + 0.0) for row in triangle.tolist()}
            if False
            else {tuple((row + 0.0).tolist()) for row in triangle}
        )
        touching = [group for group in groups if group & corners]
        groups = [group for group in groups if not group & corners] + [corners.union(*touching)]
    for group in groups:
        points = np.array(sorted(group))
        assert len(points) == 8
        found.add((*points.min(axis=0).round(3), *points.max(axis=0).round(3)))
    return found


EXPECTED = {(*np.round(np.array(at) - 0.1, 3), *np.round(np.array(at) + 0.1, 3)) for at in AT.values()}


@pytest.fixture(params=SCENES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "cubes.dae"
    path.write_text(SCENES[request.param])
    return path


def robot_of(file: Path, layer: str) -> PinRobot:
    shape = f'<{layer}><geometry><mesh filename="{file.name}"/></geometry></{layer}>'
    urdf = file.with_name("robot.urdf")
    urdf.write_text(f'<robot name="r"><link name="base">{shape}</link></robot>')
    return PinRobot.from_urdf(urdf)


def test_triangles_stay_with_their_vertices(file: Path) -> None:
    mesh = Mesh.from_file(file, form="exact")
    assert solids(mesh.vertices, mesh.triangles) == EXPECTED
    hull = Mesh.from_file(file, form="hull")
    np.testing.assert_allclose(hull.vertices[np.unique(hull.triangles)].max(axis=0), [0.7, 0.6, 0.4], atol=1e-6)


def test_parts_have_the_colours_of_their_materials(file: Path) -> None:
    surfaces = robot_of(file, "visual").surfaces()
    assert len(surfaces) == 3 and {surface.name for surface in surfaces} == {"base_0"}
    for surface in surfaces:
        assert surface.colour is not None
        name = next(name for name, colour in COLOURS.items() if np.allclose(surface.colour[:3], colour))
        (box,) = solids(surface.vertices, surface.triangles)
        np.testing.assert_allclose(box, [*(np.array(AT[name]) - 0.1), *(np.array(AT[name]) + 0.1)], atol=1e-6)


def test_robots_collide_with_what_the_file_shows(file: Path) -> None:
    robot = robot_of(file, "collision")
    shape = robot.collision.geometryObjects[0].geometry
    if isinstance(shape, coal.BVHModelBase):
        rows = np.array([[shape.tri_indices(k)[i] for i in range(3)] for k in range(shape.num_tris)])
        assert solids(np.array(shape.vertices()), rows) == EXPECTED
    scene = Mesh.from_file(file, form="exact")
    obstacle = Obstacle.mesh(scene.vertices, scene.triangles, form="exact")
    for name, at in AT.items():
        ball = Obstacle.sphere(
            0.05, Transformation.from_translation(np.array(at) + np.array([0.0, 0.0, 0.12])), id=name
        )
        found = coal.DistanceResult()
        T = ball.placement
        coal.distance(
            obstacle.shape, coal.Transform3s(), ball.shape, coal.Transform3s(T.rotation, T.translation),
            coal.DistanceRequest(), found,
        )  # fmt: skip
        assert found.min_distance < 0.0, name
    assert Task([obstacle]).obstacles


def test_models_of_pinocchio_and_bodies_are_put_right_too(file: Path) -> None:
    from_file = robot_of(file, "visual")
    geometry = pin.buildGeomFromUrdf(
        from_file.model, str(file.with_name("robot.urdf")), pin.GeometryType.VISUAL, None, [str(file.parent)]
    )
    wrapped = PinRobot(wrapper=(from_file.model, pin.GeometryModel(), geometry))
    for shape in (
        wrapped.visual.geometryObjects[0].geometry,
        PinBody("b", collision=geometry.geometryObjects[0], mass=1.0).collision[0].shape,
    ):
        rows = np.array([[shape.tri_indices(k)[i] for i in range(3)] for k in range(shape.num_tris)])
        assert solids(np.array(shape.vertices()), rows) == EXPECTED


def test_what_is_right_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cubes.dae"
    path.write_text(SCENES["nodes beside each other, triangles"])
    shape = coal.MeshLoader().load(str(path), np.ones(3))
    assert repaired(shape, path) is shape and repaired(shape, path.with_suffix(".stl")) is shape
    assert repaired(coal.Sphere(1.0), path).radius == 1.0
    assert primitives(tmp_path / "none.dae") == ()


def test_what_cannot_be_put_right_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shape = coal.MeshLoader().load(str(file), np.ones(3))
    found = tuple(replace(one, triangles=one.triangles + 1) for one in primitives(file))
    monkeypatch.setattr("knuckle.robot.collada_triangles.primitives", lambda path: found)
    assert repaired(shape, file) is shape
    beside = all(one.counted == tuple(range(k)) for k, one in enumerate(found))
    assert ("joined to the wrong vertices" in caplog.text) != beside


@pytest.mark.parametrize("damage", ["<node>", "</COLLADA>", 'id="all-source"', 'url="#all"', "vertices", "2 ", "#red"])
def test_damaged_files_are_read_no_further(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "a.dae"
    path.write_text(SCENES["materials of one mesh, triangles"].replace(damage, "x"))
    found = primitives(path)
    assert found == () or len(found) == 3


@pytest.mark.parametrize(
    "odd",
    [
        {"4 4 4 4 4 4": "4 4 4 4 4 1000000000"},
        {"4 4 4 4 4 4": "4 4 4 4 4 -4"},
        {"4 4 4 4 4 4": "4 4 4 4 4 99999999999999999999"},
        {"<p>0 1": "<p>0 99999"},
        {"<p>0 1": "<p>0 99999999999999999999"},
        {'offset="0"': 'offset="1000000000000"'},
        {"<node><translate>": '<node id="n"><instance_node url="#n"/><instance_node url="#n"/><translate>'},
    ],
    ids=str,
)
def test_odd_numbers_and_circles_take_neither_time_nor_memory(odd: dict[str, str], tmp_path: Path) -> None:
    path, text = tmp_path / "a.dae", SCENES["materials of one mesh, polylist"]
    for before, after in odd.items():
        assert before in text
        text = text.replace(before, after)
    path.write_text(text)
    assert primitives(path) == ()


def test_a_small_file_that_names_billions_of_nodes_is_given_up(tmp_path: Path) -> None:
    path, text = tmp_path / "a.dae", SCENES["materials of one mesh, polylist"]
    levels = "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(40)
    )
    inside = '<node id="n40"/>'
    text = text.replace(
        "</library_geometries>", f"</library_geometries><library_nodes>{levels}{inside}</library_nodes>"
    )
    path.write_text(text.replace("</node></visual_scene>", '<instance_node url="#n0"/></node></visual_scene>'))
    assert primitives(path) == ()


def test_a_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.dae"
    path.write_text(SCENES["materials of one mesh, triangles"])
    assert len(primitives(path)) == 3
    path.write_text(document(geometry("one", [[0.0] * 3], "triangles"), node(instance("one", ["red"]), [0.0] * 3)))
    os.utime(path, ns=(1, 1))
    assert len(primitives(path)) == 1


def test_real_robots_are_drawn_in_their_colours() -> None:
    panda = brute_force.installed("panda")
    if panda is None:
        pytest.skip("example-robot-data is not installed: pip install 'knuckle[robots]'")
    colours = {surface.colour for surface in panda.surfaces()}
    assert len(colours) > 3 and None not in colours
    arm = brute_force.installed("ur5")
    assert arm is not None
    for thing in arm.visual.geometryObjects:
        assert sum(one.triangles for one in primitives(thing.meshPath)) == thing.geometry.num_tris
