"""Pages, the server without a browser, and the command."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle import InputError, InputTypeError, Obstacle, Task, Transformation, UnknownNameError
from knuckle.cli import main
from knuckle.robot.errors import NoBrowserError
from tests.samples import load

from .view_cases import PARENT, SEVEN, Q, scene_of


def test_a_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    file = load("cube_meshes").to_html(tmp_path / "a.html")
    page = file.read_text(encoding="utf-8")
    without = page.replace("http://www.w3.org/1999/xhtml", "")  # the name of a language, not an address
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)[^\"']*//", without)
    assert "http://" not in without.split("</style>")[0] and "@import" not in page
    assert len(re.findall(r"</script", page)) == 4
    kinds = [message["type"] for message in scene_of(page)]
    assert kinds.count("solid") == 6 and kinds[-1] == "moment"


def test_names_cannot_break_out_of_a_page() -> None:
    robot = load("planar_2r")
    page = robot.to_html(name="</script><script>alert(1)</script>")
    assert len(re.findall(r"</script", page)) == 4
    assert "<title>&lt;_script" in page


def test_a_film_holds_the_poses_of_every_sample() -> None:
    robot = load("planar_2r")
    q = np.linspace([0, 0], [1, 1], 7)
    film = scene_of(robot.to_html(trajectory=q, dt=0.1))[-1]
    import base64

    rows = np.frombuffer(base64.b64decode(film["poses"]), dtype=np.float32).reshape(7, len(film["paths"]), 4, 3)
    place = film["paths"].index("planar_2r/visual/link2_0")
    index = [surface.name for surface in robot.surfaces()].index("link2_0")
    for k in range(7):
        np.testing.assert_allclose(rows[k, place].T, robot.surface_poses(q[k])[index, :3], atol=1e-6)
    np.testing.assert_allclose(film["times"], 0.1 * np.arange(7))


def test_pages_are_written_where_asked_or_the_remedy_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        load("planar_2r").to_html(tmp_path)
    with pytest.raises(InputTypeError, match="path"):
        load("planar_2r").to_html(3)


def test_nothing_waits_for_a_browser_but_wait_and_it_gives_up_with_advice() -> None:
    with load("sevenr_arm").visualize(open_browser=False) as view:
        view.update(Q)
        view.play([Q, -Q], dt=0.1)
        view.camera([1.0, 1.0, 1.0], [0.0, 0.0, 0.3])
        assert view.browsers == 0
        with pytest.raises(NoBrowserError, match=r"open it by hand .* to_html"):
            view.wait(timeout=0.05)
        with pytest.raises(NoBrowserError):
            view.image(timeout=0.05)
        page = urllib.request.urlopen(view.url).read().decode()
    assert "knuckle.connect" in page and len(scene_of(page)) == 0
    with pytest.raises(InputError, match="closed"):
        view.update(Q)
    view.close()


def test_it_listens_on_the_loopback_interface_only() -> None:
    with load("planar_2r").visualize(open_browser=False) as view:
        port = int(view.url.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(InputError, match="free port"):
            load("planar_2r").visualize(open_browser=False, port=port)
        table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        heads = [line.split()[1] for line in table.splitlines()[1:] if " 0A " in line and f":{port:04X} " in line]
        assert heads == [f"0100007F:{port:04X}"]


def test_several_robots_share_a_view() -> None:
    with load("sevenr_arm").visualize(open_browser=False) as view:
        assert load("planar_2r").visualize(view) is view
        assert load("planar_2r").visualize_self_collisions(view, name="twin") is view
        assert view.names == ["sevenr_arm", "planar_2r", "twin"]
        with pytest.raises(InputError, match="several robots"):
            view.update(Q)
        view.update(Q, name="sevenr_arm")
        view.remove("twin")
        with pytest.raises(UnknownNameError):
            view.update(Q, name="twin")
        names = {message["path"].split("/")[0] for message in scene_of(view.to_html()) if message["type"] == "solid"}
        assert names == {"sevenr_arm", "planar_2r"}
        assert "srcdoc" in view._repr_html_() and "sevenr_arm" in repr(view)
    with pytest.raises(InputTypeError, match="view that"):
        load("planar_2r").visualize(object())


def test_what_was_shown_can_be_recorded(tmp_path: Path) -> None:
    robot = load("planar_2r")
    with robot.visualize(open_browser=False) as view:
        with view.record() as recorder:
            with pytest.raises(InputError, match="recording already"), view.record():
                pass
            for angle in (0.1, 0.2, 0.3):
                view.update([angle, 0.0])
        film = scene_of(recorder.to_html(dt=0.5))[-1]
        assert film["times"] == [0.0, 0.5, 1.0, 1.5]
        assert scene_of(recorder.to_html(tmp_path / "a.html").read_text())[-1]["times"] != film["times"]
        with view.record() as empty:
            pass
        with pytest.raises(InputError, match="nothing was recorded"):
            empty.to_html()


def test_a_killed_program_leaves_no_server_behind() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PARENT, SEVEN], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        port = int(parent.stdout.readline().strip().rsplit(":", 1)[1].strip("/"))
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text()
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert children == ""
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_import_is_clean_and_lazy() -> None:
    code = textwrap.dedent(
        """
        import sys, knuckle
        assert knuckle.view.show
        assert not {"tornado", "zmq", "IPython", "meshcat", "ipywidgets", "viser"} & set(sys.modules)
        robot = knuckle.PinRobot.from_urdf(sys.argv[1])
        robot.to_html()
        robot.visualize(open_browser=False).close()
        assert not {"zmq", "IPython", "meshcat"} & set(sys.modules)
        """
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, SEVEN], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_window_opens_only_where_it_is_wanted() -> None:
    opened: list[Any] = []
    with load("planar_2r").visualize(open_browser=True, opener=opened.append) as view:
        assert opened == [view]
    with load("planar_2r").visualize(open_browser=False, opener=opened.append):
        assert len(opened) == 1


def test_the_command_writes_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, scene, path = tmp_path / "a.html", tmp_path / "scene.json", tmp_path / "path.npz"
    Task([Obstacle.sphere(0.1, Transformation.from_translation([1, 0, 0]), id="ball")]).save(scene)
    np.savez(path, time=[0.0, 1.0], q=[0 * Q, Q])
    argv = ["view", SEVEN, "--html", str(page), "--scene", str(scene), "--trajectory", str(path), "--collision"]
    assert main([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == page.stat().st_size
    messages = scene_of(page.read_text(encoding="utf-8"))
    paths = {message["path"] for message in messages if message["type"] == "solid"}
    assert {"sevenr_arm/obstacles/ball", "sevenr_arm/trace", "sevenr_arm/collision/link2_0"} <= paths
    assert [messages[-1]["times"][k] for k in (0, -1)] == [0.0, 1.0]


def test_the_command_serves_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", SEVEN, "--q", *map(str, Q), "--no-open", "--seconds", "0.01"]) == 0
    assert re.search(r"sevenr_arm at http://127\.0\.0\.1:\d+/", capsys.readouterr().out)


@pytest.mark.parametrize(
    "extra", [["--trajectory", "none.csv"], ["--scene", "none.json"], ["--speed", "0"], ["--port", "-1"]]
)
def test_the_command_says_what_it_cannot_use(extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", SEVEN, "--no-open", "--seconds", "0", *extra]) == 2
    assert capsys.readouterr().err.startswith("knuckle: error: ")


def test_time_is_only_waited_for_on_request() -> None:
    with load("planar_2r").visualize(open_browser=False) as view:
        start = time.monotonic()
        view.play(np.zeros((3, 2)), dt=0.05, speed=2.0, wait=True)
        assert time.monotonic() - start >= 0.05
