"""Controllers that are NumPy functions of time and state: their arguments, inputs, memory and sampling period."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry._arrays import vector
from multibody.model.tree import Tree
from multibody.simulate.pd import PD

ARGUMENTS = ("t", "q", "v", "input", "state")


class Sampled(ABC):
    """A controller designed for a fixed sampling period, with which a simulator must call it."""

    __slots__ = ()

    @property
    @abstractmethod
    def dt(self) -> float:
        """The sampling period in s."""


def check_period(controller: Any, dt: float) -> None:
    """Refuse a controller with another sampling period than a simulator's, in s."""
    if isinstance(controller, Sampled) and not np.isclose(controller.dt, dt, rtol=1e-6, atol=0.0):
        raise InputError(
            f"controller: expected one that is asked every {dt:g} s, dt times control_every, got {controller!r}"
        )


def _reading(read: Callable[..., Any], whole: bool = False) -> Callable[..., Any]:
    """A method of a dict that notes which input is read: the one of its argument, or the whole of them."""

    def method(inputs: "NamedInputs", *arguments: Any) -> Any:
        inputs.unread.clear() if whole else inputs.unread.pop(str(arguments[0]), None)
        return read(inputs, *arguments)

    return method


class NamedInputs(dict[str, Any]):
    """The inputs of a controller by name: names that it misses are refused, and names that it never reads are known."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        super().__init__(inputs)
        self.unread = dict.fromkeys(inputs)

    def __missing__(self, name: Any) -> Any:
        raise InputError(f"inputs: the controller reads {name!r}, expected it among {', '.join(map(repr, self))}")

    __getitem__, get, __contains__ = map(_reading, (dict.__getitem__, dict.get, dict.__contains__))
    __iter__, keys, values, items = (
        _reading(read, True) for read in (dict.__iter__, dict.keys, dict.values, dict.items)
    )


class Function:
    """A function(t, q, v[, input[, state]][, forces]) -> tau, or with a state -> (tau, state).

    It asks for the contact forces of the last step by a parameter of the name `forces`.
    """

    def __init__(self, function: Callable[..., Any], tree: Tree, contacts: int = 0) -> None:
        self.function, self.tree = function, tree
        self.count, self.senses_forces = _arguments(function)
        self.takes_inputs, self.remembers = self.count > 3, self.count == len(ARGUMENTS)
        """Whether it has a parameter for inputs, and a state."""
        self.forces: Any = np.zeros((contacts, 3))
        """(contacts, 3): those at the start of a run, zero."""
        if self.senses_forces and not contacts:
            raise InputError(
                "controller: it asks for forces, and the robot has no contacts: expected contacts= or ground=, in "
                'method "contact", "events" or "soft"'
            )

    def __call__(self, t: Any, q: Any, v: Any, u: Any, memory: Any, forces: Any = None) -> tuple[Any, Any]:
        """Tau, (nv,), and the next state; the forces of the last step are those at the start of a run by default."""
        sensed = {"forces": self.forces if forces is None else forces} if self.senses_forces else {}
        u = NamedInputs(u) if isinstance(u, dict) else u
        result = self.function(*(t, q, v, u, memory)[: self.count], **sensed)
        if isinstance(u, NamedInputs) and u.unread:
            unread = ", ".join(map(repr, u.unread))
            raise InputError(f"inputs: the controller does not read {unread}: expected inputs that it reads, no others")
        if self.remembers:
            if not isinstance(result, tuple) or len(result) != 2:
                raise InputError("controller: with a state it must return (tau, state)")
            result, memory = result
        if isinstance(result, list | tuple):
            result = vector(*result)
        expected = (self.tree.nv,)
        if np.shape(result) != expected:
            raise InputError(
                f"controller: expected tau of shape {expected}, one for each velocity, got {np.shape(result)}; a "
                "floating base has the first six, zeros for motors"
            )
        return result, memory


def controller_of(controller: Any, tree: Tree, contacts: int) -> PD | Function | None:
    """The controller of a robot with a number of contacts, checked."""
    if isinstance(controller, PD):
        controller.check(tree)
    return controller if controller is None or isinstance(controller, PD) else Function(controller, tree, contacts)


def first_memory(controller: PD | Function | None, state: Any) -> Any:
    """The first state of a controller; None for a controller without a state."""
    remembers = isinstance(controller, Function) and controller.remembers
    if remembers == (state is not None):
        return state
    if remembers:
        raise InputError("state: expected the first state of the controller, function(t, q, v, input, state)")
    raise InputError("state: expected none: the controller is not a function(t, q, v, input, state)")


def _arguments(function: Any) -> tuple[int, bool]:
    """The number of arguments by position, and whether forces are one more, by name."""
    if not callable(function):
        raise InputError(f"controller: expected simulate.PD or a function of t, q, v, got {function!r}")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InputError("controller: expected a function whose arguments Python can tell, as def or lambda") from None
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    named = [p for p in required if p.name == "forces" and p.kind is not p.POSITIONAL_ONLY]
    count = len(required) - len(named)
    strangers = [p.name for p in required if p.kind is p.KEYWORD_ONLY and p not in named]
    if not 3 <= count <= len(ARGUMENTS) or strangers:
        actual = f"one that needs {strangers[0]}=" if strangers else f"{len(required)} arguments"
        raise InputError(f"controller: expected a function of (t, q, v[, input[, state]][, forces]), got {actual}")
    return count, bool(named)
