"""The links that an engine with maximal coordinates moves, and the joints between each and its parent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.columns import Column, Directions, directions
from multibody.errors import InputError, SingularityError
from multibody.geometry import Rotation, Twist
from multibody.geometry._arrays import at, first, is_traced, matvec, solve, transpose
from multibody.geometry.operators import cross3
from multibody.model import configuration
from multibody.model.joint import Joint
from multibody.model.model import Model, expect_model


@dataclass(frozen=True)
class Group:
    """The joints between a link and its parent, from the world outward."""

    bodies: tuple[int, ...]
    joints: tuple[Joint, ...]
    velocities: tuple[int, ...]
    """Their places in v, in order, each once."""
    generic: NDArray[Any]
    """A configuration of the robot without symmetries, at which ranks are those of the structure."""

    @cached_property
    def turning(self) -> tuple[int, ...]:
        """The positions in `velocities` of those that turn the link."""
        return tuple(np.flatnonzero(np.abs(self._angular).max(axis=0) > 1e-9).tolist())

    @cached_property
    def rank(self) -> int:
        """The rank of the angular velocities that those give."""
        return int(np.linalg.matrix_rank(self._angular, tol=1e-6)) if self.turning else 0

    @property
    def turns(self) -> bool:
        """Whether the relative angular velocity alone tells all velocities."""
        return len(self.velocities) == len(self.turning) == self.rank

    @property
    def surely_told(self) -> bool:
        """Whether the motion of the link tells all velocities, as one sees without looking at distances."""
        return self.turns or (len(self.joints) == 1 and self.joints[0].mimic is None)

    @cached_property
    def _angular(self) -> NDArray[Any]:
        """(3, n): the relative angular velocity for a unit of each velocity."""
        place = {index: k for k, index in enumerate(self.velocities)}
        turn, columns = np.eye(3), np.zeros((3, len(place)))
        for joint in self.joints:
            turn = turn @ joint.pose(self.generic).rotation.matrix
            columns[:, place[joint.v.start] : place[joint.v.start] + joint.kind.nv] += (
                turn @ joint.subspace(self.generic).matrix[3:]
            )
        return columns

    @property
    def between(self) -> str:
        """How a message names the joints."""
        if not self.joints:
            return "a rigid connection"
        return ("joint " if len(self.joints) == 1 else "joints ") + ", ".join(repr(j.name) for j in self.joints)


@dataclass(frozen=True)
class Together:
    """Links whose joints are solved for at once: one, where its motion tells the velocities of its joints."""

    links: tuple[int, ...]
    """Places in the list of links."""
    velocities: tuple[int, ...]
    """The places in v of the velocities of their joints, in order, each once."""
    rows: slice
    """What is taken of each link's velocity relative to its parent: all, or the angular part if that tells all."""
    untold: str
    """What a message says where the velocities do not follow from the motion."""


@dataclass(frozen=True)
class Links:
    """Links by name, with their bodies, centres of mass there, parents among them and groups of joints."""

    names: tuple[str, ...]
    bodies: tuple[int, ...]
    centres: tuple[NDArray[Any], ...]
    """i_c of each link; the origin of a link without mass."""
    rotations: tuple[Rotation, ...]
    """i_R_link."""
    parents: tuple[int | None, ...]
    """Places in this list; None is the world."""
    groups: tuple[Group, ...]

    def parent_name(self, k: int) -> str:
        """How a message names the parent of a link."""
        p = self.parents[k]
        return "the world" if p is None else f"link {self.names[p]!r}"

    def untold(self, model: Model) -> str:
        """What a message says where the velocities of the robot do not follow from the motion of the links."""
        return f"{model.name}: the motion of the links {_listed(self.names)} does not tell the velocities of all joints"

    def reach_all(self, model: Model) -> None:
        """Refuse links that do not tell all velocities of the robot."""
        told = {index for group in self.groups for index in group.velocities}
        for joint in model.joints:
            if not told.issuperset(range(joint.v.start, joint.v.stop)):
                raise InputError(
                    f"{model.name}: joint {joint.name!r} moves none of the links {_listed(self.names)}; expected one "
                    f"beyond it among them, such as {joint.child!r}"
                )


def links(model: Model, names: Sequence[str] | None) -> Links:
    """The named links, or those that move and have a mass.

    Raises:
        InputError: when names are no list of names of different links that move.

    >>> from multibody.model.load import load
    >>> links(load("planar-arm"), ["link3"]).names
    ('link3',)
    """
    expect_model(model)
    if names is None:
        names = tuple(link.name for link in model.links if model.tree.frame(link.name)[0] and _massive(link.inertia))
    elif not _are_names(names):
        raise InputError(f"names: expected the names of different links in a list, got {names!r}")
    bodies, c, rotations = [], [], []
    for name in names:
        inertia = model.link(name).inertia
        i, i_H_link = model.tree.frame(name)
        if not i:
            raise InputError(f"{model.name}: link {name!r} is fixed to the world, expected links that move")
        bodies.append(i)
        c.append(i_H_link.position if inertia is None else i_H_link @ inertia.com)
        rotations.append(i_H_link.rotation)
    on: dict[int, int] = {}
    for k, i in enumerate(bodies):
        on.setdefault(i, k)
    generic = configuration.random(model.tree, np.random.default_rng(0))
    parents, groups = [], []
    for k, i in enumerate(bodies):
        path: list[int] = []
        if on[i] != k:
            parents.append(on[i])
        else:
            while i and (not path or i not in on):
                path.append(i)
                i = model.bodies[i - 1].parent
            parents.append(on.get(i))
        joints = tuple(model.bodies[i - 1].joint for i in reversed(path))
        velocities = sorted({index for joint in joints for index in range(joint.v.start, joint.v.stop)})
        groups.append(Group(tuple(reversed(path)), joints, tuple(velocities), generic))
    return Links(tuple(names), tuple(bodies), tuple(c), tuple(rotations), tuple(parents), tuple(groups))


def together(model: Model, selection: Links) -> list[Together]:
    """The links whose joints are solved for at once.

    A link's motion relative to its parent tells six velocities at most, and the joints between the two may have more: a
    massless hub floats, and a hinge holds the link. Such a link is solved for with all that share velocities with it.

    Raises:
        InputError: when these do not tell their velocities either, wherever the robot is.

    >>> from multibody.model.load import load
    >>> model = load("planar-arm")
    >>> [cluster.links for cluster in together(model, links(model, None))]
    [(0,), (1,), (2,)]
    """
    alone = {k: _together(model, selection, (k,)) for k, group in enumerate(selection.groups) if group.velocities}
    unsure = [k for k in alone if not selection.groups[k].surely_told]
    if not unsure:
        return list(alone.values())
    here = _placed(model, selection, selection.groups[0].generic)
    untold = {k for k in unsure if _dependent(here.system(alone[k])).any()}
    sets: list[Together] = []
    for members in _sharing({k: cluster.velocities for k, cluster in alone.items()}):
        if untold.isdisjoint(members):
            sets += [alone[k] for k in members]
            continue
        cluster = _together(model, selection, members)
        if _dependent(here.system(cluster)).any():
            children = (joint.child for k in members for joint in selection.groups[k].joints)
            more = [child for child in children if child not in selection.names]
            raise InputError(
                f"{cluster.untold}; expected more links among the names{f', such as {more[0]!r}' if more else ''}"
            )
        sets.append(cluster)
    return sets


def _together(model: Model, selection: Links, members: tuple[int, ...]) -> Together:
    groups = [selection.groups[k] for k in members]
    velocities = tuple(sorted({index for group in groups for index in group.velocities}))
    joints = list(dict.fromkeys(joint.name for group in groups for joint in group.joints))
    names = [selection.names[k] for k in members]
    untold = (
        f"{model.name}: the motion of {'link' if len(names) == 1 else 'links'} {_listed(names)} does not tell the "
        f"{len(velocities)} velocities of {'joint' if len(joints) == 1 else 'joints'} {_listed(joints)}"
    )
    rows = slice(3, 6) if len(groups) == 1 and groups[0].turns else slice(0, 6)
    return Together(members, velocities, rows, untold)


def _sharing(velocities: dict[int, tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Links, by their velocities, in sets: two that share a velocity are in the same."""
    root: dict[int, int] = {}

    def top(index: int) -> int:
        while root.setdefault(index, index) != index:
            root[index] = index = root[root[index]]
        return index

    for own in velocities.values():
        for index in own[1:]:
            root[top(index)] = top(own[0])
    sets: dict[int, list[int]] = {}
    for k, own in velocities.items():
        sets.setdefault(top(own[0]), []).append(k)
    return [tuple(members) for members in sets.values()]


def _are_names(names: Any) -> bool:
    """Whether they are texts, each once, in an order, which a set has not."""
    if not isinstance(names, Collection) or isinstance(names, str | set | frozenset):
        return False
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "") if names else "(there are none)"


def _massive(inertia: Any) -> bool:
    return inertia is not None and bool(np.any(inertia.mass > 0))


@dataclass(frozen=True)
class Placed:
    """Links at a configuration, along the axes of the world, about the point O of `directions`."""

    links: Links
    directions: Directions
    x: list[NDArray[Any]]
    """The centre of mass of each link, (..., 3)."""
    columns_of: dict[int, list[Column]]
    """By body."""

    def columns(self, k: int) -> NDArray[Any]:
        """(..., 6, n): the velocity of link k relative to its parent for a unit of each velocity of its group."""
        columns: dict[int, NDArray[Any]] = {}
        for i in self.links.groups[k].bodies:
            for column in self.columns_of[i]:
                own = at_point(column.twist, self.x[k]).vector
                columns[column.index] = columns[column.index] + own if column.index in columns else own
        batch = np.broadcast_shapes(*(column.shape for column in columns.values()))
        return np.stack([np.broadcast_to(columns[index], batch) for index in self.links.groups[k].velocities], axis=-1)

    def system(self, cluster: Together) -> NDArray[Any]:
        """(..., rows, n): the motion of links relative to their parents for a unit of each of their velocities."""
        blocks = []
        for k in cluster.links:
            A = self.columns(k)[..., cluster.rows, :]
            own = {index: A[..., position] for position, index in enumerate(self.links.groups[k].velocities)}
            zero = np.zeros_like(A[..., 0])
            blocks.append(np.stack([own.get(index, zero) for index in cluster.velocities], axis=-1))
        batch = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
        return np.concatenate([np.broadcast_to(block, (*batch, *block.shape[-2:])) for block in blocks], axis=-2)

    def motion(self, V: NDArray[Any], cluster: Together) -> NDArray[Any]:
        """(..., rows): the velocities of links relative to their parents.  [QT 62]"""
        parts = [self.relative(V, k)[..., cluster.rows] for k in cluster.links]
        batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)

    def relative(self, V: NDArray[Any], k: int) -> NDArray[Any]:
        """(..., 6): the velocity of link k less that of its parent at the same point.  [QT 62]"""
        p, own = self.links.parents[k], V[..., k, :]
        if p is None:
            return own
        before = V[..., p, :]
        difference = own - before
        linear = difference[..., :3] - cross3(before[..., 3:], self.x[k] - self.x[p])
        return np.concatenate([linear, np.broadcast_to(difference[..., 3:], linear.shape)], axis=-1)


def placed(model: Model, q: NDArray[Any], names: Sequence[str] | None) -> Placed:
    """Links at a configuration.

    >>> from multibody.model.load import load
    >>> placed(load("planar-arm"), np.zeros(3), ["link3"]).x[0].shape
    (3,)
    """
    return _placed(model, links(model, names), q)


def _placed(model: Model, selection: Links, q: NDArray[Any]) -> Placed:
    d = directions(model.tree, q)
    columns_of: dict[int, list[Column]] = {i: [] for i, _, _ in model.tree.outward()}
    for column in d.columns:
        columns_of[column.body].append(column)
    x = []
    for i, i_c in zip(selection.bodies, selection.centres, strict=True):
        pose = d.poses[i]
        assert pose is not None
        x.append(pose @ i_c)
    return Placed(selection, d, x, columns_of)


def at_point(s: Twist, x: NDArray[Any]) -> Twist:
    """A twist about O as the velocity of its body at a point x."""
    linear = s.linear + cross3(s.angular, x)
    return Twist._trusted(linear, np.broadcast_to(s.angular, linear.shape))


def least_squares(A: NDArray[Any], b: NDArray[Any], untold: str) -> NDArray[Any]:
    """A^+ b = (A^T A)^-1 A^T b, (..., n).  [QT 61]

    The residual is solved for once more: the normal equations alone square the condition of A.

    Raises:
        SingularityError: with the message `untold`, where numbers in A have columns that depend on each other.
    """
    _expect_independent(A, untold)
    normal, A_T = np.matmul(transpose(A), A), transpose(A)
    x = solve(normal, matvec(A_T, b), untold)
    return x + solve(normal, matvec(A_T, b - matvec(A, x)), untold)


def least_norm(A: NDArray[Any], b: NDArray[Any], untold: str) -> NDArray[Any]:
    """(A^T)^+ b = A (A^T A)^-1 b: the smallest y with A^T y = b.  [QT 70]

    Raises:
        SingularityError: with the message `untold`, where numbers in A have columns that depend on each other.
    """
    _expect_independent(A, untold)
    normal, A_T = np.matmul(transpose(A), A), transpose(A)
    y = matvec(A, solve(normal, b, untold))
    return y + matvec(A, solve(normal, b - matvec(A_T, y), untold))


def _expect_independent(A: NDArray[Any], untold: str) -> None:
    bad = _dependent(A)
    if bad.any():
        raise SingularityError(f"{untold} at this configuration{at(first(bad))}")


def _dependent(A: NDArray[Any]) -> NDArray[Any]:
    """(...): whether columns, of unit length, depend on each other, to what the normal equations can tell apart.

    Code that is traced cannot look at values: only more columns than rows count there.
    """
    rows, n = A.shape[-2:]
    if is_traced(A) or not n or rows < n:
        return np.full(A.shape[:-2], rows < n)
    finite = np.asarray(np.isfinite(A).all(axis=(-2, -1)))
    A = np.where(finite[..., None, None], A, 0.0)
    size = np.linalg.norm(A, axis=-2, keepdims=True)
    if n == 1:
        return finite & (size[..., 0, 0] == 0)
    unit = A / np.where(size > 0, size, 1.0)
    squares = np.linalg.eigvalsh(np.matmul(transpose(unit), unit))  # of the singular values, the smallest first
    return finite & (squares[..., 0] <= APART**2 * np.finfo(A.dtype).eps * squares[..., -1])


APART = 30.0
"""How far, in roots of the rounding, columns are from dependent for the normal equations to give six digits."""
