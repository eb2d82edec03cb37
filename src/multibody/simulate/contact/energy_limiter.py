"""The energy limiter: no motion has more energy than forces put into it.

At rates of about 1/dt, as of light links that whirl, no explicit step of the Coriolis forces is stable. If a step gains
more energy than its forces worked, velocities are scaled down; contacts that stick still stick. Parts of a scene that
exchange no forces, as two robots side by side, have limits of their own. Four things are no such gain, so that ordinary
motion is the same with and without the limiter (docs/decisions/0031):

- The work of a force is that along the mean velocity of a step. If a contact stops within the step what a force has
  reversed, that work ends earlier, and the contact returns the difference: its work is then positive. It returns at
  most the work that forces would have done without contacts, less the work that they did; nothing if only gravity acts.
- A controller may push a foot into the ground within a step. The correction of positions lifts the robot by at most the
  work of the forces.
- The work of each force is known to `WORK_ERROR` of itself.
- A rotation by dt ω in a step that changes by dt α has an error of (dt ω)² + dt² α of the kinetic energy, on one side
  of a swing or the other: the largest such error of a run, at most `MAX_ENERGY_ERROR`, is tolerated.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy
from multibody.geometry._arrays import vector
from multibody.model.joints import Floating, Prismatic, Translational
from multibody.model.tree import Tree
from multibody.simulate.contact.independent_parts import Part
from multibody.simulate.contact.midpoint import Midpoint

MAX_ENERGY_ERROR = 5e-3
"""The largest tolerated error of the energy, relative to the kinetic energy."""
WORK_ERROR = 1e-2
"""The error of the work of a force in a step, relative to it."""
SMALLEST_DIVISOR = 1e-30
START = (np.inf, 0.0, 0.0, 0.0)
"""Of each part of a run: no bound yet, no rotation, nothing taken, no motion."""


class StepWork(NamedTuple):
    """The work in a step, in J, with the mean of the velocities before and after it."""

    forces: NDArray[Any]
    """(nv,): of controllers, pushes, springs and dampers, velocity by velocity."""
    freed: NDArray[Any]
    """(nv,): the work that all forces but Coriolis forces would have done without contacts, less what they did."""
    compliant: NDArray[Any]
    """(rows,): of compliant ground, which returns what it took."""
    rigid: NDArray[Any]
    """(rows,): of rigid contacts, joint limits and dry friction: not positive if nothing stops within the step."""

    def of(self, part: Part) -> "StepWork":
        """The work on one part of the scene."""
        forces, freed = (x[part.velocities] for x in (self.forces, self.freed))
        return StepWork(forces, freed, *(x[part.rows] for x in (self.compliant, self.rigid)))

    def gain(self, lift: Any = 0.0) -> Any:
        """The largest change of the energy that is no error of the step, in J.

        Args:
            lift: the change of the potential energy by the correction of positions.
        """
        magnitude, freed = np.sum(np.abs(self.forces)), np.sum(self.freed)
        compliant, rigid = np.sum(self.compliant), np.sum(self.rigid)
        returned = np.clip(rigid, 0.0, np.maximum(freed, 0.0)) + np.clip(lift, 0.0, magnitude)
        error = WORK_ERROR * (magnitude + np.abs(compliant))
        return np.sum(self.forces) + compliant + returned + error


def limit_energy(
    midpoint: Midpoint, q: NDArray[Any], change: NDArray[Any], work: StepWork, energies: list[Any], drifted: list[Any]
) -> tuple[NDArray[Any], Any]:
    """Return the velocity after a step, scaled down if energy came from nowhere, and the next bound.

    The bound has four entries in J for each part: the largest energy that the work since the least one explains, the
    tolerated error, the energy that was taken, and the largest kinetic energy.

    Args:
        midpoint: the start of the step.
        q: (nq,), after it.
        change: (nv,), of the velocity.
        work: in the step.
        energies: the potential energies of parts at q.
        drifted: those before the correction of q.
    """
    v, dt, scales, ends = midpoint.v + change, midpoint.dt, {}, []
    if not midpoint.limited or not midpoint.tree.nv:
        return v, midpoint.bound
    for k, (part, tree) in enumerate(midpoint.limited):
        bound, T, V = midpoint.bound[4 * k : 4 * k + 4], kinetic_energy(tree, q, v), energies[k]
        explained = bound[0] + work.of(part).gain(V - drifted[k])
        room = explained + bound[1] - V
        limited = (room < T) & np.isfinite(T)  # a motion that overflows is reported as such
        kept = np.where(limited, np.maximum(room, 0.0), T)
        scale = np.where(limited, np.sqrt(kept / np.maximum(T, SMALLEST_DIVISOR)), 1.0)
        rotations = [place for place in _rotations(tree) if place in part.velocities]
        turn, jump = dt * v[rotations], dt * np.abs(change[rotations])
        error = kept * np.minimum(MAX_ENERGY_ERROR, np.sum(turn * turn + jump)) if rotations else 0.0
        taken, largest = bound[2] + (T - kept), np.maximum(bound[3], kept)
        ends.append(vector(np.minimum(explained, kept + V), np.maximum(bound[1], error), taken, largest))
        scales |= dict.fromkeys(part.velocities, scale)
    return vector(*(scales[k] for k in range(midpoint.tree.nv))) * v, np.concatenate(ends)


def _rotations(tree: Tree) -> list[int]:
    """The velocities that are angular."""
    places: list[int] = []
    for joint in tree.independent_joints:
        if not isinstance(joint.kind, Prismatic | Translational):
            first = joint.v.start + (3 if isinstance(joint.kind, Floating) else 0)
            places += range(first, joint.v.stop)
    return places
