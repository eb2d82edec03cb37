"""Numbers of a robot that can be inputs of its kernels, so that every sample is another robot: shapes and checks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import log_cholesky, rates
from multibody.geometry._arrays import at, block_matrix, eye_like, first, floats
from multibody.model.configuration import UNIT_WITHIN, own_joints
from multibody.model.parametric_inertia import INERTIAL
from multibody.model.tree import POSITION, Body, Tree

PLACED = ("placements", "frame_placements")
"""Those of the parameters with quaternions."""
DRIVES = ("damping", "friction", "armature")
"""Those that each velocity has one of."""
WITHIN = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""How far below zero, relative to the largest, rounding takes an eigenvalue of the pseudo-inertia of a thin body."""


def placement_rates(placements: NDArray[Any]) -> NDArray[Any]:
    """F, (..., 7, 6): the rates of a placement (..., 7) are F times (p', i_w).  [Kindr §Coordinate Rates]

    p' is the velocity along the parent's axes, i_w the angular velocity along the axes of what is placed.

    >>> placement_rates(np.array([0.0, 0, 0, 1, 0, 0, 0]))[3:, 3:]
    array([[-0. , -0. , -0. ],
           [ 0.5, -0. ,  0. ],
           [ 0. ,  0.5, -0. ],
           [-0. ,  0. ,  0.5]])
    """
    identity = np.broadcast_to(eye_like(placements, 3), (*placements.shape[:-1], 3, 3))
    return block_matrix([[identity, 0], [0, rates.angular_inverse("quaternion", placements[..., 3:], frame="B")]])


def check_values(tree: Tree, **values: Any) -> None:
    """Refuse numbers that no robot can have, of those that `tree.with_values` takes; None for those not given.

    Raises:
        InputError: that names the sample and the body, joint or frame whose numbers are not finite, are not those of a
            body, or hold a quaternion that is not a unit.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").tree
    >>> check_values(arm, placements=1.5 * arm.placements())
    Traceback (most recent call last):
    ...
    multibody.errors.InputError: placements: the quaternion (w, x, y, z) of the joint 'joint1' has the length 1.5, ...
    """
    for what, value in values.items():
        if value is None:
            continue
        if what == "inertias":
            check_inertias(tree, value)
            continue
        core = tree.parameter_shapes[what]
        numbers = floats(value, what, *core)
        rows = numbers[..., None, :] if what == "gravity" else numbers[..., None] if len(core) == 1 else numbers
        _check_finite(tree, rows, what)
        if what == "masses":
            heavy = tree.parameters()[..., 0] != 0
            _refuse(~(numbers > 0) & heavy, tree, numbers, what, "a positive mass")
        if what in DRIVES:
            _refuse(numbers < 0, tree, numbers, what, "a number that is not negative")
        if what == "offsets":
            several = np.array([joint.kind.nq != 1 for joint in tree.joints], dtype=bool)
            _refuse((numbers != 0) & several, tree, numbers, what, "0 for a joint that has not one coordinate")
        if what in PLACED:
            check_units(tree, numbers, what)


def check_units(tree: Tree, placements: NDArray[Any], what: str = "placements") -> None:
    """Refuse quaternions in placements that are not units; what is not a number passes, as data.

    Args:
        tree: the robot.
        placements: (..., bodies, 7), or (..., frames, 7).
        what: which of them: "placements" or "frame_placements".

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").tree
    >>> check_units(arm, arm.placements())
    """
    length = np.linalg.norm(placements[..., POSITION:], axis=-1)
    bad = (np.abs(length - 1) > UNIT_WITHIN) & np.isfinite(length)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: the quaternion (w, x, y, z) of {_names(tree, what)[k]} has the length "
            f"{length[(*index, k)]:.9g}, expected 1 within {UNIT_WITHIN:g}"
        )


def check_inertias(tree: Tree, inertias: Any) -> NDArray[Any]:
    """The numbers (..., bodies, 10), when bodies can have all of them; all zeros for one that has no mass in the tree.

    Raises:
        InputError: that names the sample and the body, when its numbers are not finite, or its pseudo-inertia is not
            positive semidefinite (to rounding) with a positive mass.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm")
    >>> inertias = np.tile(arm.parameters(), (100, 1, 1))
    >>> inertias[4, 2, 0] = -5.0
    >>> check_inertias(arm.tree, inertias)
    Traceback (most recent call last):
    ...
    multibody.errors.InputError: inertias (sample 4): the body 'link3' cannot have [-5.0, ...
    """
    inertias = floats(inertias, "inertias", len(tree.bodies), INERTIAL)
    _check_finite(tree, inertias, "inertias")
    eigenvalues = np.linalg.eigvalsh(log_cholesky.pseudo_inertia(inertias))
    least, largest = eigenvalues[..., 0], np.abs(eigenvalues).max(axis=-1, initial=0.0)
    empty = ~inertias.any(axis=-1) & np.array([_massless(body) for body in tree.bodies], dtype=bool)
    bad = ~((inertias[..., 0] > 0) & (least >= -WITHIN[inertias.dtype] * largest)) & ~empty
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"inertias{at(tuple(index))}: the body {tree.bodies[k].name!r} cannot have "
            f"{inertias[(*index, k)].tolist()}: expected a positive mass, and moments within the triangle inequality"
        )
    return inertias


def _refuse(bad: NDArray[Any], tree: Tree, values: NDArray[Any], what: str, expected: str) -> None:
    """Refuse the first of the values (..., n) that is bad."""
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: expected {expected} for {_names(tree, what)[k]}, got {values[(*index, k)]}"
        )


def _massless(body: Body) -> bool:
    return not body.inertia.parameters().any()


def _check_finite(tree: Tree, values: NDArray[Any], what: str) -> None:
    """Refuse values (..., n, m) that are not finite."""
    bad = ~np.isfinite(values).all(axis=-1)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: expected finite numbers for {_names(tree, what)[k]}, "
            f"got {values[(*index, k)].tolist()}"
        )


def _names(tree: Tree, what: str) -> list[str]:
    """How messages name the rows of values."""
    if what == "gravity":
        return ["the world"]
    if what in ("inertias", "masses"):
        return [f"the body {body.name!r}" for body in tree.bodies]
    if what == "frame_placements":
        return [f"the frame {name!r}" for name in tree.frames]
    if what in DRIVES:
        return [f"the joint {joint.name!r}" for joint in own_joints(tree) for _ in range(joint.nv)]
    return [f"the joint {body.joint.name!r}" for body in tree.bodies]
