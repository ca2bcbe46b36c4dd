"""Drawings of odd things: one clear error, pages that run nothing of what they are given, a server for this machine."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, KnuckleError, Obstacle, PinRobot, Task, Transformation, view

from .browser import Page, chromium
from .samples import load, path_of

ARM = load("sevenr_arm")
BENT = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
EVIL = "<!--<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">'\"\u2028&"


@pytest.mark.parametrize(
    "options",
    [
        {"ghosts": 3},
        {"ghosts": [BENT[:2]]},
        {"contacts": "yes"},
        {"safety_margin": -1},
        {"safety_margin": np.nan},
        {"trajectory": [BENT, BENT], "dt": 1e308},
        {"trajectory": [BENT, BENT], "dt": 1e-308},
        {"trajectory": np.full((3, 7), np.nan)},
        {"frames": 3},
        {"layers": ["visual", "x"]},
        {"task": 3},
        {"q": BENT * np.nan},
        {"colour": "red"},
    ],
    ids=str,
)
def test_options_that_cannot_be_drawn(options: dict[str, Any]) -> None:
    with pytest.raises(KnuckleError):
        ARM.to_html(**options)


def test_an_option_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(KnuckleError, match=r"'ghost'.*did you mean 'ghosts'"):
        ARM.to_html(ghost=[BENT])


def test_places_where_no_page_can_be_written(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "a.html", tmp_path, "a\0.html"):
        with pytest.raises(InputError, match="path"):
            ARM.to_html(path)


def evil_page(path: Path) -> Path:
    robot = PinRobot.from_urdf(
        path_of("sevenr_arm").read_text().replace('"sevenr_arm"', '"&lt;/title&gt;&lt;script&gt;1&lt;/script&gt;"')
    )
    ball = Obstacle.sphere(0.1, Transformation.from_translation([0.5, 0.0, 0.5]), id=EVIL)
    page: Path = robot.to_html(path, q=BENT, task=Task([ball]), frames="full", contacts=True, name=EVIL)
    return page


def test_names_are_text_in_a_page_whatever_they_are(tmp_path: Path) -> None:
    content = evil_page(tmp_path / "page.html").read_text(encoding="utf-8")
    scene = content.split('id="scene"', 1)[1].split("</script>", 1)[0]
    assert "<" not in scene.partition(">")[2]
    assert content.count("</script>") == ARM.to_html().count("</script>")


@pytest.mark.browser
def test_names_are_not_run_in_a_browser(tmp_path: Path) -> None:
    page = evil_page(tmp_path / "page.html")
    with chromium() as browser:
        shown = Page(browser)
        shown.open(page.as_uri())
        assert shown.page.title() != "taken" and not shown.errors
        assert [url for url in shown.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_server_answers_to_the_names_of_this_machine_only() -> None:
    with ARM.visualize(open_browser=False) as window:
        address = window.url.removeprefix("http://").rstrip("/")
        for path in ("/", "/socket"):
            for host, status in (("localhost", 200), ("127.0.0.1", 200), ("attacker.example", 403)):
                connection = http.client.HTTPConnection(address, timeout=10)
                connection.request("GET", path, headers={"Host": host})
                answer = connection.getresponse().status
                connection.close()
                assert answer == status or (path == "/socket" and status == 200 and answer == 400)  # no upgrade asked


def test_nothing_but_the_loopback_interface_is_listened_to() -> None:
    with view.show(ARM, open_browser=False) as window:
        assert window.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("speed", [0, -1, "x", None, np.nan, np.inf, [1, 2]])
def test_speeds_that_are_none_are_refused_before_anything_is_shown(speed: Any) -> None:
    with pytest.raises(KnuckleError):
        ARM.to_html(trajectory=[BENT, BENT + 0.1], speed=speed)
    with ARM.visualize(open_browser=False) as window:
        with pytest.raises(KnuckleError):
            view.show(load("planar_2r"), window, trajectory=np.zeros((2, 2)), speed=speed)
        assert window.names == ["sevenr_arm"]


def test_a_closed_window_takes_nothing() -> None:
    window = ARM.visualize(open_browser=False)
    window.close()
    with pytest.raises(InputError, match="closed"):
        view.show(load("planar_2r"), window)
    assert window.names == ["sevenr_arm"]


def test_what_is_shown_next_ends_a_film() -> None:
    with ARM.visualize(open_browser=False, trajectory=[BENT, BENT + 0.1]) as window:
        assert window._film is not None
        ARM.visualize(window, q=BENT)
        assert window._film is None  # nor is a browser told of it that comes late


@pytest.mark.parametrize("name", ["__SCENE__", "__MESHCAT__ __PAGE__", "__START__"])
def test_names_that_look_like_places_of_the_page_are_names(name: str) -> None:
    plain, odd = ARM.to_html(name="ordinary"), ARM.to_html(name=name)
    assert abs(len(plain) - len(odd)) < 2000 and f"<title>{name} - knuckle" in odd


def test_a_plane_stands_apart_from_an_obstacle_called_floor() -> None:
    task = Task([Obstacle.sphere(0.1, id="floor"), Obstacle.plane(id="ground")])
    page = ARM.to_html(task=task)
    assert "/obstacles/floor" in page and "/floors/ground" in page and "/obstacles/floor/" not in page


@pytest.mark.parametrize("where", [{"port": 70000}, {"port": 0.5}, {"port": "8"}, {"host": 3}, {"host": "192.0.2.1"}])
def test_a_live_window_that_cannot_listen_says_so(where: dict[str, Any]) -> None:
    pytest.importorskip("viser")
    with pytest.raises(KnuckleError):
        view.live(ARM, **where)
