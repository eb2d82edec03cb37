"""Kinetic and potential energy, and the balance of power."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.centroidal import center_of_mass
from multibody.algorithms.rnea import rnea
from multibody.algorithms.velocity_blocks import common_batch, gravity
from multibody.geometry._arrays import dot, matvec
from multibody.geometry.operators import cross3
from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Tree


def kinetic_energy(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """(...): v^T M v / 2 in J, summed over the bodies, with the drives.  [RD 3.28-3.31, §3.4.2; QT 26]"""
    total = dot(tree.armature * v, v) if tree.nv else np.zeros(q.shape[:-1], q.dtype)
    for twist, body in zip(kinematics.twists(tree, q, v)[1:], tree.bodies, strict=True):
        mass, first_moment, about_origin = CompositeInertia.of(body.inertia)
        linear, angular = twist.linear, twist.angular
        momentum = mass[..., None] * linear + cross3(angular, 2 * first_moment)
        total = total + dot(linear, momentum) + dot(angular, matvec(about_origin, angular))
    return total / 2


def potential_energy(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """(...): -m g·c in J, zero with the centre of mass at the world's origin.  [RD 3.32-3.33, §3.4.3]"""
    if isinstance(tree.mass, float) and not tree.mass:
        return np.zeros(q.shape[:-1], q.dtype)
    return -tree.mass * dot(gravity(tree, q), center_of_mass(tree, q))


def power(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """(...): v·τ in W, what the joints must deliver: the rate of the total energy.  [RD 3.54, §3.6]"""
    return dot(v, rnea(tree, q, v, a)) if tree.nv else np.zeros(common_batch(q, v, a), q.dtype)
