"""Models whose numbers are arrays: inertias, places of joints and frames that differ between samples, or are traced.

Algorithms ask a body for its inertia and its joint; here these hold batches, or the inputs of a kernel. The tree and
the kinds of joints stay: what is a zero in the robot's file need not be one here, and costs operations.

Each array moves what it names alone: a joint that moves takes along all that hangs on it, but a link that is fixed to a
body is part of it, in the body's inertia, and a frame there. Frames have placements of their own.
"""

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, log_cholesky, quaternions, rates
from multibody.geometry._arrays import at, block_matrix, eye_like, first, floats, matrix
from multibody.geometry.operators import hat3
from multibody.model.configuration import UNIT_WITHIN
from multibody.model.model import Model
from multibody.model.structure import Body

INERTIAL = 10
"""Numbers of the inertia of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""
PLACEMENT = 7
"""Numbers of the place of a joint in its parent body: a position, and a unit quaternion w, x, y, z."""
POSITION = 3
"""Numbers of that place when the rotation stays as it is in the model: constants still fold."""
WITHIN = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""How far below zero, relative to the largest, rounding takes an eigenvalue of the pseudo-inertia of a thin body."""


class ParametricInertia:
    """The inertia of a body, (..., 10) numbers in which dynamics is linear, with what algorithms ask for.

    >>> ball = ParametricInertia(np.array([2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]))
    >>> np.diag(ball.matrix)
    array([2. , 2. , 2. , 0.1, 0.1, 0.1])
    >>> ball.parameters()
    array([2. , 0. , 0. , 0. , 0.1, 0. , 0.1, 0. , 0. , 0.1])
    """

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
    """(bodies, 7): where each joint that moves is in its parent body, in the order of `model.bodies`.

    >>> import multibody as mb
    >>> placements_of(mb.load("planar-arm").model)[1]
    array([0., 0., 1., 1., 0., 0., 0.])
    """
    return _numbers(body.joint.placement for body in model.bodies)


def positions_of(model: Model) -> NDArray[Any]:
    """(bodies, 3): the positions in `placements_of`.

    >>> import multibody as mb
    >>> positions_of(mb.load("planar-arm").model)[1]
    array([0., 0., 1.])
    """
    return placements_of(model)[:, :POSITION].copy()


def frame_placements_of(model: Model) -> NDArray[Any]:
    """(frames, 7): where each frame is in the body that it is fixed to, in the order of `model.frames`.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> frame_placements_of(arm)[arm.frames.index("tool")]
    array([0., 0., 1., 1., 0., 0., 0.])
    """
    return _numbers(i_H_F for _, i_H_F in model.structure.frames.values())


def placement_rates(placements: NDArray[Any]) -> NDArray[Any]:
    """F, (..., 7, 6): the rates of a placement (..., 7) are F times (p', i_w).  [Kindr §Coordinate Rates]

    p' is the velocity along the parent's axes, i_w the angular velocity along the axes of what is placed.

    >>> placement_rates(np.array([0.0, 0, 0, 1, 0, 0, 0]))[3:, 3:]
    array([[-0. , -0. , -0. ],
           [ 0.5, -0. ,  0. ],
           [ 0. ,  0.5, -0. ],
           [-0. ,  0. ,  0.5]])
    """
    one = np.broadcast_to(eye_like(placements, 3), (*placements.shape[:-1], 3, 3))
    return block_matrix([[one, 0], [0, rates.angular_inverse("quaternion", placements[..., 3:], frame="B")]])


def with_values(
    model: Model,
    inertias: NDArray[Any] | None = None,
    placements: NDArray[Any] | None = None,
    gravity: NDArray[Any] | None = None,
    positions: NDArray[Any] | None = None,
    frame_placements: NDArray[Any] | None = None,
) -> Model:
    """The model with other numbers, for algorithms alone: its links keep what the file says.

    Args:
        model: the robot.
        inertias: (..., bodies, 10).
        placements: (..., bodies, 7), of joints that move.
        gravity: (..., 3) in m/s², along the world's axes.
        positions: (..., bodies, 3), of joints that are turned in their parents as in the model.
        frame_placements: (..., frames, 7), of all frames in their bodies.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> longer = with_values(arm, positions=1.5 * positions_of(arm))
    >>> placements_of(longer)[1]
    array([0. , 0. , 1.5, 1. , 0. , 0. , 0. ])
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
    vars(other)["structure"] = replace(model.structure, bodies=tuple(bodies), frames=_moved(model, frame_placements))
    if gravity is not None:
        object.__setattr__(other, "gravity", gravity)
    return other


def check_values(
    model: Model,
    inertias: Any = None,
    placements: Any = None,
    gravity: Any = None,
    positions: Any = None,
    frame_placements: Any = None,
) -> None:
    """Refuse numbers that no robot can have, of those that `with_values` takes.

    Raises:
        InputError: that names the sample and the body, joint or frame whose numbers are not finite, are not those of a
            body, or hold a quaternion that is not a unit.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> check_values(arm, placements=1.5 * placements_of(arm))
    Traceback (most recent call last):
    ...
    multibody.errors.InputError: placements: the quaternion (w, x, y, z) of the joint 'joint1' has the length 1.5, ...
    """
    if inertias is not None:
        check_inertias(model, inertias)
    for what, value, *core in (
        ("placements", placements, len(model.bodies), PLACEMENT),
        ("positions", positions, len(model.bodies), POSITION),
        ("frame_placements", frame_placements, len(model.frames), PLACEMENT),
        ("gravity", gravity, 3),
    ):
        if value is not None:
            values = floats(value, what, *core)
            _check_finite(model, values if core[1:] else values[..., None, :], what)
            if core[-1] == PLACEMENT:
                check_units(model, values, what)


def check_units(model: Model, placements: NDArray[Any], what: str = "placements") -> None:
    """Refuse quaternions in placements that are not units; what is not a number passes, as data.

    Args:
        model: the robot.
        placements: (..., bodies, 7), or (..., frames, 7).
        what: which of them: "placements" or "frame_placements".

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> check_units(arm, placements_of(arm))
    """
    length = np.linalg.norm(placements[..., POSITION:], axis=-1)
    bad = (np.abs(length - 1) > UNIT_WITHIN) & np.isfinite(length)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: the quaternion (w, x, y, z) of {_names(model, what)[k]} has the length "
            f"{length[(*index, k)]:.9g}, expected 1 within {UNIT_WITHIN:g}"
        )


def check_inertias(model: Model, inertias: Any) -> NDArray[Any]:
    """The numbers (..., bodies, 10), when bodies can have all of them; all zeros for one that has no mass in the model.

    Raises:
        InputError: that names the sample and the body, when its numbers are not finite, or its pseudo-inertia is not
            positive semidefinite (to rounding) with a positive mass.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm")
    >>> inertias = np.tile(arm.parameters(), (100, 1, 1))
    >>> inertias[4, 2, 0] = -5.0
    >>> check_inertias(arm.model, inertias)
    Traceback (most recent call last):
    ...
    multibody.errors.InputError: inertias (sample 4): the body 'link3' cannot have [-5.0, ...
    """
    inertias = floats(inertias, "inertias", len(model.bodies), INERTIAL)
    _check_finite(model, inertias, "inertias")
    eigenvalues = np.linalg.eigvalsh(log_cholesky.pseudo_inertia(inertias))
    least, largest = eigenvalues[..., 0], np.abs(eigenvalues).max(axis=-1, initial=0.0)
    empty = ~inertias.any(axis=-1) & np.array([_massless(body) for body in model.bodies], dtype=bool)
    bad = ~((inertias[..., 0] > 0) & (least >= -WITHIN[inertias.dtype] * largest)) & ~empty
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"inertias{at(tuple(index))}: the body {model.bodies[k].name!r} cannot have "
            f"{inertias[(*index, k)].tolist()}: expected a positive mass, and moments within the triangle inequality"
        )
    return inertias


def _massless(body: Body) -> bool:
    return not body.inertia.parameters().any()


def _check_finite(model: Model, values: NDArray[Any], what: str) -> None:
    """Refuse values (..., n, m) that are not finite."""
    bad = ~np.isfinite(values).all(axis=-1)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: expected finite numbers for {_names(model, what)[k]}, "
            f"got {values[(*index, k)].tolist()}"
        )


def _names(model: Model, what: str) -> list[str]:
    """How messages name the rows of values."""
    if what == "gravity":
        return ["the world"]
    if what == "inertias":
        return [f"the body {body.name!r}" for body in model.bodies]
    if what == "frame_placements":
        return [f"the frame {name!r}" for name in model.frames]
    return [f"the joint {body.joint.name!r}" for body in model.bodies]


def _numbers(poses: Iterable[Pose]) -> NDArray[Any]:
    rows = [np.concatenate([pose.position, pose.rotation.quaternion]) for pose in poses]
    return np.array(rows).reshape(len(rows), PLACEMENT)


def _moved(model: Model, frame_placements: NDArray[Any] | None) -> dict[str, tuple[int, Pose]]:
    """The frames of the model, each where the numbers put it."""
    frames = model.structure.frames
    if frame_placements is None:
        return frames
    return {name: (i, _placed(frame_placements[..., k, :])) for k, (name, (i, _)) in enumerate(frames.items())}


def _placed(x: NDArray[Any]) -> Pose:
    return Pose._trusted(Rotation._trusted(quaternions.to_matrix(x[..., 3:])), x[..., :3])
