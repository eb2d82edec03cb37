"""Constraints between two frames of a robot, or two of its joints: loops that a tree cannot hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints._constraint import Constraint
from multibody.errors import InputError
from multibody.geometry._arrays import dot
from multibody.geometry.operators import cross3
from multibody.model.model import Model


@dataclass(frozen=True)
class PointClosure(Constraint):
    """The origins of two frames stay together: three rows along the world's axes."""

    name: str
    first: str
    second: str

    @property
    def rows(self) -> int:
        return 3

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _position(model, self.first, q) - _position(model, self.second, q)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _difference(model, self.first, self.second, q)[..., :3, :]

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return _bias(model, self.first, self.second, q, v)[..., :3]

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)


@dataclass(frozen=True)
class Weld(Constraint):
    """Two frames stay on each other: six rows, positions and angular velocities along the world's axes."""

    name: str
    first: str
    second: str

    @property
    def rows(self) -> int:
        return 6

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        one, two = kinematics.pose(model, self.first, q), kinematics.pose(model, self.second, q)
        return np.concatenate([one.position - two.position, one.rotation.boxminus(two.rotation)], axis=-1)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _difference(model, self.first, self.second, q)

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return _bias(model, self.first, self.second, q, v)

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)


@dataclass(frozen=True)
class HingeClosure(Constraint):
    """Two frames share their origin and their z axis: five rows.

    With z of the first frame and x, y of the second, the last two errors are x·z and y·z: they vanish for opposed axes,
    too, so start near the configuration that is meant.
    """

    name: str
    first: str
    second: str

    @property
    def rows(self) -> int:
        return 5

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        z, across = self._axes(model, q)
        tilt = np.stack([dot(x, z) for x in across], axis=-1)
        return np.concatenate([_position(model, self.first, q) - _position(model, self.second, q), tilt], axis=-1)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        J = _difference(model, self.first, self.second, q)
        z, across = self._axes(model, q)
        normals = np.stack([cross3(z, x) for x in across], axis=-2)
        return np.concatenate([J[..., :3, :], np.matmul(normals, J[..., 3:, :])], axis=-2)

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = _bias(model, self.first, self.second, q, v)
        w1, w2 = (kinematics.velocity(model, frame, q, v, "mixed")[..., 3:] for frame in (self.first, self.second))
        z, across = self._axes(model, q)
        tilt = []
        for x in across:
            turning = cross3(cross3(w1, z), x) + cross3(z, cross3(w2, x))
            tilt.append(dot(cross3(z, x), a[..., 3:]) + dot(turning, w1 - w2))
        return np.concatenate([a[..., :3], np.stack(tilt, axis=-1)], axis=-1)

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)

    def _axes(self, model: Model, q: NDArray[Any]) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
        one = kinematics.pose(model, self.first, q).rotation.matrix
        two = kinematics.pose(model, self.second, q).rotation.matrix
        return one[..., :, 2], (two[..., :, 0], two[..., :, 1])


@dataclass(frozen=True)
class Distance(Constraint):
    """The origins of two frames stay at a distance: a rod without mass, one row."""

    name: str
    first: str
    second: str
    length: float
    """In m, positive."""

    @property
    def rows(self) -> int:
        return 1

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        return np.sqrt(dot(d, d))[..., None] - self.length

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        along = d / np.sqrt(dot(d, d))[..., None]
        return np.matmul(along[..., None, :], _difference(model, self.first, self.second, q)[..., :3, :])

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        length = np.sqrt(dot(d, d))
        one, two = (kinematics.velocity(model, frame, q, v, "mixed") for frame in (self.first, self.second))
        d_dot = one[..., :3] - two[..., :3]
        a = _bias(model, self.first, self.second, q, v)[..., :3]
        stretch = dot(d, d_dot) / length
        return ((dot(d, a) + dot(d_dot, d_dot) - stretch * stretch) / length)[..., None]

    def check(self, model: Model) -> None:
        if not self.length > 0:
            raise InputError(f"constraint {self.name!r}: expected a positive length, got {self.length}")
        two_bodies(model, self.first, self.second, self.name)

    def _between(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _position(model, self.first, q) - _position(model, self.second, q)


@dataclass(frozen=True)
class JointCoupling(Constraint):
    """One joint follows another, q = ratio q_other + offset, by a force: one row."""

    name: str
    joint: str
    other: str
    ratio: float = 1.0
    offset: float = 0.0

    @property
    def rows(self) -> int:
        return 1

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        one, two = (model.joint(name).coordinates(q) for name in (self.joint, self.other))
        return one - self.ratio * two - self.offset

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        row = np.zeros((1, model.nv))
        row[:, model.joint(self.joint).v] += 1.0
        row[:, model.joint(self.other).v] -= self.ratio
        return np.broadcast_to(row, (*q.shape[:-1], 1, model.nv))

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        del model, v
        return np.zeros((*q.shape[:-1], 1), q.dtype)

    def check(self, model: Model) -> None:
        for name in (self.joint, self.other):
            if model.joint(name).nv != 1:
                raise InputError(f"constraint {self.name!r}: expected joints with one velocity, got {name!r}")


def two_bodies(model: Model, first: str, second: str, name: str) -> None:
    """Refuse two frames that no joint lies between."""
    if not model.chain(first, second):
        raise InputError(f"constraint {name!r}: the frames {first!r} and {second!r} always move as one body")


def _position(model: Model, frame: str, q: NDArray[Any]) -> NDArray[Any]:
    return kinematics.pose(model, frame, q).position


def _difference(model: Model, first: str, second: str, q: NDArray[Any]) -> NDArray[Any]:
    return jacobian.jacobian(model, first, q, "mixed") - jacobian.jacobian(model, second, q, "mixed")


def _bias(model: Model, first: str, second: str, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    one, two = (kinematics.acceleration(model, frame, q, v, np.zeros_like(v), "mixed") for frame in (first, second))
    return one - two
