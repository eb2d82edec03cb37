"""Velocities from the rates of parameters χ, and back.

A parameterisation is chosen by name: "cartesian", "cylindrical", "spherical" for positions; for
orientations "euler-zyx" (any of the twelve sequences, also as "euler-extrinsic-xyz"),
"quaternion", "angle-axis", "rotation-vector" and "matrix" (nine entries, row after row).
Angular velocity is that of B with respect to A, written in `frame`.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError, SingularityError
from multibody.geometry._arrays import (
    at,
    batch_shape,
    choice,
    damped_inverse3,
    first,
    floats,
    is_traced,
    singular_within,
)
from multibody.geometry.euler import EXTRINSIC, PREFIX, SEQUENCES, parse
from multibody.geometry.orientation_parameters import (
    AngleAxis,
    Euler,
    Matrix,
    Orientation,
    Parameters,
    Quaternion,
    RotationVector,
)
from multibody.geometry.position_parameters import POSITIONS
from multibody.geometry.public_api import public
from multibody.geometry.rotation import Rotation
from multibody.geometry.value import need

_Map = Callable[[NDArray[Any]], NDArray[Any]]
_ORIENTATIONS: dict[str, Callable[[], Orientation]] = {
    "quaternion": Quaternion,
    "angle-axis": AngleAxis,
    "rotation-vector": RotationVector,
    "matrix": Matrix,
}
ORIENTATIONS = (*(PREFIX + sequence for sequence in SEQUENCES), *_ORIENTATIONS)
"""The names of the orientation parameterisations; extrinsic Euler sequences have further names."""


def orientation_name(name: str) -> str:
    """The full name of a parameterisation: "euler-zyx" for "zyx"."""
    bare = isinstance(name, str) and (name.lower() in SEQUENCES or name.startswith(EXTRINSIC))
    if bare and name not in SEQUENCES:
        parse(name)  # which has the right name of SciPy's "ZYX"
    return PREFIX + name if bare else name


def _orientation(name: str) -> Orientation:
    name = orientation_name(name)
    if isinstance(name, str) and name.startswith(PREFIX):
        return _euler(name.removeprefix(PREFIX))
    return _ORIENTATIONS[choice(name, "parameterisation of an orientation", ORIENTATIONS)]()


_euler = cache(Euler)


def _checked(name: str, chi: ArrayLike) -> tuple[Orientation, NDArray[Any]]:
    kind = _orientation(name)
    return kind, floats(chi, f"{name} parameters", kind.size)


# ---- positions -------------------------------------------------------------------------------------------------------


@public
def position(name: str, chi: ArrayLike) -> NDArray[Any]:
    """The position vector of position parameters.  [RD 2.2-2.8, §2.2.1]

    Args:
        name: "cartesian", "cylindrical" or "spherical".
        chi: (..., 3): (x, y, z), (ρ, θ, z) or (r, θ, φ), in metres and radians.

    Returns:
        (..., 3).

    >>> position("cylindrical", [2.0, np.pi / 2, 1.0]).round(12)
    array([0., 2., 1.])
    """
    return _position(name).position(floats(chi, f"{name} parameters", 3))


@public
def position_inverse(name: str, r: ArrayLike) -> NDArray[Any]:
    """The position parameters of a position vector, lengths not negative.  [RD 2.2-2.8]

    >>> position_inverse("spherical", [0.0, 0.0, 3.0])
    array([3., 0., 0.])
    """
    return _position(name).parameters(floats(r, "position", 3))


@public
def linear(name: str, chi: ArrayLike) -> NDArray[Any]:
    """E_P, (..., 3, 3): the linear velocity is E_P χ'.  [RD 2.9-2.16, §2.3.1]"""
    return _position(name).linear(floats(chi, f"{name} parameters", 3))


@public
def linear_inverse(name: str, chi: ArrayLike, *, damping: float | None = None) -> NDArray[Any]:
    """E_P^-1, (..., 3, 3): χ' is E_P^-1 times the linear velocity.  [RD 2.11-2.17]

    Args:
        name: "cartesian", "cylindrical" or "spherical".
        chi: (..., 3).
        damping: when given, the damped inverse E^T (E E^T + damping² 1)^-1, which exists
            everywhere.

    Raises:
        SingularityError: on the axis, where an angle is not defined, when there is no damping.
    """
    kind, chi = _position(name), floats(chi, f"{name} parameters", 3)
    return _inverse(name, kind, chi, damping, "m", kind.linear, kind.linear_inverse)


@public
def linear_dot(name: str, chi: ArrayLike, chi_dot: ArrayLike) -> NDArray[Any]:
    """The time derivative of E_P: the acceleration is E_P χ'' + E_P' χ'."""
    chi, chi_dot = _broadcast(floats(chi, f"{name} parameters", 3), floats(chi_dot, "their rates", 3))
    return _position(name).linear_dot(chi, chi_dot)


def _broadcast(chi: NDArray[Any], chi_dot: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Parameters and their rates in one batch shape."""
    batch = batch_shape("parameters and rates", (chi, 1), (chi_dot, 1))
    return np.broadcast_to(chi, (*batch, chi.shape[-1])), np.broadcast_to(chi_dot, (*batch, chi.shape[-1]))


def _position(name: str) -> Any:
    return POSITIONS[choice(name, "parameterisation of a position", tuple(POSITIONS))]


# ---- orientations ----------------------------------------------------------------------------------------------------


@public
def rotation(name: str, chi: ArrayLike) -> Rotation:
    """The rotation A_R_B of orientation parameters (..., n).

    >>> rotation("euler-zyx", [0.0, 0.0, 0.0]) == Rotation.identity()
    True
    """
    kind, chi = _checked(name, chi)
    return kind.rotation(chi)


@public
def parameters(name: str, rotation: Rotation) -> NDArray[Any]:
    """The orientation parameters (..., n) of a rotation A_R_B."""
    return _orientation(name).parameters(need(rotation, Rotation))


@public
def angular(name: str, chi: ArrayLike, frame: str = "A") -> NDArray[Any]:
    """E_R, (..., 3, n): the angular velocity of B with respect to A is E_R χ'.
    [RD 2.82-2.107, §2.5.1]

    Args:
        name: the parameterisation, one of `ORIENTATIONS`.
        chi: (..., n) parameters of A_R_B.
        frame: the frame in which the angular velocity is written, "A" or "B".

    >>> angular("euler-xyz", [0.0, 0.0, 0.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    kind, chi = _checked(name, chi)
    return kind.angular(chi, choice(frame, "frame", ("A", "B")))


@public
def angular_inverse(name: str, chi: ArrayLike, frame: str = "A", *, damping: float | None = None) -> NDArray[Any]:
    """E_R^-1, (..., n, 3): χ' is E_R^-1 times the angular velocity.  [RD 2.82-2.107]

    Of the parameterisations with more than three parameters it is the one that keeps their
    constraint (unit length).

    Args:
        name: the parameterisation, one of `ORIENTATIONS`.
        chi: (..., n) parameters of A_R_B.
        frame: the frame in which the angular velocity is written, "A" or "B".
        damping: when given, the damped inverse E^T (E E^T + damping² 1)^-1, which exists
            everywhere.

    Raises:
        SingularityError: at a singularity of the parameterisation, when there is no damping.
    """
    kind, chi = _checked(name, chi)
    maps = (partial(E, frame=choice(frame, "frame", ("A", "B"))) for E in (kind.angular, kind.angular_inverse))
    return _inverse(name, kind, chi, damping, "rad", *maps)


@public
def angular_dot(name: str, chi: ArrayLike, chi_dot: ArrayLike, frame: str = "A") -> NDArray[Any]:
    """The time derivative of E_R, (..., 3, n): the angular acceleration is E_R χ'' + E_R' χ'.

    Args:
        name: the parameterisation, one of `ORIENTATIONS`.
        chi: (..., n) parameters of A_R_B.
        chi_dot: (..., n) their rates.
        frame: the frame in which the angular velocity is written, "A" or "B".
    """
    kind, chi = _checked(name, chi)
    chi, chi_dot = _broadcast(chi, floats(chi_dot, f"rates of {name} parameters", kind.size))
    return kind.angular_dot(chi, chi_dot, choice(frame, "frame", ("A", "B")))


# ---- singularities ---------------------------------------------------------------------------------------------------


def _inverse(
    name: str, kind: Parameters, chi: NDArray[Any], damping: float | None, unit: str, E: _Map, E_inverse: _Map
) -> NDArray[Any]:
    """The inverse rate map, damped or exact; the exact one raises a SingularityError at a singularity."""
    if damping is not None:
        if not isinstance(damping, int | float) or not damping > 0:
            raise InputError(f"damping: expected a positive number, got {damping!r}")
        return damped_inverse3(E(chi), damping**2)
    if not is_traced(chi):
        with np.errstate(all="ignore"):
            distance = kind.distance(chi)
            bad = distance < singular_within(chi)
        if bad.any():
            index = first(bad)
            raise SingularityError(
                f"{name} {chi[index].tolist()}{at(index)}: the rates are singular {kind.singular}, which is "
                f"{distance[index]:.1e} {unit} away; damping= gives a damped inverse"
            )
    return E_inverse(chi)
