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
    driven = (j for j in model.joints if j.mimic is None and _can_be_driven(j))
    return tuple(Actuator(joint.name, joint.name) for joint in driven)


def actuated_joints(tree: Tree) -> list[Joint]:
    """Return the joints that controllers can drive, in the order of v: those that do not float, without mimic joints.

    A robot may have several floating bodies, such as a ball beside it, anywhere in v.
    """
    return [joint for joint in tree.independent_joints if _can_be_driven(joint)]


def actuated_indices(tree: Tree) -> list[int]:
    """Return the indices in v of the actuated joints."""
    return [k for joint in actuated_joints(tree) for k in _velocities(joint)]


def actuated_coordinates(tree: Tree) -> list[int]:
    """Return the indices in q of the actuated joints."""
    return [k for joint in actuated_joints(tree) for k in range(joint.q.start, joint.q.stop)]


def floating_joints(tree: Tree) -> list[Joint]:
    """Return the joints that float, in the order of v: bases, and bodies that no controller drives."""
    return [joint for joint in tree.independent_joints if not _can_be_driven(joint)]


def base_velocity_indices(tree: Tree) -> list[int]:
    """Return the indices in v of the joints that float."""
    return [k for joint in floating_joints(tree) for k in _velocities(joint)]


def with_zero_base(tree: Tree, x: NDArray[Any]) -> NDArray[Any]:
    """Return x, (..., actuated joints), as (..., nv), with zeros for joints that float."""
    if not base_velocity_indices(tree):
        return x
    place, zero = {k: i for i, k in enumerate(actuated_indices(tree))}, np.zeros(x.shape[:-1], x.dtype)
    return np.stack([x[..., place[k]] if k in place else zero for k in range(tree.nv)], axis=-1)


def joint_error(tree: Tree, q: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """Return the displacement of the actuated joints from q, (..., nq), to their target coordinates, one a velocity."""
    parts, start = [], 0
    for joint in actuated_joints(tree):
        own, goal = q[..., joint.q], target[..., start : start + joint.nq]
        # a hinge that turns without end is pulled to the target's own turn
        parts.append(goal - own if joint.nq == 1 else joint.kind.difference(own, goal))
        start += joint.nq
    return np.concatenate(parts, axis=-1) if parts else np.zeros((0,))


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


def _can_be_driven(joint: Joint) -> bool:
    """Whether a motor can be on a joint: not on one that floats."""
    return not isinstance(joint.kind, Floating)


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
