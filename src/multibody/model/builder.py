"""The builder of robots in code: links, joints, frames and loads, added by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from multibody._signatures import readable_methods
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.geometry._arrays import floats
from multibody.geometry.value import owned
from multibody.model.actuator import Actuator, Equality
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Floating, Kind
from multibody.model.link import Frame, Geometry, Link
from multibody.model.model import GRAVITY, Model
from multibody.model.shapes import Shape, Solid
from multibody.model.tree import by_name

BASE = "floating_base"
"""The name of the joint between the world and a floating base."""


def as_pose(x: Pose | ArrayLike | None) -> Pose:
    """A pose on numbers of its own, or a position (3,) without rotation; None is the identity."""
    if x is None:
        return Pose.identity()
    if isinstance(x, Pose):
        if x.shape:
            raise InputError(f"expected one pose, got a batch of shape {x.shape}")
        return owned(x)
    position = floats(x, "position")
    if position.shape != (3,) or not np.isfinite(position).all():
        raise InputError(f"expected a pose, or a position of three finite numbers, got {x!r}{_hint(position.shape)}")
    return Pose(Rotation.identity(), position)


def _hint(shape: tuple[int, ...]) -> str:
    """A hint for arrays in the shapes in which others write poses."""
    hints = {
        (4, 4): "Pose.from_matrix takes a homogeneous matrix",
        (6,): "for a position and angles, Pose(Rotation.from_euler('extrinsic-xyz', rpy in radians), position)",
        (7,): "for a position and a quaternion, Pose(Rotation.from_quaternion(wxyz), position), or from_xyzw(xyzw)",
    }
    return f"; {hints[shape]}" if shape in hints else ""


@readable_methods
class Builder:
    """Collects the parts of a robot. Every method returns the builder; `model`
    returns the frozen model.

    >>> from multibody.model.joints import Revolute
    >>> from multibody.model.shapes import Cylinder
    >>> b = Builder("pendulum")
    >>> rod = Cylinder(0.02, 1.0)
    >>> _ = b.body("base").body("rod", shape=rod, mass=1.0, pose=[0.0, 0.0, -0.5])
    >>> _ = b.joint("hinge", Revolute("y"), parent="base", child="rod")
    >>> b.model().nv
    1
    """

    def __init__(self, name: str, *, gravity: Sequence[float] = GRAVITY) -> None:
        self.name = name
        self.gravity = gravity
        self.home: Sequence[float] | None = None
        """A configuration to start from, without a floating base that `model` adds."""
        self._links: dict[str, Link] = {}
        self._joints: dict[str, Joint] = {}
        self._frames: dict[str, Frame] = {}
        self._actuators: list[Actuator] | None = None
        self._equalities: list[Equality] = []
        self._diagnostics: list[Diagnostic] = []

    def body(
        self,
        name: str,
        inertia: SpatialInertia | None = None,
        *,
        shape: Shape | None = None,
        pose: Pose | ArrayLike | None = None,
        mass: float | None = None,
        density: float | None = None,
        color: tuple[float, float, float, float] | None = None,
    ) -> Self:
        """Add a link.

        Args:
            name: of the link, which is also a frame.
            inertia: in the link's frame; by default that of the shape, or none.
            shape: to be seen and to collide with.
            pose: of the shape in the link, a Pose or a position.
            mass: of the shape, in kg, homogeneous; or
            density: of the shape, in kg/m³.
            color: red, green, blue, alpha, from 0 to 1.
        """
        self._new(name, "link")
        self._links[name] = Link(name)
        if shape is not None:
            self.shape(name, shape, pose=pose, color=color)
        if mass is not None or density is not None:
            if inertia is not None or not isinstance(shape, Solid):
                raise InputError(f"body {name!r}: a mass or a density needs a solid shape, and no other inertia")
            inertia = as_pose(pose) @ shape.inertia(mass=mass, density=density)
        if inertia is not None:
            self.load(name, inertia)
        return self

    def shape(
        self,
        link: str,
        shape: Shape,
        *,
        pose: Pose | ArrayLike | None = None,
        color: tuple[float, float, float, float] | None = None,
        visual: bool = True,
        collision: bool = True,
        name: str = "",
    ) -> Self:
        """Add a shape to a link, without mass."""
        old = self._link(link)
        part = (Geometry(shape, as_pose(pose), name, color),)
        self._links[link] = Link(link, old.inertia, old.visuals + part * visual, old.collisions + part * collision)
        return self

    def load(self, link: str, inertia: SpatialInertia, *, pose: Pose | ArrayLike | None = None) -> Self:
        """Add inertia to a link; `pose` is that of the inertia's frame in the link."""
        old = self._link(link)
        if not isinstance(inertia, SpatialInertia) or inertia.shape:
            raise InputError(f"load on {link!r}: expected one SpatialInertia, got {inertia!r}")
        here = owned(inertia) if pose is None else as_pose(pose) @ inertia
        total = here if old.inertia is None else old.inertia + here
        self._links[link] = Link(link, total, old.visuals, old.collisions)
        return self

    def joint(
        self,
        name: str,
        kind: Kind,
        *,
        parent: str | None,
        child: str,
        placement: Pose | ArrayLike | None = None,
        limits: Limits = Limits(),  # noqa: B008
        passive: Passive = Passive(),  # noqa: B008
        mimic: Mimic | None = None,
    ) -> Self:
        """Add a joint between two links that exist or will.

        Args:
            name: of the joint.
            kind: such as Revolute("z").
            parent: the name of the parent link; None is the world.
            child: the name of the child link.
            placement: of the joint in the parent, a Pose or a position in m; by default the
                parent's own frame.
            limits: of coordinates in rad or m (not degrees), with their rates and efforts.
            passive: damping, friction, spring and armature.
            mimic: which other joint it follows.
        """
        self._new(name, "joint")
        if not isinstance(kind, Kind):
            raise InputError(f"joint {name!r}: expected a kind such as Revolute('z'), got {kind!r}")
        self._joints[name] = Joint(name, kind, parent, child, as_pose(placement), limits, passive, mimic)
        return self

    def add(self, *parts: Link | Joint) -> Self:
        """Add finished links and joints, as loaders do.

        Args:
            *parts: values of `Link` and `Joint`, in any order.
        """
        for part in parts:
            self._new(part.name, "link" if isinstance(part, Link) else "joint")
            table: dict[str, Any] = self._links if isinstance(part, Link) else self._joints
            table[part.name] = part
        return self

    def frame(self, name: str, link: str, pose: Pose | ArrayLike | None = None) -> Self:
        """Add a named frame on a link."""
        self._new(name, "frame")
        self._frames[name] = Frame(name, link, as_pose(pose))
        return self

    def actuator(
        self, name: str, joint: str, *, gear: float = 1.0, rotor_inertia: float = 0.0, effort: float = float("inf")
    ) -> Self:
        """Add a motor; once there is one, joints without a motor are passive."""
        self._actuators = [*(self._actuators or ()), Actuator(name, joint, gear, rotor_inertia, effort)]
        return self

    def unactuated(self) -> Self:
        """State that the robot has no motors, unless `actuator` adds some."""
        self._actuators = self._actuators or []
        return self

    def equality(self, equality: Equality) -> Self:
        """Add an equality constraint, as data."""
        self._equalities.append(equality)
        return self

    def note(self, diagnostic: Diagnostic) -> Self:
        """Add a diagnostic."""
        self._diagnostics.append(diagnostic)
        return self

    def model(self, *, floating: bool = False, velocity: str = "kindr", home: Sequence[float] | None = None) -> Model:
        """The robot.

        Args:
            floating: add a floating joint between the world and the root link, unless one is
                there.
            velocity: how the velocity of a floating base is written: "kindr", "left", "right"
                or "mixed".
            home: a configuration to start from; by default the builder's own.

        Raises:
            InputError: when the parts do not make a tree, with the names at fault.
        """
        joints = list(self._joints.values())
        start = self.home if home is None else home
        if floating:
            children = {joint.child for joint in joints}
            roots = [name for name in self._links if name not in children]
            free = any(joint.parent in (None, *roots) and isinstance(joint.kind, Floating) for joint in joints)
            if len(roots) == 1 and not free:  # with more roots, the model tells what is wrong
                joints.insert(0, Joint(self._free_name(BASE), Floating(), None, roots[0]))
                if home is None and start is not None:
                    start = (*Floating().neutral().tolist(), *start)
            elif not roots and not free:
                for joint in joints:
                    if joint.parent is None:
                        raise InputError(f"{self.name}: cannot float, the joint {joint.name!r} holds it to the world")
        return Model(
            self.name,
            tuple(self._links.values()),
            tuple(joints),
            tuple(self._frames.values()),
            self.gravity,  # type: ignore[arg-type]
            velocity,
            None if self._actuators is None else tuple(self._actuators),
            tuple(self._equalities),
            None if start is None else tuple(start),
            tuple(self._diagnostics),
        )

    def _free_name(self, name: str) -> str:
        while name in self._joints:
            name += "_"
        return name

    def _new(self, name: Any, what: str) -> None:
        if not isinstance(name, str) or not name:
            raise InputError(f"{what}: expected a name, got {name!r}")
        tables = (self._joints,) if what == "joint" else (self._links, self._frames)
        if any(name in table for table in tables):
            raise InputError(f"{self.name}: a {what} named {name!r} is there already")

    def _link(self, name: str) -> Link:
        return by_name(self._links, "link", name, self.name)
