"""What tests of views share."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from tests.samples import path_of

SEVEN = str(path_of("sevenr_arm"))


Q = np.array([0.3, 0.5, -0.4, -1.4, 0.2, 1.2, 0.1])


TOUCHING = np.array([-2.2, 1.9, 0.5, -2.1, -1.3, 1.9, -1.6])


def scene_of(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    messages: list[dict[str, Any]] = json.loads(found.group(1))
    return messages


PARENT = """
import sys, time
import knuckle
view = knuckle.PinRobot.from_urdf(sys.argv[1]).visualize(open_browser=False)
print(view.url, flush=True)
time.sleep(60)
"""
