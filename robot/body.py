"""PinBody: a rigid body that a robot can be built of, carry as a tool, or grasp."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from .arrays import vector
from .collada_triangles import repaired
from .errors import InputError, InputTypeError
from .inertia import checked_inertia, spatial_inertia
from .shapes import within_reach
from .transformation import Transformation, as_transformation

_GREY = (0.9, 0.9, 0.9, 1.0)
"""Pinocchio's colour of what has none."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyGeometry:
    """One shape of a body.

    Args:
        shape: A bounded coal shape or mesh; copied.
        placement: Its pose in the body.
        colour: Red, green, blue, opacity in [0, 1]; None is grey, or whatever the mesh file says.
        name: Name of the geometry; None is the body's name with a number, as in a robot read from a URDF.
        mesh_path: File of a mesh, for viewers.
        mesh_scale: Factors (3,) by which the file's vertices were scaled.
    """

    shape: coal.CollisionGeometry
    placement: Transformation = field(default_factory=Transformation.identity)
    colour: tuple[float, float, float, float] | None = None
    name: str | None = None
    mesh_path: str = ""
    mesh_scale: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise InputTypeError(f"name of a geometry must be a non-empty string or None, got {self.name!r}")
        if not isinstance(self.mesh_path, str):
            raise InputTypeError(f"mesh_path must be a string, got {type(self.mesh_path).__name__}")
        object.__setattr__(self, "shape", checked_shape(self.shape))
        object.__setattr__(self, "placement", as_transformation(self.placement, "placement of a geometry"))
        object.__setattr__(self, "mesh_scale", tuple(vector(self.mesh_scale, 3, "mesh_scale").tolist()))
        if self.colour is not None:
            object.__setattr__(self, "colour", _colour(self.colour))

    @classmethod
    def of(cls, thing: Any) -> BodyGeometry:
        """From a BodyGeometry, a coal shape at the body's origin, or a pinocchio GeometryObject.

        A GeometryObject's placement is taken as that in the body.
        """
        if isinstance(thing, cls):
            return thing
        if isinstance(thing, pin.GeometryObject):
            colour = tuple(np.ravel(thing.meshColor).tolist()) if thing.overrideMaterial else None
            pose = Transformation(thing.placement)
            return cls(
                repaired(thing.geometry, thing.meshPath),
                pose,
                colour,
                thing.name or None,
                thing.meshPath,
                thing.meshScale,
            )
        if isinstance(thing, coal.CollisionGeometry):
            return cls(thing)
        raise InputTypeError(
            "geometries must be BodyGeometry, coal shapes or pinocchio GeometryObjects, got " + type(thing).__name__
        )

    def as_object(self, name: str, joint: int, frame: int, body_pose: pin.SE3) -> pin.GeometryObject:
        """Pinocchio's object, sharing nothing with this one.

        Args:
            name: Name in the geometry model.
            joint: Index of the joint that carries it.
            frame: Index of the body's frame.
            body_pose: Pose of the body in the joint.
        """
        colour = np.array(_GREY if self.colour is None else self.colour)
        pose = body_pose * self.placement.se3()
        coloured, scale = self.colour is not None, np.array(self.mesh_scale)
        return pin.GeometryObject(name, joint, frame, pose, self.shape.clone(), self.mesh_path, scale, coloured, colour)


@dataclass(frozen=True, slots=True, eq=False)
class PinBody:
    """A rigid body in its own frame: what it weighs and what it looks like.

    Args:
        name: Name of the body and of its frame.
        mass: [kg].
        com: Centre of mass (3,) [m]; None is the body's origin.
        inertia: About the centre of mass (3, 3) [kg m^2]; None is a point mass. A pinocchio Inertia, as it is, stands
            for all three.
        collision: One geometry or several: BodyGeometry, coal shape or pinocchio GeometryObject.
        visual: Likewise; None shows the collision geometry.
    """

    name: str
    mass: float = 0.0
    com: Any = None
    inertia: Any = None
    collision: tuple[BodyGeometry, ...] = ()
    visual: tuple[BodyGeometry, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputTypeError(f"name of a body must be a non-empty string, got {self.name!r}")
        if isinstance(self.inertia, pin.Inertia):
            if self.com is not None or self.mass not in (0.0, self.inertia.mass):
                raise InputError("a pinocchio Inertia holds mass and com already; leave them out")
            whole = checked_inertia(self.inertia, "inertia")
        else:
            whole = spatial_inertia(self.mass, self.com, self.inertia)
        self._set_inertia(whole)
        collision = _geometries(self.collision, "collision")
        object.__setattr__(self, "collision", collision)
        object.__setattr__(self, "visual", collision if self.visual is None else _geometries(self.visual, "visual"))

    def _set_inertia(self, whole: pin.Inertia) -> None:
        object.__setattr__(self, "mass", float(whole.mass))
        for name, value in (("com", whole.lever), ("inertia", whole.inertia)):
            array = np.array(value)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def solid(cls, name: str, shape: Any, mass: Any, placement: Any = None, colour: Any = None) -> PinBody:
        """A body of one shape, filled evenly.

        Args:
            name: Name of the body.
            shape: A bounded coal shape or closed mesh.
            mass: [kg].
            placement: Pose of the shape in the body.
            colour: Red, green, blue, opacity in [0, 1].
        """
        pose = Transformation.identity() if placement is None else as_transformation(placement, "placement")
        geometry = BodyGeometry(shape, pose, colour)
        shape, weight = geometry.shape, spatial_inertia(mass).mass
        volume = shape.computeVolume()
        if not volume > 0:
            raise InputError(f"shape of a solid body must enclose a volume, got {volume} m^3 (is the mesh inside out?)")
        about = shape.computeMomentofInertiaRelatedToCOM() * (weight / volume)
        whole = pose.se3().act(pin.Inertia(weight, np.ravel(shape.computeCOM()), 0.5 * (about + about.T)))
        return cls(name, inertia=whole, collision=(geometry,))

    def renamed(self, name: str) -> PinBody:
        """The same body under another name, after which its geometries are called."""
        parts = [tuple(replace(part, name=None) for part in which) for which in (self.collision, self.visual or ())]
        return PinBody(name, inertia=self.spatial_inertia, collision=parts[0], visual=parts[1])

    @property
    def spatial_inertia(self) -> pin.Inertia:
        """Pinocchio's inertia about the body's origin; a new object each time."""
        return pin.Inertia(self.mass, self.com, self.inertia)

    def __repr__(self) -> str:
        return f"<PinBody {self.name!r}: {self.mass:g} kg, {len(self.collision)} geometries>"

    def __setstate__(self, state: Any) -> None:
        """Copies of read-only arrays are not read-only; make them so again."""
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)
        self._set_inertia(self.spatial_inertia)

    def __deepcopy__(self, memo: dict[int, Any]) -> PinBody:
        """The body itself: it cannot change."""
        return self


def checked_shape(shape: Any) -> coal.CollisionGeometry:
    """A copy of a bounded shape, of a kind that pickles.

    Raises:
        InputError: if it is unbounded, empty or of no extent.
    """
    if not isinstance(shape, coal.CollisionGeometry):
        raise InputTypeError(
            f"shape must be a coal shape (obstacle.shape is one), got {type(shape).__module__}.{type(shape).__name__}"
        )
    if isinstance(shape, coal.HeightFieldOBBRSS | coal.HeightFieldAABB):
        raise InputError("shape of a body must not be a height field, which has no distances; use its mesh")
    if isinstance(shape, coal.Halfspace | coal.Plane):
        raise InputError(f"shape of a body must be bounded, got {type(shape).__name__}; make a plane an obstacle")
    if isinstance(shape, getattr(coal, "OcTree", ())):
        raise InputError("shape of a body must not be an OcTree, which cannot be pickled; make it an obstacle")
    if getattr(shape, "num_vertices", 1) == 0:
        raise InputError("shape is a mesh without vertices")
    own = keepable(shape)
    own.computeLocalAABB()
    extent = own.aabb_local.max_ - own.aabb_local.min_
    if not np.isfinite(extent).all() or extent.max() <= 0:
        raise InputError(f"shape must have finite, positive sizes, got {type(shape).__name__} of extent {extent}")
    within_reach(np.array([own.aabb_local.min_, own.aabb_local.max_]), "corners of shape")
    if isinstance(own, coal.BVHModelBase) and not np.isfinite(np.asarray(own.vertices())).all():
        raise InputError("shape has vertices that are not finite")  # its box passes them over
    if _is_primitive(own) and not own.computeVolume() > 0:
        raise InputError(f"shape must have positive sizes, got {type(shape).__name__} of extent {extent}")
    return own


def keepable(shape: coal.CollisionGeometry) -> coal.CollisionGeometry:
    """A copy that pickles: a convex hull without faces does not, so it gets faces."""
    if type(shape) is coal.ConvexBase:
        points = coal.StdVec_Vec3s()
        for point in shape.points():
            points.append(point)
        return coal.Convex.convexHull(points, True, None)
    return shape.clone()


def _is_primitive(shape: coal.CollisionGeometry) -> bool:
    return isinstance(shape, coal.Box | coal.Sphere | coal.Capsule | coal.Cone | coal.Cylinder | coal.Ellipsoid)


def _geometries(value: Any, name: str) -> tuple[BodyGeometry, ...]:
    if isinstance(value, BodyGeometry | coal.CollisionGeometry | pin.GeometryObject):
        value = (value,)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputTypeError(f"{name} must be one geometry or several, got {type(value).__name__}")
    return tuple(BodyGeometry.of(thing) for thing in value)


def _colour(value: Any) -> tuple[float, float, float, float]:
    red, green, blue, opacity = vector(value, 4, "colour").tolist()
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue, opacity)):
        raise InputError(f"colour must be four numbers from 0 to 1 (red, green, blue, opacity), got {value!r}")
    return red, green, blue, opacity
