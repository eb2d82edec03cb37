"""The tree of moving bodies that algorithms traverse, with frames and inertial parameters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError, unknown
from multibody.geometry import Pose, SpatialInertia
from multibody.geometry._arrays import is_traced, read_only
from multibody.model.composite_inertia import INERTIAL
from multibody.model.joint import Joint
from multibody.model.joints import Floating
from multibody.model.parameters import PLACEMENT, POSITION, Parameters, keywords_of

T = TypeVar("T")


@dataclass(frozen=True)
class Body:
    """A moving rigid body: a link with a joint of its own, and all links fixed to it. Its frame i is that link's."""

    index: int
    """From 1: body 0 is the world."""
    parent: int
    name: str
    joint: Joint
    """Placed in the parent body."""
    inertia: SpatialInertia
    """i_M of all its links; a CompositeInertia if `Tree.with_values` varies it."""
    links: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """Moving bodies, from the world outward, with the frames that they carry.

    It is a frozen value whose numbers may be floats, batches of floats, or traced: `with_values` varies them, in users'
    functions too. `robot.tree` is the one of the robot's model.

    >>> import multibody as mb
    >>> tree = mb.load("planar-arm").tree
    >>> [(i, p, body.name) for i, p, body in tree.outward()]
    [(1, 0, 'link1'), (2, 1, 'link2'), (3, 2, 'link3')]
    """

    name: str
    bodies: tuple[Body, ...]
    """Body k has index k + 1, for 0 is the world."""
    frames: tuple[str, ...]
    """The names of all frames: every link, then the extra ones."""
    frame_poses: tuple[tuple[int, Pose], ...] = field(repr=False)
    """For each frame its body and its pose i_H_F there."""
    gravity: NDArray[Any]
    """(..., 3) in m/s², along the axes of the world."""
    armature: NDArray[Any] = field(repr=False)
    """(..., nv): inertia of the drives on the diagonal of the mass matrix, in kg m² or kg."""
    damping: NDArray[Any] = field(repr=False)
    """(..., nv): viscous damping, in N m s/rad or N s/m; of a floating base for its twist in "left"."""
    friction: NDArray[Any] = field(repr=False)
    """(..., nv): dry friction, in N m or N."""
    effort_limits: NDArray[Any] = field(repr=False)
    """(nv,): the largest magnitudes of generalized forces, of joints and their motors; zero where there is no motor."""
    velocity: str
    """How the velocity of a floating base is written: "kindr", "left", "right" or "mixed"."""

    # ---- coordinates -------------------------------------------------------------------------------------------------

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order of the bodies; body k hangs on joint k."""
        return tuple(body.joint for body in self.bodies)

    @cached_property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints with coordinates of their own (no mimic joints), in the order of q."""
        return tuple(sorted((j for j in self.joints if j.mimic is None), key=lambda j: j.q.start))

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def bases(self) -> tuple[Joint, ...]:
        """The floating joints on the world, whose velocities are written as `velocity` says.

        A floating joint inside the tree is left-trivialised; locking or removing what carries it makes it a base.
        """
        return tuple(b.joint for b in self.bodies if b.parent == 0 and isinstance(b.joint.kind, Floating))

    def is_base(self, joint: Joint) -> bool:
        """Return whether a joint is one of `bases`."""
        return any(joint.name == base.name for base in self.bases)

    @property
    def floating(self) -> bool:
        """True if the first body floats."""
        return bool(self.bodies) and self.is_base(self.bodies[0].joint)

    def _limits(self, name: str, count: int, where: str) -> NDArray[Any]:
        full = np.empty(count)
        for joint in self.independent_joints:
            full[getattr(joint, where)] = getattr(joint.limits, name)
        return read_only(full)

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

    # ---- walks -------------------------------------------------------------------------------------------------------

    def outward(self) -> Iterator[tuple[int, int, Body]]:
        """(index, index of the parent, body), parents first."""
        return ((body.index, body.parent, body) for body in self.bodies)

    def inward(self) -> Iterator[tuple[int, int, Body]]:
        """(index, index of the parent, body), children first."""
        return ((body.index, body.parent, body) for body in reversed(self.bodies))

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

    @cached_property
    def _pose_of_frame(self) -> dict[str, tuple[int, Pose]]:
        return dict(zip(self.frames, self.frame_poses, strict=True))

    @cached_property
    def _joint_of_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    def frame(self, name: str) -> tuple[int, Pose]:
        """The index of the body that a frame is on, and its pose i_H_frame there."""
        return by_name(self._pose_of_frame, "frame", name, self.name)

    def joint(self, name: str) -> Joint:
        """The joint of a name that moves a body, placed in the parent body."""
        return by_name(self._joint_of_name, "moving joint", name, self.name)

    # ---- numbers -----------------------------------------------------------------------------------------------------

    @cached_property
    def mass(self) -> Any:
        """The mass of all moving bodies, in kg: a float, or an array where their inertias are."""
        total: Any = sum((body.inertia.mass for body in self.bodies), 0.0)
        return total if is_traced(total) or np.ndim(total) else float(total)

    def parameters(self) -> NDArray[Any]:
        """(..., bodies, 10): m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body about its origin.

        >>> import multibody as mb
        >>> mb.load("cart-pendulum").tree.parameters()[:, 0]  # the masses
        array([1. , 0.3])
        """
        rows = [body.inertia.parameters() for body in self.bodies]
        return np.stack(rows, axis=-2) if rows else np.zeros((0, INERTIAL))

    def placements(self) -> NDArray[Any]:
        """(bodies, 7): where each joint is in its parent body: a position, and a quaternion w, x, y, z.

        >>> import multibody as mb
        >>> mb.load("planar-arm").tree.placements()[1]
        array([0., 0., 1., 1., 0., 0., 0.])
        """
        return _numbers(joint.placement for joint in self.joints)

    def positions(self) -> NDArray[Any]:
        """(bodies, 3): the positions in `placements`."""
        return self.placements()[..., :POSITION].copy()

    def frame_placements(self) -> NDArray[Any]:
        """(frames, 7): where each frame is in the body that it is fixed to, in the order of `frames`.

        >>> import multibody as mb
        >>> tree = mb.load("planar-arm").tree
        >>> tree.frame_placements()[tree.frames.index("tool")]
        array([0., 0., 1., 1., 0., 0., 0.])
        """
        return _numbers(i_H_F for _, i_H_F in self.frame_poses)

    @property
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The names of the arrays that `with_values` takes, and their shapes without the batch."""
        return Parameters.shapes(self)

    @keywords_of(Parameters)
    def with_values(self, parameters: Parameters) -> "Tree":
        """Return the tree with other numbers: floats, batches or traced. The topology and the joint kinds stay.

        The arguments are those of `multibody.model.parameters.Parameters`, in the shapes of `parameters`, `placements`,
        `positions` and `frame_placements`. Structural zeros of the robot's file need not be zero here, and then cost
        operations. Damping and friction act in `passive`; offsets model a sensor whose zero is off.

        >>> import multibody as mb
        >>> tree = mb.load("planar-arm").tree
        >>> longer = tree.with_values(positions=1.5 * tree.positions())
        >>> longer.placements()[1]
        array([0. , 0. , 1.5, 1. , 0. , 0. , 0. ])
        """
        return parameters.apply(self)


def expect_tree(tree: Any) -> Tree:
    """Return the argument, if it is a Tree; raise an InputError otherwise."""
    if not isinstance(tree, Tree):
        raise InputError(f"expected the Tree of a robot, such as robot.tree, got {type(tree).__name__}")
    return tree


def by_name(table: Mapping[str, T], what: str, name: str, owner: str) -> T:
    """Return the entry of a name; raise an InputError with the closest matches if there is none."""
    try:
        return table[name]
    except (KeyError, TypeError):
        raise InputError(unknown(what, name, tuple(table), owner)) from None


def _numbers(poses: Iterable[Pose]) -> NDArray[Any]:
    rows = [np.concatenate([pose.position, pose.rotation.quaternion], axis=-1) for pose in poses]
    if not rows:
        return np.zeros((0, PLACEMENT))
    batch = np.broadcast_shapes(*(row.shape[:-1] for row in rows))
    return np.stack([np.broadcast_to(row, (*batch, PLACEMENT)) for row in rows], axis=-2)
