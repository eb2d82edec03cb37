"""The balance of energy over a step: what no force has put in, the motion cannot have.

At rates of about 1/dt, as of light links that whirl, no explicit step of the Coriolis forces is stable. Where the
motion has gained more energy than its forces worked, velocities are scaled down: contacts that stick still stick.
Errors of the order of the step are no such gain: a pendulum has some 1e-4 of its energy more on one side of its swing
than on the other. So `SLACK` of the largest kinetic energy of the run, and `SHARE` of the work, may be gained before
velocities are touched; `run.taken` tells what was taken.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy, potential_energy
from multibody.geometry._arrays import vector
from multibody.model.tree import Tree

SLACK = 5e-3
"""Of the largest kinetic energy so far."""
SHARE = 1e-2
"""Of the work of a step: how far it is known."""
TINY = 1e-30
START = (np.inf, 0.0, 0.0)
"""Of a run: no bound yet, no motion, nothing taken."""


def balanced(
    tree: Tree, q: NDArray[Any], v: NDArray[Any], bound: NDArray[Any], work: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The velocity v, or less of it, and the bound after the step.

    Args:
        tree: the robot.
        q: (nq,), after the step.
        v: (nv,), after the step.
        bound: (3,) in J: the least energy so far, with the work since then, the largest kinetic energy so far, and what
            was taken.
        work: in J, of controllers, pushes, springs and dampers in the step; that of contacts and dry friction is never
            positive.
    """
    T, V = kinetic_energy(tree, q, v), potential_energy(tree, q)
    least = bound[0] + work + SHARE * np.abs(work)
    room = least + SLACK * bound[1] - V
    kept = np.clip(room, 0.0, T)
    part = np.where(room < T, np.sqrt(kept / np.maximum(T, TINY)), 1.0)
    return part * v, vector(np.minimum(least, kept + V), np.maximum(bound[1], kept), bound[2] + (T - kept))
