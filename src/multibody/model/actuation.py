"""Actuation: motors, their selection matrix, and passive forces in the joints."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry._arrays import concatenate_last, is_zero, matvec, transpose
from multibody.model import base_velocity
from multibody.model.actuator import Actuator
from multibody.model.check_configuration import coordinates, velocities
from multibody.model.joint import Joint
from multibody.model.joints import Floating
from multibody.model.model import Model
from multibody.model.tree import Tree

PARAMETERS = ("damping", "friction", "offsets")
"""Parameters that `passive` depends on."""


def motors(model: Model) -> tuple[Actuator, ...]:
    """Return the actuators; if a model states none, one on each independent joint that does not float."""
    if model.actuators is not None:
        return model.actuators
    driven = (j for j in model.joints if j.mimic is None and not isinstance(j.kind, Floating))
    return tuple(Actuator(joint.name, joint.name) for joint in driven)


def selection(model: Model) -> NDArray[Any]:
    """S, (n, nv): v to the velocities of the motors; motor torques u make the generalized forces S^T u.  [RD 3.55-3.56]

    An actuator has a row for each velocity of its joint, with its gear ratio as entry. Mimic joints have no motor.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.joints import Revolute
    >>> b = Builder("cart").body("cart").body("arm").joint("hinge", Revolute("y"), parent="cart", child="arm")
    >>> selection(b.model(floating=True))
    array([[0., 0., 0., 0., 0., 0., 1.]])
    """
    rows = [(k, each.gear) for each in motors(model) for k in _velocities(model.joint(each.joint))]
    S = np.zeros((len(rows), model.nv))
    for row, (column, gear) in enumerate(rows):
        S[row, column] = gear
    return S


def passive(tree: Tree, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
    """The generalized forces of damping, dry friction and springs in the joints, (..., nv), as they act on the robot.

    Damping and friction take energy out: their power with v is never positive. Dry friction has the sign of each
    velocity and is zero at rest, so it models no stiction. A spring stores k/2 times the squared distance from
    its rest: lengths in the joint's frame on the parent, angles the shortest way round.

    Args:
        tree: the robot.
        q: (..., nq).
        v: (..., nv), the velocity of a floating base written as the robot does.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.joint import Passive
    >>> from multibody.model.joints import Revolute
    >>> b = Builder("door").body("wall").body("door")
    >>> _ = b.joint("hinge", Revolute("z"), parent="wall", child="door", passive=Passive(damping=0.5, stiffness=2.0))
    >>> passive(b.model().tree, [0.1], [0.4])
    array([-0.4])
    """
    q, v = coordinates(tree, q), velocities(tree, v)
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    left_v = base_velocity.to_left(tree, q, v)
    parts = {j.v.start: _dissipation(tree, j, left_v) for j in tree.joints if j.mimic is None}
    for joint in tree.joints:
        if joint.passive.stiffness:
            ratio = 1.0 if joint.mimic is None else joint.mimic.ratio
            pull = -joint.passive.stiffness * _stretch(joint, joint.coordinates(q))
            parts[joint.v.start] = parts[joint.v.start] + ratio * pull
    if not parts:
        return np.zeros((*batch, 0), v.dtype)
    batch = np.broadcast_shapes(batch, *(part.shape[:-1] for part in parts.values()))
    tau = concatenate_last([parts[k] for k in sorted(parts)], batch)
    return base_velocity.force_from_left(tree, q, tau)


def _velocities(joint: Joint) -> range:
    return range(joint.v.start, joint.v.stop)


def _dissipation(tree: Tree, joint: Joint, left_v: NDArray[Any]) -> NDArray[Any]:
    """(..., nv of the joint): the forces of damping and dry friction, with those of its mimic joints."""
    rates = left_v[..., joint.v]
    force = np.zeros_like(rates)
    damping, friction = tree.damping[..., joint.v], tree.friction[..., joint.v]
    if not is_zero(damping):
        force = force - damping * rates
    return force if is_zero(friction) else force - friction * np.sign(rates)


def _stretch(joint: Joint, x: NDArray[Any]) -> NDArray[Any]:
    """(..., kind.nv): the gradient of half the squared distance from the spring's rest.

    `difference` is not it where lengths and angles mix: on SE(3), SE(2) and Schönflies motions the square of the
    logarithm weighs how far the child has to turn on its way.
    """
    kind, rest = joint.kind, joint.passive.rest
    rest = np.asarray(kind.neutral() if rest is None else rest, dtype=x.dtype)
    turned = kind.difference(rest, x)
    n = kind.rates.count("m")
    if not 0 < n < kind.nv:
        return turned
    # the linear velocity of the child is along its own axes: q' = F v
    moved = matvec(transpose(kind.rate_matrix(x)[..., :n, :n]), x[..., :n] - rest[:n])
    return np.concatenate([moved, np.broadcast_to(turned[..., n:], (*moved.shape[:-1], kind.nv - n))], axis=-1)
