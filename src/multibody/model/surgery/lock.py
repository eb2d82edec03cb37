"""Lock joints at given coordinates."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry.unit_quaternions import check_unit_quaternions
from multibody.model import check_configuration
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.surgery._shared import fixed_at, without_joints


def lock(model: Model, values: Mapping[str, ArrayLike]) -> Model:
    """Return the robot with joints fixed at coordinates; their links become parts of the parent bodies.

    Mimic joints of a locked joint are locked with it; a mimic joint cannot be locked on its own. A locked floating base
    is fixed to the world.

    Args:
        model: the robot.
        values: for each joint its coordinate, in rad or m, or its (nq,) coordinates.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.joints import Revolute
    >>> b = Builder("arm").body("base").body("upper").body("lower")
    >>> _ = b.joint("shoulder", Revolute("y"), parent="base", child="upper")
    >>> _ = b.joint("elbow", Revolute("y"), parent="upper", child="lower", placement=[0.0, 0.0, 1.0])
    >>> lock(b.model(), {"elbow": 0.5}).nq
    1
    """
    if not isinstance(values, Mapping):
        raise InputError(f"lock {model.name}: expected {{joint: value}}, got {type(values).__name__}")
    at = {name: _coordinates(model, name, value) for name, value in values.items()}
    for joint in model.joints:
        if joint.mimic is not None and joint.mimic.joint in at:
            at[joint.name] = joint.mimic.follow(at[joint.mimic.joint])
    notes = [note for name, x in at.items() for note in _past_limits(model.joint(name), x)]
    joints = tuple(fixed_at(joint, at[joint.name]) if joint.name in at else joint for joint in model.description)
    return without_joints(model, set(at), "is locked", notes, description=joints)


def _coordinates(model: Model, name: str, value: ArrayLike) -> NDArray[Any]:
    """The coordinates (nq,) at which a joint is to be locked."""
    joint = model.joint(name)
    where = f"{model.name}: lock joint {name!r}"
    if joint.kind.nv == 0:
        raise InputError(f"{where}: expected a joint that moves, this one is fixed")
    if joint.mimic is not None:
        leader, ratio, offset = joint.mimic.joint, joint.mimic.ratio, joint.mimic.offset
        raise InputError(
            f"{where}: expected a joint with a coordinate of its own, this one is {ratio:g} times that of {leader!r} "
            f"plus {offset:g}; lock {leader!r}, and this one is locked with it"
        )
    try:
        x = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError, OverflowError):
        x = np.zeros(0)
    if x.shape != (joint.kind.nq,) or not np.isfinite(x).all():
        raise InputError(f"{where}: expected {joint.kind.nq} finite coordinates, got {value!r}")
    turn = joint.kind.quaternion
    if turn is not None:
        check_unit_quaternions(x[None, turn], where, ["the joint"])
        x = np.concatenate([x[: turn.start], x[turn] / np.linalg.norm(x[turn]), x[turn.stop :]])
    return x


def _past_limits(joint: Joint, x: NDArray[Any]) -> list[Diagnostic]:
    within = check_configuration.LIMIT_TOLERANCE
    if (x >= np.array(joint.limits.lower) - within).all() and (x <= np.array(joint.limits.upper) + within).all():
        return []
    bounds = f"{joint.limits.lower} and {joint.limits.upper}"
    return [Diagnostic("warning", "limits", f"joint {joint.name!r} is locked at {x.tolist()}, past {bounds}")]
