"""Controllers: PD, which acts implicitly in the step of "contact", or any NumPy function of time and state."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import floats
from multibody.model.joint import Joint
from multibody.model.tree import Tree

ARGUMENTS = ("t", "q", "v", "input", "state")


@dataclass(frozen=True, eq=False)
class PD:
    """Springs and dampers that pull all joints but floating bases: τ = kp (target - q) - kd v.

    The targets are the `inputs` of a run, or those given here, or the robot's home. In "contact" the forces are the
    mean over the step, by the trapezoidal rule, so that stiff gains need no short steps.

    >>> PD(100.0, 2.0).kp
    array(100.)
    """

    kp: Any
    """In N m/rad or N/m: a number, or one for each velocity of these joints."""
    kd: Any
    """In N m s/rad or N s/m."""
    target: Any = None
    """The coordinates of these joints, where a run has no inputs."""

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            gains = floats(getattr(self, name), f"PD, {name}")
            if gains.ndim > 1 or not np.isfinite(gains).all() or (gains < 0).any():
                raise InputError(f"PD, {name}: expected finite gains >= 0, a number or one a joint, got {gains}")
            object.__setattr__(self, name, gains)

    def check(self, tree: Tree) -> None:
        """Refuse gains of another number than the joints'."""
        n = len(behind(tree)[1])
        for name in ("kp", "kd"):
            if getattr(self, name).shape not in ((), (n,)):
                shape = getattr(self, name).shape
                raise InputError(f"PD, {name}: expected a number or {n}, one for each velocity, got shape {shape}")

    def goal(self, tree: Tree, home: ArrayLike) -> NDArray[Any]:
        """The targets without inputs, one for each coordinate of these joints."""
        at = behind(tree)[0]
        target = floats(np.asarray(home)[at] if self.target is None else self.target, "PD, target")
        if target.shape != (len(at),):
            raise InputError(f"PD, target: expected {len(at)} coordinates of joints, got shape {target.shape}")
        return target

    def pull(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], target: Any, gains: Any) -> NDArray[Any]:
        """(nv,): kp (target - q) - kd v, nothing on bases."""
        kp, kd = gains
        return spread(tree, kp * joint_error(tree, q, target) - kd * v[..., behind(tree)[1]])

    def slope(self, tree: Tree, dt: float, gains: Any) -> NDArray[Any]:
        """(nv,): by how much the mean force falls with the change of velocity: kd/2 + kp dt/4.

        The mean configuration over a step is q_m + dt/4 (v⁺ - v), the mean velocity v + (v⁺ - v)/2.
        """
        kp, kd = gains
        slope = kd / 2 + kp * (dt / 4)
        return spread(tree, np.broadcast_to(slope, (len(behind(tree)[1]),)))


class Sampled(ABC):
    """A controller that reckons with the time until it is asked again, which a simulator has to keep to."""

    __slots__ = ()

    @property
    @abstractmethod
    def dt(self) -> float:
        """In s, the time between two calls."""


def check_period(controller: Any, dt: float) -> None:
    """Refuse a controller that reckons with another time between two calls than a simulator's, in s."""
    if isinstance(controller, Sampled) and not np.isclose(controller.dt, dt, rtol=1e-6, atol=0.0):
        raise InputError(
            f"controller: expected one that is asked every {dt:g} s, dt times control_every, got {controller!r}"
        )


class Function:
    """A function(t, q, v[, input[, state]]) -> tau, or with a state -> (tau, state)."""

    def __init__(self, function: Callable[..., Any], tree: Tree) -> None:
        self.function, self.tree = function, tree
        self.count = _arguments(function)

    @property
    def takes_inputs(self) -> bool:
        """Whether it has a parameter for inputs."""
        return self.count > 3

    @property
    def remembers(self) -> bool:
        """Whether it has a state."""
        return self.count == len(ARGUMENTS)

    def __call__(self, t: Any, q: Any, v: Any, u: Any, memory: Any) -> tuple[Any, Any]:
        """Tau, (nv,), and the next state."""
        result = self.function(*(t, q, v, u, memory)[: self.count])
        if self.remembers:
            if not isinstance(result, tuple) or len(result) != 2:
                raise InputError("controller: with a state it must return (tau, state)")
            result, memory = result
        expected = (self.tree.nv,)
        if np.shape(result) != expected:
            raise InputError(
                f"controller: expected tau of shape {expected}, one for each velocity, got {np.shape(result)}; a "
                "floating base has the first six, zeros for motors"
            )
        return result, memory


def behind(tree: Tree) -> tuple[list[int], list[int]]:
    """The places of the coordinates and velocities of all joints but floating bases."""
    joints = _driven(tree)
    coordinates = [k for joint in joints for k in range(joint.q.start, joint.q.stop)]
    return coordinates, [k for joint in joints for k in range(joint.v.start, joint.v.stop)]


def of_bases(tree: Tree) -> list[int]:
    """The places of the velocities of floating bases."""
    return [k for base in tree.bases for k in range(base.v.start, base.v.stop)]


def _driven(tree: Tree) -> list[Joint]:
    """The joints with coordinates of their own but for floating bases."""
    return [joint for joint in tree.independent_joints if not tree.is_base(joint)]


def spread(tree: Tree, x: NDArray[Any]) -> NDArray[Any]:
    """(..., nv): numbers of the joints, with zeros for floating bases."""
    if not tree.bases:
        return x
    place, none = {k: i for i, k in enumerate(behind(tree)[1])}, np.zeros(x.shape[:-1], x.dtype)
    return np.stack([x[..., place[k]] if k in place else none for k in range(tree.nv)], axis=-1)


def joint_error(tree: Tree, q: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """The way of all joints but floating bases from q, (..., nq), to coordinates of these joints: one a velocity."""
    parts, start = [], 0
    for joint in _driven(tree):
        own, goal = q[..., joint.q], target[..., start : start + joint.nq]
        # a hinge that turns without end is pulled to the target's own turn
        parts.append(goal - own if joint.nq == 1 else joint.kind.difference(own, goal))
        start += joint.nq
    return np.concatenate(parts, axis=-1) if parts else np.zeros((0,))


def _arguments(function: Any) -> int:
    if not callable(function):
        raise InputError(f"controller: expected simulate.PD or a function of t, q, v, got {function!r}")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InputError("controller: expected a function whose arguments Python can tell, as def or lambda") from None
    required = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if not 3 <= len(required) <= len(ARGUMENTS):
        raise InputError(
            f"controller: expected a function of (t, q, v[, input[, state]]), got {len(required)} arguments"
        )
    return len(required)
