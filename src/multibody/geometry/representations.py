"""Left, right, mixed and kindr forms of twists and wrenches.

`model.base_velocity` applies these to the base entries of v, and
`algorithms.base_representation` to whole algorithms. A twist of B relative to A is written,
linear first, as

    "left"    B_v_AB   in B (left-trivialised, body)                         [MDN 20]
    "right"   A_v_AB   in A (right-trivialised, spatial)                     [MDN 25]
    "mixed"   BA_v_AB  at the origin of B, along the axes of A               [MDN 35]
    "kindr"            velocity of B's origin in A, angular in B            [Kindr §Coordinates]

and a wrench dually, so that its power with the twist is the same in each. Accelerations here
are *apparent*: time derivatives of the twist's entries [MDN 44]; `intrinsic` and `apparent`
convert to intrinsic ones [MDN 47] and back. All conversions go through "left".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._foreign_names import VELOCITY_REPRESENTATIONS, translate
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, block_matrix, choice, eye_like, floats
from multibody.geometry.operators import cross3, cross6
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public
from multibody.geometry.twist import Twist
from multibody.geometry.value import need
from multibody.geometry.wrench import Wrench

REPRESENTATIONS = ("left", "right", "mixed", "kindr")


def representation(name: str, options: Sequence[str]) -> str:
    """Return the name if it is one of the options; otherwise raise an InputError
    that translates foreign names.
    """
    word = str(name).rsplit(".", 1)[-1].lower()  # of an enumeration, as Pinocchio's, the member
    ours = translate(word, VELOCITY_REPRESENTATIONS)
    if ours is None:
        return choice(name, "representation", options)
    also = ""
    if word == "world":
        also = ", as Pinocchio's WORLD: of the point at the world's origin; the velocity of the frame's own origin "
        also += "along the axes of the world is 'mixed'"
    expected = ", ".join(map(repr, options))
    raise InputError(f"representation: expected one of {expected}, got {name!r}, which is called {ours!r} here{also}")


@public
def transform(A_H_B: Pose, source: str, target: str) -> NDArray[Any]:
    """The (..., 6, 6) matrix that takes a twist from the source to the target representation.
    [MDN 27-28, 33-35]

    >>> transform(Pose.identity(), "left", "right").shape
    (6, 6)
    """
    need(A_H_B, Pose)
    return np.matmul(_matrix_from_left(A_H_B, target), _matrix_from_left(A_H_B.inverse(), source))


@public
def velocity(A_H_B: Pose, twist: ArrayLike, source: str, target: str) -> NDArray[Any]:
    """A twist (..., 6) of B relative to A in another representation.  [MDN 28, 33-35]

    Args:
        A_H_B: the pose of B in A.
        twist: (..., 6) in the source representation.
        source: "left", "right", "mixed" or "kindr".
        target: the same.
    """
    twist = _fitting(A_H_B, floats(twist, "twist", 6))
    if _known(source) == _known(target):
        return twist + 0.0
    return _from_left(Twist, A_H_B, _to_left(A_H_B, twist, source), target)


@public
def wrench(A_H_B: Pose, wrench: ArrayLike, source: str, target: str) -> NDArray[Any]:
    """A wrench (..., 6) on B in another representation; its power with the twist stays.
    [MDN 58-60]
    """
    wrench = _fitting(A_H_B, floats(wrench, "wrench", 6))
    if _known(source) == _known(target):
        return wrench + 0.0
    return _from_left(Wrench, A_H_B, _from_left(Wrench, A_H_B.inverse(), wrench, source), target)


@public
def acceleration(A_H_B: Pose, twist: ArrayLike, acceleration: ArrayLike, source: str, target: str) -> NDArray[Any]:
    """An apparent acceleration (..., 6) of B relative to A in another representation.
    [MDN 44-46, 52-55, §5.4]

    Args:
        A_H_B: the pose of B in A.
        twist: (..., 6) twist in the source representation.
        acceleration: (..., 6) its time derivative.
        source: "left", "right", "mixed" or "kindr".
        target: the same.
    """
    twist, acceleration = floats(twist, "twist", 6), floats(acceleration, "acceleration", 6)
    batch = batch_shape("acceleration", (twist, 1), (acceleration, 1), (need(A_H_B, Pose).position, 1))
    twist, acceleration = np.broadcast_to(twist, (*batch, 6)), np.broadcast_to(acceleration, (*batch, 6))
    if _known(source) == _known(target):
        return acceleration + 0.0
    B_v = _to_left(A_H_B, twist, source)
    B_a = _to_left(A_H_B, acceleration, source) - _map_rate(B_v, source)
    return _from_left(Twist, A_H_B, B_a + _map_rate(B_v, target), target)


@public
def in_frame(C_H_B: Pose, B_v_AB: ArrayLike) -> NDArray[Any]:
    """C_v_AB, (..., 6): a twist or an intrinsic acceleration in an arbitrary frame C.
    [MDN 32-34, 47]
    """
    return (need(C_H_B, Pose) @ Twist.from_vector(B_v_AB)).vector


@public
def apparent_in_frame(C_H_B: Pose, B_v_CB: ArrayLike, B_v_AB: ArrayLike, B_a_AB: ArrayLike) -> NDArray[Any]:
    """The time derivative of C_v_AB, from quantities in B, of which B_a_AB is that of B_v_AB.
    [MDN 45, 56]
    """
    return in_frame(C_H_B, cross6(B_v_CB, B_v_AB) + floats(B_a_AB, "acceleration", 6))


@public
def intrinsic(C_vdot_AB: ArrayLike, C_v_AC: ArrayLike, C_v_AB: ArrayLike) -> NDArray[Any]:
    """The intrinsic acceleration C_a_AB from the apparent one.  [MDN 47-51]"""
    return floats(C_vdot_AB, "acceleration", 6) + cross6(C_v_AC, C_v_AB)


@public
def apparent(C_a_AB: ArrayLike, C_v_AC: ArrayLike, C_v_AB: ArrayLike) -> NDArray[Any]:
    """The apparent acceleration, the time derivative of C_v_AB, from the intrinsic one.
    [MDN 49, 53]
    """
    return floats(C_a_AB, "acceleration", 6) - cross6(C_v_AC, C_v_AB)


def _fitting(A_H_B: Pose, x: NDArray[Any]) -> NDArray[Any]:
    """x, broadcast to the batch of the pose."""
    batch = batch_shape("representation", (need(A_H_B, Pose).position, 1), (x, 1))
    return np.broadcast_to(x, (*batch, 6))


def _known(name: str) -> str:
    return representation(name, REPRESENTATIONS)


def _matrix_from_left(A_H_B: Pose, target: str) -> NDArray[Any]:
    R = A_H_B.rotation.matrix
    identity = eye_like(R, 3)
    if _known(target) == "left":
        return np.broadcast_to(eye_like(R, 6), (*R.shape[:-2], 6, 6))
    if target == "right":
        return A_H_B.adjoint
    return block_matrix([[R, 0], [0, R if target == "mixed" else identity]])


def _from_left(kind: type[Twist | Wrench], A_H_B: Pose, x: NDArray[Any], target: str) -> NDArray[Any]:
    """A twist or wrench in "left" as one in the target representation; the inverse pose reverses the direction."""
    if target == "left":
        return x
    return (A_H_B @ kind.from_vector(x)).vector if target == "right" else _rotate(A_H_B, x, target)


def _to_left(A_H_B: Pose, twist: NDArray[Any], source: str) -> NDArray[Any]:
    return _from_left(Twist, A_H_B.inverse(), twist, source)


def _rotate(A_H_B: Pose, x: NDArray[Any], target: str) -> NDArray[Any]:
    """Rotate both halves to the axes of A ("mixed"), or only the linear one ("kindr")."""
    linear = A_H_B.rotation @ x[..., :3]
    angular = A_H_B.rotation @ x[..., 3:] if target == "mixed" else np.broadcast_to(x[..., 3:], linear.shape)
    return np.concatenate([linear, angular], axis=-1)


def _map_rate(B_v: NDArray[Any], representation: str) -> NDArray[Any]:
    """The term from the time derivative of the map from "left": ω × v if the linear part is along the axes of A."""
    if representation in ("left", "right"):
        return np.zeros_like(B_v)
    turning = cross3(B_v[..., 3:], B_v[..., :3])
    return np.concatenate([turning, np.zeros_like(turning)], axis=-1)
