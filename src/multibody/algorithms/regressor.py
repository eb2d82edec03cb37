"""The regressor: inverse dynamics is linear in the inertial parameters of the bodies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import forces, in_left
from multibody.algorithms.rnea import outward_motion
from multibody.algorithms.velocity_blocks import common_batch, stack
from multibody.geometry import Wrench
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree, expect_tree

PARAMETERS = 10
"""Inertial parameters of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""


def parameters(tree: Tree) -> NDArray[Any]:
    """(bodies, 10): the inertial parameters of the moving bodies, in the order of `tree.bodies`.

    >>> import multibody as mb
    >>> parameters(mb.load("cart-pendulum").tree)[:, 0]  # the masses
    array([1. , 0.3])
    """
    bodies = expect_tree(tree).bodies
    return np.stack([body.inertia.parameters() for body in bodies]) if bodies else np.zeros((0, PARAMETERS))


@in_left(returns=forces)
def regressor(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """Y, (..., nv, 10 bodies): τ = Y(q, v, a) π + armature a, with π the rows of `parameters`, one after the other.

    Args:
        tree: the robot.
        q: (..., nq).
        v: (..., nv) in the robot's own base representation.
        a: (..., nv).

    >>> import multibody as mb
    >>> robot, rng = mb.load("planar-arm"), np.random.default_rng(0)
    >>> q, v, a = rng.standard_normal((3, 3))
    >>> tau = regressor(robot.tree, q, v, a) @ parameters(robot.tree).ravel()
    >>> bool(np.allclose(tau, robot.inverse_dynamics(q, v, a)))
    True
    """
    motion = outward_motion(tree, q, v, a)
    batch, n = common_batch(q, v, a), tree.nv
    columns: list[NDArray[Any]] = []
    for body in tree.bodies:
        for f in _wrenches(motion.i_o[body.index], motion.i_U[body.index]):
            entries: list[Any] = [np.zeros(batch, q.dtype)] * n
            i, wrench = body.index, f
            while i:
                joint = tree.bodies[i - 1].joint
                part = motion.i_S[i].project(wrench)
                for k in range(joint.kind.nv):
                    entries[joint.v.start + k] = entries[joint.v.start + k] + part[..., k]
                wrench, i = motion.p_H[i] @ wrench, tree.bodies[i - 1].parent
            columns.append(np.stack([np.broadcast_to(x, batch) for x in entries], axis=-1))
    return stack(columns, -1, (*batch, n, 0), q)


def _wrenches(o: NDArray[Any], U: NDArray[Any]) -> list[Wrench]:
    """The wrench of a body for a unit of each of its parameters, from the acceleration o + U r of its points.

    The six moments of inertia enter through the second moments, of which Ixx is yy + zz, and so on.
    """
    zero = np.zeros_like(o)
    wrenches = [Wrench._trusted(o, zero)]
    axes = np.eye(3, dtype=o.dtype)
    for k in range(3):
        wrenches.append(Wrench._trusted(U[..., :, k], cross3(axes[k], o)))
    x, y, z = range(3)

    def second(i: int, j: int) -> NDArray[Any]:
        """The torque of a unit of the second moment ij: r × U r with r_i r_j = 1."""
        torque = cross3(axes[i], U[..., :, j])
        return torque if i == j else torque + cross3(axes[j], U[..., :, i])

    xx, yy, zz = second(x, x), second(y, y), second(z, z)
    moments = [(yy + zz - xx) / 2, -second(x, y), (xx + zz - yy) / 2, -second(x, z), -second(y, z), (xx + yy - zz) / 2]
    return [*wrenches, *(Wrench._trusted(zero, torque) for torque in moments)]
