"""Parameterisations of positions: Cartesian, cylindrical (ρ, θ, z) and spherical (r, θ azimuth, φ polar angle)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import eye_like, matrix, vector
from multibody.geometry.orientation_parameters import Parameters


def _split(chi: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return chi[..., 0], chi[..., 1], chi[..., 2]


class Cartesian(Parameters):
    """χ = (x, y, z).  [RD 2.2-2.4, 2.12]"""

    def position(self, chi: NDArray[Any]) -> NDArray[Any]:
        """χ itself.  [RD 2.4]"""
        return chi + 0.0

    def parameters(self, r: NDArray[Any]) -> NDArray[Any]:
        """The position itself."""
        return r + 0.0

    def linear(self, chi: NDArray[Any]) -> NDArray[Any]:
        """The identity.  [RD 2.12]"""
        return np.broadcast_to(eye_like(chi, 3), (*chi.shape, 3))

    linear_inverse = linear

    def linear_dot(self, chi: NDArray[Any], dchi: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002
        """Zero."""
        return np.broadcast_to(0 * eye_like(chi, 3), (*chi.shape, 3))


class Cylindrical(Parameters):
    """χ = (ρ, θ, z).  [RD 2.5-2.6, 2.13-2.15]"""

    singular = "on the axis, rho = 0"

    def position(self, chi: NDArray[Any]) -> NDArray[Any]:
        """(ρ cos θ, ρ sin θ, z).  [RD 2.6]"""
        rho, theta, z = _split(chi)
        return vector(rho * np.cos(theta), rho * np.sin(theta), z)

    def parameters(self, r: NDArray[Any]) -> NDArray[Any]:
        """ρ ≥ 0 and θ in [-π, π]; θ = 0 on the axis."""
        x, y, z = _split(r)
        return vector(np.hypot(x, y), np.arctan2(y, x), z)

    def linear(self, chi: NDArray[Any]) -> NDArray[Any]:
        """E_Pz.  [RD 2.13, 2.15]"""
        rho, theta, _ = _split(chi)
        c, s = np.cos(theta), np.sin(theta)
        return matrix([[c, -rho * s, 0], [s, rho * c, 0], [0, 0, 1]])

    def linear_inverse(self, chi: NDArray[Any]) -> NDArray[Any]:
        """E_Pz^-1.  [RD 2.14]"""
        rho, theta, _ = _split(chi)
        c, s = np.cos(theta), np.sin(theta)
        return matrix([[c, s, 0], [-s / rho, c / rho, 0], [0, 0, 1]])

    def linear_dot(self, chi: NDArray[Any], dchi: NDArray[Any]) -> NDArray[Any]:
        """The time derivative of E_Pz."""
        rho, theta, _ = _split(chi)
        drho, dtheta, _ = _split(dchi)
        c, s = np.cos(theta), np.sin(theta)
        return matrix(
            [
                [-s * dtheta, -drho * s - rho * c * dtheta, 0],
                [c * dtheta, drho * c - rho * s * dtheta, 0],
                [0, 0, 0],
            ]
        )

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        """ρ, the distance to the axis."""
        return np.abs(chi[..., 0])


class Spherical(Parameters):
    """χ = (r, θ, φ), θ the azimuth and φ the polar angle.  [RD 2.7-2.8, 2.16-2.17]"""

    singular = "on the z axis, r sin(phi) = 0"

    def position(self, chi: NDArray[Any]) -> NDArray[Any]:
        """(r cos θ sin φ, r sin θ sin φ, r cos φ).  [RD 2.8]"""
        r, theta, phi = _split(chi)
        across = r * np.sin(phi)
        return vector(across * np.cos(theta), across * np.sin(theta), r * np.cos(phi))

    def parameters(self, r: NDArray[Any]) -> NDArray[Any]:
        """R ≥ 0, θ in [-π, π] and φ in [0, π]; angles that are not defined are zero."""
        x, y, z = _split(r)
        across = np.hypot(x, y)
        return vector(np.hypot(across, z), np.arctan2(y, x), np.arctan2(across, z))

    def linear(self, chi: NDArray[Any]) -> NDArray[Any]:
        """E_Ps.  [RD 2.16]"""
        r, theta, phi = _split(chi)
        ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        return matrix([[ct * sp, -r * sp * st, r * cp * ct], [sp * st, r * ct * sp, r * cp * st], [cp, 0, -r * sp]])

    def linear_inverse(self, chi: NDArray[Any]) -> NDArray[Any]:
        """E_Ps^-1.  [RD 2.17]"""
        r, theta, phi = _split(chi)
        ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        return matrix([[ct * sp, sp * st, cp], [-st / (r * sp), ct / (r * sp), 0], [cp * ct / r, cp * st / r, -sp / r]])

    def linear_dot(self, chi: NDArray[Any], dchi: NDArray[Any]) -> NDArray[Any]:
        """The time derivative of E_Ps."""
        r, theta, phi = _split(chi)
        dr, dt, dp = _split(dchi)
        ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        ctsp, stsp = cp * ct * dp - sp * st * dt, cp * st * dp + sp * ct * dt  # rates of cos θ sin φ, sin θ sin φ
        ctcp, stcp = -sp * ct * dp - cp * st * dt, -sp * st * dp + cp * ct * dt  # rates of cos θ cos φ, sin θ cos φ
        return matrix(
            [
                [ctsp, -dr * sp * st - r * stsp, dr * cp * ct + r * ctcp],
                [stsp, dr * ct * sp + r * ctsp, dr * cp * st + r * stcp],
                [-sp * dp, 0, -dr * sp - r * cp * dp],
            ]
        )

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        """|r sin φ|, the distance to the z axis."""
        return np.abs(chi[..., 0] * np.sin(chi[..., 2]))


POSITIONS = {"cartesian": Cartesian(), "cylindrical": Cylindrical(), "spherical": Spherical()}
