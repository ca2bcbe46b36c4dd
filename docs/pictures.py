"""Makes the pictures of these pages with the toolkit itself: `python docs/pictures.py`; needs a browser."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

import numpy as np

import knuckle

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests import brute_force  # noqa: E402
from tests.browser import chromium  # noqa: E402

SIZE = {"width": 640, "height": 480}


def pictures() -> dict[str, str]:
    """A page for each picture; that of the panda only where its description is installed."""
    arm = knuckle.PinRobot.from_urdf(ROOT / "urdf_samples" / "sevenr_arm.urdf")
    bent = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])
    folded = np.array([-2.2, 1.9, 0.5, -2.1, -1.3, 1.9, -1.6])
    made = {
        "sevenr_frames": arm.to_html(q=bent, frames="joints"),
        "sevenr_contact": arm.to_html(q=folded, contacts=True),
    }
    panda = brute_force.installed("panda", tcp="panda_hand_tcp")
    if panda is not None:
        ready = panda.home_configuration.copy()
        ready[:7] = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
        made["panda_frames"] = panda.to_html(q=ready, frames="joints")
    return made


def photograph(browser: Any, page: str, file: Path) -> None:
    """What a page shows, without its controls."""
    tab = browser.new_page(viewport=SIZE)
    tab.set_content(page)
    tab.wait_for_function("knuckle.viewer.renderer.info.render.triangles > 0")
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    data = tab.evaluate("knuckle.viewer.capture_image()")
    file.write_bytes(base64.b64decode(data.partition(",")[2]))
    tab.close()


def main() -> None:
    """Write all of them to docs/pictures."""
    folder = ROOT / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    with chromium() as browser:
        for name, page in pictures().items():
            photograph(browser, page, folder / f"{name}.png")


if __name__ == "__main__":
    main()
