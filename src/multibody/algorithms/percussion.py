"""One time step with percussions, in the notation of Kindr's list of symbols, and friction cones as data.

Kindr writes M (u⁺ - u⁻) - h Δt = W P: its h is on the other side of the equation and so has the opposite sign of ours,
W = J^T are the directions of the contacts, and P are percussions, the impulses of a step, on the robot.
[Kindr §Dynamics]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms.constrained_dynamics import Response, restitution_of
from multibody.algorithms.constraints.constraint_set import ConstraintSet
from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.algorithms.soft_contact import number
from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.geometry._arrays import at, batch_shape, dot, first, floats, is_traced, matvec, numbers
from multibody.model import base_velocity, configuration


class Step(NamedTuple):
    """The velocity u⁺, (..., nv), after a step, and the percussions P, (..., rows), of the contacts."""

    velocity: NDArray[Any]
    percussion: NDArray[Any]


def percussion_step(
    constraints: ConstraintSet,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    wrenches: Mapping[str, ArrayLike | Wrench] | None = None,
    *,
    restitution: ArrayLike = 0.0,
    active: ArrayLike | None = None,
) -> Step:
    """u⁺ with M (u⁺ - u⁻) = (τ - h) Δt + W P and W^T u⁺ = -restitution W^T u⁻, h of this library.

    [Kindr §Equations of Motion with Impulses]

    Args:
        constraints: the contacts that are closed.
        q: (..., nq).
        v: u⁻, (..., nv), before the step.
        tau: (..., nv).
        dt: Δt in s, a number or (...).
        wrenches: external ones by the name of a frame, (..., 6), mixed, on the robot, besides those of the contacts.
        restitution: from 0, plastic, to 1, a number or (...). It acts on u⁻, not on what forces add in Δt: what rests
            stays at rest.
        active: (..., constraints) or (..., rows) of ones, and zeros for contacts that are open and have no percussion.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> feet = robot.constraints([mb.constraints.PointContact(f, f) for f in robot.frames if f.startswith("foot")])
    >>> u = np.eye(robot.nv)[2] * -1.0  # falls with 1 m/s
    >>> after, P = percussion_step(feet, robot.home(), u, np.zeros(robot.nv), 0.01)
    >>> bool(np.abs(feet.jacobian(robot.home()) @ after).max() < 1e-9), bool((P[2::3] > 0).all())
    (True, True)
    """
    if not isinstance(constraints, ConstraintSet):
        raise InputError(f"percussion_step: expected a ConstraintSet, got {type(constraints).__name__}")
    tree = constraints.tree
    q, v, tau = (configuration.sized(tree, x, name) for x, name in ((q, "q"), (v, "v"), (tau, "tau")))
    if not is_traced(q):
        configuration.check_units(tree, q)
    forces = _forces(wrenches)
    h = _time_step(numbers(dt, "dt", v))
    e = restitution_of(numbers(restitution, "restitution", v))
    given = {"q": q, "v": v, "tau": tau, **{f"the wrench at {frame!r}": f for frame, f in forces.items()}}
    if active is not None:
        given["active"] = constraints.mask(active)
    what = f"percussion_step, {', '.join(given)}, dt, restitution"
    batch = batch_shape(what, *((x, 1) for x in given.values()), (h, 0), (e, 0))
    held = Response(constraints, q, batch, given.get("active"))
    free = v + h[..., None] * forward_dynamics(tree, q, v, tau, forces)
    x = held.force(-matvec(held.R, base_velocity.to_left(tree, q, free + e[..., None] * v)))
    return Step(free + base_velocity.from_left(tree, q, matvec(held.M_inv_R_T, x)), held.expanded(x))


def _forces(wrenches: Mapping[str, ArrayLike | Wrench] | None) -> dict[str, NDArray[Any]]:
    """Wrenches as arrays (..., 6), by the name of a frame."""
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected {{frame: (..., 6)}}, got {type(wrenches).__name__}")
    vectors = {frame: w.vector if isinstance(w, Wrench) else w for frame, w in wrenches.items()}
    return {frame: floats(w, f"the wrench at {frame!r}", 6) for frame, w in vectors.items()}


def _time_step(h: NDArray[Any]) -> NDArray[Any]:
    """Numbers of any shape, when all are positive and finite."""
    if not is_traced(h):
        bad = ~((h > 0) & (h < np.inf))
        if bad.any():
            raise InputError(f"dt{at(first(bad))}: expected a positive time step in s, finite, got {h[bad][0]}")
    return h


@dataclass(frozen=True)
class FrictionCone:
    """Which forces a contact can exert: along the normal not negative, across it at most μ times as much.

    >>> cone = FrictionCone(0.5)
    >>> cone.distance([[0.3, 0.0, 1.0], [0.0, 0.8, 1.0], [0.0, 0.0, -1.0]]).round(3)  # inside, slips, pulls
    array([ 0.2, -0.3, -1. ])
    """

    friction: float
    """μ."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Out of the ground, along the world's axes, of length one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", number(self.friction, "friction cone, friction"))
        normal = floats(self.normal, "friction cone, normal", 3)
        if normal.shape != (3,) or not abs(float(np.linalg.norm(normal)) - 1) <= 1e-9:
            raise InputError(f"friction cone: expected a normal of length one, three numbers, got {self.normal!r}")
        object.__setattr__(self, "normal", tuple(normal.tolist()))

    def distance(self, force: ArrayLike) -> NDArray[Any]:
        """(...): how far a force (..., 3) is inside the cone, the smaller of μ f_n - |f_t| and f_n, in N.

        Negative outside, also where μ is zero and the ground would have to pull.

        >>> FrictionCone(0.0).distance([0.0, 0.0, -5.0])
        np.float64(-5.0)
        """
        force = floats(force, "force", 3)
        n = np.array(self.normal, force.dtype)
        along = dot(force, np.broadcast_to(n, force.shape))
        across = force - along[..., None] * n
        return np.minimum(self.friction * along - np.sqrt(dot(across, across)), along)

    def pyramid(self, sides: int = 4) -> NDArray[Any]:
        """A, (sides + 1, 3), with A f ≥ 0 inside a pyramid within the cone: its sides, and the normal.

        >>> A = FrictionCone(0.5).pyramid(8)
        >>> A.shape, bool((A @ [0.1, 0.2, 1.0] >= 0).all()), bool((A @ [0.1, 0.6, 1.0] >= 0).all())
        ((9, 3), True, False)
        """
        if not isinstance(sides, int | np.integer) or sides < 3:
            raise InputError(f"pyramid: expected at least three sides, got {sides!r}")
        n = np.array(self.normal)
        first_across = np.linalg.svd(n[None])[2][1]
        second_across = np.cross(n, first_across)
        angles = 2 * np.pi * np.arange(sides) / sides
        inner = self.friction * np.cos(np.pi / sides)  # the pyramid's sides touch the cone from inside
        across = np.cos(angles)[:, None] * first_across + np.sin(angles)[:, None] * second_across
        return np.concatenate([inner * n - across, n[None]])
