"""Models whose numbers are arrays: inertias and places of joints that differ from sample to sample, or that are traced.

Algorithms ask a body for its inertia and its joint; here these hold batches, or the inputs of a kernel. The tree and
the kinds of joints stay: what is a zero in the robot's file need not be one here, and costs operations.
"""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, log_cholesky, quaternions
from multibody.geometry._arrays import at, block_matrix, eye_like, first, floats, matrix
from multibody.geometry.operators import hat3
from multibody.model.model import Model

INERTIAL = 10
"""Numbers of the inertia of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""
PLACEMENT = 7
"""Numbers of the place of a joint in its parent body: a position, and a unit quaternion w, x, y, z."""
POSITION = 3
"""Numbers of that place when the rotation stays as it is in the model: constants still fold."""


class ParametricInertia:
    """The inertia of a body, (..., 10) numbers in which dynamics is linear, with what algorithms ask for."""

    __slots__ = ("about_origin", "first_moment", "mass")

    def __init__(self, parameters: NDArray[Any]) -> None:
        p = parameters
        xx, xy, yy, xz, yz, zz = (p[..., k] for k in range(4, 10))
        self.mass = p[..., 0]
        self.first_moment = p[..., 1:4]
        self.about_origin = matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): twist to momentum.  [MDN 67-69]"""
        m, offset = self.mass[..., None, None], hat3(self.first_moment)
        return block_matrix([[m * eye_like(self.first_moment, 3), -offset], [offset, self.about_origin]])

    def parameters(self) -> NDArray[Any]:
        """(..., 10)."""
        I = self.about_origin
        entries = [I[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        return np.stack([self.mass, *(self.first_moment[..., k] for k in range(3)), *entries], axis=-1)


def placements_of(model: Model) -> NDArray[Any]:
    """(bodies, 7): where each joint is in its parent body, in the order of `model.bodies`."""
    rows = [np.concatenate([b.joint.placement.position, b.joint.placement.rotation.quaternion]) for b in model.bodies]
    return np.array(rows).reshape(len(rows), PLACEMENT)


def positions_of(model: Model) -> NDArray[Any]:
    """(bodies, 3): the positions in `placements_of`."""
    return placements_of(model)[:, :POSITION]


def with_values(
    model: Model,
    inertias: NDArray[Any] | None = None,
    placements: NDArray[Any] | None = None,
    gravity: NDArray[Any] | None = None,
    positions: NDArray[Any] | None = None,
) -> Model:
    """The model with other numbers, for algorithms alone: its links keep what the file says.

    Args:
        model: the robot.
        inertias: (..., bodies, 10).
        placements: (..., bodies, 7).
        gravity: (..., 3) in m/s², along the world's axes.
        positions: (..., bodies, 3), of joints that are turned in their parents as in the model.
    """
    bodies = []
    for k, body in enumerate(model.bodies):
        changed = body
        if inertias is not None:
            changed = replace(changed, inertia=ParametricInertia(inertias[..., k, :]))  # type: ignore[arg-type]
        if placements is not None:
            changed = replace(changed, joint=replace(body.joint, placement=_placed(placements[..., k, :])))
        if positions is not None:
            moved = Pose._trusted(changed.joint.placement.rotation, positions[..., k, :])
            changed = replace(changed, joint=replace(changed.joint, placement=moved))
        bodies.append(changed)
    other = copy.copy(model)
    vars(other)["structure"] = replace(model.structure, bodies=tuple(bodies))
    if gravity is not None:
        object.__setattr__(other, "gravity", gravity)
    return other


def check_inertias(model: Model, inertias: NDArray[Any]) -> NDArray[Any]:
    """The numbers (..., bodies, 10), when bodies can have all of them.

    Raises:
        InputError: that names the sample and the body, when the pseudo-inertia of one is not positive definite.
    """
    inertias = floats(inertias, "inertias", len(model.bodies), INERTIAL)
    least = np.linalg.eigvalsh(log_cholesky.pseudo_inertia(inertias))[..., 0]
    bad = ~(least > 0)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"inertias{at(tuple(index))}: the body {model.bodies[k].name!r} cannot have "
            f"{inertias[(*index, k)].tolist()}: expected a positive mass, and moments within the triangle inequality"
        )
    return inertias


def _placed(x: NDArray[Any]) -> Pose:
    return Pose._trusted(Rotation._trusted(quaternions.to_matrix(x[..., 3:])), x[..., :3])
