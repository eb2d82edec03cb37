"""Optional inputs: one kernel for each combination of them that calls give, compiled at its first call."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

from multibody.errors import InputError

Compiled = TypeVar("Compiled")


class OptionalInputs(Generic[Compiled]):
    """The kernels of a function with optional inputs.

    Args:
        optional: the shapes of the optional inputs, by name.
        make: compiles the function with some of them, given in the order of their names.
    """

    def __init__(self, optional: Mapping[str, Any], make: Callable[[tuple[str, ...]], Compiled]) -> None:
        self.optional = dict(optional)
        self._make = make
        self._kernels: dict[tuple[str, ...], Compiled] = {}

    def kernel(self, names: tuple[str, ...]) -> Compiled:
        """The kernel that takes these optional inputs, after the required ones."""
        if names not in self._kernels:
            self._kernels[names] = self._make(names)
        return self._kernels[names]


def select_optional(optional: Mapping[str, Any], names: Collection[str], title: object) -> tuple[str, ...]:
    """Return these names of optional inputs in the order of their definition; raise for an unknown one."""
    for name in names:
        if name not in optional:
            raise InputError(f"{title}: no optional input is called {name!r}; expected {', '.join(optional) or 'none'}")
    return tuple(name for name in optional if name in names)


def extend_key(key: str | None, names: tuple[str, ...]) -> str | None:
    """The text key of the kernel with these optional inputs."""
    return None if key is None else f"{key} with {names}"
