"""The start and the result of a step, of any method."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.simulate.contact.scene import Scene
from multibody.simulate.step_forces import StepForces


class StepStart(NamedTuple):
    """Everything that a step depends on, for one sample."""

    forces: StepForces
    """Of the controller, pushes and joints; `forces.tree` has the numbers of the sample."""
    dt: Any
    """The step in s."""
    t: Any
    """The time before the step in s."""
    q: NDArray[Any]
    v: NDArray[Any]
    state: Mapping[str, Any]
    """The entries of `Method.initial_state` before the step, among others."""
    scene: Scene
    """The contacts, joint limits and constraints."""
    parameters: Mapping[str, Any]
    """By name, those that the run sets by sample."""


class StepResult(NamedTuple):
    """The state after a step, and its record."""

    q: NDArray[Any]
    v: NDArray[Any]
    tau: NDArray[Any]
    """(nv,): the controller's forces, their mean over the step."""
    forces: StepForces
    """With the controller's next state."""
    state: Mapping[str, Any] = {}
    """The entries of `Method.initial_state` after the step."""
    record: Mapping[str, Any] = {}
    """Further quantities, by the names of fields of `Run`; "forces", (contacts, 3), are zero where it has none."""
