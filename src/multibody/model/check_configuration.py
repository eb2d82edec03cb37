"""The checks of coordinates q and velocities v: shape, finite numbers, unit quaternions, limits."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import at, first, floats, is_traced
from multibody.geometry.unit_quaternions import check_unit_quaternions
from multibody.model.tree import Tree

LIMIT_TOLERANCE = 1e-9
"""Tolerated violation of a coordinate limit, for rounding."""


def check(tree: Tree, q: ArrayLike, what: str = "q", *, limits: bool = True) -> NDArray[Any]:
    """Return q as an array, if it is a configuration of the robot.

    Raises:
        InputError: that names the sample and the joint, when q has the wrong shape, is not finite, holds a quaternion
            that is not a unit, or (unless limits=False) is past a limit.
    """
    q = coordinates(tree, q, what)
    bad = ~np.isfinite(q)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: expected finite numbers, got {q[(*index, k)]} {_coordinate(tree, k)}"
        )
    _check_quaternions(tree, q, what)
    if limits:
        past = (q < tree.lower - LIMIT_TOLERANCE) | (q > tree.upper + LIMIT_TOLERANCE)
        if past.any():
            *index, k = first(past)
            raise InputError(
                f"{what}{at(tuple(index))}: {q[(*index, k)]:.9g} {_coordinate(tree, k)} is past its limits "
                f"{tree.lower[k]:.9g} and {tree.upper[k]:.9g}{_in_radians(tree, k, q[(*index, k)])}"
            )
    return q


def _in_radians(tree: Tree, k: int, x: float) -> str:
    """A hint about units for an angle that looks like degrees."""
    joint = next(j for j in tree.independent_joints if j.q.start <= k < j.q.stop)
    is_angle = joint.kind.units[k - joint.q.start] == "rad"
    return "; angles are in radians" if is_angle and abs(x) > 2 * np.pi else ""


def _check_quaternions(tree: Tree, q: NDArray[Any], what: str) -> None:
    """Raise an InputError for quaternions in q that are not units; NaN and Inf pass, as data."""
    for joint in tree.independent_joints:
        if joint.kind.quaternion is not None:
            quaternion = q[..., joint.q][..., None, joint.kind.quaternion]
            check_unit_quaternions(quaternion, what, [f"joint {joint.name!r}"], "; robot.normalize(q) scales it to 1")


def coordinates(tree: Tree, x: ArrayLike, what: str = "q") -> NDArray[Any]:
    """x as floats of shape (..., nq)."""
    return _sized(tree, x, what, tree.nq, "nq coordinates", tree.nv, "nv")


def unit_coordinates(tree: Tree, q: ArrayLike, what: str = "q") -> NDArray[Any]:
    """Return q as floats (..., nq), with a check of unit quaternions unless it is traced."""
    q = coordinates(tree, q, what)
    if not is_traced(q):
        _check_quaternions(tree, q, what)
    return q


def velocities(tree: Tree, x: ArrayLike, what: str = "v") -> NDArray[Any]:
    """x as floats of shape (..., nv): velocities, or what is dual to them."""
    return _sized(tree, x, what, tree.nv, "nv velocities, accelerations or forces", tree.nq, "nq")


def _sized(tree: Tree, x: ArrayLike, what: str, n: int, kind: str, other: int, other_name: str) -> NDArray[Any]:
    array = floats(x, what)
    if array.ndim and array.shape[-1] == n:
        return array
    hint = ""
    if array.ndim and array.shape[-1] == other != n:
        hint = f"; {other} is its {other_name}: coordinates and velocities differ in number where there are quaternions"
    raise InputError(f"{tree.name}: {what} needs the shape (..., {n}), its {kind}, got {array.shape}{hint}")


def _coordinate(tree: Tree, k: int) -> str:
    """The name of the k-th coordinate in messages."""
    joint = next(j for j in tree.independent_joints if j.q.start <= k < j.q.stop)
    return f"at joint {joint.name!r}" + (f" (coordinate {k - joint.q.start})" if joint.nq > 1 else "")
