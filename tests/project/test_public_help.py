"""`help` of every public name: signatures as in the source, in lines that a terminal of 100 columns shows."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import multibody as mb
from multibody._signatures import WIDTH

OURS = "multibody"


def public_names(module: ModuleType) -> list[str]:
    """The names that a module lists, or those of its own functions and classes."""
    own = [name for name in vars(module) if getattr(getattr(module, name), "__module__", None) == module.__name__]
    return [name for name in getattr(module, "__all__", own) if not name.startswith("_")]


def public_callables(module: ModuleType, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """Functions, classes and methods of a module and of the modules that it lists."""
    for name in public_names(module):
        value, path = getattr(module, name), f"{module.__name__}.{name}"
        if id(value) in seen:
            continue
        seen.add(id(value))
        if inspect.ismodule(value) and value.__name__.startswith(OURS):
            yield from public_callables(value, seen)
        elif callable(value) and str(getattr(value, "__module__", "")).startswith(OURS):
            yield path, value
            for key in dir(value) if inspect.isclass(value) else ():
                method = getattr(value, key, None)
                if not key.startswith("_") and inspect.isroutine(method):
                    yield f"{path}.{key}", method


CALLABLES = list(public_callables(mb, set()))


def test_signatures_are_those_of_the_source():
    assert len(CALLABLES) > 800
    for path, value in CALLABLES:
        try:
            signature = str(inspect.signature(value))
        except (ValueError, TypeError):  # as of an exception without a constructor, or a method of a named tuple
            continue
        for unreadable in ("numpy._typing", "numpy.ndarray", "_SupportsArray", "'ArrayLike", "'NDArray", "Unpack["):
            assert unreadable not in signature, path
        assert max(map(len, signature.splitlines())) <= WIDTH, path


def test_generated_constructors_show_the_annotations_of_their_fields():
    assert str(inspect.signature(mb.simulate.Gradients)) == (
        "(\n    value: NDArray[Any], q: NDArray[Any], v: NDArray[Any], inputs: Any,\n"
        "    parameters: dict[str, NDArray[Any]],\n)"
    )
    assert "q: NDArray[Any], position_error: NDArray[Any]" in str(inspect.signature(mb.control.History))
