"""Soft contact: springs and dampers between the robot and anchors on the ground.  [RD 3.58]

The force on the robot is -k (r_c - r_c0) - d (r_c - r_c0)', where r_c is the point that touches and r_c0 its anchor:
set where the point comes down, dragged along where the force would leave the cone of friction. The ground never pulls.
With the velocity u at the end of a step, the mean force over the step is -(a + c u) along each axis of the contact. So
u + a/c + P/(c dt) obeys the conditions of hard contact, and the same sweeps find the impulses P. Without a state and
for wrenches alone there is `algorithms.soft_contact`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.soft_contact import SoftContact
from multibody.geometry._arrays import dot, vector
from multibody.geometry.operators import cross3
from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate.configuration_update import advance
from multibody.simulate.contact.contact_rows import ContactRows, contact_rows
from multibody.simulate.contact.gaps import Grounded, center
from multibody.simulate.contact.gauss_seidel import ContactSystem
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.scene import Scene
from multibody.simulate.contact.spheres import SphereContact
from multibody.simulate.method import StepResult, StepStart
from multibody.simulate.methods.contact import CONTACT, contact_step

MIN_DISPLACEMENT = 1e-12
"""Displacements below this are treated as zero, in m."""
ON_CONE = 1e-6
"""The distance of slipping friction from its cone, relative to the cone."""


class Spring(NamedTuple):
    """A contact in the middle of a step; vectors are along its axes, the third along the normal."""

    contact: ContactRows
    stretch: NDArray[Any]
    """(3,): r_c - r_c0."""
    rate: NDArray[Any]
    """(3,): the rate of the stretch, before the step."""
    fraction: Any
    """The fraction of the step in the ground, by the velocity before the step."""
    anchor: NDArray[Any]
    """(3,): r_c0, in the world, without rolling."""


def initial_state(tree: Tree, scene: Scene, q: NDArray[Any]) -> dict[str, Any]:
    """The state of "contact", the anchors of the springs, (pairs, 3) in m, and their velocities in m/s."""
    state, pairs = CONTACT.initial_state(tree, scene, q), scene.grounded
    springs = {"anchors": _nearest_points(tree, pairs, q), "slips": np.zeros((len(pairs), 3))} if pairs else {}
    return state | springs


def step(start: StepStart) -> StepResult:
    """One step of "contact" with the law of the springs."""
    scene = start.scene
    if not scene.grounded:
        return contact_step(start)[0]
    forces, dt, _, q, v, *_ = start
    tree = forces.tree
    q_m = advance(tree, q, dt / 2 * v)
    springs = _springs(start, q_m)
    values = [ground_values(ground, start.parameters) for _, ground in scene.grounded]
    frictions = [mu for mu, _, _ in values]

    def law(rigid: ContactSystem) -> ContactSystem:
        u, regularisation, n = [], [], 3 * len(springs)
        for k, ((_, stiffness, damping), spring) in enumerate(zip(values, springs, strict=True)):
            at = range(3 * k, 3 * k + 3)
            response = np.stack([rigid.W[i, i] for i in at])
            a, c = _mean_force(dt, stiffness, spring.fraction * damping, response, spring)
            u.append(rigid.free[at.start : at.stop] + a / c)
            regularisation.append(1.0 / (dt * c))
        added = np.concatenate([*regularisation, np.zeros(scene.rows - n)])
        W, friction = rigid.W + np.eye(scene.rows) * added, frictions + rigid.friction[len(springs) :]
        u, free = (np.concatenate([*u, rest[n:]]) for rest in (rigid.u, rigid.free))
        return rigid._replace(W=W, u=u, free=free, friction=friction)

    result, u, _ = contact_step(start, law=law)
    slips = _slips(springs, frictions, result.state["impulses"], u)
    mean = (v + result.v) / 2
    pairs = zip(springs, scene.grounded, strict=True)
    rolled = [_rolling(tree, sphere, spring.contact.axes[2], q_m, mean) for spring, (sphere, _) in pairs]
    anchors = np.stack([spring.anchor for spring in springs]) + dt * np.stack(rolled) + dt / 2 * slips
    return result._replace(state={**result.state, "anchors": anchors, "slips": slips})


def ground_values(ground: Ground, parameters: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """μ, k in N/m and d in N s/m of a ground, unless parameters replace them."""
    k = SoftContact.stiffness if ground.stiffness is None else ground.stiffness
    d = SoftContact.damping if ground.damping is None else ground.damping
    mu = parameters.get("friction", ground.friction)
    return mu, parameters.get("ground_stiffness", k), parameters.get("ground_damping", d)


def _nearest_points(tree: Tree, pairs: tuple[Grounded, ...], q: NDArray[Any]) -> NDArray[Any]:
    """(..., pairs, 3): the points of the surfaces that are nearest to the contacts."""
    anchors = []
    for sphere, ground in pairs:
        middle = center(tree, sphere, q)
        distance, n = ground.surface(middle, sphere.radius)
        anchors.append(middle - distance[..., None] * n)
    return np.stack(anchors, axis=-2)


def _springs(start: StepStart, q_m: NDArray[Any]) -> list[Spring]:
    """All contacts in the middle of a step."""
    tree, pairs, dt, v = start.forces.tree, start.scene.grounded, start.dt, start.v
    anchors, slips = start.state["anchors"], start.state["slips"]
    v_left = base_velocity.to_left(tree, q_m, v)
    springs = []
    for k, ((sphere, _), contact) in enumerate(zip(pairs, contact_rows(tree, pairs, q_m), strict=True)):
        along, n = contact.axes[:2], contact.axes[2]
        velocity = np.matmul(contact.R, v_left)
        half = dt / 2 * velocity[2]
        opens, fraction = contact.gap - half > 0.0, _fraction_below(contact.gap - half, contact.gap + half)
        place = center(tree, sphere, q_m) - sphere.radius * n
        rolled = dt / 2 * _rolling(tree, sphere, n, q_m, v)
        # a contact that closes in this step has its anchor where it closes
        fresh = (fraction - 0.5) * dt * velocity[:2]
        dragged = anchors[k] + dt / 2 * slips[k]
        stretch = np.where(opens, fresh, np.matmul(along, place - rolled - dragged))
        anchor = np.where(opens, place - contact.gap * n - rolled - np.matmul(fresh, along), dragged)
        rate = velocity[:2] - np.where(opens, 0.0, np.matmul(along, slips[k]))
        stretch, rate = vector(*stretch, contact.gap), vector(*rate, velocity[2])
        springs.append(Spring(contact, stretch, rate, fraction, anchor))
    return springs


def _mean_force(dt: float, k: Any, d: Any, response: NDArray[Any], spring: Spring) -> tuple[NDArray[Any], NDArray[Any]]:
    """The a and c, (3,), of the force -(a + c u) over a step, with the rate u of the stretch at its end.

    The trapezoidal rule, with the mean stretch x + dt/4 (u - u0), if dt is short for the spring, and Euler's implicit
    rule, with x + dt u, if it is long: of second order, without ringing for any k and d.

    Args:
        dt: the step.
        k: in N/m.
        d: in N s/m.
        response: (3,), the change of u by a unit impulse.
        spring: its stretch and rate.
    """
    stiff = response * (dt / 2 * d + dt * dt / 4 * k)
    euler = stiff * stiff / (1.0 + stiff * stiff)
    c = k * dt * (1.0 + 3.0 * euler) / 4.0 + d * (1.0 + euler) / 2.0
    return k * spring.stretch + (1.0 - euler) * (d / 2.0 - k * dt / 4.0) * spring.rate, c


def _slips(springs: list[Spring], frictions: list[Any], P: NDArray[Any], after: NDArray[Any]) -> NDArray[Any]:
    """(pairs, 3): the velocities of anchors: those of slipping contacts; zero inside of the cone."""
    slips = []
    for k, (spring, mu) in enumerate(zip(springs, frictions, strict=True)):
        n = 3 * k + 2
        inside = dot(P[n - 2 : n], P[n - 2 : n]) < ((1.0 - ON_CONE) * mu * P[n]) ** 2
        slips.append(np.matmul(np.where(inside, 0.0, after[n - 2 : n]), spring.contact.axes[:2]))
    return np.stack(slips)


def _rolling(tree: Tree, sphere: SphereContact, n: NDArray[Any], q: NDArray[Any], v: NDArray[Any]) -> Any:
    """(3,): the velocity of the contact point minus that of the body there: rolling moves the anchor."""
    if not sphere.radius:
        return np.zeros(3)
    turn = kinematics.velocity(tree, sphere.frame, q, v, "mixed")[..., 3:]
    return sphere.radius * cross3(turn, n)


def _fraction_below(start: Any, end: Any) -> Any:
    """The fraction of the interval between two gaps that is below zero."""
    low, high = np.minimum(start, end), np.maximum(start, end)
    return np.clip(-low / np.maximum(high - low, MIN_DISPLACEMENT), 0.0, 1.0)


SOFT = replace(
    CONTACT,
    name="soft",
    step=step,
    initial_state=initial_state,
    ground_parameters=("friction", "ground_stiffness", "ground_damping"),
    differentiated=("impulses", "anchors", "slips"),
    max_penetration=2e-2,
)
"""Spheres on spheres have no springs, they are as hard as in "contact"."""
