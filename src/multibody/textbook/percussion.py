"""One time step with percussions, in the notation of Kindr's list of symbols.

Kindr writes M (u⁺ - u⁻) - h Δt = W P: its h is on the other side of the equation and so has the opposite sign of ours,
W = J^T are the directions of the contacts, and P are percussions, the impulses of a step, on the robot.
[Kindr §Dynamics]
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import rows
from multibody.algorithms.constrained_dynamics import Response
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.algorithms.impact import check_restitution
from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.geometry._arrays import batch_shape, check_values, floats, matvec, numbers
from multibody.model import base_velocity, check_configuration
from multibody.model.tree import Tree, expect_tree


class Step(NamedTuple):
    """The velocity u⁺, (..., nv), after a step, and the percussions P, (..., rows), of the contacts."""

    velocity: NDArray[Any]
    percussion: NDArray[Any]


def percussion_step(
    tree: Tree,
    constraints: Iterable[Constraint],
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
        tree: the robot.
        constraints: the contacts that are closed.
        q: (..., nq).
        v: u⁻, (..., nv), before the step.
        tau: (..., nv).
        dt: Δt in s, a number or (...).
        wrenches: external ones by frame name, (..., 6), mixed, on the robot, in addition to
            those of the contacts.
        restitution: from 0, plastic, to 1, a number or (...). It acts on u⁻, not on the change
            by forces in Δt: a resting body stays at rest.
        active: (..., constraints) or (..., rows) of ones, and zeros for contacts that are open
            and have no percussion.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> feet = robot.constraints([mb.constraints.PointContact(f, f) for f in robot.frames if f.startswith("foot")])
    >>> u = np.eye(robot.nv)[2] * -1.0  # falls with 1 m/s
    >>> after, P = percussion_step(robot.tree, feet, robot.home(), u, np.zeros(robot.nv), 0.01)
    >>> bool(np.abs(feet.jacobian(robot.home()) @ after).max() < 1e-9), bool((P[2::3] > 0).all())
    (True, True)
    """
    expect_tree(tree)
    contacts = rows.members(constraints, "percussion_step")
    q, v = check_configuration.unit_coordinates(tree, q), check_configuration.velocities(tree, v)
    tau = check_configuration.velocities(tree, tau, "tau")
    forces = _forces(wrenches)
    h = numbers(dt, "dt", v)
    check_values(h, "dt", lambda h: (h > 0) & (h < np.inf), "a positive time step in s, finite")
    e = check_restitution(numbers(restitution, "restitution", v))
    arrays = {"q": q, "v": v, "tau": tau, **{f"the wrench at {frame!r}": f for frame, f in forces.items()}}
    if active is not None:
        arrays["active"] = rows.mask(contacts, active)
    what = f"percussion_step, {', '.join(arrays)}, dt, restitution"
    batch = batch_shape(what, *((x, 1) for x in arrays.values()), (h, 0), (e, 0))
    response = Response(tree, contacts, q, batch, arrays.get("active"))
    free = v + h[..., None] * forward_dynamics(tree, q, v, tau, forces)
    x = response.force(-matvec(response.R, base_velocity.to_left(tree, q, free + e[..., None] * v)))
    return Step(free + base_velocity.from_left(tree, q, response.velocity(x)), response.expanded(x))


def _forces(wrenches: Mapping[str, ArrayLike | Wrench] | None) -> dict[str, NDArray[Any]]:
    """Wrenches as arrays (..., 6), by the name of a frame."""
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected {{frame: (..., 6)}}, got {type(wrenches).__name__}")
    vectors = {frame: w.vector if isinstance(w, Wrench) else w for frame, w in wrenches.items()}
    return {frame: floats(w, f"the wrench at {frame!r}", 6) for frame, w in vectors.items()}
