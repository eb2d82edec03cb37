"""What a step of any method returns."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.simulate.step_forces import StepForces


class StepResult(NamedTuple):
    """The state after a step, and what acted in it."""

    q: NDArray[Any]
    v: NDArray[Any]
    tau: NDArray[Any]
    """(nv,): the controller's forces, their mean over the step."""
    acting: StepForces
    """With the controller's next state."""
    impulses: Any = None
    """(rows,): those of the contacts, then those of the joints' rows, in N s or N m s."""
    forces: Any = None
    """(contacts + pairs of spheres, 3): on the robot, along the world's axes, their mean over the step."""
    residual: Any = 0.0
    """In m/s: by how much the last sweep changed velocities of contacts."""
    sweeps: Any = 0.0
    """How many sweeps it took."""
    bound: Any = None
    """(3,) in J: that of the energy, and what `balance` keeps with it."""
    left: Any = None
    """(rows,): in m/s, the velocities that impulses leave to contacts."""
    sunk: Any = None
    """(nq,): q before depths were taken away."""
    anchors: Any = None
    """(pairs, 3): where the springs of soft contacts end."""
    slips: Any = None
    """(pairs, 3): in m/s, how fast these are dragged along."""
    constraint_forces: Any = None
    """(rows of constraints,): on the robot, their mean over the step."""
    down: Any = None
    """(pairs,): in s, the times of the last touch-downs in "events"; -inf for none."""
    up: Any = None
    """(pairs,): those of the last lift-offs."""
