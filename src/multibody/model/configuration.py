"""Configurations of a robot: a manifold without singularities.  [MDN 77-79; RD §2.10, §2.10.1; From §4]

q are coordinates (..., nq), v velocities (..., nv). Functions accept batches; functions of q and v also traced arrays.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import quaternions, rates
from multibody.geometry._arrays import (
    batch_of,
    batch_shape,
    block_matrix,
    choice,
    concatenate_last,
    eye_like,
    floats,
    generator,
    is_traced,
    numbers,
)
from multibody.model import base_velocity
from multibody.model.check_configuration import coordinates, velocities
from multibody.model.joint import Joint
from multibody.model.tree import Tree


def neutral(tree: Tree) -> NDArray[Any]:
    """(nq,): all joints at zero, quaternions at the identity."""
    return _joined([joint.kind.neutral() for joint in tree.independent_joints], ())


def random(tree: Tree, rng: np.random.Generator, batch: int | tuple[int, ...] = ()) -> NDArray[Any]:
    """(..., nq): uniform within the limits, quaternions uniform over rotations."""
    batch = batch_of(batch)
    generator(rng)
    parts = [j.kind.random(rng, tree.lower[j.q], tree.upper[j.q], batch) for j in tree.independent_joints]
    return _joined(parts, batch)


def integrate(tree: Tree, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
    """The configuration after moving at the velocity dv for one unit of time.  [MDN 77-79; From 59]

    Joints move on their group. A base moves on SE(3) when its velocity is "left" or "right", and with position and
    rotation apart when it is "kindr" or "mixed".
    """
    return _each(tree, lambda j, x, d: _base(tree, j).integrate(x, d), (q, "q"), (dv, "v"))


def difference(tree: Tree, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
    """The shortest dv with integrate(q0, dv) = q1."""
    return _each(tree, lambda j, x0, x1: _base(tree, j).difference(x0, x1), (q0, "q"), (q1, "q"))


def interpolate(tree: Tree, q0: NDArray[Any], q1: NDArray[Any], t: ArrayLike) -> NDArray[Any]:
    """q0 at t = 0, q1 at t = 1, along the geodesic at constant velocity; t of any batch shape."""
    way = difference(tree, q0, q1)
    return integrate(tree, q0, way * numbers(t, "t", way)[..., None])


def normalize(tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
    """Return the configuration with quaternions scaled to length one."""

    def unit(joint: Joint, x: NDArray[Any]) -> NDArray[Any]:
        where = joint.kind.quaternion
        if where is None:
            return x
        return np.concatenate([x[..., : where.start], quaternions.normalize(x[..., where]), x[..., where.stop :]], -1)

    return _each(tree, unit, (q, "q"))


MIMIC_TOLERANCE = 1e-6
"""Accepted deviation of a mimic joint's stated value from that of its leader's, relative to 1 or the larger value."""


def from_names(tree: Tree, values: Mapping[str, ArrayLike], default: ArrayLike) -> NDArray[Any]:
    """Return the configuration (..., nq) with some joints at named values.

    Args:
        tree: the robot.
        values: {joint: (...)}; {joint: (..., n)} for a joint with n > 1 coordinates. Batches broadcast. Mimic joints
            are accepted if they agree with the joints that they follow.
        default: (..., nq), the coordinates of the other joints.

    Raises:
        InputError: for unknown names, inconsistent mimic joints and wrong shapes.

    >>> import multibody as mb
    >>> from_names(mb.load("planar-arm").tree, {"joint2": [0.5, 1.0]}, [0.1, 0.2, 0.3])
    array([[0.1, 0.5, 0.3],
           [0.1, 1. , 0.3]])
    """
    q = _from_names(tree, values, coordinates(tree, default, "default"), "q")
    for name in values:
        joint = tree.joint(name)
        if joint.mimic is not None:
            leader = tree.joint(joint.mimic.joint).coordinates(q)[..., 0]
            _check_mimic(joint, values[name], joint.mimic.ratio * leader + joint.mimic.offset)
    return q


def velocities_from_names(tree: Tree, values: Mapping[str, ArrayLike], default: ArrayLike) -> NDArray[Any]:
    """Return the velocity (..., nv) with some joints at named values, as `from_names` does for configurations."""
    v = _from_names(tree, values, velocities(tree, default, "default"), "v")
    for name in values:
        joint = tree.joint(name)
        if joint.mimic is not None:
            _check_mimic(joint, values[name], joint.mimic.ratio * v[..., tree.joint(joint.mimic.joint).v][..., 0])
    return v


def _from_names(tree: Tree, values: Mapping[str, ArrayLike], rest: NDArray[Any], part: str) -> NDArray[Any]:
    """The vector with named values of joints; `part` is "q" or "v". Mimic joints have no entry."""
    if not isinstance(values, Mapping):
        raise InputError(f"{tree.name}: expected {{joint: value}}, got {type(values).__name__}")
    joints = {name: tree.joint(name) for name in values}
    stated = {
        name: _named_values(joint, values[name], joint.nq if part == "q" else joint.nv)
        for name, joint in joints.items()
        if joint.mimic is None
    }
    batch = batch_shape(", ".join(["default", *stated]), (rest, 1), *((x, 1) for x in stated.values()))
    parts = [stated.get(joint.name, rest[..., getattr(joint, part)]) for joint in tree.independent_joints]
    return concatenate_last(parts, batch) if parts else rest


def _named_values(joint: Joint, value: ArrayLike, count: int) -> NDArray[Any]:
    """The values (..., count) of a joint."""
    if count == 1:
        return floats(value, f"joint {joint.name!r}")[..., None]
    return floats(value, f"joint {joint.name!r} ({joint.kind.name})", count)


def _check_mimic(joint: Joint, value: ArrayLike, wanted: NDArray[Any]) -> None:
    """Raise an InputError if a mimic joint's value differs from that of its leader."""
    x = floats(value, f"joint {joint.name!r}")
    assert joint.mimic is not None
    leader, ratio, offset = joint.mimic.joint, joint.mimic.ratio, joint.mimic.offset
    rule = f"joint {joint.name!r} has no coordinate of its own: it is {ratio:g} times {leader!r} plus {offset:g}"
    if is_traced(x) or is_traced(wanted):
        raise InputError(f"{rule}; set {leader!r}")
    scale = np.maximum(1.0, np.maximum(abs(x), abs(wanted)))
    if (bad := ~(abs(x - wanted) <= MIMIC_TOLERANCE * scale)).any():
        k = np.unravel_index(np.argmax(bad), bad.shape)
        x, wanted = np.broadcast_arrays(x, wanted)
        raise InputError(f"{rule}; expected {wanted[k]:.6g}, got {x[k]:.6g}: set {leader!r}")


def by_name(tree: Tree, q: ArrayLike) -> dict[str, NDArray[Any]]:
    """Return {joint name: (...), or (..., n) if the joint has n > 1 coordinates}; mimic joints are left out.

    >>> import multibody as mb
    >>> by_name(mb.load("cart-pendulum").tree, [0.5, 1.0])
    {'slider': array(0.5), 'hinge': array(1.)}
    """
    q = coordinates(tree, q)
    return {j.name: q[..., j.q.start] if j.nq == 1 else q[..., j.q] for j in tree.independent_joints}


def velocities_by_name(tree: Tree, v: ArrayLike) -> dict[str, NDArray[Any]]:
    """Return {joint name: (...), or (..., n) if the joint has n > 1 velocities}; mimic joints are left out."""
    v = velocities(tree, v)
    return {j.name: v[..., j.v.start] if j.nv == 1 else v[..., j.v] for j in tree.independent_joints}


def rate_matrix(tree: Tree, q: NDArray[Any], base: str = "quaternion") -> NDArray[Any]:
    """F(q), (..., nq, nv): q' = F(q) v.  [Kindr §Coordinate Rates; RD 2.262; MDN 78-79]

    Args:
        tree: the robot.
        q: (..., nq).
        base: how the rotation of a floating base is written in q': "quaternion", or a name of
            `geometry.rates.ORIENTATIONS` such as "euler-zyx", for Euler-angle bases: F then has as many rows as that
            parameterisation makes of q.
    """
    base = _known(base)
    return _blocks([_rates(tree, joint, q, base)[0] for joint in tree.independent_joints], q)


def rate_inverse(tree: Tree, q: NDArray[Any], base: str = "quaternion") -> NDArray[Any]:
    """F^+(q), (..., nv, nq): v = F^+ q', the left inverse of `rate_matrix`.
    [Kindr §Coordinate Rates; RD 2.262]
    """
    base = _known(base)
    return _blocks([_rates(tree, joint, q, base)[1] for joint in tree.independent_joints], q)


def _known(base: str) -> str:
    """The full name of a parameterisation; an InputError if it is unknown, even if no base uses it."""
    return choice(rates.orientation_name(base), "base, a parameterisation of an orientation", rates.ORIENTATIONS)


def _rates(tree: Tree, joint: Joint, q: NDArray[Any], base: str) -> tuple[NDArray[Any], NDArray[Any]]:
    x = joint.coordinates(q)
    if not tree.is_base(joint):
        return joint.kind.rate_matrix(x), joint.kind.rate_inverse(x)
    # the base: position and B_w_IB (Kindr), then to the robot's own representation
    chi = rates.parameters(base, joint.kind.pose(x).rotation) if base != "quaternion" else x[..., 3:]
    identity = np.broadcast_to(eye_like(x, 3), (*x.shape[:-1], 3, 3))
    F = block_matrix([[identity, 0], [0, rates.angular_inverse(base, chi, frame="B")]])
    back = block_matrix([[identity, 0], [0, rates.angular(base, chi, frame="B")]])
    kindr = base_velocity.between(joint, q, tree.velocity, "kindr")
    return np.matmul(F, kindr), np.matmul(base_velocity.between(joint, q, "kindr", tree.velocity), back)


class _Kindr:
    """A base whose position and rotation move apart: R^3 × SO(3)."""

    def __init__(self, joint: Joint, frame: str) -> None:
        self.joint, self.frame = joint, frame

    def integrate(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        position = x[..., :3] + d[..., :3]
        turn = quaternions.from_rotation_vector(d[..., 3:])
        order = (x[..., 3:], turn) if self.frame == "B" else (turn, x[..., 3:])
        rotation = quaternions.multiply(*order)
        return np.concatenate([np.broadcast_to(position, (*rotation.shape[:-1], 3)), rotation], axis=-1)

    def difference(self, x0: NDArray[Any], x1: NDArray[Any]) -> NDArray[Any]:
        back = quaternions.conjugate(x0[..., 3:])
        turn = quaternions.multiply(back, x1[..., 3:]) if self.frame == "B" else quaternions.multiply(x1[..., 3:], back)
        phi = quaternions.to_rotation_vector(quaternions.canonical(turn))
        return np.concatenate([np.broadcast_to(x1[..., :3] - x0[..., :3], phi.shape), phi], axis=-1)


class _Right:
    """A base that moves on SE(3) by a twist in the world's frame: exp(d) H."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint

    def integrate(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        left = base_velocity.change(self.joint, x, d, "right", "left")
        return self.joint.kind.integrate(x, left)

    def difference(self, x0: NDArray[Any], x1: NDArray[Any]) -> NDArray[Any]:
        return base_velocity.change(self.joint, x0, self.joint.kind.difference(x0, x1), "left", "right")


def _base(tree: Tree, joint: Joint) -> Any:
    """The integrator of a joint: its kind, or for a base the group of its representation."""
    if not tree.is_base(joint) or tree.velocity == "left":
        return joint.kind
    if tree.velocity == "right":
        return _Right(joint)
    return _Kindr(joint, "B" if tree.velocity == "kindr" else "A")


def _each(tree: Tree, function: Callable[..., NDArray[Any]], *arrays: tuple[NDArray[Any], str]) -> NDArray[Any]:
    """function(joint, part of each array ...), put together for all joints."""
    parts = [
        function(joint, *(x[..., getattr(joint, where)] for x, where in arrays)) for joint in tree.independent_joints
    ]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x, _ in arrays))
    return _joined(parts, batch, like=arrays[0][0])


def _joined(parts: list[NDArray[Any]], batch: tuple[int, ...], like: Any = None) -> NDArray[Any]:
    if not parts:
        return np.zeros((*batch, 0)) if like is None else np.zeros((*batch, 0), like.dtype)
    return concatenate_last(parts, batch)


def _blocks(blocks: list[NDArray[Any]], q: NDArray[Any]) -> NDArray[Any]:
    """The blocks along the diagonal."""
    batch, width = q.shape[:-1], sum(block.shape[-1] for block in blocks)
    rows, at = [], 0
    for block in blocks:
        height, own = block.shape[-2:]
        sides = [np.zeros((*batch, height, n), q.dtype) for n in (at, width - at - own)]
        rows.append(np.concatenate([sides[0], np.broadcast_to(block, (*batch, height, own)), sides[1]], axis=-1))
        at += own
    return np.concatenate(rows, axis=-2) if rows else np.zeros((*batch, 0, 0), q.dtype)
