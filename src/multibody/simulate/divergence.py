"""When a sample diverges, and why: which quantity became non-finite first."""

from typing import Any

import numpy as np

from multibody.simulate.controllers import Function
from multibody.simulate.step_forces import StepForces

RUNAWAY_SPEED = 1e4
"""The velocity, in m/s or rad/s, beyond which the motion has diverged before it overflows."""
NONE, START, CONTROLLER, AWAY, FORCES = range(5)
WORDS = {
    NONE: "",
    START: "the start is not finite",
    CONTROLLER: "the controller returned forces that are not finite",
    AWAY: "the motion diverged: a shorter dt, or gains and forces that fit the inertia, may help; simulator.advice() "
    "says which",
    FORCES: "inputs, pushes, parameters or the height of a ground are not finite, or forces too large for the numbers",
}
"""The sentences of the causes."""


class SimulationWarning(UserWarning):
    """A run is finite and yet no motion of the robot; `simulator.advice(run)` names the reason."""


def diverges(failed: Any, q: Any, v: Any) -> Any:
    """Whether a sample that had not failed is no longer finite."""
    return (failed < 0.0) & ~np.isfinite(np.sum(q) + np.sum(v))


def fault(forces: StepForces, q: Any, v: Any, tau: Any) -> Any:
    """The cause, given the state before the step and the controller's forces in it."""
    speed = np.sum(np.abs(v))
    cause = np.where(speed > RUNAWAY_SPEED, float(AWAY), float(FORCES))
    if isinstance(forces.controller, Function):
        cause = np.where(np.isfinite(np.sum(tau)) | (speed > RUNAWAY_SPEED), cause, float(CONTROLLER))
    return np.where(np.isfinite(np.sum(q) + np.sum(v)), cause, float(START))
