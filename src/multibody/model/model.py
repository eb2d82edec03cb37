"""The model of a robot: frozen data, and the tree that algorithms walk."""

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import choice, read_only
from multibody.geometry.representations import REPRESENTATIONS
from multibody.geometry.unit_quaternions import check_unit_quaternions
from multibody.geometry.value import Value, owned
from multibody.model.actuator import Actuator, Equality
from multibody.model.build_tree import Structure, assemble
from multibody.model.diagnostics import Diagnostic
from multibody.model.digest import digest, is_our_code, library_digest
from multibody.model.joint import Joint
from multibody.model.joints import Floating, check_kind
from multibody.model.link import Frame, Geometry, Link
from multibody.model.tree import Body, Tree, by_name

GRAVITY = (0.0, 0.0, -9.81)
PARTS = {"links": Link, "description": Joint, "extra_frames": Frame, "equalities": Equality, "diagnostics": Diagnostic}
"""Fields of a model that are sequences."""
ARRAYS_IN: dict[type, tuple[str, ...]] = {
    Link: ("inertia", "visuals", "collisions"),
    Geometry: ("shape", "pose"),
    Joint: ("kind", "placement"),
    Frame: ("pose",),
}
"""Fields that contain arrays, directly or nested."""


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: links, the joints between them, named frames, and what acts on them.

    Links that fixed joints join make one moving *body*; `bodies` are those, in the order of the `tree`.
    Models are frozen, compare and hash by their content (without diagnostics), pickle, and can be shared between
    threads.
    """

    name: str
    links: tuple[Link, ...]
    description: tuple[Joint, ...]
    """The joints as they were given; `joints` are those that move, with their coordinates."""
    extra_frames: tuple[Frame, ...] = ()
    gravity: tuple[float, float, float] = GRAVITY
    """In m/s², along the axes of the world."""
    velocity: str = "kindr"
    """How the velocity of a floating base is written: "kindr", "left", "right" or "mixed"."""
    actuators: tuple[Actuator, ...] | None = None
    """None: every joint except a floating base has a motor without rotor inertia."""
    equalities: tuple[Equality, ...] = ()
    home: tuple[float, ...] | None = None
    """A configuration to start from; None is the neutral one."""
    diagnostics: tuple[Diagnostic, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, kind in PARTS.items():
            object.__setattr__(self, name, _several(name, getattr(self, name), kind))
        for name in ("links", "description", "extra_frames"):
            object.__setattr__(self, name, tuple(map(_owned, getattr(self, name))))
        choice(self.velocity, "velocity", REPRESENTATIONS)
        object.__setattr__(self, "gravity", _finite("gravity", self.gravity, 3, "three"))
        for joint in self.description:
            if not is_our_code(type(joint.kind)):
                check_kind(joint.kind)
        nq = self.nq  # links and joints that make no tree are refused here
        if self.actuators is not None:
            object.__setattr__(self, "actuators", _several("actuators", self.actuators, Actuator))
            seen: set[str] = set()
            for actuator in self.actuators:
                if actuator.name in seen:
                    raise InputError(f"two actuators are named {actuator.name!r}")
                seen.add(actuator.name)
                self._moving(actuator.joint, f"actuator {actuator.name!r}")
        if self.home is not None:
            object.__setattr__(self, "home", _finite("home", self.home, nq, str(nq)))
            for joint in self.joints:
                if joint.kind.quaternion is not None:
                    x = joint.coordinates(np.array(self.home))
                    check_unit_quaternions(x[None, joint.kind.quaternion], "home", [f"joint {joint.name!r}"])

    # ---- the tree ----------------------------------------------------------------------------------------------------

    @cached_property
    def _structure(self) -> Structure:
        return assemble(self.links, self.description, self.extra_frames)

    @cached_property
    def tree(self) -> Tree:
        """The tree of moving bodies that algorithms traverse."""
        parts, gravity = self._structure, read_only(np.array(self.gravity))
        drives = {name: getattr(self, name) for name in ("armature", "damping", "friction", "effort_limits")}
        return Tree(self.name, parts.bodies, parts.frames, parts.frame_poses, gravity, **drives, velocity=self.velocity)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies; body k has index k + 1, for 0 is the world."""
        return self._structure.bodies

    @property
    def all_joints(self) -> tuple[Joint, ...]:
        """All joints with their coordinates, from the world outward; fixed ones too."""
        return self._structure.joints

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, in the order of the bodies, placed in their parent links; body k hangs on joint k."""
        return tuple(joint for joint in self.all_joints if joint.kind.nv)

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link, then the extra ones."""
        return self._structure.frames

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities."""
        return sum(joint.nv for joint in self.joints)

    # ---- names -------------------------------------------------------------------------------------------------------

    def joint(self, name: str) -> Joint:
        """The joint of a name, fixed ones too."""
        return by_name(self._joints_by_name, "joint", name, self.name)

    def link(self, name: str) -> Link:
        """The link of a name."""
        return by_name(self._links_by_name, "link", name, self.name)

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.all_joints}

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    def _moving(self, name: str, what: str) -> Joint:
        joint = self.joint(name)
        if not joint.nv:
            raise InputError(f"{what}: expected a joint with a coordinate of its own, {name!r} has none")
        return joint

    # ---- numbers -----------------------------------------------------------------------------------------------------

    @cached_property
    def armature(self) -> NDArray[Any]:
        """(nv,): what the drives add to the diagonal of the mass matrix: rotors of joints, and of actuators."""
        total = self._over_velocities("armature", 2)
        for actuator in self.actuators or ():
            total[self.joint(actuator.joint).v] += actuator.reflected_inertia
        return read_only(total)

    @cached_property
    def damping(self) -> NDArray[Any]:
        """(nv,): the viscous damping of the joints, with their mimic joints."""
        return read_only(self._over_velocities("damping", 2))

    @cached_property
    def friction(self) -> NDArray[Any]:
        """(nv,): the dry friction of the joints, with their mimic joints."""
        return read_only(self._over_velocities("friction", 1))

    @cached_property
    def effort_limits(self) -> NDArray[Any]:
        """(nv,): the largest magnitudes of generalized forces, and where there are actuators, what these can do.

        A robot without any, such as a textbook pendulum, has unlimited efforts.
        """
        limits, motors = np.full(self.nv, np.inf), np.zeros(self.nv)
        for joint in self.joints:
            if joint.mimic is None:
                limits[joint.v] = joint.limits.effort
            if isinstance(joint.kind, Floating):
                motors[joint.v] = np.inf  # what pushes a base is no motor of a joint
        for actuator in self.actuators or ():
            motors[self.joint(actuator.joint).v] += abs(actuator.gear) * actuator.effort
        return read_only(np.minimum(limits, motors) if self.actuators else limits)

    def _over_velocities(self, name: str, power: int) -> NDArray[Any]:
        """(nv,): numbers of the joints' `passive`, reflected through the ratios of mimic joints."""
        total = np.zeros(self.nv)
        for joint in self.joints:
            ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
            total[joint.v] += abs(ratio) ** power * getattr(joint.passive, name)
        return total

    # ---- comparing ---------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digits, equal for equal models in every process."""
        return digest(*(getattr(self, f.name) for f in fields(self) if f.name != "diagnostics"))

    @cached_property
    def tree_digest(self) -> str | None:
        """The digest of the tree, on which all results of algorithms depend; shapes, for instance, do not count.

        None if a kind of joint is from outside the library, because its name does not identify its code.
        """
        return library_digest(*[getattr(self.tree, f.name) for f in fields(self.tree) if f.name != "name"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model) or self.digest != other.digest:
            return False
        # two classes of a user can have one name
        return [type(j.kind) for j in self.description] == [type(j.kind) for j in other.description]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def with_(self, **changes: Any) -> "Model":
        """Return the model with other fields."""
        return replace(self, **changes)

    def with_diagnostics(self, *diagnostics: Diagnostic) -> "Model":
        """Return the model with further diagnostics; the tree is not built again."""
        new = object.__new__(Model)
        new.__dict__.update(self.__dict__, diagnostics=(*self.diagnostics, *diagnostics))
        return new


def expect_model(model: Any) -> Model:
    """Return the argument, if it is a Model; raise an InputError otherwise."""
    if not isinstance(model, Model):
        raise InputError(f"expected the Model of a robot, such as robot.model, got {type(model).__name__}")
    return model


def _owned(x: Any) -> Any:
    """A part of a model with private, read-only arrays."""
    if isinstance(x, Value):
        return owned(x)
    if isinstance(x, np.ndarray):
        return read_only(x)
    if isinstance(x, tuple):
        parts = tuple(map(_owned, x))
        return x if all(map(operator.is_, parts, x)) else parts
    if not is_dataclass(x) or isinstance(x, type):
        return x
    names = ARRAYS_IN.get(type(x)) or [f.name for f in fields(x) if f.init]
    changed = {name: new for name in names if (new := _owned(part := getattr(x, name))) is not part}
    return replace(x, **changed) if changed else x


def _several(what: str, x: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(x, Iterable):
        raise InputError(f"{what}: expected a list of {kind.__name__} objects, got {x!r}")
    parts = tuple(x)
    for each in parts:
        if not isinstance(each, kind):
            raise InputError(f"{what}: expected a list of {kind.__name__} objects, got {each!r} in it")
    return parts


def _finite(what: str, x: Any, count: int, in_words: str) -> tuple[Any, ...]:
    try:
        numbers = np.asarray(x, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros((0, 0))
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{what}: expected {in_words} finite numbers, got {x!r}")
    return tuple(numbers.tolist())
