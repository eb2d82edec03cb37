"""Time stepping with hard unilateral contact and Coulomb friction.  [Kindr §Equations of Motion with Impulses; RD §3.7]

Moreau's midpoint rule: half a step to q_m, where mass matrix, contacts and forces are taken; velocities jump by
M (v⁺ - v) = dt (τ - h) + J^T P; half a step with v⁺. Impulses obey Signorini's condition and Coulomb's law; penetration
is corrected in positions only. Decision 30 says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from multibody.model.tree import Tree
from multibody.simulate.contact.energy_limiter import START, StepWork
from multibody.simulate.contact.midpoint import Midpoint
from multibody.simulate.contact.penetration import resolve_penetration
from multibody.simulate.contact.problem import ContactLaw, ContactProblem, KnownContacts, gravity
from multibody.simulate.contact.scene import Scene
from multibody.simulate.contact.velocity_iteration import Solver, VelocityIteration
from multibody.simulate.methods.method import Method
from multibody.simulate.step_ends import StepResult, StepStart
from multibody.simulate.step_forces import StepForces

FREE_LIFT = 1e-3
"""The penetration that is corrected even if that raises the potential energy, in m."""


@final
@dataclass(frozen=True)
class Contact(Method):
    """Hard contact with friction."""

    name: str = "contact"
    has_contacts: bool = True
    ground_parameters: tuple[str, ...] = ("friction", "restitution")
    differentiated: tuple[str, ...] = ("impulses",)
    max_penetration: float = 1e-3

    def initial_state(self, tree: Tree, scene: Scene, q: NDArray[Any]) -> dict[str, Any]:
        """The bound of the energy, and the impulses of the last step."""
        return initial_state(scene)

    def step(self, start: StepStart) -> StepResult:
        """One step; see `contact_step`."""
        return contact_step(start).step_result(start.scene)


class ContactResult(NamedTuple):
    """The state after a step with contacts."""

    q: NDArray[Any]
    v: NDArray[Any]
    tau: NDArray[Any]
    """(nv,): the controller's forces, their mean over the step."""
    forces: StepForces
    """With the controller's next state."""
    bound: Any
    """(4,) in J: see `energy_limiter`."""
    constraint_forces: Any
    """(rows of constraints,): on the robot, their mean over the step; None without constraints."""
    impulses: Any = None
    """(rows,): those of the contacts, then those of the joints' rows, in N s or N m s; None without rows."""
    contact_forces: Any = None
    """(contacts + pairs of spheres, 3): on the robot, along the world's axes, their mean over the step."""
    residual: Any = 0.0
    """The largest change of a contact's velocity in the last sweep, in m/s."""
    sweeps: Any = 0.0
    u: Any = None
    """(rows,): the velocities after the impulses, in m/s; as Signorini's condition counts them."""
    drifted: Any = None
    """(nq,): q before penetration was corrected."""

    def step_result(
        self, scene: Scene, state: Mapping[str, Any] | None = None, record: Mapping[str, Any] | None = None
    ) -> StepResult:
        """The result with a method's own entries; without a record of its own, that of the sweeps."""
        if record is None:
            record = {"residual": self.residual, "sweeps": self.sweeps} if scene.rows else {}
        forces = np.zeros((0, 3)) if self.contact_forces is None else self.contact_forces
        record = {"forces": forces[: scene.contacts], **record}
        if scene.spheres:
            record["pair_forces"] = forces[scene.contacts :]
        if scene.constraints is not None:
            record["constraint_forces"] = self.constraint_forces
        own = {"bound": self.bound, "impulses": self.impulses}
        return StepResult(self.q, self.v, self.tau, self.forces, {**own, **(state or {})}, record)


def initial_state(scene: Scene) -> dict[str, Any]:
    """The entries of the state of all methods with contacts."""
    return {"bound": np.array(START)} | ({"impulses": np.zeros(scene.rows)} if scene.rows else {})


def contact_step(start: StepStart, known: KnownContacts | None = None, law: ContactLaw | None = None) -> ContactResult:
    """Advance the state by a step; without a bound in it the energy has no limit.

    `known` are the open contacts of a piece of a step; `law` is that of compliant ground, in place of Signorini's.
    """
    midpoint = Midpoint.predict(start)
    bound = start.state.get("bound")
    bounded = bound is not None and not start.scene.exact
    if not start.scene.rows:
        return _step_without_contacts(midpoint, bound, bounded)
    problem = ContactProblem.assemble(midpoint, start.parameters, known, law)
    last = Solver.solve(problem, start.state["impulses"])
    late = problem.velocity_change(np.matmul(problem.Z, last.delays * last.P))
    drifted = _advance(problem, last, late)
    work = _work(problem, last, late) if bounded else None
    q = resolve_penetration(problem, drifted, None if work is None else bound[0] + work.gain() + _lift_energy(problem))
    v, bound = midpoint.limit_energy(q, last.change, bound, work, drifted)
    return _result(problem, last, drifted, q, v, bound)


def _step_without_contacts(midpoint: Midpoint, bound: Any, bounded: bool) -> ContactResult:
    change, impulses = midpoint.change_without_contacts()
    q = midpoint.close(midpoint.advance(change))
    v, bound = midpoint.limit_energy(q, change, bound, StepWork(midpoint.work(change)) if bounded else None)
    constraint_forces = None if impulses is None else impulses / midpoint.dt
    return ContactResult(q, v, midpoint.mean_force(change), midpoint.forces, bound, constraint_forces)


def _advance(problem: ContactProblem, last: VelocityIteration, late: NDArray[Any]) -> NDArray[Any]:
    """(nq,): after the second half of the step, before penetration is corrected."""
    q = problem.midpoint.advance(last.change, late)
    return q if problem.known is None else problem.midpoint.close(q)


def _work(problem: ContactProblem, last: VelocityIteration, late: NDArray[Any]) -> StepWork:
    """The work of forces and of contacts; impulses are late by a displacement."""
    midpoint, y = problem.midpoint, last.half_solved[-1]
    without = problem.velocity_change(y) - last.change
    freed = np.sum(midpoint.static_forces() * (midpoint.dt / 2 * without + late))
    return StepWork(
        midpoint.work(last.change, late), freed, *problem.contact_work(last.P, problem.free(y), last.delays)
    )


def _lift_energy(problem: ContactProblem) -> Any:
    tree = problem.midpoint.tree
    return FREE_LIFT * tree.mass * gravity(tree)


def _result(
    problem: ContactProblem,
    last: VelocityIteration,
    drifted: NDArray[Any],
    q: NDArray[Any],
    v: NDArray[Any],
    bound: Any,
) -> ContactResult:
    midpoint, P, constraint_forces = problem.midpoint, last.P, None
    system = problem.system(problem.free(last.half_solved[-1]))
    u = system.u + np.matmul(system.W, P)
    if midpoint.constraints is not None:
        before = last.half_solved[0] + np.matmul(problem.half.Z, P)
        after = last.half_solved[-1] + np.matmul(problem.Z, P)
        constraint_forces = midpoint.constraints.impulses(before, after) / midpoint.dt
    own = q, v, midpoint.mean_force(last.change), midpoint.forces, bound, constraint_forces
    return ContactResult(*own, P, problem.contact_forces(P), last.residual, last.sweeps, u, drifted)
