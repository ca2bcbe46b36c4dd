"""A robot that carries one shape anywhere past another one fixed to the world."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
import pinocchio as pin

from knuckle import PinRobot


def points_of(seed: int, count: int = 30) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.1, 0.1, (count, 3)) * [1.0, 2.0, 0.5]


def mesh(points: np.ndarray) -> coal.BVHModelOBBRSS:
    """A closed mesh: the hull of points as triangles."""
    model = coal.BVHModelOBBRSS()
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    model.beginModel(len(hull.simplices), len(points))
    model.addVertices(points)
    triangles = coal.StdVec_Triangle()
    for a, b, c in hull.simplices:
        triangles.append(coal.Triangle(int(a), int(b), int(c)))
    for a, b, c in hull.simplices:
        model.addTriangle(points[a], points[b], points[c])
    model.endModel()
    return model


SHAPES: dict[str, Any] = {
    "box": lambda: coal.Box(0.2, 0.3, 0.1),
    "sphere": lambda: coal.Sphere(0.12),
    "capsule": lambda: coal.Capsule(0.05, 0.3),
    "cylinder": lambda: coal.Cylinder(0.1, 0.2),
    "cone": lambda: coal.Cone(0.1, 0.25),
    "ellipsoid": lambda: coal.Ellipsoid(0.05, 0.1, 0.2),
    "hull": lambda: mesh(points_of(3)),
    "halfspace": lambda: coal.Halfspace(np.array([0.6, 0.0, 0.8]), 0.05),
    "plane": lambda: coal.Plane(np.array([0.0, 0.6, 0.8]), 0.02),
}


def swept(shape: Any, radius: float) -> Any:
    shape.setSweptSphereRadius(radius)
    return shape


def robot_of(fixed: Any, moving: Any, **options: Any) -> PinRobot:
    """Three sliding and three turning joints carry `moving`; `fixed` stands in the world, tilted."""
    model = pin.Model()
    model.name = "carrier"
    joint = 0
    kinds = [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ()]
    kinds += [pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()]
    model.addFrame(pin.Frame("world_link", 0, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    for i, kind in enumerate(kinds):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), f"j{i}")
        model.addJointFrame(joint)
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    model.lowerPositionLimit = np.array([-0.4] * 3 + [-3.0] * 3)
    model.upperPositionLimit = -model.lowerPositionLimit
    body = model.addFrame(pin.Frame("hand", joint, model.nframes - 1, pin.SE3.Identity(), pin.FrameType.BODY))
    geometry = pin.GeometryModel()
    tilt = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([0.02, -0.03, 0.01]))
    geometry.addGeometryObject(pin.GeometryObject("fixed", 0, 1, tilt, fixed))
    offset = pin.SE3(pin.exp3(np.array([-0.1, 0.4, 0.2])), np.array([0.01, 0.02, -0.02]))
    geometry.addGeometryObject(pin.GeometryObject("moving", joint, body, offset, moving))
    geometry.addCollisionPair(pin.CollisionPair(0, 1))
    return PinRobot(wrapper=(model, geometry, None), **options)
