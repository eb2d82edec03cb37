"""The first half of a step: the robot in the middle of it, with its forces and constraints there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.coriolis import gravity
from multibody.algorithms.energy import potential_energy
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.mass_matrix_factorization import Factors
from multibody.algorithms.rnea import rnea
from multibody.model import base_velocity
from multibody.model.actuation import passive
from multibody.model.tree import Tree
from multibody.simulate.configuration_update import advance
from multibody.simulate.contact.bilateral_constraints import BilateralConstraints, project_position
from multibody.simulate.contact.independent_parts import Part
from multibody.simulate.contact.scene import Scene
from multibody.simulate.method import StepStart
from multibody.simulate.step_forces import StepForces


@dataclass(frozen=True, eq=False)
class Midpoint:
    """The robot at q ⊕ dt/2 v, where mass matrix, forces and contacts are taken."""

    scene: Scene
    forces: StepForces
    """With the sampled controller."""
    dt: Any
    v: NDArray[Any]
    """(nv,): before the step."""
    bound: Any
    """The bound of the energy, (4 parts,) in J; None for no limit."""
    drift: NDArray[Any]
    """(nq,): q ⊕ dt/2 v, from where the second half of the step starts."""
    q: NDArray[Any]
    """(nq,): the same, corrected to what constraints allow."""
    tau: NDArray[Any]
    """(nv,): the controller's forces at the velocity v."""
    slope: Any
    """(nv,): -∂tau/∂v over the step, or None."""
    passive: Any
    """(nv,): the forces of springs and dampers of joints; 0 for none."""
    added: Any
    """(nv,): what implicit forces add to the mass matrix, or None; plastic contacts then close by degrees."""
    M: Factors
    """The mass matrix with what is added to it."""
    constraints: BilateralConstraints | None

    @staticmethod
    def predict(start: StepStart) -> "Midpoint":
        """Take half a step with the velocity before it."""
        forces, dt, t, q, v, state, scene, _ = start
        tree = forces.tree
        q_m = drift = advance(tree, q, dt / 2 * v)
        if scene.constraints is not None:  # their rows are those of a configuration that they allow
            q_m = project_position(tree, scene.constraints, drift, scene.tolerated_error)
        forces = forces.sample(t + dt / 2, q_m, v)
        tau = forces.control(t + dt / 2, q_m, v)
        slope, smooth = forces.control_slope(tau, dt), 0.0
        added = None if slope is None else dt * slope
        if forces.passive:
            smooth = passive(tree.with_values(friction=np.zeros(tree.nv)), q_m, v)  # dry friction has rows of its own
            own = dt * forces.joint_slope(dt)
            added = own if added is None else added + own
        M = factors(tree, q_m, added)
        constraints = (
            None if scene.constraints is None else BilateralConstraints(tree, scene.constraints, M, q_m, v, dt)
        )
        return Midpoint(scene, forces, dt, v, state.get("bound"), drift, q_m, tau, slope, smooth, added, M, constraints)

    @property
    def tree(self) -> Tree:
        """With the numbers of this sample."""
        return self.forces.tree

    def impulse(self, v: NDArray[Any]) -> NDArray[Any]:
        """(nv,), bases in "left": the impulse of all forces but those of contacts, with Coriolis forces at v."""
        h = rnea(self.tree, self.q, v, np.zeros_like(self.v), self.forces.wrenches)
        return base_velocity.force_to_left(self.tree, self.q, self.dt * (self.tau + self.passive - h))

    def twice_energy(self) -> Any:
        """Twice the kinetic energy before the step, in J."""
        v = base_velocity.to_left(self.tree, self.q, self.v)
        return self.M.quadratic(v) - (0.0 if self.added is None else np.sum(self.added * v * v))

    def change_without_contacts(self) -> tuple[NDArray[Any], Any]:
        """The change of velocity, (nv,), and the impulses of constraints, where nothing can touch."""

        def change(v: NDArray[Any]) -> tuple[NDArray[Any], Any]:
            if self.constraints is None:
                return base_velocity.from_left(self.tree, self.q, self.M.solve_vector(self.impulse(v), ())), None
            half = self.constraints.half
            y = half.solve_LT(self.impulse(v))
            after = self.constraints.push(y, v)
            return base_velocity.from_left(self.tree, self.q, half.solve_DL(after)), self.constraints.impulses(y, after)

        return change(self.v + change(self.v)[0] / 2)

    def mean_force(self, change: NDArray[Any]) -> NDArray[Any]:
        """(nv,): the controller's forces, their mean over the step."""
        return self.tau if self.slope is None else self.tau - self.slope * change

    def advance(self, change: NDArray[Any], late: Any = 0.0) -> NDArray[Any]:
        """(nq,): the second half of the step, with the velocity after it, less the displacement of late impulses."""
        return advance(self.tree, self.drift, self.dt / 2 * (self.v + change) - late)

    def close(self, q: NDArray[Any]) -> NDArray[Any]:
        """(nq,): q corrected to what constraints allow."""
        return q if self.constraints is None else self.constraints.projection.correct(q, self.scene.tolerated_error)

    def work(self, change: NDArray[Any], late: Any = 0.0) -> NDArray[Any]:
        """(nv,): the work of controllers, pushes, springs and dampers, velocity by velocity, in J.

        Implicit forces react to a jump of the velocity in the middle of the step. So a displacement of late impulses
        changes only the work of forces at the velocity before it.
        """
        mean, reaction = self.mean_force(change), 0.0 if self.slope is None else self.slope * change
        if self.forces.passive:
            own = self.forces.joint_slope(self.dt) * change
            mean, reaction = mean + self.passive - own, reaction + own
        return (mean + self.forces.pushes(self.q)) * (
            self.dt / 2 * (self.v + (self.v + change)) - late
        ) - reaction * late

    def static_forces(self) -> NDArray[Any]:
        """(nv,): all forces but those of contacts and Coriolis forces, at the velocity before the step."""
        return self.tau + self.passive + self.forces.pushes(self.q) - gravity(self.tree, self.q)

    @property
    def limited(self) -> list[tuple[Part, Tree]]:
        """The parts of the scene whose energy has a limit, with their trees; none in derivatives."""
        if self.bound is None or self.scene.exact:
            return []
        return [(part, part.alone(self.tree)) for part in self.scene.parts]

    def potential_energies(self, q: NDArray[Any]) -> list[Any]:
        """The potential energy, in J, of each part whose energy has a limit."""
        return [potential_energy(tree, q) for _, tree in self.limited]
