"""Time stepping with hard unilateral contact and Coulomb friction.  [Kindr §Equations of Motion with Impulses; RD §3.7]

Moreau's midpoint rule: half a step to q_m, where mass matrix, contacts and forces are taken; velocities jump by
M (v⁺ - v) = dt (τ - h) + J^T P; half a step with v⁺. Impulses obey Signorini's condition and Coulomb's law; penetration
is corrected in positions only. Decision 30 says why.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.model.tree import Tree
from multibody.simulate.contact.energy_limiter import START, StepWork, limit_energy
from multibody.simulate.contact.midpoint import Midpoint
from multibody.simulate.contact.penetration import resolve_penetration
from multibody.simulate.contact.problem import ContactLaw, ContactProblem, KnownContacts
from multibody.simulate.contact.restitution import gravity
from multibody.simulate.contact.scene import Scene
from multibody.simulate.contact.velocity_iteration import Solver, VelocityIteration
from multibody.simulate.method import Method, StepResult, StepStart

FREE_LIFT = 1e-3
"""The penetration that is corrected even if that raises the potential energy, in m."""


def initial_state(_tree: Tree, scene: Scene, _q: NDArray[Any]) -> dict[str, Any]:
    """The bound of the energy, and the impulses of the last step; all methods with contacts have them."""
    bounds = np.array(len(scene.parts) * START)
    return {"bound": bounds} | ({"impulses": np.zeros(scene.rows)} if scene.rows else {})


def contact_step(
    start: StepStart, known: KnownContacts | None = None, law: ContactLaw | None = None
) -> tuple[StepResult, Any, Any]:
    """Return a step's result, the velocities of rows after impulses, and q before penetration was corrected.

    `known` are the open contacts of a piece of a step; `law` is that of compliant ground, in place of Signorini's.
    Without a bound in the state the energy has no limit.
    """
    midpoint = Midpoint.predict(start)
    if not start.scene.rows:
        return _step_without_contacts(midpoint), None, None
    problem = ContactProblem.assemble(midpoint, start.parameters, known, law)
    last = Solver.solve(problem, start.state["impulses"])
    system, delays = problem.system(last.free)
    late = problem.velocity_change(np.matmul(problem.Z, delays * last.P))
    drifted = midpoint.advance(last.change, late)
    drifted = drifted if known is None else midpoint.close(drifted)
    work = _work(problem, last, delays, late)
    uncorrected = midpoint.potential_energies(drifted)
    q, energies = resolve_penetration(problem, drifted, uncorrected, _liftable(midpoint, work))
    v, bound = limit_energy(midpoint, q, last.change, work, energies, uncorrected)
    return _result(problem, last, q, v, bound), system.u + np.matmul(system.W, last.P), drifted


def _liftable(midpoint: Midpoint, work: StepWork) -> list[Any]:
    """The potential energy, in J, up to which the correction of penetration may lift each part of the scene."""
    bounds = zip(midpoint.limited, midpoint.bound[::4], strict=True) if midpoint.limited else ()
    return [bound + work.of(part).gain() + FREE_LIFT * tree.mass * gravity(tree) for (part, tree), bound in bounds]


def _step_without_contacts(midpoint: Midpoint) -> StepResult:
    change, impulses = midpoint.change_without_contacts()
    q = midpoint.close(midpoint.advance(change))
    none = np.zeros(midpoint.scene.rows)
    work, energies = StepWork(midpoint.work(change), 0.0 * change, none, none), midpoint.potential_energies(q)
    v, bound = limit_energy(midpoint, q, change, work, energies, energies)
    record = {"forces": np.zeros((0, 3))} | ({} if impulses is None else {"constraint_forces": impulses / midpoint.dt})
    return StepResult(q, v, midpoint.mean_force(change), midpoint.forces, {"bound": bound}, record)


def _work(problem: ContactProblem, last: VelocityIteration, delays: Any, late: NDArray[Any]) -> StepWork:
    """The work of forces and of contacts; impulses are late by a displacement."""
    midpoint, freed = problem.midpoint, 0.0 * late
    if midpoint.forces.controller is not None or midpoint.forces.passive or midpoint.forces.wrenches:
        without = problem.velocity_change(last.half_solved[-1]) - last.change
        freed = midpoint.static_forces() * (midpoint.dt / 2 * without + late)
    delayed = delays / midpoint.dt * (last.free - problem.before)
    return StepWork(midpoint.work(last.change, late), freed, *problem.contact_work(last.P, last.change, delayed))


def _result(problem: ContactProblem, last: VelocityIteration, q: NDArray[Any], v: Any, bound: Any) -> StepResult:
    midpoint, P, contacts = problem.midpoint, last.P, problem.midpoint.scene.contacts
    forces = problem.contact_forces(P)
    record = {"forces": forces[:contacts], "residual": last.residual, "sweeps": last.sweeps}
    if midpoint.scene.spheres:
        record["pair_forces"] = forces[contacts:]
    if midpoint.constraints is not None:
        before = last.half_solved[0] + np.matmul(problem.half.Z, P)
        after = last.half_solved[-1] + np.matmul(problem.Z, P)
        record["constraint_forces"] = midpoint.constraints.impulses(before, after) / midpoint.dt
    state = {"bound": bound, "impulses": P}
    return StepResult(q, v, midpoint.mean_force(last.change), midpoint.forces, state, record)


CONTACT = Method(
    "contact",
    lambda start: contact_step(start)[0],
    initial_state,
    has_contacts=True,
    ground_parameters=("friction", "restitution"),
    differentiated=("impulses",),
    max_penetration=1e-3,
)
