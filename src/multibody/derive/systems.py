"""Systems with names, to derive and to compare.

One that has the name of an embedded robot is that robot, with symbols for its numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from multibody._signatures import readable_names
from multibody.derive.ready_made import arms, pendulums, single_bodies
from multibody.derive.system.system import System
from multibody.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Named:
    """A system that has a name."""

    title: str
    make: Callable[[], System]


SYSTEMS: dict[str, Named] = {
    "cart-pendulum": Named("Cart on a rail, and a pendulum on it", pendulums.cart_pendulum),
    "spring-cart-pendulum": Named("Cart with a spring, and a mass that hangs on it", pendulums.spring_cart_pendulum),
    "double-pendulum": Named("Two rods, one under the other", pendulums.double_pendulum),
    "double-mass-pendulum": Named("Two masses on light rods", pendulums.double_mass_pendulum),
    "planar-3r": Named("Arm with three hinges in a plane", arms.planar_3r),
    "scara": Named("SCARA arm: three hinges and a slider", arms.scara),
    "spherical-pendulum": Named("Pendulum on a ball joint, with a quaternion", pendulums.spherical_pendulum),
    "rolling-disc": Named("Disc that rolls without slipping", single_bodies.rolling_disc),
    "skate": Named("Skate on a slope", single_bodies.skate),
    "branching-hinges": Named("Four links in a tree with seven hinges", arms.branching_hinges),
} | {
    f"free-body-{group}": Named(f"Rigid body on {text}; no gravity", partial(single_bodies.free_body, group))
    for group, text in {
        "r1": "R^1: translation along z",
        "r2": "R^2: translation along x and y",
        "r3": "R^3: all translations",
        "so2": "SO(2): rotation about z",
        "so3": "SO(3): all rotations, Euler's equations",
        "se2": "SE(2): motion in a plane",
        "se3": "SE(3): all motions, Kirchhoff's equations",
        "helical": "H: a screw motion along z",
        "schoenflies": "X: all translations, and rotation about z",
    }.items()
}
"""By name."""


def system(name: str) -> System:
    """A system by its name.

    Raises:
        InputError: when there is none of that name.

    >>> system("skate").q
    (x, y, theta)
    """
    if not isinstance(name, str) or name not in SYSTEMS:
        hint = did_you_mean(name, SYSTEMS) or f"there are {', '.join(SYSTEMS)}"
        raise InputError(f"no system {name!r}: {hint}")
    return _made(name)


@cache
def _made(name: str) -> System:
    """The only system of a name, so that formulas of its kinematics are found once."""
    return SYSTEMS[name].make()


readable_names(__name__)
