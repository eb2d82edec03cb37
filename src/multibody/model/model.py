"""The model of a robot: frozen data, and the tree that algorithms walk."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import choice, is_traced
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model.actuator import Actuator, Equality
from multibody.model.diagnostics import Diagnostic
from multibody.model.digest import digest
from multibody.model.joint import Joint
from multibody.model.joints import Floating
from multibody.model.link import Frame, Link
from multibody.model.structure import Body, Structure, assemble

GRAVITY = (0.0, 0.0, -9.81)
PARTS = {"links": Link, "description": Joint, "extra_frames": Frame, "equalities": Equality, "diagnostics": Diagnostic}
"""Fields of a model that hold several of a kind."""


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: links, the joints between them, named frames, and what acts on them.

    Links that fixed joints join make one moving *body*; `bodies` are those, in the order in which `outward` walks.
    Models are frozen, compare and hash by their content (what a loader noticed aside), pickle, and can be shared
    between threads.
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
    """None: every joint but a floating base has a motor without inertia of its own."""
    equalities: tuple[Equality, ...] = ()
    home: tuple[float, ...] | None = None
    """A configuration to start from; None is the neutral one."""
    diagnostics: tuple[Diagnostic, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, kind in PARTS.items():
            object.__setattr__(self, name, _several(name, getattr(self, name), kind))
        choice(self.velocity, "velocity", REPRESENTATIONS)
        object.__setattr__(self, "gravity", _finite("gravity", self.gravity, 3, "three"))
        structure = self.structure
        if self.actuators is not None:
            object.__setattr__(self, "actuators", _several("actuators", self.actuators, Actuator))
            seen: set[str] = set()
            for actuator in self.actuators:
                if actuator.name in seen:
                    raise InputError(f"two actuators are named {actuator.name!r}")
                seen.add(actuator.name)
                self._moving(actuator.joint, f"actuator {actuator.name!r}")
        if self.home is not None:
            object.__setattr__(self, "home", _finite("home", self.home, structure.nq, str(structure.nq)))
            for joint in self.joints:
                where = joint.kind.quaternion
                if where is not None and abs(np.linalg.norm(joint.coordinates(np.array(self.home))[where]) - 1) > 1e-6:
                    raise InputError(f"home: expected a unit quaternion at the joint {joint.name!r}, got {self.home}")

    # ---- the tree ----------------------------------------------------------------------------------------------------

    @cached_property
    def structure(self) -> Structure:
        """Bodies, coordinates and the places of frames, worked out from links and joints."""
        return assemble(self.links, self.description, self.extra_frames)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies; body k has index k + 1, for 0 is the world."""
        return self.structure.bodies

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, in the order of the bodies; body k hangs on joint k."""
        return tuple(joint for joint in self.structure.joints if joint.kind.nv)

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.structure.nq

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return self.structure.nv

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link, then the extra ones."""
        return tuple(self.structure.frames)

    def outward(self) -> Iterator[tuple[int, int, Body]]:
        """(index, index of the parent, body), parents first."""
        return ((body.index, body.parent, body) for body in self.bodies)

    def inward(self) -> Iterator[tuple[int, int, Body]]:
        """(index, index of the parent, body), children first."""
        return ((body.index, body.parent, body) for body in reversed(self.bodies))

    @cached_property
    def bases(self) -> tuple[Joint, ...]:
        """The floating joints on the world, whose velocities are written as `velocity` says.

        A floating joint inside the tree is left-trivialised; locking or removing what carries it makes it a base.
        """
        return tuple(b.joint for b in self.bodies if b.parent == 0 and isinstance(b.joint.kind, Floating))

    def is_base(self, joint: Joint) -> bool:
        """Whether a joint is one of `bases`."""
        return any(joint.name == base.name for base in self.bases)

    @property
    def floating(self) -> bool:
        """Whether the first body floats."""
        return bool(self.bodies) and self.is_base(self.bodies[0].joint)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        lists: list[list[int]] = [[] for _ in range(len(self.bodies) + 1)]
        for i, p, _ in self.outward():
            lists[p].append(i)
        return tuple(map(tuple, lists))

    def children(self, index: int) -> tuple[int, ...]:
        """The indices of the bodies that hang on a body."""
        return self._children[index]

    @cached_property
    def _last(self) -> tuple[int, ...]:
        last = list(range(len(self.bodies) + 1))
        for i, p, _ in self.inward():
            last[p] = max(last[p], last[i])
        return tuple(last)

    def last(self, index: int) -> int:
        """The largest index of a body that hangs on a body: those from it to this one are its subtree."""
        return self._last[index]

    def subtree(self, index: int) -> tuple[int, ...]:
        """The index of a body and of all that hang on it, parents first."""
        return tuple(range(index, self._last[index] + 1))

    def support(self, index: int) -> tuple[int, ...]:
        """The indices of the bodies from the world, which is left out, to a body, itself included."""
        path: list[int] = []
        while index:
            path.append(index)
            index = self.bodies[index - 1].parent
        return tuple(reversed(path))

    def chain(self, start: str, end: str) -> tuple[int, ...]:
        """The indices of the bodies that move one frame relative to another, on the way between them."""
        ways = [self.support(self.frame(name)[0]) for name in (start, end)]
        common = set(ways[0]) & set(ways[1])
        return (*(i for i in reversed(ways[0]) if i not in common), *(i for i in ways[1] if i not in common))

    # ---- names -------------------------------------------------------------------------------------------------------

    def frame(self, name: str) -> tuple[int, Pose]:
        """The index of the body that a frame is on, and its pose i_H_frame there."""
        try:
            return self.structure.frames[name]
        except (KeyError, TypeError):
            raise InputError(unknown("frame", name, self.frames, self.name)) from None

    def joint(self, name: str) -> Joint:
        """The joint of a name, fixed ones too."""
        try:
            return self._joints_by_name[name]
        except (KeyError, TypeError):
            raise InputError(unknown("joint", name, tuple(self._joints_by_name), self.name)) from None

    def link(self, name: str) -> Link:
        """The link of a name."""
        try:
            return self._links_by_name[name]
        except (KeyError, TypeError):
            raise InputError(unknown("link", name, tuple(self._links_by_name), self.name)) from None

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.structure.joints}

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
    def mass(self) -> Any:
        """Of all moving bodies, in kg: a float, or an array where their inertias are (`model.parametric`)."""
        total: Any = sum((body.inertia.mass for body in self.bodies), 0.0)
        return total if is_traced(total) or np.ndim(total) else float(total)

    def _limits(self, name: str, count: int, where: str) -> NDArray[Any]:
        full = np.empty(count)
        for joint in self.joints:
            if joint.mimic is None:
                full[getattr(joint, where)] = getattr(joint.limits, name)
        full.flags.writeable = False
        return full

    @cached_property
    def lower(self) -> NDArray[Any]:
        """(nq,): the least coordinates; -inf where there is no limit."""
        return self._limits("lower", self.nq, "q")

    @cached_property
    def upper(self) -> NDArray[Any]:
        """(nq,): the largest coordinates."""
        return self._limits("upper", self.nq, "q")

    @cached_property
    def velocity_limits(self) -> NDArray[Any]:
        """(nv,): the largest magnitudes of velocities."""
        return self._limits("velocity", self.nv, "v")

    @cached_property
    def effort_limits(self) -> NDArray[Any]:
        """(nv,): the largest magnitudes of generalized forces."""
        return self._limits("effort", self.nv, "v")

    @cached_property
    def armature(self) -> NDArray[Any]:
        """(nv,): what the drives add to the diagonal of the mass matrix: rotors of joints, and of actuators."""
        total = np.zeros(self.nv)
        for joint in self.joints:
            ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
            total[joint.v] += ratio**2 * joint.passive.armature
        for actuator in self.actuators or ():
            total[self.joint(actuator.joint).v] += actuator.reflected_inertia
        total.flags.writeable = False
        return total

    # ---- comparing ---------------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digits, equal for equal models in every process."""
        return digest(*(getattr(self, f.name) for f in fields(self) if f.name != "diagnostics"))

    @cached_property
    def dynamics_digest(self) -> str:
        """The same for what algorithms see: names, shapes and passive forces make no difference."""
        bodies = [
            (b.parent, b.joint.kind, b.joint.placement, _coupling(b.joint), b.joint.q, b.joint.v, b.inertia)
            for b in self.bodies
        ]
        return digest(bodies, self.gravity, self.velocity, self.armature)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def with_(self, **changes: Any) -> "Model":
        """The same model with other fields."""
        return replace(self, **changes)


def expect_model(model: Any) -> Model:
    """The same, when it is the model of a robot; an InputError otherwise."""
    if not isinstance(model, Model):
        raise InputError(f"expected the Model of a robot, such as robot.model, got {type(model).__name__}")
    return model


def unknown(what: str, name: object, names: Sequence[str], owner: str) -> str:
    """The message for a name that does not exist, with those nearest to it."""
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {', '.join(map(repr, names[:8]))}"
    more = ", ..." if not near and len(names) > 8 else ""
    return f"{owner}: no {what} is named {name!r}; {hint}{more}"


def _coupling(joint: Joint) -> tuple[float, float]:
    return (1.0, 0.0) if joint.mimic is None else (joint.mimic.ratio, joint.mimic.offset)


def _several(what: str, x: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(x, Iterable):
        raise InputError(f"{what}: expected a list of {kind.__name__} objects, got {x!r}")
    found = tuple(x)
    for each in found:
        if not isinstance(each, kind):
            raise InputError(f"{what}: expected a list of {kind.__name__} objects, got {each!r} in it")
    return found


def _finite(what: str, x: Any, count: int, in_words: str) -> tuple[Any, ...]:
    try:
        numbers = np.asarray(x, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros((0, 0))
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{what}: expected {in_words} finite numbers, got {x!r}")
    return tuple(numbers.tolist())
