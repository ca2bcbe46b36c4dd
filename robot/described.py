"""Robots from descriptions, and as descriptions again."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

from .findings import Finding
from .joint_orders import JointOrders
from .kinematic_queries import alias
from .reduction import Reduction
from .semantics import report, semantics


class Described(JointOrders, Reduction):
    """Constructors that read a description, what reading it brought up, and writing it."""

    _findings: tuple[Finding, ...]
    with_limits: Any

    @classmethod
    def from_urdf(
        cls,
        path: Any = None,
        package_dirs: Any = None,
        *,
        strict: bool = False,
        tcp: str | None = None,
        base_placement: Any = None,
        home_configuration: Any = None,
        gravity: Any = (0.0, 0.0, -9.81),
        rng: Any = None,
        root_joint: str = "fixed",
        mimic: bool = True,
        srdf: Any = None,
        collision_meshes: str = "hull",
        xacro_args: Mapping[str, Any] | None = None,
        urdf_file: Any = None,
        package_dir: Any = None,
    ) -> Self:
        """Load a robot from a URDF, or from a xacro file that makes one.

        Args:
            path: The file, expanded first if it is called *.xacro; or XML text.
            package_dirs: Folder or folders to search for meshes and packages; the file's own folder, those above it
                and the folders of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are, too.
            strict: Raise where the description must be guessed at, instead of warning (see `robot.loading`).
            tcp: Frame of the tool; by default the last frame on the longest chain of joints.
            base_placement: Pose of the base in the world.
            home_configuration: Configuration to start in; by default neutral, moved into the limits.
            gravity: Acceleration of free fall (3,) in world axes [m/s^2].
            rng: Generator or seed used where a call brings none.
            root_joint: How the root link moves in the world: "fixed", "floating" or "planar".
            mimic: Couple joints that mimic others; otherwise they are joints like all others.
            srdf: Path of an SRDF file or an Srdf: which pairs of links are not checked for collision, and, where not
                given here, the tcp (if it names one tool) and the home configuration (a state called "home", "rest",
                "ready" or "default").
            collision_meshes: "hull" or "exact", see the class.
            xacro_args: Values by name of the arguments of a xacro file, which may then have any name.
            urdf_file: Alias of path.
            package_dir: Alias of package_dirs.

        Raises:
            DescriptionError: if the file cannot be read or describes no robot; its `findings` tell everything.
        """
        from .loading import load_urdf

        if urdf_file is not None:
            path = alias(path, urdf_file, "path", "urdf_file")
        if package_dir is not None:
            package_dirs = alias(package_dirs, package_dir, "package_dirs", "package_dir")
        loaded = load_urdf(
            path,
            package_dirs,
            strict=strict,
            gravity=gravity,
            root_joint=root_joint,
            mimic=mimic,
            xacro_args=xacro_args,
        )
        return cls._from_loaded(
            loaded,
            srdf,
            strict,
            tcp=tcp,
            base_placement=base_placement,
            home_configuration=home_configuration,
            rng=rng,
            collision_meshes=collision_meshes,
        )

    @classmethod
    def from_mjcf(
        cls,
        path: Any,
        *,
        strict: bool = False,
        tcp: str | None = None,
        base_placement: Any = None,
        home_configuration: Any = None,
        gravity: Any = None,
        rng: Any = None,
        srdf: Any = None,
        collision_meshes: str = "hull",
    ) -> Self:
        """Load a robot from an MJCF file, as far as Pinocchio reads it: bodies, joints, inertias, geometries.

        Args:
            path: The file, or XML text.
            strict: Raise where something of it is left out, instead of warning.
            gravity: Acceleration of free fall (3,) in world axes [m/s^2]; None takes the file's.
            tcp: See `from_urdf`, like all others.
            base_placement: Likewise.
            home_configuration: Likewise.
            rng: Likewise.
            srdf: Likewise.
            collision_meshes: Likewise.

        Raises:
            DescriptionError: if the file cannot be read or describes no robot; its `findings` tell everything.
        """
        from .mjcf_loading import load_mjcf

        return cls._from_loaded(
            load_mjcf(path, strict=strict, gravity=gravity),
            srdf,
            strict,
            tcp=tcp,
            base_placement=base_placement,
            home_configuration=home_configuration,
            rng=rng,
            collision_meshes=collision_meshes,
        )

    @classmethod
    def from_file(cls, path: Any, package_dirs: Any = None, **options: Any) -> Self:
        """Load a robot from a file of any format that can be read: URDF, xacro or MJCF, told by its content.

        Args:
            path: The file, or XML text.
            package_dirs: See `from_urdf`.
            **options: Arguments of `from_urdf` or `from_mjcf`.

        Raises:
            DescriptionError: if it is of another format, or one that this build of Pinocchio does not read, as SDF.
        """
        from .formats import format_of

        if format_of(path, options.get("xacro_args")) == "mjcf":
            for name in ("root_joint", "mimic", "xacro_args"):
                options.pop(name, None)
            return cls.from_mjcf(path, **options)
        return cls.from_urdf(path, package_dirs, **options)

    @classmethod
    def from_example(cls, name: str, **options: Any) -> Self:
        """Load a sample robot, or one of the package example-robot-data where it is installed.

        Args:
            name: Name of a sample as in `urdf_samples`, of a robot of example-robot-data, or of a URDF file there.
            **options: Arguments of `from_urdf`. The SRDF that belongs to a robot is read unless given.

        Raises:
            UnknownNameError: if there is none of that name, with close ones.
        """
        from .examples import example

        found = example(name)
        defaults: dict[str, Any] = {"package_dirs": found.package_dirs}
        if found.srdf is not None:
            defaults["srdf"] = found.srdf
        return cls.from_urdf(found.urdf, **{**defaults, **options})

    @classmethod
    def _from_loaded(cls, loaded: Any, srdf: Any, strict: bool, **options: Any) -> Self:
        """A robot of what a description says, completed by an SRDF."""
        from .loading import refuse

        followers = [coupling.follower for coupling in loaded.couplings]
        said = None if srdf is None else semantics(srdf, loaded.model, followers)
        if said is not None:
            report(said.findings, "the SRDF", strict=strict)
        if said and options["home_configuration"] is None:
            options["home_configuration"] = said.home
        if said and options["tcp"] is None:
            options["tcp"] = said.tcp
        make: Any = cls  # the class that mixes this in takes models
        robot: Self = make(
            wrapper=(loaded.model, loaded.collision, loaded.visual),
            couplings=loaded.couplings,
            findings=loaded.findings + (said.findings if said else ()),
            disabled_pairs=said.disabled_pairs if said else None,
            **options,
        )
        robot._file_joints = loaded.file_order
        if strict:
            refuse(loaded.source, robot.findings, strict)  # what only came up when the robot was put together
        return robot

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was guessed at when the description was read, see `knuckle.robot.finding_codes`."""
        return self._findings

    def to_urdf(self) -> str:
        """The robot as it is now, as the text of a URDF; meshes by the paths of their files.

        What a URDF has no place for is left out: motor inertia, limits of acceleration and jerk, collision pairs,
        where the base stands, and frames that are not links get links without mass.

        Raises:
            UnsupportedError: if it has joints or shapes that a URDF cannot express.
        """
        from .urdf_writing import written_urdf

        return written_urdf(self)

    def save_urdf(self, path: str | PathLike[str]) -> None:
        """Write `to_urdf` into a file, which is replaced as a whole; shapes that no file holds become STL beside it."""
        from .urdf_writing import save_urdf

        save_urdf(self, path)

    def with_limits_file(self, path: str | PathLike[str]) -> Self:
        """A new robot with the limits of a ROS `joint_limits.yaml`; what it leaves out stays.

        Args:
            path: The file, as MoveIt and ros2_control write it: position, velocity, acceleration, jerk and effort.

        Raises:
            DescriptionError: if it cannot be read, or does not hold limits.
            UnknownNameError: if it names a joint that does not exist.
        """
        from .limits_file import read_limits

        given = read_limits(path, self.joints, [c.follower for c in self.couplings])
        robot: Self = self.with_limits(**given)
        return robot
