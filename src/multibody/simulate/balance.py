"""The balance of energy over a step: what no force has put in, the motion cannot have.

At rates of about 1/dt, as of light links that whirl, no explicit step of the Coriolis forces is stable. Where a step
has gained more energy than its forces worked, velocities are scaled down: contacts that stick still stick.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy, potential_energy
from multibody.model.tree import Tree

SLACK = 5e-3
"""Of the kinetic energy: how far a step may be off, as far as its order goes, before velocities are touched."""
TINY = 1e-30


def balanced(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], bound: NDArray[Any], work: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The velocity v, or less of it, and the bound of the energy after the next step without its work.

    Args:
        tree: the robot.
        q: (nq,), after the step.
        v: (nv,), after the step.
        bound: (2,), that of the energy before the step, in J, infinite at the start of a run; and what was taken
            away so far, in J.
        work: in J, of controllers, pushes and springs in the step; that of contacts and friction is never positive.
    """
    T, V = kinetic_energy(tree, q, v), potential_energy(tree, q)
    room = bound[0] + work - V
    part = np.where(room < T, np.sqrt(np.clip(room, 0.0, T) / np.maximum(T, TINY)), 1.0)
    left = np.minimum(T, np.maximum(room, 0.0))
    return part * v, np.stack([np.minimum(room + V, left + V + SLACK * left), bound[1] + (T - left)])
