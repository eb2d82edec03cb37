"""Contacts: spheres and points on its links, of its collision shapes too, and spheres on spheres."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from multibody.algorithms.soft_contact import number
from multibody.errors import InputError
from multibody.geometry._arrays import finite_point
from multibody.model.shapes import Box, Capsule, Sphere
from multibody.model.tree import Tree
from multibody.robot import Robot


@dataclass(frozen=True)
class SphereContact:
    """A sphere on a frame of the robot; without a radius it is a point.

    >>> SphereContact("foot-lf", radius=0.02)
    SphereContact(frame='foot-lf', radius=0.02, point=(0.0, 0.0, 0.0))
    """

    frame: str
    radius: float = 0.0
    """In m."""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The centre, in the frame, in m."""

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise InputError(f"contact: expected the name of a frame, got {self.frame!r}")
        object.__setattr__(self, "radius", number(self.radius, f"contact at {self.frame!r}, radius"))
        object.__setattr__(self, "point", finite_point(self.point, f"contact at {self.frame!r}, point"))


@dataclass(frozen=True)
class SpherePair:
    """Two spheres that touch each other, such as a foot and a ball, or two feet.

    >>> foot, ball = SphereContact("foot-lf", radius=0.02), SphereContact("ball", radius=0.1)
    >>> SpherePair(foot, ball, friction=0.5).restitution
    0.0
    """

    first: SphereContact
    second: SphereContact
    friction: float = 0.8
    """Coulomb's μ: the cone is circular."""
    restitution: float = 0.0
    """From 0, plastic, to 1, elastic; Newton's, of the velocities along the line of the centres."""

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not isinstance(getattr(self, name), SphereContact):
                raise InputError(f"pair, {name}: expected a simulate.SphereContact, got {getattr(self, name)!r}")
        object.__setattr__(self, "friction", number(self.friction, "pair, friction"))
        object.__setattr__(self, "restitution", share(self.restitution, "pair, restitution"))


def contacts_of(robot: Robot) -> tuple[SphereContact, ...]:
    """The contacts of a robot's collision shapes: spheres, the ends of capsules,
    the corners of boxes.

    Cylinders and meshes have none: name points on them as `SphereContact(frame, point=...)`.

    >>> import multibody as mb
    >>> contacts = contacts_of(mb.load("quadruped"))
    >>> len(contacts), sum(contact.radius == 0 for contact in contacts)
    (28, 8)
    """
    contacts = []
    for link in robot.model.links:
        for geometry in link.collisions:
            pose = geometry.pose
            for center, radius in _spheres(geometry.shape):
                x, y, z = (pose.rotation @ np.array(center) + pose.position).tolist()
                contacts.append(SphereContact(link.name, radius, (x, y, z)))
    return tuple(contacts)


def _spheres(shape: Any) -> list[tuple[tuple[float, ...], float]]:
    """Centres and radii of the spheres with which a shape touches a plane."""
    if isinstance(shape, Sphere):
        return [((0.0, 0.0, 0.0), shape.radius)]
    if isinstance(shape, Capsule):
        return [((0.0, 0.0, side * shape.length / 2), shape.radius) for side in (-1, 1)]
    if isinstance(shape, Box):
        return [(corner, 0.0) for corner in product(*((-side / 2, side / 2) for side in shape.size))]
    return []


def checked(contacts: Any, tree: Tree) -> tuple[SphereContact, ...]:
    """Contacts on frames that the robot has."""
    if not isinstance(contacts, list | tuple) or not all(isinstance(each, SphereContact) for each in contacts):
        raise InputError(f"contacts: expected a list of simulate.SphereContact, got {contacts!r}")
    for contact in contacts:
        tree.frame(contact.frame)
    return tuple(contacts)


def checked_pairs(pairs: Any, tree: Tree) -> tuple[SpherePair, ...]:
    """Pairs of spheres on two bodies that the robot has."""
    if not isinstance(pairs, list | tuple) or not all(isinstance(each, SpherePair) for each in pairs):
        raise InputError(f"pairs: expected a list of simulate.SpherePair, got {pairs!r}")
    for pair in pairs:
        first, second = (tree.frame(contact.frame)[0] for contact in (pair.first, pair.second))
        if first == second:
            names = f"{pair.first.frame!r} and {pair.second.frame!r}"
            raise InputError(f"pairs: expected spheres on two bodies, got {names}, which are on one")
        if pair.first.radius + pair.second.radius == 0:
            raise InputError(f"pairs: expected a radius of {pair.first.frame!r} or {pair.second.frame!r}, got points")
    return tuple(pairs)


def share(x: Any, what: str) -> float:
    """A number from 0 to 1."""
    value = number(x, what)
    if value > 1:
        raise InputError(f"{what}: expected a number from 0 to 1, got {value!r}")
    return value
