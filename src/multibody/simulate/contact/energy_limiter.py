"""The balance of energy over a step: what no force has put in, the motion cannot have.

At rates of about 1/dt, as of light links that whirl, no explicit step of the Coriolis forces is stable. Where the
motion has gained more energy than its forces worked, velocities are scaled down: contacts that stick still stick.
Errors of the order of the step are no such gain: what turns by dt ω in a step, and speeds up by dt α, has some
(dt ω)² + dt² α of its kinetic energy more on one side of a swing than on the other. The largest such energy of the run,
`SLACK` of the kinetic one at most, may be gained before velocities are touched, and `SHARE` of the work; `run.taken`
tells what was taken.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy, potential_energy
from multibody.geometry._arrays import vector
from multibody.model.joints import Floating, Prismatic, Translational
from multibody.model.tree import Tree

SLACK = 5e-3
"""Of the kinetic energy, at most."""
SHARE = 1e-2
"""Of the work of a step: how far it is known."""
TINY = 1e-30
START = (np.inf, 0.0, 0.0, 0.0)
"""Of a run: no bound yet, no turns, nothing taken, no motion."""


def balanced(
    tree: Tree, dt: Any, q: NDArray[Any], v: NDArray[Any], change: NDArray[Any], bound: NDArray[Any], work: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The velocity v, or less of it, and the bound after the step.

    Args:
        tree: the robot.
        dt: the step.
        q: (nq,), after it.
        v: (nv,), after it.
        change: (nv,), of v in the step.
        bound: (4,) in J: the least energy so far, with the work since then, what steps may be off, what was taken, and
            the largest kinetic energy.
        work: in J, of controllers, pushes, springs and dampers in the step; that of contacts and dry friction is never
            positive.
    """
    T, V = kinetic_energy(tree, q, v), potential_energy(tree, q)
    least = bound[0] + work + SHARE * np.abs(work)
    room = least + bound[1] - V
    kept = np.clip(room, 0.0, T)
    part = np.where(room < T, np.sqrt(kept / np.maximum(T, TINY)), 1.0)
    turns = _turning(tree)
    way, jump = dt * v[turns], dt * np.abs(change[turns])
    off = kept * np.minimum(SLACK, np.sum(way * way + jump)) if turns else 0.0
    taken, largest = bound[2] + (T - kept), np.maximum(bound[3], kept)
    return part * v, vector(np.minimum(least, kept + V), np.maximum(bound[1], off), taken, largest)


def _turning(tree: Tree) -> list[int]:
    """The velocities that turn something."""
    places: list[int] = []
    for joint in tree.independent_joints:
        if not isinstance(joint.kind, Prismatic | Translational):
            first = joint.v.start + (3 if isinstance(joint.kind, Floating) else 0)
            places += range(first, joint.v.stop)
    return places
