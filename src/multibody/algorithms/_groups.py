"""The links that an engine with maximal coordinates moves, and the joints between each and its parent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.columns import Column, Directions, directions
from multibody.errors import InputError
from multibody.geometry import Rotation, Twist
from multibody.geometry._arrays import matvec, solve, transpose
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
        """Of the angular velocities that those give."""
        return int(np.linalg.matrix_rank(self._angular, tol=1e-6)) if self.turning else 0

    @property
    def turns(self) -> bool:
        """Whether the relative angular velocity alone tells all velocities."""
        return len(self.velocities) == len(self.turning) == self.rank

    @cached_property
    def _angular(self) -> NDArray[Any]:
        """(3, n): the relative angular velocity for a unit of each velocity."""
        place = {index: k for k, index in enumerate(self.velocities)}
        turn, found = np.eye(3), np.zeros((3, len(place)))
        for joint in self.joints:
            turn = turn @ joint.pose(self.generic).rotation.matrix
            found[:, place[joint.v.start] : place[joint.v.start] + joint.kind.nv] += (
                turn @ joint.subspace(self.generic).matrix[3:]
            )
        return found

    @property
    def between(self) -> str:
        """How a message names the joints."""
        if not self.joints:
            return "a rigid connection"
        return ("joint " if len(self.joints) == 1 else "joints ") + ", ".join(repr(j.name) for j in self.joints)


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
        names = tuple(link.name for link in model.links if model.frame(link.name)[0] and _massive(link.inertia))
    elif not _are_names(names):
        raise InputError(f"names: expected the names of different links in a list, got {names!r}")
    bodies, c, rotations = [], [], []
    for name in names:
        inertia = model.link(name).inertia
        i, i_H_link = model.frame(name)
        if not i:
            raise InputError(f"{model.name}: link {name!r} is fixed to the world, expected links that move")
        bodies.append(i)
        c.append(i_H_link.position if inertia is None else i_H_link @ inertia.com)
        rotations.append(i_H_link.rotation)
    on: dict[int, int] = {}
    for k, i in enumerate(bodies):
        on.setdefault(i, k)
    generic = configuration.random(model, np.random.default_rng(0))
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
        found: dict[int, NDArray[Any]] = {}
        for i in self.links.groups[k].bodies:
            for column in self.columns_of[i]:
                own = at_point(column.twist, self.x[k]).vector
                found[column.index] = found[column.index] + own if column.index in found else own
        batch = np.broadcast_shapes(*(column.shape for column in found.values()))
        return np.stack([np.broadcast_to(found[index], batch) for index in self.links.groups[k].velocities], axis=-1)

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
    found, d = links(model, names), directions(model, q)
    columns_of: dict[int, list[Column]] = {i: [] for i, _, _ in model.outward()}
    for column in d.columns:
        columns_of[column.body].append(column)
    x = []
    for i, i_c in zip(found.bodies, found.centres, strict=True):
        pose = d.poses[i]
        assert pose is not None
        x.append(pose @ i_c)
    return Placed(found, d, x, columns_of)


def at_point(s: Twist, x: NDArray[Any]) -> Twist:
    """A twist about O as the velocity of its body at a point x."""
    linear = s.linear + cross3(s.angular, x)
    return Twist._trusted(linear, np.broadcast_to(s.angular, linear.shape))


def least_squares(A: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A^+ b = (A^T A)^-1 A^T b, (..., n).  [QT 61]

    The residual is solved for once more: the normal equations alone square the condition of A.
    """
    normal, A_T = np.matmul(transpose(A), A), transpose(A)
    x = solve(normal, matvec(A_T, b), WHAT)
    return x + solve(normal, matvec(A_T, b - matvec(A, x)), WHAT)


def least_norm(A: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """(A^T)^+ b = A (A^T A)^-1 b: the smallest y with A^T y = b.  [QT 70]"""
    normal, A_T = np.matmul(transpose(A), A), transpose(A)
    y = matvec(A, solve(normal, b, WHAT))
    return y + matvec(A, solve(normal, b - matvec(A_T, y), WHAT))


WHAT = "J^T J of the velocities of links"
