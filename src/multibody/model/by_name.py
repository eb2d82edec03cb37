"""Configurations by the names of joints, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, floats
from multibody.model.configuration import coordinates, own_joints
from multibody.model.joint import Joint
from multibody.model.tree import Tree


def configuration(tree: Tree, values: Mapping[str, ArrayLike], default: ArrayLike) -> NDArray[Any]:
    """(..., nq): the configuration with joints at values.

    Args:
        tree: the robot.
        values: {joint: (...)}; {joint: (..., n)} for a joint with n > 1 coordinates. Batches broadcast.
        default: (..., nq), where the other joints are.

    Raises:
        InputError: for a name that no joint has, or whose joint has no coordinate of its own, and for wrong shapes.

    >>> import multibody as mb
    >>> configuration(mb.load("planar-arm").tree, {"joint2": [0.5, 1.0]}, [0.1, 0.2, 0.3])
    array([[0.1, 0.5, 0.3],
           [0.1, 1. , 0.3]])
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{tree.name}: expected {{joint: value}}, got {type(values).__name__}")
    rest = coordinates(tree, default, "default")
    stated = {name: _value(tree.joint(name), value) for name, value in values.items()}
    named = [(rest, 1), *((x, 1) for x in stated.values())]
    batch = batch_shape(", ".join(["default", *stated]), *named)
    parts = [stated.get(joint.name, rest[..., joint.q]) for joint in own_joints(tree)]
    if not parts:
        return rest
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in parts], axis=-1)


def by_name(tree: Tree, q: ArrayLike) -> dict[str, NDArray[Any]]:
    """The coordinates of q (..., nq) by joint: (...), or (..., n) for a joint with n > 1; mimicking ones have none.

    >>> import multibody as mb
    >>> by_name(mb.load("cart-pendulum").tree, [0.5, 1.0])
    {'slider': array(0.5), 'hinge': array(1.)}
    """
    q = coordinates(tree, q)
    return {j.name: q[..., j.q.start] if j.nq == 1 else q[..., j.q] for j in own_joints(tree)}


def _value(joint: Joint, value: ArrayLike) -> NDArray[Any]:
    """The coordinates (..., nq) of a joint."""
    if joint.mimic is not None:
        raise InputError(
            f"joint {joint.name!r} has no coordinate of its own: it is {joint.mimic.ratio:g} times "
            f"{joint.mimic.joint!r} plus {joint.mimic.offset:g}; set that one"
        )
    if joint.nq == 1:
        return floats(value, f"joint {joint.name!r}")[..., None]
    return floats(value, f"joint {joint.name!r} ({joint.kind.name})", joint.nq)
