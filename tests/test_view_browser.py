"""What a browser makes of it: triangles, poses, pixels, no error, no request to anywhere."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import knuckle
from knuckle import Obstacle, PinRobot, Task, Transformation
from tests.browser import Page, chromium
from tests.samples import load

pytestmark = pytest.mark.browser

PAGE_WORLD = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
"""The page's axes are x, z, -y of the robot's world."""
Q = np.array([0.3, 0.5, -0.4, -1.4, 0.2, 1.2, 0.1])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    page = Page(browser)
    yield page
    page.close()


def bare_poses(robot: PinRobot, q: Any) -> dict[str, Any]:
    """Poses of the visual geometries by Pinocchio alone."""
    data, shapes = robot.model.createData(), robot.visual.createData()
    pin.updateGeometryPlacements(robot.model, data, robot.visual, shapes, robot.to_pinocchio(q))
    return {
        thing.name: placement.homogeneous
        for thing, placement in zip(robot.visual.geometryObjects, shapes.oMg, strict=True)
    }


def seen(page: Page, path: str) -> Any:
    """Pose of a path in the robot's world."""
    return PAGE_WORLD.T @ np.reshape(page.matrix(path), (4, 4)).T


def shown(page: Page, robot: PinRobot, q: Any) -> bool:
    return all(
        np.allclose(seen(page, f"{robot.name}/visual/{name}"), pose, rtol=0, atol=1e-6)
        for name, pose in bare_poses(robot, q).items()
    )


def assert_clean(page: Page, url: str) -> None:
    assert page.errors == []
    assert page.run("knuckle.errors") == []
    assert page.requests == [url]


def until(condition: Any, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def test_a_live_page_follows_the_robot(page: Page) -> None:
    robot = load("sevenr_arm")
    with robot.visualize(coordinate_systems="tcp", q=Q, open_browser=False) as view:
        page.open(view.url)
        view.wait()
        assert page.run("knuckle.viewer.renderer.info.render.triangles") > 1000
        assert shown(page, robot, Q)
        np.testing.assert_allclose(seen(page, "sevenr_arm/frames/tool"), robot.fk(Q).homogeneous, rtol=0, atol=1e-6)
        before = page.pixels()
        view.update(-Q)
        until(lambda: shown(page, robot, -Q))
        page.settled()
        assert page.pixels() != before
        picture = _image_while_the_page_answers(page, view)
        assert picture.startswith(b"\x89PNG") and len(picture) > 2000
        assert_clean(page, view.url)
        page.page.goto("about:blank")
        until(lambda: view.browsers == 0)
        with pytest.raises(knuckle.robot.errors.NoBrowserError, match="to_html"):
            view.wait(timeout=0.05)


def _image_while_the_page_answers(page: Page, view: Any) -> bytes:
    """The browser is driven from this thread, so the question has to come from another."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(view.image)
        until(lambda: page.run("1") and asked.done())
        return bytes(asked.result())


def test_a_page_that_comes_late_shows_the_same(page: Page) -> None:
    robot = load("cube_meshes")
    q = [0.4, 0.1]
    with robot.visualize(open_browser=False) as view:
        view.update(q)
        page.open(view.url)
        assert shown(page, robot, q)
        assert page.run("knuckle.viewer.renderer.info.render.triangles") == 3 * 12 + 2  # three cubes, a background


def test_an_exported_page_plays_without_asking_for_anything(page: Page, tmp_path: Path) -> None:
    robot = load("sevenr_arm")
    times = np.linspace(0.0, 1.0, 21)
    path = np.outer(times, Q)
    file = robot.to_html(tmp_path / "a.html", trajectory=path, dt=0.05)
    url = file.as_uri()
    page.open(url)
    for time_shown in (0.0, 0.35, 1.0):
        page.run(f"knuckle.seek({time_shown})")
        assert shown(page, robot, time_shown * Q)
    page.run("knuckle.seek(0.375)")  # between two samples: each joint turns a little, so interpolation is close
    between = bare_poses(robot, 0.375 * Q)["link2_0"]
    np.testing.assert_allclose(seen(page, "sevenr_arm/visual/link2_0"), between, rtol=0, atol=1e-3)
    assert page.run("document.getElementById('time').value") == "0.375"
    page.run("knuckle.seek(0)")
    before = page.pixels()
    page.page.click("#play")
    page.page.wait_for_function("knuckle.film().time > 0.2")
    assert page.pixels() != before
    assert_clean(page, url)


def test_contacts_are_coloured_and_obstacles_stand_where_they_are(page: Page, tmp_path: Path) -> None:
    robot = load("sixr_arm")
    crate = Obstacle.box([0.3, 0.3, 0.3], Transformation.from_translation([0.45, 0.2, 0.5]), id="crate")
    q = robot.ik(Transformation.from_rpy([0, np.pi, 0], [0.45, 0.2, 0.5]), rng=1, ignore_self_collisions=True).q
    task = Task([crate])
    contacts = robot.collisions(task, q=q)
    assert contacts
    file = robot.to_html(tmp_path / "a.html", q=q, task=task, contacts=True)
    page.open(file.as_uri())
    np.testing.assert_allclose(seen(page, "sixr_arm/obstacles/crate"), crate.placement.homogeneous, rtol=0, atol=1e-6)
    visible = page.run(
        "Object.entries(knuckle.viewer.scene_tree.find(['sixr_arm', 'contacts']).children)"
        ".filter(([name, node]) => node.object.visible).map(([name]) => name)"
    )
    touching = {name for contact in contacts for name in contact.pair}
    assert set(visible) == touching - {"crate"}
    assert_clean(page, file.as_uri())


def test_a_page_inside_a_page_is_moved_by_messages(page: Page, tmp_path: Path) -> None:
    from knuckle.view.assemble import picture
    from knuckle.view.html import embedded
    from knuckle.view.messages import moment, text

    robot = load("planar_2r")
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!DOCTYPE html><body>{embedded(robot.to_html())}</body>", encoding="utf-8")
    page.page.goto(outer.as_uri())
    page.page.frame_locator("iframe").locator("#meshcat-pane").wait_for(timeout=20_000)
    page.frame = page.page.frames[1]
    page.drawn()
    q = np.array([0.5, 0.7])
    told = text([moment(picture(robot).drawing.at(q))])
    page.page.evaluate(f"document.querySelector('iframe').contentWindow.postMessage({{knuckle: {told}}}, '*')")
    until(lambda: shown(page, robot, q))
    assert page.errors == []


WIDGET = """
<!DOCTYPE html><body><div id="cell"></div><script type="module">
const module = await import(URL.createObjectURL(new Blob([{esm}], {{type: "text/javascript"}})));
const state = {state}, heard = {{}};
window.model = {{
  get: (name) => state[name], on: (name, act) => {{ heard[name] = act; }}, off: () => {{}},
  set: (name, value) => {{ state[name] = value; heard["change:" + name]?.(); }},
}};
module.default.render({{model: window.model, el: document.getElementById("cell")}});
</script></body>
"""


def test_sliders_of_a_notebook_move_the_page_in_its_output(page: Page, tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    robot = load("sevenr_arm")
    exploration = knuckle.view.explore(robot, q=Q)
    scene = exploration.scene
    state = {"page": scene.page, "told": scene.told, "height": 300}
    file = tmp_path / "cell.html"
    filled = WIDGET.format(esm=json.dumps(scene._esm), state=json.dumps(state).replace("</", "<\\/"))
    file.write_text(filled, encoding="utf-8")
    page.page.goto(file.as_uri())
    page.page.frame_locator("iframe").locator("#meshcat-pane").wait_for(timeout=20_000)
    page.frame = page.page.frames[1]
    page.drawn()
    until(lambda: shown(page, robot, Q))
    exploration.joints["joint2"].value = 0.9
    page.page.evaluate(f"model.set('told', {json.dumps(scene.told)})")
    until(lambda: shown(page, robot, exploration.explorer.q))
    assert page.errors == []
