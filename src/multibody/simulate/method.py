"""The contract of a simulation method: the start of a step, its result, and what else the simulator needs to know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from numpy.typing import NDArray

from multibody.model.tree import Tree
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


@final
@dataclass(frozen=True)
class Method:
    """A rule that advances a robot by one step; `METHODS` has one of each, by name."""

    name: str
    """As users select it, `Simulator(method=...)`."""
    step: Callable[[StepStart], StepResult]
    """Advances one sample by one step, in plain NumPy."""
    initial_state: Callable[[Tree, Scene, NDArray[Any]], dict[str, Any]] = lambda *_: {}
    """The entries of the state besides q and v, at a configuration (..., nq); they may leave out its batch."""
    has_contacts: bool = False
    """Whether contacts, pairs of spheres, joint limits and constraints act; controllers of PD are then implicit."""
    has_derivatives: bool = True
    """Whether `simulate.gradient` takes it."""
    ground_parameters: tuple[str, ...] = ()
    """The parameters of the ground that a run may set by sample."""
    differentiated: tuple[str, ...] = ()
    """The entries of `initial_state` that have derivatives."""
    max_penetration: float = 0.0
    """The penetration from which `Simulator.advice` reports it, in m."""

    @property
    def has_soft_ground(self) -> bool:
        """Whether the ground has stiffness and damping, in place of restitution."""
        return "ground_stiffness" in self.ground_parameters
