"""Reading robot descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .coordinates import Coupling


@dataclass(frozen=True, slots=True)
class Loaded:
    model: pin.Model
    collision: pin.GeometryModel
    visual: pin.GeometryModel
    couplings: tuple[Coupling, ...]


def load_urdf(path: Any, package_dirs: Any, *, strict: bool, gravity: Any, root_joint: str, mimic: bool) -> Loaded:
    import xml.etree.ElementTree as ET
    path = Path(path)
    tree = ET.parse(path)
    roots = {"floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
    if root_joint == "fixed":
        model = pin.buildModelFromUrdf(str(path))
    else:
        model = pin.buildModelFromUrdf(str(path), roots[root_joint]())
    model.gravity = pin.Motion(np.array(gravity, dtype=float), np.zeros(3))
    couplings = tuple(
        Coupling(j.get("name"), m.get("joint"), float(m.get("multiplier", 1)), float(m.get("offset", 0)))
        for j in tree.iter("joint") for m in j.iter("mimic")) if mimic else ()
    dirs = [str(path.parent)]
    try:
        c = pin.buildGeomFromUrdf(model, str(path), pin.COLLISION, dirs)
        v = pin.buildGeomFromUrdf(model, str(path), pin.VISUAL, dirs)
    except Exception:
        c, v = pin.GeometryModel(), pin.GeometryModel()
    return Loaded(model, c, v, couplings)
