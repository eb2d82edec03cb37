"""Velocity and acceleration of points; Euler's differentiation rule.

All vectors of one call are (..., 3), written in one and the same frame.
"""

from typing import Any

from numpy.typing import ArrayLike, NDArray

from multibody.geometry._arrays import floats
from multibody.geometry.operators import cross3
from multibody.geometry.public_api import public


@public
def velocity(v_B: ArrayLike, omega: ArrayLike, r_BP: ArrayLike) -> NDArray[Any]:
    """v_P = v_B + Ω × r_BP, of a point P fixed to a body.
    [RD 2.117-2.121, §2.7; Kindr §Linear Velocity]

    >>> velocity([1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0])
    array([1., 2., 0.])
    """
    return floats(v_B, "v_B", 3) + cross3(omega, r_BP)


@public
def acceleration(a_B: ArrayLike, omega: ArrayLike, psi: ArrayLike, r_BP: ArrayLike) -> NDArray[Any]:
    """a_P = a_B + Ψ × r_BP + Ω × (Ω × r_BP), with the angular acceleration Ψ.  [RD 2.122]

    >>> acceleration([0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    array([-4.,  0.,  0.])
    """
    return floats(a_B, "a_B", 3) + cross3(psi, r_BP) + cross3(omega, cross3(omega, r_BP))


@public
def derivative(B_r: ArrayLike, B_r_dot: ArrayLike, B_w_AB: ArrayLike) -> NDArray[Any]:
    """The time derivative in A of a vector, written in B: B_r' + B_w_AB × B_r.
    [RD 2.115-2.116, 2.123-2.129]

    This is Euler's rule of differentiation.

    Args:
        B_r: (..., 3) the vector in the moving frame B.
        B_r_dot: (..., 3) the time derivative of its coordinates in B.
        B_w_AB: (..., 3) the angular velocity of B.
    """
    return floats(B_r_dot, "B_r_dot", 3) + cross3(B_w_AB, B_r)


@public
def velocity_of_moving_point(
    B_v_A: ArrayLike, B_r_AP: ArrayLike, B_r_dot_AP: ArrayLike, B_w_IB: ArrayLike
) -> NDArray[Any]:
    """B_v_P = B_v_A + B_r'_AP + B_w_IB × B_r_AP, of a point P that moves in the frame B.
    [Kindr §Linear Velocity]
    """
    return floats(B_v_A, "B_v_A", 3) + derivative(B_r_AP, B_r_dot_AP, B_w_IB)
