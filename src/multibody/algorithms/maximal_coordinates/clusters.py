"""The links of maximal coordinates, the joints between each and its parent, and clusters of links to solve for."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.columns import Directions, directions
from multibody.algorithms.velocity_blocks import concatenate
from multibody.errors import InputError, SingularityError
from multibody.geometry import Rotation, Twist
from multibody.geometry._arrays import at, first, is_traced, matvec, solve, transpose
from multibody.geometry.operators import cross3
from multibody.model import configuration
from multibody.model.joint import Joint
from multibody.model.model import Model, expect_model


@dataclass(frozen=True)
class JointGroup:
    """The joints between a link and its parent, from the world outward."""

    bodies: tuple[int, ...]
    joints: tuple[Joint, ...]
    velocities: tuple[int, ...]
    """Their indices in v, ascending, each once."""
    generic: NDArray[Any]
    """A random configuration of the robot, at which ranks are structural."""

    @cached_property
    def rotating(self) -> tuple[int, ...]:
        """The positions in `velocities` of those that rotate the link."""
        return tuple(np.flatnonzero(np.abs(self._angular).max(axis=0) > 1e-9).tolist())

    @cached_property
    def rank(self) -> int:
        """The rank of the angular velocities of `rotating`."""
        return int(np.linalg.matrix_rank(self._angular, tol=1e-6)) if self.rotating else 0

    @property
    def only_rotates(self) -> bool:
        """Whether the relative angular velocity determines all velocities."""
        return len(self.velocities) == len(self.rotating) == self.rank

    @property
    def is_determined(self) -> bool:
        """Whether the motion of the link determines all velocities, whatever the distances between the axes."""
        return self.only_rotates or (len(self.joints) == 1 and self.joints[0].mimic is None)

    @cached_property
    def _angular(self) -> NDArray[Any]:
        """(3, n): the relative angular velocity for a unit of each velocity."""
        R, columns = np.eye(3), np.zeros((3, len(self.velocities)))
        for joint in self.joints:
            R = R @ joint.pose(self.generic).rotation.matrix
            start = self.velocities.index(joint.v.start)
            columns[:, start : start + joint.kind.nv] += R @ joint.subspace(self.generic).matrix[3:]
        return columns

    @property
    def description(self) -> str:
        """The joints in a message."""
        return _listed("joint", [joint.name for joint in self.joints]) if self.joints else "a rigid connection"


@dataclass(frozen=True)
class Cluster:
    """Links whose joints are solved for at once: one link, if its motion determines the velocities of its joints."""

    links: tuple[int, ...]
    """Indices in the list of links."""
    velocities: tuple[int, ...]
    """The indices in v of the velocities of their joints, ascending, each once."""
    rows: slice
    """The rows of each link's velocity relative to its parent: all, or the angular ones if these suffice."""
    underdetermined_message: str
    """The message where the motion does not determine the velocities."""


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
    """Indices in this list; None is the world."""
    groups: tuple[JointGroup, ...]

    def parent_name(self, k: int) -> str:
        """The parent of a link in a message."""
        p = self.parents[k]
        return "the world" if p is None else f"link {self.names[p]!r}"

    def underdetermined_message(self, model: Model) -> str:
        """The message where the motion of the links does not determine the velocities of the robot."""
        links = _listed("link", self.names)
        return f"{model.name}: the motion of {links} does not determine the velocities of all joints"

    def check_complete(self, model: Model) -> None:
        """Refuse links that are moved by only some of the joints."""
        moved = {index for group in self.groups for index in group.velocities}
        for joint in model.joints:
            if not moved.issuperset(range(joint.v.start, joint.v.stop)):
                raise InputError(
                    f"{model.name}: joint {joint.name!r} does not move {_listed('link', self.names)}; expected a link "
                    f"beyond it, such as {joint.child!r}"
                )


def links(model: Model, names: Sequence[str] | None) -> Links:
    """The named links; by default those that move and have a mass.

    Raises:
        InputError: if names are not a list of different links that move.

    >>> from multibody.model.load import load
    >>> links(load("planar-arm"), ["link3"]).names
    ('link3',)
    """
    expect_model(model)
    if names is None:
        moving = (link for link in model.links if model.tree.frame(link.name)[0])
        names = tuple(link.name for link in moving if link.inertia is not None and np.any(link.inertia.mass > 0))
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
    first_on = {i: k for k, i in reversed(list(enumerate(bodies)))}
    generic = configuration.random(model.tree, np.random.default_rng(0))
    parents, groups = [], []
    for k, i in enumerate(bodies):
        path: list[int] = []
        if first_on[i] != k:
            parents.append(first_on[i])
        else:
            while i and (not path or i not in first_on):
                path.append(i)
                i = model.bodies[i - 1].parent
            parents.append(first_on.get(i))
        joints = tuple(model.bodies[i - 1].joint for i in reversed(path))
        velocities = sorted({index for joint in joints for index in range(joint.v.start, joint.v.stop)})
        groups.append(JointGroup(tuple(reversed(path)), joints, tuple(velocities), generic))
    return Links(tuple(names), tuple(bodies), tuple(c), tuple(rotations), tuple(parents), tuple(groups))


def clusters(model: Model, selection: Links) -> list[Cluster]:
    """The links whose joints are solved for at once.

    A link's motion relative to its parent determines six velocities at most. The joints between the two may have more:
    a massless hub floats, and a hinge connects the link. Such a link is solved for with all that share velocities.

    Raises:
        InputError: if these do not determine their velocities either, at any configuration.

    >>> from multibody.model.load import load
    >>> model = load("planar-arm")
    >>> [cluster.links for cluster in clusters(model, links(model, None))]
    [(0,), (1,), (2,)]
    """
    single = {k: _cluster(model, selection, (k,)) for k, group in enumerate(selection.groups) if group.velocities}
    unsure = [k for k in single if not selection.groups[k].is_determined]
    if not unsure:
        return list(single.values())
    generic = _place(model, selection, selection.groups[0].generic)
    dependent = {k for k in unsure if _dependent(generic.system(single[k])).any()}
    result: list[Cluster] = []
    for members in _connected({k: cluster.velocities for k, cluster in single.items()}):
        if dependent.isdisjoint(members):
            result += [single[k] for k in members]
            continue
        cluster = _cluster(model, selection, members)
        if _dependent(generic.system(cluster)).any():
            children = (joint.child for k in members for joint in selection.groups[k].joints)
            further = [child for child in children if child not in selection.names]
            hint = f", such as {further[0]!r}" if further else ""
            raise InputError(f"{cluster.underdetermined_message}; expected more links among the names{hint}")
        result.append(cluster)
    return result


def _cluster(model: Model, selection: Links, members: tuple[int, ...]) -> Cluster:
    groups = [selection.groups[k] for k in members]
    velocities = tuple(sorted({index for group in groups for index in group.velocities}))
    joints = _listed("joint", list(dict.fromkeys(joint.name for group in groups for joint in group.joints)))
    links = _listed("link", [selection.names[k] for k in members])
    message = f"{model.name}: the motion of {links} does not determine the {len(velocities)} velocities of {joints}"
    rows = slice(3, 6) if len(groups) == 1 and groups[0].only_rotates else slice(0, 6)
    return Cluster(members, velocities, rows, message)


def _connected(velocities: dict[int, tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The sets of links that share velocities, directly or through other links."""
    sets: list[tuple[set[int], set[int]]] = []
    for k, own in velocities.items():
        shared = [s for s in sets if not s[1].isdisjoint(own)]
        sets = [s for s in sets if s[1].isdisjoint(own)]
        sets.append(({k}.union(*(links for links, _ in shared)), set(own).union(*(indices for _, indices in shared))))
    return sorted(tuple(sorted(links)) for links, _ in sets)


def _are_names(names: Any) -> bool:
    """Whether they are an ordered collection of different strings."""
    if not isinstance(names, Collection) or isinstance(names, str | set | frozenset):
        return False
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _listed(noun: str, names: Sequence[str]) -> str:
    """The names in a message, such as "links 'a', 'b'"."""
    listed = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    return f"{noun if len(names) == 1 else noun + 's'} {listed or '(there are none)'}"


@dataclass(frozen=True)
class PlacedLinks:
    """Links at a configuration, along the axes of the world, about the point O of `directions`."""

    links: Links
    directions: Directions
    x: list[NDArray[Any]]
    """The centre of mass of each link, (..., 3)."""

    def columns(self, k: int, velocities: Sequence[int] | None = None) -> NDArray[Any]:
        """(..., 6, n): the velocity of link k relative to its parent for a unit of each velocity, those of its group.

        Other `velocities` that do not move the link relative to its parent have zeros.
        """
        columns: dict[int, NDArray[Any]] = {}
        for column in self.directions.columns:
            if column.body in self.links.groups[k].bodies:
                twist = at_point(column.twist, self.x[k]).vector
                columns[column.index] = columns[column.index] + twist if column.index in columns else twist
        batch = np.broadcast_shapes(*(column.shape for column in columns.values()))
        zero = np.zeros_like(next(iter(columns.values())))
        indices = self.links.groups[k].velocities if velocities is None else velocities
        return np.stack([np.broadcast_to(columns.get(index, zero), batch) for index in indices], axis=-1)

    def system(self, cluster: Cluster) -> NDArray[Any]:
        """(..., rows, n): the motion of links relative to their parents for a unit of each of their velocities."""
        return concatenate([self.columns(k, cluster.velocities)[..., cluster.rows, :] for k in cluster.links], -2)

    def motion(self, V: NDArray[Any], cluster: Cluster) -> NDArray[Any]:
        """(..., rows): the velocities of links relative to their parents.  [QT 62]"""
        return concatenate([self.relative(V, k)[..., cluster.rows] for k in cluster.links], -1)

    def relative(self, V: NDArray[Any], k: int) -> NDArray[Any]:
        """(..., 6): the velocity of link k less that of its parent at the same point.  [QT 62]"""
        p = self.links.parents[k]
        if p is None:
            return V[..., k, :]
        difference = V[..., k, :] - V[..., p, :]
        linear = difference[..., :3] - cross3(V[..., p, 3:], self.x[k] - self.x[p])
        return concatenate([linear, difference[..., 3:]], -1)


def place_links(model: Model, q: NDArray[Any], names: Sequence[str] | None) -> PlacedLinks:
    """Links at a configuration.

    >>> from multibody.model.load import load
    >>> place_links(load("planar-arm"), np.zeros(3), ["link3"]).x[0].shape
    (3,)
    """
    return _place(model, links(model, names), q)


def _place(model: Model, selection: Links, q: NDArray[Any]) -> PlacedLinks:
    d = directions(model.tree, q)
    return PlacedLinks(selection, d, [d.poses[i] @ c for i, c in zip(selection.bodies, selection.centres, strict=True)])


def at_point(s: Twist, x: NDArray[Any]) -> Twist:
    """A twist about O as the velocity of its body at a point x."""
    linear = s.linear + cross3(s.angular, x)
    return Twist._trusted(linear, np.broadcast_to(s.angular, linear.shape))


def least_squares(A: NDArray[Any], b: NDArray[Any], message: str) -> NDArray[Any]:
    """A^+ b = (A^T A)^-1 A^T b, (..., n).  [QT 61]

    One step of iterative refinement follows, because the normal equations square the condition of A.

    Raises:
        SingularityError: with the message, if columns of A are linearly dependent.
    """
    solve_normal, A_T = _normal_equations(A, message), transpose(A)
    x = solve_normal(matvec(A_T, b))
    return x + solve_normal(matvec(A_T, b - matvec(A, x)))


def least_norm(A: NDArray[Any], b: NDArray[Any], message: str) -> NDArray[Any]:
    """(A^T)^+ b = A (A^T A)^-1 b: the smallest y with A^T y = b.  [QT 70]

    Raises:
        SingularityError: with the message, if columns of A are linearly dependent.
    """
    solve_normal = _normal_equations(A, message)
    y = matvec(A, solve_normal(b))
    return y + matvec(A, solve_normal(b - matvec(transpose(A), y)))


def _normal_equations(A: NDArray[Any], message: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """The function b -> (A^T A)^-1 b, if the columns of A are independent."""
    bad = _dependent(A)
    if bad.any():
        raise SingularityError(f"{message} at this configuration{at(first(bad))}")
    normal = np.matmul(transpose(A), A)
    return lambda b: solve(normal, b, message)


def _dependent(A: NDArray[Any]) -> NDArray[Any]:
    """(...): whether columns, scaled to unit length, are linearly dependent within the normal equations' precision.

    Traced code cannot read values: only more columns than rows count there.
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
    return finite & (squares[..., 0] <= MIN_SEPARATION**2 * np.finfo(A.dtype).eps * squares[..., -1])


MIN_SEPARATION = 30.0
"""Smallest singular value, in roots of the rounding, at which the normal equations still give six digits."""
